"""Check a journey's text as a deployment does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ostinato.journeys.checks import check
from ostinato.journeys.documents import JourneyDocument, read_document
from ostinato.journeys.expressions.contract import Evaluation, Failure, Value
from ostinato.journeys.language import draft
from ostinato.journeys.problems import JourneyProblem, sort_problems
from ostinato.journeys.settings import ApiKeyProfile, JourneyLimits, JourneySettings, JwtProfile, MtlsProfile
from ostinato.journeys.task_kind import Plugins
from ostinato.journeys.tasks.standard import standard_kinds

OPENAPI = """
openapi: 3.1.0
servers: [{url: 'https://users.example/v1'}]
paths: {'/users/{id}': {get: {operationId: getUser}}}
"""
SETTINGS = JourneySettings(
    platform={"base": "https://x.example"},
    limits=JourneyLimits(longest_timer_s=400 * 24 * 3600),
    jwt={"default": JwtProfile(jwks={"keys": []})},
    api_keys={"default": ApiKeyProfile(keys={})},
    mtls={"default": MtlsProfile()},
)


@dataclass
class Small:
    """A language in which a path that ends with a dot is a mistake."""

    name: str

    def check(self, expr: str) -> str | None:
        return "a name is missing after the dot" if expr.endswith(".") and len(expr) > 1 else None

    async def evaluate(self, requests: Sequence[Evaluation]) -> list[Value | Failure]:
        return [Failure("SMALL", "never") for _ in requests]

    def close(self) -> None: ...


LANGUAGES = [Small(name) for name in ("plain", "dataweave", "jq", "jsonata")]
PLUGINS = Plugins(standard_kinds(SETTINGS), LANGUAGES)


def problems_in(text: str) -> list[JourneyProblem]:
    return problems_of(read_document(text))


def problems_of(document: JourneyDocument) -> list[JourneyProblem]:
    """Return every problem of a document, from the reader and from the rules."""
    written = draft(document)
    if written.definition is None:
        return written.problems
    definition = replace(written.definition, documents={"users.openapi.yaml": OPENAPI})
    beyond = check(definition, document.positions, PLUGINS, settings=SETTINGS, unread=written.unread)
    return sort_problems([*written.problems, *beyond])
