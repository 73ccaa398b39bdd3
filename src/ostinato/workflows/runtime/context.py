"""Define the `ctx` argument of handlers. Its methods record what the handler requests, and refuse what the phase does
not allow.

If a call of `ctx` fails, the run fails, even if the handler catches the error. The first such failure is stored, and
the handler's result is discarded.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NoReturn, TypeVar

import orjson

from ostinato.engine.context import clean, to_json
from ostinato.engine.log import log
from ostinato.engine.outages import read_patiently
from ostinato.errors import (
    OstinatoError,
    StoreError,
    describe_exception,
    did_you_mean,
    error_text,
    is_text,
    list_choices,
    short_repr,
)
from ostinato.model import Json
from ostinato.store.contract import Operation, Row, Store
from ostinato.when.instants import Micros, to_datetime
from ostinato.workflows.decisions.failures import RunFailure
from ostinato.workflows.definition import Topic
from ostinato.workflows.errors import HandlerFailed, LogicError, PhaseViolation
from ostinato.workflows.model import FailureClass, HandlerRun, NewInput, Phase, Publication, Publications, TopicEvent
from ostinato.workflows.rows import read_event
from ostinato.workflows.store import statement
from ostinato.workflows.tools import Tools

T = TypeVar("T")
_MOST_PEEKED = 1000
_LONGEST_MESSAGE_ID = 500
_LONGEST_TITLE = 1000
_LONGEST_REASON = 2000  # characters of an error that are kept
_PHASES = {
    "read": (Phase.EXECUTING, Phase.PREPARING),
    "mutate": (Phase.MUTATING,),
    "peek": (Phase.PREPARING,),
    "get": (Phase.PREPARING,),
    "publish": (Phase.EXECUTING, Phase.EMITTING),
    "register_input": (Phase.EXECUTING,),
}
_CALLED = {
    Phase.EXECUTING: "a producer",
    Phase.PREPARING: "prepare",
    Phase.MUTATING: "mutate",
    Phase.EMITTING: "next",
}


@dataclass(frozen=True, slots=True)
class Event:
    """An event as a handler sees it. `id` is the message id that the publisher chose."""

    topic: str
    id: str
    payload: Json
    status: str
    created: datetime

    @property
    def message_id(self) -> str:
        return self.id


def event_view(event: TopicEvent) -> Event:
    return Event(
        event.topic, event.message_id, orjson.loads(event.payload), event.status.value, to_datetime(event.created)
    )


@dataclass(frozen=True, slots=True)
class Prepared:
    """The value that `prepare` returns. Raises `LogicError` if an argument is wrong.

    - `reserve`: the events to reserve, as a list of events or as a mapping from topic to message ids
    - `data`: JSON with everything that `mutate` and `next` need
    - `title`: what will be done, in words
    - `wake_at`: when the consumer runs again even without an event; the policy's `wake_min` and `wake_max` limit it
    """

    reserve: Sequence[Event] | Mapping[str, Sequence[str]] = ()
    data: Json = None
    title: str | None = None
    wake_at: datetime | None = None

    def __post_init__(self) -> None:
        for mistake in self._mistakes():
            raise LogicError(f"Prepared: {mistake}")

    def _mistakes(self) -> Iterator[str]:
        if isinstance(self.reserve, Mapping):
            for topic, ids in self.reserve.items():
                if not isinstance(topic, Topic | str):
                    yield f"it reserves events of {short_repr(topic)}, which is no topic"
                if isinstance(ids, str) or not isinstance(ids, Sequence) or not all(map(is_text, ids)):
                    yield f"it reserves {short_repr(ids)} of {str(topic)!r}; give a list of message ids"
        elif isinstance(self.reserve, str) or not isinstance(self.reserve, Sequence):
            yield f"it reserves {short_repr(self.reserve)}; give a list of events, or topics and ids"
        else:
            for event in self.reserve:
                if not isinstance(event, Event):
                    yield f"it reserves {short_repr(event)}; give events that peek returned, or topics and ids"
        if self.title is not None and not is_text(self.title):
            yield f"the title {short_repr(self.title)} is not a text"
        if self.wake_at is not None and (not isinstance(self.wake_at, datetime) or self.wake_at.tzinfo is None):
            yield f"wake_at {short_repr(self.wake_at)} is no datetime with a zone"


@dataclass(frozen=True, slots=True)
class PreparedRun:
    """The argument of `mutate` and `next`: the data that `prepare` returned, and the reserved events."""

    data: Json
    title: str | None
    events: tuple[Event, ...] = ()


class MutationRequested(BaseException):
    """Raised by `await ctx.mutate(…)`, to end a handler's `mutate`. The node then calls the requested mutator."""


@dataclass(slots=True)
class MutationRequest:
    mutator: str
    params: dict[str, Any]


@dataclass(slots=True)
class HandlerContext:
    """The `ctx` of one phase of one run."""

    workflow: str
    handler: str
    run_id: str
    now: datetime
    _phase: Phase
    _record: HandlerRun
    _store: Store
    _tools: Tools
    _publishes: tuple[str, ...]
    _subscribes: tuple[str, ...] = ()
    failure: RunFailure | None = None
    requested: MutationRequest | None = None
    published: Publications = field(default_factory=Publications)
    _over: bool = False
    _task: asyncio.Task[Any] | None = None
    _requests: list[tuple[str, Coroutine[Any, Any, NoReturn]]] = field(default_factory=list)

    # Reading

    async def peek(self, topic: Topic | str, limit: int = 100) -> list[Event]:
        """Return the oldest pending events of a topic that the consumer subscribes to."""
        name = self._subscribed(topic, "peek")
        if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= _MOST_PEEKED:
            raise self._refuse(f"peek: limit {short_repr(limit)} is not a whole number from 1 to {_MOST_PEEKED:,}")
        workflow = self._record.workflow_id

        def pending(_: int) -> Operation[list[Row]]:
            return (yield statement("pending_events", workflow=workflow, topic=name, limit=limit))

        return [event_view(read_event(row)) for row in await read_patiently(self._store, pending)]

    async def get(self, topic: Topic | str, ids: Sequence[str]) -> list[Event]:
        """Return events of a topic by their message ids, whatever their status. Ids without an event are ignored."""
        name = self._subscribed(topic, "get")
        if isinstance(ids, str) or not isinstance(ids, Sequence) or not all(map(is_text, ids)):
            raise self._refuse(f"get: {short_repr(ids)} is not a list of message ids")
        keys = [(self._record.workflow_id, name, id) for id in dict.fromkeys(ids)]

        def by_message(_: int) -> Operation[list[Row]]:
            return (yield statement("events_by_message", keys))

        return [event_view(read_event(row)) for row in await read_patiently(self._store, by_message)] if keys else []

    async def read(self, name: str, /, **params: Any) -> Any:
        """Call the reader `name`, and return its result. If the reader raises an error, the run fails."""
        self._allow("read")
        reader = self._find_tool("reader", name, self._tools.readers)
        what = f"reader {name!r}"
        self._check_params(reader, params, what)
        try:
            return await reader(**params)
        except BaseException as problem:
            if not is_cancelled(problem):  # recorded at once: the run fails even if the handler catches the error
                self.failure = self.failure or classify(problem, what)
            raise

    # Publishing

    def register_input(self, source: str, type: str, id: str, title: str = "") -> str:
        """Register an object of another system, such as an e-mail, that causes events. Return the input id to pass to
        `publish`. The same source, type and id always give the same input id."""
        self._allow("register_input")
        for name, value in (("source", source), ("type", type), ("id", id)):
            self._check_id(value, f"register_input: {name}")
        if not isinstance(title, str) or len(title) > _LONGEST_TITLE:
            words = f"is not a text of at most {_LONGEST_TITLE:,} characters"
            raise self._refuse(f"register_input: title {short_repr(title)} {words}")
        text = "\x1f".join((self._record.workflow_id, source, type, id))
        input_id = hashlib.sha256(text.encode()).hexdigest()[:32]
        self.published.inputs[input_id] = NewInput(input_id, source, type, id, clean(title))
        return input_id

    def publish(
        self,
        topic: Topic | str | Sequence[Topic | str],
        message_id: str,
        payload: Json = None,
        *,
        input: str | None = None,
    ) -> None:
        """Publish an event to one or several topics when this run commits.

        In a producer, `input` is an id that `register_input` returned. In a consumer's `next`, `input` must be None:
        the new event has the same inputs as the events that `prepare` reserved.
        """
        self._allow("publish")
        self._check_id(message_id, "publish: message_id")
        if self._phase is Phase.EXECUTING and not (isinstance(input, str) and input in self.published.inputs):
            raise self._refuse(f"publish: input {short_repr(input)} is none that register_input returned in this run")
        if self._phase is Phase.EMITTING and input is not None:
            raise self._refuse("publish: next takes no input; its events stem from those that prepare reserved")
        try:
            to_json(payload, f"the payload of {message_id!r}")
        except OstinatoError as problem:
            raise self._refuse(f"publish: {problem}") from None
        causes = () if input is None else (input,)
        listed = topic if isinstance(topic, Sequence) and not isinstance(topic, str) else [topic]
        if not listed:
            raise self._refuse("publish: [] names no topic")
        for name in [self._topic_name(one, "publish") for one in listed]:
            if name not in self._publishes:
                topics = ", ".join(self._publishes) or "no topic"
                raise self._refuse(f"publish: {self.handler!r} may publish to {topics}, not to {name!r}")
            self.published.events.append(Publication(name, message_id, payload, causes))

    # Mutating

    def mutate(self, name: str, /, **params: Any) -> Coroutine[Any, Any, NoReturn]:
        """Request a call of the mutator `name` with these parameters. The handler must write `await ctx.mutate(…)` in
        its method `mutate`. The `await` does not return: it ends this method. After that, the node calls the
        mutator."""
        self._allow("mutate")
        mutator = self._find_tool("mutator", name, self._tools.mutators)
        self._check_params(mutator.function, params, f"mutator {name!r}", "call")
        try:
            to_json(params, f"the parameters of {name!r}")
        except OstinatoError as problem:
            raise self._refuse(f"mutate: {problem}") from None
        request = self._request(MutationRequest(name, params))
        self._requests.append((name, request))
        return request

    async def _request(self, request: MutationRequest) -> NoReturn:
        """Record `request`, and raise `MutationRequested` to end the handler's `mutate`."""
        self._allow("mutate")
        if asyncio.current_task() is not self._task:
            raise self._refuse(f"ctx.mutate({request.mutator!r}, …) is in a task of its own; await it in mutate itself")
        self.requested = request
        raise MutationRequested

    # Permissions and failures

    def begin(self, task: asyncio.Task[Any]) -> None:
        """Note the task in which the handler runs."""
        self._task = task

    def close(self) -> None:
        """End the phase. Tasks that the handler has left running can no longer use `ctx`. If the handler called
        `ctx.mutate` and did not await it, record a logic error."""
        self._over = True
        for name, request in self._requests:
            if inspect.getcoroutinestate(request) == inspect.CORO_CREATED:
                self._refuse(f"ctx.mutate({name!r}, …) was called and not awaited; write await ctx.mutate(…)")
            request.close()

    def _find_tool(self, what: str, name: str, tools: Mapping[str, T]) -> T:
        if not is_text(name):
            raise self._refuse(f"{short_repr(name)} is not the name of a {what}")
        if name not in tools:
            hint = did_you_mean(name, tools) or list_choices(sorted(tools))
            raise self._refuse(f"there is no {what} {name!r}; {hint}")
        return tools[name]

    def _check_params(self, function: Callable[..., Any], params: dict[str, Any], what: str, *first: str) -> None:
        """Raise `PhaseViolation` if a reader or a mutator does not accept these parameters."""
        try:
            inspect.signature(function).bind(*first, **params)
        except TypeError as problem:
            raise self._refuse(f"{what}: {problem}") from None

    def _allow(self, operation: str) -> None:
        """Raise `PhaseViolation` if the operation is not allowed now."""
        if self._over:
            raise PhaseViolation(f"ctx.{operation}: {_CALLED[self._phase]} is over; await what it starts")
        if self.failure is not None:
            raise PhaseViolation(f"this run has failed already: {self.failure.words}")
        if self._phase not in _PHASES[operation]:
            allowed = " and ".join(_CALLED[phase] for phase in _PHASES[operation])
            raise self._refuse(f"ctx.{operation} is not allowed in {_CALLED[self._phase]}, only in {allowed}")
        if operation == "mutate" and self.requested is not None:
            first = self.requested.mutator
            raise self._refuse(f"mutate has called {first!r} already; a run has one effect at most")

    def _check_id(self, value: str, place: str) -> None:
        if not is_text(value) or len(value) > _LONGEST_MESSAGE_ID:
            words = f"is not a text of at most {_LONGEST_MESSAGE_ID} characters"
            raise self._refuse(f"{place} {short_repr(value)} {words}")

    def _refuse(self, words: str) -> PhaseViolation:
        """Record a logic error, so that the run fails even if the error is caught. Return the exception to raise."""
        self.failure = self.failure or RunFailure(FailureClass.LOGIC, words)
        return PhaseViolation(words)

    def _subscribed(self, topic: Topic | str, operation: str) -> str:
        self._allow(operation)
        name = self._topic_name(topic, operation)
        if name not in self._subscribes:
            topics = ", ".join(self._subscribes)
            raise self._refuse(f"{operation}: {self.handler!r} subscribes to {topics}, not to {name!r}")
        return name

    def _topic_name(self, topic: object, operation: str) -> str:
        if not isinstance(topic, Topic | str):
            raise self._refuse(f"{operation}: {short_repr(topic)} is no topic")
        return topic.name if isinstance(topic, Topic) else topic


def is_cancelled(problem: BaseException) -> bool:
    """Return whether `problem` means that the node or a timeout is cancelling the current task. A `CancelledError` that
    the user's code raises by itself does not count."""
    task = asyncio.current_task()
    return isinstance(problem, asyncio.CancelledError) and task is not None and task.cancelling() > 0


def classify(problem: BaseException, what: str) -> RunFailure:
    """Return the failure for an error of a reader or a mutator. `what` names the reader or mutator in the message."""
    if isinstance(problem, HandlerFailed):
        return RunFailure(problem.failure, shorten(error_text(problem)))
    if isinstance(problem, TimeoutError | ConnectionError | StoreError):
        return RunFailure(FailureClass.TRANSIENT, f"{what}: {describe(problem)}")
    log.warning(f"{what} raised an error without a class", action="workflow_unclassified", exc_info=problem)
    return RunFailure(FailureClass.INTERNAL, f"{what}: {describe(problem)}")


def classify_handler(problem: BaseException) -> RunFailure:
    """Return the failure for an error that a handler raised."""
    if isinstance(problem, HandlerFailed):
        return RunFailure(problem.failure, shorten(error_text(problem)))
    if not isinstance(problem, Exception):
        return RunFailure(FailureClass.LOGIC, f"the handler raised {describe(problem)}")
    return RunFailure(
        FailureClass.TRANSIENT if isinstance(problem, StoreError) else FailureClass.LOGIC, describe(problem)
    )


def describe(problem: BaseException) -> str:
    """Return the type and the message of an error, shortened, and without characters that a store refuses."""
    return shorten(describe_exception(problem))


def shorten(words: str) -> str:
    words = clean(words)
    return words if len(words) <= _LONGEST_REASON else f"{words[:_LONGEST_REASON]}…"


def wake_time(prepared: Prepared, now: Micros) -> Micros | None:
    wake_at = prepared.wake_at
    if wake_at is None:
        return None
    return now + int((wake_at - to_datetime(now)).total_seconds() * 1_000_000)
