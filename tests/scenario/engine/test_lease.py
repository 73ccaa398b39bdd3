"""The lease of a node whose event loop is blocked. On real time: a virtual clock does not pass while one is."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import psycopg
import pytest

from ostinato import Ostinato
from ostinato.clock import SharedClock, SystemClock
from ostinato.engine import lease, membership
from ostinato.engine.lease import LeaseKeeper, run_on_own_loop
from ostinato.engine.timekeeping import Timekeeper
from ostinato.store.urls import open_url
from ostinato.when.instants import SECOND

LIMIT = 120.0  # seconds


@contextmanager
def looking(url: str) -> Iterator[Callable[[str], list[Any]]]:
    """Ask the store from a thread that may block, past the engine."""
    connection: Any = (
        sqlite3.connect(url.removeprefix("sqlite:///"), timeout=LIMIT)
        if url.startswith("sqlite")
        else psycopg.connect(url, autocommit=True)
    )
    try:
        yield lambda text: list(connection.execute(text).fetchall())
    finally:
        connection.close()


def block_until(condition: Callable[[], bool]) -> None:
    """Hold the calling thread, and so its event loop, until the condition is true."""
    deadline = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < deadline, "what the blocked loop waits for did not happen"
        threading.Event().wait(0.02)


def test_a_blocked_event_loop_keeps_its_lease_and_its_runs(store_url: str) -> None:
    attempts: list[int] = []

    async def main() -> list[str]:
        app = Ostinato(store_url, lease="1s")

        @app.job()
        async def crunch() -> None:
            attempts.append(1)
            lease_until = f"SELECT lease_until FROM ostinato_nodes WHERE id = '{app.engine.node}'"
            with looking(store_url) as ask:
                begin = ask(lease_until)[0][0]
                block_until(lambda: ask(lease_until)[0][0] > begin + 2 * SECOND)  # two leases later

        async with app, beside(Ostinato(store_url, lease="1s")):
            await (await app.start(crunch)).result()
            return [attempt.status for attempt in await app.runs(attempts=True)]

    assert asyncio.run(main()) == ["succeeded"]
    assert attempts == [1]


@asynccontextmanager
async def beside(app: Ostinato) -> AsyncIterator[None]:
    """Run another node on an event loop in a thread of its own."""
    over = threading.Event()

    async def serve() -> None:
        async with app:
            await asyncio.to_thread(over.wait)

    serving = asyncio.create_task(run_on_own_loop(serve, "beside"))
    try:
        yield
    finally:
        over.set()
        await serving


def test_a_loop_that_hangs_lets_its_lease_go(
    store_url: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its work goes to another node, and the hung node's outcome does not count when it comes back."""
    monkeypatch.setattr(lease, "PATIENCE", 4 * SECOND)  # longer than it takes to notice which job it is
    attempts: list[str] = []

    def node(name: str) -> Ostinato:
        app = Ostinato(store_url, lease="1s")

        @app.job()
        async def crunch() -> str:
            attempts.append(name)
            if len(attempts) == 1:
                block_until(lambda: "blocks the event loop" in caplog.text)
                with looking(store_url) as ask:
                    ended = "SELECT count(*) FROM ostinato_runs WHERE status = 'succeeded'"
                    block_until(lambda: ask(ended)[0][0] == 1)
            return name

        return app

    async def main() -> list[tuple[str, Any]]:
        async with node("one") as app:
            run = await app.start("crunch")
            async with beside(node("two")):
                await run.result()
            return [(attempt.status, attempt.result) for attempt in await app.runs(attempts=True)]

    outcomes = asyncio.run(main())
    assert sorted(attempts) == ["one", "two"]
    assert outcomes == [("succeeded", attempts[1]), ("crashed", None)]
    assert "the event loop has been blocked for" in caplog.text
    assert "s by job 'crunch': the lease is not renewed any more" in caplog.text


def test_a_node_that_lost_its_lease_begins_nothing_that_it_had_claimed(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs of one claim are begun one after the other. The first blocks until another node has done them all."""
    monkeypatch.setattr(lease, "PATIENCE", SECOND)
    began: list[tuple[str, int]] = []

    def node(name: str) -> Ostinato:
        app = Ostinato(store_url, lease="1s")

        @app.job()
        async def crunch(n: int) -> None:
            began.append((name, n))
            if len(began) == 1:
                with looking(store_url) as ask:
                    ended = "SELECT count(*) FROM ostinato_runs WHERE status = 'succeeded'"
                    block_until(lambda: ask(ended)[0][0] == 5)

        return app

    async def main() -> None:
        async with node("one") as app:
            runs = await app.start_many("crunch", [{"n": n} for n in range(5)])
            async with beside(node("two")):
                for run in runs:
                    await run.result()

    asyncio.run(main())
    first = began[0]
    assert sorted(began) == sorted([first, *(("two" if first[0] == "one" else "one", n) for n in range(5))])


def test_a_keeper_reports_a_lost_lease_on_the_loop_it_came_from(store_url: str) -> None:
    lost: list[tuple[str, int]] = []

    async def main() -> None:
        store = open_url(store_url)
        await store.open()
        clock = SharedClock(SystemClock())
        time_ = Timekeeper(store, clock, lambda: None)
        await time_.measure()

        async def hear(node: str) -> None:
            lost.append((node, threading.get_ident()))

        keeper = LeaseKeeper(
            clock, SECOND, lambda: "nobody", on_renewal=_refuse, lost=hear, stopping=lambda: bool(lost)
        )

        async def work() -> None:
            async with store.on_this_loop() as beside:
                await keeper.renew(beside, time_.beside(beside, lambda: None))

        await run_on_own_loop(work, "keeper")
        await store.close()

    asyncio.run(main())
    assert lost == [("nobody", threading.get_ident())]


def _refuse(pulse: membership.Pulse, ticks: int) -> None:
    raise AssertionError(f"nobody's lease was renewed: {pulse}")


def test_work_on_its_own_loop_is_cancelled_with_who_waits_for_it() -> None:
    ended: list[bool] = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    async def main() -> None:
        task = asyncio.create_task(run_on_own_loop(work, "own"))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert ended == [True]


def test_an_error_of_work_on_its_own_loop_is_raised_here() -> None:
    async def work() -> None:
        raise ValueError("what went wrong there")

    with pytest.raises(ValueError, match="what went wrong there"):
        asyncio.run(run_on_own_loop(work, "own"))
