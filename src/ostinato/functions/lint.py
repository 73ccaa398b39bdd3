"""When a durable function is declared, warn about calls in it whose outcome would differ in a replay."""

from __future__ import annotations

import ast
import inspect
import textwrap
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from types import CodeType
from typing import Any

CLOCK = "use ctx.now()"
CHANCE = "use ctx.random() or ctx.uuid()"
OUTSIDE = "do it in a step: await ctx.step(…)"
TASKS = "use ctx.gather, ctx.sleep or ctx.step"
_SLEEP = "use await ctx.sleep(…)"
_CALLS = {
    CLOCK: """time.time time.time_ns time.monotonic time.perf_counter datetime.now datetime.utcnow datetime.today
        date.today datetime.datetime.now datetime.datetime.utcnow datetime.datetime.today datetime.date.today""",
    CHANCE: "uuid.uuid1 uuid.uuid4 uuid4 uuid1 os.urandom",
    OUTSIDE: "os.getpid open input os.environ.get os.getenv",
    TASKS: """asyncio.gather asyncio.create_task asyncio.ensure_future asyncio.wait asyncio.wait_for asyncio.timeout
        asyncio.to_thread asyncio.TaskGroup""",
    _SLEEP: "time.sleep asyncio.sleep",
}
_MODULES = {
    CHANCE: "random secrets",
    OUTSIDE: "requests httpx urllib socket subprocess aiohttp sqlite3 asyncpg psycopg",
}
_ADVICE_FOR_CALL = {call: advice for advice, calls in _CALLS.items() for call in calls.split()}
_ADVICE_FOR_MODULE = {module: advice for advice, modules in _MODULES.items() for module in modules.split()}


class NotDeterministic(UserWarning):
    """Warns that a durable function makes a call whose outcome would differ in a replay."""


def warn_of_undeterministic_calls(function: Callable[..., Any], name: str) -> None:
    """Warn about each call in `function` whose outcome would differ in a replay. The warning has the file and line of
    the call. Functions that run as steps are not checked."""
    for file, line, call, advice in find_calls(function):
        warnings.warn_explicit(
            f"function {name!r} calls {call}(…), whose outcome is not recorded; {advice}", NotDeterministic, file, line
        )


def find_calls(function: Callable[..., Any]) -> Iterator[tuple[str, int, str, str]]:
    """Yield (file, line, name, advice) for each call in `function` whose outcome would differ in a replay."""
    function = inspect.unwrap(function)
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType):
        return
    file = inspect.getsourcefile(code) or "<unknown>"
    for line, call in _calls(file, code):
        root, _, rest = call.partition(".")
        module = getattr(function, "__globals__", {}).get(root)
        name = f"{module.__name__}.{rest}" if inspect.ismodule(module) and rest else call
        advice = _ADVICE_FOR_CALL.get(name) or (_ADVICE_FOR_MODULE.get(name.split(".")[0]) if "." in name else None)
        if advice is not None:
            yield file, line, call, advice


@lru_cache(maxsize=256)  # parsing takes milliseconds, and tests declare the same functions for every app
def _calls(file: str, code: CodeType) -> Sequence[tuple[int, str]]:
    """Return the line and the name of each call in a function's body. Calls through a parameter or a local variable are
    left out, for example `parameter()` and `variable.method()`."""
    try:
        lines, first = inspect.getsourcelines(code)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError, SystemError):  # Python 3.11 may fail if two threads parse at once
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
    """Yield `node` and all nodes inside it. Nested functions, lambdas and classes are skipped with everything inside
    them, because their code may run as a recorded step."""
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
