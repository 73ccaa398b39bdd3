"""How large a spec may be: refused before it is read, with what is too large."""

from __future__ import annotations

import time
from typing import Any

import pytest

from ostinato.errors import SpecError
from ostinato.schedules.validation import checked_spec
from ostinato.when import cron
from ostinato.when.instants import SECOND
from ostinato.when.size_limits import LONGEST_SOURCE, MOST_SOURCES, check_document_size, check_temporal_size

HOURLY = [f"{minute} * * * *" for minute in range(60)]


@pytest.mark.parametrize(
    ("spec", "field", "words"),
    [
        ({"cron": HOURLY * 1000}, "spec", "at most 100 cron strings"),
        ({"cron": HOURLY, "intervals": [{"every": "5s"}] * 50}, "spec", "this has 110"),
        ({"calendars": [{"hour": 9}] * 200}, "spec", "at most 100"),
        ({"times": ["2026-01-01T00:00:00Z"] * 100_000}, "times", "at most 1,000 times"),
        ({"cron": "0 9 * * *", "exclude": {"dates": ["2026-01-01"] * 5000}}, "exclude.dates", "excluded dates"),
        ({"cron": "0 9 * * *", "exclude": {"calendars": [{"hour": 9}] * 51}}, "exclude.calendars", "calendars"),
        ({"cron": "0 9 * * *", "exclude": {"spans": [["a", "b"]] * 501}}, "exclude.spans", "excluded spans"),
        ({"cron": ",".join(["1"] * 100_000) + " * * * *"}, "spec", "characters"),
        ({"calendars": [{"minute": [1] * 100_000}]}, "spec", "characters"),
        ({"calendars": [{f"minute{n}": 1 for n in range(10_000)}]}, "spec", "characters"),
        ({"calendars": [[[[1] * 5000]]]}, "spec", "characters"),
        ({"cron": "0 9 * * *", "tz_data": "A" * 100_000}, "tz_data", "bytes"),
    ],
)
def test_what_is_too_large_is_refused_before_it_is_read(spec: dict[str, Any], field: str, words: str) -> None:
    began = time.process_time()
    with pytest.raises(SpecError, match=words) as refused:
        checked_spec(spec, SECOND)
    assert refused.value.field == field
    assert time.process_time() - began < 0.1


def test_what_is_at_the_bounds_is_taken() -> None:
    check_document_size({"cron": (HOURLY * 2)[:MOST_SOURCES], "times": "2026-01-01T00:00:00Z"})
    every_minute = ",".join(map(str, range(60)))
    years = ",".join(map(str, range(2000, 2101)))
    check_document_size({"calendars": {"second": every_minute, "minute": every_minute, "year": years}})
    assert checked_spec({"cron": (HOURLY * 2)[:MOST_SOURCES]}, SECOND).check() == ()
    check_document_size({"cron": "x" * LONGEST_SOURCE})


def test_a_spec_made_in_python_has_the_same_bounds() -> None:
    spec = cron("0 9 * * *")
    for minute in range(120):
        spec = spec | cron(f"{minute % 60} {minute // 60} * * *")
    with pytest.raises(SpecError, match="this has 121"):
        checked_spec(spec, SECOND)


@pytest.mark.parametrize("name", ["structured_calendar", "calendar", "cron_string", "interval"])
def test_temporals_form_has_them_too(name: str) -> None:
    with pytest.raises(SpecError, match="this has 101"):
        check_temporal_size({name: [None] * 101})
    with pytest.raises(SpecError, match="characters"):
        check_temporal_size({"structured_calendar": [{"minute": [{"start": 1}] * 10_000}]})
