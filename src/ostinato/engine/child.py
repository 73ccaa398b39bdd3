"""Running a function in a child process, the only kind that can be killed.

Parent and child talk in lines of JSON: the input goes in, log lines, checkpoints and the result come out. Nothing is
pickled; the child imports the function by its module and name.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import os
import runpy
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ostinato.engine.context import Context
    from ostinato.engine.handlers import Handler

_LINE = 8 << 20


class ChildDied(Exception):
    """The child process ended without an answer."""


class ChildFailed(Exception):
    """The function raised in the child; the words are the child's."""


async def run_in_child(handler: Handler, context: Context, given: dict[str, Any]) -> Any:
    module, name = handler.function.__module__, handler.function.__qualname__
    path = getattr(sys.modules.get("__main__"), "__file__", "") or "" if module == "__main__" else ""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "ostinato.engine.child",
        module,
        name,
        path,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        limit=_LINE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        saved = context.saved
        process.stdin.write(json.dumps({"input": given, "context": handler.context, "saved": saved}).encode() + b"\n")
        await process.stdin.drain()
        while line := await process.stdout.readline():
            message = json.loads(line)
            if "result" in message:
                return message["result"]
            if "error" in message:
                raise ChildFailed(message["error"])
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
        raise ChildDied(f"the child process ended with exit code {code} and no result")
    finally:
        if process.returncode is None:
            process.kill()
            await asyncio.shield(process.wait())


class ChildContext:
    """What a function in a child sees as `ctx`: the same names; each call waits for the parent's word."""

    def __init__(self, out: Any, saved: Any) -> None:
        self._out = out
        self.saved = saved

    def _say(self, wait: bool = True, **message: Any) -> None:
        self._out.write(json.dumps(message) + "\n")
        self._out.flush()
        if wait and not sys.stdin.readline():
            os._exit(3)  # the parent is gone

    def checkpoint(self, value: Any) -> None:
        self._say(checkpoint=value)
        self.saved = value

    def progress(self, done: float, note: str = "") -> None:
        self._say(progress=done, note=note)

    def heartbeat(self) -> None:
        self._say(heartbeat=True)

    def log(self, message: str, level: str = "info") -> None:
        self._say(wait=False, log=str(message), level=level)


def _main() -> None:
    module, qualname, path = sys.argv[1:4]
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever the function prints must not get between the lines
    start = json.loads(sys.stdin.readline())
    try:
        function: Callable[..., Any]
        if path:
            names = runpy.run_path(path, run_name="__ostinato_child__")
            function = names[qualname]
        else:
            found: Any = importlib.import_module(module)
            for part in qualname.split("."):
                found = getattr(found, part)
            function = found
        given = start["input"]
        if start["context"]:
            given[start["context"]] = ChildContext(out, start["saved"])
        value = function(**given)
        if inspect.iscoroutine(value):
            value = asyncio.run(value)
        answer = json.dumps({"result": value})
    except BaseException as problem:
        answer = json.dumps({"error": f"{type(problem).__name__}: {problem}"})
    out.write(answer + "\n")
    out.flush()


if __name__ == "__main__":
    _main()
