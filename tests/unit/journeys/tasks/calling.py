"""How the tests of task kinds call one: on a small language, a cache in memory, secrets in a dict, and real HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ostinato.engine.egress import Egress, EgressPolicy
from ostinato.engine.secrets import SecretMissing
from ostinato.journeys.expressions.contract import Failure, Value
from ostinato.journeys.language import Definition, Expression
from ostinato.journeys.plugins import Problem, Request, Result, TaskCall, TaskKind
from tests.unit.journeys.examples import journey

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
    known = dict(context or {})

    async def evaluate(expression: Expression, /, **bindings: Any) -> Value | Failure:
        if expression.expr == "!":
            return Failure("SMALL_FAILED", "it cannot be done")
        try:
            return Value(json.loads(expression.expr))
        except json.JSONDecodeError:
            found: Any = {"context": known, "payload": known.get("payload"), **bindings}
            for step in expression.expr.split("."):
                found = found.get(step) if isinstance(found, dict) else None
            return Value(found)

    def secret(reference: str) -> str:
        name = reference.removeprefix("secret://")
        if name not in (secrets or {}):
            raise SecretMissing(f"{reference} is not known here")
        return dict(secrets or {})[name]

    return TaskCall(
        definition=of or definition(),
        settings=settings,
        context=known,
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


def run(kind: TaskKind, call: TaskCall) -> Result | Problem:
    assert [one for one in kind.check(call.settings, call.definition) if one.severity == "error"] == []
    return asyncio.run(kind.run(call))


def context(kind: TaskKind, call: TaskCall) -> Any:
    """What is in the context after a task that did not end its run."""
    found = run(kind, call)
    assert isinstance(found, Result), found
    return found.context


def problem(kind: TaskKind, call: TaskCall) -> Problem:
    found = run(kind, call)
    assert isinstance(found, Problem), found
    return found
