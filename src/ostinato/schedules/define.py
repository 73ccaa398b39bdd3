"""The door: from what users write to a schedule that can be stored. Everything that may be wrong is said here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import islice, pairwise
from typing import Any, TypeAlias, TypedDict

from ostinato.engine.context import to_json
from ostinato.errors import OstinatoError, did_you_mean, shown
from ostinato.model import MOST, Limit, Retry
from ostinato.schedules.making import JOURNEY, Maker
from ostinato.schedules.model import (
    Action,
    CatchUp,
    Overlap,
    OverlapName,
    Policies,
    Schedule,
    read_catchup,
    read_overlap,
)
from ostinato.schedules.rows import dump, write_action, write_policies
from ostinato.when import Duration, Spec, cron, parse_duration, read_spec
from ostinato.when.durations import Length
from ostinato.when.instants import SECOND, Micros
from ostinato.when.sizes import check_document_size, check_spec_size

SpecLike: TypeAlias = Spec | str | Mapping[str, Any]
ActionLike: TypeAlias = str | Callable[..., Any] | Mapping[str, Any]
OPTIONS = ("queue", "priority", "retry", "timeout", "deadline", "serial_key", "concurrency", "at_most_once")
POLICIES = ("overlap", "catchup", "pause_after_failures", "max_buffer", "keep")
STATE = ("remaining", "paused", "notes", "memo", "tags", "attributes")


class ScheduleOptions(TypedDict, total=False):
    """What a schedule may have beside its spec and its action."""

    input: Mapping[str, Any] | None
    overlap: OverlapName | Overlap
    catchup: str | timedelta | float | CatchUp | Mapping[str, Any]
    pause_after_failures: int | None
    max_buffer: int | None
    keep: int | None
    remaining: int | None
    notes: str
    memo: Any
    tags: Sequence[str]
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
    """What an update may change."""

    spec: SpecLike
    action: ActionLike


KEYS = ("spec", "action", "input", *OPTIONS, *POLICIES, *STATE)
_NAME = 512
_NOTES = 1000  # characters
_LOOKED = 100


@dataclass(frozen=True, slots=True)
class Doors:
    """What a definition is checked against: the jobs that are known, and the shortest interval allowed."""

    maker: Maker
    name_of: Callable[[Callable[..., Any]], str]
    min_interval: Micros = SECOND


def read_name(name: object) -> str:
    if not isinstance(name, str) or not 0 < len(name) <= _NAME or "\x00" in name or name != name.strip():
        raise OstinatoError(f"the schedule's name {name!r} is not a text of 1 to {_NAME} characters")
    if name in (".", ".."):  # every URL that held it would lead elsewhere
        raise OstinatoError(f"a schedule cannot be called {name!r}; take a name with a letter or a digit")
    return name


def read_notes(notes: Any) -> str:
    """Notes of a schedule, and of a pause or a resume of it: measured the same on every face."""
    if not isinstance(notes, str) or len(notes) > _NOTES or "\x00" in notes:
        raise OstinatoError(f"notes {shown(notes)} are not a text of at most {_NOTES:,} characters")
    return notes


def define(base: Schedule, given: Mapping[str, Any], doors: Doors) -> Schedule:
    """A schedule with what is given put in place of what it has. Only what is given is looked at."""
    for key in given:
        if key not in KEYS:
            hint = did_you_mean(key, KEYS) or f"there are {', '.join(KEYS)}"
            raise OstinatoError(f"a schedule has no {key!r}; {hint}")
    found = base
    if "spec" in given:
        found = replace(found, spec=checked_spec(_in_its_zone(given["spec"], base.spec), doors.min_interval))
    if any(key in given for key in ("action", "input", *OPTIONS)):
        found = replace(found, action=_action(found.action, given, doors))
        doors.maker.check(found.action, found.namespace)
    if any(key in given for key in POLICIES):
        found = replace(found, policies=_policies(found.policies, given))
    return _state(found, given)


def _in_its_zone(given: SpecLike, before: Spec) -> SpecLike:
    """A cron line in place of another spec: it is read in the zone of the one before, unless it names its own."""
    return cron(given, tz=before.tz) if isinstance(given, str) and before.tz and "TZ=" not in given else given


def checked_spec(given: SpecLike, min_interval: Micros) -> Spec:
    if isinstance(given, Mapping):
        check_document_size(given)
    spec = given if isinstance(given, Spec) else cron(given) if isinstance(given, str) else read_spec(given)
    check_spec_size(spec)
    spec.check()
    for one, other in pairwise(islice(spec.compiled.times(0), _LOOKED)) if min_interval > SECOND else ():
        if other - one < min_interval:
            apart, least = (other - one) / SECOND, min_interval / SECOND
            raise OstinatoError(f"spec: two of its times are {apart:g} s apart; min_interval is {least:g} s")
    return spec


def _action(before: Action, given: Mapping[str, Any], doors: Doors) -> Action:
    found = read_action(given["action"], doors) if "action" in given else before
    options = {key: given[key] for key in OPTIONS if given.get(key) is not None}
    dropped = {key for key in OPTIONS if key in given and given[key] is None}
    kept = {key: value for key, value in found.options.items() if key not in dropped}
    input = found.input if given.get("input") is None else given["input"]
    if not isinstance(input, Mapping):
        raise OstinatoError(f"input {input!r} is not an object with names")
    if found.job == JOURNEY and given.get("input") is not None:
        input = {**found.input, "context": dict(input)}
    to_json(dict(input), "the schedule's input")
    whole = {**kept, **options}
    return Action(found.job, dict(input), {key: _plain(value) for key, value in whole.items()})


def _plain(value: Any) -> Any:
    """An option as JSON can keep it, with lengths as texts."""
    if isinstance(value, Retry | Limit):
        stored = {name: part for name, part in value.as_stored().items() if part is not None}
        lengths = {name: str(Duration(micros=stored[name])) for name in ("delay", "longest", "per") if name in stored}
        return {**stored, **lengths}
    if isinstance(value, timedelta):
        return str(parse_duration(value))
    return {key: _plain(one) for key, one in value.items()} if isinstance(value, Mapping) else value


def read_action(given: ActionLike, doors: Doors) -> Action:
    """A job by name or by function; `{"job": …, "input": …}`; `{"http": {…}}`; or `{"journey": …, "input": …}`, perhaps
    with `version` and `start`; each with options beside it."""
    if isinstance(given, str):
        if not given:
            raise OstinatoError("action '' names no job")
        return Action(given)
    if callable(given):
        return Action(doors.name_of(given))
    if not isinstance(given, Mapping):
        raise OstinatoError(f"action {given!r} is not a job's name, a job, or {{'job': …}} or {{'http': …}}")
    kinds = [kind for kind in ("job", "http", JOURNEY) if kind in given]
    if len(kinds) != 1:
        raise OstinatoError(
            f"action {dict(given)!r} names no target; write {{'job': …}}, {{'http': {{'url': …}}}} or {{'journey': …}}"
        )
    own = ("version", "start") if JOURNEY in given else ()
    for key in given:
        if key not in ("job", "http", JOURNEY, "input", "options", *own, *OPTIONS):
            hint = did_you_mean(key, ("job", "http", JOURNEY, "input", *own, *OPTIONS))
            raise OstinatoError(f"an action has no {key!r}{'; ' + hint if hint else ''}")
    options = {**(given.get("options") or {}), **{key: given[key] for key in OPTIONS if key in given}}
    if "http" in given:
        if not isinstance(given["http"], Mapping):
            raise OstinatoError(f"action http {given['http']!r} is not an object; write {{'url': …}}")
        return Action("http", dict(given["http"]), options)
    if JOURNEY in given:
        found = {JOURNEY: given[JOURNEY], "version": given.get("version"), "start": given.get("start")}
        told = {key: one for key, one in {**found, "context": given.get("input")}.items() if one is not None}
        return Action(JOURNEY, told, options)
    return Action(str(given["job"]), given.get("input") or {}, options)


def _policies(before: Policies, given: Mapping[str, Any]) -> Policies:
    found = before
    if "overlap" in given:
        found = replace(found, overlap=read_overlap(given["overlap"]))
    if "catchup" in given:
        found = replace(found, catchup=read_catchup(given["catchup"]))
    for key in ("pause_after_failures", "max_buffer", "keep"):
        if key in given:
            found = replace(found, **{key: _count(given[key], key)})  # type: ignore[arg-type]
    return found


def _count(value: Any, field: str, least: int = 1) -> int | None:
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= MOST:
        raise OstinatoError(f"{field} {shown(value)} is not a whole number from {least} to {MOST:,}")
    return value


def _state(found: Schedule, given: Mapping[str, Any]) -> Schedule:
    if "remaining" in given:
        found = replace(found, remaining=_count(given["remaining"], "remaining", 0))
    if "notes" in given:
        found = replace(found, notes=read_notes(given["notes"]))
    if "memo" in given:
        to_json(given["memo"], "the memo")
        found = replace(found, memo=given["memo"])
    if "tags" in given:
        found = replace(found, tags=read_tags(given["tags"]))
    if "attributes" in given:
        attributes = given["attributes"] or {}
        if not isinstance(attributes, Mapping):
            raise OstinatoError(f"attributes {attributes!r} are not an object with names")
        to_json(dict(attributes), "the attributes")
        found = replace(found, attributes=dict(attributes))
    return found


def read_tags(value: Any) -> tuple[str, ...]:
    plain = not isinstance(value, str) and isinstance(value, Sequence)
    if not plain or not all(isinstance(tag, str) and tag and "\x00" not in tag for tag in value):
        raise OstinatoError(f"tags {value!r} are not a list of texts")
    return tuple(dict.fromkeys(value))


def same_definition(one: Schedule, other: Schedule) -> bool:
    """Whether two schedules say the same, whatever they have been through."""
    return (
        one.spec == other.spec
        and write_action(one.action) == write_action(other.action)
        and write_policies(one.policies) == write_policies(other.policies)
        and one.tags == other.tags
        and dump([one.memo, dict(one.attributes)]) == dump([other.memo, dict(other.attributes)])
    )
