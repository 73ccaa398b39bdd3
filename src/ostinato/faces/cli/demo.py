"""`ostinato serve --demo`: the engine and the API on a file, with a few schedules that never stop, seen living in the
terminal. Stop it whenever you like, kill it even; started again, it goes on where it was."""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from ostinato.app import Ostinato
from ostinato.faces.cli.pictures import distance
from ostinato.journeys.views import JourneyStatus
from ostinato.model import Limit, Retry
from ostinato.views import RunInfo
from ostinato.when import cron, every
from ostinato.when.instants import from_datetime

_COLOURS = {
    "succeeded": "green",
    "failed": "red",
    "timed_out": "red",
    "crashed": "red",
    "active": "cyan",
    "ready": "yellow",
    "buffered": "yellow",
    "waiting": "blue",
    "cancelled": "magenta",
    "skipped": "dim",
    "missed": "red",
}
_ORDER = """\
apiVersion: v1
kind: Journey
metadata: {name: order, version: 2.0.0, description: "An order: packed, brought, signed for"}
spec:
  start: packing
  states:
    packing: {type: timer, timer: {duration: PT4S}, next: arrival}
    arrival:
      type: wait
      wait: {channel: manual, input: {schema: {}}, timeoutSec: 600, onTimeout: forgotten}
      next: arrived
    arrived: {type: succeed}
    forgotten: {type: fail, errorCode: NOT_SIGNED_FOR, reason: nobody was at home}
"""


def build(url: str) -> Ostinato:
    """The demo's jobs."""
    app = Ostinato(url, grace="2s", keep_runs="1h", keep_events="1h")
    dice = random.Random()

    @app.job(retry=Retry(attempts=4, delay="1s"))
    async def weather() -> str:
        if dice.random() < 0.25:
            raise ConnectionError("the weather service does not answer")
        return f"{dice.randint(-5, 30)} °C"

    @app.job(timeout="1m")
    async def report(ctx: Any) -> str:
        begin = ctx.saved or 0
        for page in range(begin, 20):
            await asyncio.sleep(0.4)
            await ctx.checkpoint(page + 1)
            await ctx.progress((page + 1) / 20, f"page {page + 1} of 20")
        return f"{20 - begin} pages in this attempt"

    @app.job(serial_key="customer-{customer}", concurrency=Limit("mail", rate=30, per="1m"))
    async def mail(customer: int) -> None:
        await asyncio.sleep(dice.random())

    @app.job()
    async def shop() -> int:
        customers = [{"customer": dice.randint(1, 3)} for _ in range(dice.randint(1, 5))]
        await app.start_many("mail", customers)
        return len(customers)

    @app.job()
    async def sync(ctx: Any) -> str:
        await asyncio.sleep(dice.uniform(1, 9))
        window = f"{ctx.previous:%H:%M:%S} to {ctx.nominal:%H:%M:%S}"
        return f"{window}, for {ctx.coalesced} late ones too" if ctx.coalesced else window

    @app.job()
    async def courier() -> str:
        """Sign for orders, the oldest first; the newest is left for whoever tries the line in the head."""
        waiting = [one for one in await app.journeys.list(name="order", phase="RUNNING", limit=50) if one.steps]
        for order in reversed(waiting[1:]):
            await app.journeys.submit(order.id, "arrival", None)
        return f"{max(0, len(waiting) - 1)} delivered"

    return app


async def schedule(app: Ostinato) -> None:
    """The demo's schedules: each shows another policy. Those that are there already stay as they are."""
    put = app.schedules.upsert
    done, _ = await put("weather", every("5s"), "weather")
    await put("report", every("15s"), "report", overlap="skip")
    if done == "created":  # so that there is something to see at once
        await app.schedules.trigger("weather")
        await app.schedules.trigger("report")
    await put("shop", every("8s", jitter="4s"), "shop", overlap="allow_all")
    await put("sync, one waits", every("4s"), "sync", overlap="buffer_one", catchup="latest")
    await put("sync, newest", every("6s"), "sync", overlap="cancel_other")
    await app.journeys.deploy(_ORDER)
    done, _ = await put("orders", every("9s"), {"journey": "order"}, overlap="allow_all")
    if done == "created":
        await app.schedules.trigger("orders")
    await put("courier", every("10s"), "courier")
    await put("nightly", cron("30 2 * * *", tz="Europe/Berlin"), "report", catchup="1h")


async def show(app: Ostinato, stop: asyncio.Event, address: str) -> None:
    """Draw the demo until it is to stop."""
    console = Console()
    with _screen(console) as draw:
        while not stop.is_set():
            draw(await picture(app, address, console.height))
            await _wait(stop, 0.5 if sys.stdout.isatty() else 2)


async def _wait(stop: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await stop.wait()
    except TimeoutError:
        pass


@contextmanager
def _screen(console: Console) -> Iterator[Any]:
    """A page that is drawn over where there is a terminal, and printed one below the other where there is none."""
    if not console.is_terminal:
        yield console.print
        return
    with Live(console=console, screen=True, auto_refresh=False) as live:
        yield lambda page: live.update(page, refresh=True)


_SMALL = 24  # lines of the smallest terminal that it is drawn for
_SCHEDULES = 9  # of the demo


async def picture(app: Ostinato, address: str, height: int = _SMALL) -> RenderableType:
    """The schedules and what became of their times, the newest runs, journeys, what is to come: as much of each as has
    room in `height` lines."""
    spare = max(0, height - _SMALL)
    counts = await app.counts()
    now = app.engine.clock.now()
    head = Text("  ", no_wrap=True, overflow="ellipsis").join(
        Text(f"{status} {count}", style=_COLOURS.get(status, "")) for status, count in sorted(counts.items())
    )
    runs = [run for run in await app.runs(limit=40) if run.status not in ("skipped", "missed")][: 4 + spare // 2]
    orders = await app.journeys.list(limit=2 + min(4, spare // 4))
    return Group(
        Text(f"Ostinato on {address}", style="bold cyan"),
        head,
        _try_it(address, orders),
        await _schedules(app),
        _runs(runs),
        _journeys(orders),
        await _coming(app, now),
        Text("Ctrl-C stops it in good order. Kill it, if you like: it goes on where it was.", style="dim"),
    )


def _try_it(address: str, orders: list[JourneyStatus]) -> Text:
    """A whole line for a shell: answer an order that waits, or run something now."""
    waiting = next((one for one in orders if one.steps), None)
    path = f"/journeys/{waiting.id}/steps/{waiting.steps[0]}" if waiting else "/schedules/report/trigger"
    return Text(f"try   curl -X POST \\\n  {address}/api/v1{path}", style="bold", overflow="fold")


def _listing(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, expand=True, header_style="dim")
    for column in columns[:-1]:
        table.add_column(column, no_wrap=True)
    table.add_column(columns[-1], no_wrap=True, ratio=1)
    return table


async def _schedules(app: Ostinato) -> Table:
    table = _listing("schedule", "when", "overlap", "its latest times")
    for one in await app.schedules.list(limit=_SCHEDULES):
        recent = Text()
        for occurrence in reversed(await app.schedules.history(one.name, limit=24)):
            mark = "·" if occurrence.status in ("skipped", "missed") else "■"
            recent.append(mark, style=_COLOURS.get(occurrence.status, ""))
        words = one.words if len(one.words) <= _WORDS else f"{one.words[: _WORDS - 1]}…"
        table.add_row(one.name, words, one.policies.overlap.value, recent)
    return table


_WORDS = 27


def _journeys(orders: list[JourneyStatus]) -> Table:
    table = _listing("journey", "phase", "state", "id")
    for one in orders:
        colour = {"RUNNING": "blue", "SUCCEEDED": "green"}.get(one.phase, "red")
        table.add_row(one.name, Text(one.phase.lower(), style=colour), one.current_state, one.id)
    return table


async def _coming(app: Ostinato, now: int) -> Text:
    found = await app.schedules.upcoming(3)
    told = [f"{one.schedule} in {distance(from_datetime(one.at) - now)}" for one in found]
    return Text.assemble(("to come  ", "dim"), (", ".join(told), "green"), no_wrap=True, overflow="ellipsis")


def _runs(runs: list[RunInfo]) -> Table:
    table = _listing("newest runs", "status", "attempt", "took", "what")
    for run in runs:
        took = ""
        if run.started is not None and run.finished is not None:
            took = f"{(from_datetime(run.finished) - from_datetime(run.started)) / 1000:.0f} ms"
        table.add_row(
            run.name, Text(run.status, style=_COLOURS.get(run.status, "")), str(run.attempt), took, _what(run)
        )
    return table


def _what(run: RunInfo) -> RenderableType:
    if run.status == "active" and isinstance(run.progress, dict):
        bar = Table.grid(padding=(0, 1))
        bar.add_row(ProgressBar(total=1.0, completed=run.progress["done"], width=20), run.progress["note"])
        return bar
    return Text(str(run.reason or ("" if run.result is None else run.result))[:60])
