"""Declare a workflow in code: its topics, producers and consumers, with their functions."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from ostinato.errors import OstinatoError, check_text, did_you_mean, short_repr
from ostinato.model import MOST
from ostinato.when import Spec
from ostinato.when.documents import spec_json
from ostinato.when.instants import Micros
from ostinato.workflows.checks import find_mistakes
from ostinato.workflows.definition import (
    ConsumerDefinition,
    ProducerDefinition,
    ProducerSchedule,
    Topic,
    WorkflowDefinition,
    interval_spec,
)
from ostinato.workflows.model import read_policy

F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type)
_LONGEST_NAME = 200


class WorkflowCode:
    """A workflow in code, created by `app.workflow(name)`. Its decorators add producers and consumers."""

    def __init__(self, name: str, *, version: int | None = None, policy: Mapping[str, Any] | None = None) -> None:
        self.name = _read_name(name, "the workflow's name")
        if version is not None and (type(version) is not int or not 1 <= version <= MOST):
            raise OstinatoError(
                f"workflow {name!r}: version {short_repr(version)} is not a whole number from 1 to {MOST:,}"
            )
        self.version = version
        self.policy = read_policy({} if policy is None else policy)
        self.fixer: Callable[..., Any] | None = None
        self._topics: dict[str, Topic] = {}
        self._producers: dict[str, tuple[ProducerDefinition, Callable[..., Any]]] = {}
        self._consumers: dict[str, tuple[ConsumerDefinition, type]] = {}

    # Declaring

    def topic(self, name: str) -> Topic:
        """Declare a topic."""
        self._topics[name] = Topic(self.name, _read_name(name, f"workflow {self.name!r}: the topic's name"))
        return self._topics[name]

    def producer(
        self, schedule: Spec, /, *, publishes: Topic | str | Sequence[Topic | str], name: str | None = None
    ) -> Callable[[F], F]:
        """Declare a producer: `async def poll(ctx, state)`. It publishes events, and returns its new state.

        With `every("5m")`, it runs five minutes after its last commit. With another spec, it runs at the spec's times.
        """
        read = self._read_schedule(schedule)

        def declare(function: F) -> F:
            if not callable(function):
                raise OstinatoError(
                    f"workflow {self.name!r}: a producer is an async function, not {short_repr(function)}"
                )
            handler = self._new_handler(name or _name_of(function))
            _check_async(function, f"workflow {self.name!r}: producer {handler!r}", ("ctx", "state"))
            definition = ProducerDefinition(handler, read, self._topic_names(publishes, handler))
            if not definition.publishes:
                raise OstinatoError(f"workflow {self.name!r}: producer {handler!r} publishes to no topic; name one")
            self._producers[handler] = definition, function
            return function

        return declare

    def consumer(
        self, *topics: Topic | str, publishes: Topic | str | Sequence[Topic | str] = (), name: str | None = None
    ) -> Callable[[C], C]:
        """Declare a consumer: a class with `prepare(self, ctx, state)` and, if needed, `mutate(self, ctx, prepared)`
        and `next(self, ctx, prepared, outcome)`."""
        if not topics or (len(topics) == 1 and isinstance(topics[0], type)):
            raise OstinatoError(f"workflow {self.name!r}: @consumer names no topic; write @{self.name}.consumer(topic)")

        def declare(cls: C) -> C:
            if not isinstance(cls, type):
                place = f"workflow {self.name!r}: consumer {name or _name_of(cls)!r}"
                raise OstinatoError(f"{place} is not a class; declare prepare, mutate and next in one")
            handler = self._new_handler(name or cls.__name__)
            place = f"workflow {self.name!r}: consumer {handler!r}"
            if not hasattr(cls, "prepare"):
                raise OstinatoError(f"{place} has no prepare; write async def prepare(self, ctx, state)")
            for method, parameters in _PHASES.items():
                if hasattr(cls, method):
                    _check_async(getattr(cls, method), f"{place}: {method}", ("self", *parameters))
            definition = ConsumerDefinition(
                handler,
                self._topic_names(topics, handler),
                self._topic_names(publishes, handler),
                hasattr(cls, "mutate"),
                hasattr(cls, "next"),
            )
            if definition.publishes and not definition.emits:
                raise OstinatoError(f"{place} publishes but has no next, the only phase that may")
            self._consumers[handler] = definition, cls
            return cls

        return declare

    def fix_with(self, function: F) -> F:
        """Declare the fixer, a function that repairs this workflow after a logic error. Its argument is a `FailedRun`.

        The fixer returns the `WorkflowCode` to deploy, or its import path (`"package.module:name"`). If the fixer
        returns None, a person must act.
        """
        _check_async(function, f"workflow {self.name!r}: the fixer", ("failed",))
        self.fixer = function
        return function

    # Reading

    def define(self) -> WorkflowDefinition:
        """Check the workflow and return its definition. Raises `OstinatoError` with all mistakes."""
        definition = WorkflowDefinition(
            tuple(self._topics),
            tuple(producer for producer, _ in self._producers.values()),
            tuple(consumer for consumer, _ in self._consumers.values()),
            self.policy,
        )
        mistakes = list(find_mistakes(definition))
        if mistakes:
            raise OstinatoError(f"workflow {self.name!r}: {'; '.join(mistakes)}")
        return definition

    def digest(self) -> str:
        """Return a short text that identifies the version, the definition and the code of the handlers."""
        sources = [_source(function) for _, function in self._producers.values()]
        sources += [_source(cls) for _, cls in self._consumers.values()]
        text = "\n".join((str(self.version), self.define().to_json(), *sources))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def producer_function(self, name: str) -> Callable[..., Any]:
        return self._producers[name][1]

    def consumer_class(self, name: str) -> type:
        return self._consumers[name][1]

    def _read_schedule(self, schedule: object) -> ProducerSchedule:
        place = f"workflow {self.name!r}: a producer's schedule"
        if not isinstance(schedule, Spec):
            raise OstinatoError(f"{place} {short_repr(schedule)} is no spec; write every('5m') or cron('0 * * * *')")
        if schedule.manual:
            raise OstinatoError(f"{place} has no times; write every('5m') or cron('0 * * * *')")
        interval = _plain_interval(schedule)
        if interval is None:
            return ProducerSchedule(spec=schedule)
        if interval < self.policy.min_interval:
            shortest = interval_spec(self.policy.min_interval).describe()
            raise OstinatoError(
                f"{place} ({schedule.describe()}) is shorter than the policy's min_interval ({shortest})"
            )
        return ProducerSchedule(interval=interval)

    def _new_handler(self, name: str) -> str:
        _read_name(name, f"workflow {self.name!r}: the handler's name")
        if name in self._producers or name in self._consumers:
            raise OstinatoError(f"workflow {self.name!r} has two handlers called {name!r}; rename one")
        return name

    def _topic_names(self, topics: Topic | str | Iterable[Topic | str], handler: str) -> tuple[str, ...]:
        listed = topics if isinstance(topics, Iterable) and not isinstance(topics, str) else [topics]
        names: list[str] = []
        for topic in listed:
            if not isinstance(topic, Topic | str):
                raise OstinatoError(f"workflow {self.name!r}: {handler!r} names {short_repr(topic)}, which is no topic")
            if isinstance(topic, Topic) and topic.workflow != self.name:
                raise OstinatoError(
                    f"workflow {self.name!r}: {handler!r} names topic {topic.name!r} of workflow {topic.workflow!r}; "
                    "a topic belongs to one workflow"
                )
            name = topic.name if isinstance(topic, Topic) else topic
            if name not in self._topics:
                hint = did_you_mean(name, self._topics) or f"declare it with {self.name}.topic({name!r})"
                raise OstinatoError(f"workflow {self.name!r}: {handler!r} names an unknown topic {name!r}; {hint}")
            if name not in names:
                names.append(name)
        return tuple(names)


_PHASES = {"prepare": ("ctx", "state"), "mutate": ("ctx", "prepared"), "next": ("ctx", "prepared", "outcome")}


def _plain_interval(spec: Spec) -> Micros | None:
    """Return the interval of a spec such as `every("5m")`, or None if the spec has anything else, such as an anchor."""
    if len(spec.intervals) != 1 or spec.intervals[0].phase:
        return None
    return spec.intervals[0].every if spec_json(spec) == spec_json(interval_spec(spec.intervals[0].every)) else None


def _read_name(name: object, place: str) -> str:
    check_text(name, place)
    assert isinstance(name, str)
    if len(name) > _LONGEST_NAME:
        raise OstinatoError(f"{place} {short_repr(name)} is longer than {_LONGEST_NAME} characters")
    return name


def _name_of(thing: object) -> str:
    return getattr(thing, "__name__", None) or short_repr(thing)


def _check_async(function: Callable[..., Any], place: str, parameters: Sequence[str]) -> None:
    if not inspect.iscoroutinefunction(function):
        raise OstinatoError(f"{place} is not an async function; write async def")
    accepted = [
        parameter
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD, parameter.VAR_POSITIONAL)
    ]
    variadic = any(parameter.kind is parameter.VAR_POSITIONAL for parameter in accepted)
    if not variadic and len(accepted) != len(parameters):
        raise OstinatoError(f"{place} takes {len(accepted)} parameters; it is called with ({', '.join(parameters)})")


def _source(thing: Any) -> str:
    """Return a text that identifies the code of a function or class. It has two parts:

    - The source code. If the source code is not available, the text has the module and the name instead.
    - A line `name=value` for each variable that the code uses from an enclosing function, if the value is a string, a
      number, a boolean or None.
    """
    functions = (
        [thing] if inspect.isfunction(thing) else [one for one in vars(thing).values() if inspect.isfunction(one)]
    )
    constants = [inspect.getclosurevars(function).nonlocals for function in functions]
    closed_over = [
        f"{name}={value!r}"
        for names in constants
        for name, value in sorted(names.items())
        if isinstance(value, str | int | float | bool | None)
    ]
    try:
        source = inspect.getsource(thing)
    except (OSError, TypeError):
        source = f"{thing.__module__}.{thing.__qualname__}"
    return "\n".join((source, *closed_over))
