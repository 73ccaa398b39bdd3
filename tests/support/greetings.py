"""An agent for many: the flow `greet` says a word to a user. For the faces of schedules and campaigns."""

from __future__ import annotations

from typing import Any

from ostinato import Ostinato
from ostinato.flows import Agent, FlowContext
from tests.support.agents import Outbox

DAILY = {"type": "cron", "expr": "0 9 * * *"}
FOR_ADA = {"kind": "user", "user_external_id": "ada"}
ROUTINE: dict[str, Any] = {"flow": "greet", "trigger": DAILY, "target": FOR_ADA}
ALL = {"type": "all"}
GREETING: dict[str, Any] = {"segment": ALL, "flow": "greet", "allow_session_bootstrap": True}


def declare_greeter(app: Ostinato, **options: Any) -> tuple[Agent, Outbox]:
    """Declare the agent `buddy`, which greets, and whose segment `bought` has ada."""
    outbox = Outbox()
    buddy = app.agent("buddy", tz="America/Sao_Paulo", model=None, transport=outbox, **options)

    @buddy.flow
    async def greet(ctx: FlowContext, word: str = "hello") -> None:
        await ctx.say(f"{word} {ctx.user.external_id}")

    @buddy.segment("bought")
    async def bought(ctx: Any, product: str) -> list[str]:
        return ["ada"] if product == "tea" else []

    return buddy, outbox
