"""A slow expression costs only itself: others wait for a slice of time, not for its deadline."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Iterator, Sequence
from functools import partial

import pytest

from ostinato.journeys.expressions.contract import Evaluation, Failure, Value
from ostinato.journeys.expressions.languages import SandboxedLanguage
from ostinato.journeys.expressions.settings import ExpressionSettings
from ostinato.journeys.language import Expression
from ostinato.journeys.runtime.perform_effects import Evaluator

DEADLINE_S = 30.0
HOG = {
    "jq": "reduce range(1e12) as $i ({n}; . + 1)",
    "jsonata": "($f := function($x) {{ $f($x) }}; $f({n}))",
    "dataweave": "(1 to 100000000000) reduce ((i, sum = {n}) -> sum + i)",
}
INNOCENT = {"jq": ".context.n * 2 + {n}", "jsonata": "context.n * 2 + {n}", "dataweave": "context.n * 2 + {n}"}


@pytest.fixture(params=["jq", "jsonata", "dataweave"])
def language(request: pytest.FixtureRequest) -> Iterator[SandboxedLanguage]:
    sandboxed = SandboxedLanguage(request.param, request.param, settings=ExpressionSettings(patience_s=1))
    yield sandboxed
    sandboxed.close()


def _asked(language: SandboxedLanguage, table: dict[str, str], n: int, deadline_s: float = DEADLINE_S) -> Evaluation:
    return Evaluation(table[language.name].format(n=n), {"context": {"n": 20}}, deadline_s)


async def _answers(language: SandboxedLanguage, asked: Sequence[Evaluation], wanted: int) -> tuple[list[object], float]:
    """Submit all together; the answers of the last `wanted`, and how long those took. The others are given up."""
    loop = asyncio.get_running_loop()
    futures = [loop.create_future() for _ in asked]
    begin = time.monotonic()
    language.submit(list(zip(asked, futures, strict=True)))
    answers = await asyncio.gather(*futures[-wanted:])
    took = time.monotonic() - begin
    for future in futures:
        future.cancel()
    await asyncio.to_thread(language.close)
    return answers, took


@pytest.mark.parametrize("different", [False, True], ids=["ten alike", "ten different"])
def test_ten_hogs_and_an_innocent_at_once(language: SandboxedLanguage, different: bool) -> None:
    hogs = [_asked(language, HOG, n if different else 0) for n in range(10)]
    answers, took = asyncio.run(_answers(language, [*hogs, _asked(language, INNOCENT, 2)], 1))
    assert answers == [Value(42)]
    assert took < DEADLINE_S


def test_a_hog_in_the_middle_of_a_batch_holds_up_nobody(language: SandboxedLanguage) -> None:
    before, after = ([_asked(language, INNOCENT, n) for n in range(begin, begin + 20)] for begin in (0, 20))
    answers, took = asyncio.run(_answers(language, [*before, _asked(language, HOG, 0), *after], 20))
    assert answers == [Value(40 + n) for n in range(20, 40)]
    assert took < DEADLINE_S


def test_a_hog_has_its_whole_deadline_and_no_more(language: SandboxedLanguage) -> None:
    begin = time.monotonic()
    asked = [_asked(language, HOG, 0, 1.0), _asked(language, INNOCENT, 2), _asked(language, HOG, 1, 1.0)]
    first, innocent, last = asyncio.run(language.evaluate(asked))
    assert innocent == Value(42)
    assert [getattr(one, "code", one) for one in (first, last)] == ["EXPRESSION_TIMEOUT"] * 2
    assert time.monotonic() - begin >= 1.0


def test_a_hog_that_others_with_its_expression_are_not(language: SandboxedLanguage) -> None:
    """An expression that is slow with one context is tried with the others all the same."""
    exprs = {
        "jq": "reduce range(.context) as $i (0; . + 1)",
        "jsonata": "($f := function($x) { $x = 0 ? 0 : $f($x - 1) }; $f(context))",
        "dataweave": "(1 to context) reduce ((i, sum = 0) -> sum + 1)",
    }
    expr = exprs[language.name]
    hogs = [Evaluation(expr, {"context": 1e11}, DEADLINE_S)] * 5
    last = {"jsonata": 0}.get(language.name, 3)
    answers, took = asyncio.run(_answers(language, [*hogs, Evaluation(expr, {"context": 3}, DEADLINE_S)], 1))
    assert answers == [Value(last)]
    assert took < DEADLINE_S


def test_quick_expressions_do_not_wait_for_many_hogs_of_all_kinds() -> None:
    language = SandboxedLanguage("jq", "jq", settings=ExpressionSettings(patience_s=1))

    async def main() -> float:
        quick = _asked(language, INNOCENT, 2)
        assert await language.evaluate([quick]) == [Value(42)]
        answers, took = await _answers(language, [*(_asked(language, HOG, n) for n in range(100)), quick], 1)
        assert answers == [Value(42)]
        return took

    assert asyncio.run(main()) < DEADLINE_S


def test_a_worker_that_dies_in_the_middle_of_a_batch(language: SandboxedLanguage) -> None:
    """Its batch is done by another one, and nobody is blamed."""

    async def main() -> list[Value | Failure]:
        assert await language.evaluate([_asked(language, INNOCENT, 0)]) == [Value(40)]
        (pid,) = language.pool.pids()
        os.kill(pid, signal.SIGSTOP)
        task = asyncio.create_task(language.evaluate([_asked(language, INNOCENT, n) for n in range(50)]))
        while not language.pool.busy:
            await asyncio.sleep(0)
        os.kill(pid, signal.SIGKILL)
        return await task

    assert asyncio.run(main()) == [Value(40 + n) for n in range(50)]


def _append(to: list[str], name: str, _: object) -> None:
    to.append(name)


def test_the_worker_is_idle_when_its_last_answer_arrives(language: SandboxedLanguage) -> None:
    async def main() -> None:
        for n in range(20):
            assert await language.evaluate([_asked(language, INNOCENT, n)]) == [Value(40 + n)]
            assert language.pool.busy == 0

    for _ in range(3):
        asyncio.run(main())  # another event loop has another queue, and would start another worker
    assert len(language.pool.pids()) == 1


def test_every_answer_leaves_when_it_comes() -> None:
    """A slow one that is no hog ends by itself, after those that were asked with it."""
    language = SandboxedLanguage("jq", "jq", settings=ExpressionSettings())

    async def main() -> list[str]:
        loop = asyncio.get_running_loop()
        exprs = {"slow": "reduce range(1e6) as $i (0; . + 1)", "quick": "1", "other": "2"}
        done: list[str] = []
        asked = [(Evaluation(expr, {}, 60.0), loop.create_future()) for expr in exprs.values()]
        for name, (_, future) in zip(exprs, asked, strict=True):
            future.add_done_callback(partial(_append, done, name))
        language.submit(asked)
        assert await asyncio.gather(*(future for _, future in asked)) == [Value(1_000_000), Value(1), Value(2)]
        return done

    try:
        assert asyncio.run(main())[-1] == "slow"
    finally:
        language.close()


def test_callers_who_ask_at_the_same_moment_do_not_wait_for_each_other() -> None:
    """Expressions of many instances are asked for together; each goes on with its own answer."""
    language = SandboxedLanguage("jq", "jq", settings=ExpressionSettings(patience_s=1))
    evaluator = Evaluator({"jq": language})

    async def main() -> None:
        hogs = [
            asyncio.create_task(evaluator.evaluate([Expression("jq", HOG["jq"].format(n=n), ())], {"context": {}}))
            for n in range(3)
        ]
        innocent = [Expression("jq", ".context.n + 1", ()), Expression("jq", ".context.n + 2", ())]
        assert await evaluator.evaluate(innocent, {"context": {"n": 1}}) == (Value(2), Value(3))
        assert not any(hog.done() for hog in hogs)
        for hog in hogs:
            hog.cancel()
        await asyncio.gather(*hogs, return_exceptions=True)
        await asyncio.to_thread(language.close)

    asyncio.run(main())
