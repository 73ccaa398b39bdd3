"""Handle plain firings of schedules, and plain successes of their runs, on a fast path. Most firings and successes are
plain.

A firing is plain if all these conditions hold:

- Exactly one time is due. It is on time, and a later time follows.
- No run of the schedule is unfinished.
- The schedule is running and not paused. It has no companion, no limit on the number of its actions, and the current
  version of the time zone rules.
- The schedule has no skipped, moved or coalesced times, and no times of an earlier spec.
- The action starts a job, without a serial key, a concurrency key or a deadline.

A success is plain if the schedule has a next time, no waiting run and no unfinished backfill, and if its action has no
`facts` (see `Action.facts`).

The fast path does not read the whole schedule or call `decide`. It must write the same rows as the slow path. The slow
path is `decide.advance` with `write.write_decisions` for a firing, and `run_ended.remember` for a success.
tests/unit/schedules/operations/test_fast_path.py writes random firings on both paths and compares them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import orjson

from ostinato.engine.claims import DirectClaim, NewRun
from ostinato.engine.rows import quoted
from ostinato.schedules.actions import Maker
from ostinato.schedules.model import GRACE
from ostinato.schedules.rows import occurrence_key, read_action_text, read_policies_text, read_spec_text
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import Micros
from ostinato.when.times import Compiled

_NOTHING = '{"result":null,"failure":null,'  # how most outcomes begin
_ORDINARY = frozenset({"counts", "previous", "backfills", "stretch"})  # parts of a memory that do not affect a firing


class Firing(NamedTuple):
    run: NewRun
    schedule: Row  # for `pass_schedules`
    timer: Row
    created: Row
    triggered: Row
    started: str  # the data of `schedule:run_started`, once the run is claimed


def plain_firing(brief: Row, now: Micros, maker: Maker, new_id: Callable[[Micros], str]) -> Firing | None:
    """Return the `Firing` of a due schedule, or None if the schedule needs the slow path. `brief` is the schedule's row
    from the statement `due_schedules`. The schedule must have no unfinished runs. This never raises."""
    try:
        return _firing(brief, now, maker, new_id)
    except Exception:
        return None


def _firing(brief: Row, now: Micros, maker: Maker, new_id: Callable[[Micros], str]) -> Firing | None:
    id, fit, namespace, name, spec_text, action, policies, seed, reached, updated, memory_text, outcome, actor = brief
    if not fit or now < updated:
        return None
    memory = {} if memory_text is None else orjson.loads(memory_text)
    if not memory.keys() <= _ORDINARY:
        return None
    read_policies_text(policies)  # only checked: a schedule whose policies cannot be read is parked
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
    template = maker.simple(read_action_text(action), namespace)
    if template is None:
        return None
    quoted_name = orjson.dumps(name).decode()
    identity = f'"nominal":{nominal},"origin":"auto"'
    previous = memory.get("previous")
    if previous is None:
        previous = _previous(compiled, nominal)
    window = "" if previous is None else f',"previous":{previous}'
    detail = f'{{"schedule":{quoted_name},{identity}{window}{_last(outcome)}}}'
    counts = memory.get("counts") or {}
    after: dict[str, Any] = {"counts": {**counts, "actions": counts.get("actions", 0) + 1}, "previous": nominal}
    if memory.get("backfills"):
        after["backfills"] = memory["backfills"]
    run_id = new_id(now)
    run = NewRun(
        run_id,
        namespace,
        template.kind,
        template.name,
        occurrence_key(id, nominal, "auto"),
        template.queue,
        template.priority,
        actual,
        template.options,
        template.input,
        actor,
        id,
        detail,
    )
    triggered = f'{{"name":{quoted_name},"run_id":"{run_id}",{identity}}}'
    started = f'{{"name":{quoted_name},"run_id":"{run_id}","attempt":1,{identity}}}'
    created = f'{{"name":{quoted(template.name)},"run_id":"{run_id}","attempt":1}}'
    return Firing(
        run,
        (id, nominal, wake, orjson.dumps(after).decode()),
        ("schedule", id, "next", wake, namespace, None),
        (now, namespace, "run:created", run_id, created, actor),
        (now, namespace, "schedule:triggered", id, triggered, actor),
        started,
    )


def _last(outcome: str | None) -> str:
    """Return the last result and the last failure of a schedule as JSON text, such as
    `,"last_result":1,"last_failure":2`. The caller inserts this text into the JSON object `detail` of a new run.
    `outcome` is the column of the schedule with both values, as JSON text. If the schedule has no last result and no
    last failure, return ""."""
    if outcome is None or outcome.startswith(_NOTHING):
        return ""
    outcomes = orjson.loads(outcome)
    last = {f"last_{name}": outcomes[name] for name in ("result", "failure") if outcomes.get(name) is not None}
    return f",{orjson.dumps(last).decode()[1:-1]}" if last else ""


@lru_cache(maxsize=4096)
def _next_two(compiled: Compiled, after: Micros) -> tuple[Micros | None, Micros | None]:
    """Return the next two times after `after`; a missing one is None. Cached, because schedules often share times."""
    nominal = compiled.next(after)
    return nominal, None if nominal is None else compiled.next(nominal)


@lru_cache(maxsize=4096)
def _previous(compiled: Compiled, nominal: Micros) -> Micros | None:
    return compiled.previous(nominal)


def write_firings(firings: Sequence[Firing], now: Micros, direct: DirectClaim) -> Operation[list[Row]]:
    """Insert a new run for each firing, store the new state of its schedule, and set the schedule's next timer.
    `direct` claims as many of the new runs as this node can start now. The other runs become ready. Return the events,
    in the same order as on the slow path. The caller writes them."""
    claimed = yield from direct.insert([firing.run for firing in firings], now)
    yield sql("pass_schedules", [firing.schedule for firing in firings])
    yield sql("set_timers", [firing.timer for firing in firings])
    by_id = {firing.run.id: firing for firing in firings} if claimed else {}
    started = [by_id[id] for id in claimed]
    return [
        *(firing.created for firing in firings),
        *(firing.triggered for firing in firings),
        *(direct.started_event(firing.created) for firing in started),
        *(_run_started(firing) for firing in started),
    ]


def _run_started(firing: Firing) -> Row:
    at, namespace, _, id, _, actor = firing.triggered
    return (at, namespace, "schedule:run_started", id, firing.started, actor)


def plain_success(row: Row, result: str | None, now: Micros) -> Row | None:
    """Return a row of parameters for the statement `note_outcomes`, which stores that the last run of a schedule
    succeeded. Return None if the success needs the slow path.

    - `row`: the schedule's row from the statement `lock_owners`
    - `result`: the result of the run as JSON text, or None if it has no result
    """
    id, following, memory = row
    if following is None or '"waiting"' in (memory or "") or '"backfills"' in (memory or ""):
        return None
    return (id, f'{{"result":{result or "null"},"failure":null,"failures":0,"success_at":{now},"ended_at":{now}}}')
