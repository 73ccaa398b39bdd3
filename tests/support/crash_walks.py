"""Crash walks: the same story is played again and again, and each time its node dies at another point.

A node that dies in the middle of a transaction leaves what a node leaves that dies just before it, because nothing of
the transaction is committed. So a walk dies before each transaction and after each commit. A long walk takes turns:
between a commit and the next transaction mostly memory changes, which is lost in either case. The soak dies after every
commit and before every statement.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from ostinato import Ostinato
from ostinato.errors import OstinatoError
from ostinato.store.contract import Store
from ostinato.store.sqlite import SqliteStore
from ostinato.store.urls import open_url
from ostinato.testing import VirtualClock, run_virtual
from ostinato.testing.world import _FrozenTimeStore
from tests.support.faults import CrashPoint, Dropped, DroppingStore, When
from tests.support.kept_connections import run_on_kept_connections
from tests.support.postgres import empty
from tests.support.stores import quick

LEASE = 4.0
ALL_THE_TIME = frozenset({"renew_lease", "list_nodes", "any_drafts"})  # statements of a node that waits
# Plays a story on a store that breaks, goes on with another node on the store itself, and checks how it ends.
Story: TypeAlias = Callable[[DroppingStore, Store, VirtualClock], Coroutine[Any, Any, None]]

TRANSACTIONS: tuple[When, ...] = ("before the transaction", "after the commit")
STATEMENTS: tuple[When, ...] = ("before the statement", "after the commit")
each_transaction = pytest.mark.parametrize("when", TRANSACTIONS)
each_statement = pytest.mark.parametrize("when", STATEMENTS)


async def play_until_crash(app: Ostinato, store: DroppingStore, playing: Coroutine[Any, Any, Any]) -> None:
    """Play on a node of this app until its store breaks or all is played, and let the node die."""
    task = asyncio.create_task(_play(app, playing))
    while not task.done() and not store.broken:
        await asyncio.sleep(0.2)
    task.cancel()
    try:
        await task
    except (Dropped, OstinatoError, asyncio.CancelledError):
        assert store.broken
    if app._engine is not None:
        await app.engine.kill()
        await app._close_after_crash()


async def _play(app: Ostinato, playing: Coroutine[Any, Any, Any]) -> None:
    try:
        await app._open(node=True)
        await playing
    finally:
        playing.close()


def walk(
    url: str,
    story: Story,
    *whens: When,
    first: int = 1,
    step: int = 1,
    uncounted: frozenset[str] = ALL_THE_TIME,
) -> int:
    """Die at the first of these points, and at each `step`-th one after it; several kinds of points take turns. Returns
    how many points there are."""
    for turn, number in enumerate(count(first, step)):
        points = die_at(CrashPoint(number, whens[turn % len(whens)]), url, story, uncounted)
        if points < number:
            return points
    raise AssertionError


def die_at(point: CrashPoint, url: str, story: Story, uncounted: frozenset[str] = ALL_THE_TIME) -> int:
    """Play a story on an empty store, with a crash at this point, and leave the store empty. Returns how many points of
    this kind were met."""
    store = quick(url)
    if isinstance(store, str):
        store = _FrozenTimeStore(open_url(url, inline=True))
    clock, dropping = VirtualClock(), DroppingStore(store, point, uncounted)
    run = run_virtual if isinstance(store, SqliteStore) else run_on_kept_connections
    try:
        run(story(dropping, store, clock), clock)
    except BaseException as problem:
        problem.add_note(f"the node died {point.when} number {point.number}")
        raise
    if isinstance(store, SqliteStore):
        Path(store.path).unlink()
    else:
        empty(url)
    return dropping.points
