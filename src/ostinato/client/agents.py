"""Call a server about agents: `client.agents`, like `app.agents`, but without the calls that take Python code."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from functools import partial
from typing import Any

from ostinato.client.agent_campaigns import AgentCampaigns
from ostinato.client.agent_schedules import AgentSchedules
from ostinato.client.calling import CallGroup, Json, path_of, without_none

_path = partial(path_of, "/agents")


class Agents(CallGroup):
    """The calls about agents, their users and sessions, and the questions that agents ask people. `user` is a user's
    external id. The server records the owner of the client's token as the actor. `key` is an idempotency key; by
    default, the client generates one."""

    async def get(self, agent: str) -> Json:
        """Return the declaration of an agent, such as its time zone and flows. Raises `NotFound` if no node has
        declared the agent."""
        return await self._calling.one("GET", _path(agent))

    def schedules(self, agent: str) -> AgentSchedules:
        """Return the calls about the schedules of an agent."""
        return AgentSchedules(self._calling, agent)

    def campaigns(self, agent: str) -> AgentCampaigns:
        """Return the calls about the campaigns of an agent. A campaign sends messages to many users."""
        return AgentCampaigns(self._calling, agent)

    # Messages and turns

    async def receive(
        self,
        agent: str,
        user: str,
        text: str,
        *,
        id: str | None = None,
        name: str | None = None,
        address: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> Json:
        """Pass a user's message to an agent. The answer has the id of the turn that handles the message. If several
        messages of a user have the same `id`, the agent handles only the first. By default, the client generates an
        `id`."""
        body = without_none(
            user=user,
            text=text,
            id=id or secrets.token_hex(16),
            name=name,
            address=address,
            metadata=None if metadata is None else dict(metadata),
        )
        return await self._calling.one("POST", _path(agent, "messages"), body, key=key)

    async def turn(self, agent: str, turn_id: str) -> Json:
        return await self._calling.one("GET", _path(agent, "turns", turn_id))

    async def outcome(self, agent: str, turn_id: str, *, wait: float = 0) -> Json:
        """Return the outcome of a turn. The server waits up to `wait` seconds, at most 20, for the turn to end. Raises
        `Conflict` if the turn has not ended by then."""
        return await self._calling.one("GET", _path(agent, "turns", turn_id, "outcome"), wait=wait or None)

    async def turns(self, agent: str, session_id: str, *, before: str | None = None, limit: int = 100) -> list[Json]:
        """List the turns of a session, the newest first."""
        return await self._calling.pages(_path(agent, "sessions", session_id, "turns"), "before", before, limit)

    # Users

    async def user(self, agent: str, user: str) -> Json:
        return await self._calling.one("GET", _path(agent, "users", user))

    async def users(
        self, agent: str, *, tag: str | None = None, after: str | None = None, limit: int = 100
    ) -> list[Json]:
        """List users of an agent, ordered by external id. `tag` selects the users with that tag."""
        return await self._calling.pages(_path(agent, "users"), "after", after, limit, tag=tag)

    async def put_user(self, /, agent: str, user: str, *, key: str | None = None, **changes: Any) -> Json:
        """Create or change a user. The fields are name, address, tz, locale, consent, data and tags."""
        return await self._calling.one("PATCH", _path(agent, "users", user), changes, key=key)

    async def delete_user(self, agent: str, user: str, *, key: str | None = None) -> None:
        """Delete a user with all their messages, turns and sessions. Raises `Conflict` while a session is open."""
        await self._calling.call("DELETE", _path(agent, "users", user), key=key)

    # Sessions

    async def session(self, agent: str, session_id: str) -> Json:
        return await self._calling.one("GET", _path(agent, "sessions", session_id))

    async def sessions(
        self, agent: str, *, user: str | None = None, before: str | None = None, limit: int = 100
    ) -> list[Json]:
        """List sessions of an agent, or of one of its users, the newest first."""
        return await self._calling.pages(_path(agent, "sessions"), "before", before, limit, user=user)

    async def end_session(self, agent: str, session_id: str, reason: str = "", *, key: str | None = None) -> Json:
        """Request the end of a session, and return the session. The returned session may still be open, because its
        flow may clean up before the session ends."""
        body = {"reason": reason}
        return await self._calling.one("POST", _path(agent, "sessions", session_id, "end"), body, key=key)

    async def messages(self, agent: str, session_id: str, *, before: str | None = None, limit: int = 100) -> list[Json]:
        """List the messages of a session, the newest first."""
        return await self._calling.pages(_path(agent, "sessions", session_id, "messages"), "before", before, limit)

    # Tokens of sessions

    async def mint_session_token(
        self, agent: str, session_id: str, *, turn_id: str | None = None, expires_in: str | float | None = None
    ) -> Json:
        """Create a token with which the agent's tools act for the user of a session. Only this answer has the token's
        secret text. If the answer may have been lost, the client raises an error and does not retry the call, because a
        second call would create a second token."""
        body = without_none(turn_id=turn_id, expires_in=expires_in)
        place = _path(agent, "sessions", session_id, "tokens")
        return await self._calling.one("POST", place, body, once=False)

    async def session_tokens(self, agent: str, session_id: str) -> list[Json]:
        """List the tokens of a session, without their secrets."""
        return await self._calling.all(_path(agent, "sessions", session_id, "tokens"))

    async def revoke_session_token(self, agent: str, session_id: str, id: str) -> None:
        await self._calling.call("DELETE", _path(agent, "sessions", session_id, "tokens", id))

    # People

    async def escalations(
        self, agent: str, *, status: str = "pending", before: str | None = None, limit: int = 100
    ) -> list[Json]:
        """List the escalations of an agent, the newest first. An escalation is a question for a person."""
        return await self._calling.pages(_path(agent, "escalations"), "before", before, limit, status=status)

    async def escalation(self, agent: str, escalation_id: str) -> Json:
        return await self._calling.one("GET", _path(agent, "escalations", escalation_id))

    async def resolve(
        self,
        agent: str,
        escalation_id: str,
        approved: bool,
        *,
        message: str | None = None,
        action: Any = None,
        key: str | None = None,
    ) -> Json:
        """Approve or reject the action of an escalation. Raises `Conflict` if the escalation is already decided."""
        body = without_none(approved=approved, message=message, action=action)
        return await self._calling.one("POST", _path(agent, "escalations", escalation_id, "resolve"), body, key=key)

    async def take_over(self, agent: str, user: str, *, key: str | None = None) -> Json:
        """Let a person take over the conversation with a user. The agent says nothing until `hand_back`."""
        return await self._calling.one("POST", _path(agent, "users", user, "take-over"), key=key)

    async def hand_back(self, agent: str, user: str, *, message: str | None = None, key: str | None = None) -> Json:
        """Give the conversation with a user back to the agent, and return the session. If nobody has taken over the
        conversation, nothing changes."""
        body = without_none(message=message)
        return await self._calling.one("POST", _path(agent, "users", user, "hand-back"), body, key=key)

    async def say(self, agent: str, user: str, text: str, *, id: str | None = None, key: str | None = None) -> Json:
        """Send a text to a user whose conversation a person has taken over. Calls with the same `id` send the text only
        once, and only the first answer has `new` true. Raises `Conflict` if this `id` was used for a different text."""
        body = {"text": text, "id": id or secrets.token_hex(16)}
        return await self._calling.one("POST", _path(agent, "users", user, "say"), body, key=key)

    async def list(self) -> list[Json]:
        """List the agents that nodes have declared, by name."""
        return await self._calling.all("/agents")
