"""Read, write and check the actions of schedules, and build their runs. Most actions start a job. An extension (`Way`)
may add other kinds (`ActionKind`). An action is written as `{kind: name, …its fields, "input": {…}, …options}`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple, TypeAlias

import orjson

from ostinato.engine.context import to_json
from ostinato.engine.jobs import Declaration, Handler
from ostinato.engine.kinds import Kinds
from ostinato.engine.rows import read_options, write_options
from ostinato.engine.runs import deadline_timer
from ostinato.errors import (
    OstinatoError,
    check_text,
    did_you_mean,
    list_choices,
    naming_argument,
    refuse_nul,
    show_wrong,
)
from ostinato.model import Run, Timer
from ostinato.schedules.companions import NO_COMPANIONS, Companions
from ostinato.schedules.model import JOB, Schedule, ScheduleAction, run_name
from ostinato.schedules.rows import occurrence_key
from ostinato.start_checks import RunBuilder, read_positive_length
from ostinato.store.contract import Operation
from ostinato.when.instants import Micros

Known: TypeAlias = Handler | Declaration | None
OPTIONS = ("queue", "priority", "retry", "timeout", "deadline", "serial_key", "concurrency", "at_most_once")
INPUT = "context"  # an action of another kind stores under this key, in its input, what users write as `input`
_FIELDS = tuple(field.name for field in fields(Run))
_MOST = 16_384
BEHIND = 10  # by how much the priority of a backfill's runs is lower


@dataclass(frozen=True, slots=True)
class ActionKind:
    """A kind of action that an extension (`Way`) adds. Users write such an action as `{name: what it starts}`.

    - `make_run`: takes an action and a namespace, and returns a run without id and times; raises an error if the action
      is wrong
    - `fields`: further keys of such an action
    - `options`: the options that the runs accept
    - `find_unfit`: takes schedules, and looks for those whose action cannot start now; returns a dict from their ids to
      errors
    - `refuse_input`: takes a schedule, and returns why a caller may not replace the input of its runs, or None if a
      caller may
    - `forget`: takes the ids of schedules that are being deleted, and deletes the extension's rows for them
    - `timed`: if true, the option `deadline` sets a timer that ends the run; if false, only `make_run` uses `deadline`

    The extension may store further keys in actions that it makes itself. Users cannot write these keys, so schedules
    with such an action are left out of exported files.
    """

    name: str
    make_run: Callable[[ScheduleAction, str], Run]
    fields: tuple[str, ...] = ()
    options: tuple[str, ...] = OPTIONS
    find_unfit: Callable[[Sequence[Schedule]], Operation[dict[str, OstinatoError]]] | None = None
    refuse_input: Callable[[Schedule], str | None] | None = None
    forget: Callable[[Sequence[str]], Operation[None]] | None = None
    timed: bool = False


ActionKinds: TypeAlias = Mapping[str, ActionKind]
NO_KINDS: ActionKinds = {}


def shapes_of(kinds: ActionKinds) -> ActionKinds:
    """Return picklable copies of the kinds, for another process. With them, that process can check the keys and options
    of an action. It cannot check whether the action can start, and cannot build its run."""
    return {name: ActionKind(name, _bare_run, kind.fields, kind.options) for name, kind in kinds.items()}


def _bare_run(action: ScheduleAction, namespace: str) -> Run:
    return Run(id="", name=run_name(action), kind=action.kind, namespace=namespace)


def join_with_or(forms: Sequence[str]) -> str:
    """Join words: `a, b or c`."""
    return f"{', '.join(forms[:-1])} or {forms[-1]}"


def read_action(document: Mapping[str, Any], kinds: ActionKinds) -> ScheduleAction:
    """Read an action that is written as an object. Raises OstinatoError with the first mistake."""
    targets = (JOB, "http", *kinds)
    named = [target for target in targets if target in document]
    if len(named) != 1:
        if named:
            raise OstinatoError(f"the action names {' and '.join(map(repr, named))}; leave one out")
        forms = [f"{{'{JOB}': …}}", "{'http': {'url': …}}", *(f"{{{name!r}: …}}" for name in kinds)]
        has = " and ".join(map(repr, document)) or "no keys"  # not their values: they may have a password
        raise OstinatoError(f"the action has {has}, which names no target; write {join_with_or(forms)}")
    kind = kinds.get(named[0])
    own_fields = () if kind is None else kind.fields
    for key in document:
        if key not in (*targets, "input", "options", *own_fields, *OPTIONS):
            keys = (*targets, "input", *own_fields, *OPTIONS)
            raise OstinatoError(f"an action has no {key!r}; {did_you_mean(key, keys) or list_choices(keys)}")
    given_options = document.get("options") or {}
    if not isinstance(given_options, Mapping):
        raise OstinatoError(f"options{show_wrong(given_options)} is not an object with names")
    options = {**given_options, **{key: document[key] for key in OPTIONS if key in document}}
    if kind is not None:
        stored = {kind.name: document[kind.name], **{name: document.get(name) for name in kind.fields}}
        refuse_nul(stored, "the action")
        stored[INPUT] = document.get("input")
        return ScheduleAction(
            kind.name, {key: part for key, part in stored.items() if part is not None}, options, kind.name
        )
    if named[0] == "http":
        if not isinstance(document["http"], Mapping):
            raise OstinatoError("action http is not an object; write {'url': …}")  # not shown: it may have a password
        return ScheduleAction("http", dict(document["http"]), options)
    if not isinstance(document[JOB], str) or not document[JOB]:
        raise OstinatoError(f"action job{show_wrong(document[JOB])} is not a job's name; write {{'job': 'report'}}")
    check_text(document[JOB], "action job")
    return ScheduleAction(str(document[JOB]), document.get("input") or {}, options)


def write_target(action: ScheduleAction) -> dict[str, Any]:
    """Return what the action starts, and its input, as an object for `read_action`. The options are left out."""
    if action.kind != JOB:
        return {"input" if key == INPUT else key: part for key, part in action.input.items()}
    if action.job == "http":
        return {"http": dict(action.input)}
    return {JOB: action.job, **({"input": dict(action.input)} if action.input else {})}


def with_input(action: ScheduleAction, input: Mapping[str, Any]) -> ScheduleAction:
    stored = input if action.kind == JOB else {**action.input, INPUT: input}
    return ScheduleAction(action.job, stored, action.options, action.kind, action.facts)


def without_input(action: ScheduleAction) -> ScheduleAction:
    """Return a copy of the action without the user's input. What the action starts is kept."""
    kept = {} if action.kind == JOB else {key: part for key, part in action.input.items() if key != INPUT}
    return ScheduleAction(action.job, kept, action.options, action.kind, action.facts)


def check_options(action: ScheduleAction, kind: ActionKind) -> None:
    for name in action.options:
        if name not in kind.options:
            raise OstinatoError(
                f"an action that is a {kind.name} has no {name!r}; it may have {', '.join(kind.options)}"
            )


class _Template(NamedTuple):
    action: ScheduleAction
    definition: Known
    sample: Run
    values: dict[str, Any]
    deadline: Micros | None


class Maker:
    """Builds the runs of actions. Values that all runs of an action share are computed once.

    - `find_job`: returns the definition of a job, or None if no node has declared the job
    - `kinds`: the kinds of actions other than jobs
    - `run_kinds`: the kinds of runs, needed if an overlap policy stops runs
    - `companions`: the companions, which store additional rows for the runs of some schedules
    """

    def __init__(
        self,
        find_job: Callable[[str], Known],
        kinds: ActionKinds = NO_KINDS,
        run_kinds: Kinds | None = None,
        companions: Companions = NO_COMPANIONS,
    ) -> None:
        self._find_job = find_job
        self.kinds = kinds
        self.run_kinds = run_kinds or Kinds()
        self.companions = companions
        self._templates: dict[tuple[int, int, str], _Template] = {}

    def knows(self, action: ScheduleAction) -> bool:
        """Return whether the target of the action is known. If the action starts a job, a node must have declared the
        job. If the action is of another kind, this process must have the kind."""
        return action.kind in self.kinds if action.kind != JOB else self._find_job(action.job) is not None

    def starts(self, schedule: Schedule) -> bool:
        """Return whether this node can start the runs of a schedule. The node must have the kind of the schedule's
        action. If the schedule has a companion, which stores additional rows for its runs, the node must have the
        companion, too. If the result is False, only other nodes can fire the schedule, for example nodes with a newer
        version of Ostinato."""
        kind, companion = schedule.action.kind, schedule.companion
        return (kind == JOB or kind in self.kinds) and (companion is None or companion in self.companions)

    def refuse_export(self, schedule: Schedule) -> str | None:
        """Return why a file cannot declare this schedule; None if it can. It cannot if other calls must make or change
        the schedule, or if its action has keys that only an extension can write."""
        companion = self.companions.get(schedule.companion or "")
        if companion is not None and companion.changed_with is not None:
            return f"a file cannot declare it; use {companion.changed_with}"
        kind = self.kinds.get(schedule.action.kind)
        if kind is not None and not {kind.name, *kind.fields, INPUT}.issuperset(schedule.action.input):
            return f"a file cannot declare it; only a {kind.name} can make it"
        return None

    def check(self, action: ScheduleAction, namespace: str) -> None:
        """Check that a run can be built for the action. If not, raise the error that occurred, for example InputError
        if the job refuses the input."""
        self._template(action, namespace)

    def check_input(self, schedule: Schedule, input: Mapping[str, Any]) -> None:
        """Raise InputError or ArgumentError if the schedule's action cannot start with `input`."""
        kind = self.kinds.get(schedule.action.kind)
        reason = None if kind is None or kind.refuse_input is None else kind.refuse_input(schedule)
        with naming_argument("input"):
            if reason is not None:
                raise OstinatoError(reason)
            self.check(with_input(schedule.action, input), schedule.namespace)

    def find_unfit(self, schedules: Iterable[Schedule]) -> Operation[dict[str, OstinatoError]]:
        """Return a dict from schedule id to error, for schedules that cannot start their action now. A job can always
        start: its runs can wait for a node. For other actions, `ActionKind.find_unfit` decides."""
        by_kind: dict[str, list[Schedule]] = {}
        for schedule in schedules:
            if schedule.action.kind != JOB:
                by_kind.setdefault(schedule.action.kind, []).append(schedule)
        problems: dict[str, OstinatoError] = {}
        for name, named in by_kind.items():
            kind = self.kinds.get(name)
            if kind is not None and kind.find_unfit is not None:
                problems |= yield from kind.find_unfit(named)
        return problems

    def refuse_unfit(self, schedules: Iterable[Schedule]) -> Operation[None]:
        """Raise an error if one of these schedules cannot start its action now (see `find_unfit`). If several schedules
        cannot, raise the error of the first."""
        for problem in (yield from self.find_unfit(schedules)).values():
            raise problem

    def run(
        self,
        schedule: Schedule,
        id: str,
        due: Micros,
        now: Micros,
        detail: Mapping[str, Any],
        input: Mapping[str, Any] | None = None,
    ) -> tuple[Run, Timer | None]:
        """Build one run of a schedule's action. Return (run, timer of its deadline); the timer is None if the run has
        no deadline. If no run can be built, raise the error as `check` does.

        - `detail`: becomes the run's detail; must have `nominal` and `origin`, which identify the occurrence
        - `input`: replaces the action's input, unless it is None
        """
        action = schedule.action if input is None else with_input(schedule.action, input)
        template = self._template(action, schedule.namespace)
        values = {**template.values, "id": id, "root_id": id, "due": due, "created": now}
        values["key"] = occurrence_key(schedule.id, detail["nominal"], detail["origin"])
        values["schedule_id"] = schedule.id
        values["detail"] = orjson.dumps(detail).decode()
        values["actor"] = schedule.actor
        run = Run(**values)
        if template.deadline is None:
            return run, None
        ends = now + template.deadline
        options = read_options(run.options)
        run.options = write_options(replace(options, deadline=ends))
        return run, deadline_timer(run, ends)

    def simple(self, action: ScheduleAction, namespace: str) -> Run | None:
        """Return a template for the runs of this action, for use on the fast path. If the action needs the slow path,
        return None. An action needs the slow path if it does not start a job, or if its runs have a serial key, a
        concurrency key or a deadline."""
        template = self._template(action, namespace)
        run = template.sample
        if action.kind != JOB or run.serial_key or run.concurrency_key or template.deadline is not None:
            return None
        return run

    def placeholder(self, schedule: Schedule, id: str, due: Micros, now: Micros, detail: Mapping[str, Any]) -> Run:
        """Return a placeholder for a run that cannot be built now: a run without options. A timer tries later to build
        the complete run, which then replaces the placeholder."""
        return Run(
            id=id,
            root_id=id,
            name=run_name(schedule.action),
            kind=schedule.action.kind,
            namespace=schedule.namespace,
            key=occurrence_key(schedule.id, detail["nominal"], detail["origin"]),
            due=due,
            created=now,
            schedule_id=schedule.id,
            detail=orjson.dumps(detail).decode(),
            input=to_json(dict(schedule.action.input), "the input"),
            actor=schedule.actor,
        )

    def _template(self, action: ScheduleAction, namespace: str) -> _Template:
        definition = self._find_job(action.job)
        key = (id(action), id(definition), namespace)
        template = self._templates.get(key)
        if template is not None and template.action is action and template.definition is definition:
            return template
        deadline: Micros | None = None
        if action.kind != JOB:
            run = self._run_of_kind(action, namespace)
            if self.kinds[action.kind].timed:
                deadline = read_positive_length(action.options.get("deadline"), "deadline")
        else:
            starting = RunBuilder(action.job, definition, None, action.options, namespace=namespace, actor=None, now=0)
            run, _ = starting.run("", action.input, None)
            deadline = starting.deadline
        values = {name: getattr(run, name) for name in _FIELDS}
        if len(self._templates) >= _MOST:
            self._templates.clear()
        template = self._templates[key] = _Template(action, definition, run, values, deadline)
        return template

    def _run_of_kind(self, action: ScheduleAction, namespace: str) -> Run:
        kind = self.kinds.get(action.kind)
        if kind is None:
            raise OstinatoError(f"this node cannot start a {action.kind}; run a node that can")
        check_options(action, kind)
        return kind.make_run(action, namespace)
