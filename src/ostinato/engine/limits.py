"""Decide which runs become ready. A run may have a serial key and a limit. A limit has a key, too.

A serial key allows one chain at a time. A chain is a run with its retries. A limit restricts how many runs are active
at the same time, or how many start in a period, or it gives each key a fair share of the nodes. A run becomes `ready`
only when its keys allow it to start, so a node can claim any ready run without checking keys. Until then, the run is
`buffered`, in the queue of a key. A transaction that changes a run with a key locks the row of that key.

Each key has only a few ready runs at a time. Ready runs of the same priority are claimed in the order in which they
became ready. So every key gets a fair share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import starmap
from operator import itemgetter
from typing import NamedTuple

from ostinato.engine.rows import read_options, timer_row
from ostinato.model import Limit, Run, Timer
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import SECOND, Micros

FAIR_WINDOW = 100  # ready runs of a key without concurrency or rate, for each unit of its weight
# Each further run of a key is claimed as if it had become ready this much later. So the second run of a key comes after
# the first run of every other key that arrives within this time.
TURN: Micros = SECOND
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Gate:
    """The state of one limit.

    - `used`: the number of ready and active runs with this limit
    - `arrival`: when the next run would start if runs started at an even pace. This is the theoretical arrival time of
      the generic cell rate algorithm.
    """

    namespace: str
    key: str
    most: int | None
    rate: int | None
    per: Micros
    weight: int
    used: int
    arrival: Micros


class Head(NamedTuple):
    """The first run in the queue of a serial key."""

    namespace: str
    serial_key: str
    id: str
    root_id: str
    concurrency_key: str | None
    options: str | None


def admit(gate: Gate, wanted: int, now: Micros) -> tuple[int, Gate, Micros | None]:
    """Decide how many runs the limit lets start now. `wanted` is the most that can start. Returns (the number of runs,
    the new state of the limit, when to try again). The last item is a time if the limit's rate delays some of the runs.
    Otherwise it is None."""
    most = gate.most
    if most is None:
        most = FAIR_WINDOW * gate.weight if gate.rate is None else gate.used + gate.rate
    room = min(wanted, most - gate.used)
    if gate.rate is None:
        return max(0, room), replace(gate, used=gate.used + max(0, room)), None
    admitted = 0
    arrival, again = gate.arrival, None
    pace = gate.per // gate.rate
    while admitted < room:
        earliest = arrival - (gate.per - pace)  # a burst is allowed: all runs of one period may start at once
        if earliest > now:
            again = earliest
            break
        arrival = max(arrival, now) + pace
        admitted += 1
    return admitted, replace(gate, used=gate.used + admitted, arrival=arrival), again


def let_in(runs: Sequence[Run], now: Micros) -> Operation[None]:
    """Make `buffered` runs ready if their serial keys and limits allow it. The other runs stay `buffered`."""
    holders = yield from _take_serials(runs)
    yield from _take_limits(holders, now)


def _take_serials(runs: Sequence[Run]) -> Operation[list[Run]]:
    """Give each free serial key to the first run in `runs` that needs this key. Return the runs that now have their
    serial key, and the runs without a serial key. The other runs wait for their key."""
    keyed = sorted((r for r in runs if r.serial_key is not None), key=lambda r: (r.due, r.id))
    if not keyed:
        return list(runs)
    first: dict[Key, Run] = {}
    for run in keyed:
        first.setdefault((run.namespace, run.serial_key or ""), run)
    taken = yield sql("take_serials", sorted((ns, key, run.root_id) for (ns, key), run in first.items()))
    holders = {(ns, key): holder for ns, key, holder in taken}
    # A chain has only one attempt at a time, so the holder's root id identifies the run.
    return [r for r in runs if r.serial_key is None or holders[r.namespace, r.serial_key] == r.root_id]


def _take_limits(runs: Sequence[Run], now: Micros) -> Operation[None]:
    """Make the runs without a limit ready. Put each other run into the queue of its limit. Then make the first runs in
    these queues ready, as many as the limits allow."""
    free = [r.id for r in runs if r.concurrency_key is None]
    limited = [r for r in runs if r.concurrency_key is not None]
    if limited:
        # These runs go to the end of the queue; `_open_gates` starts at the head of the queue.
        yield from _open_gates((yield from _queue_for_limits(limited)), now)
    if free:
        yield sql("set_ready", [(id, now) for id in free])


def _open_gates(gates: list[Gate], now: Micros) -> Operation[None]:
    """Make as many queued runs of each limit ready as the limit allows, in the order of its queue. Stores the new state
    of each limit, and sets a timer for a limit whose rate delays further runs. A run that is cancelled meanwhile does
    not become ready, and is not counted in `used`."""
    wanted = [(g.namespace, g.key, room) for g in gates if (room := admit(g, 1 << 30, now)[0]) > 0]
    heads: dict[Key, list[str]] = {}
    if wanted:
        for namespace, key, id in (yield sql("limit_heads", wanted)):
            heads.setdefault((namespace, key), []).append(id)
    ready = [
        (id, now + (gate.used + n) * TURN // gate.weight)
        for gate in gates
        for n, id in enumerate(heads.get((gate.namespace, gate.key), ()))
    ]
    now_ready = {row[0] for row in (yield sql("set_ready", ready))} if ready else set()
    saved: list[Row] = []
    timers: list[Row] = []
    for gate in gates:
        queue = heads.get((gate.namespace, gate.key), ())
        _, after, again = admit(gate, sum(id in now_ready for id in queue), now)
        if again is None and gate.rate is not None:
            again = admit(after, 1, now)[2]
        saved.append((gate.namespace, gate.key, after.used, after.arrival))
        if again is not None:
            timers.append(
                timer_row(Timer("limit", f"{gate.namespace}/{gate.key}", "rate", again, gate.namespace, gate.key))
            )
    yield sql("save_limits", saved)
    if timers:
        yield sql("set_timers", timers)


def open_by_rate(keys: Sequence[Key], now: Micros) -> Operation[None]:
    """Make as many queued runs of these limits ready as the limits allow now. `keys` identifies the limits. Call this
    when the rate of a limit allows further runs, or after the number of its runs (`Gate.used`) was corrected."""
    rows = yield sql("lock_limits", sorted(set(keys)))
    yield from _open_gates([Gate(*row) for row in rows], now)


def let_out(serials: Sequence[Run], limits: Sequence[Run], now: Micros) -> Operation[None]:
    """Free the serial keys of the runs in `serials`, and the limit slots of the runs in `limits`. The next runs in the
    queues become ready."""
    heads: list[Head] = []
    if serials:
        wanted = sorted({(r.namespace, r.serial_key or "") for r in serials})
        # Lock first, then read the queue. A start that had the lock before is then committed, so the queue has its run.
        locked = yield sql("lock_serials", wanted)
        roots = {r.root_id for r in serials}
        freed = [(ns, key) for ns, key, holder in locked if holder in roots]
        if freed:
            heads = list(starmap(Head, (yield sql("serial_heads", freed))))
            passed = {(head.namespace, head.serial_key) for head in heads}
            if heads:
                yield sql("pass_serials", [(head.namespace, head.serial_key, head.root_id) for head in heads])
            empty = [key for key in freed if key not in passed]
            if empty:
                yield sql("free_serials", empty)
    plain = [(head.id, now) for head in heads if head.concurrency_key is None]
    if plain:
        yield sql("set_ready", plain)
    yield from _pass_limits(heads, limits, now)


def _pass_limits(heads: Sequence[Head], limits: Sequence[Run], now: Micros) -> Operation[None]:
    """Update limits, and make as many of their queued runs ready as the limits allow. A run uses one slot of its limit
    while it is ready or active.

    - `heads`: runs that have just got their serial keys. If such a run has a limit, it joins the queue of the limit.
    - `limits`: runs that have stopped using their limits. Each of them frees one slot of its limit.
    """
    arriving = [head for head in heads if head.concurrency_key is not None]
    if not arriving and not limits:
        return
    gates: dict[Key, Gate] = {}
    leaving = sorted({(r.namespace, r.concurrency_key or "") for r in limits})
    if arriving and leaving:  # lock both in one order, to avoid deadlocks
        yield sql("lock_limits", sorted({*leaving, *((h.namespace, h.concurrency_key or "") for h in arriving)}))
    if arriving:
        gates = {(gate.namespace, gate.key): gate for gate in (yield from _queue_for_limits(arriving))}
    if leaving:
        for gate in starmap(Gate, (yield sql("lock_limits", leaving))):
            gates[gate.namespace, gate.key] = gate
        for run in limits:
            limit_key = run.namespace, run.concurrency_key or ""
            if limit_key in gates:
                gates[limit_key] = replace(gates[limit_key], used=max(0, gates[limit_key].used - 1))
    yield from _open_gates(list(gates.values()), now)


def _queue_for_limits(runs: Sequence[Run | Head]) -> Operation[list[Gate]]:
    """Put runs into the queues of their limits. Every run must have a limit. Returns the limits, with their rows
    locked."""
    limits: dict[Key, Limit] = {}
    for run in runs:
        key = run.concurrency_key or ""
        limits[run.namespace, key] = read_options(run.options).limit or Limit(key)
    # Every transaction locks limits in this order, to avoid deadlocks.
    rows = [
        (namespace, key, limit.most, limit.rate, limit.period, limit.weight)
        for (namespace, key), limit in sorted(limits.items(), key=itemgetter(0))
    ]
    gates = yield sql("open_limits", rows)
    yield sql("set_buffered", [(run.id, "limit", f"limit {run.concurrency_key}") for run in runs])
    return [Gate(*row) for row in gates]
