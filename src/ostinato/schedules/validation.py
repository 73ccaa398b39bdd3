"""Check the definitions that users write, and turn them into schedules that can be stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import islice, pairwise
from typing import Any, TypeAlias, TypedDict

from ostinato.engine.context import to_json
from ostinato.engine.jobs import check_only_by_position
from ostinato.errors import OstinatoError, check_text, did_you_mean, short_repr, show_wrong
from ostinato.model import Limit, Retry
from ostinato.schedules.actions import INPUT, OPTIONS, Maker, read_action, with_input, without_input
from ostinato.schedules.model import (
    JOB,
    CatchUp,
    Overlap,
    OverlapName,
    Policies,
    Schedule,
    ScheduleAction,
    read_catchup,
    read_count,
    read_overlap,
    run_name,
)
from ostinato.schedules.rows import dump, write_action, write_policies
from ostinato.when import Duration, Spec, parse_duration, read_spec
from ostinato.when.durations import Length
from ostinato.when.instants import SECOND, Micros
from ostinato.when.size_limits import check_document_size, check_spec_size
from ostinato.when.spec_text import parse_spec_text

SpecLike: TypeAlias = Spec | str | Mapping[str, Any]
ActionLike: TypeAlias = str | Callable[..., Any] | Mapping[str, Any]
POLICIES = ("overlap", "catchup", "pause_after_failures", "max_buffer", "keep")
STATE = ("remaining", "paused", "notes", "memo", "tags", "attributes")


class ScheduleOptions(TypedDict, total=False):
    """The settings of a schedule other than spec, action and input. None means the default. `tz` is the time zone of a
    spec that is written as text."""

    tz: str | None
    overlap: OverlapName | Overlap | None
    catchup: str | timedelta | float | CatchUp | Mapping[str, Any] | None
    pause_after_failures: int | None
    max_buffer: int | None
    keep: int | None
    remaining: int | None
    notes: str | None
    memo: Any
    tags: Sequence[str] | None
    attributes: Mapping[str, Any] | None
    queue: str | None
    priority: int | None
    retry: Retry | int | Mapping[str, Any] | None
    timeout: Length | None
    deadline: Length | None
    serial_key: str | None
    concurrency: Limit | int | Mapping[str, Any] | None
    at_most_once: bool | None


class ScheduleChanges(ScheduleOptions, total=False):
    """The settings that an update may change."""

    spec: SpecLike
    action: ActionLike
    input: Mapping[str, Any] | None


KEYS = ("spec", "action", "input", *OPTIONS, *POLICIES, *STATE)
_NAME = 512
_NOTES = 1000  # characters
_LOOKED = 100


@dataclass(frozen=True, slots=True)
class DefinitionChecks:
    """The parts of the app that check a schedule's definition.

    - `maker`: has the jobs and the kinds of actions
    - `name_of`: takes a job's function and returns the job's name
    - `min_interval`: the shortest interval allowed between two times of a spec
    """

    maker: Maker
    name_of: Callable[[Callable[..., Any]], str]
    min_interval: Micros = SECOND


def read_name(name: object) -> str:
    if not isinstance(name, str) or not 0 < len(name) <= _NAME or "\x00" in name or name != name.strip():
        raise OstinatoError(
            f"the schedule's name {name!r} is not a text of 1 to {_NAME} characters without spaces at its ends"
        )
    if name in (".", ".."):  # browsers and proxies drop it from a URL
        raise OstinatoError(f"a schedule cannot be called {name!r}; take a name with a letter or a digit")
    return name


def read_notes(notes: Any) -> str:
    """Return the notes of a schedule, a pause or a resume. Raises OstinatoError if they are no text or too long."""
    if not isinstance(notes, str) or len(notes) > _NOTES or "\x00" in notes:
        raise OstinatoError(f"notes {short_repr(notes)} are not a text of at most {_NOTES:,} characters")
    return notes


def define(base: Schedule, changes: Mapping[str, Any], checks: DefinitionChecks) -> Schedule:
    """Return a copy of `base` with the settings in `changes`. An option that is None in `changes` gets its default. A
    setting that is not in `changes` stays as it is and is not checked. Raises OstinatoError for the first mistake."""
    names = ("spec", "tz", *KEYS[1:])
    for key in changes:
        if key not in names:
            hint = did_you_mean(key, names) or f"there are {', '.join(names)}"
            raise OstinatoError(f"a schedule has no {key!r}; {hint}")
    schedule, tz = base, changes.get("tz") or ""
    if "spec" in changes:
        spec = _in_zone(changes["spec"], tz) if tz else _in_its_zone(changes["spec"], base.spec)
        schedule = replace(schedule, spec=checked_spec(spec, checks.min_interval))
    elif tz:
        raise OstinatoError(f"tz {tz!r} is the time zone of a spec; give the spec, too: spec='0 9 * * *', tz={tz!r}")
    if any(key in changes for key in ("action", "input", *OPTIONS)):
        schedule = replace(schedule, action=_action(schedule.action, changes, checks))
        checks.maker.check(schedule.action, schedule.namespace)
    if any(key in changes for key in POLICIES):
        schedule = replace(schedule, policies=_policies(schedule.policies, changes))
    return _state(schedule, changes)


def _in_zone(value: SpecLike, tz: str) -> Spec:
    """Read a spec that is written as text, in the time zone `tz`. Raises OstinatoError if `value` is not a text."""
    if not isinstance(value, str):
        raise OstinatoError(f"tz {tz!r} belongs into the spec: cron(…, tz={tz!r})")
    return parse_spec_text(value, tz=tz)


def _in_its_zone(value: SpecLike, before: Spec) -> SpecLike:
    """If `value` is a text that names no time zone, and the old spec `before` has one, read the text in this time zone,
    and return the new spec. In all other cases, return `value` unchanged."""
    names_zone = isinstance(value, str) and ("TZ=" in value or '"tz"' in value)
    if isinstance(value, str) and before.tz and not names_zone:
        return parse_spec_text(value, tz=before.tz)
    return value


def checked_spec(value: SpecLike, min_interval: Micros) -> Spec:
    if isinstance(value, Mapping):
        check_document_size(value)
    spec = value if isinstance(value, Spec) else parse_spec_text(value) if isinstance(value, str) else read_spec(value)
    check_spec_size(spec)
    spec.check()
    for earlier, later in pairwise(islice(spec.compiled.times(0), _LOOKED)) if min_interval > SECOND else ():
        if later - earlier < min_interval:
            apart, least = (later - earlier) / SECOND, min_interval / SECOND
            raise OstinatoError(f"spec: two of its times are {apart:g} s apart; min_interval is {least:g} s")
    return spec


def _action(before: ScheduleAction, changes: Mapping[str, Any], checks: DefinitionChecks) -> ScheduleAction:
    target = _read_target(changes["action"], checks) if "action" in changes else before
    options = {key: changes[key] for key in OPTIONS if changes.get(key) is not None}
    dropped = {key for key in OPTIONS if key in changes and changes[key] is None}
    kept = {key: value for key, value in target.options.items() if key not in dropped}
    input = target.input
    if changes.get("input") is not None:
        if not isinstance(changes["input"], Mapping):
            raise OstinatoError(f"input{show_wrong(changes['input'])} is not an object with names")
        input = with_input(target, dict(changes["input"])).input
    elif "input" in changes and "action" not in changes:
        input = without_input(target).input
    if not isinstance(input, Mapping):
        raise OstinatoError(f"input{show_wrong(input)} is not an object with names")
    if "input" in changes or "action" in changes:
        job = run_name(target)
        check_only_by_position(job, input if target.kind == JOB else input.get(INPUT) or {})
    to_json(dict(input), "the schedule's input")
    whole = {**kept, **options}
    plain = {key: _plain(value) for key, value in whole.items()}
    return ScheduleAction(target.job, dict(input), plain, target.kind, target.facts)


def _plain(value: Any) -> Any:
    """Return the value of an option as JSON. Lengths of time become texts such as `PT5M`."""
    if isinstance(value, Retry | Limit):
        stored = {name: part for name, part in value.as_stored().items() if part is not None}
        lengths = {name: str(Duration(micros=stored[name])) for name in ("delay", "longest", "per") if name in stored}
        return {**stored, **lengths}
    if isinstance(value, timedelta):
        return str(parse_duration(value))
    return {key: _plain(one) for key, one in value.items()} if isinstance(value, Mapping) else value


def _read_target(value: ActionLike, checks: DefinitionChecks) -> ScheduleAction:
    if isinstance(value, str):
        if not value:
            raise OstinatoError("action '' names no job")
        check_text(value, "action")
        return ScheduleAction(value)
    if callable(value):
        return ScheduleAction(checks.name_of(value))
    if not isinstance(value, Mapping):
        form = type(value).__name__  # not the value: it may have a password
        raise OstinatoError(f"an action of type {form} is not a job's name, a job, or {{'job': …}} or {{'http': …}}")
    return read_action(value, checks.maker.kinds)


def _policies(before: Policies, changes: Mapping[str, Any]) -> Policies:
    policies = before
    if "overlap" in changes:
        overlap = changes["overlap"]
        policies = replace(policies, overlap=Policies().overlap if overlap is None else read_overlap(overlap))
    if "catchup" in changes:
        catchup = changes["catchup"]
        policies = replace(policies, catchup=CatchUp() if catchup is None else read_catchup(catchup))
    for key in ("pause_after_failures", "max_buffer", "keep"):
        if key in changes:
            policies = replace(policies, **{key: _count(changes[key], key)})  # type: ignore[arg-type]
    return policies


def _count(value: Any, field: str, least: int = 1) -> int | None:
    return None if value is None else read_count(value, field, least)


def _state(schedule: Schedule, changes: Mapping[str, Any]) -> Schedule:
    if "remaining" in changes:
        schedule = replace(schedule, remaining=_count(changes["remaining"], "remaining", 0))
    if "notes" in changes:
        schedule = replace(schedule, notes="" if changes["notes"] is None else read_notes(changes["notes"]))
    if "memo" in changes:
        to_json(changes["memo"], "the memo")
        schedule = replace(schedule, memo=changes["memo"])
    if "tags" in changes:
        schedule = replace(schedule, tags=() if changes["tags"] is None else read_tags(changes["tags"]))
    if "attributes" in changes:
        attributes = changes["attributes"] or {}
        if not isinstance(attributes, Mapping):
            raise OstinatoError(f"attributes{show_wrong(attributes)} are not an object with names")
        to_json(dict(attributes), "the attributes")
        schedule = replace(schedule, attributes=dict(attributes))
    return schedule


def read_tags(value: Any) -> tuple[str, ...]:
    plain = not isinstance(value, str) and isinstance(value, Sequence)
    if not plain or not all(isinstance(tag, str) and tag and "\x00" not in tag for tag in value):
        raise OstinatoError(f"tags{show_wrong(value)} are not a list of texts")
    return tuple(dict.fromkeys(value))


def same_definition(first: Schedule, second: Schedule) -> bool:
    """Return whether two schedules have the same definition. Their state is not compared."""
    return (
        first.spec == second.spec
        and write_action(first.action) == write_action(second.action)
        and write_policies(first.policies) == write_policies(second.policies)
        and first.tags == second.tags
        and dump([first.memo, dict(first.attributes)]) == dump([second.memo, dict(second.attributes)])
    )
