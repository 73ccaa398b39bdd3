"""Define the durable function that an agent's schedule starts at each due time.

Each run of the function is one occurrence. It begins a turn for one user, or starts a campaign.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ostinato.engine.listeners import wait_for_event
from ostinato.engine.outages import read_patiently
from ostinato.engine.ways import Host
from ostinato.errors import OstinatoError
from ostinato.flows.campaigns.model import CAMPAIGN_FUNCTION
from ostinato.flows.definition import AgentCodes
from ostinato.flows.model import SessionStatus, TurnInput
from ostinato.flows.runner import find_place, wait_for_outcome
from ostinato.flows.schedules.rows import find_refusal
from ostinato.flows.store import TURN_WIDTH, read_session, read_turn, read_user
from ostinato.flows.store import statement as agent_statement
from ostinato.flows.turns import TransactionContext, accept_turn, correlation_of, open_session, outcome_of
from ostinato.flows.writing import write_patiently
from ostinato.functions.context import FunctionContext
from ostinato.functions.definition import step
from ostinato.functions.errors import ChildFailed
from ostinato.store.contract import Operation
from ostinato.when.instants import SECOND, Micros, from_datetime

_HOLD: Micros = 600 * SECOND  # how long a turn in progress counts for `max_concurrent_runs` at most
_POLL = 1.0  # seconds between two checks of a turn that another node handles


def occurrence_function(host_of: Callable[[], Host], codes: AgentCodes) -> Callable[..., Any]:
    """Return the durable function `agent-schedule`, which an agent's schedule starts at each due time.

    The function begins a turn for the schedule's user, waits until the turn is over, and returns the outcome. If the
    schedule is for a segment, the function runs a campaign instead. The function's argument `bounded` says whether the
    limit `max_concurrent_runs` applies to the run.

    - `host_of`: returns the `Host`, the objects that the app provides
    - `codes`: the agents that are declared in this process
    """
    holding = Holding()

    async def agent_schedule(
        ctx: FunctionContext, agent: str, schedule: str, definition: dict[str, Any], bounded: bool = False
    ) -> dict[str, Any]:
        if ctx.occurrence is None:
            raise OstinatoError("only schedules of agents start this function; write app.agents.schedules(…)")
        moment, origin = ctx.occurrence
        scheduled_for = from_datetime(moment)
        key = f"schedule/{schedule}/{scheduled_for}" + ("" if origin == "auto" else f"/{origin}")
        target = definition["target"]

        async def begin() -> dict[str, Any]:
            attempt = ctx.crashes + 1
            if target["kind"] == "segment":

                def look(_: Micros) -> Operation[dict[str, Any]]:
                    refused = yield from find_refusal(ctx.namespace, agent, schedule, asked=origin != "auto")
                    return {"attempt": attempt} if refused is None else {"refused": refused}

                return await write_patiently(host_of(), look)
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
                run_attempt=attempt,
            )

            def begin_turn(now: Micros) -> Operation[dict[str, Any]]:
                place = yield from find_place(host_of(), codes, agent, ctx.namespace, now)
                return (yield from _begin_turn(place, schedule, origin, turn_input))

            return await write_patiently(host_of(), begin_turn)

        async def hold() -> dict[str, Any] | None:
            return await holding.hold(host_of(), begun["turn"])

        begun: dict[str, Any] = await ctx.step(step(begin, name="begin"))
        if "refused" in begun:
            return {"outcome": "skipped", "reason": begun["refused"]}
        if target["kind"] == "segment":
            return await _run_campaign(ctx, agent, schedule, scheduled_for, begun.get("attempt", 1), definition)
        outcome = begun["outcome"]
        if outcome is None and bounded:
            outcome = await ctx.step(step(hold, name="hold"))
        if outcome is None:
            outcome = await wait_for_outcome(ctx, host_of, agent, begun["turn"])
        said = {name: outcome[name] for name in ("outcome", "reason", "session_id", "delivered")}
        return {**said, "request_id": outcome["turn_id"] or None, "attempt": begun.get("attempt", 1)}

    return agent_schedule


class Holding:
    """Keeps the runs of occurrences active while their turns are in progress. This is needed because only active runs
    count for the limit `max_concurrent_runs`. Parked runs do not count.

    At most half of the node's slots are used for this. If no such slot is free, a run is parked while its turn is in
    progress. More turns than `max_concurrent_runs` can then be in progress.
    """

    def __init__(self) -> None:
        self._held = 0

    async def hold(self, host: Host, turn_id: str) -> dict[str, Any] | None:
        """Wait for the outcome of a turn, and return it as JSON. The run of the occurrence stays active meanwhile.

        Return None if the run should park and wait instead. There are three reasons: too many runs are kept active, the
        turn takes long, or the turn's flow waits.
        """
        engine = host.engine()
        end = engine.clock.now() + _HOLD
        if self._held >= engine.settings.concurrency // 2:
            return None
        self._held += 1
        try:
            with engine.listeners.watching() as news:
                while engine.clock.now() < end:
                    news.clear()
                    (row,) = await read_patiently(host.store, lambda _: _look(turn_id))
                    turn, session = read_turn(row[:TURN_WIDTH]), read_session(row[TURN_WIDTH:])
                    if turn.outcome is not None:
                        return outcome_of(turn).as_json()
                    if turn.status == "running" and session.waits is not None:
                        return None
                    await wait_for_event(news, _POLL)
        finally:
            self._held -= 1
        return None


def _look(turn_id: str) -> Operation[list[Any]]:
    return (yield agent_statement("turn_with_session", id=turn_id))


def _begin_turn(place: TransactionContext, id: str, origin: str, turn_input: TurnInput) -> Operation[dict[str, Any]]:
    """Accept the turn of an occurrence, which is one due time of the schedule `id`. Return a dict with `turn`,
    `outcome` and `attempt`. If the turn is refused, return a dict with only `refused`, the reason.

    A turn that was accepted before is not refused. Any other turn is refused in three cases:

    - The schedule is canceled.
    - The schedule is paused, and the occurrence was not created by a call of `trigger`.
    - The turn names a session (`turn_input.session_id`) that is not the active session of the user, and
      `turn_input.bootstrap` is false. If the agent has no such user, this case does not apply.
    """
    rows = yield agent_statement("agent_user", namespace=place.namespace, agent=place.agent, user=turn_input.user)
    user = read_user(rows[0]) if rows else None
    accepted_before = (
        (yield agent_statement("turn_by_key", user=user.id, key=turn_input.key)) if user is not None else ()
    )
    if not accepted_before:
        refused = yield from find_refusal(place.namespace, place.agent, id, asked=origin != "auto")
        if refused is not None:
            return {"refused": refused}
        if user is not None and turn_input.session_id is not None and not turn_input.bootstrap:
            session = yield from open_session(place, user)
            usable = session is not None and session.status is SessionStatus.ACTIVE
            if session is None or not usable or session.id != turn_input.session_id:
                return {"refused": "bootstrap_disabled"}
    accepted = yield from accept_turn(place, turn_input)
    outcome = None if accepted.outcome is None else accepted.outcome.as_json()
    attempt = turn_input.run_attempt
    if accepted_before:  # by an earlier attempt that was lost before its step was recorded
        attempt = correlation_of(read_turn(accepted_before[0])).get("run_attempt", attempt)
    return {"turn": accepted.turn_id, "outcome": outcome, "attempt": attempt}


async def _run_campaign(
    ctx: FunctionContext, agent: str, schedule: str, scheduled_for: int, attempt: int, definition: Mapping[str, Any]
) -> dict[str, Any]:
    """Start the campaign for a segment, and wait for its end. Return the result of the occurrence."""
    target = definition["target"]
    child = await ctx.start(
        CAMPAIGN_FUNCTION,
        {
            "agent": agent,
            "schedule_id": schedule,
            "scheduled_for": scheduled_for,
            "trigger_type": definition["trigger"]["type"],
            "run_attempt": attempt,
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
        return {"outcome": "failed", "reason": f"campaign: {problem}"[:300], "attempt": attempt}
    if not isinstance(result, Mapping) or "outcome" not in result:
        return {"outcome": "success", "attempt": attempt}
    return {"expanded_recipients": result.get("recipients"), "attempt": attempt, **result}
