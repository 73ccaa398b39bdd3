"""Answer HTTP calls about namespaces, tokens, nodes and the diagnosis of a store."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from ostinato.doctor import diagnose as look_for_trouble
from ostinato.engine.access import Role
from ostinato.faces.auth import Door, Refused, Who
from ostinato.faces.http.authentication import Admin, Reader, requires
from ostinato.faces.http.idempotency import Key
from ostinato.faces.http.pagination import After, Limit, page
from ostinato.faces.http.routing import Body, Path, Router
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
from ostinato.faces.http.shapes.common import NO_NUL

if TYPE_CHECKING:  # named in signatures; loaded by what serves
    from fastapi import Request

router = Router()
READ, OWN = requires(Role.READER), requires(Role.ADMIN)


@router.get("/namespaces", tags=["namespaces"], **READ)
async def list_namespaces(who: Reader, after: After = None, limit: Limit = 100) -> Namespaces:
    """List the namespaces that the caller may see."""
    namespaces = await who.app.namespaces()
    seen, more = page(
        (one for one in namespaces if _bound(who) in (None, one.name)), lambda one: one.name, after, limit
    )
    return Namespaces(items=[NamespaceShown.model_validate(one) for one in seen], next=more)


@router.post("/namespaces", status_code=201, tags=["namespaces"], **OWN)
async def create_namespace(who: Admin, body: NewNamespace, key: Key = None) -> NamespaceShown:
    """Create a namespace."""
    _require_unbound(who)
    namespace, _ = await who.app.ensure_namespace(body.name, body.notes, request_id=key)
    return NamespaceShown.model_validate(namespace)


@router.delete("/namespaces/{name}", status_code=204, tags=["namespaces"], **OWN)
async def delete_namespace(
    request: Request, who: Admin, name: Annotated[str, Path(max_length=63, pattern=NO_NUL)], key: Key = None
) -> None:
    """Delete a namespace, with its tokens and journey definitions. A namespace that still has runs, schedules, webhooks
    or workflows cannot be deleted (409)."""
    _require_unbound(who)
    await who.app.delete_namespace(name, request_id=key)
    door: Door = request.app.state.door
    door.forget()


@router.get("/tokens", tags=["tokens"], **OWN)
async def list_tokens(who: Admin, after: After = None, limit: Limit = 100) -> Tokens:
    """List tokens, without their secrets."""
    tokens = [one for one in await who.app.tokens() if _bound(who) in (None, one.namespace)]
    seen, more = page(tokens, lambda one: one.id, after, limit)
    return Tokens(items=[TokenShown.model_validate(one) for one in seen], next=more)


@router.post("/tokens", status_code=201, tags=["tokens"], **OWN)
async def create_token(
    who: Admin, body: Annotated[NewToken, Body(default_factory=NewToken)], key: Key = None
) -> TokenMade:
    """Create a token. Only this answer shows it. A repeated call with the same key is a conflict (409), because the
    token cannot be shown again."""
    token, info = await who.app.create_token(
        body.role, namespace=_bound(who) or body.namespace, label=body.label, expires_in=body.expires_in, request_id=key
    )
    return TokenMade(token=token, **TokenShown.model_validate(info).model_dump())


@router.delete("/tokens/{id}", status_code=204, tags=["tokens"], **OWN)
async def revoke_token(
    request: Request, who: Admin, id: Annotated[str, Path(max_length=64, pattern=NO_NUL)], key: Key = None
) -> None:
    """Revoke a token."""
    await who.app.revoke_token(id, namespace=_bound(who), request_id=key)
    door: Door = request.app.state.door
    door.forget()


@router.get("/nodes", tags=["nodes"], **READ)
async def list_nodes(who: Reader, after: After = None, limit: Limit = 100) -> Nodes:
    """List the processes that run jobs."""
    now = who.app.engine.clock.now()
    nodes, more = page(await who.app.nodes(), lambda node: node.id, after, limit)
    fields = [{**asdict(node), "jobs": node.handlers, "alive": node.lease_until >= now} for node in nodes]
    return Nodes(items=[NodeShown.model_validate(node) for node in fields], next=more)


@router.post("/diagnosis", tags=["health"], **OWN)
async def diagnose(who: Admin, body: Annotated[Diagnose, Body(default_factory=Diagnose)], key: Key = None) -> Diagnosis:
    """Check the store and its nodes, in every namespace, and say what to do about each problem."""
    _require_unbound(who)
    checks = await look_for_trouble(who.app, repair=body.repair)
    return Diagnosis(
        ok=all(one.state != "wrong" for one in checks), items=[CheckShown.model_validate(one) for one in checks]
    )


def _bound(who: Who) -> str | None:
    """Return the namespace that the caller's token is limited to. None means that there is no such limit."""
    return None if who.token is None else who.token.namespace


def _require_unbound(who: Who) -> None:
    if _bound(who) is not None:
        raise Refused(403, "forbidden", "this concerns every namespace; the token is limited to one")
