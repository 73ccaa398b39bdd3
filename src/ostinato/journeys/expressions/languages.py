"""The languages there are: `languages(settings)`. Each keeps its own worker processes, started when first used."""

from __future__ import annotations

import asyncio
import functools
import re
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec

import orjson

from ostinato.journeys.expressions.codes import Code
from ostinato.journeys.expressions.contract import BINDINGS, Asked, Evaluation, Failure, Language, Value
from ostinato.journeys.expressions.plain import NOT_PLAIN, Failed, Wrong, plain, position, read
from ostinato.journeys.expressions.pool import Pool, Request
from ostinato.journeys.expressions.settings import ExpressionSettings
from ostinato.journeys.expressions.suggestions import in_dataweave, in_jq
from ostinato.model import Json

_LONGEST_S = 3600.0
PLAIN = "plain"
_ASKS_FOR_TIME = re.compile(r"\b(?:now|millis)\b")


def languages(settings: ExpressionSettings | None = None) -> Mapping[str, Language]:
    made = functools.partial(SandboxedLanguage, settings=settings or ExpressionSettings())
    found: tuple[Language, ...] = (
        PlainLanguage(settings or ExpressionSettings()),
        # `output` is a word of DataWeave, so nothing can be called that there.
        made(
            "dataweave", "dataweave", answered_here=plain, suggest=in_dataweave, called={"output": "result"}, spelt=True
        ),
        made("jq", "jq", suggest=in_jq),
        made("jsonata", "jsonata"),
    )
    return {language.name: language for language in found}


class PlainLanguage:
    """The language that every installation has. It needs no process: an expression can do nothing but compute."""

    name = PLAIN

    def __init__(self, settings: ExpressionSettings) -> None:
        self._settings = settings

    def check(self, expr: str) -> str | None:
        if problem := _too_large(expr, self._settings):
            return problem
        if not expr.strip():
            return "the expression is empty"
        found = read(expr)
        if not isinstance(found, Wrong):
            return None
        return f"{position(expr, found.at)}: {found.message}{'' if found.message.endswith('?') else '.'}"

    async def evaluate(self, requests: Sequence[Evaluation]) -> list[Value | Failure]:
        return [self._one(request) for request in requests]

    def submit(self, asked: Sequence[Asked]) -> None:
        for request, future in asked:
            if not future.done():
                future.set_result(self._one(request))

    def close(self) -> None:
        """There is nothing to close."""

    def _one(self, request: Evaluation) -> Value | Failure:
        if problem := _too_large(request.expr, self._settings):
            return Failure(Code.TOO_LARGE, problem)
        found = read(request.expr)
        if isinstance(found, Wrong):
            return Failure(Code.ERROR, f"{position(request.expr, found.at)}: {found.message}")
        try:
            return Value(found.evaluate(request.bindings, self._settings.max_result_bytes))
        except Failed as failed:
            return Failure(failed.code, failed.message)


class SandboxedLanguage:
    """A language whose expressions are evaluated in worker processes, the simplest of them right here."""

    def __init__(
        self,
        name: str,
        module: str,
        *,
        settings: ExpressionSettings,
        answered_here: Callable[[str, Mapping[str, Json]], Json] | None = None,
        suggest: Callable[[str, str, frozenset[str]], str] | None = None,
        called: Mapping[str, str] | None = None,
        spelt: bool = False,
    ) -> None:
        """`spelt`: a binding is reached by its name and in no other way, so one whose name is not there is not sent."""
        self._name = name
        self._module = module
        self._settings = settings
        self._answered_here = answered_here
        self._suggest = suggest
        self._called = called or {}
        self._spelt = spelt
        self.pool = Pool(name, settings)

    @property
    def name(self) -> str:
        return self._name

    @functools.cached_property
    def missing(self) -> str | None:
        """What to install, if the language is not there."""
        if find_spec(self._module) is not None:
            return None
        return (
            f"lang {self._name} is not installed here; pip install 'ostinato[{self._name}]'"
            " (where there is no wheel for the platform, use another language)"
        )

    def check(self, expr: str) -> str | None:
        if problem := _too_large(expr, self._settings):
            return problem
        if not expr.strip():
            return "the expression is empty"
        if problem := self.missing:
            return problem
        deadline = self._settings.check_deadline_s
        known: dict[str, Json] = dict.fromkeys(sorted(BINDINGS))
        answer = self.pool.check(Request(self._encode(Evaluation(expr, known, deadline)), deadline, expr))
        if isinstance(answer, Failure):
            return f"it cannot be checked: {answer.message}"
        if (found := answer.value) is None:
            return None
        where = f"line {found['line']}, column {found['column']}: " if "line" in found else ""
        hint = self._suggest(expr, found["message"], frozenset(self._named(known))) if self._suggest else ""
        message = found["message"].rstrip(".")
        if not hint:
            return f"{where}{message}."
        return f"{where}{message}. {hint[0].upper()}{hint[1:]}{'' if hint.endswith('?') else '.'}"

    async def evaluate(self, requests: Sequence[Evaluation]) -> list[Value | Failure]:
        loop = asyncio.get_running_loop()
        asked: list[Asked] = [(request, loop.create_future()) for request in requests]
        self.submit(asked)
        try:
            return [await future for _, future in asked]
        finally:
            for _, future in asked:
                future.cancel()  # who went away wants no answer

    def submit(self, asked: Sequence[Asked]) -> None:
        sent: list[tuple[Request, asyncio.Future[Value | Failure]]] = []
        for request, future in asked:
            answer = self._here(request) or self._encoded(request)
            if isinstance(answer, bytes):
                sent.append((Request(answer, min(request.deadline_s, _LONGEST_S), request.expr), future))
            elif not future.done():
                future.set_result(answer)
        if sent:
            self.pool.submit(sent)

    def close(self) -> None:
        self.pool.close()

    def _here(self, request: Evaluation) -> Value | Failure | None:
        """The answer, where no worker is needed for it."""
        if problem := _too_large(request.expr, self._settings):
            return Failure(Code.TOO_LARGE, problem)
        if problem := self.missing:
            return Failure(Code.UNAVAILABLE, problem)
        if not request.deadline_s > 0:
            return Failure(Code.TIMEOUT, "its deadline was over before it began")
        if self._answered_here is None:
            return None
        value = self._answered_here(request.expr, self._named(request.bindings))
        return None if value is NOT_PLAIN else Value(value)

    def _encoded(self, request: Evaluation) -> bytes | Failure:
        try:
            raw = self._encode(request)
        except (TypeError, ValueError, RecursionError) as problem:
            return Failure(Code.ERROR, f"its bindings are not JSON: {problem}")
        if len(raw) > self._settings.max_bindings_bytes:
            most = self._settings.max_bindings_bytes
            return Failure(Code.TOO_LARGE, f"its bindings have {len(raw)} bytes of JSON; they may have {most}")
        return raw

    def _encode(self, request: Evaluation) -> bytes:
        deadline = min(request.deadline_s, _LONGEST_S)
        bindings = dict(self._named(request.bindings))
        if self._spelt:
            bindings = {name: value for name, value in bindings.items() if name in request.expr}
        given: dict[str, Json] = {"expr": request.expr, "bindings": bindings, "deadline": deadline}
        if request.now is not None and _ASKS_FOR_TIME.search(request.expr):
            given["now"] = request.now
        return orjson.dumps(given)

    def _named(self, bindings: Mapping[str, Json]) -> Mapping[str, Json]:
        """The bindings under the names that they have in this language."""
        if self._called.keys().isdisjoint(bindings):
            return bindings
        return {self._called.get(name, name): value for name, value in bindings.items()}


def _too_large(expr: str, settings: ExpressionSettings) -> str | None:
    most = settings.max_expression_bytes
    if 4 * len(expr) <= most or (size := len(expr.encode(errors="replace"))) <= most:
        return None
    return f"the expression has {size} bytes; it may have {most}"
