"""Fire due timers: claim a batch, call the function registered for each purpose, and commit everything together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple, TypeAlias

from ostinato.engine.direct_claim import DirectClaim
from ostinato.engine.kinds import Kinds
from ostinato.engine.limits import open_by_rate
from ostinato.engine.rows import timer_row
from ostinato.engine.runs import FOR_OTHERS, expire, wake
from ostinato.model import Run, Timer
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import Micros

# Act on due timers of one purpose. It may claim runs with the DirectClaim. Returns the events to write.
Fire: TypeAlias = Callable[[Sequence[Timer], Micros, DirectClaim, Kinds], Operation[list[Row]]]
# Store with a timer's owner that the timer failed, and the reason. Returns whether the owner exists and has stored it.
Park: TypeAlias = Callable[[Timer, str, Micros], Operation[bool]]
ANY = "*"  # in place of a purpose: all purposes of this kind of owner that are not registered by name
_IN_ORDER = attrgetter("due", "owner")


class TimerFailed(Exception):
    """Raised if the firing of a single timer failed. The other timers of its batch can be fired without it."""

    def __init__(self, timer: Timer, cause: BaseException) -> None:
        super().__init__(f"{timer.kind} {timer.owner} {timer.purpose}: {cause!r}")
        self.timer = timer


class Fired(NamedTuple):
    """Result of one batch. `timers` is the number of fired timers, and `plain` is how many of them only started a run.
    `claimed` are the runs that this node claimed directly. `more` says whether more timers may be due."""

    timers: int
    plain: int = 0
    claimed: Sequence[Run] = ()
    more: bool = False


def fire(
    now: Micros, limit: int, purposes: Mapping[tuple[str, str], Fire], direct: DirectClaim, kinds: Kinds, tries: int = 0
) -> Operation[Fired]:
    """Fire up to `limit` due timers in one transaction. `tries` counts earlier tries of this transaction.

    If a timer fails in a batch of several timers, its error is raised unchanged. If the failed timer is the only one of
    the batch, `TimerFailed` is raised.
    """
    if tries:
        yield from direct.recover(now)
    due = list(map(Timer._make, (yield sql("take_due", now=now, limit=limit))))
    if not due:
        return Fired(0, 0, direct.claimed)
    groups: dict[tuple[str, str], list[Timer]] = {}
    due.sort(key=_IN_ORDER)
    for timer in due:
        key = timer.kind, timer.purpose
        groups.setdefault(key if key in purposes else (timer.kind, ANY), []).append(timer)
    events: list[Row] = []
    for key, timers in groups.items():
        act = purposes.get(key)
        if act is None:  # a purpose that only nodes with a newer version know: leave it to them
            yield sql(
                "set_timers",
                [timer_row(Timer(t.kind, t.owner, t.purpose, now + FOR_OTHERS, t.namespace, t.data)) for t in timers],
            )
            continue
        try:
            events += yield from act(timers, now, direct, kinds)
        except Exception as problem:
            if len(due) == 1:
                raise TimerFailed(timers[0], problem) from problem
            raise
    yield sql("notify")
    if events:
        yield sql("insert_events", events)
    return Fired(len(due), direct.plain, direct.claimed, len(due) == limit)


def park(timer: Timer, reason: str, now: Micros, parks: Mapping[tuple[str, str], Park]) -> Operation[None]:
    """Stop firing a timer that fails. If the timer's owner can store the reason, as a schedule can, the timer is
    deleted, and the owner sets it again later. Otherwise the timer stays in the table, marked as parked, with the
    reason."""
    act = parks.get((timer.kind, timer.purpose))
    if act is None or not (yield from act(timer, reason, now)):
        yield sql("park_timer", kind=timer.kind, owner=timer.owner, purpose=timer.purpose, reason=reason)
    else:
        yield sql("clear_timers", [(timer.kind, timer.owner, timer.purpose)])


def unpark() -> Operation[int]:
    """Make parked timers due again, so that they are fired. Returns how many there were."""
    return len((yield sql("unpark_timers")))


def _wake(timers: Sequence[Timer], now: Micros, direct: DirectClaim, kinds: Kinds) -> Operation[list[Row]]:
    return (yield from wake([t.owner for t in timers], now))


def _deadline(timers: Sequence[Timer], now: Micros, direct: DirectClaim, kinds: Kinds) -> Operation[list[Row]]:
    return (yield from expire([t.owner for t in timers], now, kinds))


def _rate(timers: Sequence[Timer], now: Micros, direct: DirectClaim, kinds: Kinds) -> Operation[list[Row]]:
    yield from open_by_rate([(t.namespace, t.data or "") for t in timers], now)
    return []


PURPOSES: dict[tuple[str, str], Fire] = {
    ("run", "wake"): _wake,
    ("run", "deadline"): _deadline,
    ("limit", "rate"): _rate,
}
