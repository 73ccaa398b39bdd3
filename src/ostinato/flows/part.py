"""Connect agents to one app. `AgentsPart` makes the API `app.agents`, declares the durable functions of agents, and
provides their background loops."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from ostinato.engine.kinds import Body
from ostinato.engine.listeners import wait_for_event
from ostinato.engine.node import Engine
from ostinato.engine.ways import Host, Loop, Part, Runtime
from ostinato.errors import OstinatoError, short_repr
from ostinato.flows.api import AgentApiContext, Agents
from ostinato.flows.campaigns.changes import end_lost_campaign
from ostinato.flows.campaigns.model import CAMPAIGN_FUNCTION
from ostinato.flows.campaigns.run import CampaignContext, campaign_function
from ostinato.flows.definition import Agent, AgentCodes, write_declaration
from ostinato.flows.direct_turns import DirectTurns
from ostinato.flows.lost import FINDINGS, end_lost_sessions, lost_campaigns, scan
from ostinato.flows.model import TURN_FUNCTION
from ostinato.flows.retention import delete_old
from ostinato.flows.runner import look_at_turn, turn_function
from ostinato.flows.schedules.api import AgentSchedules, apply_schedules, check_agreement
from ostinato.flows.schedules.occurrence import occurrence_function
from ostinato.flows.schedules.operations import OCCURRENCE
from ostinato.flows.schedules.tools import ScheduleTools, add_schedule_tools, check_schedule_tools
from ostinato.flows.session import SessionActor
from ostinato.flows.store import statement
from ostinato.flows.turns import TransactionContext
from ostinato.flows.writing import close_group
from ostinato.functions.context import FunctionContext
from ostinato.store.contract import Operation, Rows
from ostinato.when.instants import SECOND

_PAUSE = 1.0  # least seconds between two searches for lost sessions
_FIRST_LOOK = 3600 * SECOND  # how far back the first search goes; the scanner finds what was lost before
_OVERLAP = 10 * SECOND  # by which searches overlap: clocks differ, and a commit comes later than its time
_SELDOM = 300.0  # most seconds between them
_HOUR = 3600.0  # seconds between two deletions of what is old
_SOON = 5.0  # most seconds between them while turns of a lost campaign are in progress


class AgentsPart(Part):
    api: Agents

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self._context = AgentApiContext(host, AgentCodes(), self._declare)
        self.api = Agents(self._context, host.namespace, host.actor)
        self._turns = DirectTurns(host)

    def take_over(self, before: Part) -> None:
        assert isinstance(before, AgentsPart)
        self._context.codes = before._context.codes
        before._successor = self

    _successor: AgentsPart | None = None

    @property
    def _newest(self) -> AgentsPart:
        """The `AgentsPart` that the app uses now. This is usually the object itself. But `app.configure` replaces the
        `AgentsPart` of the app, and the replaced object then returns its latest replacement."""
        return self if self._successor is None else self._successor._newest

    def _declare(self, agent: Agent) -> None:
        """Declare the durable function for an agent's sessions, and add the agent's tools for schedules. If this is the
        first agent, also declare the durable functions that all agents share."""
        functions = self.host.way("functions")

        async def session(
            ctx: FunctionContext,
            session: str,
            deferred: Sequence[Any] = (),
            ending: str | None = None,
            active: int | None = None,
        ) -> None:
            await SessionActor(self._newest.host, agent, ctx, session, list(deferred), ending, active).run()

        functions.declare(name=agent.function_name, queue=agent.settings.queue)(session)
        if TURN_FUNCTION not in functions.codes:
            codes = self._context.codes
            functions.declare(name=TURN_FUNCTION)(turn_function(self._host, codes))
            functions.declare(name=CAMPAIGN_FUNCTION)(campaign_function(lambda: self._newest.campaign_context))
            functions.declare(name=OCCURRENCE)(occurrence_function(self._host, codes))

        def schedules_in(namespace: str) -> AgentSchedules:
            return self._newest.api.within(namespace, None).schedules(agent.name)

        for tools in agent.settings.tools:
            if not isinstance(tools, ScheduleTools):
                raise OstinatoError(
                    f"agent {agent.name!r}: tools {short_repr(tools)} is not schedule_tools(…); declare a function "
                    "with @agent.tool"
                )
            add_schedule_tools(agent, tools, schedules_in)

    def _host(self) -> Host:
        return self._newest.host

    @property
    def campaign_context(self) -> CampaignContext:
        return CampaignContext(self.host, self._context.codes.get, self._turns)

    def begin(self, engine: Engine) -> Mapping[str, Body]:
        self._turns.start()
        return {}

    async def prepare(self) -> None:
        """Store the declarations of this process's agents for other processes, and apply the agents' schedules."""
        host, agents = self.host, list(self._context.codes.by_name.values())
        now = host.engine().clock.now()
        for agent in agents:
            agent.check()
            check_schedule_tools(agent)
        if not agents:
            return
        check_agreement(agents)
        rows = [(agent.name, write_declaration(agent.declaration()), now) for agent in agents]

        def declare(_: int) -> Operation[None]:
            yield statement("declare_agents", rows)

        await host.store.run(declare)
        for agent in agents:
            now = host.engine().clock.now()
            place = TransactionContext(host.namespace, agent.name, agent.settings.queue, now, host.new_id, host.actor)
            await apply_schedules(host, agent, place, agent.declaration())

    def loops(self) -> Mapping[str, Loop]:
        agents = self._context.codes.by_name.values()
        loops: dict[str, Loop] = {"lost sessions": self._end_lost} if agents else {}
        if any(agent.settings.keep is not None for agent in agents):
            loops["old conversations"] = self._delete_old
        return loops

    async def close(self) -> None:
        await self._turns.stop()
        await close_group(self.host.store)

    async def _end_lost(self) -> None:
        """Look again and again for open sessions and campaigns whose run has failed or was stopped, and end them."""
        host = self.host

        since = host.engine().clock.now() - _FIRST_LOOK

        def look(_: int) -> Operation[tuple[Rows, Rows, Rows]]:
            turns = yield statement("lost_turns", limit=FINDINGS)
            sessions = yield statement("newly_lost_sessions", since=since, limit=FINDINGS)
            return turns, sessions, (yield from lost_campaigns(host.engine().clock.now()))

        with host.engine().listeners.watching() as news:
            while True:
                now = host.engine().clock.now()
                turns, sessions, campaigns = await host.store.read(look)
                for _, turn_id in turns:
                    place = TransactionContext("", "", "", host.engine().clock.now(), host.new_id)
                    await host.store.run(lambda _, place=place, id=turn_id: look_at_turn(place, id))  # type: ignore[misc]
                if sessions:
                    await host.store.run(lambda _, rows=sessions, now=now: end_lost_sessions(rows, now, host.new_id))  # type: ignore[misc]
                if turns or sessions:
                    _, sessions, campaigns = await host.store.read(look)
                if not sessions:  # otherwise there are more
                    since = now - _OVERLAP
                waits = [await self._end_lost_campaign(*row) for row in campaigns]
                await wait_for_event(news, _SOON if sessions or any(waits) else _SELDOM)
                news.clear()
                await asyncio.sleep(_PAUSE)  # so that many events in a row cause one search

    async def _delete_old(self) -> None:
        host = self.host
        while True:
            for agent in self._context.codes.by_name.values():
                more = agent.settings.keep is not None
                while more:
                    before = host.engine().clock.now() - (agent.settings.keep or 0)
                    more = await host.store.run(lambda _, name=agent.name, before=before: delete_old(name, before))  # type: ignore[misc]
            await asyncio.sleep(_HOUR)

    async def _end_lost_campaign(self, id: str, namespace: str, agent: str, status: str) -> bool:
        """End a campaign whose run is over. Return True if turns are in progress and this must be called again."""
        host = self.host
        answer = "again"
        while answer == "again":
            place = TransactionContext(namespace, agent, "", host.engine().clock.now(), host.new_id)
            answer = await host.store.run(
                lambda _, place=place: end_lost_campaign(place, id, status)  # type: ignore[misc]
            )
        host.engine().nudge()
        return answer == "wait"


RUNTIME = Runtime(part=AgentsPart, scan=scan)
