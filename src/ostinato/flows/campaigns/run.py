"""Define the durable function `agent-campaign`, which carries out one campaign.

The function resolves the audience, sends until every recipient's turn is over, and returns the outcome.

The state of a campaign is in its rows, which the modules `audience`, `sends` and `changes` write. So a run that
continues on another node after a crash reads the state from these rows. If two runs were started for the same due time
of a schedule, both work on the same campaign.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from ostinato.engine.executor import Fatal
from ostinato.engine.listeners import wait_for_event
from ostinato.engine.ways import Host
from ostinato.errors import NotFound, OstinatoError
from ostinato.flows.campaigns import audience, changes, sends
from ostinato.flows.campaigns.agent_settings import CampaignsSetting, setting_of, with_defaults
from ostinato.flows.campaigns.audience import PAGE
from ostinato.flows.campaigns.definition import CampaignDefinition, definition_of, read_definition
from ostinato.flows.campaigns.model import CONTROL, CampaignRecord
from ostinato.flows.campaigns.outcomes import outcome_json
from ostinato.flows.campaigns.resolver import resolve_names
from ostinato.flows.campaigns.sends import Progress
from ostinato.flows.campaigns.store import campaign_statement, read_campaign
from ostinato.flows.content import check_flow
from ostinato.flows.definition import Agent, read_declaration
from ostinato.flows.direct_turns import DirectTurns
from ostinato.flows.errors import SegmentFailed
from ostinato.flows.model import CLASSIC
from ostinato.flows.store import fetch_patiently, statement
from ostinato.flows.turns import TransactionContext
from ostinato.flows.writing import write_patiently
from ostinato.functions.context import FunctionContext
from ostinato.functions.definition import step
from ostinato.functions.errors import Cancelled
from ostinato.functions.store import statement as function_statement
from ostinato.store.contract import Operation
from ostinato.when.instants import SECOND, Micros, to_datetime

_SHIFT = 2 * SECOND  # the length of one step; it is short, so that a node that stops need not wait long
_PAUSE, _SHORT = 0.02, 0.004  # seconds between two transactions; `_SHORT` is for direct turns, which end soon
_POLL = 1.0  # seconds between two checks for turns that other nodes have finished
_LONGEST_PAUSE = 15  # seconds between two checks for turns that take long
_LONGEST_WAIT = timedelta(hours=1)
_AUDIENCE_LOOKS = 600  # of a run that waits for another to store the audience, one a second
_SHIFTS = 50  # steps after which the function continues with an empty history


@dataclass(frozen=True, slots=True)
class CampaignContext:
    """The objects that a campaign needs from its app.

    - `agent`: a function that takes the name of an agent, and returns the agent; it returns None if this process has
      not declared the agent
    - `turns`: handles direct turns, which are turns that this node handles without recorded steps
    """

    host: Host
    agent: Callable[[str], Agent | None]
    turns: DirectTurns

    async def declared(self, agent: str) -> Mapping[str, Any]:
        """Return the declaration of an agent. Raises `Fatal` if no node has declared it."""
        code = self.agent(agent)
        if code is not None:
            return code.declaration()
        stored = await self.stored(agent)
        if stored is None:
            raise Fatal(f"there is no agent {agent!r}")
        return stored

    async def stored(self, agent: str) -> Mapping[str, Any] | None:
        """Return the newest stored declaration of an agent, or None if no node has declared it."""
        rows = await fetch_patiently(self.host.store, statement("declared_agent", name=agent))
        return read_declaration(rows[0][0]) if rows else None


class CampaignRun:
    """One run of the function `agent-campaign`."""

    def __init__(self, campaign_context: CampaignContext, ctx: FunctionContext, inputs: Mapping[str, Any]) -> None:
        self.campaign_context = campaign_context
        self.ctx = ctx
        self.inputs = inputs
        self.definition = read_definition(inputs)
        self.id = ctx.run_id

    async def run(self) -> dict[str, Any]:
        begun = await self.ctx.step(step(self._begin, name="begin"))
        self.id = begun["id"]
        try:
            if begun["status"] == "resolving":
                mine = self.id == self.ctx.run_id
                await self.ctx.step(step(self._resolve if mine else self._wait_for_audience, name="resolve"))
            await self._drive()
            ended: dict[str, Any] = await self.ctx.step(step(self._end, name="end"))
        except Cancelled:
            await self._cancel()
            raise
        return ended

    async def _write(self, make: Callable[[TransactionContext], Operation[Any]], *, nudge: bool = True) -> Any:
        queue = (await self.campaign_context.declared(self.definition.agent))["queue"]
        host = self.campaign_context.host

        def work(now: Micros) -> Operation[Any]:
            return make(TransactionContext(self.ctx.namespace, self.definition.agent, queue, now, host.new_id))

        return await write_patiently(host, work, nudge=nudge)

    async def _setting(self) -> CampaignsSetting:
        return setting_of(await self.campaign_context.declared(self.definition.agent))

    async def _begin(self) -> dict[str, Any]:
        declared = await self.campaign_context.declared(self.definition.agent)
        options = with_defaults(self.inputs.get("options"), declared.get("campaigns") or {})
        definition = read_definition({**self.inputs, "options": options})
        await self._check_flows(definition, declared)
        campaign = await self._write(lambda place: changes.begin_campaign(place, self.ctx.run_id, definition))
        return {"id": campaign.id, "status": campaign.status}

    async def _check_flows(self, definition: CampaignDefinition, declared: Mapping[str, Any]) -> None:
        """Raise `Fatal` if the agent lacks a flow that the campaign or one of its variants needs.

        The agent has a flow if the flow is in `declared` or in the agent's newest stored declaration. If the campaign
        is already stored, nothing is checked.
        """
        if await self._find() is not None:
            return
        flows = {"flow": definition.flow}
        flows |= {f"options.variants.{variant.name}.flow": variant.flow for variant in definition.options.variants}
        for place, flow in flows.items():
            try:
                check_flow(definition.agent, flow, declared)
            except NotFound as problem:
                newest = await self.campaign_context.stored(definition.agent)
                if newest is None or flow not in newest["flows"]:  # another node may have newer code
                    raise Fatal(f"the campaign's {place}: {problem}") from None

    # Resolving

    async def _resolve(self) -> str:
        """Delete what an earlier attempt has stored, and then store the audience. Return the campaign's new status.

        The earlier attempt may still be in progress, on a node that was paused for longer than its lease. So each
        attempt has an id, and every transaction checks that no later attempt has begun.
        """
        resolution = await self._write(lambda place: audience.begin_resolution(place, self.id))
        await self._drop(resolution)
        try:
            stored = await self._freeze(resolution)
        except OstinatoError as problem:
            kind = "" if isinstance(problem, SegmentFailed) else f"{type(problem).__name__}: "
            reason = f"segment_failed: {kind}{problem}"[:300]
            await self._write(lambda place: audience.refuse_campaign(place, self.id, resolution, reason))
            await self._drop(resolution)
        else:
            if stored:
                campaign = await self._write(lambda place: audience.end_resolution(place, self.id, resolution))
                if campaign.over:
                    await self._drop(resolution)
        return await self._wait_for_audience()

    async def _wait_for_audience(self) -> str:
        """Wait until this run or another one has stored the audience, and return the campaign's status.

        If the other run takes too long, this run stores the audience.
        """
        for _ in range(_AUDIENCE_LOOKS):
            campaign = await self._load()
            if campaign.status != "resolving":
                return str(campaign.status)
            await asyncio.sleep(1)
        return await self._resolve()

    async def _drop(self, resolution: str) -> None:
        while await self._write(lambda place: audience.drop_page(place, self.id, resolution)):
            pass

    async def _freeze(self, resolution: str) -> bool:
        """Store the audience, page by page. `resolution` is the id of this attempt to store it.

        - If all recipients are stored, return True.
        - If the audience has more recipients than the campaign may have, store no further page, and return True. The
          caller then calls `end_resolution`, which ends the campaign.
        - If the campaign was stopped, or if a later attempt has begun, store no further page, and return False.
        """
        campaign = await self._load()
        setting, definition = await self._setting(), definition_of(campaign)
        options = definition.options
        most = float("inf") if options.confirmed else options.max_recipients
        count = 0
        if definition.segment.resolver is None and not definition.segment.users:
            after: str | None = ""
            while after is not None and count <= most:
                page = await self._write(
                    lambda place, after=after: audience.freeze_page(  # type: ignore[misc]
                        place, self.id, resolution, setting, after
                    )
                )
                if page is None:
                    return False
                count += page[0]
                after = page[1]
            return True
        async for names in _chunks(self._names(definition, campaign)):
            stored = await self._write(
                lambda place, names=names: audience.freeze_named(  # type: ignore[misc]
                    place, self.id, resolution, setting, names
                )
            )
            if stored is None:
                return False
            count += stored
            if count > most:
                break
        return True

    async def _names(self, definition: CampaignDefinition, campaign: CampaignRecord) -> AsyncIterator[str]:
        for name in definition.segment.users:
            yield name
        if definition.segment.resolver is not None:
            code = self.campaign_context.agent(definition.agent)
            async for name in resolve_names(code, definition, campaign.namespace, campaign.as_of):
                yield name

    async def _find(self) -> CampaignRecord | None:
        rows = await fetch_patiently(self.campaign_context.host.store, campaign_statement("campaign_by_id", id=self.id))
        return read_campaign(rows[0]) if rows else None

    async def _load(self) -> CampaignRecord:
        campaign = await self._find()
        assert campaign is not None
        return campaign

    # Sending

    async def _drive(self) -> None:
        """Work on the campaign until every recipient's turn is over. The run is parked while it has nothing to do."""
        quiet = 0  # steps in a row in which no turn ended, because turns take long
        for _ in range(_SHIFTS):
            progress = await self.ctx.step(step(self._shift, name="send"))
            if progress["over"]:
                return
            quiet = 0 if progress["changed"] else quiet + 1
            if quiet and not progress["idle"]:
                await self.ctx.receive(CONTROL, timeout=min(_LONGEST_PAUSE, 2 ** (quiet - 1)), default=None)
            if progress["idle"]:
                wait = _LONGEST_WAIT
                if progress["next"] is not None:
                    wait = min(wait, to_datetime(progress["next"]) - self.ctx.now())
                # No message arrives when a deferred turn is over, and messages only go to the campaign's first run.
                # So check once a minute in both cases.
                if progress["flying"] or self.id != self.ctx.run_id:
                    wait = min(wait, timedelta(minutes=1))
                if wait > timedelta():
                    await self.ctx.receive(CONTROL, timeout=wait, default=None)
        self.ctx.continue_as(dict(self.inputs))

    async def _shift(self) -> dict[str, Any]:
        """Collect turns that are over and begin new ones, again and again for about `_SHIFT` microseconds.

        Return early if the campaign is over or has nothing to do for a while. The returned dict describes the progress,
        so that `_drive` can decide how long to wait.
        """
        host = self.campaign_context.host
        setting = await self._setting()
        clock = host.engine().clock
        end = clock.now() + _SHIFT
        changed = False
        options = definition_of(await self._load()).options  # with the agent's defaults, unlike the run's input
        driving = self.campaign_context.turns.driving(self._agent(), options.in_flight)
        with host.engine().listeners.watching() as news, driving:
            while True:
                news.clear()
                progress = await self._advance(setting)
                changed = changed or progress.changed
                now = clock.now()
                due = progress.next if progress.status in ("sending", "stopping") else None
                idle = not progress.fresh and not progress.changed and (due is None or due > now + SECOND)
                if progress.over or idle or now >= end:
                    return {
                        "over": progress.over,
                        "idle": idle,
                        "changed": changed,
                        "flying": progress.flying,
                        "next": due,
                    }
                if not progress.changed:
                    pause = _POLL if due is None or due <= now else min(_POLL, (due - now) / SECOND)
                    await wait_for_event(news, max(pause, _PAUSE))
                await asyncio.sleep(_SHORT if progress.begun else _PAUSE)

    def _agent(self) -> Agent | None:
        """Return the campaign's agent, if this node can handle turns of the campaign directly, which means without
        recorded steps.

        Return None if the campaign begins a flow, or if this node has not declared the agent. The runs of the sessions
        then handle all turns.
        """
        return self.campaign_context.agent(self.definition.agent) if self.definition.flow in (None, CLASSIC) else None

    async def _advance(self, setting: CampaignsSetting) -> Progress:
        """Collect turns that are over and begin new ones, in one transaction. Return the progress of the campaign.

        Some of the new turns are direct: this node handles them itself, after the transaction.
        """
        engine = self.campaign_context.host.engine()
        async with self.campaign_context.turns.room(self._agent()) as (direct, begun):

            def advance(place: TransactionContext) -> Operation[Progress]:
                # If the transaction is tried again, it must start with an empty list of begun turns.
                room = None if direct is None else replace(direct, begun=[])
                progress = yield from sends.advance(place, self.id, setting, room)
                if self.ctx.crashes and progress.changed:  # recorded steps are seconds apart, and a crash loop is not
                    yield function_statement("reset_crashes", [(self.ctx.run_id,)])
                return progress

            progress: Progress = await self._write(advance, nudge=False)
            begun += progress.begun
        if progress.mailed:
            engine.nudge()
        elif progress.changed:  # this wakes the loop of `_shift`, too
            engine.listeners.hint()
        return progress

    # Ending

    async def _end(self) -> dict[str, Any]:
        campaign: CampaignRecord = await self._write(lambda place: changes.end_campaign(place, self.id))
        return outcome_json(campaign)

    async def _cancel(self) -> None:
        """Stop the campaign because its run was canceled. Wait for at most about `_SHIFT` microseconds until turns in
        progress end. Recipients whose turn lasts longer get the outcome `failed`."""

        async def stop() -> None:
            await self._write(lambda place: changes.stop_for_cancel(place, self.id))

        async def abandon() -> dict[str, Any]:
            while True:
                campaign: CampaignRecord = await self._write(lambda place: changes.abandon_chunk(place, self.id))
                if campaign.over:
                    return outcome_json(campaign)

        await self.ctx.step(step(stop, name="stop"))
        await self.ctx.step(step(self._shift, name="send"))
        await self.ctx.step(step(abandon, name="end"))


async def _chunks(names: AsyncIterator[str]) -> AsyncIterator[list[str]]:
    chunk: dict[str, None] = {}
    async for name in names:
        chunk[name] = None
        if len(chunk) == PAGE:
            yield list(chunk)
            chunk = {}
    if chunk:
        yield list(chunk)


def campaign_function(campaign_context: Callable[[], CampaignContext]) -> Callable[..., Any]:
    async def agent_campaign(
        ctx: FunctionContext,
        agent: str,
        segment: dict[str, Any],
        flow: str | None = None,
        input: dict[str, Any] | None = None,
        metadata: dict[str, Any] | None = None,
        campaign_id: str | None = None,
        schedule_id: str | None = None,
        scheduled_for: int | str | None = None,
        trigger_type: str | None = None,
        run_attempt: int | None = None,
        allow_session_bootstrap: bool = False,
        options: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        inputs = {
            "agent": agent,
            "segment": segment,
            "flow": flow,
            "input": input,
            "metadata": metadata,
            "campaign_id": campaign_id,
            "schedule_id": schedule_id,
            "scheduled_for": scheduled_for,
            "trigger_type": trigger_type,
            "run_attempt": run_attempt,
            "allow_session_bootstrap": allow_session_bootstrap,
            "options": options,
        }
        return await CampaignRun(campaign_context(), ctx, inputs).run()

    return agent_campaign
