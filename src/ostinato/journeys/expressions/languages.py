"""Provide the expression languages that come with Ostinato. Each language except `plain` has its own worker processes,
which are started on first use."""

from __future__ import annotations

import asyncio
import functools
import re
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec

import orjson

from ostinato.errors import install_hint
from ostinato.journeys.expressions.codes import Code
from ostinato.journeys.expressions.contract import BINDINGS, Evaluation, Failure, Language, PendingEvaluation, Value
from ostinato.journeys.expressions.plain import (
    NOT_PLAIN,
    EvaluationFailed,
    PlainSyntaxError,
    evaluate_certain,
    position,
    read,
)
from ostinato.journeys.expressions.pool import Pool, PoolRequest
from ostinato.journeys.expressions.settings import ExpressionSettings
from ostinato.journeys.expressions.suggestions import in_dataweave, in_jq, in_jsonata
from ostinato.model import Json

_LONGEST_S = 3600.0
PLAIN = "plain"
_ASKS_FOR_TIME = re.compile(r"\b(?:now|millis)\b")


def languages(settings: ExpressionSettings | None = None) -> Mapping[str, Language]:
    sandboxed = functools.partial(SandboxedLanguage, settings=settings or ExpressionSettings())
    all_languages: tuple[Language, ...] = (
        PlainLanguage(settings or ExpressionSettings()),
        # `output` is a reserved word in DataWeave.
        sandboxed(
            "dataweave",
            "dataweave",
            answered_here=evaluate_certain,
            suggest=in_dataweave,
            called={"output": "result"},
            spelt=True,
        ),
        sandboxed("jq", "jq", suggest=in_jq),
        sandboxed("jsonata", "jsonata", suggest=in_jsonata),
    )
    return {language.name: language for language in all_languages}


class PlainLanguage:
    """The language `plain`, which every installation has. An expression in `plain` can only compute a value, and its
    amount of work is limited. So it is evaluated in this process, without a worker."""

    name = PLAIN

    def __init__(self, settings: ExpressionSettings) -> None:
        self._settings = settings

    def check(self, expr: str) -> str | None:
        if problem := _too_large(expr, self._settings):
            return problem
        if not expr.strip():
            return "the expression is empty"
        parsed = read(expr)
        if not isinstance(parsed, PlainSyntaxError):
            return None
        return f"{position(expr, parsed.at)}: {parsed.message}{'' if parsed.message.endswith('?') else '.'}"

    async def evaluate(self, requests: Sequence[Evaluation]) -> list[Value | Failure]:
        return [self._one(request) for request in requests]

    def submit(self, asked: Sequence[PendingEvaluation]) -> None:
        for request, future in asked:
            if not future.done():
                future.set_result(self._one(request))

    def close(self) -> None:
        """Do nothing."""

    def _one(self, request: Evaluation) -> Value | Failure:
        if problem := _too_large(request.expr, self._settings):
            return Failure(Code.TOO_LARGE, problem)
        parsed = read(request.expr)
        if isinstance(parsed, PlainSyntaxError):
            return Failure(Code.ERROR, f"{position(request.expr, parsed.at)}: {parsed.message}")
        try:
            return Value(parsed.evaluate(request.bindings, self._settings.max_result_bytes))
        except EvaluationFailed as failed:
            return Failure(failed.code, failed.message)


class SandboxedLanguage:
    """A language whose expressions are evaluated in worker processes. Simple expressions can be evaluated without a
    worker."""

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
        """Create the language `name`, which needs the package `module`.

        - `answered_here`: evaluates simple expressions without a worker, and returns `NOT_PLAIN` for all other
          expressions
        - `suggest`: returns a hint for an invalid expression
        - `called`: maps the names of bindings to their names in this language; other bindings keep their names
        - `spelt`: if true, a worker gets only the bindings whose names occur in the expression; otherwise it gets all
        """
        self.name = name
        self._module = module
        self._settings = settings
        self._answered_here = answered_here
        self._suggest = suggest
        self._called = called or {}
        self._spelt = spelt
        self.pool = Pool(name, settings)

    @functools.cached_property
    def missing(self) -> str | None:
        """None if the language is installed, else a message that names the package to install."""
        if find_spec(self._module) is not None:
            return None
        return (
            f"lang {self.name} is not installed here; {install_hint(self.name)}"
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
        bindings: dict[str, Json] = dict.fromkeys(sorted(BINDINGS))
        answer = self.pool.check(PoolRequest(self._encode(Evaluation(expr, bindings, deadline)), deadline, expr))
        if isinstance(answer, Failure):
            return f"it cannot be checked: {answer.message}"
        if (mistake := answer.value) is None:
            return None
        where = f"line {mistake['line']}, column {mistake['column']}: " if "line" in mistake else ""
        hint = self._suggest(expr, mistake["message"], frozenset(self._named(bindings))) if self._suggest else ""
        message = mistake["message"].rstrip(".")
        if not hint:
            return f"{where}{message}."
        return f"{where}{message}. {hint[0].upper()}{hint[1:]}{'' if hint.endswith('?') else '.'}"

    async def evaluate(self, requests: Sequence[Evaluation]) -> list[Value | Failure]:
        loop = asyncio.get_running_loop()
        asked: list[PendingEvaluation] = [(request, loop.create_future()) for request in requests]
        self.submit(asked)
        try:
            return [await future for _, future in asked]
        finally:
            for _, future in asked:
                future.cancel()  # the caller is gone

    def submit(self, asked: Sequence[PendingEvaluation]) -> None:
        sent: list[tuple[PoolRequest, asyncio.Future[Value | Failure]]] = []
        for request, future in asked:
            answer = self._here(request) or self._encoded(request)
            if isinstance(answer, bytes):
                sent.append((PoolRequest(answer, min(request.deadline_s, _LONGEST_S), request.expr), future))
            elif not future.done():
                future.set_result(answer)
        if sent:
            self.pool.submit(sent)

    def close(self) -> None:
        self.pool.close()

    def _here(self, request: Evaluation) -> Value | Failure | None:
        """Return the outcome if it can be computed without a worker, else None."""
        if problem := _too_large(request.expr, self._settings):
            return Failure(Code.TOO_LARGE, problem)
        if problem := self.missing:
            return Failure(Code.UNAVAILABLE, problem)
        if not request.deadline_s > 0:
            return Failure(Code.TIMEOUT, "its deadline had passed before it began")
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
            return Failure(Code.TOO_LARGE, f"its bindings have {len(raw)} bytes of JSON; the maximum is {most}")
        return raw

    def _encode(self, request: Evaluation) -> bytes:
        deadline = min(request.deadline_s, _LONGEST_S)
        bindings = dict(self._named(request.bindings))
        if self._spelt:
            bindings = {name: value for name, value in bindings.items() if name in request.expr}
        message: dict[str, Json] = {"expr": request.expr, "bindings": bindings, "deadline": deadline}
        if request.now is not None and _ASKS_FOR_TIME.search(request.expr):
            message["now"] = request.now
        return orjson.dumps(message)

    def _named(self, bindings: Mapping[str, Json]) -> Mapping[str, Json]:
        """Return the bindings under their names in this language."""
        if self._called.keys().isdisjoint(bindings):
            return bindings
        return {self._called.get(name, name): value for name, value in bindings.items()}


def _too_large(expr: str, settings: ExpressionSettings) -> str | None:
    most = settings.max_expression_bytes
    if 4 * len(expr) <= most or (size := len(expr.encode(errors="replace"))) <= most:
        return None
    return f"the expression has {size} bytes; the maximum is {most}"
