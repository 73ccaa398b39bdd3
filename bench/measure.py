"""Interleaved rounds and their medians, so that a busy moment of the machine hits every contender alike."""

from __future__ import annotations

import gc
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version

Round = Callable[[], int]  # does some work, returns how many operations it was


def interleaved(contenders: Mapping[str, Round], rounds: int = 5) -> dict[str, float]:
    """Operations per second of each contender: the median of the rounds."""
    for contender in contenders.values():
        contender()  # warm up: imports, caches, first-time compilation
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, contender in contenders.items():
            begin = time.perf_counter()
            done = contender()
            seconds[name].append(done / (time.perf_counter() - begin))
    return {name: statistics.median(rates) for name, rates in seconds.items()}


def settled() -> None:
    """As `ostinato serve` and `worker` do once they have begun: what was loaded is no matter for the collector."""
    gc.collect()
    gc.freeze()


def machine(*packages: str) -> str:
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), model)
    except OSError:
        pass
    versions = [f"Python {platform.python_version()}", *(f"{p} {_version(p)}" for p in packages)]
    return f"{model}, {os.cpu_count()} cores, {platform.system()}\n{', '.join(versions)}"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"


def show(line: str = "") -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
