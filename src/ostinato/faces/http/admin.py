"""Namespaces, tokens and nodes over HTTP."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Request

from ostinato.diagnosis import diagnose as look_for_trouble
from ostinato.engine.access import NamespaceInfo, Role, TokenInfo
from ostinato.faces.door import Door, Refused, Who
from ostinato.faces.http.bodies import Route
from ostinato.faces.http.keys import Key
from ostinato.faces.http.paging import After, Limit, page
from ostinato.faces.http.shapes.admin import (
    CheckShown,
    Diagnose,
    Diagnosis,
    Namespaces,
    NamespaceShown,
    NewNamespace,
    NewToken,
    Nodes,
    NodeShown,
    TokenMade,
    Tokens,
    TokenShown,
)
from ostinato.faces.http.who import Admin, Reader, declared
from ostinato.when.instants import Micros, to_datetime

router = APIRouter(route_class=Route)
READ, OWN = declared(Role.READER), declared(Role.ADMIN)


def _moment(at: Micros | None) -> Any:
    return None if at is None else to_datetime(at)


def _namespace(one: NamespaceInfo) -> NamespaceShown:
    return NamespaceShown(name=one.name, notes=one.notes, created=_moment(one.created or None), actor=one.actor)


def _token(one: TokenInfo) -> dict[str, Any]:
    return {
        "id": one.id,
        "namespace": one.namespace,
        "role": one.role.value,
        "label": one.label,
        "created": to_datetime(one.created),
        "expires": _moment(one.expires),
        "used": _moment(one.used),
        "revoked": _moment(one.revoked),
        "actor": one.actor,
    }


@router.get("/namespaces", tags=["namespaces"], **READ)
async def list_namespaces(who: Reader, after: After = None, limit: Limit = 100) -> Namespaces:
    """The namespaces the caller may see."""
    found = await who.app.namespaces()
    own = None if who.token is None else who.token.namespace
    seen, more = page((one for one in found if own in (None, one.name)), lambda one: one.name, after, limit)
    return Namespaces(items=[_namespace(one) for one in seen], next=more)


@router.post("/namespaces", status_code=201, tags=["namespaces"], **OWN)
async def create_namespace(who: Admin, body: NewNamespace, key: Key = None) -> NamespaceShown:
    """Make room for schedules and runs of their own."""
    _unbound(who)
    await who.app.create_namespace(body.name, body.notes, request_id=key)
    (found,) = [one for one in await who.app.namespaces() if one.name == body.name]
    return _namespace(found)


@router.delete("/namespaces/{name}", status_code=204, tags=["namespaces"], **OWN)
async def delete_namespace(
    request: Request, who: Admin, name: Annotated[str, Path(max_length=63)], key: Key = None
) -> None:
    """Remove a namespace that nothing is left of, with its tokens."""
    _unbound(who)
    await who.app.delete_namespace(name, request_id=key)
    door: Door = request.app.state.door
    door.forget()


@router.get("/tokens", tags=["tokens"], **OWN)
async def list_tokens(who: Admin, after: After = None, limit: Limit = 100) -> Tokens:
    """Tokens, without what they are."""
    own = None if who.token is None else who.token.namespace
    found = [one for one in await who.app.tokens() if own is None or one.namespace == own]
    seen, more = page(found, lambda one: one.id, after, limit)
    return Tokens(items=[TokenShown(**_token(one)) for one in seen], next=more)


@router.post("/tokens", status_code=201, tags=["tokens"], **OWN)
async def create_token(
    who: Admin, body: Annotated[NewToken, Body(default_factory=NewToken)], key: Key = None
) -> TokenMade:
    """Make a token, shown this once. A repeated call with the same key is a conflict: there is no second token, and the
    first cannot be shown again."""
    own = None if who.token is None else who.token.namespace
    namespace = own or body.namespace
    token, info = await who.app.create_token(
        body.role, namespace=namespace, label=body.label, expires_in=body.expires_in, request_id=key
    )
    return TokenMade(token=token, **_token(info))


@router.delete("/tokens/{id}", status_code=204, tags=["tokens"], **OWN)
async def revoke_token(request: Request, who: Admin, id: Annotated[str, Path(max_length=64)], key: Key = None) -> None:
    """Revoke a token."""
    own = None if who.token is None else who.token.namespace
    await who.app.revoke_token(id, namespace=own, request_id=key)
    door: Door = request.app.state.door
    door.forget()


@router.get("/nodes", tags=["nodes"], **READ)
async def list_nodes(who: Reader, after: After = None, limit: Limit = 100) -> Nodes:
    """The processes that do the work."""
    now = who.app.engine.clock.now()
    found, more = page(await who.app.nodes(), lambda one: one.id, after, limit)
    return Nodes(
        items=[
            NodeShown(
                id=one.id,
                name=one.name,
                started=to_datetime(one.started),
                lease_until=to_datetime(one.lease_until),
                alive=one.lease_until >= now,
                queues=list(one.queues),
                jobs=list(one.handlers),
                version=one.version,
                zone_rules=one.zone_rules,
            )
            for one in found
        ],
        next=more,
    )


@router.post("/diagnosis", tags=["health"], **OWN)
async def diagnose(who: Admin, body: Annotated[Diagnose, Body(default_factory=Diagnose)], key: Key = None) -> Diagnosis:
    """What is the matter with the store and its nodes, in every namespace, and what to do."""
    _unbound(who)
    found = await look_for_trouble(who.app, repair=body.repair)
    return Diagnosis(
        ok=all(one.state != "wrong" for one in found), items=[CheckShown.model_validate(one) for one in found]
    )


def _unbound(who: Who) -> None:
    if who.token is not None and who.token.namespace is not None:
        raise Refused(403, "forbidden", "this reaches over every namespace; the token is one namespace's")
