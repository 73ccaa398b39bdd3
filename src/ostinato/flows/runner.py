"""The durable function that hands a turn to its session and returns the outcome, for schedules, campaigns and callers
that start turns as runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any

from ostinato.engine.context import to_json
from ostinato.engine.ways import Host
from ostinato.errors import NotFound, OstinatoError, check_text, short_repr
from ostinato.flows.model import (
    MOST_METADATA,
    MOST_TEXT,
    ON_ACTIVE_FLOW,
    OUTCOME,
    SOURCES,
    Outcome,
    TurnInput,
    TurnOutcome,
)
from ostinato.flows.store import read_turn, statement
from ostinato.flows.turns import Accepted, Place, accept_turn, end_session, load_turn, outcome_of
from ostinato.functions.context import FunctionContext
from ostinato.functions.definition import step
from ostinato.model import Status
from ostinato.store.contract import Operation, sql

_LOOK = "5m"  # after which a turn whose outcome has not come is looked at


def check_turn(turn_input: TurnInput) -> None:
    """Raise what is wrong with an input, naming the field."""
    check_text(turn_input.user, "the turn's user")
    check_text(turn_input.key, "the turn's key")
    if len(turn_input.user) > 200 or len(turn_input.key) > 300:
        raise OstinatoError("the turn's user has at most 200 characters, and its key at most 300")
    if turn_input.source not in SOURCES:
        raise OstinatoError(f"the turn's source {short_repr(turn_input.source)} is none of {', '.join(SOURCES)}")
    if turn_input.on_active_flow not in ON_ACTIVE_FLOW:
        raise OstinatoError(
            f"the turn's on_active_flow {short_repr(turn_input.on_active_flow)} is none of {', '.join(ON_ACTIVE_FLOW)}"
        )
    if turn_input.text is not None:
        check_text(turn_input.text, "the turn's text")
        if len(turn_input.text) > MOST_TEXT:
            raise OstinatoError(
                f"the turn's text has {len(turn_input.text):,} characters; at most {MOST_TEXT:,} are taken"
            )
    if turn_input.source in ("inbound", "human") and not turn_input.text:
        raise OstinatoError(f"a turn of source {turn_input.source!r} has a text")
    if len(to_json(dict(turn_input.metadata), "the turn's metadata")) > MOST_METADATA:
        raise OstinatoError(f"the turn's metadata have more than {MOST_METADATA:,} bytes")
    if turn_input.input is not None:
        to_json(dict(turn_input.input), "the turn's input")


def read_turn_input(value: Mapping[str, Any]) -> TurnInput:
    """Read the input of a turn from JSON. Raises what is wrong with it."""
    names = {field.name for field in fields(TurnInput)}
    unknown = sorted(set(value) - names)
    if unknown:
        raise OstinatoError(f"a turn has no {unknown[0]!r}; it has {', '.join(sorted(names))}")
    missing = [name for name in ("user", "source", "key") if name not in value]
    if missing:
        raise OstinatoError(f"a turn needs {missing[0]!r}")
    turn_input = TurnInput(**value)
    check_turn(turn_input)
    return turn_input


def turn_function(host_of: Callable[[], Host], place_of: Callable[[str, str, str | None], Place]) -> Callable[..., Any]:
    """The function. `host_of` returns the app's host; `place_of` makes the place for an agent, a namespace and an
    actor."""

    async def agent_turn(ctx: FunctionContext, agent: str, turn: dict[str, Any]) -> dict[str, Any]:
        turn_input = replace(read_turn_input(turn), reply_to=ctx.run_id)

        async def accept() -> dict[str, Any]:
            place = place_of(agent, ctx.namespace, None)
            accepted: Accepted = await host_of().store.run(lambda _: accept_turn(place, turn_input))
            host_of().engine().nudge()
            outcome = None if accepted.outcome is None else accepted.outcome.as_json()
            return {"turn": accepted.turn_id, "outcome": outcome}

        accepted = await ctx.step(step(accept, name="accept"))
        outcome: dict[str, Any] | None = accepted["outcome"]
        if outcome is None:
            outcome = await wait_for_outcome(ctx, host_of, place_of, agent, accepted["turn"])
        return outcome

    return agent_turn


async def wait_for_outcome(
    ctx: FunctionContext,
    host_of: Callable[[], Host],
    place_of: Callable[[str, str, str | None], Place],
    agent: str,
    turn_id: str,
) -> dict[str, Any]:
    """Wait for the outcome of a turn whose `reply_to` is this run."""

    async def look() -> dict[str, Any] | None:
        place = place_of(agent, ctx.namespace, None)
        outcome = await host_of().store.run(lambda _: look_at_turn(place, turn_id))
        return None if outcome is None else outcome.as_json()

    outcome: dict[str, Any] | None = None
    while outcome is None:
        outcome = await ctx.receive(OUTCOME, timeout=_LOOK, default=None)
        if outcome is None:
            outcome = await ctx.step(step(look, name="look"))
    return outcome


def look_at_turn(place: Place, turn_id: str) -> Operation[TurnOutcome | None]:
    """The outcome of a turn; None if it is not over. A session whose run is over finishes nothing: it is ended here."""
    rows = yield statement("turn_by_id", id=turn_id)
    if not rows:
        raise NotFound(f"there is no turn {turn_id!r}")
    turn = read_turn(rows[0])
    if turn.outcome is not None:
        return outcome_of(turn)
    _, session, _ = yield from load_turn(turn_id)
    states = {id: status for id, status, *_ in (yield sql("states_of", [(session.run_id,)]))}
    if session.run_id in states and not Status(states[session.run_id]).over:
        return None
    if session.ended is None:
        yield from end_session(place, session, "lost")
    rows = yield statement("turn_by_id", id=turn_id)
    turn = read_turn(rows[0])
    return outcome_of(turn) if turn.outcome is not None else TurnOutcome(Outcome.FAILED, "session_lost", turn_id)
