"""Create, list and revoke session tokens. With such a token, an agent's tools act only for the user of one session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from ostinato.app import Ostinato
from ostinato.engine.access import Role, TokenInfo
from ostinato.errors import Conflict, NotFound, OstinatoError
from ostinato.flows.store import statement
from ostinato.flows.views import SessionInfo
from ostinato.model import read_length
from ostinato.store.contract import Operation
from ostinato.when.durations import Length
from ostinato.when.instants import SECOND, optional_datetime, to_datetime

_LONGEST = 3600 * SECOND  # the longest lifetime of a session token


@dataclass(frozen=True, slots=True)
class SessionToken:
    """The description of a session token, without its secret. Tools that are called with the token see the turn whose
    id is `turn_id`."""

    id: str
    agent: str
    session_id: str
    turn_id: str
    created: datetime
    expires: datetime | None
    used: datetime | None
    revoked: datetime | None
    actor: str | None


async def mint_session_token(
    app: Ostinato, session_id: str, *, turn_id: str | None = None, expires_in: Length = "15m"
) -> str:
    """Create a token for a session, and return the token. An agent's tools act for the session's user if the caller of
    the tools sends this token.

    The token is bound to one turn of the session, and the tools see this turn. It is the turn whose id is `turn_id`, or
    the newest turn if `turn_id` is None. The token is valid for the time `expires_in`, but no longer than the session
    lasts. `expires_in` is a text such as `"5m"`, or a number of seconds.

    Call this on the app of the session's namespace. Raises `OstinatoError` if `expires_in` is not positive or is longer
    than an hour. Raises `NotFound` if there is no such session or turn. Raises `Conflict` if the session has ended or
    has no turn yet.
    """
    token, _ = await create_session_token(app, session_id, turn_id=turn_id, expires_in=expires_in)
    return token


async def create_session_token(
    app: Ostinato,
    session_id: str,
    *,
    turn_id: str | None = None,
    expires_in: Length = "15m",
    request_id: str | None = None,
) -> tuple[str, SessionToken]:
    """Create a token as `mint_session_token` does. Return the token and its description.

    Also raises `Conflict` if a request with the same `request_id` was made before. The token of that request cannot be
    returned again, because only its hash is stored.
    """
    check_lifetime(expires_in, "expires_in")
    session = await app.agents.session(session_id)
    if session.ended is not None:
        raise Conflict(f"session {session_id!r} has ended")
    now = app.engine.clock.now()

    def forget_expired(_: int) -> Operation[None]:
        yield statement("drop_expired_session_tokens", now=now)

    bound = {"agent": session.agent, "session": session.id, "turn": await _turn(app, session, turn_id)}
    await app.store.run(forget_expired)
    token, info = await app.create_token(
        Role.AGENT.value,
        namespace=app.namespace,
        label=f"agent:{session.agent}",
        expires_in=expires_in,
        bound=bound,
        request_id=request_id,
    )
    return token, _described(info)


def check_lifetime(expires_in: Length, place: str) -> None:
    """Raise `OstinatoError` if the lifetime of a session token is not positive or is longer than an hour."""
    if not 0 < read_length(expires_in, place) <= _LONGEST:
        raise OstinatoError(f"{place} {expires_in!r} is not more than zero and at most 1h")


async def _turn(app: Ostinato, session: SessionInfo, turn_id: str | None) -> str:
    """Return `turn_id` or, if it is None, the id of the newest turn. Raises `NotFound` if the session does not have the
    turn, and `Conflict` if the session has no turn yet."""
    if turn_id is None:
        turns = await app.agents.turns(session.id, limit=1)
        if not turns:
            raise Conflict(f"session {session.id!r} has no turn yet, and a token is for a turn")
        return str(turns[0].id)
    turn = await app.agents.turn(turn_id)
    if turn.session_id != session.id:
        raise NotFound(f"session {session.id!r} has no turn {turn_id!r}")
    return str(turn.id)


async def list_session_tokens(app: Ostinato, session_id: str) -> Sequence[SessionToken]:
    """Return the descriptions of a session's tokens, the oldest first. Revoked tokens are included.

    Expired tokens are included only until a session token is created the next time, because `create_session_token`
    deletes all expired session tokens.
    """
    return [_described(token) for token in await app.tokens() if _is_of(token, app.namespace, session_id)]


async def revoke_session_token(app: Ostinato, session_id: str, id: str, *, request_id: str | None = None) -> None:
    """Revoke a token of a session. Raises `NotFound` if the session does not have this token."""
    if not any(token.id == id and _is_of(token, app.namespace, session_id) for token in await app.tokens()):
        raise NotFound(f"session {session_id!r} has no token {id!r}")
    await app.revoke_token(id, namespace=app.namespace, request_id=request_id)


def _is_of(token: TokenInfo, namespace: str, session_id: str) -> bool:
    bound = token.bound or {}
    return token.role is Role.AGENT and token.namespace == namespace and bound.get("session") == session_id


def _described(token: TokenInfo) -> SessionToken:
    bound = token.bound or {}
    return SessionToken(
        token.id,
        bound["agent"],
        bound["session"],
        bound["turn"],
        to_datetime(token.created),
        optional_datetime(token.expires),
        optional_datetime(token.used),
        optional_datetime(token.revoked),
        token.actor,
    )
