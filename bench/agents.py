"""Campaigns of agents: recipients per second through the whole pipeline against plain runs per second on the same
store, memory while a large campaign is sent, and how late reminders are meanwhile.

The model and the transport do nothing, so what is measured is Ostinato. A plain run is a job that does nothing, from
the first start to the last end. A recipient is a session that the campaign opens, a turn through all stages, a message
that is committed, sent and settled, and the outcome in the recipient's row. A reminder is a scheduled turn for a user
who is not in the campaign; it is late from its acceptance to its message.

How many recipients: `OSTINATO_BENCH_RECIPIENTS` (default 2,000). For the memory, an audience of
`OSTINATO_BENCH_AUDIENCE` (default 100,000) is frozen, and sent to for `OSTINATO_BENCH_SECONDS` (default 60).
"""

from __future__ import annotations

import asyncio
import os
import resource
import statistics
import time
from typing import Any

from bench.measure import machine, settled, show
from bench.stores import Fresh, postgres, settings_of, sqlite
from ostinato import Ostinato
from ostinato.flows import ModelReply, TurnInput
from ostinato.flows.model import UserRecord
from ostinato.flows.store import statement, user_row
from ostinato.store.contract import Operation

ROUNDS = 3
RECIPIENTS = int(os.environ.get("OSTINATO_BENCH_RECIPIENTS", "2000"))
AUDIENCE = int(os.environ.get("OSTINATO_BENCH_AUDIENCE", "100000"))
SECONDS = float(os.environ.get("OSTINATO_BENCH_SECONDS", "60"))
BAR = 0.25  # of plain runs
MEMORY_BAR = 32 << 10  # KiB that a campaign of any size may take
LATE_BAR = 1.0  # seconds
_CALLERS = 200


class Silence:
    """A transport that delivers nothing, at once. `sent` is when each user got a message, of those it is asked for."""

    idempotent = True

    def __init__(self) -> None:
        self.sent: dict[str, float] = {}

    async def send(self, message: Any, egress: Any) -> str | None:
        if message.user.startswith("reminded"):
            self.sent[message.user] = time.perf_counter()
        return None


class Echo:
    """A model that answers at once."""

    async def complete(self, request: Any, egress: Any) -> ModelReply:
        return ModelReply("hello")


def make_app(url: str) -> tuple[Ostinato, Silence]:
    app, transport = Ostinato(url), Silence()
    app.agent("buddy", timezone="UTC", model=Echo(), transport=transport)

    @app.job()
    async def nothing() -> None: ...

    return app, transport


async def add_users(app: Ostinato, count: int, prefix: str = "u") -> None:
    """Add users below the API, in batches."""
    now = app.engine.clock.now()
    for begin in range(0, count, 1000):
        names = [f"{prefix}{number:07}" for number in range(begin, min(count, begin + 1000))]
        rows = [user_row(UserRecord(name, "default", "buddy", name, name, created=now, updated=now)) for name in names]

        def insert(_: int, rows: list[Any] = rows) -> Operation[None]:
            yield statement("insert_agent_users", rows)

        await app.store.run(insert)


async def send(app: Ostinato, **options: Any) -> Any:
    return await app.agents.campaigns("buddy").send(
        {"type": "custom_query", "query": "not data.reminded = true"},
        metadata={"prompt": "Say hello."},
        allow_session_bootstrap=True,
        confirmed=True,
        **options,
    )


async def plain(url: str) -> float:
    """Plain runs per second."""
    app, _ = make_app(url)
    room = asyncio.Semaphore(_CALLERS)

    async def start() -> None:
        async with room:
            await (await app.start("nothing")).result()

    async with app:
        settled()
        begin = time.perf_counter()
        await asyncio.gather(*(start() for _ in range(RECIPIENTS)))
        return RECIPIENTS / (time.perf_counter() - begin)


async def campaign(url: str) -> float:
    """Recipients per second, from the call to the end of the campaign."""
    app, _ = make_app(url)
    async with app:
        await add_users(app, RECIPIENTS)
        settled()
        begin = time.perf_counter()
        ended = await (await send(app, in_flight=100)).outcome()
        seconds = time.perf_counter() - begin
        assert ended.counts == {"success": RECIPIENTS}, ended
    return RECIPIENTS / seconds


async def reminders(url: str, count: int = 40) -> tuple[float, float]:
    """Median and worst seconds from the acceptance of a reminder to its message, while a campaign is sent."""
    app, transport = make_app(url)
    async with app:
        await add_users(app, RECIPIENTS)
        for number in range(count):
            await app.agents.put_user("buddy", f"reminded{number}", data={"reminded": True})
        sent = await send(app)
        await asyncio.sleep(1)
        begun: dict[str, float] = {}
        for number in range(count):
            user = f"reminded{number}"
            begun[user] = time.perf_counter()
            await app.agents.run_turn("buddy", TurnInput(user=user, source="scheduled", key="r", bootstrap=True))
            await asyncio.sleep(0.1)
        while len(transport.sent) < count:
            await asyncio.sleep(0.05)
        assert (await app.agents.campaigns("buddy").get(sent.id)).status == "sending", "the campaign was too short"
        await app.agents.campaigns("buddy").stop(sent.id)
        await sent.outcome()
    late = [transport.sent[user] - moment for user, moment in begun.items()]
    return statistics.median(late), max(late)


async def memory(url: str) -> tuple[float, int, int]:
    """Users per second while an audience is frozen, and KiB of memory that this and then sending take."""
    app, _ = make_app(url)
    async with app:
        await add_users(app, AUDIENCE)
        await add_users(app, 1, "warm")
        settled()
        before = resident()
        begin = time.perf_counter()
        sent = await send(app)
        while (await app.agents.campaigns("buddy").list())[0].resolved is None:
            await asyncio.sleep(0.1)
        rate = AUDIENCE / (time.perf_counter() - begin)
        await asyncio.sleep(SECONDS / 3)
        frozen = resident()
        await asyncio.sleep(SECONDS * 2 / 3)
        after = resident()
        await app.agents.campaigns("buddy").stop(sent.id)
        await sent.outcome()
    return rate, frozen - before, after - frozen


def resident() -> int:
    """KiB of this process in memory."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * resource.getpagesize() // 1024
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def measure(store: str, fresh: Fresh) -> bool:
    runs, recipients = [], []
    for _ in range(ROUNDS):
        runs.append(asyncio.run(plain(fresh())))
        recipients.append(asyncio.run(campaign(fresh())))
    ratio = statistics.median(mine / theirs for mine, theirs in zip(recipients, runs, strict=True))
    good = ratio >= BAR
    show(f"\n{store}\n  {'plain runs':44}{statistics.median(runs):9,.0f}/s")
    show(
        f"  {'recipients of a campaign':44}{statistics.median(recipients):9,.0f}/s  {ratio:6.2f} of plain runs"
        f"   bar {BAR}: {_verdict(good)}"
    )
    middle, worst = asyncio.run(reminders(fresh()))
    met = worst <= LATE_BAR
    show(
        f"  {'a reminder meanwhile is late by':44}{middle * 1000:9,.0f} ms, at worst {worst * 1000:,.0f} ms"
        f"   bar {LATE_BAR:.0f} s: {_verdict(met)}"
    )
    good = good and met
    rate, frozen, grown = asyncio.run(memory(fresh()))
    met = grown <= MEMORY_BAR
    show(f"  {f'{AUDIENCE:,} users frozen':44}{rate:9,.0f}/s, with {frozen / 1024:,.1f} MiB")
    show(f"  {f'memory after {SECONDS:.0f} s of sending':44}{grown / 1024:+9,.1f} MiB   bar 32 MiB: {_verdict(met)}")
    return good and met


def _verdict(met: bool) -> str:
    return "met" if met else "MISSED"


def main() -> bool:
    show(f"== agents: campaigns of {RECIPIENTS:,} recipients; medians of {ROUNDS} interleaved rounds ==")
    show(machine("ostinato", "asyncpg"))
    show(f"  load of the machine before it began: {os.getloadavg()[0]:.1f}")
    with sqlite() as fresh:
        good = measure("SQLite (WAL, synchronous=FULL)", fresh)
    with postgres() as fresh:
        good = measure(f"PostgreSQL: {asyncio.run(settings_of(fresh()))}", fresh) and good
    show("  What limits: a turn is six recorded steps and four transactions of its session.")
    return good
