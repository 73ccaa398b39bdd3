"""Handle turns directly, which means on this node and without recorded steps. Only campaigns begin such turns.

Usually the run of a session handles the session's turns, and records each step (`session.py`). A direct turn is faster,
because no step is recorded. It is always the first turn of a new session.

1. A campaign begins many turns in one transaction. The same transaction claims the runs of the new sessions for this
   node.
2. This node handles each turn in the same stages as `session.py`. The rows of the turn and of its messages contain
   everything that must survive a crash.
3. `direct_writes.py` writes the results of many turns in one transaction.

In two cases, the run of the session must handle the turn. The run finds the turn in its mailbox.

- The turn needs a recorded step, because of a flow, a tool, a wait or another attempt. This node then releases the run.
- This node is lost.

In both cases, this node may already have sent a message of the turn. The run sends such a message again only if the
transport is idempotent, which means that the receiver detects duplicates.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any, NoReturn, TypeVar
from uuid import UUID, uuid4

import orjson

from ostinato.engine import job_logging
from ostinato.engine.application_errors import application_error
from ostinato.engine.executor import Fatal, describe_error, is_closing
from ostinato.engine.group_commit import Committer
from ostinato.engine.log import log
from ostinato.engine.outages import read_patiently
from ostinato.engine.ways import Host
from ostinato.flows.control import NotDirect, SessionClaimLost
from ostinato.flows.definition import Agent
from ostinato.flows.direct_writes import (
    READY,
    REFUSED,
    BegunTurn,
    DirectRoom,
    Finish,
    Intent,
    Item,
    Leave,
    Other,
    Settle,
    Settles,
    find_takeovers,
    write_turns,
)
from ostinato.flows.model import FlowOutcome, MessageRecord, TurnOutcome
from ostinato.flows.responses import Candidate, Sent
from ostinato.flows.session import Following, LiveTurn, SessionActor, facts_of
from ostinato.flows.turns import TransactionContext, outcome_of
from ostinato.functions.definition import StepFunction
from ostinato.functions.errors import StepFailed
from ostinato.model import Run
from ostinato.store.contract import Operation
from ostinato.when.instants import SECOND, to_datetime

T = TypeVar("T")
_LONG = 1.0  # seconds that slots may be occupied before further turns go to the runs of sessions
_LOOKS = 50  # checks for free slots in that time


class DirectTurns:
    """Handles turns of campaigns directly, which means on this node and without recorded steps. All other turns are
    handled by the runs of their sessions, with recorded steps."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self._begun: dict[str, tuple[BegunTurn, Agent, float]] = {}  # by run id, with the loop time of the beginning
        self._wanted: list[int] = []  # `in_flight` of each campaign that this node drives
        self.calling = 0  # turns that wait for a model, a hook or a transport
        self._writes: Committer[Item, Any] = Committer(self._commit, self._trouble)

    def start(self) -> None:
        self._writes.start()

    async def stop(self) -> None:
        await self._writes.stop()
        self._begun.clear()

    @contextmanager
    def driving(self, agent: Agent | None, in_flight: int) -> Iterator[None]:
        """Set aside slots of this node for a campaign's direct turns while the `with` block runs.

        The campaign wants `in_flight` slots. If this node cannot handle the agent's turns directly, the campaign wants
        none. All campaigns on this node share the same slots. The number of slots is the largest number that a single
        campaign wants, but at most the node's limit.
        """
        wanted = in_flight if agent is not None and self._serves(agent) else 0
        self._wanted.append(wanted)
        self._set_aside()
        try:
            yield
        finally:
            self._wanted.remove(wanted)
            self._set_aside()

    def _set_aside(self) -> None:
        share = self.host.engine().claimer.share
        share.slots = min(share.most, max(self._wanted, default=0))

    def _serves(self, agent: Agent) -> bool:
        return self.host.engine().claimer.serves(agent.settings.queue)

    @asynccontextmanager
    async def room(self, agent: Agent | None) -> AsyncIterator[tuple[DirectRoom | None, list[BegunTurn]]]:
        """Reserve slots of this node for an agent's direct turns while the `async with` block runs. Yields two values:

        - a `DirectRoom`, the permission to begin direct turns, or None
        - an empty list, to which the caller adds the direct turns that it begins

        If the first value is None, this node cannot handle direct turns now. The caller must then leave new turns to
        the runs of their sessions. If the `room` of the `DirectRoom` is 0, the caller must begin no turn now. After the
        block, this node handles the turns in the list.
        """
        claimer = self.host.engine().claimer
        begun: list[BegunTurn] = []
        if agent is None or not claimer.share.slots or not self._serves(agent):
            yield None, begun
            return
        await self._wait_for_slots()
        claim = claimer.reserve_share()
        try:
            busy = not claim.room and self._are_slow()
            yield None if busy else DirectRoom(claim.node, claim.token, claim.room), begun
        finally:
            now = asyncio.get_running_loop().time()
            for turn in begun:
                self._begun[turn.run.id] = (turn, agent, now)
            claimer.share.held = len(self._begun)
            claimer.give_back(claim, [turn.run for turn in begun], self._handle)

    async def _wait_for_slots(self) -> None:
        """Wait until a slot is free, for at most `_LONG` seconds, while other runs use all slots. Do not wait for slots
        that direct turns use: for these, the caller checks with `_are_slow` whether they are soon free."""
        for _ in range(_LOOKS):
            if self._begun or self.host.engine().claimer.share_is_free:
                return
            await asyncio.sleep(_LONG / _LOOKS)

    def _are_slow(self) -> bool:
        """Return whether slots are occupied for so long that new turns must be left to the runs of their sessions. Call
        this only if no slot is free.

        - If no direct turn is in progress, other work occupies the slots. Return True.
        - If less than half of the direct turns wait for a model, a hook or a transport, the others wait for the store
          and will end soon. Return False.
        - Otherwise return whether the oldest direct turn began more than `_LONG` seconds ago.
        """
        if 2 * self.calling < len(self._begun):
            return False
        now = asyncio.get_running_loop().time()
        return not self._begun or now - next(iter(self._begun.values()))[2] > _LONG

    async def _handle(self, run: Run) -> None:
        begun, agent, _ = self._begun[run.id]
        job_logging.current.set(None)
        try:
            await DirectTurn(self, agent, begun).handle()
        except SessionClaimLost:
            log.warning("the run of a session was taken over", action="direct_turn_refused", run=run.id)
        finally:
            self._begun.pop(run.id, None)
            self.host.engine().claimer.share.held = len(self._begun)

    # Writing

    async def write(self, item: Item) -> Any:
        answer = await self._writes.write(item)
        if answer is REFUSED:
            raise SessionClaimLost
        return answer

    async def _commit(self, items: Sequence[Item]) -> list[Any]:
        engine = self.host.engine()
        now = engine.clock.now()
        answers: dict[int, Any] = {}
        for node in {item.begun.run.node or "" for item in items}:
            of_node = [item for item in items if item.begun.run.node == node]

            def work(_: int, items: list[Item] = of_node, node: str = node) -> Operation[list[Any]]:
                place = TransactionContext("", "", "", now, self.host.new_id)
                return write_turns(items, place, node, engine.kinds)

            written = await self.host.store.run(work)
            answers.update((id(item), answer) for item, answer in zip(of_node, written, strict=True))
        await self._look_for_takeovers([item for item in items if isinstance(item, Intent)], answers)
        if any(answer is READY for answer in answers.values()):
            engine.nudge()
        elif any(isinstance(item, Finish) for item in items):
            engine.listeners.hint()
        return [answers[id(item)] for item in items]

    async def _look_for_takeovers(self, intents: Sequence[Intent], answers: Mapping[int, Any]) -> None:
        """For each message that is about to be sent, check whether a person has taken over the message's session.

        `intents` are the messages. `answers[id(intent)]` is the answer of `write_turns` for a message. If this answer
        is a dict with a `key`, the message is about to be sent. Set `taken` in such a dict to the result of the check.
        All other answers stay unchanged.
        """
        sending = [
            intent for intent in intents if isinstance(answers[id(intent)], dict) and "key" in answers[id(intent)]
        ]
        if sending:
            ids = [intent.begun.session.id for intent in sending]
            taken = await read_patiently(self.host.store, lambda _: find_takeovers(ids))
            for intent in sending:
                answers[id(intent)]["taken"] = intent.begun.session.id in taken

    def _trouble(self, problem: Exception) -> None:
        log.warning("turns cannot be written", action="direct_turns_trouble", problem=str(problem))


class DirectContext:
    """Replaces `FunctionContext` for a turn that is handled directly. Nothing is recorded.

    Operations that must be recorded or must wait raise `NotDirect`.
    """

    def __init__(self, turns: DirectTurns, run: Run) -> None:
        self._turns = turns
        self.namespace = run.namespace
        self.run_id = run.id
        self.crashes = 0  # a turn that has lost its node is not handled directly again

    async def step(self, step: StepFunction[..., Any]) -> Any:
        """Call the step's function once, and return its result.

        - If the function fails and the step allows another attempt, raise `NotDirect`. The session's run then handles
          the turn, because attempts must be recorded.
        - If the function fails and the step allows no other attempt, raise `StepFailed`.
        """
        task = asyncio.current_task()
        self._turns.calling += 1
        try:
            if step.timeout is None:
                return await step.function()
            async with asyncio.timeout(step.timeout / SECOND):
                return await step.function()
        except (Exception, KeyboardInterrupt, SystemExit, GeneratorExit) as problem:
            if is_closing(problem, task):
                raise
            final = isinstance(problem, Fatal) or bool(application_error(problem).get("non_retryable"))
            if step.retry.attempts > 1 and not final:
                raise NotDirect from problem
            raise StepFailed(step.name, orjson.loads(describe_error(problem))) from problem
        finally:
            self._turns.calling -= 1

    async def receive(self, *_: Any, **__: Any) -> NoReturn:
        raise NotDirect

    async def sleep(self, _: Any) -> NoReturn:
        """Raise `NotDirect`, because a direct turn cannot wait. The session's run then handles the turn.

        A turn sleeps only after the transport has reported that a message was not sent. So the error has the note
        `unsent`. Because of this note, the session's run knows that it can safely send the message.
        """
        raise NotDirect(unsent=True)

    def continue_as(self, _: Any) -> NoReturn:
        raise NotDirect

    def now(self) -> datetime:
        return to_datetime(self._turns.host.engine().clock.now())

    def uuid(self) -> UUID:
        return uuid4()

    def log(self, message: str, level: str = "info") -> None:
        raise NotDirect


class DirectTurn(SessionActor):
    """Handles the first turn of a session directly, which means on this node and without recorded steps. If the turn
    needs a recorded step, the session's run handles the turn instead."""

    def __init__(self, turns: DirectTurns, agent: Agent, begun: BegunTurn) -> None:
        context: Any = DirectContext(turns, begun.run)
        super().__init__(turns.host, agent, context, begun.session.id, [])
        self._turns = turns
        self._begun = begun
        self._unsettled: list[Settle] = []

    async def handle(self) -> None:
        begun = self._begun
        self._go_on_with(facts_of(self.agent, begun.turn, begun.user, begun.tags))
        try:
            await self.guard(self._pipeline)
            await self.finish()
        except NotDirect as left:
            await self._turns.write(Leave(begun, self._take_unsettled(), left.notes))

    async def finish(
        self, outcome: FlowOutcome | None = None, reason: str | None = None, *, waits: str | None = None
    ) -> TurnOutcome | None:
        ended = self._end_turn(outcome, reason)
        if ended is None:
            return None
        turn, final, why = ended
        idle, settles = self.agent.settings.idle, self._take_unsettled()
        await self._turns.write(Finish(self._begun, settles, final, why, turn.spent, idle, self.ending))
        return outcome_of(self._begun.turn)

    async def write(self, name: str, make: Callable[[TransactionContext], Operation[T]]) -> T:
        await self._write_unsettled()

        def make_here(place: TransactionContext) -> Operation[T]:
            begun = self._begun.run
            return make(replace(place, namespace=begun.namespace, agent=self.agent.name, queue=begun.queue))

        result: T = await self._turns.write(Other(self._begun, make_here))
        return result

    async def _commit_intent(self, number: int, candidate: Candidate, unasked: bool) -> dict[str, Any]:
        await self._write_unsettled()
        policy = dict(self._current().policy)
        intent: dict[str, Any] = await self._turns.write(Intent(self._begun, number, candidate, policy))
        return intent

    async def _settle(self, sent: Sent, candidate: Candidate) -> dict[str, Any]:
        """Remember the result of sending a message.

        If the agent has a hook `on_response`, write all remembered results now, and return the state of the session.
        Otherwise return {}, and the results are written together with the turn's next write.
        """
        turn = self._current()
        self._unsettled.append(Settle(sent, candidate, dict(turn.policy)))
        return await self._write_unsettled() if "on_response" in turn.hooks else {}

    async def _write_unsettled(self) -> dict[str, Any]:
        settles = self._take_unsettled()
        state: dict[str, Any] = await self._turns.write(Settles(self._begun, settles)) if settles else {}
        return state

    def _take_unsettled(self) -> list[Settle]:
        settles, self._unsettled = self._unsettled, []
        return settles

    async def _is_taken_over(self, intent: Mapping[str, Any]) -> bool:
        return bool(intent["taken"])

    async def _read_conversation(self, turn: LiveTurn) -> list[MessageRecord]:
        return []  # the session is new

    async def _run_flow(self, name: str, input: Mapping[str, Any] | None) -> Following | None:
        raise NotDirect

    async def _complete(self, exchange: list[dict[str, Any]]) -> dict[str, Any]:
        reply = await super()._complete(exchange)
        if reply["tool_calls"]:
            raise NotDirect(reply=reply)
        return reply
