"""Dying before and after every statement of a conversation whose flow is parked on questions: nobody is messaged twice,
and no message, answer or decision is lost."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from ostinato import Ostinato
from ostinato.errors import StoreError
from ostinato.store.contract import Store
from ostinato.store.sqlite import SqliteStore
from ostinato.store.urls import open_url
from ostinato.testing import VirtualClock, run_virtual
from ostinato.testing.world import _FrozenTimeStore
from tests.support.agents import Outbox
from tests.support.conversation import check_form, declare_form, play_form
from tests.support.faults import Dropped, DroppingStore, ForgetfulStore
from tests.support.postgres import empty

LEASE = 4.0
PARTS, POINTS = 4, 150  # of a walk over all crash points, to be walked beside one another
UNCOUNTED = frozenset({"renew_lease", "list_nodes", "any_drafts"})


def make_app(store: Store, clock: VirtualClock, outbox: Outbox, cache: int) -> Ostinato:
    app = Ostinato(store, clock=clock, lease=LEASE, function_cache=cache)
    declare_form(app, outbox)
    return app


async def scenario(store: Store, clock: VirtualClock, at: int, after_commit: bool) -> tuple[int, int]:
    """Crash at a statement, and go on with another node. Returns the number of statements until then, and of messages
    whose delivery is unknown."""
    outbox, cache = Outbox(idempotent=at % 3 == 0), 1 + at % 2 * 99
    dropping = DroppingStore(store, at, after_commit, leave=UNCOUNTED)
    first = make_app(dropping, clock, outbox, cache)
    try:
        await first._open(node=True)
        playing = asyncio.create_task(play_form(first))
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
    async with make_app(store, clock, outbox, cache) as second:
        async with asyncio.timeout(200):
            await play_form(second)
        unknown = await check_form(second, outbox)
    return dropping.statements, unknown


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


def walk(tmp_path: Path, empty_store: Path, points: range, after_commit: bool) -> int:
    """Crash at each of these statements, or, after the commit, at one of each transaction. Returns the number of
    statements of a whole life."""
    at = points.start
    while at in points:
        clock = VirtualClock()
        path = tmp_path / f"{at}.db"
        shutil.copy(empty_store, path)
        store = SqliteStore(str(path), inline=True, durable=False)
        statements, unknown = run_virtual(scenario(store, clock, at, after_commit), clock)
        assert unknown <= 1, "one crash interrupts one message at most"
        path.unlink()
        if statements < at:
            return statements
        at = statements + 1 if after_commit else at + 1
    return at - 1


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("after_commit", [False, True], ids=["before the statement", "after the commit"])
def test_every_crash_point_of_a_conversation_on_sqlite(
    tmp_path: Path, empty_store: Path, after_commit: bool, part: int
) -> None:
    last = part == PARTS - 1
    points = range(1 + part * POINTS, 10_000 if last else 1 + (part + 1) * POINTS)
    statements = walk(tmp_path, empty_store, points, after_commit)
    assert not last or statements > 500


def test_crash_points_of_a_conversation_on_postgres(postgres_url: str) -> None:
    """The same statements; each point takes a while here, so some of them, before and after in turn."""
    at = 5
    while True:
        clock = VirtualClock()
        store = _FrozenTimeStore(open_url(postgres_url))
        statements, _ = run_virtual(scenario(store, clock, at, at % 2 == 0), clock)
        empty(postgres_url)
        if statements < at:
            break
        at += 37


def test_every_answer_lost_says_and_writes_everything_once(tmp_path: Path) -> None:
    async def main(clock: VirtualClock) -> None:
        outbox = Outbox()
        store = ForgetfulStore(SqliteStore(str(tmp_path / "store.db"), inline=True, durable=False))
        async with make_app(store, clock, outbox, 100) as app:
            await play_form(app)
            assert await check_form(app, outbox) == 0

    clock = VirtualClock()
    run_virtual(main(clock), clock)
