"""Dying before and after every statement of a campaign: nobody is messaged twice, nobody is forgotten, and the counts
add up. A message whose node died while it was being sent is `delivery_unknown`, and is not repeated.

There are two campaigns. Turns with a flow are handled by the runs of their sessions; a few people suffice to meet every
statement. Turns without one are handled directly, many in one transaction, so that walk is for 200 people."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ostinato import Ostinato
from ostinato.errors import StoreError
from ostinato.flows import ModelReply
from ostinato.store.contract import Store
from ostinato.store.sqlite import SqliteStore
from ostinato.store.urls import open_url
from ostinato.testing import VirtualClock, run_virtual
from ostinato.testing.world import _FrozenTimeStore
from tests.support.agents import Outbox
from tests.support.faults import Dropped, DroppingStore
from tests.support.postgres import empty

LEASE = 4.0
UNCOUNTED = frozenset({"renew_lease", "list_nodes", "any_drafts"})
PARTS, POINTS = 3, 150


class Greeter:
    async def complete(self, request: Any, egress: Any) -> ModelReply:
        return ModelReply("hello")


@dataclass(frozen=True)
class Walk:
    """A campaign: how many people it is for, and what it sends with."""

    people: int
    in_flight: int
    rate: str  # of the agent's transport
    options: dict[str, Any]


FLOW = Walk(int(os.environ.get("OSTINATO_CAMPAIGN_PEOPLE", "7")), 5, "100/s", {"flow": "hello", "rate": "40/s"})
DIRECT = Walk(200, 50, "5000/s", {"metadata": {"prompt": "Say hello."}})


def make_app(store: Store, clock: VirtualClock, outbox: Outbox, walk: Walk) -> Ostinato:
    app = Ostinato(store, clock=clock, lease=LEASE)
    agent = app.agent("buddy", timezone="UTC", model=Greeter(), transport=outbox, campaigns={"rate": walk.rate})

    @agent.flow
    async def hello(ctx: Any) -> None:
        await ctx.say(f"hello {ctx.user.external_id}")

    return app


async def add_people(app: Ostinato, walk: Walk) -> None:
    agents = app.agents
    for number in range(walk.people):
        await agents.put_user("buddy", f"u{number:03}", consent="opted_out" if number % 6 == 5 else "unknown")
    await agents.campaigns("buddy").suppress(["u004"], "complained")


async def play(app: Ostinato, walk: Walk) -> str:
    """Send the campaign, the same again after a crash, and wait for its end."""
    sent = await app.agents.campaigns("buddy").send(
        {"type": "all"},
        id="spring",
        allow_session_bootstrap=True,
        in_flight=walk.in_flight,
        frequency_cap={"messages": 1, "per": "1d"},
        **walk.options,
    )
    await sent.outcome("1h")
    return sent.id


async def check(app: Ostinato, id: str, outbox: Outbox, walk: Walk) -> None:
    ended = await app.agents.campaigns("buddy").get(id)
    recipients = await app.agents.campaigns("buddy").recipients(id, limit=1000)
    assert (ended.status, ended.recipients, len(recipients)) == ("done", walk.people, walk.people)
    assert sum(ended.counts.values()) == walk.people
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
    assert ended.counts.get("failed", 0) <= walk.in_flight
    events = Counter(event.name for event in await app.events(limit=10_000))
    assert events["schedule:campaign_resolved"] == events["campaign:completed"] == 1
    for name, outcome in (("schedule:recipient_run_completed", "success"), ("schedule:skipped", "skipped")):
        assert events[name] == ended.counts.get(outcome, 0)
    assert not [problem async for problem in _problems(app)]


async def _problems(app: Ostinato) -> Any:
    for problem in await app.check():
        yield problem


async def scenario(store: Store, clock: VirtualClock, at: int, after_commit: bool, walk: Walk = FLOW) -> int:
    outbox = Outbox()
    async with make_app(store, clock, outbox, walk).connected() as client:
        await add_people(client, walk)
    dropping = DroppingStore(store, at, after_commit, leave=UNCOUNTED)
    first = make_app(dropping, clock, outbox, walk)
    try:
        await first._open(node=True)
        playing = asyncio.create_task(play(first, walk))
        while not playing.done() and not dropping.broken:
            await asyncio.sleep(0.2)
        playing.cancel()
        await playing
    except (Dropped, StoreError, asyncio.CancelledError):
        assert dropping.broken
    if first._engine is not None:
        await first.engine.kill()
        await first._close_after_crash()
    await store.close()
    async with make_app(store, clock, outbox, walk) as second:
        async with asyncio.timeout(1000):
            id = await play(second, walk)
        await check(second, id, outbox, walk)
    return dropping.statements


@pytest.fixture(scope="module")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that is made once; every crash point begins with a copy."""
    path = tmp_path_factory.mktemp("empty") / "store.db"

    async def make() -> None:
        store = SqliteStore(str(path), inline=True, durable=False)
        await store.open()
        await store.close()

    asyncio.run(make())
    return path


def crash(tmp_path: Path, empty_store: Path, at: int, after_commit: bool, walk: Walk = FLOW) -> int:
    clock = VirtualClock()
    path = tmp_path / f"{at}.db"
    shutil.copy(empty_store, path)
    store = SqliteStore(str(path), inline=True, durable=False)
    statements = run_virtual(scenario(store, clock, at, after_commit, walk), clock)
    path.unlink()
    return statements


@pytest.mark.parametrize("after_commit", [False, True], ids=["before the statement", "after the commit"])
@pytest.mark.parametrize("part", range(PARTS))
def test_57_58_60_every_crash_point_of_a_campaign_on_sqlite(
    tmp_path: Path, empty_store: Path, part: int, after_commit: bool
) -> None:
    last = part == PARTS - 1
    at = 1 + part * POINTS
    end = 100_000 if last else 1 + (part + 1) * POINTS
    while at < end:
        statements = crash(tmp_path, empty_store, at, after_commit)
        if statements < at:
            break
        at = statements + 1 if after_commit else at + 1
    assert not last or at > 200


def crash_on_postgres(url: str, at: int, after_commit: bool, walk: Walk) -> int:
    clock = VirtualClock()
    store = _FrozenTimeStore(open_url(url))
    statements = run_virtual(scenario(store, clock, at, after_commit, walk), clock)
    empty(url)
    return statements


@pytest.mark.parametrize(("walk", "stride"), [(FLOW, 43), (DIRECT, 29)], ids=["flow", "direct"])
def test_57_58_60_crash_points_of_a_campaign_on_postgres(postgres_url: str, walk: Walk, stride: int) -> None:
    """The same statements; each point takes a while here, so some of them, before and after in turn."""
    at = 5
    while crash_on_postgres(postgres_url, at, at % 2 == 0, walk) >= at:
        at += stride


def test_57_58_60_crash_points_of_a_campaign_for_200_people(tmp_path: Path, empty_store: Path) -> None:
    """Some points of many turns in one transaction, before and after in turn; the soak has all of them."""
    at = 3
    while crash(tmp_path, empty_store, at, at % 2 == 0, DIRECT) >= at:
        at += 5
    assert at > 250


@pytest.mark.soak
@pytest.mark.parametrize("after_commit", [False, True], ids=["before the statement", "after the commit"])
def test_57_58_60_every_crash_point_of_a_campaign_for_200_people(
    tmp_path: Path, empty_store: Path, after_commit: bool
) -> None:
    at = 1
    while (statements := crash(tmp_path, empty_store, at, after_commit, DIRECT)) >= at:
        at = statements + 1 if after_commit else at + 1
    assert at > 250


@pytest.mark.soak
@pytest.mark.parametrize("after_commit", [False, True], ids=["before the statement", "after the commit"])
def test_57_58_60_every_crash_point_of_a_campaign_for_200_people_on_postgres(
    postgres_url: str, after_commit: bool
) -> None:
    at = 1
    while (statements := crash_on_postgres(postgres_url, at, after_commit, DIRECT)) >= at:
        at = statements + 1 if after_commit else at + 1
