"""Write lengths of time and counted nouns as text, such as `3 min` and `3 emails`."""

from __future__ import annotations

from collections.abc import Mapping

from ostinato.when.instants import SECOND, Micros

_UNITS = ((86_400 * SECOND, "d"), (3_600 * SECOND, "h"), (60 * SECOND, "min"))


def length(micros: Micros) -> str:
    """Return a length of time as text: `40 s`, `3 min`, `2 h` or `5 d`. The number is rounded up."""
    for unit, name in _UNITS:
        if micros > unit - SECOND:
            return f"{-(-micros // unit)} {name}"
    return f"{max(0, -(-micros // SECOND))} s"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 email`, `3 emails`, `2 entries`."""
    return f"{number} {noun if number == 1 else plural(noun)}"


def plural(noun: str) -> str:
    if noun.endswith("y") and noun[-2:-1] not in tuple("aeiou"):
        return f"{noun[:-1]}ies"
    if noun.endswith(("s", "x", "ch", "sh")):
        return f"{noun}es"
    return f"{noun}s"


def listed(counts: Mapping[str, int]) -> str:
    """Return several numbers with their nouns: `3 emails and 1 file`."""
    parts = [counted(number, noun) for noun, number in counts.items()]
    return " and ".join(parts) if len(parts) < 3 else f"{', '.join(parts[:-1])} and {parts[-1]}"
