"""How the tests of task kinds call one: on a small language, a cache in memory, secrets in a dict, and real HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ostinato.engine.http.egress import Egress, EgressPolicy
from ostinato.engine.http.secrets import SecretMissing
from ostinato.journeys.expressions.contract import Failure, Value
from ostinato.journeys.language import Definition, Expression
from ostinato.journeys.task_kind import Request, TaskCall, TaskKind, TaskProblem, TaskResult
from tests.support.journey_documents import journey

NOW = 1_790_000_000_000_000
LOOPBACK = Egress(EgressPolicy(allow_private=True))
SPEC = "a: {type: succeed}"


class MemoryCache:
    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.ttls: dict[str, int | None] = {}

    async def get(self, key: str) -> Any:
        return self.values.get(key)

    async def put(self, key: str, value: Any, ttl_s: int | None) -> None:
        self.values[key] = value
        self.ttls[key] = ttl_s


def mapper(expr: str) -> dict[str, Any]:
    """Settings with an expression of the small language: a path through the bindings, or JSON; `!` fails."""
    return {"mapper": {"lang": "small", "expr": expr}}


def definition(spec: str = "", documents: Mapping[str, str] | None = None) -> Definition:
    return replace(journey(SPEC, spec=spec), documents=dict(documents or {}))


def call_of(
    settings: Mapping[str, Any],
    context: Mapping[str, Any] | None = None,
    *,
    of: Definition | None = None,
    request: Request | None = None,
    secrets: Mapping[str, str] | None = None,
    remaining_s: float | None = None,
    now: int = NOW,
    **services: Any,
) -> TaskCall:
    values = dict(context or {})

    async def evaluate(expression: Expression, /, **bindings: Any) -> Value | Failure:
        if expression.expr == "!":
            return Failure("SMALL_FAILED", "it cannot be done")
        try:
            return Value(json.loads(expression.expr))
        except json.JSONDecodeError:
            value: Any = {"context": values, "payload": values.get("payload"), **bindings}
            for step in expression.expr.split("."):
                value = value.get(step) if isinstance(value, dict) else None
            return Value(value)

    def secret(reference: str) -> str:
        name = reference.removeprefix("secret://")
        if name not in (secrets or {}):
            raise SecretMissing(f"{reference} is not known here")
        return dict(secrets or {})[name]

    return TaskCall(
        definition=of or definition(),
        settings=settings,
        context=values,
        run_id="run-1",
        state="a",
        key="run-1:0:1",
        now=now,
        remaining_s=remaining_s,
        request=request,
        evaluate=evaluate,
        secret=secret,
        services={"egress": LOOPBACK, "cache": MemoryCache(), **services},
    )


def run(kind: TaskKind, call: TaskCall) -> TaskResult | TaskProblem:
    assert [one for one in kind.check(call.settings, call.definition) if one.severity == "error"] == []
    return asyncio.run(kind.run(call))


def context(kind: TaskKind, call: TaskCall) -> Any:
    """What is in the context after a task that did not end its run."""
    result = run(kind, call)
    assert isinstance(result, TaskResult), result
    return result.context


def problem(kind: TaskKind, call: TaskCall) -> TaskProblem:
    result = run(kind, call)
    assert isinstance(result, TaskProblem), result
    return result
