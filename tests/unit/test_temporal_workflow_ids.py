"""Ids by Temporal's rules, held to its own test data."""

from __future__ import annotations

from typing import Any

import pytest

from ostinato.faces.temporal.schedules import read_token, write_token
from ostinato.faces.temporal.wire_schedules import newest
from ostinato.model import Run
from ostinato.temporal_workflow_ids import _quote, request_id, write_nominal
from ostinato.when.instants import SECOND, read_instant
from tests.support.temporal_cases import CASES

IDS = CASES["ids"]


@pytest.mark.parametrize("case", IDS["workflow_id"])
def test_workflow_ids_end_in_the_nominal_time(case: dict[str, str]) -> None:
    nominal = read_instant(case["nominal"][:26] + "Z", "nominal")
    assert f"{case['base']}-{write_nominal(nominal)}" == case["expected"]


@pytest.mark.parametrize("case", IDS["request_id"])
def test_request_ids(case: dict[str, Any]) -> None:
    origin = f"backfill-{case['backfill_id']}" if case["backfill_id"] else "auto"
    id = request_id(
        case["namespace_id"],
        case["schedule_id"],
        case["conflict_token"],
        case["nominal_ms"] * 1000,
        case["actual_ms"] * 1000,
        origin,
    )
    assert id == case["expected"]


@pytest.mark.parametrize("case", IDS["conflict_token"])
def test_conflict_tokens(case: dict[str, Any]) -> None:
    assert write_token(case["value"]).hex() == case["bytes_hex"]
    assert read_token(bytes.fromhex(case["bytes_hex"])) == case["value"]
    assert read_token(b"") is None


def test_texts_are_quoted_as_go_does() -> None:
    assert _quote("plain") == '"plain"'
    assert _quote('a"b\\c\n\x00ä\u200b') == '"a\\"b\\\\c\\n\\x00ä\\u200b"'


def test_recent_actions_are_the_newest_by_start_in_that_order() -> None:
    case = CASES["list_info"]
    runs = [Run(id=f"r{n}", name="j", root_id=f"r{n}", started=n * 60 * SECOND) for n in case["start_minutes"]]
    assert [(run.started or 0) // SECOND // 60 for run in newest(runs, 5)] == case["expected_minutes"]
