"""Perform the effects that an instance waits for. Expressions of all instances of this node are evaluated in batches,
and each task is run separately. An error becomes a result, not an exception."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ostinato.engine.http.host_names import looks_up_for
from ostinato.engine.http.secrets import resolve
from ostinato.engine.log import log
from ostinato.journeys.definitions import DefinitionCache
from ostinato.journeys.expressions.contract import (
    AnswersSeparately,
    Evaluation,
    EvaluationOutcome,
    Failure,
    Language,
    PendingEvaluation,
)
from ostinato.journeys.language import Definition, Expression
from ostinato.journeys.language.states import Timer
from ostinato.journeys.machine.decision import Evaluate, Evaluated, Input, RunTask, TaskEnded
from ostinato.journeys.machine.model import Instance
from ostinato.journeys.machine.pending_effects import bindings_of
from ostinato.journeys.machine.timer_state import timer_due
from ostinato.journeys.machine.values import UnusableValue
from ostinato.journeys.settings import JourneySettings
from ostinato.journeys.task_kind import Plugins, Request, TaskCall, TaskProblem
from ostinato.model import DEFAULT_NAMESPACE, Json
from ostinato.when.instants import SECOND, Micros, format_instant

NO_LANGUAGE = "EXPRESSION_LANGUAGE_UNKNOWN"
NO_KIND = "TASK_KIND_UNKNOWN"
FAILED = "TASK_FAILED"
TOO_FAR = "TIMER_TOO_FAR"
_LONGEST_S = 5.0  # for one expression


class Evaluator:
    """Evaluates expressions for many callers. Expressions that are requested in the same pass of the event loop are
    sent together, in one batch per language."""

    def __init__(self, languages: Mapping[str, Language], now: Callable[[], Micros | None] = lambda: None) -> None:
        """`now()` returns the time that expressions see, or None for the system's time."""
        self._languages = languages
        self._now = now
        self._waiting: dict[str, list[PendingEvaluation]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def evaluate(
        self, expressions: Sequence[Expression], bindings: Mapping[str, Json]
    ) -> tuple[EvaluationOutcome, ...]:
        answers = [self._submit(expression, bindings) for expression in expressions]  # all, before waiting for one
        try:
            return tuple([await answer for answer in answers])
        finally:
            for answer in answers:
                answer.cancel()  # the caller is gone

    def _submit(self, expression: Expression, bindings: Mapping[str, Json]) -> asyncio.Future[EvaluationOutcome]:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[EvaluationOutcome] = loop.create_future()
        if expression.lang not in self._languages:
            message = f"the expression language {expression.lang!r} is not installed here"
            answer.set_result(Failure(NO_LANGUAGE, message))
            return answer
        if not self._waiting:
            loop.call_soon(self._flush)
        asked = Evaluation(expression.expr, bindings, _LONGEST_S, self._now())
        self._waiting.setdefault(expression.lang, []).append((asked, answer))
        return answer

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, {}
        for lang, asked in waiting.items():
            language = self._languages[lang]
            if isinstance(language, AnswersSeparately):
                try:
                    language.submit(asked)
                except Exception:
                    _fail(language.name, asked)
            else:
                task = asyncio.get_running_loop().create_task(self._ask(language, asked))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    async def _ask(self, language: Language, asked: Sequence[PendingEvaluation]) -> None:
        try:
            outcomes = await language.evaluate([one for one, _ in asked])
            for (_, answer), outcome in zip(asked, outcomes, strict=True):
                if not answer.done():
                    answer.set_result(outcome)
        except Exception:
            _fail(language.name, asked)


def _fail(language: str, asked: Sequence[PendingEvaluation]) -> None:
    """Log the current exception, which `language` raised. Answer open evaluations in `asked` with a `Failure`."""
    log.exception("an expression language failed", action="language_failed", language=language)
    for _, answer in asked:
        if not answer.done():
            answer.set_result(Failure("EXPRESSION_ENGINE_ERROR", "the expression language failed"))


@dataclass(frozen=True, slots=True, kw_only=True)
class JourneyRuntime:
    """The parts of the app that are needed to run an instance."""

    plugins: Plugins
    evaluator: Evaluator
    settings: JourneySettings
    services: Callable[[str], Mapping[str, Any]]  # by namespace
    now: Callable[[], Micros]
    namespace: str = DEFAULT_NAMESPACE
    definitions: DefinitionCache = field(default_factory=dict)
    silent_guards: set[tuple[str, str, str]] = field(default_factory=set)  # logged already: namespace, name, version

    def within(self, namespace: str) -> JourneyRuntime:
        return self if namespace == self.namespace else replace(self, namespace=namespace)


def platform_bindings(
    runtime: JourneyRuntime, definition: Definition, instance: Instance, request: Request | None
) -> dict[str, Json]:
    """Return the variable `platform` of expressions. Its field `config` has the values that the definition declares."""
    traceparent = None if request is None else request.headers.get("traceparent")
    return {
        "environment": runtime.settings.environment,
        "journey": {"name": definition.name, "kind": definition.kind, "version": definition.version},
        "run": {"id": instance.id, "startedAt": format_instant(instance.started), "traceparent": traceparent},
        "config": runtime.settings.config_for(definition),
    }


async def perform_effect(
    runtime: JourneyRuntime,
    definition: Definition,
    instance: Instance,
    effect: Evaluate | RunTask,
    request: Request | None,
    platform: Mapping[str, Json],
) -> Input:
    """Evaluate expressions or run a task, and return the input for `advance`."""
    if isinstance(effect, Evaluate):
        bindings = {**effect.bindings, "platform": platform}
        outcomes = await runtime.evaluator.evaluate(effect.expressions, bindings)
        frame = instance.frames.get(effect.frame)
        state = None if frame is None else definition.graph(frame.path).states[frame.state]
        if isinstance(state, Timer):
            outcomes = tuple(_limit_timer(runtime, state, one) for one in outcomes)
        return Evaluated(effect.frame, effect.visit, outcomes)
    result = await _run_task(runtime, definition, instance, effect, request, platform)
    return TaskEnded(effect.frame, effect.visit, result)


def _limit_timer(runtime: JourneyRuntime, state: Timer, outcome: EvaluationOutcome) -> EvaluationOutcome:
    """Return `outcome`, the outcome of the timer's expression, or a `Failure` if the timer would exceed the limit
    `longest_timer_s`. If `outcome` is a `Failure` or not a valid time, return it unchanged: the state machine reports
    this mistake."""
    most = runtime.settings.limits.longest_timer_s
    if most is None or isinstance(outcome, Failure):
        return outcome
    now = runtime.now()
    try:
        due = timer_due(state, outcome.value, now)
    except UnusableValue:
        return outcome
    return Failure(TOO_FAR, f"a timer may be at most {most:,} s long") if due - now > most * SECOND else outcome


async def _run_task(
    runtime: JourneyRuntime,
    definition: Definition,
    instance: Instance,
    effect: RunTask,
    request: Request | None,
    platform: Mapping[str, Json],
) -> Any:
    kind = runtime.plugins.kinds.get(effect.task.plugin)
    if kind is None:
        return TaskProblem(NO_KIND, f"the task kind {effect.task.kind!r} is not installed here", internal=True)
    bindings_ = {**bindings_of(instance, effect.context), "platform": platform}

    async def evaluate(expression: Expression, /, **bindings: Json) -> EvaluationOutcome:
        return (await runtime.evaluator.evaluate([expression], {**bindings_, **bindings}))[0]

    looks_up_for.set(runtime.namespace)  # here, too: a request's task runs synchronous effects without a run
    now = runtime.now()
    call = TaskCall(
        definition=definition,
        settings=effect.task.settings,
        context=effect.context,
        run_id=instance.id,
        state=effect.state,
        key=effect.key,
        now=now,
        remaining_s=None if instance.deadline is None else max(0.0, (instance.deadline - now) / SECOND),
        request=request,
        evaluate=evaluate,
        secret=lambda reference: str(resolve(reference).value),
        services=runtime.services(runtime.namespace),
    )
    try:
        return await kind.run(call)
    except Exception as problem:
        log.exception("a task failed", action="task_failed", run=instance.id, state=effect.state, kind=effect.task.kind)
        return TaskProblem(FAILED, f"the task failed: {type(problem).__name__}", internal=True)
