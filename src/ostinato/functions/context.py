"""Define `ctx`, the first argument of a durable function. In a replay, its operations return the same values again."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from datetime import datetime
from random import Random
from typing import Any, Literal, NoReturn, ParamSpec, Protocol, TypeVar, overload
from uuid import UUID

import orjson

from ostinato.clock import Clock
from ostinato.engine.context import LOG_LINE_LENGTH, LOG_LINES, clean, to_json
from ostinato.errors import OstinatoError, check_text, short_repr
from ostinato.functions.definition import as_step
from ostinato.functions.errors import TooLarge
from ostinato.functions.model import FunctionRecord, StepKind
from ostinato.functions.operation import GATHER, FunctionOperation
from ostinato.functions.replay import ContinueAs, Driver, Overrun
from ostinato.model import MOST, Run, read_length
from ostinato.start_checks import read_positive_length
from ostinato.store.contract import Row
from ostinato.when.durations import Length
from ostinato.when.instants import Micros, to_datetime

P = ParamSpec("P")
T = TypeVar("T")
Policy = Literal["cancel", "terminate", "abandon"]
_PATIENCE = 100  # how often code may catch TooLarge and ask again, before it is ended
_POLICIES = ("cancel", "terminate", "abandon")


class ReadChild(Protocol):
    def __call__(
        self, target: str | Callable[..., Any], kind: str, input: Mapping[str, Any] | None, options: Mapping[str, Any]
    ) -> Any:
        """Check the arguments of `ctx.start`. Return an object with the child's `name`, and with a method `run` that
        builds the child's run."""
        ...


class ChildHandle:
    """A child run that a function has started. `id` is the id of the child run."""

    __slots__ = ("_ask", "id", "name")

    def __init__(self, ask: Callable[[str, str], FunctionOperation], id: str, name: str) -> None:
        self._ask = ask
        self.id = id
        self.name = name

    def result(self) -> Awaitable[Any]:
        """Wait for the end of the child, and return its result. Raises `ChildFailed` if the child did not succeed."""
        operation = self._ask(StepKind.CHILD, self.name)
        operation.child_id = self.id
        return operation

    def __repr__(self) -> str:
        return f"<child {self.name} {self.id}>"


class FunctionContext:
    """The first argument of a durable function."""

    def __init__(
        self, run: Run, function: FunctionRecord, driver: Driver, clock: Clock, read_child: ReadChild, most_steps: int
    ) -> None:
        self._run = run
        self.function = function
        self._driver = driver
        self._clock = clock
        self._read_child = read_child
        self._most_steps = most_steps
        self._refused = 0
        self.lines: list[Row] = []
        self.changed = False  # `function` is to be written

    @property
    def run_id(self) -> str:
        return self._run.root_id

    @property
    def name(self) -> str:
        return self._run.name

    @property
    def namespace(self) -> str:
        return self._run.namespace

    @property
    def due(self) -> datetime:
        """When this run was due, in UTC."""
        return to_datetime(self._run.due)

    @property
    def occurrence(self) -> tuple[datetime, str] | None:
        """The nominal time and the origin of the occurrence, if a schedule started this run. Otherwise None."""
        detail = orjson.loads(self._run.detail) if self._run.schedule_id and self._run.detail else None
        return None if detail is None else (to_datetime(detail["nominal"]), detail["origin"])

    @property
    def crashes(self) -> int:
        """How many nodes have crashed while they worked on this run. The count restarts whenever the run records an
        operation. Read this value only in a step, because it is different in a replay."""
        return self._run.crashes

    @property
    def replaying(self) -> bool:
        """Whether the code is being replayed. In a replay, operations return their recorded outcomes."""
        return self._driver.replaying

    # Steps

    @overload
    def step(
        self, function: Callable[P, Coroutine[Any, Any, T]], /, *args: P.args, **kwargs: P.kwargs
    ) -> Awaitable[T]: ...

    @overload
    def step(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Awaitable[T]: ...

    def step(self, function: Any, /, *args: Any, **kwargs: Any) -> Awaitable[Any]:
        """Call a function, and record its result, which must be JSON. A step that has ended is never called again.

        To set retries or a timeout, write `ctx.step(step(function, retry=3, timeout="10s"), …)`. If the function raises
        an exception and is not tried again, awaiting the step raises `StepFailed`.
        """
        step = as_step(function)
        operation = self._ask(StepKind.STEP, step.name)
        operation.step, operation.arguments, operation.keywords = step, args, kwargs
        return operation

    def gather(self, *awaitables: Awaitable[Any]) -> Awaitable[list[Any]]:
        """Run several awaitables concurrently. Each is an operation of `ctx`, or a coroutine that awaits such
        operations. When all have ended, return their results in the order of the arguments. If any of them failed,
        raise the first failure instead."""
        for awaitable in awaitables:
            if not isinstance(awaitable, FunctionOperation | Coroutine):
                raise OstinatoError(f"ctx.gather takes operations of ctx and coroutines, not {short_repr(awaitable)}")
        operation = self._ask(GATHER, "")
        operation.arguments = awaitables
        return operation

    # Waiting

    def sleep(self, length: Length) -> Awaitable[None]:
        """Wait for this long. Meanwhile the run occupies no worker."""
        operation = self._ask(StepKind.SLEEP, "")
        operation.length = read_length(length, "sleep")
        if operation.length < 0:
            raise OstinatoError(f"sleep {length!r} is negative")
        return operation

    def sleep_until(self, moment: datetime) -> Awaitable[None]:
        """Wait until a moment. If the moment has passed, return at once."""
        if not isinstance(moment, datetime) or moment.tzinfo is None:
            raise OstinatoError(f"sleep_until {short_repr(moment)} is not a datetime with a time zone")
        operation = self._ask(StepKind.SLEEP, "")
        operation.options["until"] = int(moment.timestamp() * 1_000_000)
        return operation

    def receive(self, name: str, *, timeout: Length | None = None, **default: Any) -> Awaitable[Any]:
        """Wait for a message with this name, and return its payload. Each message is received once, the oldest first.
        After the timeout, return `default`. If no `default` is passed, raise `ReceiveTimedOut`."""
        check_text(name, "the message's name")
        for keyword in default:
            if keyword != "default":
                raise TypeError(f"ctx.receive has no {keyword!r}; it takes timeout and default")
        operation = self._ask(StepKind.RECEIVE, name)
        operation.length = read_positive_length(timeout, "timeout")
        operation.has_default = "default" in default
        operation.default = default.get("default")
        if operation.has_default and operation.length is None:
            raise OstinatoError(
                f"ctx.receive({name!r}, default=…) needs a timeout: without one it waits for the message"
            )
        return operation

    # Children

    def start(
        self,
        target: str | Callable[..., Any],
        input: Mapping[str, Any] | None = None,
        *,
        kind: str = "",
        on_parent_end: Policy = "cancel",
        **options: Any,
    ) -> Awaitable[ChildHandle]:
        """Start a child: a function, a job or, with `kind="journey"`, a journey. Awaiting the start returns a
        `ChildHandle`, whose `result()` waits for the end of the child. If the child cannot be started, awaiting the
        start raises `ChildFailed`.

        `on_parent_end` says what happens to the child if this function ends first: "cancel", "terminate", or "abandon",
        which lets the child continue.
        """
        if on_parent_end not in _POLICIES:
            raise OstinatoError(f"on_parent_end {on_parent_end!r} is none of {', '.join(_POLICIES)}")
        make: Any
        try:
            make = self._read_child(target, kind, input, options)
        except OstinatoError as problem:  # recorded as the outcome, so that a replay elsewhere raises the same
            make = problem
        named = getattr(make, "name", None) or getattr(target, "__name__", "")
        name = target if isinstance(target, str) else str(named)
        operation = self._ask(StepKind.START, name)
        operation.options = {
            "make": make,
            "policy": None if on_parent_end == "abandon" else on_parent_end,
            "handle": lambda id, name: ChildHandle(self._ask, id, name),
        }
        return operation

    # Values

    def now(self) -> datetime:
        """Return the current time, and record it: a replay returns the same time."""
        return to_datetime(int(self._value(StepKind.NOW, lambda _: self._clock.now())))

    def random(self) -> float:
        """Return a random number from 0 to 1, and record it: a replay returns the same number."""
        return float(self._value(StepKind.RANDOM, lambda position: self._dice(position).random()))

    def uuid(self) -> UUID:
        """Return a random UUID, and record it: a replay returns the same UUID."""
        return UUID(
            self._value(StepKind.UUID, lambda position: str(UUID(int=self._dice(position).getrandbits(128), version=4)))
        )

    def _value(self, kind: StepKind, make: Callable[[str], Any]) -> Any:
        self._check_room()
        return self._driver.local(kind, make, self._clock.now())

    def _dice(self, position: str) -> Random:
        """Return a random generator that is seeded with the run, its generation and the position. So if the node
        crashes before a number is recorded, the next attempt gets the same number."""
        seed = f"{self._run.id}/{self.function.generation}/{position}".encode()
        return Random(hashlib.sha256(seed).digest())

    def version(self, name: str, version: int) -> int:
        """Return which version of the code this run must execute at this place. `name` identifies a change of the code,
        and `version` is the number of the newest version.

        - If the run has called this method with `name` before, return the same number again.
        - If the run passed this place before the change was made, return 1, the number of the original code.
        - Otherwise return `version`.
        """
        check_text(name, "the change's name")
        if not isinstance(version, int) or isinstance(version, bool) or not 1 <= version <= MOST:
            raise OstinatoError(
                f"ctx.version({name!r}, {short_repr(version)}): the version is not a whole number from 1"
            )
        return self._driver.version(name, version, self._clock.now())

    # Seen from outside

    def set_state(self, state: Any) -> None:
        """Set a value that is visible in `app.functions.get(id)`, over HTTP, and in queries of Temporal's clients."""
        text = to_json(state, "the state")
        if not self._driver.replaying:
            self.function.state = text
            self.changed = True

    def log(self, message: str, level: str = "info") -> None:
        """Store a line in the log of the run. A replay does not store it again."""
        if self._driver.replaying or self.function.lines >= LOG_LINES:
            return
        line = (
            self._run.id,
            self.function.lines,
            self._clock.now(),
            clean(level),
            clean(str(message))[:LOG_LINE_LENGTH],
        )
        self.function.lines += 1
        self.changed = True
        self.lines.append(line)

    def continue_as(self, input: Mapping[str, Any] | None = None) -> NoReturn:
        """End this history, and begin the function again with a new input, under the same run id. Messages that were
        not yet received are kept."""
        if input is not None and not isinstance(input, Mapping):
            raise OstinatoError(
                f"ctx.continue_as({short_repr(input)}): the input is not an object; write {{'name': value}}"
            )
        raise ContinueAs(to_json(dict(input), "the input") if input else None)

    def _ask(self, kind: str, name: str) -> FunctionOperation:
        self._check_room()
        return self._driver.ask(kind, name)

    def _check_room(self) -> None:
        if self._driver.asked >= self._most_steps and not self._driver.replaying:
            self._refused += 1
            problem = TooLarge(
                f"function {self.name!r} has {self._most_steps:,} recorded steps, which is the most; "
                "go on with an empty history by ctx.continue_as(…)"
            )
            raise problem if self._refused < _PATIENCE else Overrun(problem)


def due_of(operation: FunctionOperation, now: Micros) -> Micros | None:
    """Return when an operation that begins at `now` wakes up or times out, or None if it has no such time."""
    until = operation.options.get("until")
    if until is not None:
        return int(until)
    return None if operation.length is None else now + operation.length
