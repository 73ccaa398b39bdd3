"""`ostinato serve --demo`: run a few schedules, journeys, a workflow and an agent, and draw them in the terminal.

The demo may be killed at any time. When it is started again, it continues where it was.
"""

from __future__ import annotations

import asyncio
import importlib.util
import random
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from ostinato.app import Ostinato
from ostinato.engine.http.egress import EgressPolicy
from ostinato.engine.listeners import wait_for_event
from ostinato.errors import Conflict
from ostinato.faces.cli.console import SafeConsole
from ostinato.faces.cli.output import COLOURS
from ostinato.faces.cli.pictures import distance
from ostinato.flows import ConsoleTransport
from ostinato.journeys.api.views import JourneyStatus
from ostinato.model import Limit, Retry
from ostinato.run_views import RunInfo
from ostinato.when import cron, every
from ostinato.when.instants import from_datetime

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


def _example(example: str, name: str) -> ModuleType:
    """Load a module of an example. In the installed package, the examples are in the folder of this file. In a clone of
    the repository, they are in `examples/`."""
    here = Path(__file__)
    folders = (here.with_name(example), here.parents[4] / "examples" / example)
    file = next(folder for folder in folders if folder.is_dir()) / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"ostinato_demo_{example}_{name}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def services() -> Any:
    """Return the services that the demo's workflow uses: a mailbox and a sheet. Both are empty. The services run inside
    a `with` block."""
    # The mails are numbered from the current time on, so that the numbers increase when the demo is started again.
    return _example("inbox", "services").Services([], first=int(time.time()))


def build(url: str, services: Any) -> Ostinato:
    """Return the demo's app, with its jobs and its agent. One job puts mails into the mailbox of `services`."""
    own_services = EgressPolicy(allow=("127.0.0.1/32",))
    app = Ostinato(url, grace="2s", keep_runs="1h", keep_events="1h", egress=own_services)
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
        services.mails.append(f"{len(customers)} ordered")
        return len(customers)

    @app.job()
    async def sync(ctx: Any) -> str:
        await asyncio.sleep(dice.uniform(1, 9))
        window = f"{ctx.previous:%H:%M:%S} to {ctx.nominal:%H:%M:%S}"
        return f"{window}, for {ctx.coalesced} late ones too" if ctx.coalesced else window

    @app.job()
    async def courier() -> str:
        """Answer all waiting orders except the newest. The user can answer the newest order with the command on the
        screen."""
        waiting = [one for one in await app.journeys.list(name="order", phase="RUNNING", limit=50) if one.steps]
        for order in reversed(waiting[1:]):
            await app.journeys.submit(order.id, "arrival", None)
        return f"{max(0, len(waiting) - 1)} delivered"

    _example("buddy", "buddy").declare(app, ConsoleTransport(lambda line: None))

    @app.job()
    async def learner(ctx: Any) -> str:
        """Play two people: the user, who talks with the agent `buddy`, and the teacher, who approves or rejects what
        the agent asks."""
        teacher = app.within(app.namespace, "local").agents
        for question in await teacher.escalations("buddy"):
            with suppress(Conflict):  # another person has decided it meanwhile
                await teacher.resolve("buddy", question.id, dice.random() < 0.7)
        said = dice.choice(("hello", "bread", "check in", "12"))
        turn = await app.agents.receive("buddy", "ada", said, id=ctx.run_id)
        outcome = await turn.outcome("20s")
        return f"{said}: {outcome.reason or outcome.outcome}"

    return app


async def schedule(app: Ostinato, services: Any) -> None:
    """Create or update the demo's schedules, each with a different policy. Deploy the demo's journey and workflow."""
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
    done, _ = await put("learner", every("7s"), "learner", overlap="skip")
    if done == "created":
        await app.schedules.trigger("learner")
    inbox = _example("inbox", "workflow")
    often = {"check_every": "5s", "min_interval": "1s", "backoff_first": "2s"}
    await app.workflows.deploy(inbox.declare(app, services.url, services.url, inbox.send_by_httpx, **often))
    await put("nightly", cron("30 2 * * *", tz="Europe/Berlin"), "report", catchup="1h")


async def show(app: Ostinato, stop: asyncio.Event, address: str) -> None:
    console = SafeConsole()
    with _screen(console) as draw:
        while not stop.is_set():
            draw(await picture(app, address, console.height))
            await wait_for_event(stop, 0.5 if sys.stdout.isatty() else 2)


@contextmanager
def _screen(console: Console) -> Iterator[Any]:
    """Yield a function that draws a page. In a terminal, each page replaces the previous one."""
    if not console.is_terminal:
        yield console.print
        return
    with Live(console=console, screen=True, auto_refresh=False) as live:
        yield lambda page: live.update(page, refresh=True)


_SMALL = 24  # lines of the smallest terminal that the page fits
_SCHEDULES = 9  # the number of schedules of the demo


async def picture(app: Ostinato, address: str, height: int = _SMALL) -> RenderableType:
    """Return the page of the demo, with as many rows as fit into `height` lines."""
    spare = max(0, height - _SMALL)
    counts = await app.counts(attempts=False)
    now = app.engine.clock.now()
    head = Text("  ", no_wrap=True, overflow="ellipsis").join(
        Text(f"{status} {count}", style=COLOURS.get(status, "")) for status, count in sorted(counts.items())
    )
    runs = [run for run in await app.runs(limit=40) if run.status not in ("skipped", "missed")][: 2 + spare // 2]
    orders = await app.journeys.list(limit=2 + min(4, spare // 4))
    return Group(
        Text(f"Ostinato on {address}", style="bold cyan"),
        head,
        _try_it(address, orders),
        await _schedules(app),
        _runs(runs),
        _journeys(orders),
        await _workflow(app),
        await _agent(app),
        await _coming(app, now),
        Text("Ctrl-C stops it in good order. Kill it, if you like: it goes on where it was.", style="dim"),
    )


def _try_it(address: str, orders: list[JourneyStatus]) -> Text:
    """Return a complete shell command to try: it answers a waiting order, or triggers a schedule."""
    waiting = next((one for one in orders if one.steps), None)
    path = f"/journeys/{waiting.id}/steps/{waiting.steps[0]}" if waiting else "/schedules/report/trigger"
    return Text(f"try   curl -X POST \\\n{address}/api/v1{path}", style="bold", overflow="fold")


def _listing(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, expand=True, header_style="dim")
    for column in columns[:-1]:
        table.add_column(column, no_wrap=True)
    table.add_column(columns[-1], no_wrap=True, ratio=1)
    return table


async def _schedules(app: Ostinato) -> Table:
    table = _listing("schedule", "when", "overlap", "its latest times")
    for schedule in await app.schedules.list(limit=_SCHEDULES):
        recent = Text()
        for occurrence in reversed(await app.schedules.history(schedule.name, limit=24)):
            mark = "·" if occurrence.status in ("skipped", "missed") else "■"
            recent.append(mark, style=COLOURS.get(occurrence.status, ""))
        words = schedule.words if len(schedule.words) <= _WORDS else schedule.words.partition(", ")[0]  # no jitter
        table.add_row(schedule.name, words, schedule.policies.overlap.value, recent)
    return table


_WORDS = 27


def _journeys(orders: list[JourneyStatus]) -> Table:
    table = _listing("journey", "phase", "state", "id")
    for order in orders:
        colour = {"RUNNING": "blue", "SUCCEEDED": "green"}.get(order.phase, "red")
        table.add_row(order.name, Text(order.phase.lower(), style=colour), order.current_state, order.id)
    return table


async def _workflow(app: Ostinato) -> Text:
    """Return a line with the state of the inbox workflow and its last activity."""
    inbox = await app.workflows.get("inbox", recent=1)
    colour = {"Needs attention": "red", "Running": "blue"}.get(inbox.status, "green")
    words = (inbox.issue or " · ".join((*inbox.activity, inbox.timing))).replace("\n", " ")
    parts = (("workflow  ", "dim"), f"{inbox.name} ", (inbox.status, colour), f"  {words}")
    return Text.assemble(*parts, no_wrap=True, overflow="ellipsis")


async def _agent(app: Ostinato) -> Text:
    """Return a line with the last messages between the buddy agent and its user."""
    sessions = await app.agents.sessions("buddy", limit=1)
    messages = await app.agents.messages(sessions[0].id, limit=2) if sessions else []
    words = " · ".join(f"{message.role}: {message.text}" for message in reversed(messages)).replace("\n", " ")
    return Text.assemble(
        ("agent  ", "dim"), "buddy ", words or "nobody has talked yet", no_wrap=True, overflow="ellipsis"
    )


async def _coming(app: Ostinato, now: int) -> Text:
    times = await app.schedules.upcoming(3)
    words = [f"{one.schedule} in {distance(from_datetime(one.at) - now)}" for one in times]
    return Text.assemble(("to come  ", "dim"), (", ".join(words), "green"), no_wrap=True, overflow="ellipsis")


def _runs(runs: list[RunInfo]) -> Table:
    table = _listing("newest runs", "status", "attempt", "took", "what")
    for run in runs:
        took = ""
        if run.started is not None and run.finished is not None:
            took = f"{(from_datetime(run.finished) - from_datetime(run.started)) / 1000:.0f} ms"
        table.add_row(run.name, Text(run.status, style=COLOURS.get(run.status, "")), str(run.attempt), took, _what(run))
    return table


def _what(run: RunInfo) -> RenderableType:
    if run.status == "active" and isinstance(run.progress, dict):
        bar = Table.grid(padding=(0, 1))
        bar.add_row(ProgressBar(total=1.0, completed=run.progress["done"], width=20), run.progress["note"])
        return bar
    return Text(str(run.reason or ("" if run.result is None else run.result))[:60])
