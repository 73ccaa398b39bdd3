"""A real `ostinato serve` or `worker` in a process of its own, for tests. It listens on loopback, on a free port."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from tests.support.forked_python import OSTINATO, Popen, run

T = TypeVar("T")
PATIENCE = 60.0  # seconds: machines that run tests are busy


def clean_environment(**more: str) -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("OSTINATO_")} | more


def until(look: Callable[[], T | None], what: str, patience: float = PATIENCE) -> T:
    """The first answer that is one, looked for again and again."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        findings = look()
        if findings:
            return findings
        time.sleep(0.02)
    raise AssertionError(f"{what}: not within {patience} s")


class Serving:
    """`with Serving(folder, "serve", "--port", "0") as server:`; it is stopped at the end, whatever happens.

    It is a fork of a process that has loaded Ostinato."""

    popen: type[subprocess.Popen[Any]] = Popen

    def __init__(self, folder: Path, *args: str, **environ: str) -> None:
        self.args = args
        self.process = self.popen(
            [OSTINATO, *args],
            cwd=folder,
            env=clean_environment(**environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.said: list[str] = []
        self._readers = [
            threading.Thread(target=self._read, args=(pipe,), daemon=True)
            for pipe in (self.process.stdout, self.process.stderr)
        ]
        for reader in self._readers:
            reader.start()

    def _read(self, pipe: object) -> None:
        for line in pipe:  # type: ignore[attr-defined]
            self.said.append(line)

    @property
    def address(self) -> str:
        """Where it listens, once it does."""
        return self._hear(r"listening on (http\S+)")

    @property
    def store(self) -> str:
        """What a worker works on, once it does."""
        return self._hear(r"works on (\S+)")

    @property
    def wire(self) -> str:
        """Where Temporal's clients are answered, once they are."""
        address = self._hear(r"Temporal's protocol on (\S+)")
        assert self.address  # the engine runs, too
        return address

    def _hear(self, pattern: str) -> str:
        def look() -> str | None:
            for line in list(self.said):
                match = re.search(pattern, line)
                if match:
                    return match[1]
            assert self.process.poll() is None, "".join(self.said)
            return None

        return until(look, pattern)

    @property
    def port(self) -> str:
        return self.address.rpartition(":")[2]

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.ended()

    def ended(self) -> int:
        """Its exit code, when it has one."""
        code = self.process.wait(PATIENCE)
        for reader in self._readers:
            reader.join(5)
        return code

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, _: TracebackType | None) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        for reader in self._readers:
            reader.join(5)
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()


class FreshServing(Serving):
    """A `Serving` that is started as a user does."""

    popen = subprocess.Popen


def ostinato(folder: Path, *args: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return run([OSTINATO, *args], timeout=90, cwd=folder, env=clean_environment(**environ))
