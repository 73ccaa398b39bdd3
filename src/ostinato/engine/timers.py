"""Firing what is due: take a batch of timers, hand each purpose to its owner's decision, commit all of it at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple, TypeAlias

from ostinato.engine.claims import Hands, taken_before
from ostinato.engine.gates import open_by_rate
from ostinato.engine.rows import timer_row
from ostinato.engine.runs import expire, wake
from ostinato.model import Run, Timer
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import SECOND, Micros

# What to do with due timers of one purpose, and what may be begun at once; returns the events to write.
Fire: TypeAlias = Callable[[Sequence[Timer], Micros, Hands], Operation[list[Row]]]
# What a timer of this purpose that is set aside means to its owner; whether there is one who takes note.
Park: TypeAlias = Callable[[Timer, str, Micros], Operation[bool]]
ANY = "*"  # in place of a purpose: whatever this kind of owner wants to be woken for
_STRANGER = 5 * SECOND
_IN_ORDER = attrgetter("due", "owner")


class TimerFailed(Exception):
    """One timer's firing raised; the rest of its batch is to go on without it."""

    def __init__(self, timer: Timer, cause: BaseException) -> None:
        super().__init__(f"{timer.kind} {timer.owner} {timer.purpose}: {cause!r}")
        self.timer = timer


class Fired(NamedTuple):
    """How many timers, how many of them did nothing but start something, what of it the firing node has taken, and
    whether more may be due."""

    timers: int
    plain: int = 0
    taken: Sequence[Run] = ()
    more: bool = False


def fire(
    now: Micros, limit: int, purposes: Mapping[tuple[str, str], Fire], hands: Hands, tries: int = 0
) -> Operation[Fired]:
    """Fire up to `limit` due timers."""
    if tries:
        hands.taken += yield from taken_before(hands.node, hands.token, now)
    due = list(map(Timer._make, (yield sql("take_due", now=now, limit=limit))))
    if not due:
        return Fired(0, 0, hands.taken)
    groups: dict[tuple[str, str], list[Timer]] = {}
    due.sort(key=_IN_ORDER)
    for timer in due:
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
            events += yield from act(timers, now, hands)
        except Exception as problem:
            if len(due) == 1:
                raise TimerFailed(timers[0], problem) from problem
            raise
    yield sql("notify")
    if events:
        yield sql("insert_events", events)
    return Fired(len(due), hands.plain, hands.taken, len(due) == limit)


def park(timer: Timer, reason: str, now: Micros, parks: Mapping[tuple[str, str], Park]) -> Operation[None]:
    """Set a timer aside whose firing fails. Where its owner has a state that people look at, it shows there, and the
    timer is gone until the owner goes on; else the timer itself is kept, with its reason."""
    act = parks.get((timer.kind, timer.purpose))
    if act is None or not (yield from act(timer, reason, now)):
        yield sql("park_timer", kind=timer.kind, owner=timer.owner, purpose=timer.purpose, reason=reason)
    else:
        yield sql("clear_timers", [(timer.kind, timer.owner, timer.purpose)])


def unpark() -> Operation[int]:
    """Let what was parked be tried again."""
    return len((yield sql("unpark_timers")))


def _wake(timers: Sequence[Timer], now: Micros, hands: Hands) -> Operation[list[Row]]:
    return (yield from wake([t.owner for t in timers], now))


def _deadline(timers: Sequence[Timer], now: Micros, hands: Hands) -> Operation[list[Row]]:
    return (yield from expire([t.owner for t in timers], now))


def _rate(timers: Sequence[Timer], now: Micros, hands: Hands) -> Operation[list[Row]]:
    yield from open_by_rate([(t.namespace, t.data or "") for t in timers], now)
    return []


PURPOSES: dict[tuple[str, str], Fire] = {
    ("run", "wake"): _wake,
    ("run", "deadline"): _deadline,
    ("limit", "rate"): _rate,
}
