"""Define sources of times, such as fixed intervals and single times. `union` combines several sources.

`next(after)` returns the first time later than `after`. `previous(before)` returns the last time earlier than `before`.
Both are in microseconds; FAR and -FAR mean that there is no such time. Other sources are in `daylight_saving`
(calendars) and `recurrences`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import Protocol

from ostinato.when.instants import Micros
from ostinato.when.zones import FAR

Step = Callable[[Micros], Micros]


class Source(Protocol):
    @property
    def next(self) -> Step: ...
    @property
    def previous(self) -> Step: ...


class Steps:
    """A source that is made of two functions, `next` and `previous`."""

    __slots__ = ("next", "previous")

    def __init__(self, next: Step, previous: Step) -> None:
        self.next = next
        self.previous = previous


def interval_source(every: Micros, phase: Micros) -> Source:
    """Return a source of the multiples of `every` since 1970, plus `phase`. These times do not depend on a zone."""

    def following(after: Micros) -> Micros:
        return ((after - phase) // every + 1) * every + phase

    def preceding(before: Micros) -> Micros:
        return (-(-(before - phase) // every) - 1) * every + phase

    return Steps(following, preceding)


def times_source(times: tuple[Micros, ...]) -> Source:
    ordered = sorted(set(times))

    def following(after: Micros) -> Micros:
        at = bisect_right(ordered, after)
        return ordered[at] if at < len(ordered) else FAR

    def preceding(before: Micros) -> Micros:
        at = bisect_left(ordered, before)
        return ordered[at - 1] if at else -FAR

    return Steps(following, preceding)


def union(sources: list[Source]) -> Source:
    """Return a source that has the times of all `sources`. To save time, its `next` remembers the last result of each
    source, and asks the source again only if the result may have changed."""
    if len(sources) == 1:
        return sources[0]

    def following_from(steps: list[Step]) -> Step:
        answers: list[tuple[Micros, Micros]] = [(FAR, -FAR)] * len(steps)  # (asked from, answer) for each source

        def following(after: Micros) -> Micros:
            nearest = FAR
            for i, (asked, answer) in enumerate(answers):
                if not asked <= after < answer:
                    answer = steps[i](after)
                    answers[i] = (after, answer)
                if answer < nearest:
                    nearest = answer
            return nearest

        return following

    return Steps(
        following_from([source.next for source in sources]),
        lambda before: max((source.previous(before) for source in sources), default=-FAR),
    )
