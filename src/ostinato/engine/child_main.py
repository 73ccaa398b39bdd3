"""The child's side of a job in a process of its own: run as a module, never imported by the parent."""

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
from ostinato.engine.context import Occurrence
from ostinato.engine.inputs import input_types
from ostinato.engine.job_logging import Forward
from ostinato.engine.tracebacks import job_traceback

_PR_SET_PDEATHSIG = 1
_ORPHANED = 3  # exit code


class Parent:
    """What the parent says, line by line. When the parent is gone, so is the child: another node takes its run over,
    and two must not do the same. Linux sees to that whatever the child is doing; elsewhere the end of the pipe does, as
    soon as the function lets go of the interpreter."""

    def __init__(self, pid: int) -> None:
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != pid:  # it died before
                os._exit(_ORPHANED)
        threading.Thread(target=self._listen, name="ostinato-parent", daemon=True).start()

    def hear(self) -> Any:
        """The next thing it says."""
        return json.loads(self._lines.get())

    def _listen(self) -> None:
        """Reads the pipe itself: a thread that waits in `sys.stdin` would not let the interpreter end."""
        rest = b""
        while said := os.read(0, 65_536):
            *lines, rest = (rest + said).split(b"\n")
            for line in lines:
                self._lines.put(line)
        os._exit(_ORPHANED)


class ChildContext(Occurrence):
    """What a function in a child sees as `ctx`: the same names; each call waits for the parent's word."""

    def __init__(self, out: Any, parent: Parent, saved: Any, known: dict[str, Any]) -> None:
        self._out = out
        self._parent = parent
        self._turn = threading.Lock()
        self.saved = saved
        self.run_id: str = known["run_id"]
        self.attempt: int = known["attempt"]
        self.name: str = known["name"]
        self.due = datetime.fromisoformat(known["due"])
        self.namespace: str = known["namespace"]
        self._detail: dict[str, Any] = known["detail"]

    @property
    def detail(self) -> dict[str, Any]:
        return self._detail

    def _say(self, wait: bool = True, **message: Any) -> None:
        with self._turn:
            self._out.write(json.dumps(message) + "\n")
            self._out.flush()
            if wait:
                self._parent.hear()

    def checkpoint(self, value: Any) -> None:
        self._say(checkpoint=value)
        self.saved = value

    def progress(self, done: float, note: str = "") -> None:
        self._say(progress=done, note=note)

    def heartbeat(self) -> None:
        self._say(heartbeat=True)

    def log(self, message: str, level: str = "info") -> None:
        self._say(wait=False, log=str(message), level=level)

    def forward(self, **record: Any) -> None:
        """A record of standard `logging`."""
        self._say(wait=False, **record)


def _forward_logs(context: ChildContext, level: int) -> None:
    """Send log lines to the parent, which keeps them and writes them in its own format."""
    root = logging.getLogger()
    root.handlers = [Forward(context.forward)]
    root.setLevel(level)
    logging.captureWarnings(True)


def find(module: str, qualname: str, path: str) -> Callable[..., Any]:
    if path:
        found: Any = runpy.run_path(path, run_name="__ostinato_child__")[qualname]
        return found  # type: ignore[no-any-return]
    found = importlib.import_module(module)
    for part in qualname.split("."):
        found = getattr(found, part)
    return found  # type: ignore[no-any-return]


def _leave_stopping_to_the_node() -> None:
    """A service manager that stops a node signals its children, too; the node lets them finish within its grace. A
    handler that does nothing, since an ignored signal stays ignored in the programs that the function starts."""
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda *_: None)


def main() -> None:
    module, qualname, path, parent_pid = sys.argv[1:5]
    _leave_stopping_to_the_node()
    parent = Parent(int(parent_pid))
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever the function prints must not get between the lines
    start = parent.hear()
    try:
        context = ChildContext(out, parent, start["saved"], start["known"])
        _forward_logs(context, start["log_level"])
        function = find(module, qualname, path)
        _forward_logs(context, start["log_level"])  # whatever the module has set up
        given = start["input"]
        types = input_types(function, start["context"]) if given else None
        if types is not None:
            given = types.read(json.dumps(given), qualname)
        if start["context"]:
            given[start["context"]] = context
        value = function(**given)
        if inspect.iscoroutine(value):
            value = asyncio.run(value)
        answer = json.dumps({"result": value})
    except BaseException as problem:
        own = application_error(problem)
        answer = json.dumps(
            {
                "own": own,
                "error": str(problem),
                "type": type(problem).__name__,
                "traceback": job_traceback(problem)[-8000:],
                "seconds": own.get("seconds", getattr(problem, "seconds", None)),
            }
        )
    out.write(answer + "\n")
    out.flush()


if __name__ == "__main__":
    main()
