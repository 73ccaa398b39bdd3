"""Answer HTTP calls about agents, their users, their sessions (conversations with users) and messages.

With some of the calls, people answer an agent's question or take over a session.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from ostinato.app import Ostinato
from ostinato.engine.access import Role
from ostinato.engine.idempotency import digest
from ostinato.errors import Conflict, NotFound, OstinatoError
from ostinato.faces.auth import Door, Who
from ostinato.faces.http import agent_campaigns, agent_schedules, agent_tokens
from ostinato.faces.http.agent_parameters import LONGEST_WAIT, AgentName, Id, User, find_session
from ostinato.faces.http.authentication import Operator, Reader, requires
from ostinato.faces.http.idempotency import Key, answer_once, change_id
from ostinato.faces.http.pagination import After, Before, Limit, list_after, list_before, page
from ostinato.faces.http.routing import Body, HttpAnswer, Path, Query, Router
from ostinato.faces.http.shapes.agents import (
    AgentShown,
    AgentsShown,
    EscalationShown,
    EscalationsShown,
    EscalationStatus,
    HandBack,
    PutUser,
    ReceiveMessage,
    ResolveEscalation,
    SaidList,
    SaidShown,
    SayAsPerson,
    SessionShown,
    SessionsShown,
    TurnAccepted,
    TurnEnded,
    TurnShown,
    TurnsShown,
    UserShown,
    UsersShown,
)
from ostinato.faces.http.shapes.common import NO_NUL, StopBody
from ostinato.flows.views import EscalationInfo, SessionInfo, TurnView

if TYPE_CHECKING:  # named in signatures; loaded by what serves
    from fastapi import Request

router = Router(tags=["agents"])
READ, WRITE = requires(Role.READER), requires(Role.OPERATOR)
EscalationId = Annotated[str, Path(min_length=1, max_length=200, pattern=NO_NUL)]
_SIGNED = {
    "openapi_extra": {
        "x-role": "anyone",
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {
                    "schema": {
                        "type": "object",
                        "required": ["id", "user", "text"],
                        "properties": {name: {"type": "string"} for name in ("id", "user", "text", "name", "address")}
                        | {"metadata": {"type": "object"}},
                    }
                }
            },
        },
    }
}
V = TypeVar("V", SessionInfo, TurnView, EscalationInfo)


# Agents and users


@router.get("/agents", **READ)
async def list_agents(who: Reader, after: After = None, limit: Limit = 100) -> AgentsShown:
    """List the agents that nodes have declared, ordered by name."""
    agents, more = page((await who.app.agents.declared()).items(), lambda named: named[0], after, limit)
    return AgentsShown(items=[AgentShown(name=name, **declaration) for name, declaration in agents], next=more)


@router.get("/agents/{agent}", **READ)
async def read_agent(who: Reader, agent: AgentName) -> AgentShown:
    """Read what a node has declared of an agent: its zone, flows, tools and admins."""
    return AgentShown(name=agent, **await who.app.agents.get(agent))


@router.get("/agents/{agent}/users", response_model=UsersShown, **READ)
async def list_users(
    who: Reader,
    agent: AgentName,
    tag: Annotated[str | None, Query(min_length=1, max_length=512, pattern=NO_NUL)] = None,
    after: After = None,
    limit: Limit = 100,
) -> HttpAnswer:
    """List the users of an agent, or only those with a tag, ordered by external id."""
    await who.app.agents.get(agent)
    fetch = partial(who.app.agents.users, agent, tag=tag)
    return await list_after(who, after, limit, fetch, lambda user: user.external_id, UserShown.model_validate)


@router.get("/agents/{agent}/users/{user}", **READ)
async def read_user(who: Reader, agent: AgentName, user: User) -> UserShown:
    """Read a user of an agent: address, zone, consent, tags."""
    return UserShown.model_validate(await who.app.agents.user(agent, user))


@router.patch("/agents/{agent}/users/{user}", **WRITE)
async def put_user(who: Operator, agent: AgentName, user: User, body: PutUser, key: Key = None) -> UserShown:
    """Create a user, or change one. Fields that are left out do not change. Doing it again changes nothing."""
    change = partial(who.app.agents.put_user, agent, user, **body.changes())
    return await answer_once(who.app, key, f"put user {digest(agent, user, body.changes())}", UserShown, change)


@router.delete("/agents/{agent}/users/{user}", status_code=204, **WRITE)
async def delete_user(who: Operator, agent: AgentName, user: User, key: Key = None) -> None:
    """Delete a user with all of their messages, turns and conversations. While a conversation is open, the call is a
    conflict (409)."""
    await who.app.agents.delete_user(agent, user, request_id=key)


# Conversations


@router.get("/agents/{agent}/sessions", response_model=SessionsShown, **READ)
async def list_sessions(
    who: Reader,
    agent: AgentName,
    user: Annotated[str | None, Query(min_length=1, max_length=200, pattern=NO_NUL)] = None,
    before: Before = None,
    limit: Limit = 100,
) -> HttpAnswer:
    """List conversations of an agent, or of one of its users, the newest first."""
    await who.app.agents.get(agent)
    fetch = _fetch_with_users(who, partial(who.app.agents.sessions, agent, user=user))
    return await list_before(who, before, limit, fetch, _id, SessionShown.model_validate)


@router.get("/agents/{agent}/sessions/{session}", **READ)
async def read_session(who: Reader, agent: AgentName, session: Id) -> SessionShown:
    """Read a conversation: its status, its flow, what it waits for, who has taken over."""
    return SessionShown.model_validate(await _with_user(who, await find_session(who, agent, session)))


@router.post("/agents/{agent}/sessions/{session}/end", **WRITE)
async def end_session(who: Operator, agent: AgentName, session: Id, body: StopBody, key: Key = None) -> SessionShown:
    """End a conversation. A flow that waits may clean up first. Doing it again changes nothing."""

    async def end() -> dict[str, Any]:
        await find_session(who, agent, session)
        request_id = change_id("end", key)
        return await _with_user(who, await who.app.agents.end_session(session, body.reason, request_id=request_id))

    what = f"end session {digest(agent, session, body.reason)}"
    return await answer_once(who.app, key, what, SessionShown, end)


@router.get("/agents/{agent}/sessions/{session}/messages", response_model=SaidList, **READ)
async def list_messages(
    who: Reader, agent: AgentName, session: Id, before: Before = None, limit: Limit = 100
) -> HttpAnswer:
    """List what was said in a conversation, the newest first."""
    await find_session(who, agent, session)
    fetch = partial(who.app.agents.messages, session)
    return await list_before(who, before, limit, fetch, lambda message: message.id, SaidShown.model_validate)


@router.get("/agents/{agent}/sessions/{session}/turns", response_model=TurnsShown, **READ)
async def list_turns(
    who: Reader, agent: AgentName, session: Id, before: Before = None, limit: Limit = 100
) -> HttpAnswer:
    """List the turns of a conversation, the newest first: each input and what became of it."""
    await find_session(who, agent, session)
    fetch = _fetch_with_users(who, partial(who.app.agents.turns, session))
    return await list_before(who, before, limit, fetch, _id, TurnShown.model_validate)


@router.get("/agents/{agent}/turns/{turn}", **READ)
async def read_turn(who: Reader, agent: AgentName, turn: Id) -> TurnShown:
    """Read a turn: its input, outcome, tokens and cost."""
    return TurnShown.model_validate(await _with_user(who, await _turn(who, agent, turn)))


@router.get("/agents/{agent}/turns/{turn}/outcome", **READ)
async def read_outcome(
    who: Reader,
    agent: AgentName,
    turn: Id,
    wait: Annotated[float, Query(ge=0, le=LONGEST_WAIT, description="How many seconds to wait for its end.")] = 0,
) -> TurnEnded:
    """Read how a turn ended. While the turn is not over, the answer is a conflict (409)."""
    view = await _turn(who, agent, turn)
    if view.outcome is None and wait:
        with suppress(TimeoutError):  # the turn is read again below
            await who.app.agents.outcome(turn, wait)
        view = await _turn(who, agent, turn)
    if view.outcome is None:
        raise Conflict(f"turn {turn!r} is not over: it is {view.status}")
    return TurnEnded.model_validate(view)


# Messages that come in


@router.post("/agents/{agent}/messages", status_code=202, **WRITE)
async def receive_message(who: Operator, agent: AgentName, body: ReceiveMessage, key: Key = None) -> TurnAccepted:
    """Receive a message from a user. The message is stored before the call is answered, and will be handled once."""
    receive = partial(who.app.agents.receive, agent, **body.model_dump())
    what = f"receive message {digest(agent, body.model_dump())}"
    return await answer_once(who.app, key, what, TurnAccepted, receive)


@router.post("/agents/{agent}/inbound", status_code=202, **_SIGNED)
async def receive_signed(request: Request, agent: AgentName) -> TurnAccepted:
    """Receive a message that is signed as in Standard Webhooks, with a secret of the agent's webhook transport. The
    call needs no token. The message goes to the namespace of the server."""
    state = request.app.state
    if state.inside:
        raise OstinatoError("signed messages come in over HTTP, to a server; `ostinato agents receive` needs none")
    door: Door = state.door
    app: Ostinato = door.app.within(door.app.namespace, f"webhook:{agent}")
    if not app.agents.takes_signed(agent):
        raise NotFound(f"there is no agent {agent!r} here that takes in signed messages")
    return TurnAccepted.model_validate(await app.agents.receive_signed(agent, request.headers, await request.body()))


# People


@router.get("/agents/{agent}/escalations", response_model=EscalationsShown, **READ)
async def list_escalations(
    who: Reader, agent: AgentName, status: EscalationStatus = "pending", before: Before = None, limit: Limit = 100
) -> HttpAnswer:
    """List the questions that an agent asks people to decide, the newest first. The caller must be one of the agent's
    admins."""
    fetch = _fetch_with_users(who, partial(who.app.agents.escalations, agent, status=status))
    return await list_before(who, before, limit, fetch, _id, EscalationShown.model_validate)


@router.get("/agents/{agent}/escalations/{id}", **READ)
async def read_escalation(who: Reader, agent: AgentName, id: EscalationId) -> EscalationShown:
    """Read a question that an agent asks people to decide, and the decision if there is one."""
    return EscalationShown.model_validate(await _with_user(who, await who.app.agents.escalation(agent, id)))


@router.post("/agents/{agent}/escalations/{id}/resolve", **WRITE)
async def resolve_escalation(
    who: Operator, agent: AgentName, id: EscalationId, body: ResolveEscalation, key: Key = None
) -> EscalationShown:
    """Decide a question. The flow that asked it continues. A question that is already decided is a conflict (409)."""

    async def resolve() -> dict[str, Any]:
        info = await who.app.agents.resolve(
            agent, id, body.approved, message=body.message, action=body.action, request_id=change_id("resolve", key)
        )
        return await _with_user(who, info)

    what = f"resolve {digest(agent, id, body.model_dump(), who.actor)}"
    return await answer_once(who.app, key, what, EscalationShown, resolve)


@router.post("/agents/{agent}/users/{user}/take-over", **WRITE)
async def take_over(who: Operator, agent: AgentName, user: User, key: Key = None) -> SessionShown:
    """Take over the conversation with a user: from now on the agent says nothing. Doing it again changes nothing."""

    async def take() -> dict[str, Any]:
        return await _with_user(who, await who.app.agents.take_over(agent, user))

    return await answer_once(who.app, key, f"take over {digest(agent, user, who.actor)}", SessionShown, take)


@router.post("/agents/{agent}/users/{user}/hand-back", **WRITE)
async def hand_back(
    who: Operator,
    agent: AgentName,
    user: User,
    body: Annotated[HandBack, Body(default_factory=HandBack)],
    key: Key = None,
) -> SessionShown:
    """Give the conversation back to the agent. Doing it again changes nothing."""

    async def give() -> dict[str, Any]:
        return await _with_user(who, await who.app.agents.hand_back(agent, user, message=body.message))

    what = f"hand back {digest(agent, user, body.message, who.actor)}"
    return await answer_once(who.app, key, what, SessionShown, give)


@router.post("/agents/{agent}/users/{user}/say", status_code=202, **WRITE)
async def say_as_person(
    who: Operator, agent: AgentName, user: User, body: SayAsPerson, key: Key = None
) -> TurnAccepted:
    """Say something as a person. During a takeover, the user gets the text. If the flow has put a person between itself
    and the user (`ctx.proxy`), the flow gets the text. Repeating the call with the same `id` in the body changes
    nothing. Another text with the same `id` is a conflict (409)."""
    say = partial(who.app.agents.say_as_person, agent, user, body.text, id=body.id)
    what = f"say {digest(agent, user, body.model_dump(), who.actor)}"
    return await answer_once(who.app, key, what, TurnAccepted, say)


def _id(shown: dict[str, Any]) -> str:
    return str(shown["id"])


async def _with_users(who: Who, infos: Sequence[V]) -> list[dict[str, Any]]:
    """Return each of `infos` as a dict. Add a field `user` to each dict, with the external id of the user."""
    users = await who.app.agents.external_ids([info.user_id for info in infos])
    return [{**asdict(info), "user": users.get(info.user_id)} for info in infos]


async def _with_user(who: Who, info: V) -> dict[str, Any]:
    return (await _with_users(who, [info]))[0]


def _fetch_with_users(who: Who, fetch: Callable[..., Awaitable[Sequence[V]]]) -> Callable[..., Any]:
    async def fetch_dicts(**page: Any) -> list[dict[str, Any]]:
        return await _with_users(who, await fetch(**page))

    return fetch_dicts


async def _turn(who: Who, agent: str, id: str) -> TurnView:
    view: TurnView = await who.app.agents.turn(id)
    if view.agent != agent:
        raise NotFound(f"agent {agent!r} has no turn {id!r}")
    return view


router.include(agent_schedules.router, agent_campaigns.router, agent_tokens.router)
