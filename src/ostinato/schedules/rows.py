"""Schedules and their occurrences as rows, both ways. What many schedules share (a spec, a policy) is read once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from threading import Lock
from typing import Any

import orjson

from ostinato.errors import NotFound
from ostinato.schedules.model import (
    Action,
    CatchUp,
    Memory,
    Outcomes,
    Overlap,
    Policies,
    Reason,
    Schedule,
    State,
    Stretch,
)
from ostinato.store.contract import Row
from ostinato.when import Spec, manual, read_spec
from ostinato.when.instants import Micros

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
_SPECS_SIZE = 2_000_000  # entries of all of them together; some 70 MB
_specs_size = 0
_specs_lock = Lock()
_SHORT_ACTION = 2_000


def read_spec_text(text: str) -> Spec:
    """A spec as it is stored, ready to answer. The last ones are kept, as many as memory allows: one that was written
    to be large leaves less room, not none."""
    global _specs_size
    found = _specs.get(text)
    if found is not None:
        return found
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
    found = orjson.loads(text)
    return Policies(
        Overlap(found["overlap"]),
        CatchUp(**found["catchup"]),
        found.get("pause_after_failures"),
        found.get("max_buffer"),
        found.get("keep"),
        found.get("manual_counts", False),
    )


def write_policies(policies: Policies) -> str:
    whole = orjson.loads(orjson.dumps(policies))
    found = {name: value for name, value in whole.items() if value is not None and value is not False}
    return dump(found)


def read_action_text(text: str) -> Action:
    """An action as it is stored. Short ones are kept: a schedule may bring a MiB of input."""
    return _short_action(text) if len(text) <= _SHORT_ACTION else _read_action(text)


@lru_cache(maxsize=16_384)
def _short_action(text: str) -> Action:
    return _read_action(text)


def _read_action(text: str) -> Action:
    found = orjson.loads(text)
    return Action(found["job"], found.get("input") or {}, found.get("options") or {})


def write_action(action: Action) -> str:
    return dump({"job": action.job, "input": dict(action.input), "options": dict(action.options)})


def read_memory(text: str | None) -> Memory:
    if text is None:
        return _NO_MEMORY
    found = orjson.loads(text)
    stretch = found.get("stretch")
    return Memory(
        counts=found.get("counts") or {},
        coalesced=found.get("coalesced", 0),
        left_out=frozenset(found.get("left_out") or ()),
        moved={int(n): at for n, at in (found.get("moved") or {}).items()},
        kept={int(n): at for n, at in (found.get("kept") or {}).items()},
        previous=found.get("previous"),
        stretch=None if stretch is None else Stretch(Reason(stretch[0]), *stretch[1:]),
        waiting=found.get("waiting", 0),
        backfills=found.get("backfills", 0),
        alike=found.get("alike", False),
        ahead=frozenset(found.get("ahead") or ()),
    )


def write_memory(memory: Memory) -> str:
    found: dict[str, Any] = {}
    if memory.counts:
        found["counts"] = memory.counts
    if memory.coalesced:
        found["coalesced"] = memory.coalesced
    if memory.left_out:
        found["left_out"] = sorted(memory.left_out)
    if memory.moved:
        found["moved"] = {str(n): at for n, at in memory.moved.items()}
    if memory.kept:
        found["kept"] = {str(n): at for n, at in memory.kept.items()}
    if memory.previous is not None:
        found["previous"] = memory.previous
    if memory.stretch is not None:
        one = memory.stretch
        found["stretch"] = [one.reason.value, one.count, one.run, one.first, one.rows]
    if memory.waiting:
        found["waiting"] = memory.waiting
    if memory.backfills:
        found["backfills"] = memory.backfills
    if memory.alike:
        found["alike"] = True
    if memory.ahead:
        found["ahead"] = sorted(memory.ahead)
    return orjson.dumps(found).decode()


def read_outcomes(text: str | None) -> Outcomes:
    return _NO_OUTCOMES if text is None else Outcomes(**orjson.loads(text))


def write_outcomes(outcomes: Outcomes) -> str:
    return orjson.dumps(outcomes).decode()


def read_tags(text: str | None) -> tuple[str, ...]:
    return () if text is None else tuple(orjson.loads(text))


def read_attributes(text: str | None) -> Mapping[str, Any]:
    return {} if text is None else dict(orjson.loads(text))


# What is text in a row of schedules: its place, how it is read, and what stands for one that cannot be.
_STATE = 7
_READERS: Mapping[int, tuple[Callable[[Any], Any], str | None]] = {
    3: (read_spec_text, _NOTHING),
    4: (read_action_text, write_action(Action("?"))),
    5: (read_policies_text, write_policies(Policies())),
    16: (read_memory, None),
    17: (read_outcomes, None),
    18: (load, None),
    19: (read_tags, None),
    20: (read_attributes, None),
}


def read_schedule(row: Row) -> Schedule:
    """From `SELECT *`; raises what is wrong with it, if something of it cannot be read any more."""
    (
        id,
        namespace,
        name,
        spec,
        action,
        policies,
        seed,
        state,
        reason,
        paused,
        notes,
        remaining,
        reached,
        next,
        updated,
        token,
        memory,
        outcome,
        memo,
        tags,
        attributes,
        origin,
        created,
        closed,
        zone_rules,
        actor,
    ) = row
    return Schedule(
        id,
        name,
        read_spec_text(spec),
        read_policies_text(policies),
        read_action_text(action),
        namespace,
        State(state),
        reason,
        paused,
        notes,
        remaining,
        reached,
        next,
        updated,
        token,
        read_memory(memory),
        read_outcomes(outcome),
        load(memo),
        read_tags(tags),
        read_attributes(attributes),
        origin,
        created,
        closed,
        zone_rules,
        actor,
        seed,
    )


def read_anyway(row: Row) -> Schedule:
    """The same for who looks or mends: of one that cannot be read, what can be; it is parked. Without a spec it has no
    times."""
    try:
        return read_schedule(row)
    except Exception as problem:
        there = list(row)
        for place, (read, instead) in _READERS.items():
            try:
                read(row[place])
            except Exception:
                there[place] = instead
        there[_STATE] = there[_STATE] if there[_STATE] in set(State) else State.PARKED.value
        found = read_schedule(there)
        if found.state is State.CLOSED:
            return found
        return replace(found, state=State.PARKED, reason=found.reason or str(problem))


def insert_schedule_row(schedule: Schedule) -> Row:
    """For `insert_schedules` and `replace_schedules`."""
    return (
        schedule.id,
        schedule.namespace,
        schedule.name,
        dump(schedule.spec.to_json()),
        write_action(schedule.action),
        write_policies(schedule.policies),
        schedule.seed,
        schedule.state.value,
        schedule.reason,
        schedule.paused,
        schedule.notes,
        schedule.remaining,
        schedule.reached,
        schedule.next,
        schedule.updated,
        schedule.token,
        write_memory(schedule.memory),
        write_outcomes(schedule.outcomes),
        None if schedule.memo is None else dump(schedule.memo),
        dump(list(schedule.tags)) if schedule.tags else None,
        dump(dict(schedule.attributes)) if schedule.attributes else None,
        schedule.origin,
        schedule.created,
        schedule.closed,
        schedule.zone_rules,
        schedule.actor,
    )


def advance_row(schedule: Schedule) -> Row:
    """For `advance_schedules`: what the passing of time changes."""
    return (
        schedule.id,
        schedule.remaining,
        schedule.reached,
        schedule.next,
        schedule.token,
        write_memory(schedule.memory),
        schedule.zone_rules,
    )


def outcome_row(schedule: Schedule) -> Row:
    """For `conclude_schedules`: what the end of a run changes."""
    return (
        schedule.id,
        schedule.state.value,
        schedule.paused,
        schedule.notes,
        schedule.remaining,
        schedule.next,
        schedule.token,
        write_memory(schedule.memory),
        write_outcomes(schedule.outcomes),
    )


def event_row(now: Micros, schedule: Schedule, name: str, actor: str | None = None, **data: Any) -> Row:
    """A fact about a schedule."""
    body = orjson.dumps({"name": schedule.name, **data}).decode()
    return (now, schedule.namespace, f"schedule:{name}", schedule.id, body, actor or schedule.actor)


def occurrence_key(schedule_id: str, nominal: Micros, origin: str) -> str:
    """The identity of an occurrence; keys of one schedule sort by time."""
    return f"{schedule_id}/{nominal:016d}/{origin}"


def key_range(schedule_id: str, first: Micros | None = None, last: Micros | None = None) -> tuple[str, str]:
    """Every key of a schedule from one nominal time to another lies between these two."""
    low = f"{schedule_id}/" if first is None else f"{schedule_id}/{first:016d}/"
    return low, f"{schedule_id}/~" if last is None else f"{schedule_id}/{last:016d}/~"


def read_detail(text: str | None) -> Mapping[str, Any]:
    found: Mapping[str, Any] = {} if text is None else orjson.loads(text)
    return found


def not_found(name: str, namespace: str) -> NotFound:
    return NotFound(f"there is no schedule {name!r} in namespace {namespace!r}")
