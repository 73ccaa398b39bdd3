"""Answer calls of APIs, which are definitions with `kind: Api`.

A call runs the whole definition in memory. The response rules of the definition choose the HTTP status.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus

from ostinato.journeys.expressions.contract import Value
from ostinato.journeys.language import Definition, Expression
from ostinato.journeys.language.blocks import ResponseDefault, ResponseWhen
from ostinato.journeys.machine.advance import begin
from ostinato.journeys.machine.model import INTERNAL, Ending, Termination
from ostinato.journeys.runtime.in_memory import run_in_memory
from ostinato.journeys.runtime.perform_effects import JourneyRuntime, platform_bindings
from ostinato.journeys.runtime.requests import StartRequest
from ostinato.model import Json


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply to an API call. `problem` says whether the body is an RFC 9457 problem."""

    status: int
    body: Json
    phase: str
    problem: bool = False
    error: Mapping[str, Json] | None = None


async def call_api(runtime: JourneyRuntime, definition: Definition, id: str, start_request: StartRequest) -> Reply:
    decision = begin(definition, id, start_request.context, runtime.now(), scheduled=True)
    instance = await run_in_memory(runtime, definition, decision, start_request.request)
    ending = instance.ending or Ending(
        Termination.RUNTIME_ERROR, instance.current_state, code=INTERNAL, reason="an API cannot wait"
    )
    error = None if ending.succeeded else error_problem(ending)
    bindings = {
        "context": instance.context,
        "payload": {"error": error, "output": ending.output},
        "output": ending.output,
        "error": error,
        "platform": platform_bindings(runtime, definition, instance, start_request.request),
    }
    status = await _status(runtime, definition, ending, error, bindings)
    if error is None:
        return Reply(status, ending.output, ending.phase)
    envelope = definition.spec.errors.envelope
    if envelope is not None and envelope.format == "custom" and envelope.mapper is not None:
        (mapped,) = await runtime.evaluator.evaluate([envelope.mapper], bindings)
        if isinstance(mapped, Value):
            return Reply(status, mapped.value, ending.phase, error=error)
    return Reply(status, {**error, "status": status}, ending.phase, True, error)


def error_problem(ending: Ending) -> dict[str, Json]:
    """Return the error of a failed instance as an RFC 9457 problem. If the failure names a `type`, the problem has this
    `type`. Otherwise the `type` is the error code if the code is a URI, and `about:blank` if not."""
    code = str(ending.code)
    problem: dict[str, Json] = {"type": code if ":" in code else "about:blank", "title": ending.reason or code}
    problem |= {name: one for name, one in (ending.problem or {}).items() if ending.kind is Termination.FAIL}
    return {**problem, "code": code}


async def _status(
    runtime: JourneyRuntime,
    definition: Definition,
    ending: Ending,
    error: Mapping[str, Json] | None,
    bindings: Mapping[str, Json],
) -> int:
    responses = definition.spec.bindings.http.api_responses
    for rule in () if responses is None else responses.rules:
        if not await _rule_matches(runtime, rule.when, ending, error, bindings):
            continue
        if rule.status is not None:
            return rule.status
        return _valid_status(await _value(runtime, rule.status_expr, bindings))
    default = ResponseDefault() if responses is None else responses.default
    chosen = default.succeeded if ending.succeeded else default.failed
    if isinstance(chosen, int):
        return chosen
    if ending.kind is Termination.TIMEOUT:
        return HTTPStatus.GATEWAY_TIMEOUT
    return _valid_status(None if error is None else error.get("status"))


def _valid_status(value: Json) -> int:
    return value if isinstance(value, int) and 100 <= value <= 599 else 500


async def _rule_matches(
    runtime: JourneyRuntime,
    when: ResponseWhen,
    ending: Ending,
    error: Mapping[str, Json] | None,
    bindings: Mapping[str, Json],
) -> bool:
    if when.phase != ending.phase:
        return False
    if when.error_type is not None and (error is None or when.error_type not in (error.get("type"), error.get("code"))):
        return False
    return when.predicate is None or await _value(runtime, when.predicate, bindings) is True


async def _value(runtime: JourneyRuntime, expression: Expression | None, bindings: Mapping[str, Json]) -> Json:
    if expression is None:
        return None
    (outcome,) = await runtime.evaluator.evaluate([expression], bindings)
    return outcome.value if isinstance(outcome, Value) else None
