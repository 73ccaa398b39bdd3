"""Nodes as processes."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.support.forked_python import Popen


class Nodes:
    """Processes that claim work. `pids` maps each to its process."""

    def __init__(self, url: str, folder: Path, module: str = "tests.acceptance.node") -> None:
        self._url = url
        self._module = module
        self.folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []
        self.stopping: list[subprocess.Popen[bytes]] = []

    def add(self) -> subprocess.Popen[bytes]:
        process = Popen(
            [sys.executable, "-m", self._module, self._url, str(self.folder)],
            cwd=Path(__file__).parents[2],
        )
        self.processes.append(process)
        return process

    def wait_until_up(self) -> None:
        """Wait until every node is at work. One that finds no server when it starts ends with an error."""
        deadline = time.monotonic() + 60
        for process in self.processes:
            while not (self.folder / f"{process.pid}.up").exists():
                assert process.poll() is None, f"a node ended with {process.poll()} when it started"
                assert time.monotonic() < deadline, "a node did not start within a minute"
                time.sleep(0.02)

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        process.kill()
        process.wait(timeout=30)
        self.processes.remove(process)

    def stop(self, process: subprocess.Popen[bytes]) -> None:
        """Stop it in good order; it takes its time, and nobody waits for it until all is over."""
        process.terminate()
        self.processes.remove(process)
        self.stopping.append(process)

    def wait_for_stops(self) -> None:
        for process in self.stopping:
            ended = process.wait(timeout=30)
            assert ended in (0, -signal.SIGTERM), "a node did not stop in good order"  # or before it was one
        self.stopping.clear()

    def close(self) -> None:
        for process in self.processes:
            process.send_signal(signal.SIGCONT)
            process.terminate()
        for process in self.processes + self.stopping:
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                process.kill()

    def lines(self) -> list[list[str]]:
        """Every line of every node: what, run, attempt, key."""
        return [line.split() for file in self.folder.glob("*.log") for line in file.read_text().splitlines()]
