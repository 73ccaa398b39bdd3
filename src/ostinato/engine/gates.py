"""Who may go: serial keys (one chain at a time) and limits (so many at once, so often, fair shares).

Only a run that may go is `ready`; the others are `buffered` and in line. So a claim need not look at keys at all,
and fairness follows by itself: each key has only a few runs among the ready, which are claimed in the order in
which they became so. All of this happens under the lock of the key's row, in the transaction that changes the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ostinato.engine.rows import read_options, timer_row
from ostinato.model import Limit, Run, Timer
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import SECOND, Micros

FAIR_WINDOW = 100  # runs of one key among the ready, for each unit of its weight, where nothing else limits it
# How much later in the order of claiming each further run of a key stands: the second of one key comes after the first
# of every other that arrives within this time.
TURN: Micros = SECOND
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Gate:
    """The state of one limit. `arrival` is when, at an even pace, the next run would have come."""

    namespace: str
    key: str
    most: int | None
    rate: int | None
    per: Micros
    weight: int
    used: int
    arrival: Micros


def admit(gate: Gate, wanted: int, now: Micros) -> tuple[int, Gate, Micros | None]:
    """How many of `wanted` may go now, the gate after it, and when to look again if it was the rate that said no."""
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
        earliest = arrival - (gate.per - pace)  # a whole period's worth may come at once
        if earliest > now:
            again = earliest
            break
        arrival = max(arrival, now) + pace
        admitted += 1
    return admitted, replace(gate, used=gate.used + admitted, arrival=arrival), again


def let_in(runs: Sequence[Run], now: Micros) -> Operation[None]:
    """Runs that came to their gates, stored as buffered: let go those who may."""
    through = yield from _through_serials(runs)
    yield from _through_limits(through, now)


def _through_serials(runs: Sequence[Run]) -> Operation[list[Run]]:
    """Those who hold their serial key, or have none."""
    keyed = sorted((r for r in runs if r.serial_key is not None), key=lambda r: (r.due, r.id))
    if not keyed:
        return list(runs)
    first: dict[Key, Run] = {}
    for run in keyed:
        first.setdefault((run.namespace, run.serial_key or ""), run)
    taken = yield sql("take_serials", sorted((ns, key, run.root_id) for (ns, key), run in first.items()))
    holders = {(ns, key): holder for ns, key, holder in taken}
    # Of two runs of one chain only one can be here at a time, so the holder's root tells who goes.
    return [r for r in runs if r.serial_key is None or holders[r.namespace, r.serial_key] == r.root_id]


def _through_limits(runs: Sequence[Run], now: Micros) -> Operation[None]:
    free = [r.id for r in runs if r.concurrency_key is None]
    limited = [r for r in runs if r.concurrency_key is not None]
    if limited:
        asked: dict[Key, Limit] = {}
        for run in limited:
            limit = read_options(run.options).limit or Limit(run.concurrency_key or "")
            asked[run.namespace, run.concurrency_key or ""] = limit
        rows: list[Row] = [(ns, key, one.most, one.rate, one.period, one.weight) for (ns, key), one in asked.items()]
        opened = yield sql("open_limits", _by_key(rows))
        # They stand in line with everyone who came before them; whoever is first in line goes first.
        yield sql("set_buffered", [(r.id, "limit", f"limit {r.concurrency_key}") for r in limited])
        yield from _open_gates([Gate(*row) for row in opened], now)
    if free:
        yield sql("set_ready", [(id, now) for id in free])


def _open_gates(gates: list[Gate], now: Micros) -> Operation[None]:
    """Let go whoever is first in line, as far as each gate has room. Only those who really went are counted: one may
    have been cancelled between the look at the line and this."""
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
    went = {row[0] for row in (yield sql("set_ready", ready))} if ready else set()
    saved: list[Row] = []
    timers: list[Row] = []
    for gate in gates:
        line = heads.get((gate.namespace, gate.key), ())
        _, after, again = admit(gate, sum(id in went for id in line), now)
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
    """The rate of these keys allows more now."""
    rows = yield sql("lock_limits", sorted(set(keys)))
    yield from _open_gates([Gate(*row) for row in rows], now)


def let_out(serials: Sequence[Run], limits: Sequence[Run], now: Micros) -> Operation[None]:
    """Runs that give up their serial key, and runs that give up their place under a limit: the next in line go."""
    heads: list[Row] = []
    if serials:
        wanted = sorted({(r.namespace, r.serial_key or "") for r in serials})
        # First the lock, then the look: a start that was quicker is committed now, and seen.
        locked = yield sql("lock_serials", wanted)
        roots = {r.root_id for r in serials}
        freed = [(ns, key) for ns, key, holder in locked if holder in roots]
        if freed:
            heads = yield sql("serial_heads", freed)
            passed = {(h[0], h[1]): h for h in heads}
            if heads:
                yield sql("pass_serials", [(ns, key, h[3]) for (ns, key), h in passed.items()])
            empty = [key for key in freed if key not in passed]
            if empty:
                yield sql("free_serials", empty)
    plain = [(h[2], now) for h in heads if h[4] is None]
    if plain:
        yield sql("set_ready", plain)
    yield from _limits_after(heads, limits, now)


def _limits_after(heads: Sequence[Row], limits: Sequence[Run], now: Micros) -> Operation[None]:
    arriving = [h for h in heads if h[4] is not None]
    if not arriving and not limits:
        return
    gates: dict[Key, Gate] = {}
    if arriving:
        asked: dict[Key, Limit] = {}
        for namespace, _, _, _, key, options in arriving:
            asked[namespace, key] = read_options(options).limit or Limit(key)
        rows: list[Row] = [(ns, key, one.most, one.rate, one.period, one.weight) for (ns, key), one in asked.items()]
        for row in (yield sql("open_limits", _by_key(rows))):
            gates[row[0], row[1]] = Gate(*row)
        yield sql("set_buffered", [(h[2], "limit", f"limit {h[4]}") for h in arriving])
    leaving = sorted({(r.namespace, r.concurrency_key or "") for r in limits})
    if leaving:
        for row in (yield sql("lock_limits", leaving)):
            gates[row[0], row[1]] = Gate(*row)
        for run in limits:
            gate = gates.get((run.namespace, run.concurrency_key or ""))
            if gate is not None:
                gates[gate.namespace, gate.key] = replace(gate, used=max(0, gate.used - 1))
    yield from _open_gates(list(gates.values()), now)


def _by_key(rows: list[Row]) -> list[Row]:
    """In one order for everyone, so that two transactions never wait for each other."""
    return sorted(rows, key=lambda row: (row[0], row[1]))
