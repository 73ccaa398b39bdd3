"""Campaigns of agents: recipients per second through the whole pipeline against plain runs per second on the same
store, memory while a large campaign is sent, and how late reminders are meanwhile.

The model and the transport do nothing, so what is measured is Ostinato. A plain run is a job that does nothing, from
the first start to the last end. A recipient is a session that the campaign opens, a turn through all stages, a message
that is committed, sent and settled, and the outcome in the recipient's row. A reminder is a scheduled turn for a user
who is not in the campaign; it is late from its acceptance to its message.

How many recipients: `OSTINATO_BENCH_RECIPIENTS` (default 2,000). For the memory, an audience of
`OSTINATO_BENCH_AUDIENCE` (default 100,000) is frozen and sent to, to the end or for `OSTINATO_BENCH_SECONDS` (default
300); each tenth is printed.
"""

from __future__ import annotations

import asyncio
import math
import os
import resource
import statistics
import time
from dataclasses import dataclass
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
SECONDS = float(os.environ.get("OSTINATO_BENCH_SECONDS", "300"))
BAR = 0.25  # of plain runs
MEMORY_BAR = 32 << 10  # KiB that a campaign of any size may take
LATE_BAR = 1.0  # seconds, for 99 of 100 reminders
_REMINDERS, _BUSY = 100, 20_000  # reminders, and recipients of the campaign meanwhile
_CALLERS = 200


class Silence:
    """A transport that delivers nothing, at once. `count` are its messages. `sent` is when each user got one, of those
    it is asked for."""

    idempotent = True

    def __init__(self) -> None:
        self.count = 0
        self.sent: dict[str, float] = {}

    async def send(self, message: Any, egress: Any) -> str | None:
        self.count += 1
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


async def reminders(url: str, count: int = _REMINDERS) -> tuple[float, float, float]:
    """Seconds from the acceptance of a reminder to its message, while a campaign is sent: the median, what 99 of 100
    take at most, and the worst."""
    app, transport = make_app(url)
    async with app:
        await add_users(app, _BUSY)
        for number in range(count):
            await app.agents.put_user("buddy", f"reminded{number}", data={"reminded": True})
        sent = await send(app)
        while not transport.count:
            await asyncio.sleep(0.1)
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
    late = sorted(transport.sent[user] - moment for user, moment in begun.items())
    return statistics.median(late), late[math.ceil(0.99 * count) - 1], late[-1]


@dataclass(frozen=True)
class Large:
    """A large campaign: users per second while they are frozen, KiB that this takes, recipients that got a message, per
    second, KiB that the last nine tenths of them took, and whether it came to its end."""

    frozen: float
    freezing: int
    sent: int
    rate: float
    grown: int
    ended: bool


async def large(url: str) -> Large:
    app, transport = make_app(url)
    async with app:
        await add_users(app, AUDIENCE)
        settled()
        before = resident()
        begin = time.perf_counter()
        campaign = await send(app, in_flight=100)
        while (await app.agents.campaigns("buddy").list())[0].resolved is None:
            await asyncio.sleep(0.1)
        frozen, freezing = AUDIENCE / (time.perf_counter() - begin), resident() - before
        begin, tenth, first = time.perf_counter(), 1, 0
        ending = asyncio.create_task(campaign.outcome())
        while not ending.done() and time.perf_counter() - begin < SECONDS:
            await asyncio.wait([ending], timeout=0.5)
            if transport.count >= tenth * AUDIENCE / 10:
                first = first or resident()
                seconds = time.perf_counter() - begin
                words = (
                    f"{transport.count:>9,} of {AUDIENCE:,} after {seconds:4.0f} s, {transport.count / seconds:,.0f}/s"
                )
                show(f"    {words}, {resident() / 1024:,.0f} MiB")
                tenth = 1 + transport.count * 10 // AUDIENCE
        rate, ended = transport.count / (time.perf_counter() - begin), ending.done()
        grown = resident() - (first or resident())
        if not ended:
            await app.agents.campaigns("buddy").stop(campaign.id)
        result = await ending
        assert not ended or result.counts == {"success": AUDIENCE}, result
    return Large(frozen, freezing, transport.count, rate, grown, ended)


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
    middle, most, worst = asyncio.run(reminders(fresh()))
    met = most <= LATE_BAR
    show(
        f"  {'a reminder meanwhile is late by':44}{middle * 1000:9,.0f} ms, 99 of 100 by at most {most * 1000:,.0f} ms,"
        f" the worst by {worst * 1000:,.0f} ms   bar {LATE_BAR:.0f} s: {_verdict(met)}"
    )
    good = good and met
    result = asyncio.run(large(fresh()))
    met = result.grown <= MEMORY_BAR
    show(f"  {f'{AUDIENCE:,} users frozen':44}{result.frozen:9,.0f}/s, with {result.freezing / 1024:,.1f} MiB")
    words = "to the end" if result.ended else f"in {SECONDS:.0f} s"
    show(f"  {f'{result.sent:,} of them sent to, {words}':44}{result.rate:9,.0f}/s")
    show(f"  {'memory since the first tenth':44}{result.grown / 1024:+9,.1f} MiB   bar 32 MiB: {_verdict(met)}")
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
    show("  What limits: a recipient is 26 rows, eleven of them events, in three transactions with others.")
    return good
