"""What is answered without the runtime is what the runtime says."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from ostinato.journeys.expressions.plain import NOT_PLAIN, evaluate_certain
from tests.unit.journeys.expressions.conftest import Spoken

CONTEXT: dict[str, Any] = {
    "a": {"b": 1, "n": None, "d-e": 2},
    "list": [{"x": 1}, {"y": 2}, {"x": None}, 3, [{"x": 9}], None],
    "none": [{"y": 1}],
    "deep": [{"x": {"z": 1}}, {"x": {"z": 2}}, {"x": [{"z": 3}]}],
    "empty": [],
    "s": "abc",
    "date": "2020-01-01T00:00:00Z",
    "odd": 'é\u2028\U0001f600"\\/\b\t\0',
    "t": True,
    "whole": 30.0,
    "zero": -0.0,
    "tenth": 0.1,
    "long": 0.12345678901234567,
    "tiny": 1e-7,
    "large": 1e16,
    "huge": 1e300,
    "count": 12345678901234567890,
    "a_b": 1,
    "default": 5,
}
ANSWERED = """
context | context.a | context.a.b | context.a.zz | context.zz.y.x | context.a.n.q | context.list | context.list.x
context.none.x | context.empty.x | context.deep.x.z | context.list[0] | context.list[5] | context.list[99]
context.list[0].x | context.zz[0] | context.s | context.odd | context.t | context.whole | context.zero | context.tenth
context.long | context.tiny | context.large | context.huge | context.count | context.a_b | payload | payload.x.y
null | true | false | 0 | -1 | -0 | 1.50 | 1.0 | -0.0 | 30 | "it's" | 'say "x"' | "" | [] | {}
context.a == null | context.zz == null | context.list == null | null == context.a.n | context.list != null
context.s == "abc" | context.s != 'x' | context.s == 3 | context.t == true | context.t == 'true' | context.t != false
context.whole == 30 | context.tenth == 0.1 | context.a.b == '1' | context.a == 1 | context.list == 'a'
context.a.b > 0 | 1 > context.whole | context.whole <= 30.0 | context.tiny < 1 | context.huge >= 2 | context.count > 3
context.a.b == context.a_b | context.zz != context.a.n | 1 == 1.0 | context.count == 1
context.a.b + 1 | context.s ++ 'x' | context.t == true and true | context.a.b - 3 * 2 | context.tenth * 3 | 2 - -1
context.zz default 1 | context.zz default context.a.n default 'x' | context.s default 1 | not context.t
not context.a.b == 1 | (not context.t) or context.t | context.t and (not context.t) | (context.zz default 4) + 1
if (context.t) 1 else 'x' | if (context.a.b > 1) 'a' else if (context.t) 'b' else 'c' | (if (context.t) 1 else 2) + 5
[1, context.a.b, 'x', null] | {a: 1} | {a: context.a, 'd-e': [context.list]} | {a: {b: {}}} | [[]] | {a: null}
1 == 1 or 2 == 3 and false | (1 == 1 or 2 == 3) and false | 'a' ++ 'b' ++ context.s | ((1)) | 1 + 2 + 3 - 4 | 2 * 3 * 4
"""
LEFT_TO_THE_RUNTIME = r"""
context.s.x | context.t.x | context.whole.x | context.date.year | context.s[0] | context.a[0] | context.default
context.type | context.a.'d-e' | context.a."b" | context["a"] | context.list[-1] | context.a.b? | context..b
'a\nb' | "a\tb\"c" | 'a\\b' | 'x$(1 + 1)y' | 'a\$b' | '\u0041' | 01 | 1e3 | .5 | +1 | context.a!=1 | context.a-b
context.s < 'b' | context.s > 3 | context.zz > 3 | context.a == {} | context.empty == [] | context.list == context.list
context. | context.a . b | contextt | 1234567890.1234567 | 12345678901234567890 | context.zz + 1 | context.s + 1
context._x | "a | 'a" | nothing == null | context.a + 1 | 1 / 2 | 'a' ++ 1 | [1] ++ [2] | {a: 1} ++ {b: 2}
{a: 1, a: 2} | not context.zz | not context.t and context.t | not context.zz default true | not(context.t)
1 + context.zz default 2 | context.zz default 1 == 1 | false or context.zz default true
context.zz and true | false and context.zz | 'true' and true | if (context.zz) 1 else 2 | if (true) 1 else context.s.x
true or 1 | context.zz default context.s.x | {a: 1}.a | [1][0] | (context).a | -context.a.b | {default: 1} | {_x: 1}
context.tenth+1 | context.a.b*2 | context.s++'x' | context.huge * 2 | context.long + 1 | 1 == 1 == true | 1 < 2 < 3
context.a.b default 1 + 1 | context.count + 1 | sizeOf(context.s) | context.a.b // why | context.a.b as String
"""


def _expressions(table: str) -> list[str]:
    return [expr.strip() for line in table.strip().splitlines() for expr in line.split(" | ")]


def _same(expr: str, here: Any, theirs: Any) -> None:
    assert not (isinstance(theirs, str) and theirs.startswith("EXPRESSION_")), f"{expr}: {here!r} here, {theirs} there"
    assert orjson.dumps(here) == orjson.dumps(theirs), f"{expr}: {here!r} here, {theirs!r} there"


def test_the_table_of_what_is_answered_here(spoken: Spoken) -> None:
    table = _expressions(ANSWERED)
    for expr, theirs in zip(table, spoken.all("dataweave", *((expr, CONTEXT) for expr in table)), strict=True):
        here = evaluate_certain(expr, {"context": CONTEXT, "payload": None})
        assert here is not NOT_PLAIN, expr
        _same(expr, here, theirs)


@pytest.mark.parametrize("expr", _expressions(LEFT_TO_THE_RUNTIME))
def test_what_dataweave_has_its_own_ways_with_is_left_to_it(expr: str) -> None:
    assert evaluate_certain(expr, {"context": CONTEXT, "payload": None}) is NOT_PLAIN


names = st.sampled_from(["a", "b", "x", "default", "is", "n1"])
numbers = st.one_of(
    st.integers(-(1 << 63), (1 << 64) - 1), st.floats(allow_nan=False, allow_infinity=False), st.integers(-3, 3)
)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
scalars = st.one_of(st.none(), st.booleans(), numbers, texts, st.just("1"), st.just("true"))
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(names, inner, max_size=4)),
    max_leaves=8,
)
paths = st.lists(st.one_of(names.map(lambda n: f".{n}"), st.integers(0, 3).map(lambda i: f"[{i}]")), max_size=3).map(
    lambda steps: "context" + "".join(steps)
)
literals = st.one_of(
    st.sampled_from(["null", "true", "false", "[]", "{}", "''", '"1"', "'é\"'", r"'a\n'", "'$x'"]),
    st.integers(-(10**15), 10**15).map(str),
    st.decimals(-1000, 1000, places=3).map(lambda number: f"{number:f}"),
)
operators = st.sampled_from(["==", "!=", "<", "<=", ">", ">="])
terms = st.one_of(paths, literals)


def _composed(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """What can be made of expressions, with and without parentheses."""
    part = st.one_of(inner, inner.map(lambda one: f"({one})"))
    between = st.sampled_from([*" + | - | * | ++ | and | or | default ".split("|"), " == ", " < "])
    return st.one_of(
        st.lists(part, min_size=2, max_size=4).flatmap(
            lambda parts: st.tuples(*[between] * (len(parts) - 1)).map(
                lambda signs: parts[0] + "".join(sign + part for sign, part in zip(signs, parts[1:], strict=True))
            )
        ),
        part.map(lambda one: f"not {one}"),
        st.tuples(part, part, part).map(lambda three: f"if ({three[0]}) {three[1]} else {three[2]}"),
        st.lists(part, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
        st.tuples(names, part).map(lambda field: f"{{{field[0]}: {field[1]}, 'q': {field[1]}}}"),
    )


expressions = st.one_of(
    terms, st.tuples(terms, operators, terms).map(" ".join), st.recursive(terms, _composed, max_leaves=5)
)


@settings(max_examples=15, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(st.lists(st.tuples(expressions, st.dictionaries(names, values, max_size=4)), min_size=20, max_size=40))
def test_plain_is_what_the_runtime_says(spoken: Spoken, requests: list[tuple[str, Any]]) -> None:
    answered = [
        (expr, context, here)
        for expr, context in requests
        if (here := evaluate_certain(expr, {"context": context, "payload": None})) is not NOT_PLAIN
    ]
    theirs = spoken.all("dataweave", *((expr, context) for expr, context, _ in answered))
    for (expr, context, here), runtime in zip(answered, theirs, strict=True):
        _same(f"{expr} over {context!r}", here, runtime)
