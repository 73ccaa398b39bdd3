"""What an instance needs from outside, done: expressions, gathered into batches over all instances that are at work
here, and tasks by their kinds. What goes wrong is an answer, never an exception."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ostinato.engine.log import log
from ostinato.engine.secrets import resolve
from ostinato.journeys.expressions.contract import AnswersEach, Asked, Evaluation, Failure, Language
from ostinato.journeys.language import Definition, Expression
from ostinato.journeys.language.states import Timer
from ostinato.journeys.library import Shelf
from ostinato.journeys.machine.decision import Evaluate, Evaluated, Input, RunTask, TaskEnded
from ostinato.journeys.machine.model import Instance
from ostinato.journeys.machine.values import NotPossible, time_after, time_at
from ostinato.journeys.plugins import Outcome, Plugins, Problem, Request, TaskCall
from ostinato.journeys.settings import JourneySettings
from ostinato.model import DEFAULT_NAMESPACE, Json
from ostinato.when.instants import SECOND, Micros, format_instant

NO_LANGUAGE = "EXPRESSION_LANGUAGE_UNKNOWN"
NO_KIND = "TASK_KIND_UNKNOWN"
FAILED = "TASK_FAILED"
TOO_FAR = "TIMER_TOO_FAR"
_LONGEST_S = 5.0  # one expression


class Evaluator:
    """Expressions of many callers, each language's together. What is asked for while nothing else can run goes in one
    call."""

    def __init__(self, languages: Mapping[str, Language], now: Callable[[], Micros | None] = lambda: None) -> None:
        """`now`: the time that expressions are told; None if that is the system's own."""
        self._languages = languages
        self._now = now
        self._waiting: dict[str, list[Asked]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def evaluate(self, expressions: Sequence[Expression], bindings: Mapping[str, Json]) -> tuple[Outcome, ...]:
        answers = [self._one(one, bindings) for one in expressions]  # all are asked before the first is waited for
        try:
            return tuple([await one for one in answers])
        finally:
            for one in answers:
                one.cancel()  # who went away wants no answer

    def _one(self, expression: Expression, bindings: Mapping[str, Json]) -> asyncio.Future[Outcome]:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Outcome] = loop.create_future()
        if expression.lang not in self._languages:
            answer.set_result(
                Failure(NO_LANGUAGE, f"the expression language {expression.lang!r} is not installed here")
            )
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
            if isinstance(language, AnswersEach):
                try:
                    language.submit(asked)
                except Exception:
                    _fail(language.name, asked)
            else:
                task = asyncio.get_running_loop().create_task(self._ask(language, asked))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    async def _ask(self, language: Language, asked: Sequence[Asked]) -> None:
        try:
            outcomes = await language.evaluate([one for one, _ in asked])
            for (_, answer), outcome in zip(asked, outcomes, strict=True):
                if not answer.done():
                    answer.set_result(outcome)
        except Exception:
            _fail(language.name, asked)


def _fail(language: str, asked: Sequence[Asked]) -> None:
    """Answer those that are not answered; called in an exception handler."""
    log.exception("an expression language failed", action="language_failed", language=language)
    for _, answer in asked:
        if not answer.done():
            answer.set_result(Failure("EXPRESSION_ENGINE_ERROR", "the expression language failed"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """What the work on instances needs of the app."""

    plugins: Plugins
    evaluator: Evaluator
    settings: JourneySettings
    services: Callable[[str], Mapping[str, Any]]  # of a namespace
    now: Callable[[], Micros]
    namespace: str = DEFAULT_NAMESPACE
    shelf: Shelf = field(default_factory=dict)
    silent_guards: set[tuple[str, str, str]] = field(default_factory=set)  # logged already: namespace, name, version

    def within(self, namespace: str) -> Tools:
        return self if namespace == self.namespace else replace(self, namespace=namespace)


def platform_of(tools: Tools, definition: Definition, instance: Instance, request: Request | None) -> dict[str, Json]:
    """Only what the definition declares of the configuration is shown to it."""
    traceparent = None if request is None else request.headers.get("traceparent")
    return {
        "environment": tools.settings.environment,
        "journey": {"name": definition.name, "kind": definition.kind, "version": definition.version},
        "run": {"id": instance.id, "startedAt": format_instant(instance.started), "traceparent": traceparent},
        "config": tools.settings.config_for(definition),
    }


async def do(
    tools: Tools,
    definition: Definition,
    instance: Instance,
    effect: Evaluate | RunTask,
    request: Request | None,
    platform: Mapping[str, Json],
) -> Input:
    """The answer to what the machine asks for."""
    if isinstance(effect, Evaluate):
        bindings = {**effect.bindings, "platform": platform}
        outcomes = await tools.evaluator.evaluate(effect.expressions, bindings)
        frame = instance.frames.get(effect.frame)
        state = None if frame is None else definition.graph(frame.path).states[frame.state]
        if isinstance(state, Timer):
            outcomes = tuple(_in_bounds(tools, state, one) for one in outcomes)
        return Evaluated(effect.frame, effect.visit, outcomes)
    return TaskEnded(
        effect.frame, effect.visit, await _run_task(tools, definition, instance, effect, request, platform)
    )


def _in_bounds(tools: Tools, state: Timer, found: Outcome) -> Outcome:
    """A time that is worked out is not further ahead than this engine allows. What is none, the machine will say."""
    most = tools.settings.limits.longest_timer_s
    if most is None or isinstance(found, Failure):
        return found
    now = tools.now()
    try:
        due = time_at(found.value) if state.timer.duration is None else time_after(found.value, now)
    except NotPossible:
        return found
    return Failure(TOO_FAR, f"a timer is at most {most:,} s long here") if due - now > most * SECOND else found


async def _run_task(
    tools: Tools,
    definition: Definition,
    instance: Instance,
    effect: RunTask,
    request: Request | None,
    platform: Mapping[str, Json],
) -> Any:
    kind = tools.plugins.kinds.get(effect.task.plugin)
    if kind is None:
        return Problem(NO_KIND, f"the task kind {effect.task.kind!r} is not installed here", internal=True)
    known: dict[str, Json] = {
        **instance.given,
        "context": effect.context,
        "payload": effect.context.get("payload"),
        "platform": platform,
    }

    async def evaluate(expression: Expression, /, **bindings: Json) -> Outcome:
        return (await tools.evaluator.evaluate([expression], {**known, **bindings}))[0]

    now = tools.now()
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
        services=tools.services(tools.namespace),
    )
    try:
        return await kind.run(call)
    except Exception as problem:
        log.exception("a task failed", action="task_failed", run=instance.id, state=effect.state, kind=effect.task.kind)
        return Problem(FAILED, f"the task failed: {type(problem).__name__}", internal=True)
