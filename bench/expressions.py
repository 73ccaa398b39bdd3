"""Expressions per second: by language, one at a time, in batches, by many callers, and those that need no runtime.

What a batch buys depends on what is in it: different expressions share a script, the same expression over many
contexts is compiled once.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path

from bench.measure import Round, interleaved, machine, show
from ostinato.journeys.expressions.contract import Evaluation, Failure
from ostinato.journeys.expressions.languages import SandboxedLanguage, languages

CONTEXT = {"x": "q", "n": 1, "items": [1, 2, 3], "customer": {"id": "c-1", "tier": "gold"}}
OBJECT = {
    "dataweave": "{a: context.x ++ 'z', n: context.n + 1, l: context.items map ($ * 2)}",
    "jq": '{a: (.context.x + "z"), n: (.context.n + 1), l: [.context.items[] | . * 2]}',
    "jsonata": "{'a': context.x & 'z', 'n': context.n + 1, 'l': context.items.($ * 2)}",
}
PLAIN = {"a path": "context.customer.id", "a comparison": "context.customer.tier == 'gold'", "a literal": "'PT5M'"}
BATCH = 100


def _requests(expr: str, count: int, different: bool = False) -> list[Evaluation]:
    bindings = {"context": CONTEXT, "payload": None}
    return [Evaluation(expr + " " * (place if different else 0), bindings, 5.0) for place in range(count)]


def _round(runner: asyncio.Runner, language: SandboxedLanguage, requests: Sequence[Evaluation], times: int) -> Round:
    async def several() -> int:
        for _ in range(times):
            answers = await language.evaluate(requests)
            assert not any(isinstance(answer, Failure) for answer in answers), answers
        return times * len(requests)

    return lambda: runner.run(several())


def _callers(runner: asyncio.Runner, language: SandboxedLanguage, requests: Sequence[Evaluation]) -> Round:
    """Many at once, each with one request: what comes while the workers are busy goes together."""

    async def several() -> int:
        answers = await asyncio.gather(*(language.evaluate([request]) for request in requests))
        assert not any(isinstance(answer, Failure) for (answer,) in answers), answers
        return len(requests)

    return lambda: runner.run(several())


def _memory(pid: int) -> str:
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return "unknown"
    resident = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return f"{int(resident.split()[1]) / 1024:.0f} MB"


def main() -> bool:
    show("== expressions: evaluations per second; median of five interleaved rounds ==")
    show(machine("ostinato", "dataweave-native", "jq", "jsonata-python"))
    spoken = {name: language for name, language in languages().items() if isinstance(language, SandboxedLanguage)}
    good = True
    with asyncio.Runner() as runner:
        show("\nthe first worker of each, from nothing to its first answer")
        for name, language in spoken.items():
            begin = time.perf_counter()
            runner.run(language.evaluate(_requests(OBJECT[name], 1)))
            show(f"  {name:24} {1000 * (time.perf_counter() - begin):8.0f} ms")
        contenders = {
            f"{kind}, here": _round(runner, spoken["dataweave"], _requests(expr, BATCH), 50)
            for kind, expr in PLAIN.items()
        }
        for name, language in spoken.items():
            contenders[f"{name}, one at a time"] = _round(runner, language, _requests(OBJECT[name], 1), 50)
            contenders[f"{name}, {BATCH} callers"] = _callers(runner, language, _requests(OBJECT[name], BATCH))
            contenders[f"{name}, {BATCH} different"] = _round(runner, language, _requests(OBJECT[name], BATCH, True), 2)
            contenders[f"{name}, {BATCH} alike"] = _round(runner, language, _requests(OBJECT[name], BATCH), 5)
        rates = interleaved(contenders)
        show()
        for contender, rate in rates.items():
            show(f"  {contender:28} {rate:12,.0f}/s")
        for contender, times in ((f"dataweave, {BATCH} alike", 5), ("a path, here", 100)):
            ratio = rates[contender] / rates["dataweave, one at a time"]
            good = good and ratio >= times
            verdict = "met" if ratio >= times else "MISSED"
            show(f"  bar: {contender}, {times} × dataweave one at a time: {ratio:,.0f} × {verdict}")
        show("\nmemory of one worker after that")
        for name, language in spoken.items():
            show(f"  {name:24} {', '.join(_memory(pid) for pid in language.pool.pids()):>12}")
            language.close()
    return good
