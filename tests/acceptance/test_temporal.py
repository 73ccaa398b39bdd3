"""The wire as a process: clients of two versions, many at once, a server that is killed, TLS and tokens, and moving
schedules from one to another."""

from __future__ import annotations

import asyncio
import json
import random
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import trustme
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest
from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    ScheduleSpec,
)
from temporalio.common import SearchAttributeKey, SearchAttributePair, TypedSearchAttributes
from temporalio.service import RetryConfig, RPCError, RPCStatusCode, TLSConfig
from typer.testing import CliRunner, Result

from ostinato import Ostinato
from ostinato.faces.cli.main import app as cli
from tests.support.serving import Serving, ostinato

ROOT = Path(__file__).parents[2]
OLDER = ROOT / ".venv-temporal-1.34" / "bin" / "python"
JOBS = """
import asyncio

from typer.testing import CliRunner, Result

from ostinato import Ostinato
from ostinato.faces.cli.main import app as cli

app = Ostinato("sqlite:///jobs.db", queues=("default", "reports"))


@app.job()
async def report(region: str, times: int = 1) -> str:
    return f"{region} {times}"


@app.job(name="MyWorkflow")
async def mine() -> str:
    return "mine"


@app.job()
async def broken() -> None:
    raise ValueError("no")


@app.job()
async def nap() -> None:
    await asyncio.sleep(600)


@app.function()
async def collect(ctx, count: int) -> list:
    items = []
    while len(items) < count:
        ctx.set_state({"items": len(items)})
        items.append(await ctx.receive("item"))
    return items
"""
DAILY = ScheduleSpec(intervals=[ScheduleIntervalSpec(timedelta(days=1))])


def folder_with_jobs(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "jobs.py").write_text(JOBS)
    return folder


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    folder = folder_with_jobs(tmp_path_factory.mktemp("wire"))
    with Serving(folder, "serve", "--app", "jobs:app", "--port", "0", "--temporal", "127.0.0.1:0") as serving:
        assert serving.wire
        yield serving
        assert serving.stop() == 0, "".join(serving.said)
        said = "".join(serving.said)  # the job `broken` fails on purpose; nothing else may
        assert said.count("Traceback") == said.count("job 'broken' failed"), said


def report(id: str = "report") -> ScheduleActionStartWorkflow:
    return ScheduleActionStartWorkflow("report", "north", id=id, task_queue="reports")


@pytest.mark.parametrize("python", [sys.executable, str(OLDER)], ids=["newest", "1.34"])
def test_somebody_who_knows_temporal(server: Serving, python: str) -> None:
    """Every schedule method, the usage examples, runs and a worker, by clients of two versions."""
    assert Path(python).exists(), "make .venv-temporal-1.34/ready"
    script = str(ROOT / "tests" / "acceptance" / "temporal_client.py")
    prefix = "older" if python == str(OLDER) else "newest"
    done = subprocess.run([python, script, server.wire, prefix], capture_output=True, text=True, timeout=100)
    assert done.stdout.strip() == "all of it worked", done.stdout + done.stderr
    version = subprocess.run(
        [python, "-c", "import temporalio.service; print(temporalio.service.__version__)"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert version.stdout.startswith("1.34.") == (prefix == "older")


def test_many_clients_at_once(server: Serving) -> None:
    async def one(number: int) -> bool:
        client = await Client.connect(server.wire)
        try:
            await client.create_schedule(f"many-{number % 5}", Schedule(report(), spec=DAILY))
            won = True
        except ScheduleAlreadyRunningError:
            won = False
        handle = client.get_schedule_handle(f"many-{number % 5}")
        await handle.trigger(overlap=ScheduleOverlapPolicy.ALLOW_ALL)
        await handle.describe()
        assert await client.execute_workflow("report", "x", id=f"many-{number}", task_queue="reports") == "x 1"
        return won

    async def all_of_them() -> None:
        won = await asyncio.gather(*(one(number) for number in range(25)))
        assert sum(won) == 5
        client = await Client.connect(server.wire)
        for number in range(5):
            assert (await client.get_schedule_handle(f"many-{number}").describe()).info.num_actions == 5

    asyncio.run(all_of_them())


def test_a_server_that_is_killed_does_each_thing_once(tmp_path: Path) -> None:
    """kill -9 while clients call and try again: every call succeeds in the end, and has one effect."""
    folder = folder_with_jobs(tmp_path)
    port = free_port()
    args = ("serve", "--app", "jobs:app", "--port", "0", "--temporal", f"127.0.0.1:{port}")
    patient = RetryConfig(
        initial_interval_millis=50, max_interval_millis=300, max_elapsed_time_millis=90_000, max_retries=500
    )
    count = 24

    async def work(serving: list[Serving]) -> None:
        client = await Client.connect(serving[0].wire, retry_config=patient)
        done = 0

        async def one(number: int) -> None:
            nonlocal done
            handle = await client.create_schedule(f"s{number}", Schedule(report(f"r{number}"), spec=DAILY))
            await handle.trigger(overlap=ScheduleOverlapPolicy.ALLOW_ALL)
            await handle.pause(note="done")
            await client.start_workflow("nap", id=f"w{number}", task_queue="reports")
            done += 1

        async def killing() -> None:
            dice = random.Random(7)
            for _ in range(3):
                before = done
                while done == before and done < count:
                    await asyncio.sleep(0.005)
                await asyncio.sleep(dice.random() * 0.03)
                await asyncio.to_thread(serving[-1].kill)
                serving.append(await asyncio.to_thread(Serving, folder, *args))

        room = asyncio.Semaphore(4)

        async def bounded(number: int) -> None:
            async with room:
                await one(number)

        await asyncio.gather(killing(), *(bounded(number) for number in range(count)))
        assert serving[-1].wire
        for number in range(count):
            description = await client.get_schedule_handle(f"s{number}").describe()
            assert description.info.num_actions == 1
            assert description.raw_description.conflict_token == (3).to_bytes(8, "little")  # created, triggered, paused
        naps = [one.id async for one in client.list_workflows("WorkflowType = 'nap'")]
        assert sorted(naps) == sorted(f"w{number}" for number in range(count))
        assert (await client.count_workflows("WorkflowType = 'report'")).count == count

    serving: list[Serving] = [Serving(folder, *args)]
    try:
        asyncio.run(work(serving))
        assert len(serving) == 4
    finally:
        for server in serving:
            server.kill()
            server.__exit__(None, None, None)


def test_tls_and_tokens(tmp_path: Path) -> None:
    folder = folder_with_jobs(tmp_path)
    authority = trustme.CA()
    certificate = authority.issue_cert("localhost")
    certificate.private_key_pem.write_to_path(str(folder / "key.pem"))
    certificate.cert_chain_pems[0].write_to_path(str(folder / "cert.pem"))
    authority.cert_pem.write_to_path(str(folder / "ca.pem"))
    done = ostinato(folder, "token", "create", "--role", "operator", "--store", "sqlite:///jobs.db", "--json")
    token = json.loads(done.stdout)["token"]
    args = ("--tls-certificate", "cert.pem", "--tls-key", "key.pem", "--require-token")
    with Serving(folder, "serve", "--app", "jobs:app", "--port", "0", "--temporal", "localhost:0", *args) as server:
        trusted = TLSConfig(server_root_ca_cert=(folder / "ca.pem").read_bytes())

        async def talk() -> None:
            client = await Client.connect(server.wire, tls=trusted, api_key=token)
            assert await client.execute_workflow("report", "x", id="w", task_queue="reports") == "x 1"
            stranger = await Client.connect(server.wire, tls=trusted)
            with pytest.raises(RPCError) as error:
                await stranger.create_schedule("s", Schedule(report(), spec=DAILY))
            assert error.value.status is RPCStatusCode.UNAUTHENTICATED
            with pytest.raises(RuntimeError):
                await Client.connect(server.wire, api_key=token, tls=False)

        asyncio.run(talk())
        moved = ostinato(
            folder,
            "import",
            "temporal",
            server.wire,
            "--tls-ca",
            "ca.pem",
            "--api-key",
            token,
            "--store",
            "sqlite:///n.db",
        )
        assert moved.returncode == 0, moved.stderr
        assert "nothing to move" in moved.stdout
        assert server.stop() == 0


def test_schedules_move_from_and_to_a_cluster(server: Serving, tmp_path: Path) -> None:
    """From the wire of one store to another store and back, with a plan first. Their jitter comes with them."""
    colour = SearchAttributeKey.for_keyword("Colour")
    jittered = ScheduleSpec(intervals=[ScheduleIntervalSpec(timedelta(hours=6))], jitter=timedelta(hours=2))
    assert run("namespaces", "create", "blue", "--server", server.address).exit_code == 0
    assert run("namespaces", "create", "green", "--server", server.address).exit_code == 0
    cluster = ("--temporal-namespace", "blue")
    here = ("--store", f"sqlite:///{tmp_path}/other.db")

    async def fill() -> dict[str, Any]:
        client = await Client.connect(server.wire, namespace="blue")
        wanted = AddSearchAttributesRequest(namespace="blue", search_attributes={"Colour": 2})  # type: ignore[dict-item]
        await client.operator_service.add_search_attributes(wanted)
        attributes = TypedSearchAttributes([SearchAttributePair(colour, "red")])
        handle = await client.create_schedule(
            "moving-1", Schedule(report(), spec=jittered), memo={"a": 1}, search_attributes=attributes
        )
        await client.create_schedule("moving-2", Schedule(report(), spec=DAILY))
        description = await handle.describe()
        return {"times": description.info.next_action_times, "raw": description.raw_description}

    source = asyncio.run(fill())
    plan = run("import", "temporal", server.wire, *cluster, *here, "--match", "moving-*", "--json")
    data = json.loads(plan.stdout)
    assert [(one["schedule"], one["verb"]) for one in data["steps"]] == [("moving-1", "create"), ("moving-2", "create")]
    assert data["notes"] == ["search attributes to register here: Colour"]
    assert not data["done"]
    done = run("import", "temporal", server.wire, *cluster, *here, "--match", "moving-*", "--apply")
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (0, "2 created")
    again = run("import", "temporal", server.wire, *cluster, *here, "--match", "moving-*")
    assert "2 unchanged" in again.stdout

    async def look() -> None:
        app = Ostinato(f"sqlite:///{tmp_path}/other.db")
        async with app.connected():
            info = await app.schedules.get("moving-1")
            assert list(info.upcoming) == source["times"]  # to the millisecond
            assert (info.memo, dict(info.attributes)) == ({"a": 1}, {"Colour": "red"})
            await app.schedules.create("beyond", {"cron": ["0 9 L * *"]}, "report")
            await app.schedules.pause("moving-2", "not now")

    asyncio.run(look())

    async def differ() -> None:
        app = Ostinato(f"sqlite:///{tmp_path}/other.db")
        async with app.connected():
            await app.schedules.delete("moving-1")
            await app.schedules.create("moving-1", {"cron": ["0 5 * * *"]}, "report")

    asyncio.run(differ())
    done = run("import", "temporal", server.wire, *cluster, *here, "--match", "moving-1", "--apply")
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (0, "1 updated")
    assert "1 unchanged" in run("import", "temporal", server.wire, *cluster, *here, "--match", "moving-1").stdout

    async def moments() -> None:
        app = Ostinato(f"sqlite:///{tmp_path}/other.db")
        async with app.connected():
            assert list((await app.schedules.get("moving-1")).upcoming) == source["times"]  # its jitter came along

    asyncio.run(moments())
    back = ("--temporal-namespace", "green", *here)
    plan = run("export", "temporal", server.wire, *back, "--json")
    data = json.loads(plan.stdout)
    assert plan.exit_code == 1
    assert {one["schedule"]: one["verb"] for one in data["steps"]} == {
        "beyond": "refuse",
        "moving-1": "create",
        "moving-2": "create",
    }
    assert "a cluster makes its jitter of its own ids" in data["notes"][1]
    done = run("export", "temporal", server.wire, *back, "--apply", "--match", "moving-*")
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (0, "2 created"), done.output

    async def arrived() -> None:
        client = await Client.connect(server.wire, namespace="green")
        description = await client.get_schedule_handle("moving-1").describe()
        assert description.raw_description.schedule == source["raw"].schedule
        assert description.raw_description.memo == source["raw"].memo
        assert description.typed_search_attributes[colour] == "red"
        assert (await client.get_schedule_handle("moving-2").describe()).schedule.state.paused

    asyncio.run(arrived())
    again = run("export", "temporal", server.wire, *back, "--match", "moving-*")
    assert "2 unchanged" in again.stdout
    nowhere = run("import", "temporal", server.wire, "--temporal-namespace", "nowhere", *here)
    assert "refuses: Namespace nowhere is not found" in nowhere.output.replace("\n", " ")
    nobody = run("import", "temporal", f"127.0.0.1:{free_port()}", *here)
    assert nobody.exit_code == 3
    assert "there is no answer from Temporal" in nobody.output


def test_a_place_that_cannot_be_taken(tmp_path: Path) -> None:
    folder = folder_with_jobs(tmp_path)
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        place = f"127.0.0.1:{taken.getsockname()[1]}"
        refused = ostinato(folder, "serve", "--app", "jobs:app", "--port", "0", "--temporal", place)
        assert refused.returncode == 2
        assert "is it in use?" in refused.stderr
    refused = ostinato(folder, "serve", "--app", "jobs:app", "--port", "0", "--temporal", "0.0.0.0:0")
    assert refused.returncode == 2
    assert "there is no token yet" in refused.stderr


def run(*args: str) -> Result:
    """A command, in this process: those of the command line itself are tested elsewhere."""
    return CliRunner().invoke(cli, args)


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
