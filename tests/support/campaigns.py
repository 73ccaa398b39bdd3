"""A campaign of the agent `buddy`, whose flow `hello` says hello, and what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ostinato.flows import Agent
from ostinato.flows.campaigns.api import Campaigns
from ostinato.flows.campaigns.views import CampaignInfo
from ostinato.model import Event
from ostinato.testing import World
from tests.support.agents import Outbox, make_buddy

ALL = {"type": "all"}


def make_hello(world: World, **options: Any) -> tuple[Agent, Outbox]:
    """An agent whose flow `hello` says hello."""
    agent, outbox = make_buddy(world, **options)

    @agent.flow
    async def hello(ctx: Any, word: str = "hello") -> None:
        await ctx.say(f"{word} {ctx.user.external_id}")

    return agent, outbox


async def put_people(world: World, *names: str, **settings: Any) -> None:
    await world.up()
    for name in names:
        await world.app.agents.put_user("buddy", name, **settings)


def campaigns(world: World) -> Campaigns:
    return world.app.agents.campaigns("buddy")


async def run_campaign(world: World, segment: Any = None, **options: Any) -> CampaignInfo:
    """Send a campaign, and return it when it is over."""
    await world.up()
    options = {"flow": "hello", "allow_session_bootstrap": True, **options}
    campaign = await campaigns(world).send(segment or ALL, **options)
    return await campaign.outcome("30d")


async def outcomes(world: World, id: str) -> dict[str, tuple[str | None, str | None]]:
    """By external id: outcome and reason."""
    page = await campaigns(world).recipients(id, limit=1000)
    return {recipient.user: (recipient.outcome, recipient.reason) for recipient in page}


async def all_events(world: World) -> list[Event]:
    log: list[Event] = []
    while page := await world.app.events(after=log[-1].seq if log else 0, limit=1000):
        log += page
    return log


def numbered(prefix: str, count: int) -> Sequence[str]:
    return [f"{prefix}{number:03}" for number in range(count)]
