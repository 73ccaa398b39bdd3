"""Define the durable function `agent-turn`. It gives an input to an agent, and returns the outcome of the turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any

import orjson

from ostinato.engine.context import to_json
from ostinato.engine.ways import Host
from ostinato.errors import NotFound, OstinatoError, check_text, short_repr
from ostinato.flows.definition import AgentCodes
from ostinato.flows.model import (
    GIVEN_SOURCES,
    INBOUND_KEY,
    MOST_ID,
    MOST_KEY,
    MOST_METADATA,
    MOST_TEXT,
    ON_ACTIVE_FLOW,
    OUTCOME,
    RESERVED_KEYS,
    FlowOutcome,
    TurnInput,
    TurnOutcome,
)
from ostinato.flows.read_values import read_choice, read_truth
from ostinato.flows.store import read_turn, statement
from ostinato.flows.turns import Accepted, TransactionContext, accept_turn, end_session, load_turn, outcome_of, why_lost
from ostinato.flows.writing import write_patiently
from ostinato.functions.context import FunctionContext
from ostinato.functions.definition import step
from ostinato.start_checks import read_positive_length
from ostinato.store.contract import Operation
from ostinato.when.instants import Micros

_LOOK = "5m"  # after this time without an outcome, the turn is checked


def check_turn(turn_input: TurnInput) -> None:
    """Raise OstinatoError if a field of a turn's input is invalid. The message names the field."""
    check_text(turn_input.user, "the turn's user", MOST_ID)
    check_text(turn_input.key, "the turn's key", MOST_KEY)
    read_choice(turn_input.source, "the turn's source", GIVEN_SOURCES)
    for prefix in (*RESERVED_KEYS, *(() if turn_input.source == "inbound" else (INBOUND_KEY,))):
        if turn_input.key.startswith(prefix):
            raise OstinatoError(
                f"the turn's key {short_repr(turn_input.key)} begins with {prefix!r}, which is reserved"
            )
    if turn_input.flow is not None:
        check_text(turn_input.flow, "the turn's flow")
    if turn_input.session_id is not None:
        check_text(turn_input.session_id, "the turn's session_id")
        if turn_input.source != "scheduled":
            raise OstinatoError("the turn's session_id is for scheduled turns: a message goes to the user's session")
    read_truth(turn_input.bootstrap, "the turn's bootstrap")
    if turn_input.defer_max is not None:
        if turn_input.on_active_flow != "defer":
            raise OstinatoError("the turn's defer_max is for on_active_flow='defer'")
        read_positive_length(turn_input.defer_max, "the turn's defer_max")
    for name, value in (("metadata", turn_input.metadata), ("input", turn_input.input)):
        if value is not None and not isinstance(value, Mapping):
            raise OstinatoError(f"the turn's {name} {short_repr(value)} is not an object")
    read_choice(turn_input.on_active_flow, "the turn's on_active_flow", ON_ACTIVE_FLOW)
    if turn_input.text is not None:
        check_text(turn_input.text, "the turn's text", MOST_TEXT)
    if turn_input.source == "inbound" and not turn_input.text:
        raise OstinatoError(f"a turn of source {turn_input.source!r} has a text")
    if len(to_json(dict(turn_input.metadata), "the turn's metadata")) > MOST_METADATA:
        raise OstinatoError(f"the turn's metadata have more than {MOST_METADATA:,} bytes")
    if turn_input.input is not None:
        to_json(dict(turn_input.input), "the turn's input")


def read_turn_input(value: Mapping[str, Any]) -> TurnInput:
    """Read the input of a turn from a JSON object. Raises OstinatoError if a field is unknown, missing or invalid."""
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


def find_place(host: Host, codes: AgentCodes, agent: str, namespace: str, now: Micros) -> Operation[TransactionContext]:
    """Return the context of an agent's transactions. The agent's queue comes from its code or, if this process lacks
    the code, from its stored declaration. Raises `NotFound` if no node has declared the agent."""
    code = codes.get(agent)
    if code is not None:
        return TransactionContext(namespace, agent, code.settings.queue, now, host.new_id)
    rows = yield statement("declared_agent", name=agent)
    if not rows:
        raise NotFound(f"there is no agent {agent!r}; no node has declared it yet")
    return TransactionContext(namespace, agent, orjson.loads(rows[0][0])["queue"], now, host.new_id)


def turn_function(host_of: Callable[[], Host], codes: AgentCodes) -> Callable[..., Any]:
    """Return the durable function `agent-turn`. It passes one input to an agent, waits until the turn is over, and
    returns the turn's outcome.

    - `host_of`: returns the `Host`, the objects that the app provides
    - `codes`: the agents that are declared in this process
    """

    async def agent_turn(ctx: FunctionContext, agent: str, turn: dict[str, Any]) -> dict[str, Any]:
        turn_input = replace(read_turn_input(turn), reply_to=ctx.run_id)

        def accept_declared(now: Micros) -> Operation[Accepted]:
            place = yield from find_place(host_of(), codes, agent, ctx.namespace, now)
            return (yield from accept_turn(place, turn_input))

        async def accept() -> dict[str, Any]:
            accepted = await write_patiently(host_of(), accept_declared)
            outcome = None if accepted.outcome is None else accepted.outcome.as_json()
            return {"turn": accepted.turn_id, "outcome": outcome}

        accepted = await ctx.step(step(accept, name="accept"))
        outcome: dict[str, Any] | None = accepted["outcome"]
        if outcome is None:
            outcome = await wait_for_outcome(ctx, host_of, agent, accepted["turn"])
        return outcome

    return agent_turn


async def wait_for_outcome(
    ctx: FunctionContext,
    host_of: Callable[[], Host],
    agent: str,
    turn_id: str,
) -> dict[str, Any]:
    """Wait for the end of a turn, and return its outcome as JSON. The turn's `reply_to` must be the run of `ctx`."""

    async def look() -> dict[str, Any] | None:
        def look_now(now: Micros) -> Operation[TurnOutcome | None]:
            return look_at_turn(TransactionContext(ctx.namespace, agent, "", now, host_of().new_id), turn_id)

        outcome = await write_patiently(host_of(), look_now)
        return None if outcome is None else outcome.as_json()

    outcome: dict[str, Any] | None = None
    while outcome is None:
        outcome = await ctx.receive(OUTCOME, timeout=_LOOK, default=None)
        if outcome is None:
            outcome = await ctx.step(step(look, name="look"))
    return outcome


def look_at_turn(place: TransactionContext, turn_id: str) -> Operation[TurnOutcome | None]:
    """Return the outcome of a turn, or None if the turn is in progress. If the run of the turn's session is over, first
    end the session, so that the turn fails. Raises `NotFound` if there is no such turn."""
    rows = yield statement("turn_by_id", id=turn_id)
    if not rows:
        raise NotFound(f"there is no turn {turn_id!r}")
    turn = read_turn(rows[0])
    if turn.outcome is not None:
        return outcome_of(turn)
    _, session, _ = yield from load_turn(turn_id)
    reason = yield from why_lost(session)
    if reason is None:
        return None
    if session.ended is None:
        yield from end_session(place, session, reason)
    rows = yield statement("turn_by_id", id=turn_id)
    turn = read_turn(rows[0])
    return (
        outcome_of(turn) if turn.outcome is not None else TurnOutcome(FlowOutcome.FAILED, f"session_{reason}", turn_id)
    )
