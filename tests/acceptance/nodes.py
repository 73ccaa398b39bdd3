"""Nodes as processes."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
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

    def freeze(self, process: subprocess.Popen[bytes]) -> None:
        """Freeze a process between its transactions. One that is frozen while it holds the lock of a SQLite file would
        stop everybody until it goes on: nothing can take the lock away from it."""
        while True:
            process.send_signal(signal.SIGSTOP)
            os.waitid(os.P_PID, process.pid, os.WSTOPPED)
            if self._is_writable():
                return
            process.send_signal(signal.SIGCONT)
            time.sleep(0.01)

    def _is_writable(self) -> bool:
        """Whether somebody can write within two seconds. The other nodes hold the lock for moments only."""
        if not self._url.startswith("sqlite:///"):
            return True
        with closing(sqlite3.connect(self._url.removeprefix("sqlite:///"), isolation_level=None, timeout=2)) as other:
            try:
                other.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as problem:
                assert problem.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
                return False
            other.execute("ROLLBACK")
            return True

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
