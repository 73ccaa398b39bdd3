"""Whatever a schema and a value bring: they are judged, or refused, in a moment."""

from __future__ import annotations

from typing import Any

import pytest

from ostinato.journeys.schemas import NotValid, matches, problems, validate

HOSTILE = "a" * 50_000 + "!"


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string", "pattern": "^(a+)+$"}, HOSTILE),
        ({"type": "string", "pattern": "^(a|a)*$"}, HOSTILE),
        ({"type": "string", "pattern": r"^([a-z]+\s?)*$"}, HOSTILE),
        ({"patternProperties": {"^(a+)+$": {}}, "additionalProperties": False}, {HOSTILE: 1}),
        ({"patternProperties": {"^(a+)+$": {}}, "unevaluatedProperties": False}, {HOSTILE: 1}),
        ({"propertyNames": {"pattern": "^(a+)+$"}}, {HOSTILE: 1}),
        ({"items": {"type": "string", "pattern": "(x+x+)+y"}}, ["x" * 30_000] * 10),
    ],
    ids=["nested", "alternatives", "words", "names", "unevaluated", "property names", "items"],
)
def test_no_pattern_takes_longer_than_its_text_is_long(schema: dict[str, Any], value: Any) -> None:
    assert list(problems(schema)) == []
    with pytest.raises(NotValid) as told:
        validate(value, schema, "the input")
    assert len(str(told.value)) < 100_000


@pytest.mark.timeout(20)
def test_a_schema_that_has_no_end_is_refused_and_one_that_refers_to_itself_is_not() -> None:
    doubled = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}, {"$ref": f"#/$defs/d{n + 1}"}]} for n in range(60)}
    assert "more than 100,000 parts" in str(list(problems({"$defs": {**doubled, "d60": {}}, "$ref": "#/$defs/d0"})))
    chain = {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(2000)}
    assert list(problems({"$defs": {**chain, "d2000": {}}, "$ref": "#/$defs/d0"}))
    tree = {"$anchor": "tree", "properties": {"left": {"$ref": "#tree"}, "right": {"$ref": "#"}}, "type": "object"}
    assert list(problems(tree)) == []
    with pytest.raises(NotValid, match="/left/right: 5 is not of type"):
        validate({"left": {"right": 5}}, tree, "the input")
    validate({}, {"$ref": "#"}, "the input")


@pytest.mark.parametrize(
    ("schema", "place", "words"),
    [
        ({"properties": {"a": {"pattern": "^(?=.*x)y"}}}, ("properties", "a", "pattern"), "looks around"),
        ({"pattern": r"(a)\1"}, ("pattern",), "refers back"),
        ({"patternProperties": {"[": {}}}, ("patternProperties", "["), "not a regular expression"),
        ({"pattern": "(a{1,1000}){1,1000}"}, ("pattern",), "not a regular expression"),
        ({"$ref": "#/$defs/none"}, (), "'/$defs/none' does not exist"),
        ({"type": "thing"}, ("type",), "'thing' cannot stand here"),
    ],
)
def test_what_cannot_be_used_is_told_with_its_place(schema: dict[str, Any], place: tuple[str, ...], words: str) -> None:
    ((path, message),) = problems(schema)
    assert path == place
    assert words in message


def test_a_pattern_is_looked_for_anywhere_in_a_text() -> None:
    assert matches("b+", "abc")
    assert not matches("^b", "abc")
