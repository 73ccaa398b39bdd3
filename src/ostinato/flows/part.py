"""What agents do in one app: the calls, and the durable functions that handle sessions and turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from ostinato.engine.ways import Host, Part, Runtime
from ostinato.errors import OstinatoError, short_repr
from ostinato.flows.api import Agents, Around
from ostinato.flows.definition import Agent, AgentCodes
from ostinato.flows.model import TURN_FUNCTION
from ostinato.flows.runner import turn_function
from ostinato.flows.schedules.api import AgentSchedules, apply_schedules, check_agreement
from ostinato.flows.schedules.occurrence import occurrence_function
from ostinato.flows.schedules.operations import OCCURRENCE
from ostinato.flows.schedules.tools import ScheduleTools, add_schedule_tools
from ostinato.flows.session import SessionActor
from ostinato.flows.store import statement
from ostinato.flows.turns import Place
from ostinato.functions.context import FunctionContext
from ostinato.store.contract import Operation


class AgentsPart(Part):
    api: Agents

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self._around = Around(host, AgentCodes(), self._declare)
        self.api = Agents(self._around, host.namespace, host.actor)

    def take_over(self, before: Part) -> None:
        """Keep the agents that were declared, on another store: their functions are made for the new one."""
        assert isinstance(before, AgentsPart)
        self._around.codes = before._around.codes
        before._successor = self

    _successor: AgentsPart | None = None

    @property
    def _newest(self) -> AgentsPart:
        """The part that works on the store of the app. Functions outlive the part that declared them."""
        return self if self._successor is None else self._successor._newest

    def _declare(self, agent: Agent) -> None:
        """Declare the durable function of an agent's sessions, and that of turns with the first agent."""
        functions = self.host.way("functions")

        async def session(ctx: FunctionContext, session: str, deferred: Sequence[str] = ()) -> None:
            await SessionActor(self._newest.host, agent, ctx, session, list(deferred)).run()

        functions.declare(name=agent.function_name, queue=agent.settings.queue)(session)
        if TURN_FUNCTION not in functions.codes:
            functions.declare(name=TURN_FUNCTION)(turn_function(self._host, self._place_of))
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

    def _place_of(self, agent: str, namespace: str, actor: str | None) -> Place:
        host = self._newest.host
        code = self._newest._around.codes.get(agent)
        queue = "default" if code is None else code.settings.queue
        return Place(namespace, agent, queue, host.engine().clock.now(), host.new_id, actor)

    async def prepare(self) -> None:
        """Declare this node's agents, for processes that do not have them."""
        now = self.host.engine().clock.now()
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
            place = self._place_of(agent.name, self.host.namespace, self.host.actor)
            await apply_schedules(self.host, agent, place, declared)


class _ForTools:
    """What the tools of an agent need of its app."""

    def __init__(self, part: AgentsPart) -> None:
        self._part = part

    def host(self) -> Host:
        return self._part._newest.host

    def place(self, agent: str, namespace: str) -> Place:
        return self._part._place_of(agent, namespace, None)

    def schedules(self, agent: str, namespace: str) -> AgentSchedules:
        return self._part._newest.api.within(namespace, None).schedules(agent)

    def declared(self, agent: str) -> Mapping[str, Any]:
        code = self._part._newest._around.codes.by_name[agent]
        declared: Mapping[str, Any] = orjson.loads(code.declaration())
        return declared


RUNTIME = Runtime(part=AgentsPart)
