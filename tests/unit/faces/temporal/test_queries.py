"""The query language: what it reads, what it refuses, what it finds."""

from __future__ import annotations

from typing import Any

import pytest

from ostinato.errors import OstinatoError
from ostinato.faces.temporal.attributes import OF_SCHEDULES
from ostinato.faces.temporal.queries import read_query
from tests.support.temporal_cases import CASES

TYPES = {"AliasForKeyword01": "Keyword", "AliasForInt01": "Int", **OF_SCHEDULES}
KINDS = {"k": "Keyword", "i": "Int", "d": "Double", "b": "Bool", "w": "Datetime", "t": "Text", "l": "KeywordList"}
ONE: dict[str, Any] = {
    "k": "it's",
    "i": 7,
    "d": 1.5,
    "b": True,
    "w": 1_767_225_600_000_000,
    "t": "The quick brown fox",
    "l": ["red", "green"],
}


@pytest.mark.parametrize("case", CASES["list_query"], ids=lambda case: case["query"] or "empty")
def test_what_temporals_own_tests_say(case: dict[str, Any]) -> None:
    if case["valid"]:
        read_query(case["query"], TYPES)
    else:
        with pytest.raises(OstinatoError, match=case["error_contains"]):
            read_query(case["query"], TYPES)


@pytest.mark.parametrize("operator", CASES["list_query_schedule_id_ops"])
def test_schedule_ids_have_these_operators(operator: str) -> None:
    operand = {"IN": "('a', 'b')", "IS NOT NULL": ""}.get(operator, "'a'")
    query = read_query(f"ScheduleId {operator} {operand}", TYPES)
    assert query(lambda name: "a")
    assert not query(lambda name: None)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "k = 'it''s'",
        'k = "it\'s"',
        "k = 'it\\'s'",
        "k != 'x' and i > 6 AND i < 8 AND i >= 7 AND i <= 7",
        "k <> 'x'",
        "NOT k = 'x'",
        "i IN (1, 7) AND i NOT IN (1, 2)",
        "i BETWEEN 5 AND 7 AND i NOT BETWEEN 8 AND 9",
        "d = 1.5 AND d > 1",
        "b = true AND b = 'true' AND NOT b = false",
        "w = '2026-01-01T00:00:00Z' AND w < '2026-01-01T01:00:01+01:00'",
        "w = 1767225600000000000",
        "t = 'fox' AND t = 'Quick FOX' AND NOT t = 'dog'",
        "l = 'red' AND l IN ('blue', 'green') AND l STARTS_WITH 'gr' AND l != 'blue'",
        "k STARTS_WITH 'it' AND k NOT STARTS_WITH 'x'",
        "k IS NOT NULL AND `k` STARTS_WITH ''",
        "i = 1 OR (i = 7 AND (k = 'x' OR d = 1.5))",
    ],
)
def test_it_finds(text: str) -> None:
    assert read_query(text, KINDS)(ONE.get)


@pytest.mark.parametrize(
    "text", ["k IS NULL", "k = 'its'", "i > 7", "i = 1 OR i = 2 AND i = 7", "NOT (i = 7)", "l = 'blue'", "b = false"]
)
def test_it_passes_over(text: str) -> None:
    assert not read_query(text, KINDS)(ONE.get)


def test_what_is_absent_is_neither_more_nor_less() -> None:
    for text in ("i > 0", "i < 9", "i = 7", "i BETWEEN 0 AND 9", "k STARTS_WITH ''", "t = 'fox'", "l = 'red'"):
        assert not read_query(text, KINDS)(lambda name: None)
    assert read_query("i != 7 AND i IS NULL", KINDS)(lambda name: None)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("k = ", "is not a value for k"),
        ("k 'x'", "a comparison is missing"),
        ("k = 'x", "cannot be read"),
        ("k = 'x' k = 'y'", "where the end was expected"),
        ("(k = 'x'", r"where \) was expected"),
        ("kk = 'x'", 'cannot filter on "kk"; did you mean'),
        ("i = 'seven'", "'seven' is not a value for i, which is Int"),
        ("w > '2026-01-01'", "is not a value for w"),
        ("b > true", "has no order"),
        ("t < 'x'", "has no order"),
        ("i STARTS_WITH '7'", "STARTS_WITH is for Keyword"),
        ("k IN 'x'", r"where \( was expected"),
        ("k = 'x' ORDER BY i", "ORDER BY is not possible"),
        ("GROUP BY k", "GROUP BY k is not possible here"),
        ("k LIKE 'x'", "a comparison is missing"),
        (";", "cannot be read"),
    ],
)
def test_it_says_what_is_wrong(text: str, words: str) -> None:
    with pytest.raises(OstinatoError, match=f"invalid query: .*{words}"):
        read_query(text, KINDS)
