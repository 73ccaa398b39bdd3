"""Give an agent tools that schedule turns for the user it talks with.

The user comes from the session (`ToolContext`), never from the model's arguments. If a tool refuses a request for
another user's schedule or for a flow that is not allowed, it writes the event `schedule:tool_scope_denied`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ostinato.errors import Conflict, NotFound, OstinatoError, check_text, did_you_mean, short_repr
from ostinato.flows.definition import Agent, Tool
from ostinato.flows.errors import Denied
from ostinato.flows.model import CLASSIC
from ostinato.flows.read_values import read_truth, read_whole
from ostinato.flows.routers import startable
from ostinato.flows.schedules import operations
from ostinato.flows.schedules.api import AgentSchedules, make_scheduler
from ostinato.flows.schedules.definition import AgentScheduleDefinition, patched, read_definition
from ostinato.flows.schedules.operations import Scheduler, note_tool_denial
from ostinato.flows.schedules.rows import ScheduleRecord, StoredSchedule, read_stored, statement
from ostinato.flows.store import statement as agent_statement
from ostinato.flows.tool_context import ToolContext
from ostinato.flows.turns import TransactionContext
from ostinato.model import read_length, read_retry
from ostinato.store.contract import Operation
from ostinato.when.durations import Length
from ostinato.when.instants import SECOND, Micros

if TYPE_CHECKING:
    from pydantic import BaseModel

SchedulesIn: TypeAlias = Callable[[str], AgentSchedules]  # takes a namespace, returns the agent's schedules there
_TIMEOUT: Micros = 10 * SECOND
_LOOKED = 200  # due times of a cron expression whose distances are compared
_MOST_LISTED = 100
NAMES = (
    "create_current_user_schedule",
    "update_current_user_schedule",
    "cancel_current_user_schedule",
    "list_current_user_schedules",
)


@dataclass(frozen=True, slots=True)
class ScheduleTools:
    """The settings of the tools with which an agent creates schedules. `schedule_tools` returns such an object."""

    flows: frozenset[str] | None
    max_active: int
    min_interval: Micros
    in_scheduled_turns: bool
    allow_session_bootstrap: bool


def schedule_tools(
    flows: Sequence[str] | Literal["*"],
    *,
    max_active: int = 20,
    min_interval: Length = "10m",
    in_scheduled_turns: bool = False,
    allow_session_bootstrap: bool = True,
) -> ScheduleTools:
    """Let an agent schedule turns for the user it talks with: `app.agent(…, tools=[schedule_tools(["remind"])])`.

    - `flows`: the flows that may be scheduled; `"*"` means all flows of the agent
    - `max_active`: how many active or paused schedules from these tools a user can have at most
    - `min_interval`: how far apart two due times of one schedule must be at least
    - `in_scheduled_turns`: if false, only a turn that answers a message of the user may create or update schedules; if
      true, every turn may, for example a scheduled turn; canceling a schedule is always allowed
    - `allow_session_bootstrap`: whether the turns of a schedule may open a session; the agent can set another value for
      each schedule
    """
    if flows != "*" and (isinstance(flows, str) or not all(isinstance(flow, str) and flow for flow in flows)):
        raise OstinatoError(f"schedule_tools: flows {short_repr(flows)} is neither a list of names nor '*'")
    read_whole(max_active, "schedule_tools: max_active", 1, 10_000)
    read_truth(in_scheduled_turns, "schedule_tools: in_scheduled_turns")
    read_truth(allow_session_bootstrap, "schedule_tools: allow_session_bootstrap")
    least = read_length(min_interval, "min_interval")
    if least < 60 * SECOND:
        raise OstinatoError(f"schedule_tools: min_interval {min_interval!r} is less than a minute")
    allowed = None if flows == "*" else frozenset(flows)
    return ScheduleTools(allowed, max_active, least, in_scheduled_turns, allow_session_bootstrap)


def add_schedule_tools(agent: Agent, tools: ScheduleTools, schedules_in: SchedulesIn) -> None:
    """Give `agent` the tools with which the model manages the current user's schedules. Raises OstinatoError if the
    agent already has a tool with the name of one of these tools."""
    calls = _Calls(agent, tools, schedules_in)
    create, update, cancel, listing = _models()
    for name, function, arguments in (
        (NAMES[0], calls.create, create),
        (NAMES[1], calls.update, update),
        (NAMES[2], calls.cancel, cancel),
        (NAMES[3], calls.list, listing),
    ):
        if name in agent.tools:
            raise OstinatoError(f"agent {agent.name!r} has two tools called {name!r}; give schedule_tools once")
        described = (function.__doc__ or "").strip()
        agent.tools[name] = Tool(
            name,
            function,
            f"{described} Times are in the zone {agent.schedule_zone}.",
            arguments,
            context=True,
            timeout=_TIMEOUT,
            retry=read_retry(None),
            at_most_once=False,
            refused=calls.note_refusal,
        )


def check_schedule_tools(agent: Agent) -> None:
    """Check the flows that the tools may schedule. Raise `NotFound` if the agent has no such flow, and OstinatoError if
    a flow needs an input. Call this when the whole agent is declared."""
    for tools in agent.settings.tools:
        for flow in sorted(tools.flows or ()):
            if flow != CLASSIC and flow not in agent.flows:
                hint = did_you_mean(flow, agent.flows) or f"there is {', '.join(agent.flows) or 'none'}"
                raise NotFound(f"agent {agent.name!r}: schedule_tools: there is no flow {flow!r}; {hint}")
            if flow != CLASSIC and flow not in startable(agent.flows):
                raise OstinatoError(
                    f"agent {agent.name!r}: schedule_tools: flow {flow!r} needs an input, which the tools do not take; "
                    "give its parameters defaults, or leave the flow out"
                )


def _models() -> tuple[type[BaseModel], type[BaseModel], type[BaseModel], type[BaseModel]]:
    """Return pydantic models for the arguments of the tools create, update, cancel and list. No model has a field for
    the target, because the target is always the current user."""
    from pydantic import BaseModel, ConfigDict, Field

    class Strict(BaseModel):
        model_config = ConfigDict(extra="forbid", strict=True)

    class Trigger(Strict):
        type: Literal["cron", "once"] = Field(description="cron repeats, once is a single time")
        expr: str | None = Field(None, description="for cron: minute hour day month weekday", max_length=200)
        run_at: str | None = Field(None, description="for once: ISO 8601, such as 2026-03-01T09:00", max_length=64)

    class OnMissed(Strict):
        policy: Literal["skip", "catch_up"]
        max_runs: int | None = Field(None, ge=1, le=100)
        max_age_seconds: int | None = Field(None, ge=1, le=30 * 86_400)

    class Create(Strict):
        flow: str = Field(max_length=200)
        trigger: Trigger
        allow_session_bootstrap: bool | None = None
        on_missed: OnMissed | None = None
        metadata: dict[str, Any] | None = None

    class Update(Strict):
        schedule_id: str = Field(max_length=300)
        trigger: Trigger | None = None
        allow_session_bootstrap: bool | None = None
        on_missed: OnMissed | None = None
        metadata: dict[str, Any] | None = None

    class Cancel(Strict):
        schedule_id: str = Field(max_length=300)

    class Listing(Strict):
        flow: str | None = Field(None, max_length=200)
        status: Literal["active", "paused", "canceled", "completed"] | None = None

    return Create, Update, Cancel, Listing


class _Calls:
    def __init__(self, agent: Agent, tools: ScheduleTools, schedules_in: SchedulesIn) -> None:
        self._agent = agent
        self._tools = tools
        self._schedules_in = schedules_in

    async def create(
        self,
        ctx: ToolContext,
        flow: str,
        trigger: Any,
        allow_session_bootstrap: bool | None,
        on_missed: Any,
        metadata: dict[str, Any] | None,
    ) -> dict[str, Any]:
        """Schedule a flow for the user of this conversation, once or again and again."""
        await self._check_turn(ctx, NAMES[0])
        scheduler, declared = await self._scheduler(ctx)
        document = {
            "flow": flow,
            "trigger": _plain(trigger),
            "target": {"kind": "user", "user_external_id": ctx.user.external_id},
            "allow_session_bootstrap": allow_session_bootstrap,
            "on_missed": None if on_missed is None else _plain(on_missed),
            "metadata": metadata,
        }
        definition = read_definition(
            document, scheduler.zone, "the schedule", bootstrap=self._tools.allow_session_bootstrap
        )
        await self._check_flow(ctx, definition.flow)
        self._check_interval(scheduler, definition)
        id = f"tool:{ctx.key}"  # the same in every attempt of the same call

        def check_room() -> Operation[None]:
            yield from self._check_room(scheduler.place, ctx, id)

        schedules = self._schedules_in(ctx.namespace)
        await schedules.create_as(scheduler, declared, id, "tool", definition, check_room)
        return show(await schedules.get(id))

    async def update(
        self,
        ctx: ToolContext,
        schedule_id: str,
        trigger: Any,
        allow_session_bootstrap: bool | None,
        on_missed: Any,
        metadata: dict[str, Any] | None,
    ) -> dict[str, Any]:
        """Change a schedule of the user of this conversation: when it runs, or its metadata."""
        await self._check_turn(ctx, NAMES[1])
        fields = {
            "trigger": None if trigger is None else _plain(trigger),
            "allow_session_bootstrap": allow_session_bootstrap,
            "on_missed": None if on_missed is None else _plain(on_missed),
            "metadata": metadata,
        }
        patch = {name: value for name, value in fields.items() if value is not None}
        if not patch:
            raise OstinatoError(f"the update changes nothing; give {', '.join(fields)}")
        scheduler, _ = await self._scheduler(ctx)

        def change(stored: StoredSchedule) -> Operation[None]:
            if stored.status == "canceled":
                raise Conflict(f"schedule {stored.id!r} is canceled; create another")
            definition = patched(stored.read(), patch, scheduler.zone, "the schedule")
            self._check_interval(scheduler, definition)
            if "trigger" in patch:
                operations.check_to_come(scheduler, definition)
            yield from self._check_room(scheduler.place, ctx, stored.id)
            yield from operations.update(scheduler, stored, definition)

        return await self._change(ctx, NAMES[1], schedule_id, change)

    async def cancel(self, ctx: ToolContext, schedule_id: str) -> dict[str, Any]:
        """Cancel a schedule of the user of this conversation."""
        scheduler, _ = await self._scheduler(ctx)

        def change(stored: StoredSchedule) -> Operation[None]:
            yield from operations.cancel(scheduler, stored, "canceled in a conversation")

        return await self._change(ctx, NAMES[2], schedule_id, change)

    async def list(self, ctx: ToolContext, flow: str | None, status: str | None) -> list[dict[str, Any]]:
        """List the schedules of the user of this conversation."""
        records = await self._schedules_in(ctx.namespace).list(
            flow=flow,
            status=status,
            target_kind="user",
            user_external_id=ctx.user.external_id,
            limit=_MOST_LISTED,
        )
        return [show(record) for record in records]

    async def _change(
        self, ctx: ToolContext, tool: str, id: str, change: Callable[[StoredSchedule], Operation[None]]
    ) -> dict[str, Any]:
        """Change a schedule of the current user, and return it as a dict for the model. Raises `NotFound` if there is
        no such schedule. A schedule that the user may not change counts as not found, to hide that it exists."""
        check_text(id, "schedule_id")
        scheduler, _ = await self._scheduler(ctx)
        place = scheduler.place

        def write(_: int) -> Operation[str | None]:
            yield from _lock_user(place, ctx)
            rows = yield statement("lock_agent_schedule", namespace=place.namespace, agent=place.agent, id=id)
            if not rows:
                return "unknown"
            stored = read_stored(rows[0])
            if stored.target_kind != "user" or stored.user_external_id != ctx.user.external_id:
                return "foreign_schedule" if stored.target_kind == "user" else "segment_schedule"
            if stored.origin == "config":
                return "config_schedule"
            yield from change(stored)
            return None

        schedules = self._schedules_in(ctx.namespace)
        refused = await schedules.host.store.run(write)
        if refused is not None:
            if refused != "unknown":
                await self._deny(ctx, tool, refused, schedule_id=id)
            raise NotFound(f"you have no schedule {id!r} that can be changed")
        schedules.host.engine().attend()
        return show(await schedules.get(id))

    # Checks

    async def _check_turn(self, ctx: ToolContext, tool: str) -> None:
        if ctx.turn.source != "inbound" and not self._tools.in_scheduled_turns:
            await self._deny(ctx, tool, "not_in_a_turn_of_the_user")
            raise Denied("schedules are made and changed only in answer to a message of the user")

    async def _check_flow(self, ctx: ToolContext, flow: str) -> None:
        allowed = self._tools.flows
        if allowed is None:
            allowed = frozenset([*self._agent.flows, CLASSIC])
        if flow not in allowed:
            await self._deny(ctx, NAMES[0], "flow_not_allowed", flow=flow[:200])
            raise Denied(
                f"flow {short_repr(flow)} cannot be scheduled; there is {', '.join(sorted(allowed)) or 'none'}"
            )

    def _check_interval(self, scheduler: Scheduler, definition: AgentScheduleDefinition) -> None:
        if definition.cron_expr is None:
            return
        times = definition.spec(scheduler.zone).compiled.times(scheduler.place.now)
        for earlier, later in pairwise(islice(times, _LOOKED)):
            if later - earlier < self._tools.min_interval:
                apart, least = (later - earlier) // SECOND, self._tools.min_interval // SECOND
                raise OstinatoError(
                    f"trigger.expr: two of its times are {apart} s apart; at least {least} s are allowed"
                )

    def _check_room(self, place: TransactionContext, ctx: ToolContext, id: str) -> Operation[None]:
        """Lock the user, and raise `Conflict` if the user already has `max_active` schedules from these tools. Only
        active and paused schedules count, and the schedule `id` does not count."""
        yield from _lock_user(place, ctx)
        names = {"namespace": place.namespace, "agent": place.agent, "user": ctx.user.external_id}
        ((count,),) = yield statement("count_agent_schedules", **names, besides=id)
        if count >= self._tools.max_active:
            raise Conflict(f"there are {count} schedules already, which is the most; cancel one first")

    async def note_refusal(
        self, ctx: ToolContext, tool: str, arguments: Mapping[str, Any], extra: Sequence[str]
    ) -> None:
        """Write an event about a refused call, if the model has passed arguments that the tool does not have. `extra`
        are the names of these arguments. If `extra` is empty, do nothing."""
        if extra:
            await self._deny(ctx, tool, "undeclared_arguments", arguments=[name[:100] for name in extra[:20]])

    async def _deny(self, ctx: ToolContext, tool: str, reason: str, **more: Any) -> None:
        schedules = self._schedules_in(ctx.namespace)
        place, _ = await schedules.place_and_declaration()
        data = {
            "agent": ctx.agent,
            "tool": tool,
            "reason": reason,
            "user_external_id": ctx.user.external_id,
            "user_id": ctx.user.id,
            "session_id": ctx.turn.session_id,
            "request_id": ctx.turn.id,
            "turn_source": ctx.turn.source,
            "key": ctx.key,
            **more,
        }
        await schedules.host.store.run(lambda _: note_tool_denial(place, ctx.turn.id, data))

    async def _scheduler(self, ctx: ToolContext) -> tuple[Scheduler, Mapping[str, Any]]:
        schedules = self._schedules_in(ctx.namespace)
        place, declared = await schedules.place_and_declaration()
        place = replace(place, actor=f"user:{ctx.user.external_id}")
        return make_scheduler(schedules.host, place, declared), declared


def _lock_user(place: TransactionContext, ctx: ToolContext) -> Operation[None]:
    yield agent_statement("lock_agent_user_id", id=ctx.user.id)


def _plain(value: Any) -> Any:
    return value.model_dump(exclude_none=True) if hasattr(value, "model_dump") else value


def show(record: ScheduleRecord) -> dict[str, Any]:
    """Return a schedule as a dict for the model. The dict says nothing about operators, campaigns or other users."""
    trigger = {"type": record.trigger_type}
    if record.cron_expr is not None:
        trigger["expr"] = record.cron_expr
    if record.run_at is not None:
        trigger["run_at"] = record.run_at.isoformat()
    return {
        "schedule_id": record.id,
        "flow": record.flow,
        "trigger": trigger,
        "tz": record.tz,
        "status": record.status,
        "next_run_at": None if record.next_run_at is None else record.next_run_at.isoformat(),
        "allow_session_bootstrap": record.allow_session_bootstrap,
        "metadata": dict(record.metadata),
        "version": record.version,
    }
