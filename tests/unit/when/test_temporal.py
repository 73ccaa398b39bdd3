"""Temporal's form of a spec: nothing is lost on the way out, nothing is passed over on the way in."""

from __future__ import annotations

from typing import Any

import pytest

from ostinato import Spec, SpecError, calendar, cron, during, every, once
from ostinato.when.instants import Micros, read_instant
from ostinato.when.temporal import spec_from_temporal, spec_to_temporal


def at(text: str) -> Micros:
    return read_instant(text, "test")


@pytest.mark.parametrize(
    ("spec", "what"),
    [
        (cron("0 0 13 * 5"), "day of month OR day of week"),
        (cron("0 0 L * *"), "the day rules L, W and #"),
        (cron("0 0 * * 5#2"), "the day rules L, W and #"),
        (calendar(day_of_month="15W"), "the day rules L, W and #"),
        (every("1h", exclude=[during(day_of_month="L")]), "the day rules L, W and #"),
        (every("P1M", anchor="2026-01-31T09:00Z"), "recurrences"),
        (once("2026-01-31T09:00Z"), "single times"),
        (every("1h", exclude=["2026-01-31"]), "excluded dates"),
        (every("1h", exclude=[("2026-01-31T09:00Z", "2026-01-31T10:00Z")]), "excluded spans"),
        (cron("30 2 * * *", tz="Europe/Berlin"), "the cron daylight-saving rule"),
        (cron("30 2 * * *", tz="Europe/Berlin", dialect="temporal", dst="cron"), "the cron daylight-saving rule"),
        (every("1.5s"), "fractions of a second"),
    ],
)
def test_what_temporal_cannot_hold_is_refused(spec: Spec, what: str) -> None:
    with pytest.raises(SpecError, match="Temporal's specs cannot hold") as problem:
        spec_to_temporal(spec)
    assert what in str(problem.value)


@pytest.mark.parametrize(
    "spec",
    [
        cron("0 9 * * 1-5"),
        cron("30 0 9 * * 1-5", tz="Europe/Berlin", dst="wall"),  # six fields: a second first, not a year last
        cron("CRON_TZ=Asia/Tokyo 0 9 * * *", dst="wall"),
        calendar(hour=9, tz="Europe/Berlin", dst="wall", exclude=[during(month=12)]),
        every("90m", tz="Europe/Berlin", jitter="5m", start="2026-01-01T00:00Z"),
    ],
)
def test_what_temporal_can_hold_keeps_its_times(spec: Spec) -> None:
    restored = spec_from_temporal(spec_to_temporal(spec))
    window = at("2026-03-20T00:00:00Z"), at("2026-04-02T00:00:00Z")
    expected = list(spec.compiled.between(*window))
    assert expected
    assert list(restored.compiled.between(*window)) == expected


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"cron_strings": ["0 9 * * *"]}, "did you mean 'cron_string'?"),
        ({"cron_string": "0 9 * * *"}, "cron_string '0 9 * * *' is not a list"),
        ({"cron_string": [5]}, "cron_string[0] 5 is not text"),
        ({"interval": [{"phase": "5s"}]}, "interval[0]: 'interval' is missing"),
        ({"interval": [{"every": "5s"}]}, "'every' is not part of an interval"),
        ({"interval": [{"interval": 5}]}, "interval 5 is not text"),
        ({"interval": ["5s"]}, "an interval is an object, not '5s'"),
        ({"structured_calendar": [{"hours": []}]}, "structured_calendar[0]: 'hours' is not part of"),
        ({"structured_calendar": [{"hour": [{"from": 5}]}]}, "'from' is not part of a range"),
        ({"structured_calendar": [{"hour": [{"start": "5"}]}]}, "is not a range of numbers"),
        ({"structured_calendar": [5]}, "a structured calendar is an object"),
        ({"exclude_structured_calendar": [{"hour": [{"start": 99}]}]}, "hour 99 is out of range"),
        ({"calendar": [{"hour": 5}]}, "hour 5 is not text"),
        ({"calendar": [{"hour": "9", "day_of_week": 0}]}, "day_of_week 0 is not text"),
        ({"calendar": [{"hour": "9", "comment": False}]}, "comment False is not text"),
        ({"structured_calendar": [{"hour": [{"start": "", "end": 5}]}]}, "is not a range of numbers"),
        ({"interval": [{"interval": "5s", "phase": 0}]}, "phase 0 is not text"),
        ({"cron_string": ""}, "cron_string '' is not a list"),
        ({"calendar": [{"hour": "5", "hours": "6"}]}, "calendar[0]: 'hours' is not part of a calendar"),
        ({"start_time": "2026-01-01T00:00:00"}, "has no offset"),
        ({"timezone_name": 5}, "timezone_name 5 is not text"),
        ({"timezone_data": "?"}, "timezone_data is not base64"),
        ({"jitter": 5}, "jitter 5 is not text"),
        (5, "a Temporal spec is an object"),
    ],
)
def test_nothing_in_a_temporal_spec_is_passed_over(document: Any, words: str) -> None:
    with pytest.raises(SpecError) as problem:
        spec_from_temporal(document)
    assert words in str(problem.value)


@pytest.mark.parametrize(
    "text", ["@every5m", "@every  5m", "@every\t5m", "@every", "@everyday 5m", "TZ=UTC", "TZ=UTC @every  5m"]
)
def test_every_is_followed_by_one_space_and_an_interval(text: str) -> None:
    with pytest.raises(SpecError):
        cron(text, dialect="temporal")


def test_an_empty_phase_is_none() -> None:
    assert spec_to_temporal(cron("@every 5m/", dialect="temporal")) == {"interval": [{"interval": "300s"}]}


def test_cron_strings_must_agree_on_their_zone_intervals_included() -> None:
    with pytest.raises(SpecError, match="conflicting timezone names"):
        spec_from_temporal({"cron_string": ["CRON_TZ=UTC 0 9 * * *", "@every 5m"]})


def test_a_start_within_a_second_lets_that_second_count() -> None:
    spec = spec_from_temporal({"interval": [{"interval": "60s"}], "start_time": "2026-01-01T00:00:00.5Z"})
    assert spec.compiled.next(at("2025-12-31T00:00:00Z")) == at("2026-01-01T00:00:00Z")
    assert spec.compiled.previous(at("2026-01-01T00:01:00Z")) == at("2026-01-01T00:00:00Z")
    ours = every("60s", start="2026-01-01T00:00:00.5Z")
    assert ours.compiled.next(at("2025-12-31T00:00:00Z")) == at("2026-01-01T00:01:00Z")
