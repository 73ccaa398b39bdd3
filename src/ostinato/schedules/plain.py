"""What most firings and most ends of runs are, straight from the rows that were read to those that are to be written.

A firing is plain when one time has come, not late, of a schedule that nobody has asked anything special of and of which
nothing is going on: whatever its policies are, it starts. The same rows as the long way finds, in a fraction of the
time; None where there is more to think about, or something is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import orjson

from ostinato.engine.claims import Hands
from ostinato.engine.rows import claimed_run, quoted
from ostinato.model import Run
from ostinato.schedules.making import Maker
from ostinato.schedules.model import GRACE
from ostinato.schedules.rows import occurrence_key, read_action_text, read_policies_text, read_spec_text
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.compiled import Compiled
from ostinato.when.instants import Micros

_NOTHING = '{"result":null,"failure":null,'  # what an outcome mostly begins with
_ORDINARY = frozenset({"counts", "previous", "backfills", "stretch"})  # what a memory may hold that changes nothing


class Firing(NamedTuple):
    run: Row  # for `insert_ready` or `insert_taken`
    schedule: Row  # for `pass_schedules`
    timer: Row
    created: Row
    triggered: Row
    started: str  # what its schedule says of the run when it has begun


def plain_firing(brief: Row, now: Micros, maker: Maker, new_id: Callable[[Micros], str]) -> Firing | None:
    """What becomes of a schedule, read from what `due_schedules` says, of which nothing is going on."""
    try:
        return _firing(brief, now, maker, new_id)
    except Exception:  # the long way finds it too, and knows what to do about it
        return None


def _firing(brief: Row, now: Micros, maker: Maker, new_id: Callable[[Micros], str]) -> Firing | None:
    id, fit, namespace, name, spec_text, action, policies, seed, reached, updated, memory_text, outcome, actor = brief
    if not fit or now < updated:
        return None
    memory = {} if memory_text is None else orjson.loads(memory_text)
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
    called = orjson.dumps(name).decode()
    about = f'"nominal":{nominal},"origin":"auto"'
    previous = memory.get("previous")
    if previous is None:
        previous = _previous(compiled, nominal)
    before = "" if previous is None else f',"previous":{previous}'
    detail = f'{{"schedule":{called},{about}{before}{_last(outcome)}}}'
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
        made.queue,
        made.priority,
        actual,
        made.options,
        made.input,
        actor,
        id,
        detail,
    )
    told = f'{{"name":{called},"run_id":"{run_id}",{about}}}'
    started = f'{{"name":{called},"run_id":"{run_id}","attempt":1,{about}}}'
    created = f'{{"name":{quoted(made.name)},"run_id":"{run_id}","attempt":1}}'
    return Firing(
        run,
        (id, nominal, wake, orjson.dumps(after).decode()),
        ("schedule", id, "next", wake, namespace, None),
        (now, namespace, "run:created", run_id, created, actor),
        (now, namespace, "schedule:triggered", id, told, actor),
        started,
    )


def _last(outcome: str | None) -> str:
    """What the next run is told of the last, in the words of its detail."""
    if outcome is None or outcome.startswith(_NOTHING):
        return ""
    found = orjson.loads(outcome)
    last = {f"last_{name}": found[name] for name in ("result", "failure") if found.get(name) is not None}
    return f",{orjson.dumps(last).decode()[1:-1]}" if last else ""


@lru_cache(maxsize=4096)
def _next_two(compiled: Compiled, after: Micros) -> tuple[Micros | None, Micros | None]:
    """Many schedules have the same times."""
    nominal = compiled.next(after)
    return nominal, None if nominal is None else compiled.next(nominal)


@lru_cache(maxsize=4096)
def _previous(compiled: Compiled, nominal: Micros) -> Micros | None:
    return compiled.previous(nominal)


def write_firings(firings: Sequence[Firing], now: Micros, hands: Hands) -> Operation[list[Row]]:
    """Those that fit into the hands of this node are its own from the beginning. Returns events to write."""
    taken = yield from _taken(firings, hands)
    began: Sequence[Firing] = ()
    if taken:
        began = taken
        told = yield sql("insert_taken", [one.run for one in taken], now=now, node=hands.node, token=hands.token)
        if told[0][0] < len(taken):
            there = {row[0] for row in (yield sql("claimed_by_token", node=hands.node, token=hands.token))}
            began = [one for one in taken if one.run[0] in there]
        hands.taken += [_begun(one.run, hands.node, now) for one in began]
    if len(taken) < len(firings):
        own = {one.run[0] for one in taken}
        yield sql("insert_ready", [one.run for one in firings if one.run[0] not in own], now=now)
    hands.plain += len(firings)
    yield sql("pass_schedules", [one.schedule for one in firings])
    yield sql("set_timers", [one.timer for one in firings])
    events = [one.created for one in firings]
    events += [one.triggered for one in firings]
    for one in began:
        at, namespace, _, run_id, told, actor = one.created
        events.append((at, namespace, "run:started", run_id, f'{told[:-1]},"node":"{hands.node}"}}', actor))
    for one in began:
        at, namespace, _, id, _, actor = one.triggered
        events.append((at, namespace, "schedule:run_started", id, one.started, actor))
    return events


def _taken(firings: Sequence[Firing], hands: Hands) -> Operation[Sequence[Firing]]:
    if not hands.room:
        return ()
    fitting = [one for one in firings if hands.fit(one.run[2], one.run[3], one.run[5])]
    if not fitting or not (yield from hands.free()):
        return ()
    fitting.sort(key=lambda one: -one.run[6])  # by priority, as they would be claimed
    return fitting[: hands.room - len(hands.taken)]


def _begun(row: Row, node: str, now: Micros) -> Run:
    id, namespace, kind, name, key, queue, priority, due, options, input, actor, schedule_id, detail = row
    told = (id, name, kind, namespace, queue, priority, due, now, id, 1, None, 1, None, None, None, options, input)
    return claimed_run((*told, None, 0, actor, key, schedule_id, detail), node, now)


def plain_success(row: Row, result: str | None, now: Micros) -> Row | None:
    """For `note_outcomes`: the new outcome of a schedule to which a success means nothing else, straight from its row:
    nobody waits for it, and there are times to come. Most ends are such."""
    id, following, memory = row
    if following is None or '"waiting"' in (memory or "") or '"backfills"' in (memory or ""):
        return None
    return (id, f'{{"result":{result or "null"},"failure":null,"failures":0,"success_at":{now},"ended_at":{now}}}')
