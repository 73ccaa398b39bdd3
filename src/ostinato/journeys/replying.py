"""Calls of APIs: a definition that is run from a request to its reply, and is on no record. What its end means as an
HTTP status is decided by its own rules; the body is its output, or what went wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus

from ostinato.journeys.asking import Asked
from ostinato.journeys.evaluating import Tools, platform_of
from ostinato.journeys.expressions.contract import Value
from ostinato.journeys.language import Definition, Expression
from ostinato.journeys.language.blocks import ResponseDefault, ResponseWhen
from ostinato.journeys.machine.advance import begin
from ostinato.journeys.machine.model import INTERNAL, Ending, Instance, Termination
from ostinato.journeys.memory import played
from ostinato.model import Json

_LAST_RESORT = 500


@dataclass(frozen=True, slots=True)
class Reply:
    """`problem`: the body is a problem as RFC 9457 has it."""

    status: int
    body: Json
    phase: str
    problem: bool = False
    error: Mapping[str, Json] | None = None


async def reply(tools: Tools, definition: Definition, id: str, asked: Asked) -> Reply:
    instance = await called(tools, definition, id, asked)
    ending = instance.ending or Ending(
        Termination.RUNTIME_ERROR, instance.current_state, code=INTERNAL, reason="an API cannot wait"
    )
    error = None if ending.succeeded else problem_of(ending)
    bindings = {
        "context": instance.context,
        "payload": {"error": error, "output": ending.output},
        "output": ending.output,
        "error": error,
        "platform": platform_of(tools, definition, instance, asked.request),
    }
    status = await _status(tools, definition, ending, error, bindings)
    if error is None:
        return Reply(status, ending.output, ending.phase)
    envelope = definition.spec.errors.envelope
    if envelope is not None and envelope.format == "custom" and envelope.mapper is not None:
        (made,) = await tools.evaluator.evaluate([envelope.mapper], bindings)
        if isinstance(made, Value):
            return Reply(status, made.value, ending.phase, error=error)
    return Reply(status, {**error, "status": status}, ending.phase, True, error)


async def called(tools: Tools, definition: Definition, id: str, asked: Asked) -> Instance:
    decided = begin(definition, id, asked.context, tools.now(), scheduled=True)
    return await played(tools, definition, decided, asked.request)


def problem_of(ending: Ending) -> dict[str, Json]:
    """The error as a problem: its type is the code, where that is a URI, else a blank one with the code beside."""
    code = str(ending.code)
    found: dict[str, Json] = {"type": code if ":" in code else "about:blank", "title": ending.reason or code}
    found |= {name: one for name, one in (ending.problem or {}).items() if ending.kind is Termination.FAIL}
    return {**found, "code": code}


async def _status(
    tools: Tools,
    definition: Definition,
    ending: Ending,
    error: Mapping[str, Json] | None,
    bindings: Mapping[str, Json],
) -> int:
    responses = definition.spec.bindings.http.api_responses
    for rule in () if responses is None else responses.rules:
        if not await _fits(tools, rule.when, ending, error, bindings):
            continue
        if rule.status is not None:
            return rule.status
        found = await _value(tools, rule.status_expr, bindings)
        return found if isinstance(found, int) and 100 <= found <= 599 else _LAST_RESORT
    default = ResponseDefault() if responses is None else responses.default
    chosen = default.succeeded if ending.succeeded else default.failed
    if isinstance(chosen, int):
        return chosen
    if ending.kind is Termination.TIMEOUT:
        return HTTPStatus.GATEWAY_TIMEOUT
    own = None if error is None else error.get("status")
    return own if isinstance(own, int) and 100 <= own <= 599 else _LAST_RESORT


async def _fits(
    tools: Tools, when: ResponseWhen, ending: Ending, error: Mapping[str, Json] | None, bindings: Mapping[str, Json]
) -> bool:
    if when.phase != ending.phase:
        return False
    if when.error_type is not None and (error is None or when.error_type not in (error.get("type"), error.get("code"))):
        return False
    return when.predicate is None or await _value(tools, when.predicate, bindings) is True


async def _value(tools: Tools, expression: Expression | None, bindings: Mapping[str, Json]) -> Json:
    if expression is None:
        return None
    (found,) = await tools.evaluator.evaluate([expression], bindings)
    return found.value if isinstance(found, Value) else None
