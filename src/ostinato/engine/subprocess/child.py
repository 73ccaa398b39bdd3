"""Execute one job as the program of a child process. The parent never imports this module."""

from __future__ import annotations

import asyncio
import ctypes
import importlib
import inspect
import json
import logging
import os
import queue
import runpy
import signal
import sys
import threading
from collections.abc import Callable
from datetime import datetime
from typing import Any

from ostinato.engine.application_errors import application_error
from ostinato.engine.context import Occurrence, clean, to_json
from ostinato.engine.inputs import input_types
from ostinato.engine.job_logging import Forward
from ostinato.engine.tracebacks import job_traceback
from ostinato.errors import error_text

_PR_SET_PDEATHSIG = 1
_ORPHANED = 3  # exit code


class Parent:
    """Reads lines from the parent process. When the parent is gone, ends this child process, because another node takes
    over the run. On Linux the kernel kills the child at once. On other systems a thread ends the child, as soon as the
    job's code releases the GIL."""

    def __init__(self, pid: int) -> None:
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != pid:  # it died before
                os._exit(_ORPHANED)
        threading.Thread(target=self._listen, name="ostinato-parent", daemon=True).start()

    def hear(self) -> Any:
        """Wait for the next line of JSON, and return its value."""
        return json.loads(self._lines.get())

    def _listen(self) -> None:
        """Read lines from the pipe, and end the process when the pipe is closed. This uses `os.read`, because the
        interpreter cannot end while a thread waits for `sys.stdin`."""
        rest = b""
        while said := os.read(0, 65_536):
            *lines, rest = (rest + said).split(b"\n")
            for line in lines:
                self._lines.put(line)
        os._exit(_ORPHANED)


class ChildContext(Occurrence):
    """The `ctx` argument of a function in a child process. All methods except `log` and `forward` wait for the parent's
    reply."""

    def __init__(self, out: Any, parent: Parent, saved: Any, facts: dict[str, Any]) -> None:
        self._out = out
        self._parent = parent
        self._turn = threading.Lock()
        self.saved = saved
        self.run_id: str = facts["run_id"]
        self.attempt: int = facts["attempt"]
        self.name: str = facts["name"]
        self.due = datetime.fromisoformat(facts["due"])
        self.namespace: str = facts["namespace"]
        self._detail: dict[str, Any] = facts["detail"]

    @property
    def detail(self) -> dict[str, Any]:
        return self._detail

    def _say(self, wait: bool = True, **message: Any) -> Any:
        with self._turn:
            self._out.write(json.dumps(message) + "\n")
            self._out.flush()
            return self._parent.hear() if wait else None

    def now(self) -> datetime:
        """Return the engine's time, in UTC."""
        return datetime.fromisoformat(self._say(now=True)["now"])

    def checkpoint(self, value: Any) -> None:
        self._say(checkpoint=json.loads(to_json(value, "the checkpoint")))
        self.saved = value

    def progress(self, done: float, note: str = "") -> None:
        self._say(progress=done, note=note)

    def heartbeat(self) -> None:
        self._say(heartbeat=True)

    def log(self, message: str, level: str = "info") -> None:
        self._say(wait=False, log=str(message), level=level)

    def forward(self, **record: Any) -> None:
        """Send a record of standard `logging` to the parent."""
        self._say(wait=False, **record)


def _forward_logs(context: ChildContext, level: int) -> None:
    """Set up standard `logging` in this process, so that records of at least `level` are sent to the parent. The parent
    stores them and writes them in its own format."""
    root = logging.getLogger()
    root.handlers = [Forward(context.forward)]
    root.setLevel(level)
    logging.captureWarnings(True)


def find(module: str, qualname: str, path: str) -> Callable[..., Any]:
    if path:
        value: Any = runpy.run_path(path, run_name="__ostinato_child__")[qualname]
        return value  # type: ignore[no-any-return]
    value = importlib.import_module(module)
    for part in qualname.split("."):
        value = getattr(value, part)
    return value  # type: ignore[no-any-return]


def _leave_stopping_to_the_node() -> None:
    """Make this process survive SIGINT and SIGTERM. A service manager may send them to the child, too, but only the
    node decides when a child ends. Each signal gets a handler that does nothing. SIG_IGN is not used, because programs
    that the job starts would inherit it."""
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda *_: None)


def main() -> None:
    module, qualname, path, parent_pid = sys.argv[1:5]
    _leave_stopping_to_the_node()
    parent = Parent(int(parent_pid))
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # output of the function goes to standard error, so that it cannot mix with the lines to the parent
    start = parent.hear()
    try:
        context = ChildContext(out, parent, start["saved"], start["known"])
        _forward_logs(context, start["log_level"])
        function = find(module, qualname, path)
        _forward_logs(context, start["log_level"])  # again, because importing the module may have set up logging
        arguments = start["input"]
        types = input_types(function, start["context"]) if arguments else None
        if types is not None:
            arguments = types.read(json.dumps(arguments), qualname)
        if start["context"]:
            arguments[start["context"]] = context
        value = function(**arguments)
        if inspect.iscoroutine(value):
            value = asyncio.run(value)
        answer = f'{{"result": {to_json(value, "the result")}}}'
    except BaseException as problem:
        application = application_error(problem)
        failure = {
            "application": application,
            "error": clean(error_text(problem)),
            "type": type(problem).__name__,
            "traceback": clean(job_traceback(problem))[-8000:],
            "seconds": application.get("seconds", getattr(problem, "seconds", None)),
        }
        answer = clean(json.dumps(failure, ensure_ascii=False))
    out.write(answer + "\n")
    out.flush()


if __name__ == "__main__":
    main()
