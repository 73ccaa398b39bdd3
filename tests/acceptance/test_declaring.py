"""Real processes that declare the same schedules and start in the same moment."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections import Counter
from pathlib import Path

from ostinato import Ostinato
from tests.support.forked_python import Popen

PROCESSES = 3


def start_together(url: str, period: str) -> None:
    """Each is ready before any is let go."""
    processes = [
        Popen(
            [sys.executable, "-m", "tests.acceptance.declaring", url, period],
            cwd=Path(__file__).parents[2],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(PROCESSES)
    ]
    try:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        for process in processes:
            assert process.communicate(timeout=60)[0] == "started\n"
            assert process.returncode == 0
    finally:
        for process in processes:
            process.kill()
            process.wait()


def test_processes_that_start_at_once_declare_once(store_url: str) -> None:
    async def read_store() -> tuple[list[tuple[str, str, str | None]], Counter[str]]:
        async with Ostinato(store_url).connected() as app:
            schedules = [(one.name, one.words, one.origin) for one in await app.schedules.list()]
            return schedules, Counter(e.name for e in await app.events(limit=1000) if e.name.startswith("schedule:"))

    start_together(store_url, "1h")
    names = ("first", "second")
    assert asyncio.run(read_store()) == (
        [(name, "Every hour", "code:program") for name in names],
        {"schedule:created": 2},
    )
    start_together(store_url, "2h")
    assert asyncio.run(read_store()) == (
        [(name, "Every 2 hours", "code:program") for name in names],
        {"schedule:created": 2, "schedule:updated": 2},
    )
