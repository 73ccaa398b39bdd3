"""Dying before and after every statement of a campaign: nobody is messaged twice, nobody is forgotten, and the counts
add up. A message whose node died while it was being sent is `delivery_unknown`, and is not repeated.

There are two campaigns. Turns with a flow are handled by the runs of their sessions; a few people suffice to meet every
statement. Turns without one are handled directly, many in one transaction, so that walk is for 200 people."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest

from ostinato import Ostinato
from ostinato.flows import ModelReply
from ostinato.store.contract import Store
from ostinato.testing import VirtualClock
from tests.support.agents import Outbox
from tests.support.crash_walks import (
    LEASE,
    TRANSACTIONS,
    Story,
    each_statement,
    play_until_crash,
    walk,
)  # fmt: skip
from tests.support.faults import DroppingStore, When

PARTS = 3  # of a walk, side by side


class Greeter:
    async def complete(self, request: Any, egress: Any) -> ModelReply:
        return ModelReply("hello")


@dataclass(frozen=True)
class Mailing:
    """A campaign: how many people it is for, and what it sends with."""

    people: int
    in_flight: int
    rate: str  # of the agent's transport
    options: dict[str, Any]


FLOW = Mailing(7, 5, "100/s", {"flow": "hello", "rate": "40/s"})
DIRECT = Mailing(200, 50, "5000/s", {"metadata": {"prompt": "Say hello."}})


def make_app(store: Store, clock: VirtualClock, outbox: Outbox, mailing: Mailing) -> Ostinato:
    app = Ostinato(store, clock=clock, lease=LEASE)
    agent = app.agent("buddy", tz="UTC", model=Greeter(), transport=outbox, campaigns={"rate": mailing.rate})

    @agent.flow
    async def hello(ctx: Any) -> None:
        await ctx.say(f"hello {ctx.user.external_id}")

    return app


async def add_people(app: Ostinato, mailing: Mailing) -> None:
    agents = app.agents
    for number in range(mailing.people):
        await agents.put_user("buddy", f"u{number:03}", consent="opted_out" if number % 6 == 5 else "unknown")
    await agents.campaigns("buddy").suppress(["u004"], "complained")


async def play(app: Ostinato, mailing: Mailing) -> str:
    """Send the campaign, the same again after a crash, and wait for its end."""
    sent = await app.agents.campaigns("buddy").send(
        {"type": "all"},
        id="spring",
        allow_session_bootstrap=True,
        in_flight=mailing.in_flight,
        frequency_cap={"messages": 1, "per": "1d"},
        **mailing.options,
    )
    await sent.outcome("1h")
    return sent.id


async def check(app: Ostinato, id: str, outbox: Outbox, mailing: Mailing) -> None:
    ended = await app.agents.campaigns("buddy").get(id)
    recipients = await app.agents.campaigns("buddy").recipients(id, limit=1000)
    assert (ended.status, ended.recipients, len(recipients)) == ("done", mailing.people, mailing.people)
    assert sum(ended.counts.values()) == mailing.people
    assert {recipient.status for recipient in recipients} == {"done"}
    messages = Counter(message.user for message in outbox.sent)
    assert set(messages.values()) <= {1}, messages
    for recipient in recipients:
        number = int(recipient.user[1:])
        if recipient.user == "u004":
            assert (recipient.outcome, recipient.reason) == ("skipped", "suppressed")
        elif number % 6 == 5:
            assert (recipient.outcome, recipient.reason) == ("skipped", "opted_out")
        elif recipient.outcome == "failed":
            assert recipient.reason == "delivery_unknown"
        else:
            assert (recipient.outcome, recipient.reason) == ("success", None)
            assert messages[recipient.user] == 1, recipient
    assert ended.counts.get("failed", 0) <= mailing.in_flight
    events = Counter(event.name for event in await app.events(limit=10_000))
    assert events["schedule:campaign_resolved"] == events["campaign:completed"] == 1
    for name, outcome in (("schedule:recipient_run_completed", "success"), ("schedule:skipped", "skipped")):
        assert events[name] == ended.counts.get(outcome, 0)
    assert not [problem async for problem in _problems(app)]


async def _problems(app: Ostinato) -> Any:
    for problem in await app.check():
        yield problem


def make_story(mailing: Mailing) -> Story:
    async def story(dropping: DroppingStore, store: Store, clock: VirtualClock) -> None:
        outbox = Outbox()
        async with make_app(store, clock, outbox, mailing).connected() as client:
            await add_people(client, mailing)
        first = make_app(dropping, clock, outbox, mailing)
        await play_until_crash(first, dropping, play(first, mailing))
        await store.close()
        async with make_app(store, clock, outbox, mailing) as second:
            async with asyncio.timeout(1000):
                id = await play(second, mailing)
            await check(second, id, outbox, mailing)

    return story


each_mailing = pytest.mark.parametrize("mailing", [FLOW, DIRECT], ids=["flow", "direct"])


@pytest.mark.parametrize("part", range(PARTS))
def test_57_58_60_every_crash_point_of_a_campaign_on_sqlite(sqlite_url: str, part: int) -> None:
    assert walk(sqlite_url, make_story(FLOW), *TRANSACTIONS, first=1 + part, step=PARTS) > 70


def test_57_58_60_crash_points_of_a_campaign_for_200_people_on_sqlite(sqlite_url: str) -> None:
    """Some points of many turns in one transaction; the soak has all of them."""
    assert walk(sqlite_url, make_story(DIRECT), *TRANSACTIONS, first=2, step=2) > 50


@pytest.mark.parametrize(("mailing", "step"), [(FLOW, 13), (DIRECT, 7)], ids=["flow", "direct"])
def test_57_58_60_crash_points_of_a_campaign_on_postgres(postgres_url: str, mailing: Mailing, step: int) -> None:
    """Each point takes a while here, so some of them."""
    assert walk(postgres_url, make_story(mailing), *TRANSACTIONS, first=3, step=step) > 40


@pytest.mark.soak
@pytest.mark.timeout(7200)
@each_mailing
@each_statement
def test_57_58_60_every_statement_of_a_campaign(store_url: str, when: When, mailing: Mailing) -> None:
    assert walk(store_url, make_story(mailing), when) > 40
