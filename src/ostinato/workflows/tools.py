"""Define readers and mutators. Handlers use readers to read from other systems, and mutators to change them."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from ostinato.errors import OstinatoError, check_text
from ostinato.model import Json
from ostinato.workflows.model import MutationStatus

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Reconciled:
    """The answer of `reconcile` about an earlier effect: `applied(…)`, `NOT_APPLIED` or `NOT_KNOWN_YET`."""

    status: MutationStatus
    result: Json = None


def applied(result: Json = None) -> Reconciled:
    """Return the answer of `reconcile` for an effect that took place. `result` counts as the mutator's result."""
    return Reconciled(MutationStatus.APPLIED, result)


NOT_APPLIED = Reconciled(MutationStatus.FAILED)
NOT_KNOWN_YET = Reconciled(MutationStatus.NEEDS_RECONCILE)


@dataclass(frozen=True, slots=True)
class MutationContext:
    """The first argument of a mutator and of its `reconcile`.

    - `key`: identifies the effect; it is the same at every try and at every check
    - `age`: in `reconcile`, how long ago the mutator was called
    """

    key: str
    workflow: str
    handler: str
    run_id: str
    namespace: str
    age: timedelta = timedelta()


@dataclass(frozen=True, slots=True)
class Mutator:
    """A function that changes another system: `async def send(call, **params)`. The function `reconcile` takes the same
    arguments, and returns whether an earlier call took effect."""

    name: str
    function: Callable[..., Awaitable[Any]]
    reconcile: Callable[..., Awaitable[Any]] | None = None


class Tools:
    """The readers and mutators that this process has."""

    def __init__(self) -> None:
        self.readers: dict[str, Callable[..., Awaitable[Any]]] = {}
        self.mutators: dict[str, Mutator] = {}

    def reader(self, name: str) -> Callable[[F], F]:
        """Declare a reader: an async function that reads from another system, such as `async def unread(**params)`.
        Return a decorator for the function."""
        _check_name(name, "reader")

        def declare(function: F) -> F:
            self._check(function, name, "reader")
            self.readers[name] = function
            return function

        return declare

    def mutator(self, name: str, *, reconcile: Callable[..., Awaitable[Any]] | None = None) -> Callable[[F], F]:
        """Declare a mutator: an async function that changes another system, such as `async def send(call, **params)`.
        Return a decorator for the function. `reconcile` is the function that finds out whether an earlier call took
        effect (see `Mutator`)."""
        _check_name(name, "mutator")

        def declare(function: F) -> F:
            self._check(function, name, "mutator")
            if reconcile is not None and not inspect.iscoroutinefunction(reconcile):
                raise OstinatoError(f"mutator {name!r}: reconcile is not an async function; write async def")
            self.mutators[name] = Mutator(name, function, reconcile)
            return function

        return declare

    def take_over(self, before: Tools) -> None:
        """Add the tools of `before`, the instance that this instance replaces. If both have a tool of the same name,
        keep this instance's tool: the standard tools must use this instance's app."""
        self.readers = before.readers | self.readers
        self.mutators = before.mutators | self.mutators

    def _check(self, function: Callable[..., Any], name: str, what: str) -> None:
        if not inspect.iscoroutinefunction(function):
            raise OstinatoError(f"{what} {name!r} is not an async function; write async def")
        if name in self.readers or name in self.mutators:
            raise OstinatoError(f"there is a reader or mutator called {name!r} already; choose another name")


def _check_name(name: object, what: str) -> None:
    if callable(name):
        raise OstinatoError(f"@{what} has no name; write @app.workflows.{what}('service.verb')")
    check_text(name, f"the {what}'s name")
