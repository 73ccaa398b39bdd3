"""`ostinato serve` and `worker` as processes: they say where they are, end in good order, refuse to begin wrongly."""

from __future__ import annotations

import asyncio
import json
import resource
import signal
import socket
import sqlite3
import ssl
import threading
import time
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
import trustme

from ostinato import Ostinato
from ostinato.client import Client, SyncClient
from ostinato.errors import OstinatoError
from ostinato.faces.http.server import Listening, check_listening
from tests.support.serving import FreshServing, Serving, ostinato, until

JOBS = """
import asyncio
import logging
import threading
import time
import warnings
from ostinato import Ostinato

app = Ostinato("sqlite:///jobs.db")


@app.job()
async def nap(seconds: float) -> str:
    await asyncio.sleep(seconds)
    return "rested"


@app.job()
def block(seconds: float) -> None:
    time.sleep(seconds)


@app.job(queue="mail")
async def send() -> str:
    return "sent"


@app.job()
def in_a_thread() -> None:
    logging.getLogger("shop").info("sold")
    warnings.warn("old ways")
    threading.Thread(target=lambda: 1 / 0, name="lost").start()
    raise ValueError("no luck")


def in_a_child() -> None:
    logging.getLogger("shop").warning("sold elsewhere")
    warnings.warn("older ways")


app.job(process=True)(in_a_child)
logging.basicConfig(format="of its own: %(message)s")
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "jobs.py").write_text(JOBS)
    return tmp_path


def wait_for_status(client: Any, id: str, *wanted: str) -> dict[str, Any]:
    def look() -> dict[str, Any] | None:
        run: dict[str, Any] = client.run(id)
        return run if run["status"] in wanted else None

    return until(look, f"run {id} {wanted}")


def test_engine_and_api_in_one_process(folder: Path) -> None:
    with FreshServing(folder, "serve", "--app", "jobs:app", "--port", "0") as server:
        assert server.address.startswith("http://127.0.0.1:")
        with SyncClient(server.address) as client:
            assert client.ready()["status"] == "ok"
            run = client.start("nap", {"seconds": 0})
            assert wait_for_status(client, run["id"], "succeeded")["result"] == "rested"
            (node,) = client.nodes()
            assert node["alive"]
            assert "nap" in node["jobs"]
        assert (folder / "jobs.db").exists()  # the app's own store
        assert server.stop() == 0


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_good_order(folder: Path, how: signal.Signals) -> None:
    with Serving(folder, "serve", "--app", "jobs:app", "--port", "0", "--linger", "2s") as server:
        address = server.address
        with SyncClient(address, patience=0) as client, httpx.Client(timeout=60) as http:
            run = client.start("nap", {"seconds": 4})
            wait_for_status(client, run["id"], "active")
            with http.stream("GET", f"{address}/api/v1/events/stream") as stream:
                lines = stream.iter_lines()
                assert next(lines) == "retry: 1000"
                server.process.send_signal(how)
                assert until(lambda: client.ready()["status"] != "ok", "not ready")
                assert http.get(f"{address}/api/v1/health/ready").status_code == 503
                assert client.start("nap", {"seconds": 0})["new"]  # what is sent while it lingers is done
                for _ in lines:
                    pass  # the stream comes to its end by itself
        assert server.ended() == 0
        assert not any("Traceback" in line for line in server.said)
    assert asyncio.run(status(folder, run["id"])) == "succeeded"  # it was let finish


async def status(folder: Path, id: str) -> str:
    app = Ostinato(f"sqlite:///{folder}/jobs.db")
    async with app.connected():
        assert await app.nodes() == ()  # the node has left
        return (await app.get(id)).status


@pytest.mark.parametrize(("how", "job"), [(signal.SIGTERM, "nap"), (signal.SIGINT, "block")])
def test_a_second_signal_is_not_patient(folder: Path, how: signal.Signals, job: str) -> None:
    with Serving(folder, "serve", "--app", "jobs:app", "--port", "0", "--grace", "10m") as server:
        with SyncClient(server.address) as client:
            run = client.start(job, {"seconds": 600})
            wait_for_status(client, run["id"], "active")
        server.process.send_signal(how)
        until(lambda: _refused(server.port), "a closed door")
        assert server.process.poll() is None
        assert "stopping: waits up to 600 s for 1 run; press Ctrl-C again to stop at once\n" in server.said
        assert server.stop(how) == -how


def _refused(port: str) -> bool:
    with closing(socket.socket()) as probe:
        return probe.connect_ex(("127.0.0.1", int(port))) != 0


def test_the_api_alone_and_a_worker_beside_it(folder: Path) -> None:
    store = f"sqlite:///{folder}/shared.db"
    with Serving(folder, "serve", "--no-engine", "--port", "0", "--store", store) as server:
        with SyncClient(server.address) as client:
            assert client.nodes() == []
            run = client.start("send", queue="mail")
            assert client.run(run["id"])["status"] == "ready"
            args = ("worker", "--app", "jobs:app", "--store", store, "--queue", "mail", "--concurrency", "3")
            with FreshServing(folder, *args) as worker:
                assert wait_for_status(client, run["id"], "succeeded")["result"] == "sent"
                assert client.nodes()[0]["queues"] == ["mail"]
                assert worker.stop() == 0
            assert any("Ostinato works on" in line for line in worker.said)
        assert server.stop() == 0


def test_logs_as_json_are_json_to_the_last_line(folder: Path) -> None:
    with Serving(folder, "serve", "--app", "jobs:app", "--log-format", "json", "--port", "0") as server:
        address = server.address.rstrip('",)(')
        with SyncClient(address) as client:
            failed, done = client.start("in_a_thread"), client.start("in_a_child")
            wait_for_status(client, failed["id"], "failed")
            wait_for_status(client, done["id"], "succeeded")
            assert [line["message"].split(": ")[-1].splitlines()[0] for line in client.log(failed["id"])] == [
                "sold",
                "old ways",
            ]
            kept = [line["message"] for line in client.log(done["id"])]
            assert kept[0] == "sold elsewhere"
            assert "older ways" in kept[1]
        with socket.create_connection(("127.0.0.1", int(server.port.rstrip('",)(')))) as raw:
            raw.sendall(b"not HTTP\r\n\r\n")
            raw.recv(1000)
        assert server.stop() == 0
    lines = [json.loads(line) for line in server.said]
    (line,) = [one for one in lines if one.get("action") == "listening"]
    assert line["address"] == address
    actions = [one.get("action") for one in lines]
    assert {"node_started", "run_failed", "thread_failed", "node_stopped"} <= set(actions)
    (failure,) = [one for one in lines if one.get("action") == "run_failed"]
    assert failure["exception"].endswith("ValueError: no luck")
    assert {"sold", "sold elsewhere"} <= {one["event"] for one in lines if one["logger"] == "shop"}
    assert sum(one["logger"] == "py.warnings" for one in lines) == 2
    refused = ostinato(folder, "worker", "--app", "jobs:none", "--log-format", "json")
    assert (refused.returncode, json.loads(refused.stderr)["action"]) == (2, "not_started")


def test_a_node_without_jobs_says_so(folder: Path) -> None:
    with Serving(folder, "worker") as worker:
        assert worker.store
        until(lambda: any("It has no jobs of its own: name your app with --app" in line for line in worker.said), "it")
        assert worker.stop() == 0
        assert "stopping\n" in worker.said


def test_an_app_that_was_named_and_has_no_jobs_is_not_asked_for(folder: Path) -> None:
    Path(folder, "bare.py").write_text("from ostinato import Ostinato\napp = Ostinato('sqlite:///bare.db')\n", "utf-8")
    with Serving(folder, "worker", "--app", "bare:app") as worker:
        assert worker.store
        until(lambda: any("It has no jobs of its own. Jobs wait" in line for line in worker.said), "it")
        assert worker.stop() == 0


def test_a_node_names_its_workflows(folder: Path) -> None:
    app = """
from ostinato import Ostinato, every

app = Ostinato("sqlite:///flows.db")
inbox = app.workflow("inbox")
mails = inbox.topic("mails")


@inbox.producer(every("5m"), publishes=mails)
async def poll(ctx, state): ...


@inbox.consumer(mails)
class Take:
    async def prepare(self, ctx, state): ...
"""
    Path(folder, "flows.py").write_text(app, "utf-8")
    with Serving(folder, "worker", "--app", "flows:app") as worker:
        assert worker.store
        until(lambda: any("It has workflow inbox, and no jobs of its own." in line for line in worker.said), "it")
        assert worker.stop() == 0


def test_flags_environment_and_file_in_their_order(folder: Path) -> None:
    (folder / "ostinato.toml").write_text('store = "sqlite:///of-the-file.db"\nport = 0\nrequire_token = true\n')
    environ = {"OSTINATO_STORE": "sqlite:///of-the-environment.db", "OSTINATO_REQUIRE_TOKEN": "false"}
    with Serving(folder, "serve", "--config", "ostinato.toml", "--require-token", **environ) as server:
        assert httpx.get(f"{server.address}/api/v1/nodes", timeout=60).status_code == 401
    with Serving(folder, "serve", "--config", "ostinato.toml", **environ) as server:
        assert httpx.get(f"{server.address}/api/v1/nodes", timeout=60).status_code == 200
    assert {path.name for path in folder.glob("*.db")} == {"of-the-environment.db"}


def test_with_tokens_required_the_command_line_brings_one(folder: Path) -> None:
    done = ostinato(folder, "token", "create", "--role", "operator")
    with Serving(folder, "serve", "--require-token", "--port", "0") as server:
        at = {"OSTINATO_SERVER": server.address}
        without = ostinato(folder, "schedules", "list", **at)
        assert without.returncode == 1
        assert "a token is needed" in without.stderr
        token = done.stdout.strip()
        assert (
            ostinato(folder, "schedules", "create", "a", "every 1h", "send", OSTINATO_TOKEN=token, **at).returncode == 0
        )
        refused = ostinato(folder, "token", "create", "--token", token, **at)
        assert refused.returncode == 1
        assert "this needs the role admin" in refused.stderr


@pytest.fixture
def certificate(folder: Path) -> tuple[str, str, str]:
    """A certificate, its key, and the authority that vouches for it."""
    authority = trustme.CA()
    issued = authority.issue_cert("localhost", "127.0.0.1")
    issued.cert_chain_pems[0].write_to_path(folder / "cert.pem")
    issued.private_key_pem.write_to_path(folder / "key.pem")
    authority.cert_pem.write_to_path(folder / "ca.pem")
    return "cert.pem", "key.pem", "ca.pem"


def test_tls(folder: Path, certificate: tuple[str, str, str]) -> None:
    cert, key, authority = certificate
    with Serving(folder, "serve", "--port", "0", "--tls-certificate", cert, "--tls-key", key) as server:
        assert server.address.startswith("https://")
        trusted = ssl.create_default_context(cafile=str(folder / authority))
        with SyncClient(server.address, verify=trusted) as client:
            assert client.ready()["status"] == "ok"
        at = ("--server", server.address)
        assert ostinato(folder, "nodes", "--json", *at, "--ca", authority).returncode == 0
        distrusted = ostinato(folder, "nodes", *at)
        assert distrusted.returncode == 3
        assert "certificate" in distrusted.stderr.lower()


def test_it_refuses_to_begin_wrongly(folder: Path) -> None:
    (folder / "typo.toml").write_text("prot = 1\n")
    (folder / "odd.py").write_text("app = 5\n")
    (folder / "junk.pem").write_text("junk")
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        for args, message in (
            (("--host", "0.0.0.0"), "reachable from elsewhere, and there is no token yet"),
            (("--host", "nowhere.invalid"), "is reachable from elsewhere"),
            (("--port", port), f"cannot listen on 127.0.0.1, port {port}: it is in use"),
            (("--config", "typo.toml"), "there is no setting 'prot'; did you mean 'port'?"),
            (("--app", "odd:app"), "not an Ostinato"),
            (("--app", "jobs:ap"), "did you mean 'app'?"),
            (("--port", "0", "--tls-certificate", "junk.pem"), "TLS needs both"),
            (("--port", "0", "--tls-certificate", "junk.pem", "--tls-key", "junk.pem"), "cannot be used"),
            (("--demo", "--app", "jobs:app"), "brings its own app"),
            (("--port", "99999"), "is not a number from 0 to 65,535"),
        ):
            done = ostinato(folder, "serve", *args)
            assert done.returncode == 2, (args, done.stdout, done.stderr)
            assert message in done.stderr, (args, done.stderr)
            assert "Traceback" not in done.stderr
            assert "node started" not in done.stderr or "cannot be used" in message


def test_a_token_opens_the_way_beyond_this_machine(folder: Path) -> None:
    async def check() -> None:
        app = Ostinato(f"sqlite:///{folder}/t.db")
        async with app.connected():
            with pytest.raises(OstinatoError, match="there is no token yet"):
                await check_listening(app, Listening(host="0.0.0.0"))
            _, token = await app.create_token("reader")
            await check_listening(app, Listening(host="0.0.0.0"))
            await app.revoke_token(token.id)
            with pytest.raises(OstinatoError, match="there is no token yet"):
                await check_listening(app, Listening(host="::"))

    asyncio.run(check())


@pytest.mark.parametrize("place", ["store", "server"])
def test_events_are_followed_as_they_happen(folder: Path, place: str) -> None:
    with Serving(folder, "serve", "--app", "jobs:app", "--port", "0") as server:
        at = ("--server", server.address) if place == "server" else ("--store", "sqlite:///jobs.db")
        with SyncClient(server.address) as client:
            client.start("nap", {"seconds": 0}, id="before")
            follow = ("events", "--follow", "--json", "--pattern", "run:succeeded", "--after", "0", *at)
            with Serving(folder, *follow) as following:

                def events() -> list[str]:
                    """The lines that are no warnings; a busy machine gets those, too."""
                    return [line for line in following.said if line.startswith("{")]

                until(events, "what was there")
                id = client.start("nap", {"seconds": 0})["id"]
                until(lambda: len(events()) >= 2, "what happened then")
                assert following.stop(signal.SIGINT) == 130
            lines = [json.loads(line) for line in events()]
            assert [one["name"] for one in lines] == ["run:succeeded", "run:succeeded"]
            assert lines[1]["subject"] == id


def test_a_schedule_that_cannot_be_read_is_parked_by_its_node_and_the_doctor_says_so(folder: Path) -> None:
    with Serving(folder, "serve", "--port", "0") as server, SyncClient(server.address) as client:
        assert client.diagnose()["ok"]
        client.schedules.create("spoilt", {"intervals": [{"every": "PT1S"}]}, "nap")

        def parked() -> str:
            finding = {one["name"]: one for one in client.diagnose()["items"]}["parked_schedules"]
            return str(finding["words"]) if finding["state"] == "wrong" else ""

        assert not parked()
        with closing(sqlite3.connect(folder / "ostinato.db", timeout=30)) as connection, connection:
            connection.execute('UPDATE ostinato_schedules SET spec = \'{"cron": ["?"]}\'')
        assert "default/spoilt" in until(parked, "a parked schedule")


def test_a_crowd_of_half_requests_uses_up_no_files_and_writes_no_log(folder: Path) -> None:
    files = 400
    with Serving(folder, "serve", "--port", "0") as server, ExitStack() as lines:
        host, port = server.address.removeprefix("http://").split(":")
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (files, files))
        for _ in range(2 * files):
            line = lines.enter_context(socket.create_connection((host, int(port)), timeout=60))
            line.sendall(b"GET / HTTP/1.1\r\n")
        assert httpx.get(f"{server.address}/api/v1/health/live", timeout=60).status_code == 200
        assert server.stop(signal.SIGTERM) == 0
        assert "system resource" not in "".join(server.said)


def test_killed_again_and_again_while_clients_retry_each_call_takes_effect_once(folder: Path) -> None:
    asyncio.run(killed_again_and_again(folder))


async def killed_again_and_again(folder: Path) -> None:
    calls, kills = 60, 3
    args = ("serve", "--app", "jobs:app", "--grace", "1s")
    server = Serving(folder, *args, "--port", "0")
    address, port = server.address, server.port
    done: list[tuple[str, str]] = []
    try:
        async with Client(address, patience=90) as client:
            await client.schedules.create("often", {}, "nap", input={"seconds": 0}, overlap="allow_all")

            async def call(n: int) -> None:
                if n % 3 == 0:
                    done.append(("start", (await client.start("nap", {"seconds": 0}))["id"]))
                elif n % 3 == 1:
                    done.append(("trigger", (await client.schedules.trigger("often"))["run"]["id"]))
                else:
                    await client.schedules.create(f"made-{n}", {}, "send")
                    done.append(("create", f"made-{n}"))

            async def some(numbers: range) -> None:
                for n in numbers:
                    await call(n)

            callers = [asyncio.create_task(some(range(first, calls, 4))) for first in range(4)]
            for n in range(1, kills + 1):
                while len(done) < n * calls // (kills + 1):
                    await asyncio.sleep(0.002)
                    assert not any(one.done() and one.exception() for one in callers)
                server.kill()
                with server:
                    pass
                server = Serving(folder, *args, "--port", port)
            await asyncio.gather(*callers)
            assert len(set(done)) == calls
            history = await client.schedules.history("often", limit=1000)
            assert len(history) == sum(what == "trigger" for what, _ in done)
            runs = await client.runs(limit=1000)
            assert {run["id"] for run in runs} == {id for what, id in done if what != "create"}
            assert len(runs) == sum(what != "create" for what, _ in done)
            names = [one["name"] for one in await client.schedules.list(match="made-*", limit=1000)]
            assert sorted(names) == sorted(name for what, name in done if what == "create")
    finally:
        with server:
            pass


def test_a_signal_is_heard_while_simulations_go_on(tmp_path: Path) -> None:
    draft = {"spec": {"intervals": [{"every": "1s"}]}, "action": "job", "overlap": "allow_all"}
    body = {"draft": draft, "first": "2026-01-01T00:00:00Z", "last": "2026-01-02T03:46:00Z", "run_time": 1e9}

    def simulate(address: str) -> None:
        with suppress(httpx.HTTPError):
            httpx.post(f"{address}/api/v1/simulate", json=body, timeout=60)

    with Serving(tmp_path, "serve", "--port", "0", "--grace", "1s") as server:
        address = server.address
        callers = [threading.Thread(target=simulate, args=(address,), daemon=True) for _ in range(6)]
        for caller in callers:
            caller.start()
        until(lambda: children_of(server.process.pid) or None, "a simulation goes on")
        begin = time.monotonic()
        assert httpx.get(f"{address}/api/v1/health/live", timeout=60).status_code == 200
        assert server.stop() == 0
        assert time.monotonic() - begin < 40
        assert not children_of(server.process.pid)


def children_of(pid: int) -> list[str]:
    pids: list[str] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            pids += task.read_text(encoding="ascii").split()
    return pids
