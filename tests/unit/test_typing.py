"""A user's own type checker knows what jobs return and which words a call takes. `make check` reads this file with
mypy --strict; the mistakes in `WRONG` are shown to mypy when the test runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, assert_type

from mypy import api

from ostinato import (
    Client,
    Context,
    Limit,
    Ostinato,
    Retry,
    RunHandle,
    SyncClient,
    SyncContext,
    SyncOstinato,
    cron,
    every,
)
from ostinato.client import Json
from ostinato.flows.api import Agents
from ostinato.flows.views import SessionInfo
from ostinato.functions import FunctionContext, FunctionHandle, FunctionInfo, StepInfo
from ostinato.functions.api import Functions
from ostinato.journeys.api.changes import Journeys
from ostinato.journeys.api.views import JourneyStatus
from ostinato.run_views import RunInfo
from ostinato.schedules.api.changes import Changed, Schedules
from ostinato.schedules.model import Schedule
from ostinato.schedules.views import ScheduleInfo
from ostinato.sync import (
    SyncAgents,
    SyncFunctionRun,
    SyncFunctions,
    SyncJourneys,
    SyncRun,
    SyncSchedules,
    SyncTurn,
    SyncWebhooks,
    SyncWorkflows,
)
from ostinato.webhooks.api import Webhooks
from ostinato.workflows.api import Workflows
from ostinato.workflows.views.overview import WorkflowDetail

app = Ostinato("sqlite:///:memory:")


@app.job(retry=3, timeout="30s")
async def charge(ctx: Context, account: str, cents: int) -> str:
    await ctx.checkpoint({"seen": account})
    return f"{account} {cents}"


@app.job(retry=Retry(3, delay="5s", longest=timedelta(minutes=5)), concurrency=Limit("words", rate=10, per="1m"))
def count(ctx: SyncContext, words: list[str]) -> int:
    ctx.progress(0.5)
    return len(words)


@app.schedule(cron("0 9 * * 1-5", tz="Europe/Berlin"), overlap="buffer_one", catchup="latest")
async def report() -> None: ...


@app.function
async def onboard(ctx: FunctionContext, user: str) -> list[str]:
    return [user]


async def typed() -> None:
    handle = await app.start(charge, {"account": "ada", "cents": 1}, priority=2)
    assert_type(handle, RunHandle[str])
    assert_type(await handle.result(), str)
    assert_type(await (await app.start(count, {"words": []})).result(), int)
    assert_type(await app.start("charge"), RunHandle[Any])
    await app.schedules.create("c", every("1h"), charge, overlap="skip", input={"account": "ada", "cents": 1})
    await app.schedules.update("c", spec=every("2h"), overlap="allow_all")
    await app.schedules.upsert("d", "0 9 * * *", charge, {"account": "ada", "cents": 1}, tz="Europe/Berlin")
    started = await app.functions.start(onboard, {"user": "ada"}, id="ada", deadline="1h")
    assert_type(started, FunctionHandle[list[str]])
    assert_type(await started.result("5s"), list[str])
    assert_type(await app.functions.start("onboard"), FunctionHandle[Any])
    assert_type(await app.webhooks.deliveries("id", status="failed"), Sequence[RunInfo])


def typed_without_await() -> None:
    with SyncOstinato(app) as sync:
        run = sync.start(charge, {"account": "ada", "cents": 1}, id="once", priority=2)
        assert_type(run, SyncRun[str])
        assert_type(run.result(timeout="5s"), str)
        assert_type(sync.start_many(count, [{"words": []}])[0].result(), int)
        assert_type(sync.start("charge"), SyncRun[Any])
        assert_type(sync.runs(status="failed", limit=5), list[RunInfo])
        assert_type(sync.schedules.create("c", every("1h"), charge, overlap="skip"), Changed)
        assert_type(sync.schedules.list(match="c*", state="paused"), list[ScheduleInfo])
        assert_type(sync.schedules.draft("d", every("1h"), charge), Schedule)
        assert_type(sync.journeys.status("id"), JourneyStatus)
        assert_type(sync.workflows.get("inbox"), WorkflowDetail)
        assert_type(sync.functions.get("id"), FunctionInfo)
        assert_type(sync.functions.start("onboard", {"user": "ada"}, id="ada"), SyncFunctionRun[Any])
        assert_type(sync.functions.start(onboard, {"user": "ada"}).result(), list[str])
        assert_type(sync.functions.list(status="waiting"), Sequence[FunctionInfo])
        assert_type(sync.functions.steps("id"), Sequence[StepInfo])
        assert_type(sync.agents.receive("buddy", "ada", "hello", id="1"), SyncTurn)
        assert_type(sync.agents.sessions("buddy", user="ada"), Sequence[SessionInfo])


def typed_client_without_await() -> None:
    with SyncClient() as client:
        assert_type(client.schedules.pause("c"), Json)
        assert_type(client.schedules.list(match="c*"), list[Json])
        assert_type(client.cancel("id"), str)
        assert_type(client.agents.schedules("buddy").list(), list[Json])


def test_every_call_of_the_client_is_there_without_await() -> None:
    with_await = Client()
    without = SyncClient()
    groups = [(getattr(with_await, name), getattr(without, name)) for name in vars(with_await) if name[0] != "_"]
    groups += [(with_await, without)]
    groups += [(with_await.agents.schedules("a"), without.agents.schedules("a"))]
    groups += [(with_await.agents.campaigns("a"), without.agents.campaigns("a"))]
    for calls, blocking in groups:
        public = {name for name in dir(calls) if not name.startswith("_")}
        assert public == {name for name in dir(blocking) if not name.startswith("_")}


def test_every_call_is_there_without_await() -> None:
    for with_await, without in (
        (Schedules, SyncSchedules),
        (Webhooks, SyncWebhooks),
        (Journeys, SyncJourneys),
        (Workflows, SyncWorkflows),
        (Functions, SyncFunctions),
        (Agents, SyncAgents),
    ):
        of_nodes = {
            "within",
            "settings",
            "deploy_declared",
            "declared_names",
            "fix",
            "codes",
        }  # for the app and its faces
        of_nodes |= {"find", "prepare"} if with_await is Functions else set()
        public = {name for name in dir(with_await) if not name.startswith("_")} - of_nodes
        assert public == {name for name in dir(without) if not name.startswith("_")}


WRONG = """
from ostinato import Ostinato, SyncClient, SyncOstinato, every
app = Ostinato()

@app.job(timeot="5s")
async def one() -> int:
    return 1

async def main() -> None:
    await app.start(one, prority=3)
    word: str = await (await app.start(two)).result()
    await app.schedules.create("c", every("1h"), two, overlap="bufer_one")
    await app.schedules.update("c", over_lap="skip")
    assert (await app.get("c")).status == "succeded"

@app.job
async def two() -> int:
    return 2

with SyncOstinato(app) as sync:
    sync.schedules.create("c", every("1h"), two, overlap="bufer_one")
    sync.schedules.creat("c")
    text: str = sync.start(two).result()
    sync.runs(status="faild")
    sync.schedules.list(state="pausd")
    sync.webhooks.deliveries("id", status="faild")
    other: str = sync.functions.start(three).result()

with SyncClient() as client:
    client.schedules.pauze("c")
    client.schedules.list(matches="c*")

@app.function
async def three() -> int:
    return 3
"""


def test_a_type_checker_finds_a_users_mistakes(tmp_path: Path) -> None:
    script = tmp_path / "user.py"
    script.write_text(WRONG)
    root = Path(__file__).parents[2]  # with the project's own settings, so that what `make check` has read is known
    output, _, _ = api.run(["--config-file", str(root / "pyproject.toml"), str(script)])
    lines = sorted(int(line) for line in re.findall(r"user\.py:(\d+): error", output))
    assert set(lines) >= {5, 10, 11, 12, 13, 14, 21, 22, 23, 24, 25, 26, 27, 30}, output
