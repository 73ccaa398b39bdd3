"""The inputs and results of hooks.

`before_llm(input)` and `before_response(input)` decide how a turn continues. `on_response(structured, ctx, meta)` is
called after the message was sent. If a hook raises, the turn continues as if the hook had returned None, and an event
records the error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from ostinato.errors import OstinatoError, short_repr


@dataclass(frozen=True, slots=True)
class UserInfo:
    """A user of an agent. `active` is the time of the user's last message."""

    id: str
    external_id: str
    address: str
    name: str | None
    tz: str | None
    locale: str | None
    consent: str
    consent_at: datetime | None
    tags: tuple[str, ...]
    data: Mapping[str, Any]
    created: datetime
    active: datetime | None


@dataclass(frozen=True, slots=True)
class TurnInfo:
    """The current turn, as hooks, tools and flows see it."""

    id: str
    session_id: str
    source: str
    text: str | None
    flow: str | None
    metadata: Mapping[str, Any]
    now: datetime


@dataclass(frozen=True, slots=True)
class BeforeLLMInput:
    agent: str
    user: UserInfo
    turn: TurnInfo


@dataclass(frozen=True, slots=True)
class BeforeResponseInput:
    """The input of the hook `before_response`. `reply` is the message to send. `producer` says what wrote the message,
    for example `flow` or `command`; `classic` means the model."""

    agent: str
    user: UserInfo
    turn: TurnInfo
    reply: str
    structured: Mapping[str, Any]
    producer: str


@dataclass(frozen=True, slots=True)
class ResponseMeta:
    """Facts about a response, for the hook `on_response`. For a scheduled turn, `source` is `scheduled`. For any other
    turn, `source` is the same as `producer`."""

    source: str
    producer: str
    turn_source: str
    flow: str | None
    before_llm: str | None
    before_response: str | None
    hitl_state: str
    escalation_id: str | None
    delivery: str
    turn_id: str
    session_id: str
    metadata: Mapping[str, Any]


# Results of hooks


@dataclass(frozen=True, slots=True)
class Continue:
    """Continue normally. Returning None means the same."""


@dataclass(frozen=True, slots=True)
class SkipLLM:
    """Do not call the model. If `reply` is set, it is used as the response."""

    reply: str | None = None
    structured: Mapping[str, Any] | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class RouteFlow:
    """Begin the flow `flow` with `input`."""

    flow: str
    input: Mapping[str, Any] | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class End:
    """End the turn without a response."""

    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Cancel:
    """Do not send the response."""

    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Replace:
    """Send `reply` instead of the response."""

    reply: str
    structured: Mapping[str, Any] | None = None
    reason: str | None = None


HookAction = Literal["continue", "skip_llm", "route_flow", "end", "cancel", "replace"]


def before_llm_result(result: object) -> dict[str, Any]:
    """Return a `before_llm` hook's result as a JSON object. Raises OstinatoError if the result is not allowed."""
    match result:
        case None | Continue():
            return {"action": "continue"}
        case SkipLLM(reply, structured, reason):
            return {"action": "skip_llm", "reply": reply, "structured": structured, "reason": reason}
        case RouteFlow(flow, input, reason):
            return {"action": "route_flow", "flow": flow, "input": input, "reason": reason}
        case End(reason):
            return {"action": "end", "reason": reason}
    raise OstinatoError(
        f"before_llm returned {short_repr(result)}; it returns Continue, SkipLLM, RouteFlow, End or nothing"
    )


def before_response_result(result: object) -> dict[str, Any]:
    """Return a `before_response` hook's result as a JSON object. Raises OstinatoError if the result is not allowed."""
    match result:
        case None | Continue():
            return {"action": "continue"}
        case Cancel(reason):
            return {"action": "cancel", "reason": reason}
        case Replace(reply, structured, reason):
            return {"action": "replace", "reply": reply, "structured": structured, "reason": reason}
    raise OstinatoError(
        f"before_response returned {short_repr(result)}; it returns Continue, Cancel, Replace or nothing"
    )


def within_window(
    hours: float = 24, *, template: str | None = None
) -> Callable[[BeforeResponseInput], Continue | Cancel | Replace]:
    """Return a `before_response` hook for channels that limit free text to some hours after the user's last message.

    After these hours, the hook replaces the reply with `template`, or cancels the reply if there is no template.
    """
    window = timedelta(hours=hours)

    def check(response: BeforeResponseInput) -> Continue | Cancel | Replace:
        if response.user.active is not None and response.turn.now - response.user.active <= window:
            return Continue()
        return Cancel("window_closed") if template is None else Replace(template, reason="window_closed")

    return check
