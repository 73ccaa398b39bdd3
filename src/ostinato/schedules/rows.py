"""Convert schedules and occurrences to rows of the store, and back. Many schedules have equal specs, policies or
actions, so the parsed values are cached."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from threading import Lock
from typing import Any

import orjson

from ostinato.errors import NotFound, did_you_mean, is_text
from ostinato.schedules.model import (
    JOB,
    CatchUp,
    Memory,
    Outcomes,
    Overlap,
    Policies,
    Reason,
    Schedule,
    ScheduleAction,
    State,
    Stretch,
)
from ostinato.store.columns import SCHEDULE_COLUMNS, getter, reader, writer
from ostinato.store.contract import Operation, Row, sql
from ostinato.when import Spec, manual, read_spec
from ostinato.when.instants import Micros

_NEAR = 200  # names before and after an unknown one that are compared with it
_NO_MEMORY = Memory()
_NO_OUTCOMES = Outcomes()
_NOTHING = orjson.dumps(manual().to_json()).decode()


def dump(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def load(text: str | None) -> Any:
    return None if text is None else orjson.loads(text)


_FORMER_SPEC_KEYS = {"zone": "tz", "zone_data": "tz_data"}  # in rows written before these keys were renamed
_specs: OrderedDict[str, Spec] = OrderedDict()
_SPECS = 16_384
# Entries of all cached specs: about 19 MB, and 150,000 objects for the garbage collector. A spec of one cron string has
# 32 entries.
_SPECS_SIZE = 32 * _SPECS
_specs_size = 0
_specs_lock = Lock()
_SHORT_ACTION = 2_000


def read_spec_text(text: str) -> Spec:
    """Read a stored spec, or return it from the cache. If the cache has too many specs, or if they are too large in
    total, the specs that were cached first are dropped, but never the newest."""
    global _specs_size
    cached = _specs.get(text)
    if cached is not None:
        return cached
    document = orjson.loads(text)
    for former, key in _FORMER_SPEC_KEYS.items():
        if former in document:
            document[key] = document.pop(former)
    spec = read_spec(document)
    with _specs_lock:
        if text not in _specs:
            _specs[text] = spec
            _specs_size += spec.compiled.size
        while len(_specs) > _SPECS or (_specs_size > _SPECS_SIZE and len(_specs) > 1):
            _, oldest = _specs.popitem(last=False)
            _specs_size -= oldest.compiled.size
    return spec


@lru_cache(maxsize=4096)
def read_policies_text(text: str) -> Policies:
    stored = orjson.loads(text)
    return Policies(
        Overlap(stored["overlap"]),
        CatchUp(**stored["catchup"]),
        stored.get("pause_after_failures"),
        stored.get("max_buffer"),
        stored.get("keep"),
        stored.get("manual_counts", False),
    )


def write_policies(policies: Policies) -> str:
    whole = orjson.loads(orjson.dumps(policies))
    stored = {name: value for name, value in whole.items() if value is not None and value is not False}
    return dump(stored)


def read_action_text(text: str) -> ScheduleAction:
    """Read a stored action. Long actions are not cached, because they can have up to a MiB of input."""
    return _read_short_action(text) if len(text) <= _SHORT_ACTION else _read_action(text)


def _read_action(text: str) -> ScheduleAction:
    stored = orjson.loads(text)
    return ScheduleAction(
        stored["job"],
        stored.get("input") or {},
        stored.get("options") or {},
        stored.get("kind") or JOB,
        stored.get("facts") or {},
    )


_read_short_action = lru_cache(maxsize=16_384)(_read_action)


def write_action(action: ScheduleAction) -> str:
    stored: dict[str, Any] = {"job": action.job, "input": dict(action.input), "options": dict(action.options)}
    if action.facts:
        stored["facts"] = dict(action.facts)
    return dump(stored if action.kind == JOB else {**stored, "kind": action.kind})


def read_memory(text: str | None) -> Memory:
    if text is None:
        return _NO_MEMORY
    stored = orjson.loads(text)
    stretch = stored.get("stretch")
    return Memory(
        counts=stored.get("counts") or {},
        coalesced=stored.get("coalesced", 0),
        left_out=frozenset(stored.get("left_out") or ()),
        moved={int(n): at for n, at in (stored.get("moved") or {}).items()},
        kept={int(n): at for n, at in (stored.get("kept") or {}).items()},
        previous=stored.get("previous"),
        stretch=None if stretch is None else Stretch(Reason(stretch[0]), *stretch[1:]),
        waiting=stored.get("waiting", 0),
        backfills=stored.get("backfills", 0),
        alike=stored.get("alike", False),
        ahead=frozenset(stored.get("ahead") or ()),
    )


def write_memory(memory: Memory) -> str:
    stored: dict[str, Any] = {}
    if memory.counts:
        stored["counts"] = memory.counts
    if memory.coalesced:
        stored["coalesced"] = memory.coalesced
    if memory.left_out:
        stored["left_out"] = sorted(memory.left_out)
    if memory.moved:
        stored["moved"] = {str(n): at for n, at in memory.moved.items()}
    if memory.kept:
        stored["kept"] = {str(n): at for n, at in memory.kept.items()}
    if memory.previous is not None:
        stored["previous"] = memory.previous
    if memory.stretch is not None:
        stretch = memory.stretch
        stored["stretch"] = [stretch.reason.value, stretch.count, stretch.run, stretch.first, stretch.rows]
    if memory.waiting:
        stored["waiting"] = memory.waiting
    if memory.backfills:
        stored["backfills"] = memory.backfills
    if memory.alike:
        stored["alike"] = True
    if memory.ahead:
        stored["ahead"] = sorted(memory.ahead)
    return orjson.dumps(stored).decode()


def read_outcomes(text: str | None) -> Outcomes:
    return _NO_OUTCOMES if text is None else Outcomes(**orjson.loads(text))


def write_outcomes(outcomes: Outcomes) -> str:
    return orjson.dumps(outcomes).decode()


def read_tags(text: str | None) -> tuple[str, ...]:
    return () if text is None else tuple(orjson.loads(text))


def read_attributes(text: str | None) -> Mapping[str, Any]:
    return {} if text is None else dict(orjson.loads(text))


# How the columns that are text are read and written.
_READERS: Mapping[str, Callable[[Any], Any]] = {
    "spec": read_spec_text,
    "policies": read_policies_text,
    "action": read_action_text,
    "state": State,
    "memory": read_memory,
    "outcome": read_outcomes,
    "memo": load,
    "tags": read_tags,
    "attributes": read_attributes,
}
_WRITERS: Mapping[str, Callable[[Any], Any]] = {
    "spec": lambda spec: dump(spec.to_json()),
    "policies": write_policies,
    "action": write_action,
    "memory": write_memory,
    "outcomes": write_outcomes,
    "memo": lambda memo: None if memo is None else dump(memo),
    "tags": lambda tags: dump(list(tags)) if tags else None,
    "attributes": lambda attributes: dump(dict(attributes)) if attributes else None,
}
# The texts that are read in place of a column that cannot be read. A column that is not listed here is read as NULL.
_INSTEAD = {
    "spec": _NOTHING,
    "policies": write_policies(Policies()),
    "action": write_action(ScheduleAction("?")),
    "state": State.PARKED.value,
}
_ATTRIBUTES = {"state": "state.value", "outcome": "outcomes"}
# Read a schedule from `{schedule_columns}`. Raises if a column cannot be read.
read_schedule = reader(Schedule, SCHEDULE_COLUMNS, **_READERS)
# Make the row of a schedule for `insert_schedules` and `replace_schedules`.
insert_schedule_row = writer((_ATTRIBUTES.get(name, name) for name in SCHEDULE_COLUMNS), **_WRITERS)
# Single columns of a row, without reading the others.
id_of = getter(SCHEDULE_COLUMNS, "id")
name_of = getter(SCHEDULE_COLUMNS, "name")
next_of = getter(SCHEDULE_COLUMNS, "next")
closed_of = getter(SCHEDULE_COLUMNS, "closed")
owner_of = getter(SCHEDULE_COLUMNS, "id", "next", "memory")  # as from `lock_owners`


def read_anyway(row: Row) -> Schedule:
    """Read a schedule from its row, to show it or to repair it, even if some columns cannot be read. These columns get
    default values, and the state of the schedule becomes PARKED. A closed schedule stays CLOSED."""
    try:
        return read_schedule(row)
    except Exception as problem:
        values = dict(zip(SCHEDULE_COLUMNS, row, strict=True))
        for name, read in _READERS.items():
            try:
                read(values[name])
            except Exception:
                values[name] = _INSTEAD.get(name)
        schedule = read_schedule(list(values.values()))
        if schedule.state is State.CLOSED:
            return schedule
        return replace(schedule, state=State.PARKED, reason=schedule.reason or str(problem))


# For `advance_schedules`: what a firing changes.
advance_row = writer("id remaining reached next token memory zone_rules".split(), memory=write_memory)
# For `conclude_schedules`: what the end of a run changes.
outcome_row = writer(
    "id state.value paused notes remaining next token memory outcomes".split(),
    memory=write_memory,
    outcomes=write_outcomes,
)


def event_row(now: Micros, schedule: Schedule, name: str, actor: str | None = None, **data: Any) -> Row:
    facts = schedule.action.facts
    if facts and "nominal" in data:
        facts = facts_of_occurrence(schedule, data["nominal"])
    body = orjson.dumps({"name": schedule.name, **facts, **data}).decode()
    return (now, schedule.namespace, f"schedule:{name}", schedule.id, body, actor or schedule.actor)


def facts_of_occurrence(schedule: Schedule, nominal: Micros) -> dict[str, Any]:
    """Return the additional data of events about an occurrence: the action's `facts`, and the nominal time."""
    return {**schedule.action.facts, "scheduled_for": nominal}


def occurrence_key(schedule_id: str, nominal: Micros, origin: str) -> str:
    """Return the key that identifies an occurrence. The keys of one schedule sort by nominal time."""
    return f"{schedule_id}/{nominal:016d}/{origin}"


def key_range(schedule_id: str, first: Micros | None = None, last: Micros | None = None) -> tuple[str, str]:
    """Return two keys that enclose the keys of a schedule's occurrences with nominal times from `first` to `last`."""
    low = f"{schedule_id}/" if first is None else f"{schedule_id}/{first:016d}/"
    return low, f"{schedule_id}/~" if last is None else f"{schedule_id}/{last:016d}/~"


def read_detail(text: str | None) -> Mapping[str, Any]:
    detail: Mapping[str, Any] = {} if text is None else orjson.loads(text)
    return detail


def not_found(name: str, namespace: str) -> Operation[NotFound]:
    """Return the error for a name that no schedule has. If schedules have similar names, the error suggests the most
    similar one. Only the `_NEAR` names before and the `_NEAR` names after `name` in alphabetical order are compared."""
    words = f"there is no schedule {name!r} in namespace {namespace!r}"
    if not is_text(name):
        return NotFound(words)
    near = yield sql("names_near", namespace=namespace, name=name, limit=_NEAR)
    hint = did_you_mean(name, [row[0] for row in near])
    return NotFound(f"{words}; {hint}" if hint else words)
