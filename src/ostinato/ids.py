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

    def new(self, now: Micros) -> str:
        millis = now // 1000
        if millis > self._millis:
            self._millis = millis
            self._tail = self._chance(_CHANCE_BITS - 1)  # a bit to spare, so that counting up never runs over
        else:
            self._tail += 1
        number = self._millis << _CHANCE_BITS | self._tail
        return "".join([_PAIRS[number >> shift & 1023] for shift in range(120, -1, -10)])
