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


def test_stored_policies_are_read_as_they_are() -> None:
    limit = Limit("mail", most=3, rate=30, per="1m", weight=2)
    assert Limit.from_stored(limit.as_stored()) == limit
    retry = Retry(4, "5s", 3, "1m", 0.5)
    assert Retry.from_stored(retry.as_stored()) == retry
    assert Retry.from_stored({"attempts": 3}) == Retry(3)
    former = {"key": "a\0", "most": 0, "per": 1, "weight": 0, "of_a_newer_version": 1}
    assert Limit.from_stored(former).as_stored() == {"key": "a\0", "most": 0, "rate": None, "per": 1, "weight": 0}
