"""Warn about calls in a durable function that would have another outcome in a replay. The warning comes when the
function is declared."""

from __future__ import annotations

import ast
import inspect
import textwrap
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from types import CodeType
from typing import Any

CLOCK, CHANCE, OUTSIDE, TASKS = (
    "use ctx.now()",
    "use ctx.random() or ctx.uuid()",
    "do it in a step: await ctx.step(…)",
    "use ctx.gather, ctx.sleep or ctx.step",
)
_CALLS = {
    "time.time": CLOCK,
    "time.time_ns": CLOCK,
    "time.monotonic": CLOCK,
    "time.perf_counter": CLOCK,
    "time.sleep": "use await ctx.sleep(…)",
    "datetime.now": CLOCK,
    "datetime.utcnow": CLOCK,
    "datetime.today": CLOCK,
    "date.today": CLOCK,
    "datetime.datetime.now": CLOCK,
    "datetime.datetime.utcnow": CLOCK,
    "datetime.datetime.today": CLOCK,
    "datetime.date.today": CLOCK,
    "uuid.uuid1": CHANCE,
    "uuid.uuid4": CHANCE,
    "uuid4": CHANCE,
    "uuid1": CHANCE,
    "os.urandom": CHANCE,
    "os.getpid": OUTSIDE,
    "open": OUTSIDE,
    "input": OUTSIDE,
    "os.environ.get": OUTSIDE,
    "os.getenv": OUTSIDE,
    "asyncio.sleep": "use await ctx.sleep(…)",
    "asyncio.gather": TASKS,
    "asyncio.create_task": TASKS,
    "asyncio.ensure_future": TASKS,
    "asyncio.wait": TASKS,
    "asyncio.wait_for": TASKS,
    "asyncio.timeout": TASKS,
    "asyncio.to_thread": TASKS,
    "asyncio.TaskGroup": TASKS,
}
_MODULES = {
    "random": CHANCE,
    "secrets": CHANCE,
    "requests": OUTSIDE,
    "httpx": OUTSIDE,
    "urllib": OUTSIDE,
    "socket": OUTSIDE,
    "subprocess": OUTSIDE,
    "aiohttp": OUTSIDE,
    "sqlite3": OUTSIDE,
    "asyncpg": OUTSIDE,
    "psycopg": OUTSIDE,
}


class NotDeterministic(UserWarning):
    """The warning about a call in a durable function that would have another outcome in a replay."""


def warn_of_undeterministic_calls(function: Callable[..., Any], name: str) -> None:
    """Warn about each call that is not deterministic. The warning names the file and line of the call. Functions that
    are passed to a step are not checked."""
    for file, line, call, advice in find_calls(function):
        warnings.warn_explicit(
            f"function {name!r} calls {call}(…), whose outcome is not recorded; {advice}", NotDeterministic, file, line
        )


def find_calls(function: Callable[..., Any]) -> Iterator[tuple[str, int, str, str]]:
    """Yield file, line, call and advice for each call that is not deterministic."""
    function = inspect.unwrap(function)
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType):
        return
    file = inspect.getsourcefile(code) or "<unknown>"
    for line, call in _calls(file, code):
        root, _, rest = call.partition(".")
        module = getattr(function, "__globals__", {}).get(root)
        name = f"{module.__name__}.{rest}" if inspect.ismodule(module) and rest else call
        advice = _CALLS.get(name) or (_MODULES.get(name.split(".")[0]) if "." in name else None)
        if advice is not None:
            yield file, line, call, advice


@lru_cache(maxsize=256)  # parsing takes milliseconds, and tests declare the same functions for every app
def _calls(file: str, code: CodeType) -> Sequence[tuple[int, str]]:
    """Return the line and the name of each call in the body of a function, whose code object is `code`. Calls of
    parameters, of local variables, and of their methods are left out."""
    try:
        lines, first = inspect.getsourcelines(code)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError):
        return ()
    definition = next((node for node in ast.walk(tree) if isinstance(node, ast.AsyncFunctionDef)), None)
    if definition is None:
        return ()
    nodes = [node for statement in definition.body for node in _own_nodes(statement)]
    variables = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    variables |= {node.arg for node in ast.walk(definition.args) if isinstance(node, ast.arg)}
    calls = [(node.lineno, _dotted(node.func)) for node in nodes if isinstance(node, ast.Call)]
    return [
        (first + line - 1, call) for line, call in calls if call is not None and call.partition(".")[0] not in variables
    ]


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a statement and all nodes in it. Skip nested functions, lambdas and classes, because they may run as
    recorded steps."""
    if isinstance(node, ast.FunctionDef | ast.Lambda | ast.AsyncFunctionDef | ast.ClassDef):
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _own_nodes(child)


def _dotted(node: ast.AST) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (before := _dotted(node.value)) is not None:
        return f"{before}.{node.attr}"
    return None
