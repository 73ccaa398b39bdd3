"""Run agents that talk with people.

`app.agent(…)` declares an agent, and `app.agents` has all other calls.

An agent has users. A user has at most one open session. A session is one run of a durable function (`session.py`). The
run handles the turns in its mailbox one after the other. `accept_turn` (`turns.py`) stores one input as a turn. A
campaign begins many turns at once (`campaigns/sends.py`). `docs/discussions/flows.md` gives the reasons.

The modules are imported when they are first used, so that the command line starts fast.
"""

from typing import TYPE_CHECKING

from ostinato.lazy_names import lazy_names

if TYPE_CHECKING:
    from ostinato.flows.api import Agents, TurnHandle
    from ostinato.flows.campaigns.api import CampaignHandle, Campaigns
    from ostinato.flows.campaigns.explain import Explanation
    from ostinato.flows.campaigns.preview import Preview
    from ostinato.flows.campaigns.resolver import SegmentContext
    from ostinato.flows.campaigns.views import CampaignInfo, RecipientInfo
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
        SegmentFailed,
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
    from ostinato.flows.schedules.rows import ScheduleRecord, ScheduleRunRecord, TriggeredRun
    from ostinato.flows.schedules.tools import schedule_tools
    from ostinato.flows.tool_context import ToolContext
    from ostinato.flows.transports import (
        ConsoleTransport,
        InboundMessage,
        OutgoingMessage,
        Transport,
        WebhookTransport,
    )

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
    "SegmentFailed",
    "SkipLLM",
    "ToolCall",
    "ToolContext",
    "Transport",
    "TriggeredRun",
    "TurnHandle",
    "TurnInfo",
    "TurnInput",
    "TurnOutcome",
    "UserInfo",
    "WebhookTransport",
    "schedule_tools",
    "within_window",
]

_OFFERED = {
    ".api": "Agents TurnHandle",
    ".campaigns.api": "CampaignHandle Campaigns",
    ".campaigns.explain": "Explanation",
    ".campaigns.preview": "Preview",
    ".campaigns.resolver": "SegmentContext",
    ".campaigns.views": "CampaignInfo RecipientInfo",
    ".context": "FlowContext Proxy Resolution",
    ".definition": "Agent",
    ".errors": "AgentError AnswerTimedOut AudienceTooLarge Denied ModelFailed ModelRefused NotSent SegmentFailed",
    ".hooks": "BeforeLLMInput BeforeResponseInput Cancel Continue End Replace ResponseMeta RouteFlow SkipLLM TurnInfo "
    "UserInfo within_window",
    ".model": "TurnInput TurnOutcome",
    ".models": "Model ModelReply ModelRequest OpenAIModel ScriptedModel ToolCall",
    ".schedules.api": "AgentSchedules CreatedSchedule",
    ".schedules.rows": "ScheduleRecord ScheduleRunRecord TriggeredRun",
    ".schedules.tools": "schedule_tools",
    ".tool_context": "ToolContext",
    ".transports": "ConsoleTransport InboundMessage OutgoingMessage Transport WebhookTransport",
}
__getattr__, __dir__ = lazy_names(__name__, _OFFERED)
