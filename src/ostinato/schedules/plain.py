"""What most firings and most ends of runs are, straight from the rows that were read to those that are to be written.

A firing is plain when one time has come, not late, of a schedule that nobody has asked anything special of and of which
nothing is going on: whatever its policies are, it starts. The same rows as the long way finds, in a fraction of the
time; None where there is more to think about, or something is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import orjson

from ostinato.engine.rows import quoted
from ostinato.schedules.making import Maker
from ostinato.schedules.model import GRACE
from ostinato.schedules.rows import occurrence_key, read_action_text, read_policies_text, read_spec_text
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.compiled import Compiled
from ostinato.when.instants import Micros

_ORDINARY = frozenset({"counts", "previous", "backfills", "stretch"})  # what a memory may hold that changes nothing


class Firing(NamedTuple):
    run: Row
    schedule: Row
    timer: Row
    created: Row
    triggered: Row


def plain_firing(row: Row, now: Micros, rules: str, maker: Maker, new_id: Callable[[Micros], str]) -> Firing | None:
    """What becomes of a schedule, read from its row, of which nothing is going on."""
    try:
        return _firing(row, now, rules, maker, new_id)
    except Exception:  # the long way finds it too, and knows what to do about it
        return None


def _firing(row: Row, now: Micros, rules: str, maker: Maker, new_id: Callable[[Micros], str]) -> Firing | None:
    id, namespace, name, spec_text, action, policies, seed, state, _, paused, _, remaining, reached, _, updated = row[
        :15
    ]
    token, memory_text, outcome_text = row[15:18]
    actor = row[25]
    if state != "running" or paused is not None or remaining is not None or now < updated:
        return None
    memory = _read(memory_text)
    if not memory.keys() <= _ORDINARY:
        return None
    read_policies_text(policies)  # they change nothing, but one that has lost them is parked, as any that is damaged
    spec = read_spec_text(spec_text)
    compiled = spec.compiled
    nominal, following = _next_two(compiled, max(reached, updated - spec.jitter - 1))
    if nominal is None or following is None:
        return None
    actual, wake = nominal, following
    if spec.jitter:
        seed = seed or f"{namespace}-{name}"
        actual, wake = compiled.jittered(nominal, seed), compiled.jittered(following, seed)
    if not max(updated, now - GRACE) <= actual <= now < wake:
        return None
    made = maker.simple(read_action_text(action), namespace)
    if made is None:
        return None
    detail: dict[str, Any] = {"schedule": name, "nominal": nominal, "origin": "auto"}
    previous = memory.get("previous")
    if previous is None:
        previous = compiled.previous(nominal)
    if previous is not None:
        detail["previous"] = previous
    outcome = _read(outcome_text)
    if outcome.get("result") is not None:
        detail["last_result"] = outcome["result"]
    if outcome.get("failure") is not None:
        detail["last_failure"] = outcome["failure"]
    counts = memory.get("counts") or {}
    after: dict[str, Any] = {"counts": {**counts, "actions": counts.get("actions", 0) + 1}, "previous": nominal}
    if memory.get("backfills"):
        after["backfills"] = memory["backfills"]
    run_id = new_id(now)
    run = (
        run_id,
        namespace,
        made.kind,
        made.name,
        occurrence_key(id, nominal, "auto"),
        "ready",
        None,
        made.queue,
        made.priority,
        actual,
        now,
        now,
        run_id,
        None,
        1,
        None,
        None,
        None,
        None,
        None,
        made.options,
        made.input,
        None,
        0,
        actor,
        id,
        orjson.dumps(detail).decode(),
    )
    told = orjson.dumps({"name": name, "run_id": run_id, "nominal": nominal, "origin": "auto"}).decode()
    created = f'{{"name":{quoted(made.name)},"run_id":"{run_id}","attempt":1}}'
    return Firing(
        run,
        (id, None, nominal, wake, token, orjson.dumps(after).decode(), rules),
        ("schedule", id, "next", wake, namespace, None),
        (now, namespace, "run:created", run_id, created, actor),
        (now, namespace, "schedule:triggered", id, told, actor),
    )


def _read(text: str | None) -> dict[str, Any]:
    return {} if text is None else orjson.loads(text)


@lru_cache(maxsize=4096)
def _next_two(compiled: Compiled, after: Micros) -> tuple[Micros | None, Micros | None]:
    """Many schedules have the same times."""
    nominal = compiled.next(after)
    return nominal, None if nominal is None else compiled.next(nominal)


def write_firings(firings: list[Firing]) -> Operation[list[Row]]:
    """Returns events to write."""
    runs, schedules, timers, created, triggered = zip(*firings, strict=True)
    yield sql("insert_runs", runs)
    yield sql("advance_schedules", schedules)
    yield sql("set_timers", timers)
    return [*created, *triggered]


def plain_success(row: Row, result: str | None, now: Micros) -> Row | None:
    """For `note_outcomes`: the new outcome of a schedule to which a success means nothing else, straight from its row:
    nobody waits for it, and there are times to come. Most ends are such."""
    id, following, memory = row
    if following is None or '"waiting"' in (memory or "") or '"backfills"' in (memory or ""):
        return None
    return (id, f'{{"result":{result or "null"},"failure":null,"failures":0,"success_at":{now},"ended_at":{now}}}')
