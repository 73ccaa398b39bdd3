"""What the languages say, what they refuse, and in which words."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ostinato.errors import OstinatoError
from ostinato.journeys.expressions.contract import BINDINGS, Evaluation, Failure, Value
from ostinato.journeys.expressions.languages import SandboxedLanguage, languages
from ostinato.journeys.expressions.process import Process
from ostinato.journeys.expressions.settings import ExpressionSettings
from ostinato.testing.virtual_time import run_virtual
from tests.unit.journeys.expressions.conftest import Spoken

CONTEXT: dict[str, Any] = {
    "n": 30,
    "f": 30.0,
    "s": "ab",
    "items": [{"p": 1.5, "q": 2}, {"p": 2.5, "q": 4}],
    "auth": {"ok": True},
    "none": None,
}
SAID: dict[str, list[tuple[str, Any]]] = {
    "dataweave": [
        ("context.auth.apiKey.problem == null", True),
        ("{id: context.s, total: context.items reduce ((i, sum = 0) -> sum + i.p * i.q)}", {"id": "ab", "total": 13}),
        ("context.items map $.p", [1.5, 2.5]),
        ("context.items.p", [1.5, 2.5]),
        ("{a: 1, b: 1} ++ {a: 2}", {"a": 2, "b": 1}),
        ("(context.f * 24) as String", "720"),
        ('"PT" ++ context.f ++ "S"', "PT30S"),
        ("context.none default 'x'", "x"),
        ("if (context.n > 2 and context.auth.ok) 'yes' else 'no'", "yes"),
        ("do { var x = context.n --- x + 1 }", 31),
        ("%dw 2.0\noutput application/json\n---\n{a: 1}", {"a": 1}),
        ("import some from dw::core::Arrays\n---\ncontext.items some ((i) -> i.q == 4)", True),
        ("'2026-01-31T10:00:00Z' as DateTime + |P1M|", "2026-02-28T10:00:00Z"),
        ("sizeOf(uuid())", 36),
        ("uuid() != uuid() and random() < 1", True),
        ("|2026-01-31| as String {format: 'EEEE d. MMMM', locale: 'de'}", "Samstag 31. Januar"),
        ("('2026-07-01T12:00:00Z' as DateTime) >> 'Europe/Berlin'", "2026-07-01T14:00:00+02:00"),
        ("read('<a><b>1</b></a>', 'application/xml').a.b", "1"),
        ("dw::core::Binaries::toHex(dw::Crypto::hashWith('a' as Binary, 'SHA-256'))[0 to 7]", "CA978112"),
        ("10 / 4", 2.5),
        ("10 / 5", 2),
        ("1e3", 1000),
        ("0.1 + 0.2", 0.3),
        ("'x$(context.n)y'", "x30y"),
        ("payload.x", None),
        ("context.n // a comment at the end", 30),
    ],
    "jq": [
        (".context.n + 1", 31),
        ("$context.n + 1", 31),
        ("[.context.items[].p]", [1.5, 2.5]),
        (".context.missing.deeper", None),
        (".payload == null", True),
        ("def f(x): x * 2; f(.context.n)", 60),
        (".context.n # a comment at the end", 30),
        ("$ENV", {}),
        ('0 | strflocaltime("%A %H %Z")', "Thursday 00 UTC"),
        ('"abc" | test("B"; "i")', True),
    ],
    "jsonata": [
        ("context.n + 1", 31),
        ("$context.n + 1", 31),
        ("$sum(context.items.(p * q))", 13),
        ("context.missing.deeper", None),
        ("context.items[q = 4].p", 2.5),
        ("context.n > 2 ? 'yes' : 'no'", "yes"),
        ("($x := context.n; $x * 2)", 60),
        ("$fromMillis(0, '[FNn] [D1o] [MNn]')", "Thursday 1st January"),
        ("$count($shuffle([1, 2])) + $count($match('abab', /a/))", 4),
    ],
}


@pytest.mark.parametrize("name", SAID)
def test_what_is_said(spoken: Spoken, name: str) -> None:
    assert spoken.all(name, *((expr, CONTEXT) for expr, _ in SAID[name])) == [value for _, value in SAID[name]]
    assert [spoken[name].check(expr) for expr, _ in SAID[name]] == [None] * len(SAID[name])


NOT_DATAWEAVE = [
    ("context.a === 1", "compares with =="),
    ("context.a = 1", "compares with =="),
    ("context.a && context.b", "`and`"),
    ("context.a || context.b", "`or`"),
    ("context.a ? 1 : 2", "if (condition) a else b"),
    ("if (context.a == 1) then 1 else 2", "no `then`"),
    ("if context.a 1 else 2", "parentheses"),
    ("context.x default: 500", "no colon"),
    ("context.x ?? 1", "a default b"),
    ("do { var x = 1 x }", "`---`"),
    ("context.l orderBy ((a, b) -> a <=> b)", "orderBy $.field"),
    ("context.l any ((x) -> x)", "`some`"),
    ("context.l.map(x => x)", "(x) -> …"),
    ("lambda x: x", "(x) -> …"),
    ("None", "`null`"),
    ("len(context.a)", "sizeOf"),
    ("'a' in context.l", "contains"),
    (".context.a | .b", "lang: jq"),
    ("$context.a", "no $"),
    ("$x := 1", "lang: jsonata"),
    ("durationBetween(context.a, context.b)", "subtracted"),
    ("checks.done == true", "`context.checks`"),
    ("output.status", "the binding is `result`"),
    ("{output: 1}", 'as a field it is quoted, `"output": …`'),
    ("context.default", "`default` is a word of DataWeave: as a field it is quoted"),
    ("context.api.error.type == 'TIMEOUT'", '`type` is a word of DataWeave: as a field it is quoted, `."type"`'),
    ("context.risk.output", 'as a field it is quoted, `."output"`'),
    ("contxt.n", "Did you mean 'context'?"),
    ('context.roles contains "admin" and context.ok', "put it into parentheses, `(a contains b) and c`"),
    ("context.", "line 1, column 9"),
    ("{a: 1,\n b: ", "line 2"),
    ("import lines from my::own\n---\n1", "my::own"),
    ("", "empty"),
]


@pytest.mark.parametrize(("expr", "words"), NOT_DATAWEAVE)
def test_what_is_not_dataweave_is_refused_with_what_would_be_right(spoken: Spoken, expr: str, words: str) -> None:
    dataweave = languages()["dataweave"]
    assert isinstance(dataweave, SandboxedLanguage)
    dataweave.pool = spoken["dataweave"].pool
    problem = dataweave.check(expr)
    assert problem is not None
    assert words in problem
    assert expr == "" or problem.startswith("line ")


@pytest.mark.parametrize("now", [None, 1_700_000_000_000_000])
@pytest.mark.parametrize(
    ("expr", "place"),
    [
        ("context as Number", "line 1, column 1: "),
        ("{a: 1,\n b: context as Number}", "line 2, column 5: "),
        ("%dw 2.0\n---\n context as Number", "line 3, column 2: "),
        ("%dw 2.0\nvar a = context as Number\n---\na", "line 2, column 9: "),
        ("%dw 2.0\nvar a = 1\nvar b = context as Number\n---\nb", "line 3, column 9: "),
        ("var a = now()\n---\n{a: a, b: context as Number}", "line 3, column 11: "),
        ("{a: now(), b: context as Number}", "line 1, column 15: "),
        ("%dw 2.0\nvar a = {b: now(), c: context as Number}\n---\na", "line 2, column 23: "),
    ],
)
def test_a_mistake_has_its_place_whoever_sets_the_time(spoken: Spoken, expr: str, place: str, now: int | None) -> None:
    asked = [Evaluation(expr, {"context": "x", "payload": None}, 5.0, now)]
    (answer,) = asyncio.run(spoken["dataweave"].evaluate(asked))
    assert isinstance(answer, Failure)
    assert answer.message.startswith(place)


@pytest.mark.parametrize(
    ("name", "expr", "words"),
    [
        ("dataweave", "%dw 2.0\noutput application/xml\n---\n{a: 1}", "its result is JSON, not application/xml"),
        ("dataweave", "(" * 3000 + "1" + ")" * 3000, "nested too deeply"),
        ("jq", ".context.a ===", "line 1, column 14: syntax error"),
        ("jq", "$nobody", "$nobody is not defined"),
        ("jq", "context.n", "A path begins with a dot: `.context`."),
        ("jq", "contxt.n", "Did you mean 'context', with a dot before it?"),
        ("jq", "n + 1", "a field of the context is `.context.n`"),
        ("jq", 'include "x"; 1', "cannot be imported"),
        ("jq", 'import "/etc/passwd" as $x; $x', "cannot be imported"),
        ("jq", "1) | (2", "syntax error"),
        ("jsonata", "context.a && b", "line 1, column 12: The symbol &"),
        ("jsonata", "context.a && b", "JSONata writes `and` for &&."),
        ("jsonata", "context.n == 1", "JSONata compares with =."),
        ("jsonata", ".context.n = 1", "This looks like jq; say `lang: jq`"),
        ("jsonata", "context.(", "Expected"),
    ],
)
def test_what_does_not_compile_is_refused_with_its_place(spoken: Spoken, name: str, expr: str, words: str) -> None:
    language = languages()[name]
    assert isinstance(language, SandboxedLanguage)
    language.pool = spoken[name].pool
    assert words in (language.check(expr) or "")


@pytest.mark.parametrize(
    ("name", "expr", "code"),
    [
        ("dataweave", "context.s > 3", "EXPRESSION_ERROR"),
        ("dataweave", "context.none > 3", "EXPRESSION_ERROR"),
        ("dataweave", "context.", "EXPRESSION_ERROR"),
        ("dataweave", "unknown.x", "EXPRESSION_ERROR"),
        ("dataweave", "() -> 1", "EXPRESSION_RESULT_INVALID"),
        ("dataweave", "pow(2, 100)", "EXPRESSION_RESULT_INVALID"),
        ("dataweave", "1e400", "EXPRESSION_RESULT_INVALID"),
        ("dataweave", "1 to 1000000", "EXPRESSION_TOO_LARGE"),
        ("jq", ".context.n.x", "EXPRESSION_ERROR"),
        ("jq", "error", "EXPRESSION_ERROR"),
        ("jq", "empty", "EXPRESSION_RESULT_INVALID"),
        ("jq", "1, 2", "EXPRESSION_RESULT_INVALID"),
        ("jq", "range(1e12)", "EXPRESSION_RESULT_INVALID"),
        ("jq", "halt", "EXPRESSION_RESULT_INVALID"),
        ("jq", "[range(400000)]", "EXPRESSION_TOO_LARGE"),
        ("jsonata", "context.s + 1", "EXPRESSION_ERROR"),
        ("jsonata", "1 / 0", "EXPRESSION_ERROR"),
        ("jsonata", "$error('x')", "EXPRESSION_ERROR"),
        ("jsonata", "$sum", "EXPRESSION_RESULT_INVALID"),
        ("jsonata", "/a/", "EXPRESSION_RESULT_INVALID"),
        ("jsonata", "[1..400000]", "EXPRESSION_TOO_LARGE"),
    ],
)
def test_a_failure_has_its_code(spoken: Spoken, name: str, expr: str, code: str) -> None:
    assert spoken.all(name, (expr, CONTEXT), ("1", None)) == [code, 1]


def test_results_near_the_limit(spoken: Spoken) -> None:
    """Quotes are escaped twice on their way out of DataWeave, and its runtime has a limit of its own."""
    texts = ["x" * 1_000_000, "x" * 1_100_000, '"' * 300_000, '"' * 500_000]
    whole, *beyond = spoken.all("dataweave", *((f"context ++ '{n}'", text) for n, text in enumerate(texts)))
    assert whole == texts[0] + "0"
    assert beyond == ["EXPRESSION_TOO_LARGE", texts[2] + "2", "EXPRESSION_TOO_LARGE"]


def test_messages_quote_no_values(spoken: Spoken) -> None:
    """They are kept and shown; a context holds tokens."""
    expressions = [
        ("dataweave", "context.s > 3"),
        ("dataweave", "context.s as Number"),
        ("dataweave", "context.s as DateTime"),
        ("dataweave", "context.n.x + context.s"),
        ("dataweave", "{(context.s): 1}.x.y + context.s"),
        ("jq", ".context.s + .context.n"),
        ("jq", ".context.s | tonumber"),
        ("jq", ".context.s | fromdate"),
        ("jq", "[][.context.s]"),
        ("jq", "{} | .[.context] | ltrimstr(1) | implode"),
        ("jsonata", "context.s + 1"),
        ("jsonata", "$number(context.s)"),
        ("jsonata", "$toMillis(context.s)"),
    ]
    for secret in ("4711", "hu(4711", "4711)sh", '4711" 4711', "4711' 4711", "\n\n4711", "4711" * 5000):
        for name, expr in expressions:
            failure = spoken.failure(name, expr, {"s": f"x{secret}", "n": 4711})
            assert failure.message
            assert "4711" not in failure.message, (expr, secret, failure)


def test_what_an_author_raises_is_in_the_author_s_words(spoken: Spoken) -> None:
    for name, expr in [
        ("dataweave", "dw::Runtime::fail('no lines')"),
        ("jq", 'error("no lines")'),
        ("jsonata", "$error('no lines')"),
    ]:
        assert spoken.failure(name, expr) == Failure("EXPRESSION_ERROR", "no lines")


def test_one_expression_over_many_contexts_is_what_each_alone_is(spoken: Spoken) -> None:
    """It is compiled once for all of them; those that fail do so by themselves."""
    contexts: list[Any] = [{"n": n, "l": [n, {"x": str(n)}]} for n in range(30)] + [{"n": "x"}, None, {"n": 2.5}]
    for expr in (
        "{twice: context.n * 2, l: context.l map ($ default 0)}",
        "context.n * 2 // to the end of the line",
        "%dw 2.0\n---\ncontext.n * 2",
        "context.n * 2) ++ (context.n",
        "ostinatoRows",
    ):
        together = spoken.all("dataweave", *((expr, context) for context in contexts))
        assert together == [spoken.one("dataweave", expr, context) for context in contexts]


def test_requests_of_all_kinds_in_one_batch_are_answered_in_order(spoken: Spoken) -> None:
    wanted: list[tuple[str, Any]] = [("context.n + 1", {"n": n}) for n in range(10)] + [
        (f"context.n + {n}", {"n": 1}) for n in range(30)
    ]
    wanted += [("context.", None), ("context.n + 1", {"n": "x"})]
    answers = spoken.all("dataweave", *wanted)
    assert answers[:40] == [n + 1 for n in range(10)] + [n + 1 for n in range(30)]
    assert answers[40:] == ["EXPRESSION_ERROR"] * 2


def test_what_many_ask_at_once_goes_together(spoken: Spoken, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that goes away meanwhile takes nothing from the others."""
    sizes = []
    send = Process.send

    def counted(process: Process, head: Any, requests: Any, seconds: float) -> None:
        sizes.append(len(requests))
        send(process, head, requests, seconds)

    monkeypatch.setattr(Process, "send", counted)

    async def main() -> list[Any]:
        asked = [asyncio.create_task(spoken["jq"].evaluate([Evaluation(".n", {"n": n}, 5.0)])) for n in range(100)]
        await asyncio.sleep(0)
        asked[50].cancel()
        return await asyncio.gather(*asked, return_exceptions=True)

    answers = asyncio.run(main())
    assert isinstance(answers.pop(50), asyncio.CancelledError)
    assert answers == [[Value(n)] for n in range(100) if n != 50]
    assert len(sizes) <= 10


def test_what_is_too_large_is_not_sent() -> None:
    language = SandboxedLanguage(
        "jq", "jq", settings=ExpressionSettings(max_expression_bytes=100, max_bindings_bytes=500)
    )
    asked = [
        Evaluation("1" * 101, {}, 1.0),
        Evaluation("é" * 51, {}, 1.0),
        Evaluation("1", {"context": "x" * 500}, 1.0),
        Evaluation("1", {"context": {1, 2}}, 1.0),
        Evaluation("1", {"context": 1 << 70}, 1.0),
        Evaluation("1", {}, 0.0),
        Evaluation("1", {}, float("nan")),
    ]
    answers = asyncio.run(language.evaluate(asked))
    codes = [answer.code for answer in answers if isinstance(answer, Failure)]
    assert codes == ["EXPRESSION_TOO_LARGE"] * 3 + ["EXPRESSION_ERROR"] * 2 + ["EXPRESSION_TIMEOUT"] * 2
    assert "maximum is 100" in (language.check("1" * 101) or "")
    assert language.pool.pids() == []


def test_settings_that_cannot_be_meant_are_refused() -> None:
    with pytest.raises(OstinatoError, match="workers = 0 is not from 1 to 64"):
        ExpressionSettings(workers=0)


def test_a_language_that_is_not_installed_names_its_extra() -> None:
    language = SandboxedLanguage("dataweave", "no_such_module", settings=ExpressionSettings())
    assert "in a clone of Ostinato, run pip install '.[dataweave]'" in (language.check("1 + 1") or "")
    (answer,) = asyncio.run(language.evaluate([Evaluation("1 + 1", {}, 1.0)]))
    assert isinstance(answer, Failure)
    assert answer.code == "EXPRESSION_UNAVAILABLE"
    assert "'.[dataweave]'" in answer.message


def test_a_process_that_does_not_come_up_says_why() -> None:
    language = SandboxedLanguage("cobol", "json", settings=ExpressionSettings())
    assert "there is no language 'cobol'" in (language.check("1 + 1") or "")


def test_the_languages_there_are() -> None:
    by_name = languages()
    names = ("plain", "dataweave", "jq", "jsonata")
    assert {name: language.name for name, language in by_name.items()} == {name: name for name in names}
    (answer,) = asyncio.run(by_name["dataweave"].evaluate([Evaluation("context.a", {"context": {"a": 1}}, 1.0)]))
    assert answer == Value(1)
    assert all(one.pool.pids() == [] for one in by_name.values() if isinstance(one, SandboxedLanguage))


def test_every_binding_can_be_read_in_every_language(spoken: Spoken) -> None:
    bindings = {name: {"of": name} for name in BINDINGS}
    for name, language in languages().items():
        if isinstance(language, SandboxedLanguage):
            language.pool = spoken[name].pool
        for binding in BINDINGS:
            called = "result" if (name, binding) == ("dataweave", "output") else binding
            exprs = {"jq": [f".{called}.of", f"${called}.of"], "jsonata": [f"{called}.of", f"${called}.of"]}
            for expr in exprs.get(name, [f"{called}.of", f"{called}.of ++ ''"]):
                assert language.check(expr) is None
                assert asyncio.run(language.evaluate([Evaluation(expr, bindings, 5.0)])) == [Value(binding)]


def test_virtual_time_stands_still_meanwhile(spoken: Spoken) -> None:
    async def main() -> tuple[float, list[Value | Failure]]:
        begin = asyncio.get_running_loop().time()
        answers = await spoken["jq"].evaluate([Evaluation(".context", {"context": 7}, 5.0)])
        return asyncio.get_running_loop().time() - begin, answers

    assert run_virtual(main()) == (0, [Value(7)])
