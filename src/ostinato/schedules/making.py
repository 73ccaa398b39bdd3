"""From a schedule's action to a run: what an occurrence starts, ready to be put on record."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, NamedTuple, TypeAlias

import orjson

from ostinato.engine.context import to_json
from ostinato.engine.handlers import Declaration, Handler
from ostinato.engine.rows import read_options, write_options
from ostinato.engine.runs import deadline_timer
from ostinato.errors import OstinatoError
from ostinato.model import Options, Run, Timer
from ostinato.schedules.model import Action, Schedule
from ostinato.schedules.rows import occurrence_key
from ostinato.starting import Starting, some_length
from ostinato.store.contract import Operation
from ostinato.when.instants import Micros

Known: TypeAlias = Handler | Declaration | None
Unfit: TypeAlias = Callable[[Sequence[Schedule]], Operation[dict[str, OstinatoError]]]
_FIELDS = tuple(one.name for one in fields(Run))
_MOST = 16_384
# Runs of a backfill stand behind what the clock brings.
BEHIND = 10


JOURNEY = "journey"  # in place of a job: what is started is a journey, and the input says which, and with what
_OPTIONS = ("queue", "priority", "deadline", "timeout")
_JOURNEYS = ("journey", "version", "start", "context", "binding", "generation")


def journey_run(action: Action, namespace: str) -> Run:
    """A run of a journey; its instance begins when it is claimed. A deadline and a timeout are one to it, since it is
    tried once: how long it may take at most, besides what its definition says."""
    for name in action.options:
        if name not in _OPTIONS:
            raise OstinatoError(f"an action that is a journey has no {name!r}; it may have {', '.join(_OPTIONS)}")
    lengths = [some_length(action.options.get(name), name) for name in ("deadline", "timeout")]
    within = min((one for one in lengths if one is not None), default=None)
    given = {name: one for name, one in action.input.items() if one is not None}
    unknown = [name for name in given if name not in _JOURNEYS]
    named = given.pop("journey", None)
    if unknown or not isinstance(named, str) or not isinstance(given.get("context", {}), Mapping):
        raise OstinatoError(
            f"action {dict(action.input)!r} names no journey; write {{'journey': name, 'input': {{…}}}}"
        )
    if within is not None:
        given["within"] = within
    return Run(
        id="",
        name=named,
        kind=JOURNEY,
        namespace=namespace,
        queue=action.options.get("queue") or "default",
        priority=int(action.options.get("priority", 0)),
        input=to_json(given, "the input"),
    )


def kind_of(action: Action) -> str:
    return JOURNEY if action.job == JOURNEY else "job"


def named(action: Action) -> str:
    """What its runs are called."""
    return str(action.input.get("journey", action.job)) if action.job == JOURNEY else action.job


def _with_input(action: Action, input: Mapping[str, Any]) -> Action:
    given = {**action.input, "context": input} if action.job == JOURNEY else input
    return Action(action.job, given, action.options)


class _Template(NamedTuple):
    action: Action
    known: Known
    made: Run
    run: dict[str, Any]
    deadline: Micros | None


class Maker:
    """Makes runs of actions. What an action and its job say together is worked out once. `unfit` says which schedules
    of journeys cannot be started, and why."""

    def __init__(self, known: Callable[[str], Known], unfit: Unfit | None = None) -> None:
        self._known = known
        self.unfit = unfit
        self._templates: dict[tuple[int, int, str], _Template] = {}

    def knows(self, job: str) -> bool:
        """Whether any node has declared this job."""
        return job == JOURNEY or self._known(job) is not None

    def check(self, action: Action, namespace: str) -> None:
        """Raise what would be wrong with a start of this action."""
        self._template(action, namespace)

    def check_input(self, schedule: Schedule, input: Mapping[str, Any]) -> None:
        """Raise what would be wrong with a start of this schedule's action with another input."""
        self.check(_with_input(schedule.action, input), schedule.namespace)

    def run(
        self,
        schedule: Schedule,
        id: str,
        due: Micros,
        now: Micros,
        detail: Mapping[str, Any],
        input: Mapping[str, Any] | None = None,
    ) -> tuple[Run, Timer | None]:
        """One run of a schedule's action, and the timer of its deadline if it has one."""
        action = schedule.action if input is None else _with_input(schedule.action, input)
        template = self._template(action, schedule.namespace)
        told = {**template.run, "id": id, "root_id": id, "due": due, "created": now}
        told["key"] = occurrence_key(schedule.id, detail["nominal"], detail["origin"])
        told["schedule_id"] = schedule.id
        told["detail"] = orjson.dumps(detail).decode()
        told["actor"] = schedule.actor
        run = Run(**told)
        if template.deadline is None:
            return run, None
        ends = now + template.deadline
        own = read_options(run.options)
        run.options = write_options(Options(own.retry, own.timeout, ends, own.at_most_once, own.limit))
        return run, deadline_timer(run, ends)

    def simple(self, action: Action, namespace: str) -> Run | None:
        """What runs of this action have in common, if nothing stands before them and no deadline behind them. Whether
        a journey can begin is looked at each time."""
        found = self._template(action, namespace)
        run = found.made
        return (
            None
            if action.job == JOURNEY or run.serial_key or run.concurrency_key or found.deadline is not None
            else run
        )

    def unmade(self, schedule: Schedule, id: str, due: Micros, now: Micros, detail: Mapping[str, Any]) -> Run:
        """A run of an action that cannot be made for now: it has its place on record, and nothing else."""
        return Run(
            id=id,
            root_id=id,
            name=named(schedule.action),
            kind=kind_of(schedule.action),
            namespace=schedule.namespace,
            key=occurrence_key(schedule.id, detail["nominal"], detail["origin"]),
            due=due,
            created=now,
            schedule_id=schedule.id,
            detail=orjson.dumps(detail).decode(),
            input=to_json(dict(schedule.action.input), "the input"),
            actor=schedule.actor,
        )

    def _template(self, action: Action, namespace: str) -> _Template:
        known = self._known(action.job)
        key = (id(action), id(known), namespace)
        found = self._templates.get(key)
        if found is not None and found.action is action and found.known is known:
            return found
        deadline: Micros | None = None
        if action.job == JOURNEY:
            run = journey_run(action, namespace)
        else:
            starting = Starting(action.job, known, None, action.options, namespace=namespace, actor=None, now=0)
            run, _ = starting.run("", action.input, None)
            deadline = starting.deadline
        told = {name: getattr(run, name) for name in _FIELDS}
        if len(self._templates) >= _MOST:
            self._templates.clear()
        found = self._templates[key] = _Template(action, known, run, told, deadline)
        return found
