"""Answer the HTTP calls that deploy, check, read, describe and draw the definitions of journeys."""

from __future__ import annotations

from typing import Annotated, Any

from ostinato.engine.access import Role
from ostinato.engine.idempotency import digest
from ostinato.faces.http.authentication import Operator, Reader, requires
from ostinato.faces.http.idempotency import Key, answer_once
from ostinato.faces.http.journey_openapi import described
from ostinato.faces.http.pagination import After, Limit, page
from ostinato.faces.http.routing import SVG, HttpAnswer, Path, Router, svg_answer
from ostinato.faces.http.shapes.common import NO_NUL
from ostinato.faces.http.shapes.journeys import (
    DefinitionListed,
    DefinitionMade,
    DefinitionShown,
    DefinitionsShown,
    NewDefinition,
    ProblemShown,
    Validated,
)
from ostinato.journeys.drawing import draw
from ostinato.journeys.problems import only_errors

router = Router(tags=["journeys"])
READ, WRITE = requires(Role.READER), requires(Role.OPERATOR)
Name = Annotated[str, Path(min_length=1, max_length=200, pattern=NO_NUL)]
Version = Annotated[str, Path(min_length=1, max_length=100, pattern=NO_NUL)]


@router.post("/journey-definitions", status_code=201, **WRITE)
async def deploy_definition(who: Operator, body: NewDefinition, key: Key = None) -> DefinitionMade:
    """Deploy a version of a definition. New journeys use the latest version. Deploying the same content again changes
    nothing. Other content under the same version is a conflict (409)."""
    journeys = who.app.journeys

    async def deploy() -> DefinitionMade:
        request_id = None if key is None else f"{key}/deploy"
        info, new = await journeys.deploy_text(body.text, body.file, documents=body.documents, request_id=request_id)
        shown = DefinitionShown.model_validate(info)
        warnings = [ProblemShown(**one.as_dict()) for one in info.warnings]
        return DefinitionMade(**shown.model_dump(), new=new, warnings=warnings)

    return await answer_once(who.app, key, f"deploy {digest(body.model_dump())}", DefinitionMade, deploy)


@router.post("/journey-definitions:validate", **READ)
async def validate_definition(who: Reader, body: NewDefinition) -> Validated:
    """Check a definition, and return all its errors and warnings. Nothing is changed."""
    problems = await who.app.journeys.check(body.text, body.file, documents=body.documents)
    return Validated(valid=not only_errors(problems), problems=[ProblemShown(**one.as_dict()) for one in problems])


@router.get("/journey-definitions", **READ)
async def list_definitions(who: Reader, after: After = None, limit: Limit = 100) -> DefinitionsShown:
    """List the deployed versions of all definitions, ordered by name."""
    name, _, version = (after or "").partition(" ")
    definitions = await who.app.journeys.definitions(after=(name, version), limit=limit)
    more = f"{definitions[-1].name} {definitions[-1].version}" if len(definitions) == limit else None
    return DefinitionsShown(items=[DefinitionListed.model_validate(one) for one in definitions], next=more)


@router.get("/journey-definitions/{name}", **READ)
async def list_versions(who: Reader, name: Name, after: After = None, limit: Limit = 100) -> DefinitionsShown:
    """List the versions of one journey."""
    versions, more = page(await who.app.journeys.versions(name), lambda one: one.version, after, limit)
    return DefinitionsShown(items=[DefinitionListed.model_validate(one) for one in versions], next=more)


@router.get("/journey-definitions/{name}/{version}", **READ)
async def read_definition(who: Reader, name: Name, version: Version) -> DefinitionShown:
    """Read a version of a definition, with its text. The version `latest` is the one that new journeys use."""
    return DefinitionShown.model_validate(await who.app.journeys.definition(name, _version(version)))


@router.get("/journey-definitions/{name}/{version}/openapi.json", **READ)
async def describe_definition(who: Reader, name: Name, version: Version) -> dict[str, Any]:
    """Describe the journey's own API as OpenAPI: its inputs and steps, with their schemas."""
    return described(await who.app.journeys.read_definition(name, _version(version)))


@router.get("/journey-definitions/{name}/{version}/diagram.svg", **SVG, **READ)
async def draw_definition(who: Reader, name: Name, version: Version) -> HttpAnswer:
    """Draw the states of a journey as SVG."""
    return svg_answer(draw(await who.app.journeys.read_definition(name, _version(version))))


def _version(version: str) -> str | None:
    return None if version == "latest" else version
