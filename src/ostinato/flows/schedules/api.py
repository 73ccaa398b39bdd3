"""Implement `app.agents.schedules(agent)`, and update the schedules of a node's agents when the node starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from ostinato.engine.idempotency import digest, run_once
from ostinato.engine.log import log
from ostinato.engine.rows import whole_run
from ostinato.engine.ways import Host
from ostinato.errors import NotFound, OstinatoError, check_limit, check_text, naming_keywords, short_repr
from ostinato.flows.campaigns.options import read_options
from ostinato.flows.content import check_content, check_resolver
from ostinato.flows.definition import Agent
from ostinato.flows.model import MOST_ID
from ostinato.flows.read_values import read_choice
from ostinato.flows.schedules import operations
from ostinato.flows.schedules.companion import COMPANION, COMPANION_NAME
from ostinato.flows.schedules.definition import AgentScheduleDefinition, patched, read_definition, read_scheduler
from ostinato.flows.schedules.operations import Scheduler
from ostinato.flows.schedules.rows import (
    ScheduleRecord,
    ScheduleRunRecord,
    TriggeredRun,
    check_changeable,
    read_stored,
    record_of,
    run_records,
    statement,
)
from ostinato.flows.schedules.scheduler_store import SchedulerStore
from ostinato.flows.segments import check_segment
from ostinato.flows.store import fetch, read_session, read_user
from ostinato.flows.store import statement as agent_statement
from ostinato.flows.turns import TransactionContext
from ostinato.schedules.actions import ActionKind, Maker
from ostinato.schedules.rows import key_range
from ostinato.schedules.validation import read_notes
from ostinato.store.contract import Operation, sql
from ostinato.when.instants import from_datetime

if TYPE_CHECKING:
    from ostinato.flows.api import Agents

T = TypeVar("T")
STATUSES = ("active", "paused", "canceled", "completed")
_VERBS = {"cancel": operations.cancel, "pause": operations.pause, "resume": operations.resume}
_PAGE = 200
NO_BOOTSTRAP = (
    "allow_session_bootstrap is false: a turn is skipped (bootstrap_disabled) unless the user has an active session "
    "when it is due; write allow_session_bootstrap=True to let it begin one"
)


@dataclass(frozen=True, slots=True)
class CreatedSchedule:
    """A schedule that was created. `warnings` name settings whose effect may be surprising."""

    schedule_id: str
    warnings: tuple[str, ...]
    record: ScheduleRecord


def make_maker(host: Host) -> Maker:
    engine = host.engine()
    kinds = {name: kind for name, kind in host.actions.items() if isinstance(kind, ActionKind)}
    return Maker(engine.find_job, kinds, engine.kinds, {COMPANION_NAME: COMPANION})


def make_scheduler(host: Host, place: TransactionContext, declared: Mapping[str, Any]) -> Scheduler:
    settings = read_scheduler(declared.get("scheduler") or {}, "the agent's scheduler")
    return Scheduler(place, settings.tz or declared["tz"], settings, make_maker(host))


class AgentSchedules:
    """The schedules of one agent. Only trusted callers may use them, because calls may name any user and segment."""

    def __init__(self, agents: Agents, agent: str) -> None:
        self._agents = agents
        self._agent = agent
        self.host = agents._context.host

    @naming_keywords("agents.schedules(…).create")
    async def create(
        self,
        *,
        flow: str,
        trigger: Mapping[str, Any],
        target: Mapping[str, Any],
        allow_session_bootstrap: bool | None = None,
        on_missed: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        input: Mapping[str, Any] | None = None,
        on_active_flow: str = "skip",
        id: str | None = None,
        request_id: str | None = None,
    ) -> CreatedSchedule:
        """Create a schedule.

        The trigger is `{"type": "cron", "expr": "0 9 * * *"}` or `{"type": "once", "run_at": …}`, in the agent's zone.
        The target is `{"kind": "user", "user_external_id": …}` or `{"kind": "segment", "segment": {…}}`.

        A repeated call with the same `id` and the same arguments creates nothing, and returns the first schedule. A
        call that repeats a `request_id` within a day also returns the first schedule.

        Raises:

        - `NotFound` if the agent has no such flow or user
        - `Conflict` if the agent has another schedule with this id
        - `OstinatoError` if an argument is invalid
        """
        scheduler, declared = await self._scheduler()
        document = {
            "flow": flow,
            "trigger": trigger,
            "target": target,
            "allow_session_bootstrap": allow_session_bootstrap,
            "on_missed": on_missed,
            "metadata": metadata,
            "input": input,
            "on_active_flow": on_active_flow,
        }
        definition = read_definition(document, scheduler.zone)
        what = f"create agent schedule {digest(self._agent, id, document)}"
        id = read_id(id, scheduler)
        id = await self.create_as(scheduler, declared, id, "api", definition, request=(request_id, what))
        return await self._read_created(id, definition)

    async def create_as(
        self,
        scheduler: Scheduler,
        declared: Mapping[str, Any],
        id: str,
        origin: str,
        definition: AgentScheduleDefinition,
        first: Callable[[], Operation[None]] | None = None,
        request: tuple[str | None, str] = (None, "create agent schedule"),
    ) -> str:
        """Check and create a schedule, and return its id.

        - `first`: a function that returns an operation, or None; the transaction executes this operation first, and if
          the operation raises, nothing is created
        - `request`: a pair of a request id, which may be None, and a description of the request
        """
        self._check(declared, definition)

        def write() -> Operation[str]:
            if first is not None:
                yield from first()
            yield from _check_target(scheduler.place, definition)
            if not (yield from _exists(scheduler.place, id)):
                operations.check_run_at(scheduler, definition)
            return (yield from operations.create(scheduler, id, origin, definition)).id

        return await self._write(scheduler, *request, write)

    async def _read_created(self, id: str, definition: AgentScheduleDefinition) -> CreatedSchedule:
        warnings = () if definition.allow_session_bootstrap or definition.target_kind == "segment" else (NO_BOOTSTRAP,)
        return CreatedSchedule(id, warnings, await self.get(id))

    async def update(
        self, id: str, *, version: int | None = None, request_id: str | None = None, **patch: Any
    ) -> ScheduleRecord:
        """Change the fields of a schedule that are in `patch`, and return the schedule. The change loses no due time,
        and runs no due time twice.

        Raises `NotFound` if the agent has no such schedule. Raises `Conflict` if the schedule is canceled, is declared
        in the code, or does not have the expected `version`.
        """
        scheduler, declared = await self._scheduler()

        def write() -> Operation[None]:
            stored = yield from operations.load_open(scheduler, id, version)
            check_changeable(stored)
            definition = patched(stored.read(), patch, scheduler.zone, "the schedule")
            self._check(declared, definition)
            yield from _check_target(scheduler.place, definition)
            if "trigger" in patch:
                operations.check_to_come(scheduler, definition)
            yield from operations.update(scheduler, stored, definition)

        await self._write(
            scheduler, request_id, f"update agent schedule {digest(self._agent, id, version, patch)}", write
        )
        return await self.get(id)

    async def cancel(self, id: str, reason: str = "", *, request_id: str | None = None) -> ScheduleRecord:
        """Cancel a schedule, so that it never fires again. If the schedule is already canceled or completed, nothing
        changes. Raises `Conflict` if the schedule is declared in the code."""
        return await self._change("cancel", id, reason, request_id)

    async def pause(self, id: str, note: str = "", *, request_id: str | None = None) -> ScheduleRecord:
        """Pause a schedule, even one that is declared in the code. Due times within the pause do not run, except if
        `resume` catches up on them. The pause survives a restart."""
        return await self._change("pause", id, note, request_id)

    async def resume(self, id: str, note: str = "", *, request_id: str | None = None) -> ScheduleRecord:
        """Resume a paused schedule, and return it. Due times within the pause run only if the policy `on_missed` is
        `catch_up`. Raises `Conflict` if the schedule is canceled, or if the agent's scheduler is not enabled."""
        return await self._change("resume", id, note, request_id)

    async def trigger(self, id: str, *, request_id: str | None = None) -> TriggeredRun:
        """Run a schedule now, even a paused or completed one. Return the id of the run and its status: the run was
        started, it must wait, or it was skipped (see `TriggeredRun`). Raises `Conflict` if the schedule is canceled."""
        scheduler, _ = await self._scheduler()

        def write() -> Operation[list[Any]]:
            stored = yield from operations.load_open(scheduler, id)
            run = yield from operations.trigger(scheduler, stored)
            return [run["id"], run["status"], run.get("reason")]

        request = f"trigger agent schedule {digest(self._agent, id)}"
        answer = await self._write(scheduler, request_id, request, write)
        if isinstance(answer, str):  # the answer to this request was kept by an earlier version
            return TriggeredRun(answer, "started")
        return TriggeredRun(*answer)

    async def _change(self, verb: str, id: str, note: str, request_id: str | None) -> ScheduleRecord:
        read_notes(note)
        scheduler, _ = await self._scheduler()

        def write() -> Operation[None]:
            if verb == "cancel":
                stored = yield from operations.load(scheduler, id)
                check_changeable(stored)
            else:
                stored = yield from operations.load_open(scheduler, id)
            yield from _VERBS[verb](scheduler, stored, note)

        await self._write(scheduler, request_id, f"{verb} agent schedule {digest(self._agent, id, note)}", write)
        return await self.get(id)

    # Reading

    async def get(self, id: str) -> ScheduleRecord:
        """Return a schedule. Raises `NotFound` if the agent has no such schedule."""
        check_text(id, "the schedule's id")
        records = await self._records(id=id, limit=1)
        if not records:
            raise operations.unknown(self._agent, id)
        return records[0]

    async def list(
        self,
        *,
        flow: str | None = None,
        status: str | None = None,
        target_kind: str | None = None,
        user_external_id: str | None = None,
        campaign_id: str | None = None,
        after: str = "",
        limit: int = 100,
    ) -> Sequence[ScheduleRecord]:
        """Return schedules in the order of their ids. `after` is the last id of the previous page."""
        check_limit(limit)
        if status is not None:
            read_choice(status, "status", STATUSES)
        if target_kind is not None and target_kind not in ("user", "segment"):
            raise OstinatoError(f"target_kind {short_repr(target_kind)} is neither 'user' nor 'segment'")
        filters = {"flow": flow, "user_external_id": user_external_id, "campaign_id": campaign_id}
        for name, value in filters.items():
            if value is not None:
                check_text(value, name)
        return await self._records(
            flow=flow or "",
            status=status or "",
            kind=target_kind or "",
            user=user_external_id or "",
            campaign=campaign_id or "",
            after=after,
            limit=limit,
        )

    async def _records(self, **filters: Any) -> Sequence[ScheduleRecord]:
        scheduler, _ = await self._scheduler()
        place = scheduler.place
        wanted = {"id": "", "flow": "", "status": "", "kind": "", "user": "", "campaign": "", "after": "", **filters}
        query = statement("list_agent_schedules", namespace=place.namespace, agent=place.agent, **wanted)
        return [record_of(row, scheduler.settings) for row in await fetch(self.host.store, query)]

    async def runs(
        self, id: str, *, before: datetime | str | None = None, limit: int = 100
    ) -> Sequence[ScheduleRunRecord]:
        """Return the occurrences of a schedule with their outcomes, newest first. `before` is a time, or the `cursor`
        of the last record of the previous page."""
        check_limit(limit)
        scheduler, _ = await self._scheduler()
        place = scheduler.place

        def read(_: int) -> Operation[Sequence[ScheduleRunRecord]]:
            names = {"namespace": place.namespace, "agent": place.agent, "id": id}
            rows = yield statement("agent_schedule", **names)
            if not rows:
                raise operations.unknown(place.agent, id)
            stored = read_stored(rows[0])
            low, high = key_range(stored.engine_id)
            if isinstance(before, datetime):
                high = f"{stored.engine_id}/{from_datetime(before):016d}/"
            elif before is not None:
                high = min(high, f"{stored.engine_id}/{before}")
            runs = yield sql("history", namespace=place.namespace, low=low, high=high, limit=limit)
            return (yield from run_records([whole_run(row) for row in runs], stored))

        return await self.host.store.read(read)

    async def store(self) -> SchedulerStore:
        """Return a `SchedulerStore`. With it, an executor that is not a node can handle due occurrences."""
        scheduler, _ = await self._scheduler()
        seconds = scheduler.settings.claim_ttl_seconds
        ttl = None if seconds is None else timedelta(seconds=seconds)
        return SchedulerStore(self.host, self._agent, scheduler.place.namespace, ttl)

    # Inside

    async def _scheduler(self) -> tuple[Scheduler, Mapping[str, Any]]:
        place, declared = await self.place_and_declaration()
        return make_scheduler(self.host, place, declared), declared

    async def place_and_declaration(self) -> tuple[TransactionContext, Mapping[str, Any]]:
        declared = await self._agents.get(self._agent)
        return self._agents._place(self._agent, declared), declared

    def _check(self, declared: Mapping[str, Any], definition: AgentScheduleDefinition) -> None:
        check_definition(self._agent, declared, self._agents.codes.get(self._agent), definition)

    async def _write(
        self, scheduler: Scheduler, request_id: str | None, what: str, make: Callable[[], Operation[T]]
    ) -> T:
        """Execute the operation that `make` returns, and return the operation's result, a JSON value. If the same
        request was executed before with this `request_id`, return the earlier result. Raises `Conflict` if the
        `request_id` was used for another request. `what` describes the request."""
        place = scheduler.place
        written = await run_once(self.host.store, place.namespace, request_id, what, place.now, make)
        self.host.engine().attend()
        return written


def read_id(id: str | None, scheduler: Scheduler) -> str:
    """Return `id`, or a new id if `id` is None. Raises OstinatoError if a caller may not use `id`."""
    if id is None:
        return scheduler.place.new_id(scheduler.place.now)
    check_id(id, "the schedule's id")
    return id


def check_id(id: object, place: str) -> None:
    """Raise OstinatoError if an id is too long, or if its prefix is reserved for the agent's code or tools."""
    check_text(id, place, MOST_ID)
    assert isinstance(id, str)
    for prefix, owner in (("cfg:", "the agent's code"), ("tool:", "the agent's tools")):
        if id.startswith(prefix):
            raise OstinatoError(f"{place} {short_repr(id)} begins with {prefix!r}, which is for schedules of {owner}")


def check_definition(
    agent: str, declared: Mapping[str, Any], code: Agent | None, definition: AgentScheduleDefinition
) -> None:
    """Raise an error if a schedule could not begin its turns or its campaign:

    - `NotFound` if the agent has no such flow or resolver
    - `InputError` if the flow does not accept the input
    - `DefinitionError` if the resolver does not accept its `params`
    - `DefinitionError` if the flow is `classic`, and the agent cannot write a message without a flow
    """
    options = None
    if definition.target_kind == "segment":
        options = read_options(definition.target.get("options"), "the schedule.target.options")
        segment = check_segment(definition.target["segment"])
        check_resolver(agent, declared, code, segment, ("target", "segment"))
    check_content(agent, declared, code, definition.flow, definition.input, definition.metadata, options)


def _check_target(place: TransactionContext, definition: AgentScheduleDefinition) -> Operation[None]:
    """Raise `NotFound` if the agent has no such user, or if the user has no such session."""
    if definition.user is None:
        return
    names = {"namespace": place.namespace, "agent": place.agent, "user": definition.user}
    users = yield agent_statement("agent_user", **names)
    if not users:
        raise NotFound(
            f"agent {place.agent!r} has no user {definition.user!r}; write app.agents.put_user(…), or wait for their "
            "first message"
        )
    session_id = definition.target.get("session_id")
    if session_id is not None:
        rows = yield agent_statement("session_by_id", id=session_id)
        if not rows or read_session(rows[0]).user_id != read_user(users[0]).id:
            raise NotFound(
                f"the schedule.target.session_id: user {definition.user!r} of agent {place.agent!r} has no session "
                f"{session_id!r}; app.agents.sessions({place.agent!r}, user=…) lists them"
            )


def _exists(place: TransactionContext, id: str) -> Operation[bool]:
    rows = yield statement("agent_schedule", namespace=place.namespace, agent=place.agent, id=id)
    return bool(rows)


# When a node starts


def check_agreement(agents: Sequence[Agent]) -> None:
    """Check the scheduler settings of all agents of an app. Raise OstinatoError in these cases:

    - Two agents differ in a setting that all agents must share.
    - An agent with an external executor uses the default queue.
    """
    for name in ("executor", "poll_interval_ms", "claim_ttl_seconds"):
        said = {agent.name: value for agent in agents if (value := getattr(agent.settings.scheduler, name)) is not None}
        if len(set(said.values())) > 1:
            words = ", ".join(f"{agent!r} says {value!r}" for agent, value in said.items())
            raise OstinatoError(f"scheduler.{name} is one for all agents of an app, but {words}")
    for agent in agents:
        if agent.settings.scheduler.executor == "external" and agent.settings.queue == "default":
            raise OstinatoError(
                f"agent {agent.name!r}: scheduler.executor 'external' needs a queue of its own: write queue='agents', "
                "and run workers with Ostinato(queues=['agents'])"
            )


async def apply_schedules(host: Host, agent: Agent, place: TransactionContext, declared: Mapping[str, Any]) -> None:
    """Make the stored schedules of an agent match the agent's code and settings."""
    scheduler = make_scheduler(host, place, declared)
    wanted = {
        key: read_definition(document, scheduler.zone, f"agent {agent.name!r}: schedules[{key!r}]")
        for key, document in agent.settings.schedules.items()
    }

    def can_begin(definition: AgentScheduleDefinition) -> None:
        check_definition(agent.name, declared, agent, definition)

    done = await host.store.run(lambda _: operations.apply_declared(scheduler, wanted, can_begin))
    after: operations.Cursor | None = ("", "")
    while after is not None:
        more, after = await host.store.run(
            lambda _, after=after: operations.apply_settings(scheduler, after, _PAGE)  # type: ignore[misc]
        )
        for what, ids in more.items():
            done[what] += ids
    for what, ids in done.items():
        log.info(f"agent {agent.name!r}: {len(ids)} schedules {what}", action="agent_schedules", agent=agent.name)
