"""Segments and the pure parts of campaigns: the language of queries, hostile ones too; rates, quiet hours, variants."""

from __future__ import annotations

from collections import Counter
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ostinato import OstinatoError
from ostinato.flows.campaigns.local_time import next_clock
from ostinato.flows.campaigns.options import CampaignOptions, read_options
from ostinato.flows.campaigns.outcomes import aggregate
from ostinato.flows.campaigns.rate import Rate
from ostinato.flows.consent import wanted_consent
from ostinato.flows.model import UserRecord
from ostinato.flows.segments import MOST_DEPTH, check_segment, matches, parse_query
from ostinato.when import zones
from ostinato.when.instants import SECOND, read_instant

DATA = {"plan": "a", "age": 30, "ok": True, "tags": ["x", 1], "deep": {"er": {"est": 7}}}
ADA = UserRecord(
    "1", "default", "buddy", "ada", "+55", "Ada", "UTC", "pt", data=orjson.dumps(DATA).decode(), created=5 * SECOND
)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ('locale = "pt"', True),
        ("locale = 'pt' and name != 'Eve'", True),
        ('locale in ("en", "pt")', True),
        ('tags has "vip" or locale = "en"', True),
        ('not tags has "vip"', False),
        ('NOT (locale = "pt" AND tags has "vip")', False),
        ('data.plan = "a" and data.age >= 30 and data.ok = true', True),
        ("data.age = true", False),
        ('data.age < "40"', False),
        ("data.deep.er.est = 7.0", True),
        ("data.nothing.at.all = null", True),
        ("data.tags has 1", True),
        ('active >= "2026-01-01T00:00:00Z"', False),
        ("active = null", True),
        ('created < "2026-01-01T00:00:00Z"', True),
        ('name = "A\\"da" or name = "Ada"', True),
        ('locale = "en" or locale = "pt" and tags has "none"', False),  # and binds more strongly
    ],
)
def test_queries(query: str, expected: bool) -> None:
    assert matches(parse_query(query), ADA, ["vip"]) is expected


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("", "is not a text"),
        ("1=1", "'1' is not a field"),
        ('name = "x"; DROP TABLE users', "at character 11: '; DROP TABLE users' is not part of the language"),
        ("name = 'x' -- comment", "is not part of the language"),
        ("name = 'x' UNION SELECT 1", "'UNION' is not expected"),
        ("__class__ = 'x'", "users have no field '__class__'"),
        ("data.__class__.__mro__ has 1 and exec('x')", "users have no field 'exec'"),
        ("(" * 50 + 'name = "x"' + ")" * 50, f"more than {MOST_DEPTH} levels"),
        ("not " * 400 + 'name = "x"', "levels"),
        (" or ".join(['name = "x"'] * 120), "comparisons"),
        ('name = "x" or ' * 1000, "characters; at most"),
        ("name in (" + ", ".join(['"x"'] * 150) + ")", "values in a list"),
        ('name > "a"', "name is compared by =, != and in"),
        ('created > "yesterday"', "is not a time"),
        ("name = name", "is not a value"),
        ("name =", "'the end' is not a value"),
        ('(name = "x"', "the ) that is missing"),
        ('name = "x\x00"', "not a text that can be stored"),
        ("data.a.b.c.d.e.f = 1", "deeper than 5 levels"),
        ("name = 12", "12 is no text"),
    ],
)
def test_a_hostile_query_is_denied_with_a_clear_error(query: str, words: str) -> None:
    with pytest.raises(OstinatoError) as refused:
        parse_query(query)
    assert words in str(refused.value)
    assert len(str(refused.value)) < 400


def test_a_query_of_an_older_version_may_call_the_time_zone_zone() -> None:
    assert parse_query('zone = "Europe/Lisbon"') == parse_query('tz = "Europe/Lisbon"')
    with pytest.raises(OstinatoError, match=r"users have no field 'timezone'; did you mean 'tz'?"):
        parse_query('timezone = "Europe/Lisbon"')


@given(st.text(max_size=300))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    try:
        parsed = parse_query(text)
    except OstinatoError:
        return
    matches(parsed, ADA, [])


def test_the_id_of_a_segment_is_that_of_its_selector() -> None:
    first = check_segment({"type": "tag", "tag": "vip"})
    assert first.id == check_segment({"tag": "vip", "type": "tag"}).id != check_segment({"type": "all"}).id
    assert check_segment(first.as_json()) == first


@given(st.integers(1, 1000), st.sampled_from(["s", "m", "h"]), st.lists(st.integers(0, 10 * SECOND), max_size=40))
def test_a_rate_is_never_exceeded(count: int, unit: str, pauses: list[int]) -> None:
    rate = read_options({"rate": f"{count}/{unit}"}).rate
    assert isinstance(rate, Rate)
    begin = now = 1_000_000 * SECOND
    arrival = sent = 0
    for pause in pauses:
        now += pause
        room = rate.room(arrival, now)
        arrival, sent = rate.take(arrival, now, room), sent + room
        assert sent <= (now - begin) // rate.interval + max(1, SECOND // 5 // rate.interval) + 1
        assert rate.next(arrival, now) > now
        assert rate.room(arrival, rate.next(arrival, now)) >= 1


@pytest.mark.parametrize(
    ("zone", "moment", "until"),
    [
        ("UTC", "2026-01-01T23:00:00Z", "2026-01-02T08:00:00Z"),
        ("UTC", "2026-01-01T07:59:59Z", "2026-01-01T08:00:00Z"),
        ("UTC", "2026-01-01T08:00:00Z", None),
        ("UTC", "2026-01-01T21:59:59Z", None),
        ("Asia/Tokyo", "2026-01-01T14:00:00Z", "2026-01-01T23:00:00Z"),
        ("Europe/Berlin", "2026-03-28T23:00:00Z", "2026-03-29T06:00:00Z"),  # the clock goes forward in that night
    ],
)
def test_quiet_hours(zone: str, moment: str, until: str | None) -> None:
    quiet = read_options({"quiet_hours": {"from": "22:00", "to": "08:00"}}).quiet_hours
    assert quiet is not None
    expected = None if until is None else read_instant(until, "until")
    assert quiet.until(read_instant(moment, "moment"), zones.zone(zone)) == expected


def test_a_local_time_that_daylight_saving_leaves_out_is_the_first_after_it() -> None:
    now = read_instant("2026-03-29T00:00:00Z", "now")
    assert next_clock(now, 150, zones.zone("Europe/Berlin")) == read_instant("2026-03-29T01:00:00Z", "then")


def test_variants_have_their_weights_and_the_holdout_its_share() -> None:
    options = read_options({"holdout": 10, "variants": {"a": {"weight": 3}, "b": {}}})
    shares = Counter(options.assign("spring", f"u{number}") for number in range(20_000))
    assert 1_800 < shares["holdout"] < 2_200
    assert 2.8 < shares["a"] / shares["b"] < 3.2
    assert CampaignOptions().assign("spring", "ada") is None


@pytest.mark.parametrize(
    ("counts", "outcome"),
    [
        ({}, ("skipped", "empty_segment")),
        ({"success": 1, "skipped": 5}, ("success", None)),
        ({"success": 1, "failed": 1}, ("success", "partial")),
        ({"failed": 1, "skipped": 5}, ("failed", "no_recipient_succeeded")),
        ({"canceled_hitl": 2}, ("canceled_hitl", "hitl")),
        ({"canceled_hitl": 2, "skipped": 1}, ("skipped", "all_skipped")),
    ],
)
def test_53_the_aggregate_outcome(counts: dict[str, int], outcome: Any) -> None:
    assert aggregate(counts) == outcome


@pytest.mark.parametrize(
    ("text", "consent", "change"),
    [
        ("STOP", "unknown", "opted_out"),
        (" stop! ", "opted_in", "opted_out"),
        ("Opt  Out", "unknown", "opted_out"),
        ("please stop", "unknown", None),
        ("start", "opted_out", "opted_in"),
        ("start", "unknown", None),
        ("", "unknown", None),
    ],
)
def test_stop_words(text: str, consent: str, change: str | None) -> None:
    assert wanted_consent(text, {}, consent) == change
    assert wanted_consent("halt", {"stop_words": ["HALT"]}, consent) == "opted_out"
