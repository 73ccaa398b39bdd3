"""Rules about the JSON Schemas in a definition. Nothing is fetched: a schema that refers elsewhere is refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ostinato.errors import shown_json as shown
from ostinato.journeys.checks.parts import Part
from ostinato.journeys.checks.rules import Checking, Finding, Rule
from ostinato.journeys.language.blocks import Output
from ostinato.journeys.language.states import Projection
from ostinato.journeys.problems import Severity
from ostinato.journeys.schemas import problems
from ostinato.schedules.marked import Path

# What a status and an outcome show by themselves.
IN_STATUS = "journeyId journeyName phase currentState updatedAt tags attributes _links".split()
IN_OUTCOME = "journeyId journeyName phase status output error outcomeId tags attributes _links".split()


def valid(checking: Checking) -> Iterator[Finding]:
    """What decides about input is a JSON Schema 2020-12; what only describes an answer should be one."""
    for part in _schemas(checking):
        severity = Severity.WARNING if isinstance(part.owner, Projection | Output) else None
        if not any(_leads_out(one) for _, one in _references(part.value, part.path)):
            for path, message in problems(part.value):
                yield Finding((*part.path, *path), f"this is not JSON Schema 2020-12: {message}", severity=severity)


def stays_here(checking: Checking) -> Iterator[Finding]:
    """A schema refers to parts of itself alone."""
    for part in _schemas(checking):
        for path, reference in _references(part.value, part.path):
            if _leads_out(reference):
                yield Finding(path, f"{shown(reference)} leads out of the schema", "write the schema here, under $defs")


def keeps_reserved(checking: Checking) -> Iterator[Finding]:
    """What a journey shows beside a status or an outcome has none of their names."""
    for part in checking.parts:
        if isinstance(part.value, Projection):
            reserved = IN_OUTCOME if isinstance(part.owner, Output) else IN_STATUS
            shown_fields = part.value.schema.get("properties")
            for name in shown_fields if isinstance(shown_fields, Mapping) else ():
                if name in reserved:
                    path = (*part.path, "schema", "properties", name)
                    yield Finding(path, f"{name!r} is the engine's own and is never overridden", "rename it", key=True)


def _schemas(checking: Checking) -> Iterator[Part]:
    for part in checking.parts:
        if part.key == "schema" and part.value is not None:
            yield part


def _references(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, Mapping):
        for name, one in value.items():
            if name in ("$ref", "$dynamicRef") and isinstance(one, str):
                yield (*path, name), one
            else:
                yield from _references(one, (*path, name))
    elif isinstance(value, list):
        for n, one in enumerate(value):
            yield from _references(one, (*path, n))


def _leads_out(reference: str) -> bool:
    return not reference.startswith("#")


RULES = (Rule("schema-invalid", valid), Rule("schema-reference", stays_here), Rule("response-reserved", keeps_reserved))
