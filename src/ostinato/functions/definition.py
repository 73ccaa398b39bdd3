"""Declare durable functions and their steps, and find a function's code by name and version."""

from __future__ import annotations

import hashlib
import inspect
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar, overload

from ostinato.declare_job import make_handler
from ostinato.engine.jobs import Handler
from ostinato.errors import NotFound, OstinatoError, check_text, did_you_mean, short_repr
from ostinato.functions.lint import warn_of_undeterministic_calls
from ostinato.model import MOST, Retry, read_retry
from ostinato.start_checks import is_same_function, read_positive_length
from ostinato.when.durations import Length
from ostinato.when.instants import Micros

_OPTIONS = ("queue", "priority", "serial_key", "serial_hold", "concurrency")
P = ParamSpec("P")
R = TypeVar("R")
ONCE = read_retry(None)


class StepFunction(Generic[P, R]):
    """A function that is used as a step, with its policy. `timeout` limits each attempt. If `at_most_once` is true, a
    step that was interrupted, for example by a crash, is not tried again, and awaiting the step raises
    `StepInterrupted`."""

    def __init__(
        self, function: Callable[P, R], name: str, retry: Retry, timeout: Micros | None, at_most_once: bool
    ) -> None:
        self.function = function
        self.name = name
        self.retry = retry
        self.timeout = timeout
        self.at_most_once = at_most_once

    @property
    def is_async(self) -> bool:
        return inspect.iscoroutinefunction(self.function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.function(*args, **kwargs)


@overload
def step(function: Callable[P, R], /) -> StepFunction[P, R]: ...


@overload
def step(
    function: Callable[P, R],
    /,
    *,
    name: str | None = None,
    retry: Retry | int | Mapping[str, Any] | None = None,
    timeout: Length | None = None,
    at_most_once: bool = False,
) -> StepFunction[P, R]: ...


@overload
def step(
    *,
    name: str | None = None,
    retry: Retry | int | Mapping[str, Any] | None = None,
    timeout: Length | None = None,
    at_most_once: bool = False,
) -> Callable[[Callable[P, R]], StepFunction[P, R]]: ...


def step(
    function: Any = None,
    /,
    *,
    name: str | None = None,
    retry: Retry | int | Mapping[str, Any] | None = None,
    timeout: Length | None = None,
    at_most_once: bool = False,
) -> Any:
    """Turn a function into a step with its own name, retries and timeout. Use `step` as a decorator, `@step(retry=3)`,
    or inside a call, `ctx.step(step(charge, retry=3), 5)`."""
    if function is None:
        return lambda function: step(function, name=name, retry=retry, timeout=timeout, at_most_once=at_most_once)
    if isinstance(function, StepFunction):
        function = function.function
    if not callable(function):
        raise OstinatoError(f"step({short_repr(function)}) names no function")
    if not isinstance(at_most_once, bool):
        raise OstinatoError(f"at_most_once {short_repr(at_most_once)} is neither True nor False")
    attempts = read_retry(retry)
    if at_most_once and attempts.attempts > 1:
        raise OstinatoError(
            f"a step that is tried at most once has no retry; {attempts.attempts} attempts were asked for"
        )
    name = name if name is not None else _name_of(function)
    check_text(name, "the step's name")
    step_function = StepFunction(function, name, attempts, read_positive_length(timeout, "timeout"), at_most_once)
    update_wrapper(step_function, function, updated=())
    return step_function


def as_step(function: Any) -> StepFunction[..., Any]:
    """Return `function` as a step. Raises OstinatoError for a coroutine: write `ctx.step(charge, 5)`, not
    `ctx.step(charge(5))`."""
    if isinstance(function, StepFunction):
        return function
    if inspect.iscoroutine(function):
        function.close()
        raise OstinatoError(
            "ctx.step takes the function and its arguments: ctx.step(charge, 5), not ctx.step(charge(5))"
        )
    if not callable(function):
        raise OstinatoError(f"ctx.step({short_repr(function)}) names no function; write ctx.step(function, …)")
    return StepFunction(function, _name_of(function), ONCE, None, False)


def _name_of(function: Callable[..., Any]) -> str:
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    return name.rpartition("<locals>.")[2]


@dataclass(frozen=True)
class FunctionCode:
    """One version of a function's code. If it is `pinned`, runs that began with it continue only with this version."""

    handler: Handler
    version: int
    pinned: bool

    @property
    def name(self) -> str:
        return self.handler.name

    @cached_property
    def digest(self) -> str:
        """A digest of the source, to recognise different code with the same version."""
        try:
            source = textwrap.dedent(inspect.getsource(inspect.unwrap(self.handler.function)))
        except (OSError, TypeError):
            source = repr(getattr(self.handler.function, "__code__", self.handler.function))
        return hashlib.sha256(source.encode()).hexdigest()[:12]


def make_code(
    function: Callable[..., Any], *, name: str | None, version: int, pinned: bool, options: Mapping[str, Any]
) -> FunctionCode:
    """Check the declaration of a function, and return its code. Raises OstinatoError if the declaration is invalid.
    Warns about calls whose outcome may differ in a replay."""
    called = name or getattr(function, "__name__", "a function")
    if not inspect.iscoroutinefunction(function):
        raise OstinatoError(f"function {called!r} is not async; write `async def {called}(ctx, …)`")
    signature = inspect.signature(function).parameters
    parameters = list(signature)
    if not parameters or parameters[0] not in ("ctx", "context"):
        raise OstinatoError(f"function {called!r} has no ctx; write `async def {called}(ctx, …)`")
    unnamed = [name for name, one in signature.items() if one.kind in (one.POSITIONAL_ONLY, one.VAR_POSITIONAL)]
    if unnamed:
        raise OstinatoError(f"function {called!r}: {unnamed[0]!r} cannot be given by name, as an input is")
    if not isinstance(version, int) or isinstance(version, bool) or not 1 <= version <= MOST:
        raise OstinatoError(f"function {called!r}: version {short_repr(version)} is not a whole number from 1")
    if not isinstance(pinned, bool):
        raise OstinatoError(f"function {called!r}: pinned {short_repr(pinned)} is neither True nor False")
    for option in ("retry", "timeout", "heartbeat", "at_most_once", "process"):
        if option in options:
            raise OstinatoError(f"function {called!r} has no {option!r}; its steps have: @step({option}=…)")
    for option in options:
        if option not in _OPTIONS:
            hint = did_you_mean(option, _OPTIONS) or f"there are {', '.join(_OPTIONS)}"
            raise OstinatoError(f"function {called!r} has no option {option!r}; {hint}")
    try:
        handler = make_handler(function, {"name": name, **options})  # type: ignore[typeddict-item]
    except OstinatoError as problem:
        raise as_function(problem) from None
    warn_of_undeterministic_calls(function, handler.name)
    return FunctionCode(handler, version, pinned)


def as_function(problem: OstinatoError) -> OstinatoError:
    """Change the word "job" in an error's message to "function", and return the error."""
    words = str(problem.args[0]) if problem.args else str(problem)
    problem.args = (words.replace("the job's name", "the function's name").replace("job ", "function ", 1),)
    return problem


class FunctionCodes:
    """The functions that an app has, by name and version."""

    def __init__(self) -> None:
        self._by_name: dict[str, dict[int, FunctionCode]] = {}

    def __iter__(self) -> Any:
        return (code for versions in self._by_name.values() for code in versions.values())

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def add(self, code: FunctionCode) -> None:
        versions = self._by_name.setdefault(code.name, {})
        before = versions.get(code.version)
        if before is not None and not is_same_function(before.handler.function, code.handler.function):
            raise OstinatoError(
                f"there are two functions called {code.name!r} with version {code.version}; give one of them name=… or "
                "version=…"
            )
        versions[code.version] = code

    def newest(self, name: str) -> FunctionCode | None:
        versions = self._by_name.get(name)
        return versions[max(versions)] if versions else None

    def to_go_on(self, name: str, version: int, pinned: bool) -> FunctionCode | None:
        """Return the code that may continue a run that began with `version`, or None if there is no such code. A
        `pinned` run needs the code of exactly this version. Any other run gets the newest code, unless the newest code
        is older than `version`."""
        if pinned:
            return self._by_name.get(name, {}).get(version)
        newest = self.newest(name)
        return newest if newest is not None and newest.version >= version else None

    def named(self, function: str | Callable[..., Any]) -> str:
        """Return the name of a function. `function` is the name, or the Python function itself. Raises NotFound if a
        Python function is not declared."""
        if isinstance(function, str):
            check_text(function, "the function's name")
            return function
        for code in self:
            if code.handler.function is function:
                return str(code.name)
        hint = did_you_mean(getattr(function, "__name__", ""), self._by_name)
        raise NotFound(
            f"{function!r} is not a function of this app; declare it with @app.function(){'; ' + hint if hint else ''}"
        )
