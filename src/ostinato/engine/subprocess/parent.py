"""Run a job's function in a child process, which can be killed.

Parent and child exchange lines of JSON. Nothing is pickled; the child imports the function by its module and name.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ostinato.engine.job_logging import write_forwarded

if TYPE_CHECKING:
    from ostinato.engine.context import Context
    from ostinato.engine.jobs import Handler

_LINE = 8 << 20
_STOPS = (-signal.SIGINT, -signal.SIGTERM)  # exit codes of a child that got a signal before it had its handlers


class ChildDied(Exception):
    """Raised if the child process ended without sending a result or an error."""


class ChildStopped(ChildDied):
    """Raised if SIGINT or SIGTERM ended the child, probably because the node is stopped, too."""


class ChildRaised(Exception):
    """Raised if the function raised an error in the child. `kind` is the type of that error, and `trace` is its
    traceback. If the error requests a pause before the next attempt, `seconds` is the pause. Otherwise it is None."""

    def __init__(self, message: str, kind: str, trace: str, seconds: float | None, application: dict[str, Any]) -> None:
        super().__init__(message)
        self.application = application  # the result of `application_error` in the child
        self.kind = kind
        self.trace = trace
        self.seconds = seconds


async def run_in_child(handler: Handler, context: Context, arguments: dict[str, Any]) -> Any:
    """Call a job's function in a new child process, and return its result. A cancellation kills the child. Raises
    `ChildRaised`, `ChildStopped` or `ChildDied`."""
    module, name = handler.function.__module__, handler.function.__qualname__
    path = getattr(sys.modules.get("__main__"), "__file__", "") or "" if module == "__main__" else ""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "ostinato.engine.subprocess.child",
        module,
        name,
        path,
        str(os.getpid()),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        limit=_LINE,
        start_new_session=True,  # else Ctrl-C in a terminal would end the child before its node stops it
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        facts = {name: getattr(context, name) for name in ("run_id", "attempt", "name", "namespace", "detail")}
        facts["due"] = context.due.isoformat()
        start = {"input": arguments, "context": handler.context, "saved": context.saved, "known": facts}
        start["log_level"] = logging.getLogger().getEffectiveLevel()
        with suppress(ConnectionError):  # the child has ended; its exit code, read below, says how
            process.stdin.write(json.dumps(start).encode() + b"\n")
            await process.stdin.drain()
        while line := await process.stdout.readline():
            message = json.loads(line)
            if "result" in message:
                return message["result"]
            if "error" in message:
                parts = [message[part] for part in ("error", "type", "traceback", "seconds", "application")]
                raise ChildRaised(*parts)
            if "logger" in message:
                write_forwarded(message)
                continue
            if "log" in message:
                context.log(message["log"], message["level"])
                continue
            reply = {}
            if "now" in message:
                reply = {"now": context.now().isoformat()}
            elif "checkpoint" in message:
                await context.checkpoint(message["checkpoint"])
            elif "progress" in message:
                await context.progress(message["progress"], message["note"])
            else:
                await context.heartbeat()
            with suppress(ConnectionError):
                process.stdin.write(json.dumps(reply).encode() + b"\n")
                await process.stdin.drain()
        code = await process.wait()
        if code in _STOPS:
            raise ChildStopped(f"the child process was ended by {signal.Signals(-code).name}")
        raise ChildDied(f"the child process ended with exit code {code} and no result")
    finally:
        if process.returncode is None:
            process.kill()
            await asyncio.shield(process.wait())
