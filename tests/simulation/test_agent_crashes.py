"""Dying before and after every statement of a conversation whose flow is parked on questions: nobody is messaged twice,
and no message, answer or decision is lost."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ostinato import Ostinato
from ostinato.store.contract import Store
from ostinato.store.sqlite import SqliteStore
from ostinato.testing import VirtualClock, run_virtual
from tests.support.agents import Outbox
from tests.support.conversation import check_form, declare_form, play_form
from tests.support.crash_walks import LEASE, TRANSACTIONS, each_statement, play_until_crash, walk
from tests.support.faults import DroppingStore, ForgetfulStore, When

PARTS = 4  # of a walk, side by side


def make_app(store: Store, clock: VirtualClock, outbox: Outbox, cache: int) -> Ostinato:
    app = Ostinato(store, clock=clock, lease=LEASE, function_cache=cache)
    declare_form(app, outbox)
    return app


async def story(dropping: DroppingStore, store: Store, clock: VirtualClock) -> None:
    number = dropping.point.number
    outbox, cache = Outbox(idempotent=number % 3 == 0), 1 + number % 2 * 99
    first = make_app(dropping, clock, outbox, cache)
    await play_until_crash(first, dropping, play_form(first))
    await store.close()
    async with make_app(store, clock, outbox, cache) as second:
        async with asyncio.timeout(200):
            await play_form(second)
        assert await check_form(second, outbox) <= 1, "one crash interrupts one message at most"


@pytest.mark.parametrize("part", range(PARTS))
def test_every_crash_point_of_a_conversation_on_sqlite(sqlite_url: str, part: int) -> None:
    assert walk(sqlite_url, story, *TRANSACTIONS, first=1 + part, step=PARTS) > 100


def test_crash_points_of_a_conversation_on_postgres(postgres_url: str) -> None:
    """Each point takes a while here, so some of them."""
    assert walk(postgres_url, story, *TRANSACTIONS, first=2, step=11) > 100


@pytest.mark.soak
@pytest.mark.timeout(7200)
@each_statement
def test_every_statement_of_a_conversation(store_url: str, when: When) -> None:
    assert walk(store_url, story, when) > 100


def test_every_answer_lost_says_and_writes_everything_once(tmp_path: Path) -> None:
    async def main(clock: VirtualClock) -> None:
        outbox = Outbox()
        store = ForgetfulStore(SqliteStore(str(tmp_path / "store.db"), inline=True, durable=False))
        async with make_app(store, clock, outbox, 100) as app:
            await play_form(app)
            assert await check_form(app, outbox) == 0

    clock = VirtualClock()
    run_virtual(main(clock), clock)
