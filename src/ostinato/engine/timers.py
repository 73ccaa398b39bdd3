"""Firing what is due: take a batch of timers, hand each purpose to its owner's decision, commit all of it at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from ostinato.engine.gates import open_by_rate
from ostinato.engine.rows import timer_row
from ostinato.engine.runs import expire, wake
from ostinato.model import Timer
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import SECOND, Micros

# What to do with due timers of one purpose; returns the events to write.
Fire: TypeAlias = Callable[[Sequence[Timer], Micros], Operation[list[Row]]]
ANY = "*"  # in place of a purpose: whatever this kind of owner wants to be woken for
_STRANGER = 5 * SECOND


class TimerFailed(Exception):
    """One timer's firing raised; the rest of its batch is to go on without it."""

    def __init__(self, timer: Timer, cause: BaseException) -> None:
        super().__init__(f"{timer.kind} {timer.owner} {timer.purpose}: {cause!r}")
        self.timer = timer


def fire(now: Micros, limit: int, purposes: Mapping[tuple[str, str], Fire]) -> Operation[int]:
    """Fire up to `limit` due timers. Returns how many there were."""
    due = [Timer(*row) for row in (yield sql("take_due", now=now, limit=limit))]
    if not due:
        return 0
    groups: dict[tuple[str, str], list[Timer]] = {}
    for timer in sorted(due, key=lambda t: (t.due, t.owner)):
        key = timer.kind, timer.purpose
        groups.setdefault(key if key in purposes else (timer.kind, ANY), []).append(timer)
    events: list[Row] = []
    for key, timers in groups.items():
        act = purposes.get(key)
        if act is None:
            # A newer node's purpose: leave it to those who know it.
            yield sql(
                "set_timers",
                [timer_row(Timer(t.kind, t.owner, t.purpose, now + _STRANGER, t.namespace, t.data)) for t in timers],
            )
            continue
        try:
            events += yield from act(timers, now)
        except Exception as problem:
            if len(due) == 1:
                raise TimerFailed(timers[0], problem) from problem
            raise
    yield sql("notify")
    if events:
        yield sql("insert_events", events)
    return len(due)


def park(timer: Timer, reason: str) -> Operation[None]:
    yield sql("park_timer", kind=timer.kind, owner=timer.owner, purpose=timer.purpose, reason=reason)


def _wake(timers: Sequence[Timer], now: Micros) -> Operation[list[Row]]:
    return (yield from wake([t.owner for t in timers], now))


def _deadline(timers: Sequence[Timer], now: Micros) -> Operation[list[Row]]:
    return (yield from expire([t.owner for t in timers], now))


def _rate(timers: Sequence[Timer], now: Micros) -> Operation[list[Row]]:
    yield from open_by_rate([(t.namespace, t.data or "") for t in timers], now)
    return []


PURPOSES: dict[tuple[str, str], Fire] = {
    ("run", "wake"): _wake,
    ("run", "deadline"): _deadline,
    ("limit", "rate"): _rate,
}
