"""Handle one conversation, turn by turn, in the run of a session. This run is a run of a durable function.

A turn passes through these stages. Commands and the hook `before_llm` come first. Then a flow or the model produces a
response (the candidate). The flow is the active one, or one that the router chooses. After the hook `before_response`,
the response is committed (the intent), sent (the dispatch) and stored. The hook `on_response` comes last.

A flow is called inside the durable function, so its operations are recorded in the session's run. The flow survives a
restart together with the run. If no flow is active after a turn, the recorded steps of the run are deleted. The
messages of the conversation are kept.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, NoReturn, TypeAlias, TypeVar

import orjson

from ostinato.engine.crashes import CRASHES
from ostinato.engine.executor import Fatal
from ostinato.engine.outages import read_patiently
from ostinato.engine.ways import Host
from ostinato.errors import NotFound, OstinatoError, error_text, short_repr
from ostinato.flows import people, responses, turns
from ostinato.flows.calling import call as call_either
from ostinato.flows.consent import reply_for
from ostinato.flows.context import FlowContext
from ostinato.flows.control import FlowEnded, NotDirect, SessionClaimLost, Switched
from ostinato.flows.definition import Agent, check_arguments, undeclared
from ostinato.flows.errors import ModelRefused, NotSent
from ostinato.flows.hooks import (
    BeforeLLMInput,
    BeforeResponseInput,
    ResponseMeta,
    TurnInfo,
    before_llm_result,
    before_response_result,
)
from ostinato.flows.model import (
    CHANGE,
    CLASSIC,
    MAIL,
    OPTED_OUT,
    Delivery,
    FlowOutcome,
    MessageRecord,
    SessionStatus,
    TurnOutcome,
    TurnRecord,
    UserRecord,
)
from ostinato.flows.models import ModelRequest, checked_reply
from ostinato.flows.responses import CAMPAIGN_STOPPED, TAKEN, Candidate, Sent
from ostinato.flows.routers import CHOSEN, Detector, Routed, SchemaFlow
from ostinato.flows.store import fetch_patiently, read_message, read_user, statement
from ostinato.flows.tool_context import ToolContext
from ostinato.flows.transports import OutgoingMessage, read_provider_id
from ostinato.flows.turns import Spent, TransactionContext
from ostinato.flows.views import user_info, user_json
from ostinato.flows.writing import write_patiently
from ostinato.functions.context import FunctionContext
from ostinato.functions.definition import ONCE, StepFunction, step
from ostinato.functions.errors import Cancelled, CodeMissing, StepFailed, StepInterrupted
from ostinato.functions.replay import ContinueAs, Overrun
from ostinato.model import Retry
from ostinato.store.contract import Operation
from ostinato.when.instants import SECOND, Micros, from_datetime, to_datetime

T = TypeVar("T")
_HOOK_TIMEOUT = 10 * SECOND
_SEND_TIMEOUT = 60 * SECOND
_SEND_RETRY = Retry(attempts=5, delay="1s", factor=4.0)
# What passes through a flow's code, but does not come from it.
_NOT_THE_FLOWS = (Cancelled, CodeMissing, ContinueAs, GeneratorExit, NotDirect, Overrun, SessionClaimLost)
_MOST_DEFERRED = 500  # turns that wait until a flow has ended
Following: TypeAlias = tuple[str, Mapping[str, Any] | None]  # the next flow, and its input
LOST = "the node was lost while it was being sent"
_DELAYS = ("2s", "15s", "1m")  # between attempts, after the transport reported that nothing was sent


@dataclass(slots=True)
class LiveTurn:
    """The current turn. All of its values come from recorded steps, so a replay gets the same values."""

    id: str
    source: str
    text: str | None
    flow: str | None
    input: Mapping[str, Any] | None
    metadata: Mapping[str, Any]
    on_active_flow: str
    expires: Micros  # until when it may be deferred
    declared: bool  # this process lacks the turn's flow, but another node has it
    user: Mapping[str, Any]
    hooks: frozenset[str]
    responses: int = 0
    routed: bool = False
    delivered: int = 0
    producer: str | None = None
    policy: dict[str, Any] = field(default_factory=dict)
    failure: str | None = None  # why a response failed; it counts only if nothing was delivered
    broken: str | None = None  # why the turn failed, even if something was delivered
    held: str | None = None  # why its response was not sent
    model_calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: int = 0

    def count(self, reply: Mapping[str, Any]) -> None:
        self.model_calls += 1
        self.tokens_in += reply["tokens_in"]
        self.tokens_out += reply["tokens_out"]
        self.cost += reply["cost"]

    @property
    def outcome(self) -> tuple[FlowOutcome, str | None]:
        """The outcome that the turn would have if it ended now, and the reason. The reason is None if there is none."""
        if self.broken is not None:
            return FlowOutcome.FAILED, self.broken
        if self.delivered:
            return FlowOutcome.SUCCESS, None
        if self.failure is not None:
            return FlowOutcome.FAILED, self.failure
        if self.held == TAKEN and self.source == "scheduled":
            return FlowOutcome.CANCELED_HITL, "hitl_live_takeover"
        if self.held in (OPTED_OUT, CAMPAIGN_STOPPED) and self.source != "inbound":
            return FlowOutcome.SKIPPED, self.held
        return FlowOutcome.SUCCESS, self.held

    @property
    def spent(self) -> Spent:
        return Spent(
            self.producer,
            self.policy,
            self.delivered,
            self.model_calls,
            self.tokens_in,
            self.tokens_out,
            self.cost,
            self.flow,
        )


class SessionActor:
    """Handles one conversation. `turn` is the current turn, or None between turns.

    `deferred` lists the turns that wait until the active flow ends. Each entry is a turn's id and a deadline. After the
    deadline, the turn is skipped. If the deadline is None, the turn waits as long as the flow lasts.
    """

    def __init__(
        self,
        host: Host,
        agent: Agent,
        ctx: FunctionContext,
        session_id: str,
        deferred: list[tuple[str, Micros | None]],
        ending: str | None = None,
        active: Micros | None = None,
    ) -> None:
        self.host = host
        self.agent = agent
        self.ctx = ctx
        self.session_id = session_id
        self.deferred = deferred
        self.turn: LiveTurn | None = None
        self.ending = ending  # why the session must end after this turn, or None
        self.active = active  # the time of the last turn, if this run did not handle it
        self.notes: Mapping[str, Any] = {}  # facts in the mail about a turn that was begun directly
        self.flow: str | None = None  # the active flow
        self.begun_by: str | None = None  # the source of the turn that began the flow
        self.proxy_id: str | None = None  # the id of the active proxy

    # Steps

    def place(self, now: Micros | None = None) -> TransactionContext:
        now = self.host.engine().clock.now() if now is None else now
        return TransactionContext(self.ctx.namespace, self.agent.name, self.agent.settings.queue, now, self.host.new_id)

    async def write(self, name: str, make: Callable[[TransactionContext], Operation[T]]) -> T:
        """Execute one transaction as a step, and return its result."""

        async def run() -> T:
            return await write_patiently(self.host, lambda now: make(self.place(now)))

        result: T = await self.ctx.step(_step(run, name))
        return result

    def bounded(self, policy: StepFunction[..., Any]) -> StepFunction[..., Any]:
        """Return a step like `policy` that first checks how many nodes have crashed. If `CRASHES` nodes in a row were
        lost while they ran this session, the returned step raises `Fatal` and does not call the function of
        `policy`."""

        def check() -> None:
            if self.ctx.crashes >= CRASHES:
                raise Fatal(f"{self.ctx.crashes} nodes in a row were lost while it ran; it is not tried again")

        async def call(*args: Any, **kwargs: Any) -> Any:
            check()
            return await policy.function(*args, **kwargs)

        def call_in_thread(*args: Any, **kwargs: Any) -> Any:
            check()
            return policy.function(*args, **kwargs)

        function = call if policy.is_async else call_in_thread
        return StepFunction(function, policy.name, policy.retry, policy.timeout, policy.at_most_once)

    # Turns

    async def run(self) -> None:
        """Wait for one turn, and handle it. Then start this function again through `ctx.continue_as`, which deletes the
        recorded steps. The conversation is kept.

        If no turn comes for a long time, end the session, and return. If the turn ends the session, also return. If the
        run is canceled, stop the session, and raise `Cancelled`.
        """
        try:
            turn_id = await self._next()
            if turn_id is None:
                return
            await self.take(turn_id)
            if self.ending is not None and await self._let_go(SessionStatus.ENDED, self.ending):
                return
        except Cancelled:
            await self.write("end", lambda place: _stop_session(place, self.session_id))
            raise
        self._begin_again()

    def _begin_again(self) -> NoReturn:
        """Start this function again, without the recorded steps. This call does not return."""
        self.ctx.continue_as({"session": self.session_id, "deferred": self.deferred, "ending": self.ending})

    async def _next(self) -> str | None:
        """Return the id of the next turn: the first deferred turn or, if no turn is deferred, the next turn that comes.

        If no turn comes for a long time, end the session, and return None. If the session can neither become idle nor
        end, because a turn has just come or a person is involved, start this function again (see `_begin_again`).
        """
        settings = self.agent.settings
        await self._skip_expired()
        if self.deferred:
            return self.deferred.pop(0)[0]
        idle = settings.idle
        if self.active is not None:
            idle -= from_datetime(self.ctx.now()) - self.active
        for wait, status in (
            (idle, SessionStatus.IDLE),
            (settings.end_after - settings.idle, SessionStatus.ENDED),
        ):
            mail = None
            if wait > 0:
                mail = await self.ctx.receive(MAIL, timeout=timedelta(microseconds=wait), default=None)
            if mail is not None:
                self.notes = mail if mail.get("direct") else {}
                self.ending = mail.get("ending", self.ending)
                return str(mail["turn"])
            if not await self._let_go(status, "idle"):
                self._begin_again()  # a turn has come, or a person is asked for something
        return None

    async def _skip_expired(self) -> None:
        if all(expires is None for _, expires in self.deferred):
            return
        now = from_datetime(self.ctx.now())
        over = [id for id, expires in self.deferred if expires is not None and expires <= now]
        if over:
            self.deferred = [(id, expires) for id, expires in self.deferred if id not in over]
            await self.write("expire", lambda place: turns.skip_turns(place, over, "flow_active"))

    async def _let_go(self, status: SessionStatus, reason: str) -> bool:
        return await self.write(
            status.value, lambda place: turns.let_session_go(place, self.session_id, status, reason)
        )

    async def begin(self, turn_id: str) -> LiveTurn | None:
        """Begin a turn, and return it. Return None if the turn is already over, for example because it was skipped, or
        because a person has taken over."""

        def read(place: TransactionContext) -> Operation[dict[str, Any] | None]:
            turn, over = yield from turns.begin_turn(place, turn_id)
            return None if over is not None else (yield from self._facts(turn))

        facts = await self.write("begin", read)
        return None if facts is None else self._go_on_with(facts)

    async def resume(self, cause: str) -> LiveTurn:
        """Begin a turn for a flow whose wait is over. `cause` says what ended the wait."""
        key = f"resume/{self.ctx.uuid()}"

        def read(place: TransactionContext) -> Operation[dict[str, Any]]:
            turn = yield from turns.resume_turn(place, self.session_id, key, cause)
            return (yield from self._facts(turn))

        return self._go_on_with(await self.write("resume", read))

    def _facts(self, turn: Any) -> Operation[dict[str, Any]]:
        """Lock a turn's user. Return a JSON object with the values from which the turn's `LiveTurn` is made."""
        user = read_user((yield statement("lock_agent_user_id", id=turn.user_id))[0])
        tags = yield from turns.read_tags([user.id])
        declared = False
        if turn.flow is not None and turn.flow != CLASSIC and turn.flow not in self.agent.flows:
            rows = yield statement("declared_agent", name=self.agent.name)
            declared = bool(rows) and turn.flow in orjson.loads(rows[0][0])["flows"]
        return facts_of(self.agent, turn, user, tags[user.id], declared)

    def _go_on_with(self, facts: Mapping[str, Any]) -> LiveTurn:
        self.turn = LiveTurn(**{**facts, "hooks": frozenset(facts["hooks"])})
        return self.turn

    async def finish(
        self, outcome: FlowOutcome | None = None, reason: str | None = None, *, waits: str | None = None
    ) -> TurnOutcome | None:
        """Finish the current turn and return its outcome. Return None if there is no current turn."""
        ended = self._end_turn(outcome, reason)
        if ended is None:
            return None
        turn, final, why = ended

        def write(place: TransactionContext) -> Operation[dict[str, Any]]:
            written = yield from turns.complete_turn(place, turn.id, final, why, turn.spent, waits)
            return written.as_json()

        return TurnOutcome.from_json(await self.write("finish", write))

    def _end_turn(
        self, outcome: FlowOutcome | None, reason: str | None
    ) -> tuple[LiveTurn, FlowOutcome, str | None] | None:
        """Clear the current turn. Return the turn, its outcome and the reason. If `outcome` is None, the outcome comes
        from `LiveTurn.outcome`. If there is no current turn, return None instead of the three values."""
        turn, self.turn = self.turn, None
        if turn is None:
            return None
        if outcome is not None:
            return turn, outcome, reason
        outcome, why = turn.outcome
        return turn, outcome, why or reason

    async def take(self, turn_id: str) -> None:
        """Begin a turn, handle it, and finish it. Call this only while no flow is active."""
        turn = await self.begin(turn_id)
        if turn is not None:
            await self.guard(self._pipeline)
            await self.finish()

    async def guard(self, work: Callable[[], Any]) -> None:
        """Call `work`, a part of the current turn. If `work` raises an exception, the turn fails. If the failed turn is
        a user's message and nothing was delivered, the agent's fallback text is sent."""
        try:
            await work()
        except Exception as problem:
            reason = _reason(problem)
            turn = self.turn or await self.resume("failed")
            await self.note("response:failed", "turn", reason)
            fallback = self.agent.settings.fallback
            if fallback is not None and turn.source == "inbound" and not turn.delivered:
                await self.respond(Candidate(fallback, "fallback"))
            turn.broken = reason

    async def _pipeline(self) -> None:
        turn = self._current()
        if turn.source == "human":
            await self.speak_for_person()
        elif turn.source == "resumed":  # a person's decision that came after the flow had ended
            await self.finish(FlowOutcome.SKIPPED, "nothing_waits")
        elif (decision := await self.gate()) is not None:
            if decision["action"] == "route_flow":
                await self._start_flow(decision["flow"], decision.get("input"))
            else:
                await self._start_flow(turn.flow or await self._route() or CLASSIC, turn.input)

    async def speak_for_person(self) -> None:
        """Send the text of a person who speaks instead of the agent."""
        turn = self._current()
        await self.respond(Candidate(turn.text or "", "human", role="human", forced=True), hooks=False)

    async def gate(self) -> dict[str, Any] | None:
        """Handle consent and commands, and then call the hook `before_llm`. Return the hook's decision if the agent
        must still answer the turn.

        Return None in these cases, in which the turn needs no other answer:

        - The message opts out or in.
        - The message is a command.
        - The hook's decision is `end` or `skip_llm`.
        """
        turn = self._current()
        if await self._consent() or await self._command():
            return None
        decision = await self._before_llm()
        turn.policy["before_llm"] = decision["action"]
        if decision["action"] == "end":
            await self.finish(FlowOutcome.SKIPPED, decision.get("reason") or "policy_end")
            return None
        if decision["action"] == "skip_llm":
            if decision.get("reply"):
                await self.respond(Candidate(decision["reply"], "short_circuit", decision.get("structured")))
            else:
                turn.held = decision.get("reason") or "policy_skip"
            return None
        return decision

    async def _consent(self) -> bool:
        """Handle a message by which the user opts out or in. Return whether the current turn is such a message.

        - If the message has changed the user's consent, send a confirmation, even during a takeover. Return True.
        - If the user already had this consent, send nothing. Return True.
        - For any other turn, do nothing. Return False.
        """
        turn = self._current()
        change = turn.metadata.get(CHANGE)
        if turn.source != "inbound" or not isinstance(change, Mapping):
            return False
        if change["new"]:
            reply = reply_for(change["to"], self.agent.settings.campaigns)
            await self.respond(Candidate(reply, "command", forced=True))
        else:
            turn.held = str(change["to"])
        return True

    async def _command(self) -> bool:
        """Call the command that a user's message names, such as `/help`, and send its reply. Return whether a command
        was called.

        A command that the user may not call counts as unknown. The text of a scheduled turn is never a command.
        """
        turn = self._current()
        if turn.source != "inbound" or not (turn.text or "").startswith("/"):
            return False
        name, _, rest = (turn.text or "")[1:].partition(" ")
        handler = self.agent.commands.get(name)
        key = str(self.ctx.uuid())

        async def call() -> dict[str, Any]:
            if handler is None:
                return {"known": False}
            user, action = str(turn.user["external_id"]), f"command.{name}"
            if handler.access == "admin" and not await self.agent.may(action, user, user):
                await write_patiently(self.host, lambda now: people.note_denial(self.place(now), key, action, turn.id))
                return {"known": False}  # as if the command did not exist
            ended: list[str] = []
            reply = await call_either(handler.function, self.tool_context(key, ended), rest)
            return {"known": True, "reply": None if reply is None else str(reply), "ended": ended}

        answer = await self.ctx.step(self.bounded(_step(call, "command", timeout=_HOOK_TIMEOUT)))
        self._end_later(answer)
        if answer["known"] and answer["reply"]:
            await self.respond(Candidate(answer["reply"], "command"))
        return bool(answer["known"])

    # Hooks

    async def _hook(self, name: str, call: Callable[[], Any]) -> dict[str, Any]:
        """Call a hook as a step, and return its decision. If the hook fails or does not exist, the decision is
        `{"action": "continue"}`."""
        turn = self._current()
        if name not in turn.hooks:
            return {"action": "continue"}
        try:
            result: dict[str, Any] = await self.ctx.step(self.bounded(_step(call, name, timeout=_HOOK_TIMEOUT)))
        except StepFailed as problem:
            await self.note("response:failed", name, _reason(problem))
            return {"action": "continue"}
        self._end_later(result)
        return result

    def _hook_input(self) -> BeforeLLMInput:
        return BeforeLLMInput(self.agent.name, user_info(self._current().user), self.turn_info())

    async def _before_llm(self) -> dict[str, Any]:
        async def call() -> dict[str, Any]:
            hook = self.agent.hooks.get("before_llm")
            decision = before_llm_result(None if hook is None else await call_either(hook, self._hook_input()))
            if decision["action"] == "route_flow" and decision["flow"] != CLASSIC:
                self.agent.find_flow(decision["flow"]).check(decision.get("input"))
            return decision

        return await self._hook("before_llm", call)

    async def _route(self) -> str | None:
        """Return the flow that the router chooses for a user's message. Return None in these cases:

        - The turn is not a message of the user.
        - The router fails, chooses no flow, or chooses a flow that does not exist.
        - The router is a `SchemaFlow`, which chooses later, in the model's answer.
        """
        turn = self._current()
        if turn.source != "inbound" or isinstance(self.agent.route, SchemaFlow):
            return None
        if isinstance(self.agent.route, Detector):
            return await self._detect(self.agent.route)

        async def call() -> dict[str, Any]:
            route = self.agent.route
            name = await call_either(route, self._hook_input()) if callable(route) else None
            if name is not None and name != CLASSIC:
                self.agent.find_flow(name)
            return {"action": "continue", "flow": name}

        return (await self._hook("router", call)).get("flow")

    async def _detect(self, detector: Detector) -> str:
        """Return the flow that the detector chooses. If the model fails, or if its answer is unusable or uncertain,
        this is the detector's fallback."""
        turn, settings = self._current(), self.agent.settings

        async def call() -> dict[str, Any]:
            model = detector.model or settings.model
            if model is None:
                raise Fatal(f"the detector of agent {self.agent.name!r} has no model")
            flows = self.agent.flows
            try:
                reply = checked_reply(await model.complete(detector.request(turn.text or "", flows), self.host.egress))
            except ModelRefused as problem:
                raise Fatal(str(problem)) from None
            return {"reply": reply.as_json(), "routed": detector.read(reply.text, flows).as_json()}

        try:
            answer = await self.ctx.step(self.bounded(self._model_step(call, "router")))
        except StepFailed as problem:
            await self.note("response:failed", "router", _reason(problem))
            return self._routed(Routed(detector.fallback, "unreadable").as_json())
        turn.count(answer["reply"])
        return self._routed(answer["routed"])

    def _routed(self, routed: Mapping[str, Any]) -> str:
        """Store a router's decision in the turn's policy, and return the chosen flow."""
        self._current().policy["router"] = dict(routed)
        if routed["why"] != CHOSEN:
            self.ctx.log(f"the router chose its fallback {routed['flow']!r}: {routed['why']}")
        return str(routed["flow"])

    def _model_step(self, call: Callable[[], Any], name: str) -> Any:
        settings = self.agent.settings
        return _step(call, name, retry=settings.model_retry, timeout=settings.model_timeout)

    async def note(self, event: str, stage: str, reason: str | None) -> None:
        """Write an event about the response of this turn."""
        turn, id = self._current(), str(self.ctx.uuid())
        await self.write(
            "note", lambda place: responses.note_response(place, turn.id, id, event, stage, reason, turn.policy)
        )

    # The model

    async def _answer(self) -> Following | None:
        """Let the model answer the user, with the help of tools. If the model chooses a flow instead, return the flow
        and its input. Otherwise return None."""
        turn = self._current()
        exchange: list[dict[str, Any]] = []
        for number in range(self.agent.settings.rounds):
            reply = self._first_reply() if number == 0 else None
            if reply is None:
                reply = await self._complete(exchange)
            turn.count(reply)
            if not reply["tool_calls"]:
                flow = await self._choose_by_schema(reply["text"])
                if flow is not None:
                    return flow, None
                await self._respond_with(reply["text"])
                return None
            exchange.append(_asks(reply))
            for call in reply["tool_calls"]:
                result = await self._try_tool(call["name"], call["arguments"])
                exchange.append({"role": "tool", "tool_call_id": call["id"], "content": orjson.dumps(result).decode()})
        turn.failure = "too_many_rounds"
        await self.note("response:failed", "model", turn.failure)
        return None

    async def _choose_by_schema(self, text: str) -> str | None:
        """Return the flow that the model chose in its answer `text`, or the router's fallback if the choice cannot be
        used. Return None if the model chose `classic`, or if it cannot choose a flow now. The model can choose a flow
        only if all of these are true:

        - The agent's router is a `SchemaFlow`.
        - The turn is a user's message.
        - No flow is active.
        - The model has not chosen in this turn before.
        """
        turn, route = self._current(), self.agent.route
        if not isinstance(route, SchemaFlow) or turn.source != "inbound" or turn.routed or self.flow is not None:
            return None
        turn.routed = True

        async def call() -> dict[str, Any]:
            try:
                structured = orjson.loads(text)
            except ValueError:
                structured = None
            return route.read(structured, self.agent.flows).as_json()

        flow = self._routed(await self.ctx.step(self.bounded(_step(call, "router"))))
        return None if flow == CLASSIC else flow

    async def _respond_with(self, text: str) -> None:
        """Send the text of the model's answer. If the answer is structured, the text is its field `reply`. If there is
        no text to send, the turn fails."""
        turn = self._current()
        structured: Any = None
        if self.agent.settings.structured:
            try:
                structured = orjson.loads(text)
                text = structured["reply"]
            except (ValueError, KeyError, TypeError):
                text = ""
        if not isinstance(text, str) or not text.strip():
            turn.failure = "no_reply"
            await self.note("response:failed", "model", "the model's answer has no reply")
            return
        await self.respond(Candidate(text, "classic", structured))

    def _first_reply(self) -> dict[str, Any] | None:
        """Return the model's answer if `direct_turns.py` has called the model for this turn, and None otherwise."""
        return self.notes.get("reply") if self.notes.get("turn") == self._current().id else None

    async def _complete(self, exchange: list[dict[str, Any]]) -> dict[str, Any]:
        turn, settings = self._current(), self.agent.settings

        async def call() -> dict[str, Any]:
            model = settings.model
            if model is None:
                raise Fatal(f"agent {self.agent.name!r} has no model")
            messages = await self._messages(turn)
            tools = [tool.schema for tool in self.agent.tools.values()]
            if isinstance(self.agent.route, SchemaFlow):
                messages.insert(0, {"role": "system", "content": self.agent.route.instruction(self.agent.flows)})
            request = ModelRequest([*messages, *exchange], tools, settings.structured)
            try:
                return checked_reply(await model.complete(request, self.host.egress)).as_json()
            except ModelRefused as problem:
                raise Fatal(str(problem)) from None

        answer: dict[str, Any] = await self.ctx.step(self.bounded(self._model_step(call, "model")))
        return answer

    async def _messages(self, turn: LiveTurn) -> list[dict[str, Any]]:
        """Return the messages for a request to the model: the prompt, and the conversation up to this turn."""
        said = await self._read_conversation(turn)
        prompt = self.agent.settings.prompt
        if callable(prompt):
            prompt = await call_either(prompt, self._hook_input())
            if not isinstance(prompt, str):
                raise Fatal(f"the prompt of agent {self.agent.name!r} returned {short_repr(prompt)}, which is no text")
        messages: list[dict[str, Any]] = [{"role": "system", "content": prompt}] if prompt else []
        messages += [
            {"role": "user" if message.role == "user" else "assistant", "content": message.text} for message in said
        ]
        asked = turn.metadata.get("prompt")
        if turn.source == "scheduled" and isinstance(asked, str):
            messages.append({"role": "user", "content": asked})
        return messages

    async def _read_conversation(self, turn: LiveTurn) -> list[MessageRecord]:
        """Return the last messages of the session up to this turn, oldest first."""
        limit = self.agent.settings.history
        query = statement("said_in_session", session=self.session_id, before=f"{turn.id}2", limit=limit)
        return [read_message(row) for row in reversed(await fetch_patiently(self.host.store, query))]

    # Tools

    async def _try_tool(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Call a tool for the model. If the tool fails, the error is the result."""
        try:
            return await self.call_tool(name, arguments)
        except (StepFailed, OstinatoError) as problem:
            return {"error": str(problem)}

    async def call_tool(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Call a tool as a step, and return its result. The user comes from the session, never from the arguments."""
        tool = self.agent.tools.get(name)
        key = str(self.ctx.uuid())

        async def call() -> Any:
            if tool is None:
                raise Fatal(f"there is no tool {name!r}")
            try:
                checked = check_arguments(tool.arguments, arguments, f"tool {name!r}")
            except OstinatoError as problem:
                if tool.refused is not None:
                    extra = undeclared(tool.arguments, arguments)
                    await tool.refused(self.tool_context(key, []), name, arguments, extra)
                raise Fatal(str(problem)) from None
            ended: list[str] = []
            context = {"ctx": self.tool_context(key, ended)} if tool.context else {}
            return {"value": await call_either(tool.function, **checked, **context), "ended": ended}

        policy = step(
            call,
            name=f"tool:{name}",
            retry=tool.retry if tool else None,
            timeout=timedelta(microseconds=tool.timeout) if tool else None,
            at_most_once=tool.at_most_once if tool else False,
        )
        answer = await self.ctx.step(self.bounded(policy))
        self._end_later(answer)
        return answer["value"]

    def tool_context(self, key: str, ended: list[str]) -> ToolContext:
        """Return the `ctx` of a tool. If the tool calls `ctx.end_session(reason)`, the reason is appended to `ended`.

        The caller must record `ended` together with the tool's result, because a replay does not call the tool again.
        """
        turn = self._current()
        return ToolContext(
            self.agent.name, self.ctx.namespace, user_info(turn.user), self.turn_info(), key, ended.append
        )

    def _end_later(self, answer: Mapping[str, Any]) -> None:
        """Read `answer`, the recorded result of a tool, command or hook. If the tool, command or hook has asked to end
        the session, store the reason. The session then ends after this turn. If a flow is active, the session ends
        after the flow."""
        for reason in answer.get("ended") or ():
            self.ending = str(reason)

    def turn_info(self) -> TurnInfo:
        turn = self._current()
        now = to_datetime(self.host.engine().clock.now())
        return TurnInfo(turn.id, self.session_id, turn.source, turn.text, turn.flow, turn.metadata, now)

    def _current(self) -> LiveTurn:
        if self.turn is None:
            raise OstinatoError("there is no turn going on")
        return self.turn

    # Responding

    async def respond(self, candidate: Candidate, *, hooks: bool = True) -> bool:
        """Send a message, and return whether it was sent. The stages are:

        1. Call the hook `before_response`, which may replace or cancel the message.
        2. Store the message. If the message must not be sent, for example because a person has taken over, stop here.
        3. Send the message.
        4. Store the result of sending.
        5. Call the hook `on_response`, unless sending failed.

        With `hooks=False`, neither hook is called.
        """
        turn = self._current()
        turn.producer = candidate.producer
        if hooks:
            decision = await self._before_response(candidate)
            turn.policy["before_response"] = decision["action"]
            if decision["action"] == "cancel":
                turn.held = "policy_cancel"
                await self.note("response:canceled", "before_response", decision.get("reason"))
                return False
            if decision["action"] == "replace":
                structured = decision.get("structured") or candidate.structured
                candidate = replace(candidate, reply=decision["reply"], structured=structured)
        number = turn.responses
        turn.responses += 1
        unasked = turn.source == "scheduled" or (turn.source == "resumed" and self.begun_by == "scheduled")
        intent = await self._commit_intent(number, candidate, unasked)
        if "suppressed" in intent:
            turn.held = intent["suppressed"]
            await self.note("response:canceled", "intent", turn.held)
            return False
        sent: dict[str, Any] | None = None
        if self.notes.get("turn") == turn.id and "stored" in intent:  # the node that began the turn committed it
            stored = intent["stored"]
            candidate = replace(candidate, reply=stored["reply"], structured=stored["structured"])
            sent = self._sent_before(stored)
        if sent is None:
            sent = await self._dispatch(intent, candidate)
        delivery = Delivery(sent["status"])
        meta = await self._settle(Sent(intent["key"], delivery, sent.get("id"), sent.get("error")), candidate)
        if delivery is Delivery.SENT:
            turn.delivered += 1
        elif sent.get("error") == TAKEN:
            turn.held = TAKEN
        else:
            turn.failure = f"delivery_{delivery.value}"
        if hooks and delivery is not Delivery.FAILED:
            await self._on_response(candidate, delivery, meta)
        return delivery is Delivery.SENT

    async def _commit_intent(self, number: int, candidate: Candidate, unasked: bool) -> dict[str, Any]:
        turn = self._current()
        return await self.write(
            "intent",
            lambda place: responses.commit_intent(place, turn.id, number, candidate, turn.policy, unasked=unasked),
        )

    def _sent_before(self, stored: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the result of an earlier attempt to send `stored`, a message that `direct_turns.py` has committed.
        Return None if the caller must send the message now.

        - If a result is stored, return it.
        - If no result is stored and the message was certainly not sent, return None.
        - If no result is stored and the transport is idempotent, return None. Such a transport delivers a message once,
          even if the message is sent twice.
        - Otherwise return a result with the status `unknown`.
        """
        if stored["status"] != Delivery.PENDING:
            return {"status": stored["status"], "id": stored["provider_id"], "error": stored["error"]}
        if self.agent.settings.transport.idempotent or self.notes.get("unsent"):
            return None
        return {"status": "unknown", "error": LOST}

    async def _settle(self, sent: Sent, candidate: Candidate) -> dict[str, Any]:
        turn = self._current()
        return await self.write(
            "settle", lambda place: responses.settle_response(place, turn.id, sent, candidate.producer, turn.policy)
        )

    async def _is_taken_over(self, intent: Mapping[str, Any]) -> bool:
        return await read_patiently(self.host.store, lambda _: responses.find_takeover(self.session_id))

    async def _before_response(self, candidate: Candidate) -> dict[str, Any]:
        turn = self._current()

        async def call() -> dict[str, Any]:
            hook = self.agent.hooks.get("before_response")
            hook_input = BeforeResponseInput(
                self.agent.name,
                user_info(turn.user),
                self.turn_info(),
                candidate.reply,
                candidate.structured or {},
                candidate.producer,
            )
            return before_response_result(None if hook is None else await call_either(hook, hook_input))

        return await self._hook("before_response", call)

    async def _on_response(self, candidate: Candidate, delivery: Delivery, meta: Mapping[str, Any]) -> None:
        turn = self._current()
        key = f"on_response/{turn.id}/{turn.responses}"

        async def call() -> dict[str, Any]:
            hook = self.agent.hooks.get("on_response")
            ended: list[str] = []
            if hook is not None:
                source = "scheduled" if turn.source == "scheduled" else candidate.producer
                response_meta = ResponseMeta(
                    source,
                    candidate.producer,
                    turn.source,
                    turn.flow,
                    turn.policy.get("before_llm"),
                    turn.policy.get("before_response"),
                    meta["hitl_state"],
                    meta["escalation_id"],
                    delivery.value,
                    turn.id,
                    self.session_id,
                    turn.metadata,
                )
                structured = {"reply": candidate.reply, **(candidate.structured or {})}
                arguments = (structured, self.tool_context(key, ended), response_meta)
                await call_either(hook, *arguments[: _most_arguments(hook)])
            return {"action": "continue", "ended": ended}

        await self._hook("on_response", call)

    async def _dispatch(self, intent: Mapping[str, Any], candidate: Candidate) -> dict[str, Any]:
        """Send a committed message, and return the result. If it is unknown whether the message was delivered, the
        message is sent again only if the transport is idempotent.

        A crash or a busy transport may delay a committed message. So check once more, right before sending, whether a
        person has taken over.
        """
        transport = self.agent.settings.transport

        async def call() -> dict[str, Any]:
            if not candidate.forced and await self._is_taken_over(intent):
                return {"status": "failed", "error": TAKEN}
            message = OutgoingMessage(
                intent["key"],
                self.agent.name,
                intent["user"],
                intent["address"],
                candidate.reply,
                candidate.structured or {},
                self.host.engine().clock.now(),
            )
            try:
                id = await transport.send(message, self.host.egress)
                return {"status": "sent", "id": read_provider_id(id, self.agent.name)}
            except NotSent as problem:
                return {"status": "retry" if problem.retry else "failed", "error": str(problem)[:500]}

        for delay in (*_DELAYS, None):
            again = transport.idempotent
            dispatch = _step(
                call, "dispatch", retry=_SEND_RETRY if again else ONCE, timeout=_SEND_TIMEOUT, at_most_once=not again
            )
            try:
                sent: dict[str, Any] = await self.ctx.step(self.bounded(dispatch))
            except StepInterrupted:
                return {"status": "unknown", "error": LOST}
            except StepFailed as problem:
                return {"status": "unknown", "error": str(problem)[:500]}
            if sent["status"] != "retry":
                return sent
            if delay is not None:
                await self.ctx.sleep(delay)
        return {"status": "failed", "error": sent.get("error")}

    # Flows

    async def _start_flow(self, name: str, input: Mapping[str, Any] | None) -> None:
        """Run a flow. If the flow hands over to another flow, run that one next, and so on. If the name is `classic`,
        no flow runs, and the model answers."""
        following: Following | None = (name, input)
        while following is not None:
            following = await (self._answer() if following[0] == CLASSIC else self._run_flow(*following))

    async def _run_flow(self, name: str, input: Mapping[str, Any] | None) -> Following | None:
        """Run one flow. If the flow hands over, return the next flow and its input. Otherwise return None. If this node
        lacks the flow's code, raise `CodeMissing`, so that another node continues the run."""
        turn = self._current()
        if name == turn.flow and turn.declared and name not in self.agent.flows:
            raise CodeMissing(f"flow {name!r}")
        turn.flow = turn.flow or name
        if turn.source != "resumed":
            self.begun_by = turn.source
        chosen = await self._choose_version(name, input)
        if "reason" in chosen:
            turn.failure = chosen["reason"]
            await self.note("response:failed", "flow", turn.failure)
            return None
        version: int = chosen["version"]
        try:
            flow = self.agent.find_flow(name, version)
        except NotFound:
            raise CodeMissing(f"flow {name!r}, version {version}") from None
        await self.write(
            "flow_start",
            lambda place: turns.set_flow(place, self.session_id, turn.id, name, version, "flow:started"),
        )
        self.flow = name
        following = None
        event, reason = "flow:ended", None
        try:
            arguments = check_arguments(flow.arguments, input, f"flow {name!r}")
            await flow.function(FlowContext(self, name), **arguments)
        except FlowEnded as ended:
            reason = ended.reason
        except Switched as switched:
            following, reason = (switched.flow, switched.input), switched.reason
        except BaseException as problem:
            if isinstance(problem, _NOT_THE_FLOWS):
                raise
            event, reason = "flow:failed", _reason(problem)
        await self._flow_over(event, reason)
        if event == "flow:failed":
            raise OstinatoError(f"flow {name!r} failed: {reason}")
        return following

    async def _choose_version(self, name: str, input: Mapping[str, Any] | None) -> dict[str, Any]:
        """Choose a flow's version, as a step. Return `{"version": …}`, or `{"reason": …}` if the flow cannot begin."""

        async def call() -> dict[str, Any]:
            try:
                flow = self.agent.find_flow(name)
                flow.check(input)
            except NotFound:
                return {"reason": "unknown_flow"}
            except OstinatoError:
                return {"reason": "bad_input"}
            return {"version": flow.version}

        chosen: dict[str, Any] = await self.ctx.step(_step(call, "flow"))
        return chosen

    async def _flow_over(self, event: str, reason: str | None) -> None:
        self.flow = self.proxy_id = None
        turn = self.turn or await self.resume("flow_over")
        await self.write(
            "flow_end",
            lambda place: turns.set_flow(place, self.session_id, turn.id, None, None, event, reason=reason),
        )

    async def wait(
        self, what: str, due: datetime | None, accepts: Callable[[LiveTurn], bool], aside: str = "noop"
    ) -> LiveTurn | None:
        """Finish the current turn, wait for a turn that the flow accepts, and return that turn.

        If no such turn comes before `due`, begin a new turn in which the flow continues, and return None.

        Turns that the flow does not accept are handled during the wait. If such a turn is a message of the user,
        `aside` says what happens to the message:

        - `classic`: the model answers it
        - `noop`: it is skipped
        - `queue`: it waits until the flow has ended
        """
        await self.finish(reason="flow_waiting", waits=what)
        ctx = self.ctx
        while True:
            until = min((moment for moment in (due, self._first_expiry()) if moment is not None), default=None)
            if until is None:
                mail = await ctx.receive(MAIL)
            else:
                left = until - ctx.now()
                mail = await ctx.receive(MAIL, timeout=left, default=None) if left > timedelta() else None
            if mail is None and until != due:
                await self._skip_expired()
                continue
            if mail is None:
                await self.resume(f"{what}_timeout")
                return None
            turn = await self.begin(str(mail["turn"]))
            if turn is None:
                continue
            if turn.source == "scheduled":
                await self._during_flow(turn, what)
            elif turn.source == "human" and not accepts(turn):
                await self.guard(self.speak_for_person)
                await self.finish(waits=what)
            elif turn.source == "inbound":
                if await self._inbound_during(turn, accepts, aside, what):
                    turn.flow = self.flow
                    return turn
            elif accepts(turn):
                turn.flow = self.flow
                return turn
            else:
                await self.finish(FlowOutcome.SKIPPED, "nothing_waits", waits=what)

    def _first_expiry(self) -> datetime | None:
        expiries = [expires for _, expires in self.deferred if expires is not None]
        return to_datetime(min(expiries)) if expiries else None

    async def _during_flow(self, turn: LiveTurn, what: str) -> None:
        """Handle a scheduled turn that came while a flow waits. The turn's `on_active_flow` decides what happens:

        - `replace`: raise `Switched`, so that the turn's flow replaces the waiting flow
        - `defer`: the turn waits until the flow has ended
        - `skip`: the turn is skipped

        If the turn has no flow, `replace` means `skip`. If too many turns are deferred, `defer` means `skip`.
        """
        if turn.on_active_flow == "replace" and turn.flow is not None:
            raise Switched(turn.flow, turn.input, "replaced")
        if turn.on_active_flow == "defer" and len(self.deferred) < _MOST_DEFERRED:
            self.deferred.append((turn.id, turn.expires))
            self.turn = None
            return
        await self.finish(FlowOutcome.SKIPPED, "flow_active", waits=what)

    async def _inbound_during(self, turn: LiveTurn, accepts: Callable[[LiveTurn], bool], aside: str, what: str) -> bool:
        """Handle a user's message that came while a flow waits. Return whether the flow gets the message. If the hook
        `before_llm` chooses a flow, raise `Switched`, so that the chosen flow replaces the waiting flow."""
        if aside == "queue" and not accepts(turn) and len(self.deferred) < _MOST_DEFERRED:
            self.deferred.append((turn.id, None))
            self.turn = None
            return False
        decision: dict[str, Any] | None = None

        async def check() -> None:
            nonlocal decision
            decision = await self.gate()

        await self.guard(check)
        if decision is None:
            await self.finish(waits=what)
            return False
        if decision["action"] == "route_flow":
            raise Switched(decision["flow"], decision.get("input"), "routed")
        if accepts(turn):
            return True
        if aside == "classic":
            await self.guard(self._answer)
            await self.finish(waits=what)
        else:
            await self.finish(FlowOutcome.SKIPPED, "waiting_for_people", waits=what)
        return False


def _step(
    function: Callable[[], Any],
    name: str,
    *,
    retry: Retry = ONCE,
    timeout: Micros | None = None,
    at_most_once: bool = False,
) -> StepFunction[[], Any]:
    """Return a step without checking its options. Checks would take time in every turn."""
    return StepFunction(function, name, retry, timeout, at_most_once)


def facts_of(
    agent: Agent, turn: TurnRecord, user: UserRecord, tags: Sequence[str], declared: bool = False
) -> dict[str, Any]:
    """Return the values of a `LiveTurn` as a JSON object. The value `hooks` lists the hooks that the agent has now. The
    object is recorded, so that a replay calls the same hooks."""
    return {
        "id": turn.id,
        "source": turn.source,
        "text": turn.text,
        "flow": turn.flow,
        "input": None if turn.input is None else orjson.loads(turn.input),
        "metadata": {**orjson.loads(turn.metadata).get("given", {}), **turns.correlation_of(turn)},
        "on_active_flow": turn.on_active_flow,
        "expires": turns.expiry_of(turn),
        "declared": declared,
        "user": user_json(user, tags),
        "hooks": [*agent.hooks, *(["router"] if agent.route is not None else [])],
    }


def _stop_session(place: TransactionContext, session_id: str) -> Operation[None]:
    session = yield from turns.lock_session(session_id)
    if session.ended is None:
        yield from turns.end_session(place, session, "canceled")


def _asks(reply: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a model's reply that contains tool calls into a message for the next request."""
    calls = [
        {
            "id": call["id"],
            "type": "function",
            "function": {"name": call["name"], "arguments": orjson.dumps(call["arguments"]).decode()},
        }
        for call in reply["tool_calls"]
    ]
    return {"role": "assistant", "content": reply["text"] or None, "tool_calls": calls}


def _most_arguments(function: Callable[..., Any]) -> int:
    """Return how many positional parameters an `on_response` hook has. If it has a parameter such as `*args`, return 3.
    The caller passes at most three arguments: the response, the context and the response's metadata."""
    parameters = inspect.signature(function).parameters.values()
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return 3
    return len([one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)])


def _reason(problem: BaseException) -> str:
    words = problem.error.get("message", "") if isinstance(problem, StepFailed) else error_text(problem)
    kind = problem.type if isinstance(problem, StepFailed) else type(problem).__name__
    return f"{kind}: {words}"[:300]
