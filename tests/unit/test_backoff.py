"""Pauses between tries."""

from __future__ import annotations

from ostinato.backoff import backoff


def test_each_pause_is_longer_by_the_factor_up_to_the_longest() -> None:
    assert [backoff(failures, 0.5, 3.0) for failures in range(1, 6)] == [0.5, 1.0, 2.0, 3.0, 3.0]
    assert [backoff(failures, 2, 100, 3.0) for failures in range(1, 4)] == [2, 6, 18]
    assert [backoff(failures, 2, 100, 1.0) for failures in (1, 50)] == [2, 2]


def test_after_thousands_of_failures_it_is_still_a_number() -> None:
    assert backoff(1_000_000, 1e-3, 30.0, 1e9) == 30.0
