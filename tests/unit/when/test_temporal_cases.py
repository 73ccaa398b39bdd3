"""The facts known about Temporal's specs hold in the temporal dialect."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ostinato import SpecError, cron
from ostinato.errors import TooManyExclusions
from ostinato.when import Spec
from ostinato.when.calendars import Calendar
from ostinato.when.cron_strings import parse_cron
from ostinato.when.days import day_pattern, days_of_month
from ostinato.when.exclusions import Exclusions
from ostinato.when.field_grammar import temporal_items, temporal_value
from ostinato.when.fields import DAY_OF_WEEK, MONTH, Field, Range, mask
from ostinato.when.instants import SECOND, Micros, format_instant, read_instant
from ostinato.when.jitter import fingerprint32
from ostinato.when.temporal import canonical, spec_from_temporal, spec_to_temporal

CASES: dict[str, Any] = json.loads((Path(__file__).parents[2] / "data/temporal_spec_cases.json").read_text())


def cases(section: str, key: str = "name") -> pytest.MarkDecorator:
    rows = CASES[section]
    assert rows
    return pytest.mark.parametrize("case", [pytest.param(c, id=str(c.get(key, n))[:60]) for n, c in enumerate(rows)])


def at(text: str) -> Micros:
    return read_instant(text, "case")


@cases("raw_next_sequences")
def test_raw_next_follows_the_sequence(case: dict[str, Any]) -> None:
    spec = spec_from_temporal(case["spec"])
    times, after = [], at(case["after"])
    for _ in case["expected"]:
        following = spec.compiled.next(after)
        assert following is not None
        times.append(format_instant(following))
        after = following
    assert times == case["expected"]


@cases("next_sequences")
def test_jittered_next_fed_back_follows_the_sequence(case: dict[str, Any]) -> None:
    spec = spec_from_temporal(case["spec"])
    after = at(case["after"])
    for expected in case["expected"]:
        nominal = spec.compiled.next(after)
        if expected is None:
            assert nominal is None
            return
        assert nominal is not None
        after = spec.compiled.jittered(nominal, case["jitter_seed"])
        assert format_instant(after) == expected


@cases("canonicalize_ok")
def test_canonical_form(case: dict[str, Any]) -> None:
    spec = spec_from_temporal(case["spec"])
    assert spec_to_temporal(spec) == case["expected"]
    assert canonical(spec) == spec
    assert spec_from_temporal(spec_to_temporal(spec)) == spec


@cases("canonicalize_errors")
def test_what_temporal_rejects_is_rejected(case: dict[str, Any]) -> None:
    with pytest.raises(SpecError):
        spec_from_temporal(case["spec"])


def test_exclusions_without_end_stop_with_a_clear_error() -> None:
    case = CASES["compute_limits"][0]
    assert case["expect"] == "error_compute_limit_exceeded"
    spec = spec_from_temporal(case["spec"])
    with pytest.raises(TooManyExclusions, match="excluded"):
        spec.compiled.search(at(case["after"]), give_up=case["max_iterations"])


def test_exclusions_up_to_the_end_leave_no_time() -> None:
    case = CASES["compute_limits"][1]
    assert case["expect"] == "no_next_time_with_warning"
    time, excluded = spec_from_temporal(case["spec"]).compiled.search(at(case["after"]))
    assert time is None
    assert excluded > 0


def test_exclusions_that_leave_something_are_passed_over() -> None:
    case = CASES["compute_limits"][2]
    assert case["expect"] == "resolves_with_warning"
    time, excluded = spec_from_temporal(case["spec"]).compiled.search(at(case["after"]))
    assert time is not None
    assert time // SECOND % 60 == case["expected_nominal_second"]
    assert excluded > 0


@cases("calendar_match")
def test_calendar_matches(case: dict[str, Any]) -> None:
    spec = spec_from_temporal({"calendar": [case["calendar"]], "timezone_name": case["tz"]})
    for check in case["checks"]:
        assert spec.compiled.matches(at(check["time"])) is check["match"], check


@cases("parse_cron", "cron")
def test_cron_string_becomes_calendar_or_interval(case: dict[str, Any]) -> None:
    assert parse_cron(case["cron"], "temporal").zone == case["tz"]
    form = spec_to_temporal(spec_from_temporal({"cron_string": [case["cron"]]}))
    assert form.get("structured_calendar", [None])[0] == case["structured"]
    assert form.get("interval", [None])[0] == case["interval"]


@cases("calendar_next")
def test_calendar_next(case: dict[str, Any]) -> None:
    spec = spec_from_temporal({"calendar": [case["calendar"]], "timezone_name": case["tz"]})
    assert spec.compiled.next(at(case["after"])) == at(case["expected"])


@cases("cron_sequences")
def test_cron_sequence_is_constant_from_every_second_between(case: dict[str, Any]) -> None:
    spec = cron(case["cron"], dialect="temporal")
    before = at(case["after"])
    for text in case["expected"]:
        expected = at(text)
        for second in range(before, expected, SECOND):
            assert spec.compiled.next(second) == expected
        before = expected


def field_for(case: dict[str, Any]) -> Field:
    match case["mode"]:
        case "month":
            return MONTH
        case "dow":
            return DAY_OF_WEEK
        case _:
            return Field("Test", case["min"], case["max"])


@cases("make_matcher", "input")
def test_range_text_matches(case: dict[str, Any]) -> None:
    bits = mask(temporal_items(case["input"], field_for(case)))
    assert [v for v in case["match"] if not bits >> v & 1] == []
    assert [v for v in case["no_match"] if bits >> v & 1] == []


@cases("make_range", "input")
def test_range_text_becomes_ranges(case: dict[str, Any]) -> None:
    if "error_contains" in case:
        with pytest.raises(SpecError, match=case["error_contains"]):
            temporal_items(case["input"], field_for(case))
        return
    expected = [Range(r["start"], r.get("end", r["start"]), r.get("step", 1)) for r in case["expected"]]
    assert list(temporal_items(case["input"], field_for(case))) == expected


@cases("parse_value", "input")
def test_single_value(case: dict[str, Any]) -> None:
    value = temporal_value(case["input"], field_for(case), case["max"])
    assert value == case.get("expected")
    assert (value is None) is case.get("error", False)


@cases("days_in_month", "year")
def test_days_in_month(case: dict[str, Any]) -> None:
    spec = cron("0 0 * * *", tz="UTC", start=f"{case['year']}-{case['month']:02d}-01T00:00:00Z")
    year, month = case["year"], case["month"]
    following = (year, month + 1) if month < 12 else (year + 1, 1)
    end = at(f"{following[0]}-{following[1]:02d}-01T00:00:00Z")
    assert sum(1 for _ in spec.compiled.between(0, end - 1)) == case["days"]
    assert days_of_month(day_pattern(Calendar(), False), 0, case["days"]).bit_count() == case["days"]


@cases("farmhash32", "input")
def test_fingerprint(case: dict[str, Any]) -> None:
    assert fingerprint32(case["input"].encode()) == case["hash"]


@cases("jitter_vectors", "next")
def test_jitter_gives_the_same_instants_for_the_same_seed(case: dict[str, Any]) -> None:
    spec = spec_from_temporal(case["spec"])
    nominal = spec.compiled.next(at(case["after"]))
    assert nominal == at(case["nominal"])
    assert spec.compiled.jittered(nominal, case["jitter_seed"]) == at(case["next"])


@cases("cron_acceptance", "cron")
def test_cron_acceptance(case: dict[str, Any]) -> None:
    if case["result"] == "error":
        with pytest.raises(SpecError) as problem:
            cron(case["cron"], dialect="temporal")
        assert case["error"].startswith("time: ") or case["error"] in str(problem.value)
        return
    spec = cron(case["cron"], dialect="temporal")
    if case["result"] == "interval":
        parsed = parse_cron(case["cron"], "temporal")
        minutes = {"5h0m0s": 300, "5m0s": 5, "45m0s": 45, "0s": 0}
        assert parsed.every == minutes[case["interval"]] * 60 * SECOND
        assert parsed.phase == minutes[case["phase"]] * 60 * SECOND
        assert parsed.zone == case["tz"]
        return
    time = spec.compiled.next(at("2025-01-01T00:00:00Z"))
    assert (None if time is None else format_instant(time)) == case["next_after_2025_01_01Z"]


@cases("dst_cases", "tz")
def test_daylight_saving_as_documented(case: dict[str, Any]) -> None:
    spec = cron(case["cron"], tz=case["tz"], dialect="temporal")
    times, after = [], at(case["after"])
    for _ in case["documented"]:
        following = spec.compiled.next(after)
        assert following is not None
        times.append(format_instant(following))
        after = following
    assert times == case["documented"]


def test_every_section_of_the_cases_is_used() -> None:
    source = Path(__file__).read_text()
    sections = [name for name in CASES if not name.startswith("_")]
    assert [name for name in sections if f'"{name}"' not in source] == []


@pytest.mark.parametrize(
    ("text", "word"), [("0 9 31 2 *", "never match"), ("0 0 * * 5#2", "comment"), ("0 0 * * MON#1", "comment")]
)
def test_odd_strings_are_accepted_with_a_warning(text: str, word: str) -> None:
    (warning,) = Spec(crons=(text,), dialect="temporal").check()
    assert word in warning


def test_times_beyond_2100_are_none() -> None:
    spec = cron("0 0 1 1 *", dialect="temporal")
    assert spec.compiled.next(at("2099-06-01T00:00:00Z")) == at("2100-01-01T00:00:00Z")
    assert spec.compiled.next(at("2100-01-01T00:00:00Z")) is None


def test_end_time_is_included_and_jitter_may_pass_it() -> None:
    spec = spec_from_temporal({"interval": [{"interval": "3600s"}], "end_time": "2025-01-01T01:00:00Z", "jitter": "1h"})
    nominal = spec.compiled.next(at("2025-01-01T00:30:00Z"))
    assert nominal == at("2025-01-01T01:00:00Z")
    assert spec.compiled.jittered(nominal, "seed") > nominal
    assert spec.compiled.next(nominal) is None


def test_exclusions_are_kept_in_temporal_form() -> None:
    spec = Spec(exclude=Exclusions(calendars=(Calendar(),)), dialect="temporal")
    assert "exclude_structured_calendar" in spec_to_temporal(spec)
