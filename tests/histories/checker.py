"""Is there an order in which each acknowledged call took effect once, each refused one not at all, and each call whose
answer was lost at most once, such that a sequential model of the object gives the same answers?

The search is Wing and Gong's with Lowe's memory of what was tried: take any call that nobody finished before, let the
model apply it, and go on; where the model does not allow the answer, go back. A pair of (calls in place, state) that
led nowhere is not tried again.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol

from ostinato.when.instants import Micros
from tests.histories.record import Call, Lost

_MOST = 30_000  # pairs that are looked at before the search gives up
_CORE = 5_000


class Model(Protocol):
    """An object by itself: one call after the other."""

    def begin(self) -> Hashable:
        """The state before the first call."""
        ...

    def apply(self, state: Hashable, call: Call) -> Iterable[Hashable]:
        """The states after this call with this answer; none where that answer is wrong here. Of a call whose answer
        was lost: the states after it took effect."""
        ...

    def drift(self, state: Hashable, until: Micros) -> Iterable[Hashable]:
        """The states that the object may reach by itself no later than `until`."""
        ...


class TooLong(Exception):
    """The history has too many orders to look at; make it shorter."""


@dataclass(frozen=True)
class Verdict:
    """`order` are the numbers of the calls in an order that explains them. Without one, it is the longest that was
    found, and `stuck` are the calls of which none could come next."""

    explained: bool
    order: tuple[int, ...]
    stuck: tuple[Call, ...] = ()
    tried: int = 0


def check(calls: Sequence[Call], model: Model, most: int = _MOST) -> Verdict:
    """Look for an order. `calls` are those of one object; `most` pairs are looked at."""
    calls = sorted(_needed(calls), key=lambda call: call.asked)
    place = {call.number: n for n, call in enumerate(calls)}
    needed = sum(1 << n for n, call in enumerate(calls) if not call.lost)
    after = [0 if call.follows not in place else 1 << place[call.follows] for call in calls]
    best: tuple[tuple[int, ...], tuple[Call, ...]] = ((), tuple(calls))
    seen: set[tuple[int, Hashable]] = set()
    # Depth first: what is in place, the state, and the order so far as a linked list.
    stack: list[tuple[int, Hashable, tuple[object, int] | None]] = [(0, model.begin(), None)]
    while stack:
        done, state, order = stack.pop()
        if (done, state) in seen:
            continue
        seen.add((done, state))
        if len(seen) > most:
            raise TooLong(f"{len(calls)} calls on {calls[0].object!r} have more than {most:,} orders")
        if done & needed == needed:
            return Verdict(True, _unlinked(order), tried=len(seen))
        waiting = [n for n in range(len(calls)) if not done >> n & 1]
        ends = [(calls[n].answered, calls[n].until) for n in waiting if not calls[n].lost]
        first_end, until = min(ends)[0], min(at for _, at in ends)
        next_calls = [n for n in waiting if calls[n].asked < first_end and done & after[n] == after[n]]
        if done.bit_count() >= len(best[0]):
            best = (_unlinked(order), tuple(calls[n] for n in next_calls))
        stack += [(done, found, order) for found in model.drift(state, until)]
        # What was acknowledged is tried before what was lost: most of that did not happen.
        for n in sorted(next_calls, key=lambda n: (not calls[n].lost, -n)):
            for following in model.apply(state, calls[n]):
                if following != state or not calls[n].lost:
                    stack.append((done | 1 << n, following, (order, calls[n].number)))
    return Verdict(False, *best, tried=len(seen))


def _needed(calls: Sequence[Call]) -> list[Call]:
    """Leave out what cannot matter: looks that nobody saw, and lost tries of a call of which an earlier try was lost.
    With its key it took effect at most once, and the earlier try may have done that at any later time."""
    kept: list[Call] = []
    tried: list[tuple[object, ...]] = []
    for call in sorted(calls, key=lambda call: call.asked):
        same = (call.key, call.verb, call.arguments)
        if call.lost and (call.verb == "look" or same in tried):
            continue
        if call.lost and call.key is not None:
            tried.append(same)
        kept.append(call)
    return kept


def _unlinked(order: tuple[object, int] | None) -> tuple[int, ...]:
    linked: list[int] = []
    while order is not None:
        rest, number = order
        linked.append(number)
        order = rest  # type: ignore[assignment]
    return tuple(reversed(linked))


def core(calls: Sequence[Call], model: Model) -> tuple[list[Call], list[Call]]:
    """The answers that contradict each other, as few as possible, and the other calls.

    An answer is left out by taking it as lost: its call may have happened at any time from then on, or not at all.
    What still cannot be explained is a proof by itself; to leave out the call would invent one."""
    kept = list(calls)
    for call in sorted(calls, key=lambda call: (call.verb != "look", -call.asked)):  # looks say least, and go first
        if call.lost:
            continue
        relaxed = [replace(one, answer=Lost("left out")) if one.number == call.number else one for one in kept]
        with suppress(TooLong):
            if any(not one.lost for one in relaxed) and not check(relaxed, model, _CORE).explained:
                kept = relaxed
    needed = {one.number for one in kept if not one.lost}
    return [one for one in calls if one.number in needed], [one for one in calls if one.number not in needed]
