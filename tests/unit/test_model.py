"""Policies of runs as values."""

from __future__ import annotations

from datetime import timedelta

from ostinato import Limit, Retry


def test_lengths_are_texts_timedeltas_or_seconds() -> None:
    assert Retry(3, delay=5) == Retry(3, delay="5s") == Retry(3, delay=timedelta(seconds=5))
    assert Retry(3, delay=5).backoff(1, 0.0) == 5_000_000
    assert Limit("k", rate=1, per=60) == Limit("k", rate=1, per="1m")
    assert Retry.from_stored(Retry(2, delay="1.5s").as_stored()) == Retry(2, delay="1.5s")
    assert Limit.from_stored(Limit("k", rate=2, per="10ms").as_stored()) == Limit("k", rate=2, per="10ms")
