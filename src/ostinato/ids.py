"""Identifiers that sort by the time they were made: 48 bits of milliseconds, 80 bits of chance.

Within one maker they rise strictly, so that what was started first also sorts first.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable

from ostinato.when.instants import Micros

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_PAIRS = [a + b for a in _ALPHABET for b in _ALPHABET]  # ten bits at a time
_CHANCE_BITS = 80


class Ids:
    """Makes ids. `chance` gives random bits; a seeded one makes a simulation repeatable."""

    def __init__(self, chance: Callable[[int], int] = secrets.randbits) -> None:
        self._chance = chance
        self._millis = -1
        self._tail = 0
        self._high = -1  # all but the last forty bits, which seldom change between two ids made in one go
        self._head = ""

    def new(self, now: Micros) -> str:
        millis = now // 1000
        if millis > self._millis:
            self._millis = millis
            self._tail = self._chance(_CHANCE_BITS - 1)  # a bit to spare, so that counting up never runs over
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


def made_at(id: str) -> Micros:
    """When an id was made, by its maker's clock, to the millisecond."""
    value = 0
    for letter in id:
        value = value << 5 | _ALPHABET.index(letter)
    return (value >> _CHANCE_BITS) * 1000
