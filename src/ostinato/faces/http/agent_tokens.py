"""Answer HTTP calls that create, list and revoke tokens of agent sessions. With such a token, an agent's tools act for
the user of a session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ostinato.engine.access import Role
from ostinato.faces.auth import Door
from ostinato.faces.http.agent_parameters import AgentName, Id, find_session
from ostinato.faces.http.authentication import Operator, requires
from ostinato.faces.http.idempotency import Key
from ostinato.faces.http.pagination import After, Limit, page
from ostinato.faces.http.routing import Body, Router
from ostinato.faces.http.shapes.agent_tokens import MintToken, SessionTokenMade, SessionTokens, SessionTokenShown
from ostinato.faces.session_tokens import create_session_token, list_session_tokens, revoke_session_token

if TYPE_CHECKING:  # named in signatures; loaded by what serves
    from fastapi import Request

router = Router(tags=["agents"])
WRITE = requires(Role.OPERATOR)


@router.get("/agents/{agent}/sessions/{session}/tokens", **WRITE)
async def list_tokens_of_session(
    who: Operator, agent: AgentName, session: Id, after: After = None, limit: Limit = 100
) -> SessionTokens:
    """List the tokens of a session, without their secrets."""
    await find_session(who, agent, session)
    tokens, more = page(await list_session_tokens(who.app, session), lambda token: token.id, after, limit)
    return SessionTokens(items=[SessionTokenShown.model_validate(token) for token in tokens], next=more)


@router.post("/agents/{agent}/sessions/{session}/tokens", status_code=201, **WRITE)
async def mint_token_of_session(
    who: Operator,
    agent: AgentName,
    session: Id,
    body: Annotated[MintToken, Body(default_factory=MintToken)],
    key: Key = None,
) -> SessionTokenMade:
    """Create a token with which the agent's tools act for the user of a session. It is valid for an hour at most, and
    only this answer shows it. A repeated call with the same key is a conflict (409)."""
    await find_session(who, agent, session)
    token, info = await create_session_token(
        who.app, session, turn_id=body.turn_id, expires_in=body.expires_in, request_id=key
    )
    return SessionTokenMade(token=token, **SessionTokenShown.model_validate(info).model_dump())


@router.delete("/agents/{agent}/sessions/{session}/tokens/{id}", status_code=204, **WRITE)
async def revoke_token_of_session(
    request: Request, who: Operator, agent: AgentName, session: Id, id: Id, key: Key = None
) -> None:
    """Revoke a token of a session."""
    await find_session(who, agent, session)
    await revoke_session_token(who.app, session, id, request_id=key)
    door: Door = request.app.state.door
    door.forget()
