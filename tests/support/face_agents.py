"""An agent that faces are tested with: a flow that asks people, a tool, and a chat service of the test."""

from __future__ import annotations

from typing import Any

from ostinato import Ostinato
from ostinato.flows import Agent, FlowContext, ModelRequest, ScriptedModel, ToolContext
from tests.support.agents import Outbox

QUESTION = "May ada have a refund?"


def answer(request: ModelRequest) -> str:
    """Repeat what the user said."""
    return f"you said: {request.messages[-1]['content']}"


def declare_buddy(app: Ostinato, outbox: Any = None, **options: Any) -> tuple[Agent, Outbox]:
    """Declare the agent `buddy`. `/refund` begins a flow that asks people; anything else is answered by the model."""
    outbox = Outbox() if outbox is None else outbox
    options.setdefault("admins", ["local", "token:ada"])
    buddy = app.agent(
        "buddy", tz="America/Sao_Paulo", model=ScriptedModel(answer, repeat=True), transport=outbox, **options
    )

    @buddy.flow
    async def refund(ctx: FlowContext) -> None:
        """Ask people whether the user may have a refund."""
        decision = await ctx.escalate(QUESTION, data={"amount": 3})
        await ctx.say(f"approved: {decision.message}" if decision.approved else "not approved")

    @buddy.router
    def route(turn: Any) -> str | None:
        return "refund" if "refund" in (turn.turn.text or "") else None

    @buddy.tool
    async def note(ctx: ToolContext, text: str, times: int = 1) -> dict[str, Any]:
        """Keep a note about the user."""
        return {"noted": text * times, "for": ctx.user.external_id, "source": ctx.turn.source}

    return buddy, outbox
