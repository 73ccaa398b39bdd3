"""Running a function in a child process, the only kind that can be killed: the parent's side.

Parent and child talk in lines of JSON: the input goes in, log lines, checkpoints and the result come out. Nothing is
pickled; the child imports the function by its module and name.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
from typing import TYPE_CHECKING, Any

from ostinato.engine.job_logging import write_forwarded

if TYPE_CHECKING:
    from ostinato.engine.context import Context
    from ostinato.engine.handlers import Handler

_LINE = 8 << 20
_STOPS = (-signal.SIGINT, -signal.SIGTERM)  # exit codes of a child that was told to end before it could hear it


class ChildDied(Exception):
    """The child process ended without an answer."""


class ChildStopped(ChildDied):
    """Somebody ended the child, most likely together with its node: no fault of the function's."""


class ChildFailed(Exception):
    """The function raised in the child; kind, words and traceback are the child's."""

    def __init__(self, message: str, kind: str, trace: str, seconds: float | None, own: dict[str, Any]) -> None:
        super().__init__(message)
        self.own = own  # what an application error says of itself
        self.kind = kind
        self.trace = trace
        self.seconds = seconds


async def run_in_child(handler: Handler, context: Context, given: dict[str, Any]) -> Any:
    module, name = handler.function.__module__, handler.function.__qualname__
    path = getattr(sys.modules.get("__main__"), "__file__", "") or "" if module == "__main__" else ""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "ostinato.engine.child_main",
        module,
        name,
        path,
        str(os.getpid()),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        limit=_LINE,
        start_new_session=True,  # Ctrl-C goes to all processes of a terminal; when a child ends is its node's to say
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        known = {name: getattr(context, name) for name in ("run_id", "attempt", "name", "namespace", "detail")}
        known["due"] = context.due.isoformat()
        start = {"input": given, "context": handler.context, "saved": context.saved, "known": known}
        start["log_level"] = logging.getLogger().getEffectiveLevel()
        process.stdin.write(json.dumps(start).encode() + b"\n")
        await process.stdin.drain()
        while line := await process.stdout.readline():
            message = json.loads(line)
            if "result" in message:
                return message["result"]
            if "error" in message:
                told = [message[part] for part in ("error", "type", "traceback", "seconds", "own")]
                raise ChildFailed(*told)
            if "logger" in message:
                write_forwarded(message)
                continue
            if "log" in message:
                context.log(message["log"], message["level"])
                continue
            if "checkpoint" in message:
                await context.checkpoint(message["checkpoint"])
            elif "progress" in message:
                await context.progress(message["progress"], message["note"])
            else:
                await context.heartbeat()
            process.stdin.write(b"{}\n")
            await process.stdin.drain()
        code = await process.wait()
        if code in _STOPS:
            raise ChildStopped(f"the child process was ended by {signal.Signals(-code).name}")
        raise ChildDied(f"the child process ended with exit code {code} and no result")
    finally:
        if process.returncode is None:
            process.kill()
            await asyncio.shield(process.wait())
