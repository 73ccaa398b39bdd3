"""Start one worker process, send it requests, and receive its answers.

The process is a new interpreter, never a fork. So it has none of the parent's threads, locks, environment variables or
open files.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import orjson

from ostinato.journeys.expressions import frames
from ostinato.journeys.expressions.codes import Code
from ostinato.journeys.expressions.settings import ExpressionSettings
from ostinato.model import Json

_HERE = Path(__file__).parent
# Stub packages for the worker's modules: importing all of Ostinato would take half a second.
_BOOT = """
import json, sys, types
path, roots, name, memory = json.loads(sys.argv[1])
sys.path[:] = path
for package, folder in roots:
    sys.modules[package] = types.ModuleType(package)
    sys.modules[package].__path__ = [folder]
from ostinato.journeys.expressions.sandbox.main import main
main(name, memory)
"""
_ROOTS = [
    ("ostinato", str(_HERE.parents[1])),
    ("ostinato.journeys", str(_HERE.parents[0])),
    ("ostinato.journeys.expressions", str(_HERE)),
]
LATE = "it exceeded its deadline"
_OUT_OF_MEMORY = ("allocate memory", "OutOfMemoryError", "MemoryError", "Out of memory")


class Died(Exception):
    """Raised if the worker process has died. `telling` says whether the running evaluation is known to be the cause,
    because it exceeded its time or memory limit."""

    def __init__(self, code: Code, message: str, telling: bool) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.telling = telling


class Unavailable(Exception):
    """Raised if there is no worker process: it did not start, or the pool was closed."""


class Process:
    def __init__(self, language: str, settings: ExpressionSettings) -> None:
        self._patience = settings.patience_s
        arguments = [[os.path.abspath(folder) for folder in sys.path], _ROOTS, language, settings.memory_of(language)]
        try:
            self._errors = tempfile.TemporaryFile()  # noqa: SIM115, it lives as long as the process
            self._child = subprocess.Popen(
                [sys.executable, "-I", "-X", "utf8", "-c", _BOOT, orjson.dumps(arguments).decode()],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env={},
                cwd="/",
                bufsize=0,
                start_new_session=True,  # Ctrl-C must not reach it
            )
        except OSError as problem:
            raise Unavailable(f"its process did not start: {problem}") from None
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._to, answers = self._child.stdin.fileno(), self._child.stdout.fileno()
        os.set_blocking(self._to, False)
        os.set_blocking(answers, False)
        self._answers = frames.Reader(answers, settings.max_result_bytes + (64 << 10))
        try:
            hello = orjson.loads(self._answers.read(time.monotonic() + settings.start_deadline_s))
        except (frames.Gone, frames.Late, ValueError):
            self.kill(wait_first=True)
            raise Unavailable(f"its process did not start: {self._last_words or self._child.returncode}") from None
        if refused := hello.get("problem"):
            self.kill()
            raise Unavailable(refused)

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def alive(self) -> bool:
        return self._child.poll() is None

    def send(self, head: dict[str, Json], requests: Sequence[bytes], seconds: float) -> None:
        """Send a batch of requests. Raise `Died` if the worker has died. Kill the worker and raise `Died` if it has not
        read the batch after `seconds` plus the setting `patience_s`."""
        message = orjson.dumps(head)[:-1] + b',"requests":[' + b",".join(requests) + b"]}"
        try:
            frames.write(self._to, frames.framed(message), time.monotonic() + seconds + self._patience)
        except frames.Late:
            self.kill()
            raise Died(Code.TIMEOUT, LATE, telling=False) from None
        except frames.Gone:
            self.kill(wait_first=True)
            raise self._cause() from None

    def receive(self, until: float) -> list[dict[str, Json]]:
        """Return the answers that have arrived, at least one. The field `at` of an answer is the index of its request.
        Raise `frames.Late` if no answer arrives by the monotonic time `until`; in this case, the worker still runs.
        Raise `Died` if the worker has died."""
        try:
            return [orjson.loads(message) for message in self._answers.read_some(until)]
        except (frames.Gone, ValueError):
            self.kill(wait_first=True)
            raise self._cause() from None

    def end(self) -> None:
        """Kill the process. Any thread may call this method. The thread that uses the process notices the end, and
        cleans up."""
        self._child.kill()

    def kill(self, wait_first: bool = False) -> None:
        """Kill the process and clean up. If `wait_first` is true, first wait up to one second for the process to end by
        itself, so that its exit status shows why it ended. Only the thread that uses this `Process` may call this
        method."""
        if wait_first:
            with suppress(subprocess.TimeoutExpired):
                self._child.wait(1)  # it has closed its pipe: wait to learn how it ended
        self._child.kill()
        self._child.wait()
        self._close()

    def forget(self) -> None:
        """Close the pipes to the worker, but do not kill the worker. Call this only in a forked copy of the parent
        process, because the worker still belongs to the parent."""
        self._child.returncode = 0
        self._errors.close()
        self._close()

    def _close(self) -> None:
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                pipe.close()
        if not self._errors.closed:
            self._errors.seek(0)
            self._last_words = self._errors.read(64 << 10).decode(errors="replace").strip()
            self._errors.close()

    def _cause(self) -> Died:
        status = self._child.returncode
        if status == -signal.SIGALRM:
            return Died(Code.TIMEOUT, LATE, telling=True)
        if any(words in self._last_words for words in _OUT_OF_MEMORY):
            return Died(Code.MEMORY, "it exceeded its memory limit", telling=True)
        how = signal.Signals(-status).name if status < 0 else f"exit code {status}"
        return Died(Code.CRASHED, f"it crashed its process ({how})", telling=False)
