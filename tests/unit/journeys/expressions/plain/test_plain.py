"""`lang: plain`: what it says, what it refuses and in which words, and that it is DataWeave."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ostinato.journeys.expressions.contract import Evaluation, Failure, Value
from ostinato.journeys.expressions.languages import PlainLanguage
from ostinato.journeys.expressions.settings import ExpressionSettings
from tests.unit.journeys.expressions.conftest import Spoken

CONTEXT: dict[str, Any] = {
    "n": 3,
    "z": None,
    "t": True,
    "s": "ab",
    "l": [1, 2],
    "o": {"a": 1},
    "x": 0.1,
    "items": [{"p": 1.5}, {"q": 2}, {"p": 2}],
    "type": "odd",
    "a-b": 7,
    "day": "2026-03-01",
}
PLAIN = PlainLanguage(ExpressionSettings())
SAID: list[tuple[str, Any]] = [
    ("context.n > 2 and context.t", True),
    ("context.z.y.x == null", True),
    ("context.items.p", [1.5, 2]),
    ("context.items[0].p", 1.5),
    ("context.l[-1]", 2),
    ("context.l[9]", None),
    ("-context.n", -3),
    ("context.n + 1 * 2", 5),
    ("10 / 4", 2.5),
    ("10 / 3", 3.3333333333333335),
    ("0.1 + 0.2", 0.3),
    ("1e3", 1000),
    ("(context.z default 'x') ++ '!'", "x!"),
    ('"PT" ++ context.n ++ "S"', "PT3S"),
    ("'a' ++ 2.0", "a2"),
    ("'a' ++ true", "atrue"),
    ("[1] ++ context.l", [1, 1, 2]),
    ("{a: 1} ++ {b: context.n}", {"a": 1, "b": 3}),
    ("if (context.n > 2) 'yes' else 'no'", "yes"),
    ("if (context.n > 5) 1 else if (context.t) 2 else 3", 2),
    ("{to: context.s, 'at-last': [context.n, null]}", {"to": "ab", "at-last": [3, None]}),
    ('context."a-b"', 7),
    ("context['a-b']", 7),
    ("(context.o).a", 1),
    ("{a: {b: 5}}.a.b", 5),
    ("context.l == [1, 2]", True),
    ("context.day < '2026-04'", True),
    ("'it\\'s \\$5\\n\\u00e9'", "it's $5\né"),
    ("not context.t", False),
    ("(not context.t) or context.n == 3", True),
    ("sizeOf(context.l) == 2", True),
    ("isEmpty(context.z)", True),
    ("context.n // a comment", 3),
    ("context.n.x", None),
    ("false and context.z", False),
    ("100000000000000001 + 1", 100000000000000002),
]


def _one(expr: str, context: Any = CONTEXT) -> Any:
    (answer,) = asyncio.run(PLAIN.evaluate([Evaluation(expr, {"context": context, "payload": None}, 5.0)]))
    return answer


@pytest.mark.parametrize(("expr", "value"), SAID)
def test_what_is_said(expr: str, value: Any) -> None:
    assert PLAIN.check(expr) is None
    assert _one(expr) == Value(value)


def test_it_is_dataweave(spoken: Spoken) -> None:
    """Whoever outgrows it changes the word after `lang` and nothing else."""
    assert spoken.all("dataweave", *((expr, CONTEXT) for expr, _ in SAID)) == [value for _, value in SAID]


@pytest.mark.parametrize(
    ("expr", "value"),
    [
        ("context.type", "odd"),
        ("({a: 1} ++ {a: 2}).a", 2),
        ("{a: 1, b: 2} == {b: 2, a: 1}", True),
        ("context.n>=3", True),
        ("not(context.t)", False),
        ("{type: 1}", {"type": 1}),
        ("output", None),
    ],
)
def test_where_it_is_kinder_than_dataweave(expr: str, value: Any) -> None:
    assert PLAIN.check(expr) is None
    assert _one(expr) == Value(value)


WRONG = [
    ("", "the expression is empty"),
    ("contxt.n", "line 1, column 1: there is no 'contxt' here; did you mean 'context'?"),
    ("checks.done", "there is no 'checks' here; a field of the context is context.checks"),
    (".context.n", "begin with a name: context.a; if this is jq, say `lang: jq`"),
    ("$context.n", "names have no $"),
    ("context.a === 1", "line 1, column 13: ="),
    ("context.a = 1", "compare with =="),
    ("context.a && true", "line 1, column 11: && is not known here; write `and`"),
    ("context.a || true", "write `or`"),
    ("!context.a", "write `not`"),
    ("context.a ? 1 : 2", "if (condition) a else b"),
    ("context.a ?? 1", "`a default b`"),
    ("context.a-b", "put spaces around `-`"),
    ("context.", "line 1, column 9: a field is missing after the dot"),
    ("context.a +", "line 1, column 12: something is missing at the end"),
    ("(context.a", "line 1, column 11: here should be )"),
    ("{a: 1, a: 2}", "the field 'a' is there twice"),
    ("{a 1}", "here should be :, and not 1"),
    ("[1 2]", "here should be ,, and not 2"),
    ("context.l[a]", "an index is a whole number"),
    ("'abc", "a text is not closed"),
    ("'a $(context.n)'", r"line 1, column 4: a $ in a text is written \$; to put a value into a text, use ++"),
    ("'\\q'", r"line 1, column 2: there is no escape \q in a text"),
    ("if context.a 1 else 2", "the condition of `if` must be in parentheses"),
    ("if (context.t) 1", "`if` has an `else`"),
    ("if (context.t) then 1 else 2", "there is no 'then' here"),
    ("1 + if (context.t) 1 else 2", "`if` beside other operators needs parentheses"),
    ("not context.t and context.t", "with `not` before it this needs parentheses"),
    ("context.z default 1 == 1", "line 1, column 21: beside other operators, put `a default b` into parentheses"),
    ("1 + context.z default 2", "put `a default b` into parentheses"),
    ("1 < 2 < 3", "one comparison beside another needs parentheses"),
    ("1 + 2 ++ 'a'", "`++` beside + or - needs parentheses"),
    ("context.l contains 1", "there is no 'contains'; dataweave, jq and jsonata have more"),
    ("context.l map $", "names have no $"),
    ("upper(context.s)", "there is no function upper; there are sizeOf and isEmpty only"),
    ("sizeof(context.s)", "did you mean 'sizeOf'?"),
    ("context.n 5", "5 is not allowed here; an operator is missing before it"),
    ("a: 1", "there is no 'a' here"),
    ("context.a: 1", "an object is written in braces"),
    ("007", "a number does not begin with 0"),
    ("(" * 50 + "1" + ")" * 50, "it nests more than 40 deep"),
    ("context.a\n  + =", "line 2, column 5"),
]


@pytest.mark.parametrize(("expr", "words"), WRONG)
def test_what_is_wrong_is_told_with_its_place_and_what_would_be_right(expr: str, words: str) -> None:
    problem = PLAIN.check(expr)
    assert problem is not None
    assert words in problem
    assert "?." not in problem
    assert expr == "" or problem.startswith("line ")
    assert isinstance(_one(expr), Failure)


@pytest.mark.parametrize(
    ("expr", "words"),
    [
        ("context.s > 3", "line 1, column 11: `>` compares two numbers or two texts, and not a text with a number"),
        ("context.z > 3", "and not null with a number"),
        ("context.s + 1", "`+` takes two numbers, and not a text and a number; texts are joined with ++"),
        ("context.z ++ 'a'", "`++` joins two texts, two lists or two objects, and not null and a text"),
        ("context.z and true", "`and` takes true or false, and not null; `(a default false)` makes null false"),
        ("if (context.n) 1 else 2", "`if` takes true or false, and not a number"),
        ("context.s.x", "line 1, column 10: a text has no fields and no items"),
        ("context.o[0]", "an object has no items"),
        ("1 / 0", "a division by zero"),
        ("sizeOf(context.n)", "sizeOf takes a text, a list or an object"),
    ],
)
def test_what_cannot_be_computed_fails_with_its_place_and_no_value(expr: str, words: str) -> None:
    failure = _one(expr)
    assert isinstance(failure, Failure)
    assert failure.code == "EXPRESSION_ERROR"
    assert words in failure.message


@pytest.mark.parametrize(
    ("expr", "code"),
    [
        ("99999999999999999999 + 1", "EXPRESSION_RESULT_INVALID"),
        ("[" + ", ".join(["context.s"] * 3000) + "]", "EXPRESSION_TOO_LARGE"),
        (" ++ ".join(["context.s"] * 200), "EXPRESSION_TOO_LARGE"),
        (" ++ ".join(["context.s"] * 3000), "EXPRESSION_ERROR"),
        (" and ".join(["context.l == context.l"] * 200), "EXPRESSION_TOO_LARGE"),
        ("[" + ", ".join(["context.l.a"] * 3000) + "]", "EXPRESSION_TOO_LARGE"),
        ("context.n" + " " * 70_000, "EXPRESSION_TOO_LARGE"),
        ("1" * 301, "EXPRESSION_ERROR"),
    ],
)
@pytest.mark.timeout(20)
def test_no_expression_takes_long_or_much(expr: str, code: str) -> None:
    failure = _one(expr, {"s": "x" * 100_000, "l": list(range(10_000)), "n": 1})
    assert isinstance(failure, Failure)
    assert failure.code == code
