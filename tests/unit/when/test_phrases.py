"""Specs as one line of text or one document."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ostinato import SpecError
from ostinato.when.spec_text import parse_spec_text


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("every 15 minutes", "write 'every 15m'"),
        ("every day", "write 'every 1d'"),
        ("Every 2 weeks", "write 'every P2W'"),
        ("every 3 months", "'every P3M from 2026-01-31T09:00Z'"),
        ("R5/2026-01-31T09:00Z/P1M", "write 'R/2026-01-31T09:00Z/P1M'"),
        ("2026-01-31", "write '2026-01-31T09:00'"),
    ],
)
def test_a_near_miss_is_met_with_what_would_be_right(text: str, hint: str) -> None:
    with pytest.raises(SpecError) as problem:
        parse_spec_text(text, tz="Europe/Berlin")
    assert hint in str(problem.value)
    right = problem.value.hint.split("'")[1]
    assert parse_spec_text(right, tz="Europe/Berlin")


@pytest.mark.parametrize(
    "text",
    [
        '{"cron":' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"cron":' + '{"a":' * 900 + "1" + "}" * 901,
        '{"calendars": [{"hour":' + "[" * 900 + "]" * 900 + "}]}",
        '{"times": [' + "9" * 5000 + "]}",
        '{"calendars": [{"hour": "9", "comment": "\\ud800"}]}',
        '{"tz": "\\ud800"}',
        '{"tz": "a\\u0000b"}',
        '{"\\ud800": 1}',
    ],
)
def test_no_document_brings_forth_anything_but_a_spec_error(text: str) -> None:
    with pytest.raises(SpecError) as problem:
        parse_spec_text(text)
    assert len(str(problem.value)) < 500


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"tz": "Asia/Tokyo"}, {"tz": "Europe/Berlin"}),
        ({"dst": "cron"}, {"dst": "wall"}),
        ({"dialect": "cron"}, {"dialect": "temporal"}),
    ],
)
def test_a_document_and_what_is_asked_for_beside_it_must_agree(asked: Any, said: dict[str, str]) -> None:
    text = json.dumps({"cron": "0 9 * * *", **said})
    with pytest.raises(SpecError, match="say it once"):
        parse_spec_text(text, **asked)
    (value,) = said.values()
    agreed: dict[str, Any] = dict.fromkeys(asked, value)
    assert parse_spec_text(text, **agreed) == parse_spec_text(text)
    assert parse_spec_text('{"cron": "0 9 * * *"}', **asked) == parse_spec_text("0 9 * * *", **asked)
