"""Whatever a schema and a value bring: they are judged, or refused, in a moment."""

from __future__ import annotations

import time
import tracemalloc
from contextlib import nullcontext
from typing import Any

import pytest

from ostinato.journeys.language.json_schema import NotValid, matches, schema_problems, validate

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
    assert list(schema_problems(schema)) == []
    with pytest.raises(NotValid) as error:
        validate(value, schema, "the input")
    assert len(str(error.value)) < 100_000


@pytest.mark.timeout(20)
def test_a_schema_that_has_no_end_is_refused_and_one_that_refers_to_itself_is_not() -> None:
    doubled = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}, {"$ref": f"#/$defs/d{n + 1}"}]} for n in range(60)}
    assert "more than 100,000 parts" in str(
        list(schema_problems({"$defs": {**doubled, "d60": {}}, "$ref": "#/$defs/d0"}))
    )
    chain = {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(2000)}
    assert list(schema_problems({"$defs": {**chain, "d2000": {}}, "$ref": "#/$defs/d0"}))
    tree = {"$anchor": "tree", "properties": {"left": {"$ref": "#tree"}, "right": {"$ref": "#"}}, "type": "object"}
    assert list(schema_problems(tree)) == []
    with pytest.raises(NotValid, match="/left/right: 5 is not of type"):
        validate({"left": {"right": 5}}, tree, "the input")
    validate({}, {"$ref": "#"}, "the input")


@pytest.mark.parametrize(
    ("schema", "place", "words"),
    [
        ({"properties": {"a": {"pattern": "^(?=.*x)y"}}}, ("properties", "a", "pattern"), "look-around"),
        ({"pattern": r"(a)\1"}, ("pattern",), "back-references"),
        ({"patternProperties": {"[": {}}}, ("patternProperties", "["), "is not a regular expression"),
        ({"pattern": "(a{1,1000}){1,1000}"}, ("pattern",), "is not a regular expression"),
        ({"$ref": "#/$defs/none"}, (), "'/$defs/none' does not exist"),
        ({"type": "thing"}, ("type",), "'thing' is not allowed here"),
    ],
)
def test_what_cannot_be_used_is_told_with_its_place(schema: dict[str, Any], place: tuple[str, ...], words: str) -> None:
    ((path, message),) = schema_problems(schema)
    assert path == place
    assert words in message


def test_a_pattern_is_looked_for_anywhere_in_a_text() -> None:
    assert matches("b+", "abc")
    assert not matches("^b", "abc")


def _nested(depth: int, leaf: Any = 1) -> Any:
    for _ in range(depth):
        leaf = {"a": leaf}
    return leaf


def _one(n: int) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"], "maxProperties": n + 2}


ALTERNATIVES = [_one(n) for n in range(5)] + [{"type": "string"}]
EXPLOSIVE: dict[str, dict[str, Any]] = {
    "any of": {"anyOf": ALTERNATIVES},
    "one of": {"oneOf": ALTERNATIVES},
    "all of": {"allOf": [{"properties": {"a": {"$ref": "#"}}} for _ in range(5)], "type": ["object", "string"]},
    "not not": {"allOf": [{"not": {"not": one}} for one in ALTERNATIVES[:-1]]},
    "if": {"if": _one(1), "then": _one(2), "else": {"anyOf": [_one(3), {"type": "string"}]}},
    "dynamic": {
        "$dynamicAnchor": "n",
        "anyOf": [{**_one(n), "properties": {"a": {"$dynamicRef": "#n"}}} for n in range(5)],
    },
    "unevaluated": {"anyOf": ALTERNATIVES, "unevaluatedProperties": {"$ref": "#"}},
    "in turn": {
        "$defs": {
            f"d{i}": {"anyOf": [{**_one(j), "properties": {"a": {"$ref": f"#/$defs/d{j}"}}} for j in range(5)]}
            for i in range(5)
        },
        "$ref": "#/$defs/d0",
    },
}


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", EXPLOSIVE)
def test_a_schema_that_refers_to_itself_again_and_again_takes_no_time_and_no_memory(name: str) -> None:
    """Five alternatives at each of 30 levels: their reasons would be 5 ** 30."""
    schema = EXPLOSIVE[name]
    assert list(schema_problems(schema)) == []
    tracemalloc.start()
    begin = time.process_time()
    with pytest.raises(NotValid, match=r"it does not match its schema|is not"):
        validate(_nested(30), schema, "the input")
    assert time.process_time() - begin < 2
    assert tracemalloc.get_traced_memory()[1] < 50 << 20
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("schema", "words"),
    [({"type": "integer"}, "Recursion limit reached"), (EXPLOSIVE["all of"], "too many parts"), ({}, None)],
)
def test_a_value_that_nests_too_deeply_is_refused_or_fits(schema: dict[str, Any], words: str | None) -> None:
    with nullcontext() if words is None else pytest.raises(NotValid, match=words):
        validate(_nested(5000), schema, "the input")


def test_a_few_alternatives_are_told_as_they_are() -> None:
    with pytest.raises(NotValid, match="the input as a whole: 5 is not valid under any of the schemas"):
        validate(5, EXPLOSIVE["any of"], "the input")
    tree = {"properties": {"left": {"$ref": "#"}, "name": {"type": "string"}}, "required": ["name"]}
    with pytest.raises(NotValid, match='/left/left: "name" is a required property'):
        validate({"name": "a", "left": {"name": "b", "left": {}}}, tree, "the input")


@pytest.mark.timeout(20)
def test_of_many_mistakes_the_first_is_told() -> None:
    fields = {f"p{n}": {"type": "integer", "minimum": 0} for n in range(20)}
    schema = {"type": "array", "items": {"type": "object", "properties": fields}}
    begin = time.process_time()
    with pytest.raises(NotValid, match='/0/p0: "x" is not of type'):
        validate([dict.fromkeys(fields, "x")] * 5000, schema, "the input")
    good: list[Any] = [dict.fromkeys(fields, 1) for _ in range(5000)]
    good[4321]["p7"] = -1
    with pytest.raises(NotValid, match="/4321/p7: -1 is less than"):
        validate(good, schema, "the input")
    assert time.process_time() - begin < 2


@pytest.mark.timeout(20)
def test_regular_expressions_take_so_much_memory_together_and_no_more() -> None:
    many = {f"p{n}": {"pattern": f"(?:a{{{150 + n}}}){{200}}"} for n in range(100)}
    ((_, message),) = schema_problems({"properties": many})
    assert message == "with it, the schema's regular expressions take more than 32 MiB; repeat less in them"
    ((path, message),) = schema_problems({"properties": {**many, "last": {"pattern": "(?:a{1000}){1000}"}}})
    assert path == ("properties", "last", "pattern")
    assert "is too large" in message
    assert list(schema_problems({"enum": [{"pattern": "("}]})) == []
    same = {f"p{n}": {"pattern": "^.{1,255}$"} for n in range(1000)}
    assert list(schema_problems({"properties": same})) == []


@pytest.mark.timeout(20)
def test_a_schema_with_many_mistakes_is_told_one() -> None:
    assert len(list(schema_problems({"properties": {f"p{n}": {"type": "thing"} for n in range(10)}}))) == 10
    assert len(list(schema_problems({"properties": {f"p{n}": {"type": "thing"} for n in range(10_000)}}))) == 1


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"items": {"anyOf": [{"const": n} for n in range(5000)]}}, [-1] * 200_000),
        ({"items": {"enum": list(range(20_000))}}, [19_999] * 200_000),
        (EXPLOSIVE["in turn"], _nested(1000, "s")),
        (EXPLOSIVE["any of"], {"a": [_nested(60)] * 500}),
    ],
    ids=["alternatives", "enumeration", "depth", "width"],
)
def test_what_would_take_long_to_judge_is_refused(schema: dict[str, Any], value: Any) -> None:
    assert list(schema_problems(schema)) == []
    begin = time.process_time()
    with pytest.raises(NotValid, match=r"too many (parts|for its schema)|does not match"):
        validate(value, schema, "the input")
    assert time.process_time() - begin < 2


def test_large_values_are_judged() -> None:
    fields = {f"p{n}": {"type": "string", "maxLength": 5} for n in range(20)}
    schema = {"type": "array", "items": {"type": "object", "properties": fields, "required": list(fields)}}
    validate([dict.fromkeys(fields, "a") for _ in range(4000)], schema, "the input")
    tree = {"properties": {"children": {"items": {"$ref": "#"}}, "name": {"type": "string"}}, "required": ["name"]}
    forest = {"name": "a", "children": [{"name": "b", "children": [{"name": "c"}] * 20}] * 40}
    validate(forest, tree, "the input")
    forest["children"][0]["children"][-1]["name"] = 5  # type: ignore[index]
    with pytest.raises(NotValid):
        validate(forest, tree, "the input")


def test_everything_that_is_wrong_with_a_value_is_told_at_once() -> None:
    schema = {"type": "object", "required": ["a", "b"], "properties": {"a": {"type": "integer"}, "c": {"maximum": 3}}}
    with pytest.raises(NotValid) as wrong:
        validate({"a": "x", "c": 7}, schema, "the input")
    assert {place for place, _ in wrong.value.faults} == {"", "/a", "/c"}
    assert wrong.value.place == ""
    for word in ('"b" is a required property', "/a:", "/c:"):
        assert word in str(wrong.value)


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("date", "2026-03-01", "2026-02-30"),
        ("date-time", "2026-03-01T09:00:00Z", "2026-03-01"),
        ("time", "09:00:00Z", "25:00:00Z"),
        ("duration", "PT5M", "five minutes"),
        ("uuid", "0b4ae0f4-9a1b-4a70-9d2d-1f6f4a1f1c11", "7"),
        ("email", "a@example.com", "example.com"),
        ("uri", "https://example.com/a", "a b"),
        ("ipv4", "10.0.0.1", "10.0.0.256"),
        ("ipv6", "::1", ":::1"),
        ("hostname", "example.com", "-"),
    ],
)
def test_formats_are_checked(name: str, right: str, wrong: str) -> None:
    schema = {"type": "object", "properties": {"at": {"type": "string", "format": name}}}
    assert list(schema_problems(schema)) == []
    validate({"at": right}, schema, "the input")
    with pytest.raises(NotValid, match="/at: ") as raised:
        validate({"at": wrong}, schema, "the input")
    assert raised.value.place == "/at"


@pytest.mark.parametrize("name", ["regex", "idn-hostname", "int32", "password"])
def test_formats_that_are_unknown_or_slow_to_check_are_not_checked(name: str) -> None:
    validate("(", {"format": name}, "the input")


def test_a_value_that_may_be_a_secret_is_not_repeated() -> None:
    schema: Any = {
        "properties": {"password": {"type": "integer"}, "api_key": {"enum": ["a"]}, "user": {"type": "integer"}},
        "required": ["name"],
    }
    with pytest.raises(NotValid) as error:
        validate({"password": "hunter2", "api_key": "hunter2", "user": {"token": "hunter2"}}, schema, "the input")
    assert "hunter2" not in str(error.value)
    assert "/password: it does not match 'type' of its schema" in str(error.value)
    assert '"name" is a required property' in str(error.value)
