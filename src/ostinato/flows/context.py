"""Define `FlowContext`, the class of `ctx`, the first argument of a flow. A flow uses `ctx` to talk with the user, to
ask people, to call tools and to record steps."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, NoReturn
from uuid import UUID

import orjson

from ostinato.errors import OstinatoError, check_text, short_repr
from ostinato.flows import people
from ostinato.flows.control import FlowEnded, Switched
from ostinato.flows.errors import AnswerTimedOut
from ostinato.flows.hooks import TurnInfo, UserInfo
from ostinato.flows.model import Hitl
from ostinato.flows.responses import Candidate
from ostinato.flows.store import read_escalation, statement
from ostinato.flows.views import user_info
from ostinato.functions.definition import as_step
from ostinato.model import read_length
from ostinato.start_checks import read_positive_length
from ostinato.store.contract import Operation
from ostinato.when.durations import Length
from ostinato.when.instants import from_datetime

if TYPE_CHECKING:
    from ostinato.flows.session import LiveTurn, SessionActor

YES = frozenset("yes y ok okay sure yep confirm sim s si sí claro oui ja да".split())
NO = frozenset("no n nope cancel não nao non nein нет".split())
_TRIES = 3  # questions before an answer that is neither yes nor no counts as no
_AGAIN = "Please answer yes or no."
_NOTHING: Any = object()


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a person decided about an escalation. `status` is resolved or timed_out."""

    status: str
    approved: bool = False
    message: str | None = None
    action: Any = None
    resolved_by: str | None = None

    @property
    def timed_out(self) -> bool:
        return self.status == "timed_out"


class FlowContext:
    """The first argument of a flow."""

    def __init__(self, session: SessionActor, name: str) -> None:
        self._session = session
        self.name = name

    # Facts

    @property
    def session_id(self) -> str:
        return self._session.session_id

    @property
    def user(self) -> UserInfo:
        """The user as of the beginning of the turn."""
        return user_info(self._turn.user)

    @property
    def trigger(self) -> Mapping[str, Any]:
        """The metadata of the current turn. For a scheduled turn, they include the schedule's metadata."""
        return self._turn.metadata

    @property
    def source(self) -> str:
        """What began the turn: inbound, scheduled, resumed or human."""
        return self._turn.source

    @property
    def text(self) -> str | None:
        """The text that began this turn, or None if the turn began without a text, for example by a schedule."""
        return self._turn.text

    @property
    def _turn(self) -> LiveTurn:
        turn = self._session.turn
        if turn is None:
            raise OstinatoError("there is no turn going on")
        return turn

    @property
    def turn(self) -> TurnInfo:
        return self._session.turn_info()

    # Talking

    async def say(self, text: str, **structured: Any) -> bool:
        """Send a message to the user, and return whether it was sent. If it is unknown whether the message was
        delivered, return False.

        Some reasons why a message is not sent are:

        - A hook cancels the message.
        - A person has taken over.
        - The user has opted out.
        - The transport fails.
        """
        check_text(text, "what ctx.say says")
        return await self._session.respond(Candidate(text, "flow", structured or None))

    async def ask(self, text: str | None, *, timeout: Length | None = None, default: Any = _NOTHING) -> Any:
        """Ask the user and return the answer. If `text` is None, only wait for the user's next message.

        If no answer comes within `timeout`, return `default`, or raise `AnswerTimedOut` if there is no default.
        """
        if default is not _NOTHING and timeout is None:
            raise OstinatoError("ctx.ask(default=…) needs a timeout: without one it waits for the answer")
        if text is not None:
            await self.say(text)
        turn = await self._session.wait("ask", self._due(timeout), _is_inbound)
        if turn is not None:
            return turn.text or ""
        if default is not _NOTHING:
            return default
        raise AnswerTimedOut(f"no answer came within {timeout}")

    async def confirm(
        self, text: str, *, timeout: Length | None = None, default: bool | None = None, again: str = _AGAIN
    ) -> bool:
        """Ask the user a question and return whether the answer is yes.

        After an answer that is neither yes nor no, ask again; the third such answer counts as no. If no answer comes
        within `timeout`, return `default`, or raise `AnswerTimedOut` if there is no default.
        """
        if default is not None and timeout is None:
            raise OstinatoError("ctx.confirm(default=…) needs a timeout: without one it waits for the answer")
        await self._set_hitl(Hitl.PENDING_CONFIRM, "hitl:confirm_requested", question=text)
        question, due = text, self._due(timeout)
        for _ in range(_TRIES):
            await self.say(question)
            turn = await self._session.wait("confirm", due, _is_inbound)
            if turn is None:
                await self._set_hitl(Hitl.TIMED_OUT, "hitl:timed_out")
                if default is None:
                    raise AnswerTimedOut(f"no answer came within {timeout}")
                return default
            answer = read_yes_or_no(turn.text or "")
            if answer is not None:
                await self._set_hitl(Hitl.RESOLVED, "hitl:confirm_resolved", approved=answer)
                return answer
            question = again
        await self._set_hitl(Hitl.RESOLVED, "hitl:confirm_resolved", approved=False)
        return False

    async def _set_hitl(self, state: Hitl, event: str, **data: Any) -> None:
        turn_id = self._turn.id
        await self._session.write("hitl", lambda place: people.set_hitl(place, turn_id, state, event, **data))

    # People

    async def escalate(
        self,
        question: str,
        *,
        mode: Literal["async_resolution", "live_takeover"] = "async_resolution",
        data: Any = None,
        timeout: Length | None = None,
        meanwhile: Literal["noop", "ack", "queue", "classic"] = "noop",
        ack: str | None = None,
    ) -> Resolution:
        """Ask a person to decide or to take over the conversation. Wait for the decision and return it.

        If nobody decides within `timeout`, the `status` of the result is timed_out. `meanwhile` says what happens to
        the user's messages during the wait:

        - `noop`: they are ignored
        - `ack`: each gets the text `ack` as the answer
        - `queue`: they are kept until the flow has ended
        - `classic`: the model answers them

        During a live takeover, the messages go to the person.
        """
        check_text(question, "the question")
        if mode not in (people.ASYNC, people.LIVE):
            raise OstinatoError(f"mode {short_repr(mode)} is neither 'async_resolution' nor 'live_takeover'")
        if meanwhile not in ("noop", "ack", "queue", "classic") or (meanwhile == "ack") != (ack is not None):
            raise OstinatoError("meanwhile is 'noop', 'queue', 'classic', or 'ack' with ack='a text'")
        due = self._due(timeout)
        id = await self._escalate(mode, question, data, due)
        while True:
            turn = await self._session.wait(
                "escalation",
                due,
                lambda turn: _resolves(turn, id) or (meanwhile == "ack" and turn.source == "inbound"),
                meanwhile,
            )
            if turn is not None and turn.source == "inbound":
                await self._session.respond(Candidate(ack or "", "hitl"))
                continue
            resolution = await self._resolution(id, timed_out=turn is None)
            if resolution.status != "pending":
                return resolution
            due = None  # a person took over in time, and no timeout applies until they hand back

    async def _escalate(
        self,
        mode: str,
        question: str,
        data: Any,
        due: datetime | None,
        to: str | None = None,
        replace: bool = False,
    ) -> str:
        turn_id = self._turn.id
        id = f"{turn_id}-{self._session.ctx.uuid().hex[:12]}"  # sorts by time, as turns do
        instant = None if due is None else from_datetime(due)
        await self._session.write(
            "escalate", lambda place: people.escalate(place, turn_id, id, mode, question, data, instant, to, replace)
        )
        return id

    def _due(self, timeout: Length | None) -> datetime | None:
        """Return when a wait that begins now times out, or None if `timeout` is None. A replay returns the same
        time."""
        length = read_positive_length(timeout, "timeout")
        return None if length is None else self._session.ctx.now() + timedelta(microseconds=length)

    async def _resolution(self, id: str, *, timed_out: bool) -> Resolution:
        """Return the decision about an escalation. If `timed_out` is true, first close the escalation if it is
        pending."""

        def read(place: Any) -> Operation[dict[str, Any]]:
            if timed_out:
                escalation = yield from people.close_escalation(place, id, "timed_out", "hitl:timed_out")
            else:
                escalation = read_escalation((yield statement("escalation_by_id", id=id))[0])
            return {
                "status": escalation.status,
                "approved": bool(escalation.approved),
                "message": escalation.message,
                "action": None if escalation.action is None else orjson.loads(escalation.action),
                "resolved_by": escalation.resolved_by,
            }

        return Resolution(**await self._session.write("resolution", read))

    async def proxy(
        self,
        question: str,
        *,
        to: str | None = None,
        timeout: Length | None = None,
        mode: Literal["shadow", "mirror"] = "shadow",
        replace: bool = False,
    ) -> Proxy:
        """Put a person between the user and this flow. The agent's transport sends the user's messages to the person.

        `to` is the person's address, and is required. `await proxy.receive()` returns the person's next text, and
        `await proxy.stop()` ends the proxy. With the mode `shadow`, the user sees nothing of the person. With `mirror`,
        the person's texts are also sent to the user.

        A session can have only one proxy. If the session already has one, `replace` decides: if true, the old proxy
        ends; if false, this call raises `StepFailed`.
        """
        if to is None:
            raise OstinatoError(
                "ctx.proxy(…) needs to=…, the address of the person to whom the user's messages are sent, such as "
                "'+5511999'"
            )
        check_text(to, "the address of the person")
        if mode not in ("shadow", "mirror"):
            raise OstinatoError(f"mode {short_repr(mode)} is neither 'shadow' nor 'mirror'")
        if to == self.user.address:
            raise OstinatoError(f"the address of the person {to!r} is the user's; messages would go round in circles")
        due = self._due(timeout)
        id = await self._escalate(people.PROXY, question, {"to": to, "mode": mode}, due, to, replace)
        self._session.proxy_id = id
        return Proxy(self, id, to, due, mode)

    # Acting

    async def tool(self, name: str, **arguments: Any) -> Any:
        """Call a tool of the agent as the model would, and return the tool's result."""
        return await self._session.call_tool(name, arguments)

    def handoff(self, flow: str, input: Mapping[str, Any] | None = None) -> NoReturn:
        """End this flow, and begin the flow `flow` with `input`. If `flow` is `classic`, no flow begins, and the model
        answers. This call does not return."""
        raise Switched(flow, input, "handoff")

    def end(self, reason: str | None = None) -> NoReturn:
        """End this flow. This call does not return."""
        raise FlowEnded(reason)

    def end_session(self, reason: str = "ended") -> None:
        """Let the session end as soon as this flow has ended. This flow continues."""
        self._session.ending = reason

    # What a durable function offers

    def step(self, function: Any, /, *args: Any, **kwargs: Any) -> Awaitable[Any]:
        """Call a function as a step, and record its result, which must be a JSON value. `await` the returned object to
        get the result. If the function fails and is not tried again, `await` raises `StepFailed`."""
        return self._session.ctx.step(self._session.bounded(as_step(function)), *args, **kwargs)

    async def sleep(self, length: Length) -> None:
        """Wait for a length of time. The model answers messages that come meanwhile."""
        if read_length(length, "sleep") <= 0:
            raise OstinatoError(f"sleep {length!r} is not a length of time")
        await self._session.wait("sleep", self._due(length), lambda turn: False, "classic")

    def now(self) -> datetime:
        """Return the present time. The time is recorded, so a replay returns the same time."""
        return self._session.ctx.now()

    def random(self) -> float:
        return self._session.ctx.random()

    def uuid(self) -> UUID:
        return self._session.ctx.uuid()

    def version(self, name: str, version: int) -> int:
        """Return which version of changed code this flow must execute, as a number.

        `name` identifies the change. The old code is version 1, and the new code is `version`.

        - If the flow has called this method with `name` before, return the same number again.
        - If the flow passed this place before the change was made, return 1.
        - Otherwise return `version`.
        """
        return self._session.ctx.version(name, version)

    def log(self, message: str, level: str = "info") -> None:
        self._session.ctx.log(message, level)


class Proxy:
    """A person between the user and a flow (see `FlowContext.proxy`)."""

    def __init__(self, ctx: FlowContext, id: str, to: str, due: datetime | None, mode: str = "shadow") -> None:
        self._ctx = ctx
        self._due = due
        self.mode = mode
        self.id = id
        self.to = to

    async def receive(self) -> str | None:
        """Wait for the person's next text, and return it. Meanwhile, send the user's messages to the person.

        Return None if the timeout has passed, or if the proxy was resolved, stopped or replaced.
        """
        session = self._ctx._session
        while session.proxy_id == self.id:
            turn = await session.wait(
                "proxy",
                self._due,
                lambda turn: turn.source in ("human", "inbound") or _resolves(turn, self.id),
                "noop",
            )
            if turn is None or turn.source == "resumed":
                session.proxy_id = None
                await self._ctx._resolution(self.id, timed_out=turn is None)
                return None
            if turn.source == "human":
                if self.mode == "mirror":
                    await session.speak_for_person()
                return turn.text or ""
            forwarded = Candidate(turn.text or "", "hitl", role="forward", forced=True, to=self.to)
            await session.respond(forwarded, hooks=False)
        return None

    async def stop(self) -> None:
        """End the proxy. A second call changes nothing."""
        if self._ctx._session.proxy_id == self.id:
            self._ctx._session.proxy_id = None

        def close(place: Any) -> Operation[None]:
            yield from people.close_escalation(place, self.id, "canceled", "hitl:proxy_ended")

        await self._ctx._session.write("proxy_stop", close)


def _is_inbound(turn: LiveTurn) -> bool:
    return turn.source == "inbound"


def _resolves(turn: LiveTurn, id: str) -> bool:
    return turn.source == "resumed" and turn.metadata.get("escalation") == id


def read_yes_or_no(text: str) -> bool | None:
    """Return True for yes, False for no, and None for any other text."""
    word = text.strip().strip(".!?").lower()
    return True if word in YES else False if word in NO else None
