"""What is answered without the runtime is what the runtime says."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from ostinato.journeys.expressions.plain import NOT_PLAIN, plain
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
"""
LEFT_TO_THE_RUNTIME = r"""
context.s.x | context.t.x | context.whole.x | context.date.year | context.s[0] | context.a[0] | context.default
context.type | context.a.'d-e' | context.a."b" | context["a"] | context.list[-1] | context.a.b? | context..b
'a\nb' | "a\tb\"c" | 'a\\b' | 'x$(1 + 1)y' | 'a\$b' | '\u0041' | 01 | 1e3 | .5 | +1 | context.a!=1 | context.a-b
context.s < 'b' | context.s > 3 | context.zz > 3 | context.a == {} | context.empty == [] | context.list == context.list
context. | context.a . b | contextt | context.a.b + 1 | context.s ++ 'x' | 1234567890.1234567 | 12345678901234567890
context._x | context.a == 1 and true | "a | 'a" | nothing == null
"""


def _expressions(table: str) -> list[str]:
    return [expr.strip() for line in table.strip().splitlines() for expr in line.split(" | ")]


def _same(expr: str, here: Any, there: Any) -> None:
    assert not (isinstance(there, str) and there.startswith("EXPRESSION_")), f"{expr}: {here!r} here, {there} there"
    assert orjson.dumps(here) == orjson.dumps(there), f"{expr}: {here!r} here, {there!r} there"


def test_the_table_of_what_is_answered_here(spoken: Spoken) -> None:
    table = _expressions(ANSWERED)
    for expr, there in zip(table, spoken.all("dataweave", *((expr, CONTEXT) for expr in table)), strict=True):
        here = plain(expr, {"context": CONTEXT, "payload": None})
        assert here is not NOT_PLAIN, expr
        _same(expr, here, there)


@pytest.mark.parametrize("expr", _expressions(LEFT_TO_THE_RUNTIME))
def test_what_dataweave_has_its_own_ways_with_is_left_to_it(expr: str) -> None:
    assert plain(expr, {"context": CONTEXT, "payload": None}) is NOT_PLAIN


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
expressions = st.one_of(terms, st.tuples(terms, operators, terms).map(" ".join))


@settings(max_examples=15, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(st.lists(st.tuples(expressions, st.dictionaries(names, values, max_size=4)), min_size=20, max_size=40))
def test_plain_is_what_the_runtime_says(spoken: Spoken, requests: list[tuple[str, Any]]) -> None:
    answered = [
        (expr, context, here)
        for expr, context in requests
        if (here := plain(expr, {"context": context, "payload": None})) is not NOT_PLAIN
    ]
    there = spoken.all("dataweave", *((expr, context) for expr, context, _ in answered))
    for (expr, context, here), runtime in zip(answered, there, strict=True):
        _same(f"{expr} over {context!r}", here, runtime)
