"""Limit how many messages one campaign, or all campaigns of an agent, send per second, minute, hour or day."""

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
    """A limit of `count` messages in each period of length `per`. Messages are planned one `interval` apart.

    Each method takes `arrival`, the time for which the last message was planned. The method `take` returns the new
    `arrival`, and the caller stores it.

    After a delay, several messages may be sent at once, but at most as many as the rate allows in a fifth of a second.
    If the rate allows less than one message in that time, one message may be sent.
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
        """Return the time for which the last of `count` messages is planned, if all of them are sent at `now`.

        `arrival` is the time for which the last message before them was planned. The caller stores the result, and
        passes it as `arrival` to the next call.
        """
        return self._from(arrival, now) + count * self.interval

    def next(self, arrival: Micros, now: Micros) -> Micros:
        """Return the earliest time when one more message may be sent. If it may be sent now, the result is `now` or
        earlier. `arrival` is the time for which the last message was planned."""
        return self._from(arrival, now) + self.interval


def read_rate(value: object, where: str) -> Rate:
    """Read a rate such as `"20/s"`. Raises OstinatoError if `value` is not a rate."""
    match = _RATE.fullmatch(value) if isinstance(value, str) else None
    if match is None or not int(match["count"]):
        raise OstinatoError(f"{where} {short_repr(value)} is not a rate such as '20/s', '600/m', '1000/h' or '5000/d'")
    return Rate(int(match["count"]), _UNITS[match["unit"]])
