"""Implement `app.agents`: declare agents, accept messages, read conversations, and let people decide or take over."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from ostinato.engine.context import to_json
from ostinato.engine.group_commit import is_trouble
from ostinato.engine.idempotency import call_id, digest, run_once
from ostinato.engine.listeners import wait_for_event
from ostinato.engine.rows import audit, whole_run
from ostinato.engine.ways import Host
from ostinato.errors import (
    Conflict,
    NotFound,
    OstinatoError,
    check_keywords,
    check_limit,
    check_text,
    did_you_mean,
    naming_keywords,
    short_repr,
)
from ostinato.flows import people
from ostinato.flows.consent import accept_message
from ostinato.flows.content import check_flow
from ostinato.flows.definition import Agent, AgentCodes, make_agent, read_declaration
from ostinato.flows.errors import Denied
from ostinato.flows.hooks import UserInfo
from ostinato.flows.model import (
    ESCALATIONS,
    INBOUND_KEY,
    MOST_ID,
    MOST_MESSAGE_ID,
    MOST_NAME,
    MOST_TEXT,
    TurnInput,
    TurnOutcome,
    TurnRecord,
)
from ostinato.flows.read_values import read_choice, read_truth
from ostinato.flows.runner import check_turn, look_at_turn
from ostinato.flows.schedules.api import AgentSchedules
from ostinato.flows.store import (
    TURN_WIDTH,
    fetch,
    read_escalation,
    read_message,
    read_session,
    read_turn,
    read_user,
    statement,
    user_row,
    write_events,
)
from ostinato.flows.transports import InboundMessage
from ostinato.flows.turns import (
    Accepted,
    Profile,
    TransactionContext,
    create_user,
    end_if_lost,
    lock_known_user,
    lock_user,
    open_session,
    outcome_of,
    read_tags,
)
from ostinato.flows.views import (
    EscalationInfo,
    MessageInfo,
    SessionInfo,
    TurnView,
    escalation_info,
    message_info,
    session_info,
    turn_view,
    user_info,
    user_json,
)
from ostinato.model import Run, read_length
from ostinato.run_views import RunInfo, run_info
from ostinato.store.contract import Operation, Rows, Statement, sql
from ostinato.when import zones
from ostinato.when.durations import Length
from ostinato.when.instants import SECOND
from ostinato.why_unfinished import warn_without_nodes, why_not_over

if TYPE_CHECKING:
    from ostinato.flows.campaigns.api import Campaigns

T = TypeVar("T")
CONSENTS = ("unknown", "opted_in", "opted_out")
_LAST = "\x7f"  # after every id
_POLL = 1.0  # seconds between two looks at a turn
_MOST_TAGS = 100
_KEEP: Any = object()


@dataclass(slots=True)
class AgentApiContext:
    """The objects that all instances of `Agents` of an app share. `declare_function` declares the durable function that
    handles an agent's sessions."""

    host: Host
    codes: AgentCodes
    declare_function: Callable[[Agent], None]


class TurnHandle:
    """An accepted turn. `new` is false if the same input was accepted before."""

    __slots__ = ("_agents", "_outcome", "id", "new")

    def __init__(self, agents: Agents, accepted: Accepted) -> None:
        self._agents = agents
        self._outcome = accepted.outcome
        self.id = accepted.turn_id
        self.new = accepted.new

    async def outcome(self, timeout: Length | None = None) -> TurnOutcome:
        """Wait until the turn is over. Return its outcome. Raises `TimeoutError` if it is not over within `timeout`."""
        if self._outcome is None:
            self._outcome = await self._agents.outcome(self.id, timeout)
        return self._outcome

    def __repr__(self) -> str:
        return f"<turn {self.id}>"


class Agents:
    """Declare agents, accept messages, run turns, read conversations, and act on behalf of people."""

    def __init__(self, context: AgentApiContext, namespace: str, actor: str | None) -> None:
        self._context = context
        self._namespace = namespace
        self._actor = actor

    def within(self, namespace: str, actor: str | None) -> Agents:
        return Agents(self._context, namespace, actor)

    @property
    def codes(self) -> AgentCodes:
        """The agents that this process has declared."""
        return self._context.codes

    # Declaring

    def declare(self, name: str, **options: Any) -> Agent:
        """Declare an agent and return it. `options` are the keywords of `app.agent`."""
        check_keywords(make_agent, options, "app.agent")
        agent = make_agent(name, **options)
        self._context.codes.add(agent)
        self._context.declare_function(agent)
        return agent

    async def declared(self) -> Mapping[str, Mapping[str, Any]]:
        """Return the agents that any node has declared, as a mapping from name to declaration."""
        rows = await self._fetch(statement("declared_agents"))
        stored = {name: read_declaration(text) for name, text, _ in rows}
        here = {name: agent.declaration() for name, agent in self.codes.by_name.items()}
        return {**stored, **here}

    async def get(self, agent: str) -> Mapping[str, Any]:
        """Return an agent's declaration, such as its time zone and flows. Raises `NotFound` if no node has declared
        it."""
        check_text(agent, "the agent's name")
        code = self.codes.get(agent)
        if code is not None:
            return code.declaration()
        agents = await self.declared()
        if agent not in agents:
            hint = did_you_mean(agent, agents) or "no node has declared it yet; declare it with app.agent(…)"
            raise NotFound(f"there is no agent {agent!r}; {hint}")
        return agents[agent]

    def schedules(self, agent: str) -> AgentSchedules:
        """Return the API for the schedules of an agent."""
        check_text(agent, "the agent's name")
        return AgentSchedules(self, agent)

    # Turns

    @naming_keywords("agents.receive")
    async def receive(
        self,
        agent: str,
        user: str,
        text: str,
        *,
        id: str,
        name: str | None = None,
        address: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> TurnHandle:
        """Accept a message from a user. When this returns, the message is stored and will be handled.

        `id` is the message's id in the transport. A second message of the user with the same id is not handled.
        """
        check_text(id, "the message's id", MOST_MESSAGE_ID)
        if name:
            check_text(name, "the user's name")
        if address:
            check_text(address, "the user's address")
        turn_input = TurnInput(
            user=user, source="inbound", key=f"{INBOUND_KEY}{id}", text=text, metadata=metadata or {}
        )
        return await self.run_turn(agent, turn_input, Profile(name or None, address or None))

    async def receive_message(self, agent: str, message: InboundMessage) -> TurnHandle:
        """Accept a message that a transport has read. See `receive`."""
        return await self.receive(
            agent,
            message.user,
            message.text,
            id=message.id,
            name=message.name,
            address=message.address,
            metadata=message.metadata,
        )

    async def receive_signed(self, agent: str, headers: Mapping[str, str], body: bytes) -> TurnHandle:
        """Accept a message that arrived over HTTP, signed with a secret of the agent's transport.

        Raises `SignatureInvalid` if the signature is wrong, and `NotFound` if this process has no such agent. Raises
        `OstinatoError` if the transport cannot read signed messages.
        """
        code = self.codes.get(agent)
        if code is None:
            raise NotFound(f"there is no agent {agent!r} in this process")
        read = getattr(code.settings.transport, "read_inbound", None)
        if read is None:
            raise OstinatoError(f"the transport of agent {agent!r} takes in no messages over HTTP")
        return await self.receive_message(agent, read(headers, body, self._context.host.engine().clock.now()))

    def takes_signed(self, agent: str) -> bool:
        """Return whether this process has the agent and the agent's transport can read signed messages."""
        code = self.codes.get(agent)
        return code is not None and hasattr(code.settings.transport, "read_inbound")

    async def run_turn(self, agent: str, turn_input: TurnInput, profile: Profile | None = None) -> TurnHandle:
        """Accept an input from any source, such as a message or a schedule. Return the handle of its turn."""
        check_turn(turn_input)
        declared = await self.get(agent)
        check_flow(agent, turn_input.flow, declared)
        place = self._place(agent, declared)
        settings = declared.get("campaigns") or {}
        accepted = await self._write(lambda: accept_message(place, turn_input, profile, settings))
        return TurnHandle(self, accepted)

    async def outcome(self, turn_id: str, timeout: Length | None = None) -> TurnOutcome:
        """Wait until a turn is over, and return its outcome. Logs a warning if no node runs on the store.

        Raises `NotFound` if there is no such turn, or `TimeoutError` if the turn is not over within `timeout`. The
        message of `TimeoutError` says what the turn's session waits for.
        """
        host = self._context.host
        seconds = None if timeout is None else read_length(timeout, "timeout") / SECOND
        warned = host.node() is not None
        with host.engine().listeners.watching() as news:
            try:
                async with asyncio.timeout(seconds):
                    while True:
                        news.clear()
                        outcome = await self._find_outcome(turn_id, look=False)
                        if outcome is not None:
                            return outcome
                        if not warned:
                            warned = True
                            await warn_without_nodes(host.store, host.engine().clock.now(), f"turn {turn_id}", turn_id)
                        await wait_for_event(news, _POLL)
                        if not news.is_set() and (outcome := await self._find_outcome(turn_id, look=True)):
                            return outcome
            except TimeoutError:
                words = await why_not_over(host.store, host.engine().clock.now(), self._session_run(turn_id))
                raise TimeoutError(f"turn {turn_id} is not over within {timeout}; its session: {words}") from None

    async def _session_run(self, turn_id: str) -> RunInfo:
        """Return the run that handles the turns of a turn's session. Raises `NotFound` if there is no such turn in the
        namespace, or if the run is deleted."""
        await self._turn(turn_id)

        def read(_: int) -> Operation[Run]:
            rows = yield statement("turn_with_session", id=turn_id)
            if not rows:
                raise NotFound(f"turn {turn_id!r} is deleted")
            session = read_session(rows[0][TURN_WIDTH:])
            runs = yield sql("runs_by_ids", [(session.run_id,)])
            if not runs:
                raise NotFound(f"the run of session {session.id} is deleted")
            return whole_run(runs[0])

        return run_info(await self._context.host.store.read(read))

    async def _find_outcome(self, turn_id: str, *, look: bool) -> TurnOutcome | None:
        """Return the outcome of a turn. Return None if the turn is not over, or if the store cannot be reached.

        If `look` is true, also check the run of the turn's session. If that run is over but the turn has no outcome
        yet, end the session, and return a failed outcome.
        """
        host = self._context.host
        try:
            if look:
                place = TransactionContext(self._namespace, "", "", host.engine().clock.now(), host.new_id)
                return await host.store.run(lambda _: look_at_turn(place, turn_id))
            turn = await self._turn(turn_id)
            return None if turn.outcome is None else outcome_of(turn)
        except Exception as problem:
            if not is_trouble(problem):
                raise
            return None

    async def turn(self, turn_id: str) -> TurnView:
        """Return a turn. Raises `NotFound` if there is no such turn in the namespace."""
        return turn_view(await self._turn(turn_id))

    async def _turn(self, turn_id: str) -> TurnRecord:
        check_text(turn_id, "the turn's id")
        rows = await self._fetch(statement("turn_by_id", id=turn_id))
        if not rows or (turn := read_turn(rows[0])).namespace != self._namespace:
            raise NotFound(f"there is no turn {turn_id!r} in namespace {self._namespace!r}")
        return turn

    async def turns(self, session_id: str, *, before: str | None = None, limit: int = 100) -> Sequence[TurnView]:
        """Return the turns of a session, newest first. `before` is the last id of the previous page."""
        check_limit(limit)
        await self.session(session_id)
        wanted = statement("turns_of_session", session=session_id, before=before or _LAST, limit=limit)
        return [turn_view(read_turn(row)) for row in await self._fetch(wanted)]

    # Campaigns

    def campaigns(self, agent: str) -> Campaigns:
        """Return the API for the campaigns of an agent. A campaign sends messages to many of the agent's users."""
        from ostinato.flows.campaigns.api import Campaigns

        check_text(agent, "the agent's name")
        return Campaigns(self, agent)

    # Users

    async def user(self, agent: str, external_id: str) -> UserInfo:
        """Return a user of an agent. Raises `NotFound` if the agent has no such user."""

        def look(_: int) -> Operation[UserInfo | None]:
            rows = yield statement("agent_user", namespace=self._namespace, agent=agent, user=external_id)
            return (yield from _infos(rows))[0] if rows else None

        info = await self._context.host.store.read(look)
        if info is None:
            raise NotFound(f"agent {agent!r} has no user {external_id!r}")
        return info

    async def users(
        self, agent: str, *, tag: str | None = None, after: str = "", limit: int = 100
    ) -> Sequence[UserInfo]:
        """Return users in the order of their external ids. `after` is the last external id of the previous page."""
        check_limit(limit)
        if tag is not None:
            check_text(tag, "tag")
        await self.get(agent)  # raises `NotFound` if there is no such agent

        def look(_: int) -> Operation[Sequence[UserInfo]]:
            place = {"namespace": self._namespace, "agent": agent, "after": after, "limit": limit}
            if tag is None:
                return (yield from _infos((yield statement("agent_users", **place))))
            return (yield from _infos((yield statement("agent_users_with_tag", tag=tag, **place))))

        return await self._context.host.store.read(look)

    async def external_ids(self, user_ids: Collection[str]) -> Mapping[str, str]:
        """Return a mapping from user ids to external ids. Unknown user ids are left out."""
        ids = [(id,) for id in sorted(set(user_ids))]
        rows: Any = await self._fetch(statement("external_ids", ids, namespace=self._namespace)) if ids else ()
        return dict(rows)

    @naming_keywords("agents.put_user")
    async def put_user(
        self,
        agent: str,
        external_id: str,
        *,
        name: Any = _KEEP,
        address: Any = _KEEP,
        tz: Any = _KEEP,
        locale: Any = _KEEP,
        consent: Any = _KEEP,
        data: Any = _KEEP,
        tags: Collection[str] | None = None,
    ) -> UserInfo:
        """Create or change a user. Omitted fields keep their values. `tags` replaces all tags of the user."""
        declared = await self.get(agent)
        check_text(external_id, "the user's external id")
        for field, value in (("name", name), ("address", address), ("locale", locale)):
            if value is not _KEEP and not (value is None and field != "address"):
                check_text(value, f"the user's {field}")
        if tz is not _KEEP and tz is not None:
            check_text(tz, "the user's tz")
            zones.zone(tz, "the user's tz")
        if consent is not _KEEP:
            read_choice(consent, "the user's consent", CONSENTS)
        if data is not _KEEP and not isinstance(data, Mapping):
            raise OstinatoError(f"the user's data {short_repr(data)} is not an object")
        if tags is not None:
            if isinstance(tags, str) or len(tags) > _MOST_TAGS:
                raise OstinatoError(f"the user's tags {short_repr(tags)} are not a list of at most {_MOST_TAGS}")
            for tag in tags:
                check_text(tag, "a tag")
        stored = data if data is _KEEP else to_json(dict(data), "the user's data")
        fields = {
            "name": name,
            "address": address,
            "zone": tz,
            "locale": locale,
            "consent": consent,
            "data": stored,
        }
        changes = {field: value for field, value in fields.items() if value is not _KEEP}
        place = self._place(agent, declared)
        info: UserInfo = await self._write(lambda: _put_user(place, external_id, changes, tags))
        return info

    async def delete_user(self, agent: str, external_id: str, *, request_id: str | None = None) -> None:
        """Delete a user with all of their messages, turns and sessions. The runs of the sessions are not deleted now,
        but after `keep_runs`, like all other runs.

        Raises `NotFound` if there is no such user, or `Conflict` if the user has an open session. Repeated calls with
        the same `request_id` delete the user only once.
        """
        place = self._place(agent, await self.get(agent))
        host, what = self._context.host, f"delete user {digest(agent, external_id)}"
        await run_once(
            host.store, self._namespace, request_id, what, place.now, lambda: _delete_user(place, external_id)
        )

    # Sessions

    async def end_session(self, session_id: str, reason: str = "", *, request_id: str | None = None) -> SessionInfo:
        """Request the cancellation of a session's run, and return the session. The run ends the session.

        A flow that waits may clean up first, so the returned session may still be open. If the session has already
        ended, nothing changes. Repeated calls with the same `request_id` cancel the run once. Raises `NotFound` if
        there is no such session.
        """
        session = await self.session(session_id)
        if session.ended is None:
            functions = self._context.host.way("functions").within(self._namespace, self._actor)
            await functions.cancel(session.run_id, reason, request_id=request_id)
            host = self._context.host
            now = host.engine().clock.now()
            await host.store.run(lambda _: end_if_lost(session_id, session.user_id, now, host.new_id))
        return await self.session(session_id)

    async def session(self, session_id: str) -> SessionInfo:
        """Return a session. Raises `NotFound` if there is no such session in the namespace."""
        check_text(session_id, "the session's id")
        rows = await self._fetch(statement("session_by_id", id=session_id))
        if not rows or (session := read_session(rows[0])).namespace != self._namespace:
            raise NotFound(f"there is no session {session_id!r} in namespace {self._namespace!r}")
        return session_info(session)

    async def sessions(
        self, agent: str, *, user: str | None = None, before: str | None = None, limit: int = 100
    ) -> Sequence[SessionInfo]:
        """Return an agent's sessions, newest first. If `user` is given, return only the sessions of this user. `before`
        is the last id of the previous page."""
        check_limit(limit)
        await self.get(agent)  # raises `NotFound` if there is no such agent
        user_id = "" if user is None else (await self.user(agent, user)).id
        page = {"before": before or _LAST, "limit": limit}
        wanted = statement("list_sessions", namespace=self._namespace, agent=agent, user=user_id, **page)
        return [session_info(read_session(row)) for row in await self._fetch(wanted)]

    async def messages(self, session_id: str, *, before: str | None = None, limit: int = 100) -> Sequence[MessageInfo]:
        """Return the messages of a session, newest first. `before` is the last id of the previous page."""
        check_limit(limit)
        await self.session(session_id)
        wanted = statement("said_in_session", session=session_id, before=before or _LAST, limit=limit)
        return [message_info(read_message(row)) for row in await self._fetch(wanted)]

    # People

    async def escalations(
        self, agent: str, *, status: str = "pending", before: str | None = None, limit: int = 100
    ) -> Sequence[EscalationInfo]:
        """Return the agent's escalations, newest first. An escalation is a question that a person must decide.

        `before` is the last id of the previous page. Raises `Denied` if the actor is not one of the agent's admins.
        """
        check_limit(limit)
        if status != "":
            read_choice(status, "status", ESCALATIONS)
        await self._allow(agent, "escalation.view", "")
        page = {"before": before or _LAST, "limit": limit}
        wanted = statement("list_escalations", namespace=self._namespace, agent=agent, status=status, **page)
        return [escalation_info(read_escalation(row)) for row in await self._fetch(wanted)]

    async def escalation(self, agent: str, escalation_id: str) -> EscalationInfo:
        """Return one escalation.

        Raises `NotFound` if there is no such escalation, or `Denied` if the actor is not one of the agent's admins.
        """
        check_text(escalation_id, "the escalation's id")
        await self._allow(agent, "escalation.view", escalation_id)
        return await self._escalation(agent, escalation_id)

    async def _escalation(self, agent: str, escalation_id: str) -> EscalationInfo:
        rows = await self._fetch(statement("escalation_by_id", id=escalation_id))
        record = read_escalation(rows[0]) if rows else None
        if record is None or (record.namespace, record.agent) != (self._namespace, agent):
            raise NotFound(f"there is no escalation {escalation_id!r}")
        return escalation_info(record)

    async def resolve(
        self,
        agent: str,
        escalation_id: str,
        approved: bool,
        *,
        message: str | None = None,
        action: Any = None,
        request_id: str | None = None,
    ) -> EscalationInfo:
        """Decide an escalation, so that its flow continues.

        Raises `Denied` if the actor is not one of the agent's admins. Raises `NotFound` if there is no such escalation,
        or `Conflict` if it is already decided. A repeated call with the same `request_id` returns the escalation again.
        """
        check_text(escalation_id, "the escalation's id")
        read_truth(approved, "approved")
        if message is not None:
            check_text(message, "the message")
        if action is not None:
            to_json(action, "the action")
        place = await self._allow(agent, "escalation.resolve", escalation_id)
        actor = self._actor or ""

        def decide() -> Operation[bool]:
            yield from people.resolve(place, escalation_id, approved, message, action, actor)
            return True

        what = f"resolve escalation {digest(agent, escalation_id, approved, message, action, actor)}"
        host = self._context.host
        await run_once(host.store, self._namespace, request_id, what, place.now, decide)
        host.engine().nudge()
        return await self._escalation(agent, escalation_id)

    async def take_over(self, agent: str, user: str) -> SessionInfo:
        """Let the actor, who is a person, speak with a user in place of the agent, and return the session. The agent
        does not answer the user until `hand_back`.

        Raises `Denied` if the actor may not do this, `NotFound` if the user has no open session, or `Conflict` if
        another person has taken over.
        """
        check_text(user, "the user")
        place = await self._allow(agent, "takeover.start", user)
        return session_info(await self._write(lambda: people.take_over(place, user, self._actor or "")))

    async def hand_back(self, agent: str, user: str, *, message: str | None = None) -> SessionInfo:
        """Give a conversation back to the agent, and return the session. Every admin of the agent may call this, not
        only the person who has taken over.

        - If a flow asked for the takeover, the flow gets `message` and continues, even if no person has taken over yet.
        - If there is no takeover and no flow has asked for one, nothing changes.

        Raises `Denied` if the actor may not do this, or `NotFound` if the user has no open session.
        """
        check_text(user, "the user")
        place = await self._allow(agent, "takeover.end", user)
        return session_info(await self._write(lambda: people.hand_back(place, user, self._actor or "", message)))

    async def say_as_person(self, agent: str, user: str, text: str, *, id: str) -> TurnHandle:
        """Send a text of the actor, who is a person, and return the handle of its turn.

        If a person has taken over the conversation, or if a flow has asked for a takeover, the text goes to the user.
        If a flow has put a person between itself and the user (a proxy, see `FlowContext.proxy`), the text goes to the
        flow. Only one person may speak to the flow during a proxy: the first one who does.

        A repeated call with the same `id` and `text` sends nothing, and returns a handle whose `new` is false.

        Raises:

        - `Denied` if the actor may not do this, or if another person speaks to the flow.
        - `NotFound` if the user has no open session.
        - `Conflict` if there is no takeover, no request for one, and no proxy.
        - `Conflict` if another person has taken over.
        - `Conflict` if another text was sent with this `id`.
        """
        check_text(text, "the text", MOST_TEXT)
        check_text(id, "the message's id", MOST_MESSAGE_ID)
        check_text(user, "the user")
        place = await self._allow(agent, "takeover.say", user)
        try:
            accepted = await self._write(lambda: people.say_as_person(place, user, text, id))
        except Denied:
            await self._note_denial(place, "takeover.say", user)
            raise
        return TurnHandle(self, accepted)

    async def _allow(self, agent: str, action: str, subject: str) -> TransactionContext:
        """Check that the actor may do `action`. Return the context of the transaction in which the caller can then do
        the action. If the actor may not do the action, write an event about the refusal, and raise `Denied`.

        `subject` is what the action applies to: a user's external id, an escalation's id, or an empty text.
        """
        declared = await self.get(agent)
        place = self._place(agent, declared)
        code = self.codes.get(agent)
        if code is not None:
            allowed = await code.may(action, self._actor, subject)
        else:  # a function that decides is only in the process that declares the agent
            allowed = self._actor is not None and self._actor in (declared.get("admins") or ())
        if allowed:
            return place
        await self._note_denial(place, action, subject or agent)
        if self._actor is None:
            raise Denied(
                f"{action!r} for agent {agent!r} needs an actor; call app.within(namespace, actor).agents with one of "
                "the agent's admins="
            )
        raise Denied(f"{self._actor!r} may not do {action!r} for agent {agent!r}; its admins= say who may")

    async def _note_denial(self, place: TransactionContext, action: str, subject: str) -> None:
        request = call_id()
        await self._write(lambda: people.note_denial(place, request, action, subject))

    # Inside

    def _place(self, agent: str, declared: Mapping[str, Any]) -> TransactionContext:
        host = self._context.host
        return TransactionContext(
            self._namespace, agent, declared["queue"], host.engine().clock.now(), host.new_id, self._actor
        )

    async def _fetch(self, query: Statement) -> Rows:
        return await fetch(self._context.host.store, query)

    async def _write(self, make: Callable[[], Operation[T]]) -> T:
        host = self._context.host
        written = await host.store.run(lambda _: make())
        host.engine().nudge()
        return written


def _infos(rows: Sequence[Any]) -> Operation[list[UserInfo]]:
    users = [read_user(row) for row in rows]
    tags = yield from read_tags([user.id for user in users])
    return [user_info(user_json(user, tags[user.id])) for user in users]


def _delete_user(place: TransactionContext, external_id: str) -> Operation[None]:
    user = yield from lock_known_user(place, external_id)
    session = yield from open_session(place, user)
    if session is not None:
        raise Conflict(f"user {external_id!r} has an open session; end it first: agents.end_session({session.id!r})")
    for what in ("messages", "outgoing", "escalations", "turns", "tags", "sessions", "user"):
        yield statement(f"forget_agent_{what}", user=user.id)
    # The external id is part of what is deleted.
    event = audit(place.now, place.namespace, "flow:user_deleted", user.id, place.actor, agent=place.agent)
    yield from write_events(event)


def _put_user(
    place: TransactionContext, external_id: str, changes: Mapping[str, Any], tags: Collection[str] | None
) -> Operation[UserInfo]:
    known_user = yield from lock_user(place, external_id)
    if known_user is None:
        check_text(external_id, "the user's external id", MOST_ID)  # older versions have taken longer ones
    user = known_user or (yield from create_user(place, external_id, Profile()))
    consent_at = place.now if changes.get("consent", user.consent) != user.consent else user.consent_at
    changed = sorted(field for field, value in changes.items() if getattr(user, field) != value)
    stored_tags = (yield from read_tags([user.id]))[user.id]
    if tags is not None and sorted(set(tags)) != sorted(stored_tags):
        changed.append("tags")
    for field in changed:  # what is stored may be longer: older versions had no bounds
        if field in ("name", "address", "locale") and changes[field] is not None:
            check_text(changes[field], f"the user's {field}", MOST_NAME)
    for tag in set(tags or ()) - set(stored_tags):
        check_text(tag, "a tag", MOST_NAME)
    if changed or known_user is None:
        details = {"agent": place.agent, "user": external_id, "created": known_user is None, "fields": changed}
        if "consent" in changed:
            details["consent"] = changes["consent"]
        event = audit(place.now, place.namespace, "flow:user_changed", user.id, place.actor, **details)
        yield from write_events(event)
    user = replace(user, **changes, consent_at=consent_at, updated=place.now)
    yield statement("update_agent_users", [user_row(user)])
    if "tags" in changed:
        yield statement("drop_tags", [(user.id,)])
        if tags:
            yield statement("add_tags", [(user.id, tag, place.namespace, place.agent) for tag in sorted(set(tags))])
    return (yield from _infos([user_row(user)]))[0]
