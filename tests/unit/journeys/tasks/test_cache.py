"""`cache:v1`: what is put is got, until it runs out."""

from __future__ import annotations

from typing import Any

import pytest

from ostinato.journeys.settings import JourneySettings
from ostinato.journeys.tasks.cache import CacheTask
from tests.unit.journeys.tasks.calling import MemoryCache, call_of, context, mapper, problem


def put(expr: str = "context.value", **more: Any) -> dict[str, Any]:
    return {"operation": "put", "key": mapper("context.id"), "value": mapper(expr), **more}


GET = {"operation": "get", "key": mapper("context.id"), "resultVar": "hit"}


def test_what_is_put_is_got_and_a_miss_is_null() -> None:
    cache = MemoryCache()
    values = {"id": 5, "value": {"a": [1]}}
    assert context(CacheTask(), call_of(put(ttlSeconds=9), values, cache=cache)) == values
    assert context(CacheTask(), call_of(GET, {"id": "5"}, cache=cache))["hit"] == {"a": [1]}
    assert context(CacheTask(), call_of(GET, {"id": "6"}, cache=cache))["hit"] is None
    assert list(cache.ttls.values()) == [9]


def test_a_value_that_says_nothing_has_the_engines_time() -> None:
    cache = MemoryCache()
    context(CacheTask(JourneySettings(cache_ttl_s=7)), call_of(put(), {"id": "a", "value": 1}, cache=cache))
    assert list(cache.ttls.values()) == [7]


def test_a_journey_cannot_reach_a_runs_cookies() -> None:
    cache = MemoryCache()
    cache.values["jar:run-1"] = "cookies"
    assert context(CacheTask(), call_of(GET, {"id": "jar:run-1"}, cache=cache))["hit"] is None


@pytest.mark.parametrize("id", [None, "", "x" * 513])
def test_a_key_is_a_text_of_some_length(id: Any) -> None:
    assert problem(CacheTask(), call_of(GET, {"id": id})).code == "CACHE_KEY_INVALID"


def test_an_expression_that_fails_is_an_internal_problem() -> None:
    assert problem(CacheTask(), call_of(put("!"), {"id": "a"})).internal
