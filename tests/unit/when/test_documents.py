"""Specs as JSON documents."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from ostinato import Spec, SpecError, during
from ostinato.when import Calendar, Exclusions, read_spec


def test_an_excluded_calendar_covers_what_it_does_not_name() -> None:
    spec = read_spec({"cron": "0 9 * * *", "exclude": {"calendars": [{"month": "12"}]}})
    assert spec.exclude.calendars == (during(month=12),)
    assert not spec.matches(datetime(2026, 12, 5, 9, tzinfo=UTC))


@pytest.mark.parametrize(
    "fields",
    [{}, {"month": 12}, {"hour": 0}, {"second": 0, "minute": 0, "hour": 0}, {"second": ""}, {"minute": "0-59/7"}],
)
def test_an_excluded_calendar_comes_back_from_json(fields: dict[str, Any]) -> None:
    spec = Spec(exclude=Exclusions((during(**fields), Calendar())))
    assert read_spec(json.loads(json.dumps(spec.to_json()))) == spec


def test_a_source_that_is_null_beside_another_is_absent() -> None:
    assert read_spec({"cron": "0 9 * * *", "times": None}) == read_spec({"cron": "0 9 * * *"})
    with pytest.raises(SpecError, match="times is null"):
        read_spec({"times": None})
    with pytest.raises(SpecError, match="cron is an empty list; leave it out"):
        read_spec({"cron": [], "times": []})
