"""Implement `app.agents.campaigns(agent)`: preview, test, send, watch, pause, stop and explain campaigns."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import orjson

from ostinato.engine.context import to_json
from ostinato.engine.idempotency import digest, run_once
from ostinato.engine.listeners import wait_for_event
from ostinato.errors import (
    Conflict,
    NotFound,
    OstinatoError,
    RunEnded,
    check_limit,
    check_text,
    did_you_mean,
    short_repr,
)
from ostinato.flows.campaigns.agent_settings import setting_of, with_defaults
from ostinato.flows.campaigns.audience import read_audience
from ostinato.flows.campaigns.changes import begin_campaign, change_campaign
from ostinato.flows.campaigns.definition import CampaignDefinition, read_definition
from ostinato.flows.campaigns.explain import Explanation, explain
from ostinato.flows.campaigns.model import CAMPAIGN_FUNCTION, CONTROL, STATUSES, CampaignRecord
from ostinato.flows.campaigns.preview import Preview, preview_campaign
from ostinato.flows.campaigns.store import campaign_statement, read_campaign, read_recipient
from ostinato.flows.campaigns.suppressions import check_names, suppress, unsuppress
from ostinato.flows.campaigns.tally import Tally, read_tally
from ostinato.flows.campaigns.views import CampaignInfo, RecipientInfo, campaign_info, recipient_info
from ostinato.flows.content import check_content, check_resolver
from ostinato.flows.errors import AudienceTooLarge, DefinitionError
from ostinato.flows.model import MOST_NAME, FlowOutcome
from ostinato.flows.read_values import read_choice
from ostinato.flows.store import fetch
from ostinato.flows.turns import TransactionContext
from ostinato.functions.model import Message
from ostinato.functions.operations import Sending, send, start_with_messages
from ostinato.model import read_length
from ostinato.store.contract import Operation
from ostinato.when.durations import Length
from ostinato.when.instants import SECOND, Micros

if TYPE_CHECKING:
    from ostinato.flows.api import Agents

T = TypeVar("T")
_LAST = "\x7f"  # after every id
_POLL = 1.0  # seconds between two looks at a campaign whose run has ended


class CampaignHandle:
    """A campaign that was started. `new` is false if a campaign with the same id was started before."""

    __slots__ = ("_campaigns", "id", "new")

    def __init__(self, campaigns: Campaigns, id: str, new: bool) -> None:
        self._campaigns = campaigns
        self.id = id
        self.new = new

    async def outcome(self, timeout: Length | None = None) -> CampaignInfo:
        """Wait until the campaign is over, and return it. Raises `TimeoutError` if it is not over within `timeout`."""
        return await self._campaigns.wait(self.id, timeout)

    def __repr__(self) -> str:
        return f"<campaign {self.id}>"


class Campaigns:
    """The campaigns of one agent."""

    def __init__(self, agents: Agents, agent: str) -> None:
        self._agents = agents
        self._agent = agent
        self._host = agents._context.host
        self._namespace = agents._namespace

    # Sending

    async def send(
        self,
        segment: Mapping[str, Any],
        *,
        flow: str | None = None,
        input: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        campaign_id: str | None = None,
        id: str | None = None,
        allow_session_bootstrap: bool = False,
        request_id: str | None = None,
        **options: Any,
    ) -> CampaignHandle:
        """Send a campaign to a segment now. When this returns, the campaign is stored and will be sent.

        Without a `flow`, the model writes each message, and `metadata["prompt"]` says what the message is about.
        `options` are the fields of `CampaignOptions`.

        A repeated call with the same `id` starts no campaign, and returns a handle of the first one. A call that
        repeats a `request_id` within a day also returns a handle of the first campaign.

        Raises:

        - `Conflict` if a different campaign was sent with this `id`
        - `Conflict` if the `request_id` was used for another request
        - `AudienceTooLarge` if the segment has more than `max_recipients` users, unless `confirmed=True`
        """
        definition = await self._check(segment, flow, input, metadata, campaign_id, allow_session_bootstrap, options)
        if id is not None:
            check_text(id, "the campaign's id")
        earlier = None if id is None else await self._find(id)
        if id is not None and earlier is not None:
            return self._same(earlier, definition, id)
        if id is not None and await self._by_run(id) is not None:
            raise Conflict(f"{id!r} is the id of another campaign's run; take another id")
        # An older version has taken a longer `campaign_id`. The `id` is a part of the key of the campaign's run.
        bounds = ("campaign_id", campaign_id, MOST_NAME), ("id", id, MOST_NAME - len(self._key("")))
        for name, value, most in bounds:
            if value is not None and len(value) > most:
                words = f"the campaign's {name} has {len(value):,} characters; at most {most} are taken"
                raise DefinitionError(words, ((name,), words))
        await self._refuse_large(definition)
        return await self._start(definition, id, request_id)

    async def test(
        self,
        users: Collection[str],
        *,
        flow: str | None = None,
        input: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        id: str | None = None,
        variants: Mapping[str, Any] | None = None,
        request_id: str | None = None,
    ) -> CampaignHandle:
        """Send to named users at once. Quiet hours, the frequency cap and the holdout do not apply.

        Users who have opted out or are suppressed get nothing. If the agent's campaigns have `require_opt_in`, users
        who have not opted in get nothing either.
        """
        if isinstance(users, str):
            raise OstinatoError(f"users {users!r} is one text; write [{users!r}]")
        options: dict[str, Any] = {"quiet_hours": None, "frequency_cap": None}
        if variants is not None:
            options["variants"] = variants
        segment = {"type": "users", "users": list(users)}
        return await self.send(
            segment,
            flow=flow,
            input=input,
            metadata={**(metadata or {}), "test": True},
            campaign_id="test",
            id=id,
            allow_session_bootstrap=True,
            request_id=request_id,
            **options,
        )

    async def preview(
        self,
        segment: Mapping[str, Any],
        *,
        flow: str | None = None,
        input: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        campaign_id: str | None = None,
        allow_session_bootstrap: bool = False,
        **options: Any,
    ) -> Preview:
        """Return which users a campaign would reach now. Nothing is stored and nothing is sent.

        The arguments are those of `send`. If `flow`, `input` and `metadata` are all None, the content of the messages
        is not checked. If you pass the same `campaign_id` to `preview` and to `send`, both put each user into the same
        group: the same variant, or the holdout group.
        """
        saying = flow is not None or input is not None or metadata is not None
        definition = await self._check(
            segment, flow, input, metadata, campaign_id, allow_session_bootstrap, options, content=saying
        )
        now, place = self._now(), await self._place()
        setting = setting_of(await self._agents.get(self._agent))
        code = self._agents.codes.get(self._agent)
        return await preview_campaign(self._host.store, place, code, setting, definition, now)

    async def _check(
        self,
        segment: Mapping[str, Any],
        flow: str | None,
        input: Mapping[str, Any] | None,
        metadata: Mapping[str, Any] | None,
        campaign_id: str | None,
        bootstrap: bool,
        options: Mapping[str, Any],
        *,
        content: bool = True,
    ) -> CampaignDefinition:
        """Check a campaign, and return its definition. If `content` is false, do not check what the campaign sends."""
        declared = await self._agents.get(self._agent)
        definition = read_definition(
            {
                "agent": self._agent,
                "segment": segment,
                "flow": flow,
                "input": input,
                "metadata": metadata,
                "campaign_id": campaign_id,
                "allow_session_bootstrap": bootstrap,
                "options": with_defaults(options, declared.get("campaigns") or {}),
            }
        )
        code = self._agents.codes.get(self._agent)
        if content:
            check_content(self._agent, declared, code, flow, input, definition.metadata, definition.options)
        check_resolver(self._agent, declared, code, definition.segment, ("segment",))
        return definition

    async def _refuse_large(self, definition: CampaignDefinition) -> None:
        """Raise `AudienceTooLarge` if the segment has more users than the campaign's `max_recipients`.

        If the campaign's option `confirmed` is true, every size is allowed. If the segment has a resolver, do not check
        the size now: it is checked when the campaign begins.
        """
        options = definition.options
        if options.confirmed or definition.segment.resolver is not None:
            return
        now, place = self._now(), await self._place()
        code = self._agents.codes.get(self._agent)
        count = 0
        async for page in read_audience(self._host.store, place, code, definition, now):
            count += len(page)
            if count > options.max_recipients:
                raise AudienceTooLarge(
                    f"the segment has more than max_recipients={options.max_recipients:,} users; look at "
                    "preview(…), and confirm it by confirmed=True"
                )

    def _key(self, id: str) -> str:
        return f"campaign/{self._agent}/{id}"

    async def _find(self, id: str) -> CampaignRecord | None:
        """Return the agent's campaign that was sent with this id, or None if there is none."""
        query = campaign_statement("sent_campaign", namespace=self._namespace, agent=self._agent, id=id)
        rows = await fetch(self._host.store, query)
        return read_campaign(rows[0]) if rows else None

    async def _by_run(self, id: str) -> CampaignRecord | None:
        """Return the agent's campaign whose run has this id, or None if there is none."""
        rows = await fetch(self._host.store, campaign_statement("campaign_by_id", id=id))
        campaign = read_campaign(rows[0]) if rows else None
        ours = campaign is not None and (campaign.namespace, campaign.agent) == (self._namespace, self._agent)
        return campaign if ours else None

    def _same(self, campaign: CampaignRecord, definition: CampaignDefinition, id: str) -> CampaignHandle:
        """Return a handle of `campaign`, which was sent with this id. Raises `Conflict` if `definition` differs."""
        if orjson.loads(campaign.definition) != orjson.loads(to_json(dict(definition.given), "the campaign")):
            raise Conflict(f"agent {self._agent!r} has sent another campaign with the id {id!r}; take another id")
        return CampaignHandle(self, campaign.id, False)

    async def _start(self, definition: CampaignDefinition, id: str | None, request_id: str | None) -> CampaignHandle:
        key = None if id is None else self._key(id)
        functions = self._host.way("functions").within(self._namespace, self._agents._actor)
        run, deadline = await functions.prepare(CAMPAIGN_FUNCTION, dict(definition.given), id=key)
        place = replace(await self._place(), now=run.created)

        def begin() -> Operation[dict[str, Any]]:
            started = yield from start_with_messages(replace(run), deadline, [], place.now)
            if started.new:
                yield from begin_campaign(place, started.id, definition, id)
            return {"id": started.id, "new": started.new}

        what = f"send campaign {digest(key, definition.given)}"
        started = await self._write(place, request_id, what, begin)
        if not started["new"] and id is not None:  # another call was faster
            return self._same(await self._record(started["id"]), definition, id)
        return CampaignHandle(self, **started)

    # Watching

    async def wait(self, id: str, timeout: Length | None = None) -> CampaignInfo:
        """Wait until a campaign is over, and return it.

        Raises `NotFound` if there is no such campaign, or `TimeoutError` if it is not over within `timeout`.
        """
        campaign = await self._record(id)
        loop = asyncio.get_running_loop()
        end = None if timeout is None else loop.time() + _seconds(timeout)
        if not campaign.over:
            await self._wait_for_run(campaign.id, timeout)
        with self._host.engine().listeners.watching() as news:
            while not campaign.over and not (campaign := await self._record(campaign.id)).over:
                if end is not None and loop.time() >= end:
                    raise TimeoutError(f"campaign {campaign.id} is not over within {timeout}: it is {campaign.status}")
                await wait_for_event(news, _POLL)
                news.clear()
        return await self.get(campaign.id)

    async def _wait_for_run(self, id: str, timeout: Length | None) -> None:
        """Wait until the run of a campaign is over, whether the run succeeded, failed or was canceled. If `timeout`
        passes first, check the campaign itself:

        - If the campaign is over, return, although its run is not over.
        - If the campaign is not over, raise `TimeoutError`.
        """
        functions = self._host.way("functions").within(self._namespace, self._agents._actor)
        try:
            await functions.result(id, timeout)
        except RunEnded:
            pass  # the campaign ends soon after a run that was canceled or failed
        except TimeoutError as problem:
            campaign = await self._record(id)
            if not campaign.over:
                words = f"campaign {id} is not over within {timeout}: it is {campaign.status}; {problem}"
                raise TimeoutError(words) from None

    async def get(self, id: str) -> CampaignInfo:
        """Return a campaign with its present counts. Raises `NotFound` if there is no such campaign."""
        campaign = await self._record(id)
        tally = await self._host.store.read(lambda _: read_tally(campaign))
        return campaign_info(campaign, tally)

    async def list(
        self, *, campaign_id: str = "", status: str = "", before: str | None = None, limit: int = 100
    ) -> Sequence[CampaignInfo]:
        """Return campaigns of the agent, newest first. `before` is the last id of the previous page.

        For a campaign that is not over, `counts`, `reasons` and `variants` are empty. Call `get` to read them.
        """
        check_limit(limit)
        await self._place()  # raises `NotFound` if there is no such agent
        if status and status not in STATUSES:
            hint = did_you_mean(status, STATUSES) if isinstance(status, str) else ""
            raise OstinatoError(
                f"status {short_repr(status)} is none of {', '.join(STATUSES)}{'; ' + hint if hint else ''}"
            )

        def look(_: int) -> Operation[list[CampaignInfo]]:
            rows = yield campaign_statement(
                "list_campaigns",
                namespace=self._namespace,
                agent=self._agent,
                label=campaign_id,
                status=status,
                before=before or _LAST,
                limit=limit,
            )
            page = [read_campaign(row) for row in rows]
            infos = []
            for campaign in page:
                tally = (yield from read_tally(campaign)) if campaign.over else Tally()
                infos.append(campaign_info(campaign, tally))
            return infos

        return await self._host.store.read(look)

    async def recipients(
        self, id: str, *, outcome: str = "", after: str = "", limit: int = 100
    ) -> Sequence[RecipientInfo]:
        """Return recipients in the order of external ids. `after` is the last external id of the previous page."""
        check_limit(limit)
        if outcome:
            read_choice(outcome, "outcome", FlowOutcome)
        id = (await self._record(id)).id
        query = campaign_statement("list_recipients", id=id, outcome=outcome, status="", after=after, limit=limit)
        return [recipient_info(read_recipient(row)) for row in await fetch(self._host.store, query)]

    async def explain(self, id: str, user: str) -> Explanation:
        """Return why a campaign messaged a user, or why it did not. Raises `NotFound` if there is no such campaign."""
        campaign = await self._record(id)
        check_text(user, "the user")
        place, setting = await self._place(), setting_of(await self._agents.get(self._agent))
        return await self._host.store.read(lambda _: explain(place, campaign, setting, user))

    # Controlling

    async def pause(self, id: str, reason: str | None = None, *, request_id: str | None = None) -> CampaignInfo:
        """Pause a campaign, and return it. No turn begins until `resume`. Turns that have begun continue.

        Raises `NotFound` if there is no such campaign. Raises `Conflict` if the campaign is neither sending nor paused.
        """
        return await self._change(id, "pause", reason, request_id)

    async def resume(self, id: str, *, request_id: str | None = None) -> CampaignInfo:
        """Continue a campaign that was paused, and return it.

        Raises `NotFound` if there is no such campaign. Raises `Conflict` if the campaign is neither paused nor sending.
        """
        return await self._change(id, "resume", None, request_id)

    async def stop(self, id: str, reason: str | None = None, *, request_id: str | None = None) -> CampaignInfo:
        """Stop a campaign, and return it. Recipients whose turn has not begun are skipped with the reason
        `campaign_stopped`. A turn in progress sends only messages that were committed before the stop.

        If the campaign was stopped before, nothing changes. Raises `NotFound` if there is no such campaign, or
        `Conflict` if the campaign has ended without a stop.
        """
        return await self._change(id, "stop", reason, request_id)

    async def _change(self, id: str, change: str, reason: str | None, request_id: str | None) -> CampaignInfo:
        if reason is not None:
            check_text(reason, "the reason")
        id = (await self._record(id)).id
        place = await self._place()

        def work() -> Operation[None]:
            yield from change_campaign(place, id, change, reason)
            message = Message(id, f"{change}/{place.new_id(place.now)}", CONTROL, "null", place.now, place.actor)
            yield from send([Sending(message, place.namespace)], place.now)  # no effect if the run is over

        await self._write(place, request_id, f"{change} campaign {digest(self._agent, id, reason)}", work)
        return await self.get(id)

    # The suppression list

    async def suppress(self, users: Collection[str], reason: str, *, request_id: str | None = None) -> int:
        """Put users on the suppression list, so that campaigns of this agent skip them. Return how many of them were
        not on the list before."""
        check_text(reason, "the reason")
        names = check_names(users)
        place = await self._place()
        what = f"suppress {digest(self._agent, names, reason)}"
        return await self._write(place, request_id, what, lambda: suppress(place, names, reason))

    async def unsuppress(self, users: Collection[str], *, request_id: str | None = None) -> int:
        """Remove users from the suppression list. Return how many were on it."""
        names = check_names(users)
        place = await self._place()
        what = f"unsuppress {digest(self._agent, names)}"
        return await self._write(place, request_id, what, lambda: unsuppress(place, names))

    async def suppressed(self, *, after: str = "", limit: int = 100) -> Sequence[tuple[str, str]]:
        """Return the suppression list as pairs of external id and reason, in the order of the external ids.

        `after` is the last external id of the previous page.
        """
        check_limit(limit)
        await self._place()  # raises `NotFound` if there is no such agent
        names = {"namespace": self._namespace, "agent": self._agent}
        query = campaign_statement("list_suppressions", **names, after=after, limit=limit)
        return [(name, reason) for name, reason, *_ in await fetch(self._host.store, query)]

    # Inside

    def _now(self) -> Micros:
        return self._host.engine().clock.now()

    async def _write(
        self, place: TransactionContext, request_id: str | None, what: str, make: Callable[[], Operation[T]]
    ) -> T:
        """Execute the operation that `make` returns, and return its result, a JSON value. If the same request was
        executed before with this `request_id`, return the earlier result. Raises `Conflict` if the `request_id` was
        used for another request. `what` describes the request."""
        written = await run_once(self._host.store, place.namespace, request_id, what, place.now, make)
        self._host.engine().nudge()
        return written

    async def _place(self) -> TransactionContext:
        return self._agents._place(self._agent, await self._agents.get(self._agent))

    async def _record(self, id: str) -> CampaignRecord:
        """Return one campaign of the agent. Raises `NotFound` if no campaign matches `id`.

        First look for the campaign whose run has this id. If there is none, look for the campaign that a caller sent
        with `send(…, id=id)`.
        """
        check_text(id, "the campaign's id")
        campaign = await self._by_run(id) or await self._find(id)
        if campaign is None:
            raise NotFound(f"agent {self._agent!r} has no campaign {id!r}")
        return campaign


def _seconds(timeout: Length) -> float:
    seconds = read_length(timeout, "timeout") / SECOND
    if seconds < 0:
        raise OstinatoError(f"timeout {timeout!r} is negative")
    return seconds
