"""Two specs joined: the times of both, and no others."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ostinato import Spec, SpecError, calendar, cron, every, manual, once
from ostinato.when.instants import Micros, read_instant


def at(text: str) -> Micros:
    return read_instant(text, "test")


def test_joined_specs_must_agree_on_what_holds_for_the_whole() -> None:
    joined = cron("0 9 * * *", tz="Europe/Berlin") | every("1h")
    assert joined.tz == "Europe/Berlin"
    assert (every("1h") | cron("0 9 * * *", tz="Europe/Berlin")).tz == "Europe/Berlin"


@pytest.mark.parametrize(
    ("name", "spec", "other"),
    [
        ("tz", cron("0 9 * * *", tz="Europe/Berlin"), cron("0 9 * * *", tz="Asia/Tokyo")),
        ("tz", cron("0 9 * * *", tz="Europe/Berlin"), cron("0 9 * * *")),
        ("tz", cron("CRON_TZ=Asia/Tokyo 0 9 * * *"), calendar(hour=9)),
        ("dialect", cron("0 0 13 * 5"), cron("0 0 13 * 5", dialect="temporal")),
        ("dialect", every("1h"), cron("0 0 13 * 5", dialect="temporal")),
        ("dst", cron("30 2 * * *", tz="Europe/Berlin"), cron("0 9 * * *", tz="Europe/Berlin", dst="wall")),
        ("exclude", cron("0 9 * * *"), cron("0 10 * * *", exclude=["2026-12-25"])),
        ("start", cron("0 9 * * *"), cron("0 10 * * *", start="2026-12-25T00:00Z")),
        ("end", cron("0 9 * * *", end="2026-12-25T00:00Z"), every("1h", end="2026-12-26T00:00Z")),
        ("jitter", cron("0 9 * * *"), every("1h", jitter="5m")),
    ],
)
def test_joining_refuses_what_would_change_the_meaning_of_a_side(name: str, spec: Spec, other: Spec) -> None:
    for a, b in ((spec, other), (other, spec)):
        with pytest.raises(SpecError, match=f"different {name}") as problem:
            a | b
        assert problem.value.field == name
        assert name != "exclude" or "(a | b).without(" in problem.value.hint


def test_joining_with_a_manual_spec_changes_nothing() -> None:
    spec = cron("0 9 * * *", tz="Asia/Tokyo", exclude=["2026-12-25"], start="2026-01-01T00:00Z", dialect="temporal")
    assert spec | manual() == spec
    assert manual() | spec == spec


joinable = st.sampled_from(
    [
        cron("30 2 * * *", tz="Europe/Berlin"),
        cron("CRON_TZ=Europe/Berlin 0 */5 * * *"),
        calendar(hour=9, day_of_week="sun", tz="Europe/Berlin"),
        cron("30 2 * * *", tz="Europe/Berlin", dst="wall"),
        cron("30 2 * * *"),
        cron("30 2 * * 6,7", dialect="temporal", tz="Europe/Berlin"),
        every("P1D", anchor="2026-03-01T02:45", tz="Europe/Berlin"),
        every("7h", tz="Asia/Tokyo"),
        every("7h"),
        every("PT5H", anchor="2026-03-01T02:45Z"),
        every("7h", exclude=["2026-03-29"], tz="Europe/Berlin"),
        every("7h", exclude=["2026-03-29"]),
        cron("0 3 * * *", exclude=["2026-03-29"]),
        every("7h", start="2026-03-28T00:00Z"),
        once("2026-03-29T01:30Z"),
        once("2026-03-29T01:30Z", tz="Asia/Tokyo"),
        manual(),
    ]
)


@given(joinable, joinable)
@settings(max_examples=250, deadline=None)
def test_the_times_of_two_joined_specs_are_the_times_of_both(spec: Spec, other: Spec) -> None:
    try:
        both = spec | other
    except SpecError:
        return
    window = at("2026-03-26T00:00:00Z"), at("2026-04-01T00:00:00Z")
    apart = {*spec.compiled.between(*window), *other.compiled.between(*window)}
    assert list(both.compiled.between(*window)) == sorted(apart)
