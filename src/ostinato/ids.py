"""Generate ids that sort by creation time. The first 48 bits of an id are the time in milliseconds. The other 80 bits
are a number. The first id of a millisecond gets a random number, and each further id gets the next number."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from ostinato.when.instants import Micros

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_PAIRS = [a + b for a in _ALPHABET for b in _ALPHABET]  # ten bits at a time
_CHANCE_BITS = 80


class Ids:
    """Generates strictly increasing ids. `chance` is the source of random bits: `chance(n)` must return a random number
    of `n` bits."""

    def __init__(self, chance: Callable[[int], int] = secrets.randbits) -> None:
        self._chance = chance
        self._millis = -1
        self._tail = 0
        self._high = -1  # all bits but the last forty; they are often the same in the next id, so their text is kept
        self._head = ""

    def new(self, now: Micros) -> str:
        millis = now // 1000
        if millis > self._millis:
            self._millis = millis
            self._tail = self._chance(_CHANCE_BITS - 1)  # one spare bit, so that counting up does not overflow
        else:
            self._tail += 1
        tail = self._tail
        high = self._millis << _CHANCE_BITS - 40 | tail >> 40
        if high != self._high:
            self._high, self._head = high, "".join([_PAIRS[high >> shift & 1023] for shift in range(80, -1, -10)])
        return (
            self._head
            + _PAIRS[tail >> 30 & 1023]
            + _PAIRS[tail >> 20 & 1023]
            + _PAIRS[tail >> 10 & 1023]
            + _PAIRS[tail & 1023]
        )


def creation_time(id: str) -> Micros:
    """Return when an id was created, rounded down to a millisecond. The time comes from the clock of the process that
    created the id. If somebody sets this clock back, all new ids get the time of the latest earlier id, until the clock
    has caught up with that time."""
    value = 0
    for letter in id:
        value = value << 5 | _ALPHABET.index(letter)
    return (value >> _CHANCE_BITS) * 1000
