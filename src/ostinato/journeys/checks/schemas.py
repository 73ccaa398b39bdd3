"""Check the JSON Schemas in a definition. A reference must lead to a part of the same schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ostinato.documents import Path
from ostinato.errors import short_json
from ostinato.journeys.checks.parts import DefinitionPart
from ostinato.journeys.checks.rules import CheckContext, Rule, RuleFinding
from ostinato.journeys.language.blocks import Output
from ostinato.journeys.language.json_schema import schema_problems
from ostinato.journeys.language.states import Projection
from ostinato.journeys.problems import Severity

# The engine's own fields in a status and in an outcome.
IN_STATUS = "journeyId journeyName phase currentState updatedAt tags attributes _links".split()
IN_OUTCOME = "journeyId journeyName phase status output error outcomeId tags attributes _links".split()


def valid(checking: CheckContext) -> Iterator[RuleFinding]:
    """Report schemas that are not valid JSON Schema 2020-12. If the schema describes an output or a response, the
    finding is a warning. Otherwise the finding is an error. Skip schemas with references that lead out of the
    schema."""
    for part in _schemas(checking):
        severity = Severity.WARNING if isinstance(part.owner, Projection | Output) else None
        if all(one.startswith("#") for _, one in _references(part.value, part.path)):
            for path, message in schema_problems(part.value):
                yield RuleFinding((*part.path, *path), f"this is not JSON Schema 2020-12: {message}", severity=severity)


def stays_here(checking: CheckContext) -> Iterator[RuleFinding]:
    """Report references that lead out of their schema."""
    for part in _schemas(checking):
        for path, reference in _references(part.value, part.path):
            if not reference.startswith("#"):
                message = f"{short_json(reference)} leads out of the schema"
                yield RuleFinding(path, message, "write the schema here, under $defs")


def keeps_reserved(checking: CheckContext) -> Iterator[RuleFinding]:
    """Report fields of a response whose names are reserved for the engine's own fields."""
    for part in checking.parts:
        if isinstance(part.value, Projection):
            reserved = IN_OUTCOME if isinstance(part.owner, Output) else IN_STATUS
            shown_fields = part.value.schema.get("properties")
            for name in shown_fields if isinstance(shown_fields, Mapping) else ():
                if name in reserved:
                    path = (*part.path, "schema", "properties", name)
                    yield RuleFinding(
                        path, f"{name!r} is the engine's own and is never overridden", "rename it", key=True
                    )


def _schemas(checking: CheckContext) -> Iterator[DefinitionPart]:
    for part in checking.parts:
        if part.key == "schema" and part.value is not None:
            yield part


def _references(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, Mapping):
        for name, part in value.items():
            if name in ("$ref", "$dynamicRef") and isinstance(part, str):
                yield (*path, name), part
            else:
                yield from _references(part, (*path, name))
    elif isinstance(value, list):
        for n, part in enumerate(value):
            yield from _references(part, (*path, n))


RULES = (Rule("schema-invalid", valid), Rule("schema-reference", stays_here), Rule("response-reserved", keeps_reserved))
