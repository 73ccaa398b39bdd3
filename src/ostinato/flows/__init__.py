"""Agents that talk with people: sessions, turns, flows, people in the loop. `app.agents`, `app.agent(…)`.

An agent has users, a user has at most one open session, and a session is one run of a durable function (`session.py`)
that takes turns one after the other from its mailbox. `Agents.run_turn` (`api.py`) is the only way in, for every
source; `accept_turn` (`turns.py`) is its transaction. Flows are called inside of the session's function, so `ctx.ask`
is a receive and `ctx.say` a few steps. `docs/discussions/flows.md` says why.

What the code needs is imported when it is first used, so that the command line does not wait for it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ostinato.flows.api import Agents, TurnHandle
    from ostinato.flows.campaign_run import SegmentContext
    from ostinato.flows.campaigns import (
        CampaignHandle,
        CampaignInfo,
        Campaigns,
        Explanation,
        Preview,
        RecipientInfo,
    )
    from ostinato.flows.context import FlowContext, Proxy, Resolution
    from ostinato.flows.definition import Agent
    from ostinato.flows.errors import (
        AgentError,
        AnswerTimedOut,
        AudienceTooLarge,
        Denied,
        ModelFailed,
        ModelRefused,
        NotSent,
    )
    from ostinato.flows.hooks import (
        BeforeLLMInput,
        BeforeResponseInput,
        Cancel,
        Continue,
        End,
        Replace,
        ResponseMeta,
        RouteFlow,
        SkipLLM,
        TurnInfo,
        UserInfo,
        within_window,
    )
    from ostinato.flows.model import TurnInput, TurnOutcome
    from ostinato.flows.models import Model, ModelReply, ModelRequest, OpenAIModel, ScriptedModel, ToolCall
    from ostinato.flows.schedules.api import AgentSchedules, CreatedSchedule
    from ostinato.flows.schedules.rows import ScheduleRecord, ScheduleRunRecord
    from ostinato.flows.schedules.tools import schedule_tools
    from ostinato.flows.tool_context import ToolContext
    from ostinato.flows.transports import (
        ConsoleTransport,
        InboundMessage,
        OutgoingMessage,
        Transport,
        WebhookTransport,
    )

_OFFERED = {
    "api": "Agents TurnHandle",
    "campaign_run": "SegmentContext",
    "campaigns": "CampaignHandle CampaignInfo Campaigns Explanation Preview RecipientInfo",
    "context": "FlowContext Proxy Resolution",
    "definition": "Agent",
    "errors": "AgentError AnswerTimedOut AudienceTooLarge Denied ModelFailed ModelRefused NotSent",
    "hooks": "BeforeLLMInput BeforeResponseInput Cancel Continue End Replace ResponseMeta RouteFlow SkipLLM TurnInfo "
    "UserInfo within_window",
    "model": "TurnInput TurnOutcome",
    "models": "Model ModelReply ModelRequest OpenAIModel ScriptedModel ToolCall",
    "schedules.api": "AgentSchedules CreatedSchedule",
    "schedules.rows": "ScheduleRecord ScheduleRunRecord",
    "schedules.tools": "schedule_tools",
    "tool_context": "ToolContext",
    "transports": "ConsoleTransport InboundMessage OutgoingMessage Transport WebhookTransport",
}
_WHERE = {name: f"{__name__}.{module}" for module, names in _OFFERED.items() for name in names.split()}

__all__ = [
    "Agent",
    "AgentError",
    "AgentSchedules",
    "Agents",
    "AnswerTimedOut",
    "AudienceTooLarge",
    "BeforeLLMInput",
    "BeforeResponseInput",
    "CampaignHandle",
    "CampaignInfo",
    "Campaigns",
    "Cancel",
    "ConsoleTransport",
    "Continue",
    "CreatedSchedule",
    "Denied",
    "End",
    "Explanation",
    "FlowContext",
    "InboundMessage",
    "Model",
    "ModelFailed",
    "ModelRefused",
    "ModelReply",
    "ModelRequest",
    "NotSent",
    "OpenAIModel",
    "OutgoingMessage",
    "Preview",
    "Proxy",
    "RecipientInfo",
    "Replace",
    "Resolution",
    "ResponseMeta",
    "RouteFlow",
    "ScheduleRecord",
    "ScheduleRunRecord",
    "ScriptedModel",
    "SegmentContext",
    "SkipLLM",
    "ToolCall",
    "ToolContext",
    "Transport",
    "TurnHandle",
    "TurnInfo",
    "TurnInput",
    "TurnOutcome",
    "UserInfo",
    "WebhookTransport",
    "schedule_tools",
    "within_window",
]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_WHERE[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
