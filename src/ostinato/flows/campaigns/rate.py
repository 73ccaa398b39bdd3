"""Limit how many messages are sent per second, minute, hour or day.

A limit applies to one campaign, or to all campaigns of an agent.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ostinato.errors import OstinatoError, short_repr
from ostinato.when.durations import DAY
from ostinato.when.instants import SECOND, Micros

_BURST = SECOND // 5  # after a delay, a throttled campaign may catch up by at most a fifth of a second
_RATE = re.compile(r"(?P<count>\d{1,7})/(?P<unit>s|m|h|d)")
_UNITS = {"s": SECOND, "m": 60 * SECOND, "h": 3_600 * SECOND, "d": DAY}


@dataclass(frozen=True, slots=True)
class Rate:
    """A limit of `count` messages in each period of length `per`, evenly spaced.

    The caller stores `arrival`: the time for which the last sent message was planned. The next message may be sent one
    `interval` later.
    """

    count: int
    per: Micros

    @property
    def interval(self) -> Micros:
        return max(1, self.per // self.count)

    def _from(self, arrival: Micros, now: Micros) -> Micros:
        return max(arrival, now - max(self.interval, _BURST))

    def room(self, arrival: Micros, now: Micros) -> int:
        """Return how many messages may be sent now."""
        return max(0, (now - self._from(arrival, now)) // self.interval)

    def take(self, arrival: Micros, now: Micros, count: int) -> Micros:
        """Return the new `arrival` after `count` messages were sent at `now`.

        `arrival` is the time when the last sent message was due.
        """
        return self._from(arrival, now) + count * self.interval

    def next(self, arrival: Micros, now: Micros) -> Micros:
        """Return when one more message may be sent."""
        return self._from(arrival, now) + self.interval

    def __str__(self) -> str:
        return f"{self.count}/{next(unit for unit, length in _UNITS.items() if length == self.per)}"


def read_rate(value: object, where: str) -> Rate:
    """Read a rate such as `"20/s"`. Raises OstinatoError if `value` is not a rate."""
    match = _RATE.fullmatch(value) if isinstance(value, str) else None
    if match is None or not int(match["count"]):
        raise OstinatoError(f"{where} {short_repr(value)} is not a rate such as '20/s', '600/m', '1000/h' or '5000/d'")
    return Rate(int(match["count"]), _UNITS[match["unit"]])
