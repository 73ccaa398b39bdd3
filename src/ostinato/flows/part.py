"""Connect agents to one app.

The app gets the API `app.agents`, and the durable functions for sessions, turns, campaigns and occurrences. Loops end
lost sessions and campaigns, and delete old conversations.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from ostinato.engine.kinds import Body
from ostinato.engine.listeners import wait_for_event
from ostinato.engine.node import Engine
from ostinato.engine.ways import Host, Loop, Part, Runtime
from ostinato.errors import OstinatoError, short_repr
from ostinato.flows.api import Agents, Around
from ostinato.flows.campaigns.changes import end_lost_campaign
from ostinato.flows.campaigns.model import CAMPAIGN_FUNCTION
from ostinato.flows.campaigns.run import Surroundings, campaign_function
from ostinato.flows.definition import Agent, AgentCodes
from ostinato.flows.direct_turns import DirectTurns
from ostinato.flows.lost import end_lost_sessions, lost_campaigns, lost_reason, lost_turns, newly_lost_sessions, scan
from ostinato.flows.model import TURN_FUNCTION
from ostinato.flows.retention import delete_old
from ostinato.flows.runner import look_at_turn, turn_function
from ostinato.flows.schedules.api import AgentSchedules, apply_schedules, check_agreement
from ostinato.flows.schedules.occurrence import occurrence_function
from ostinato.flows.schedules.operations import OCCURRENCE
from ostinato.flows.schedules.tools import ScheduleTools, add_schedule_tools, check_schedule_tools
from ostinato.flows.session import SessionActor
from ostinato.flows.store import statement
from ostinato.flows.turns import Place
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
        self._around = Around(host, AgentCodes(), self._declare)
        self.api = Agents(self._around, host.namespace, host.actor)
        self._turns = DirectTurns(host)

    def take_over(self, before: Part) -> None:
        """Take over the agents of `before`, the part that this one replaces. Their functions then use this part."""
        assert isinstance(before, AgentsPart)
        self._around.codes = before._around.codes
        before._successor = self

    _successor: AgentsPart | None = None

    @property
    def _newest(self) -> AgentsPart:
        """This part, or the newest part that has replaced it. Only the newest part works on the app's present store."""
        return self if self._successor is None else self._successor._newest

    def _declare(self, agent: Agent) -> None:
        """Declare the durable function for an agent's sessions. With the first agent, also declare the functions for
        turns, campaigns and occurrences."""
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
            functions.declare(name=TURN_FUNCTION)(turn_function(self._host, self._place_of))
            functions.declare(name=CAMPAIGN_FUNCTION)(campaign_function(lambda: self._newest.surroundings))
            functions.declare(name=OCCURRENCE)(occurrence_function(self._host, self._place_of))
        for tools in agent.settings.tools:
            if not isinstance(tools, ScheduleTools):
                raise OstinatoError(
                    f"agent {agent.name!r}: tools {short_repr(tools)} is not schedule_tools(…); declare a function "
                    "with @agent.tool"
                )
            add_schedule_tools(agent, tools, _ForTools(self))

    def _host(self) -> Host:
        return self._newest.host

    @property
    def surroundings(self) -> Surroundings:
        return Surroundings(self.host, self._around.codes.get, self._turns)

    def _place_of(self, agent: str, namespace: str, actor: str | None) -> Place | None:
        host = self._newest.host
        code = self._newest._around.codes.get(agent)
        if code is None:
            return None
        return Place(namespace, agent, code.settings.queue, host.engine().clock.now(), host.new_id, actor)

    def _place_here(self, agent: str, namespace: str, actor: str | None) -> Place:
        """Return a `Place` for an agent that this process has."""
        place = self._place_of(agent, namespace, actor)
        assert place is not None
        return place

    def begin(self, engine: Engine) -> Mapping[str, Body]:
        self._turns.start()
        return {}

    async def prepare(self) -> None:
        """Store the declarations of this process's agents, so that other processes can read them. Then apply the
        schedules that these agents declare."""
        now = self.host.engine().clock.now()
        for agent in self._around.codes.by_name.values():
            agent.check()
            check_schedule_tools(agent)
        rows: list[Any] = [(agent.name, agent.declaration(), now) for agent in self._around.codes.by_name.values()]

        def declare(_: int) -> Operation[None]:
            yield statement("declare_agents", rows)

        if not rows:
            return
        agents = list(self._around.codes.by_name.values())
        check_agreement(agents)
        await self.host.store.run(declare)
        for agent in agents:
            declared = orjson.loads(agent.declaration())
            place = self._place_here(agent.name, self.host.namespace, self.host.actor)
            await apply_schedules(self.host, agent, place, declared)

    def loops(self) -> Mapping[str, Loop]:
        agents = self._around.codes.by_name.values()
        loops: dict[str, Loop] = {"lost sessions": self._end_lost} if agents else {}
        if any(agent.settings.keep is not None for agent in agents):
            loops["old conversations"] = self._delete_old
        return loops

    async def close(self) -> None:
        await self._turns.stop()
        await close_group(self.host.store)

    async def _end_lost(self) -> None:
        """End sessions and campaigns soon after their runs have failed or were stopped. Unfinished turns of these
        sessions fail."""
        host = self.host

        since = host.engine().clock.now() - _FIRST_LOOK

        def look(_: int) -> Operation[tuple[Rows, Rows, Rows]]:
            turns, sessions = (yield from lost_turns()), (yield from newly_lost_sessions(since))
            return turns, sessions, (yield from lost_campaigns(host.engine().clock.now()))

        with host.engine().listeners.watching() as news:
            while True:
                now = host.engine().clock.now()
                turns, sessions, campaigns = await host.store.read(look)
                for _, turn_id in turns:
                    place = Place("", "", "", host.engine().clock.now(), host.new_id)
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
        """Every hour, delete conversations and campaigns that are older than the setting `keep` of their agent."""
        host = self.host
        while True:
            for agent in self._around.codes.by_name.values():
                more = agent.settings.keep is not None
                while more:
                    before = host.engine().clock.now() - (agent.settings.keep or 0)
                    more = await host.store.run(lambda _, name=agent.name, before=before: delete_old(name, before))  # type: ignore[misc]
            await asyncio.sleep(_HOUR)

    async def _end_lost_campaign(self, id: str, namespace: str, agent: str, status: str) -> bool:
        """End a campaign whose run is over. Return whether some of its turns are still in progress, so that it must be
        checked again."""
        host = self.host
        answer = "again"
        while answer == "again":
            place = Place(namespace, agent, "", host.engine().clock.now(), host.new_id)
            answer = await host.store.run(
                lambda _, place=place: end_lost_campaign(place, id, lost_reason(status))  # type: ignore[misc]
            )
        host.engine().nudge()
        return answer == "wait"


class _ForTools:
    """What the tools of an agent need from its app."""

    def __init__(self, part: AgentsPart) -> None:
        self._part = part

    def host(self) -> Host:
        return self._part._newest.host

    def place(self, agent: str, namespace: str) -> Place:
        return self._part._place_here(agent, namespace, None)

    def schedules(self, agent: str, namespace: str) -> AgentSchedules:
        return self._part._newest.api.within(namespace, None).schedules(agent)

    def declared(self, agent: str) -> Mapping[str, Any]:
        code = self._part._newest._around.codes.by_name[agent]
        declared: Mapping[str, Any] = orjson.loads(code.declaration())
        return declared


RUNTIME = Runtime(part=AgentsPart, scan=scan)
