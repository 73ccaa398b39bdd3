"""The durable function that a due time of an agent's schedule starts: a turn of one user, or a campaign. A run of it is
the record of the occurrence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ostinato.engine.ways import Host
from ostinato.errors import OstinatoError
from ostinato.flows.campaign_model import CAMPAIGN_FUNCTION
from ostinato.flows.model import SessionStatus, TurnInput
from ostinato.flows.runner import PlaceOf, find_place, wait_for_outcome
from ostinato.flows.schedules.rows import statement
from ostinato.flows.store import read_user
from ostinato.flows.store import statement as agent_statement
from ostinato.flows.turns import Place, accept_turn, open_session
from ostinato.flows.writing import write_patiently
from ostinato.functions.context import FunctionContext
from ostinato.functions.definition import step
from ostinato.functions.errors import ChildFailed
from ostinato.store.contract import Operation
from ostinato.when.instants import Micros, from_datetime

_ATTEMPT = 1  # a run of a function that is recovered goes on under its own number


def occurrence_function(host_of: Callable[[], Host], place_of: PlaceOf) -> Callable[..., Any]:
    """The function. `host_of` returns the app's host; `place_of` makes the place for an agent, a namespace and an
    actor."""

    async def agent_schedule(
        ctx: FunctionContext, agent: str, schedule: str, definition: dict[str, Any]
    ) -> dict[str, Any]:
        if ctx.occurrence is None:
            raise OstinatoError("only schedules of agents start this function; write app.agents.schedules(…)")
        moment, origin = ctx.occurrence
        scheduled_for = from_datetime(moment)
        key = f"schedule/{schedule}/{scheduled_for}" + ("" if origin == "auto" else f"/{origin}")
        target = definition["target"]

        async def begin() -> dict[str, Any]:
            if target["kind"] == "segment":
                place = Place(ctx.namespace, agent, "", scheduled_for, host_of().new_id)
                return await write_patiently(host_of(), lambda _: _may_run(place, schedule, origin))
            turn_input = TurnInput(
                user=target["user_external_id"],
                source="scheduled",
                key=key,
                flow=definition["flow"],
                input=definition["input"],
                session_id=target.get("session_id"),
                bootstrap=definition["allow_session_bootstrap"],
                on_active_flow=definition["on_active_flow"],
                metadata=definition["metadata"],
                reply_to=ctx.run_id,
                schedule_id=schedule,
                scheduled_for=scheduled_for,
                trigger_type=definition["trigger"]["type"],
                run_attempt=_ATTEMPT,
            )

            def begin_turn(now: Micros) -> Operation[dict[str, Any]]:
                place = yield from find_place(host_of(), place_of, agent, ctx.namespace, now)
                return (yield from _begin_turn(place, schedule, origin, turn_input))

            return await write_patiently(host_of(), begin_turn)

        begun: dict[str, Any] = await ctx.step(step(begin, name="begin"))
        if "refused" in begun:
            return {"outcome": "skipped", "reason": begun["refused"]}
        if target["kind"] == "segment":
            return await _run_campaign(ctx, agent, schedule, scheduled_for, definition)
        outcome = begun["outcome"]
        if outcome is None:
            outcome = await wait_for_outcome(ctx, host_of, agent, begun["turn"])
        said = {name: outcome[name] for name in ("outcome", "reason", "session_id", "delivered")}
        return {**said, "request_id": outcome["turn_id"] or None}

    return agent_schedule


def _may_run(place: Place, id: str, origin: str) -> Operation[dict[str, Any]]:
    """Look whether a schedule was canceled or paused after it has fired. A run that was asked for ignores a pause."""
    rows = yield statement("agent_schedule_is", namespace=place.namespace, agent=place.agent, id=id)
    if not rows or rows[0][0] == "canceled":
        return {"refused": "schedule_canceled"}
    if rows[0][0] == "paused" and origin == "auto":
        return {"refused": "schedule_paused"}
    return {}


def _begin_turn(place: Place, id: str, origin: str, turn_input: TurnInput) -> Operation[dict[str, Any]]:
    """Accept the turn, unless the schedule may not run any more, or the session that it names is not active. A turn
    that was accepted before is not refused."""
    rows = yield agent_statement("agent_user", namespace=place.namespace, agent=place.agent, user=turn_input.user)
    user = read_user(rows[0]) if rows else None
    accepted_before = user is not None and (yield agent_statement("turn_by_key", user=user.id, key=turn_input.key))
    if not accepted_before:
        refused = yield from _may_run(place, id, origin)
        if refused:
            return refused
        if user is not None and turn_input.session_id is not None and not turn_input.bootstrap:
            session = yield from open_session(user)
            usable = session is not None and session.status is SessionStatus.ACTIVE
            if session is None or not usable or session.id != turn_input.session_id:
                return {"refused": "bootstrap_disabled"}
    accepted = yield from accept_turn(place, turn_input)
    outcome = None if accepted.outcome is None else accepted.outcome.as_json()
    return {"turn": accepted.turn_id, "outcome": outcome}


async def _run_campaign(
    ctx: FunctionContext, agent: str, schedule: str, scheduled_for: int, definition: Mapping[str, Any]
) -> dict[str, Any]:
    """Start the campaign of a segment, and return what became of it."""
    target = definition["target"]
    child = await ctx.start(
        CAMPAIGN_FUNCTION,
        {
            "agent": agent,
            "schedule_id": schedule,
            "scheduled_for": scheduled_for,
            "trigger_type": definition["trigger"]["type"],
            "run_attempt": _ATTEMPT,
            "campaign_id": target.get("campaign_id"),
            "segment": target["segment"],
            "flow": definition["flow"],
            "input": definition["input"],
            "metadata": definition["metadata"],
            "allow_session_bootstrap": definition["allow_session_bootstrap"],
            "options": target.get("options") or {},
        },
        kind="function",
    )
    try:
        result = await child.result()
    except ChildFailed as problem:
        return {"outcome": "failed", "reason": f"campaign: {problem}"[:300]}
    if not isinstance(result, Mapping) or "outcome" not in result:
        return {"outcome": "success"}
    return {"expanded_recipients": result.get("recipients"), **result}
