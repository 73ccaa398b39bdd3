"""The text of a journey is a strict subset of YAML 1.2."""

from __future__ import annotations

import pytest

from ostinato.documents import Place
from ostinato.journeys.documents import DEEPEST, LARGEST, read_document


@pytest.mark.parametrize(
    ("text", "code", "line", "column"),
    [
        ("a: &x 1", "document-anchor", 1, 4),
        ("a: {b: 1}\nc: *x", "document-alias", 2, 4),
        ("a: 1\nb:\n  c: 1\n  c: 2", "document-key-twice", 4, 3),
        ("a:\n\tb: 1", "document-tab", 2, 1),
        ("a:\n  1: x", "document-key", 2, 3),
        ("? [a]\n: x", "document-key", 1, 3),
        ("true: x", "document-key", 1, 1),
        ("a: 1\n---\nb: 2", "document-several", 2, 1),
        ("a: !!str 1", "document-tag", 1, 4),
        ("%YAML 1.1\n---\na: on", "document-directive", 2, 1),
        ("a: [1, 2", "document-syntax", 1, 9),
        ("a: .inf", "document-number", 1, 4),
        ("a: 1e999", "document-number", 1, 4),
        ("a: " + "[" * (DEEPEST + 2), "document-too-deep", 1, DEEPEST + 4),
        ("a" * (LARGEST + 1), "document-too-large", 1, 1),
    ],
)
def test_what_is_not_in_the_subset_is_named_with_its_place(text: str, code: str, line: int, column: int) -> None:
    problems = read_document(text).problems
    assert [(one.code, one.line, one.column) for one in problems][:1] == [(code, line, column)]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        *(
            (text, text)
            for text in ("on", "off", "yes", "No", "y", "1:30", "2026-01-01", "1_000", "0b11", "1.2.3", "=")
        ),
        *(("012", 12), ("0o14", 12), ("0x1F", 31), ("+7", 7), ("1.", 1.0), (".5", 0.5), ("1e3", 1000.0)),
        *(("~", None), ("", None), ("TRUE", True), ("false", False), ("'true'", "true"), ('"1"', "1")),
    ],
)
def test_a_scalar_is_what_yaml_1_2_says(written: str, meant: object) -> None:
    document = read_document(f"a: {written}")
    assert not document.problems
    assert document.value == {"a": meant}
    assert type(document.value["a"]) is type(meant)


def test_every_key_and_value_has_its_place() -> None:
    positions = read_document("a:\n  - b: 1\n    c: {d: x}\n").positions
    assert positions.keys[("a", 0, "c", "d")] == Place(3, 9)
    assert positions.place(("a", 0, "c", "d")) == Place(3, 12)
    assert positions.place(("a", 0, "c", "e")) == Place(3, 8)


def test_json_is_read_as_json_with_the_places_of_its_text() -> None:
    document = read_document('{"a":\n\t{"b": "\\ud83d\\ude00"}}', "x.journey.json")
    assert not document.problems
    assert document.value == {"a": {"b": "😀"}}
    assert document.positions.place(("a", "b")) == Place(2, 8)
    assert [one.code for one in read_document("a: 1", "x.journey.json").problems] == ["document-syntax"]
    [problem] = read_document('{"a": NaN}', "x.journey.json").problems
    assert (problem.code, problem.line, problem.column) == ("document-number", 1, 7)


def test_a_bomb_of_aliases_does_nothing() -> None:
    lines = ["a0: &a0 [x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30))]
    assert {one.code for one in read_document("\n".join(lines)).problems} == {"document-anchor", "document-alias"}


def test_half_of_a_surrogate_pair_is_refused() -> None:
    [problem] = read_document('a:\n  b: "\\ud83d"').problems
    assert (problem.code, problem.line, problem.column) == ("document-syntax", 2, 6)
