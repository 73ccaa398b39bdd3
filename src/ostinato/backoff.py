"""Compute how long to wait before another try."""

from __future__ import annotations


def backoff(failures: int, first: float, longest: float, factor: float = 2.0) -> float:
    """Return the pause after this many failures in a row. The first pause is `first`. Each further pause is `factor`
    times as long, but at most `longest`."""
    try:
        return min(longest, first * float(factor) ** (failures - 1))
    except OverflowError:
        return longest if first else 0.0
