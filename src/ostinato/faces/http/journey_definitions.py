"""Definitions of journeys over HTTP: put on record, listed, read, checked, described."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Response

from ostinato.engine.access import Role
from ostinato.engine.requests import digest
from ostinato.faces.http.bodies import Route
from ostinato.faces.http.journey_openapi import described
from ostinato.faces.http.keys import Key, done_once
from ostinato.faces.http.paging import After, Limit, page
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
from ostinato.faces.http.who import Operator, Reader, declared
from ostinato.journeys.drawing import draw
from ostinato.journeys.library import DefinitionInfo
from ostinato.journeys.problems import errors

router = APIRouter(route_class=Route, tags=["journeys"])
READ, WRITE = declared(Role.READER), declared(Role.OPERATOR)
Name = Annotated[str, Path(min_length=1, max_length=200, pattern=NO_NUL)]
Version = Annotated[str, Path(min_length=1, max_length=100, pattern=NO_NUL)]


def _listed(one: DefinitionInfo) -> DefinitionListed:
    return DefinitionListed.model_validate(one)


@router.post("/journey-definitions", status_code=201, **WRITE)
async def deploy_definition(who: Operator, body: NewDefinition, key: Key = None) -> DefinitionMade:
    """Put a version on record; journeys that start from now on are of the latest. A version never changes: the same
    again is fine, another content under its number is a conflict."""
    journeys = who.app.journeys

    async def deploy() -> DefinitionMade:
        own = None if key is None else f"{key}/deploy"
        info, new = await journeys.deploy_text(body.text, body.file, documents=body.documents, request_id=own)
        shown = DefinitionShown.model_validate(info)
        warnings = [ProblemShown(**one.as_dict()) for one in info.warnings]
        return DefinitionMade(**shown.model_dump(), new=new, warnings=warnings)

    return await done_once(who.app, key, f"deploy {digest(body.model_dump())}", DefinitionMade, deploy)


@router.post("/journey-definitions:validate", **READ)
async def validate_definition(who: Reader, body: NewDefinition) -> Validated:
    """Everything that is to be said about a text. Nothing is changed."""
    found = await who.app.journeys.check(body.text, body.file, documents=body.documents)
    return Validated(valid=not errors(found), problems=[ProblemShown(**one.as_dict()) for one in found])


@router.get("/journey-definitions", **READ)
async def list_definitions(who: Reader, after: After = None, limit: Limit = 100) -> DefinitionsShown:
    """The versions on record, by name."""
    name, _, version = (after or "").partition(" ")
    found = await who.app.journeys.definitions(after=(name, version), limit=limit)
    more = f"{found[-1].name} {found[-1].version}" if len(found) == limit else None
    return DefinitionsShown(items=[_listed(one) for one in found], next=more)


@router.get("/journey-definitions/{name}", **READ)
async def list_versions(who: Reader, name: Name, after: After = None, limit: Limit = 100) -> DefinitionsShown:
    """The versions of one journey."""
    found, more = page(await who.app.journeys.versions(name), lambda one: one.version, after, limit)
    return DefinitionsShown(items=[_listed(one) for one in found], next=more)


@router.get("/journey-definitions/{name}/{version}", **READ)
async def read_definition(who: Reader, name: Name, version: Version) -> DefinitionShown:
    """A version with its text; `latest` is the one that starts get."""
    return DefinitionShown.model_validate(await who.app.journeys.definition(name, _named(version)))


@router.get("/journey-definitions/{name}/{version}/openapi.json", **READ)
async def describe_definition(who: Reader, name: Name, version: Version) -> dict[str, Any]:
    """The journey's own API: its inputs and steps, with their schemas."""
    return described(await who.app.journeys.read_definition(name, _named(version)))


@router.get(
    "/journey-definitions/{name}/{version}/diagram.svg",
    response_class=Response,
    responses={200: {"content": {"image/svg+xml": {}}}},
    **READ,
)
async def draw_definition(who: Reader, name: Name, version: Version) -> Response:
    """Its states as a picture."""
    definition = await who.app.journeys.read_definition(name, _named(version))
    return Response(draw(definition), media_type="image/svg+xml")


def _named(version: str) -> str | None:
    return None if version == "latest" else version
