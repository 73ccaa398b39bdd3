"""The mutators `http` and `start` and the reader `http`, which every app has."""

from __future__ import annotations

from typing import Any

import pytest

from ostinato import EgressPolicy, Ostinato, OstinatoError
from ostinato.engine.http.egress import Egress
from ostinato.functions import FunctionContext
from ostinato.testing import World
from ostinato.testing.egress import VirtualTimeEgress
from tests.support.service import Reply
from tests.support.service import Service as HttpService
from tests.support.workflows import Mailbox, mailbox


def online(world: World, policy: EgressPolicy | None = None, **names: Any) -> Mailbox:
    """A mailbox on an app that may call loopback."""
    policy = policy or EgressPolicy(allow_private=True)
    world._settings |= {"egress": VirtualTimeEgress(Egress(policy, **names))}
    world.app = Ostinato(world._store, clock=world.clock, **world._settings)
    return mailbox(world.app)


async def begin(world: World) -> None:
    await world.up()
    await world.settle()


def sending(box: Mailbox, url: str, **params: Any) -> None:
    async def mutate(ctx: Any, prepared: Any) -> None:
        await ctx.mutate("http", url=url, json={"mails": prepared.data}, **params)

    box.hooks["mutate"] = mutate


@pytest.mark.parametrize(
    ("status", "run_status", "delivered"),
    [
        (200, "committed", True),
        (204, "committed", True),
        (302, "failed:logic", False),
        (401, "paused:approval", False),
        (403, "paused:approval", False),
        (404, "failed:logic", False),
        (409, "failed:logic", False),
        (429, "paused:transient", False),
        (500, "paused:reconciliation", None),
        (503, "paused:reconciliation", None),
    ],
)
async def test_what_an_answer_means(world: World, status: int, run_status: str, delivered: bool | None) -> None:
    box = online(world)
    with HttpService(Reply(status, b'{"row": 1}', {"content-type": "application/json"})) as service:
        sending(box, f"{service.url}/rows")
        await begin(world)
        runs = await world.app.workflows.runs("inbox")
        (sent,) = [run for run in runs if run.title == "send 1"]
        assert sent.status == run_status
        info = await world.app.workflows.get("inbox")
        assert ("did_not_happen" in info.choices) == (delivered is None)
        if status == 200:
            assert sent.outcome["result"]["body"] == {"row": 1}
        if status >= 300:
            assert f"answered {status}" in (info.issue or "")
        (received,) = service.received
        assert len(received.headers["idempotency-key"]) > 10
        assert received.body == b'{"mails":[{"text":"one"}]}'


async def test_no_answer_is_uncertain(world: World) -> None:
    box = online(world)
    with HttpService(Reply(200, b"cut", {"Content-Length": "10"})) as service:
        sending(box, service.url)
        await begin(world)
    assert (await world.app.workflows.get("inbox")).choices == ("did_not_happen", "skip")


@pytest.mark.parametrize("url", ["", "http://nowhere.example/rows"], ids=["refused", "no such name"])
async def test_without_a_connection_nothing_was_sent(world: World, url: str) -> None:
    """It is transient, and tried again by itself."""

    async def resolve(host: str, port: int) -> list[str]:
        raise OSError("no such name")

    box = online(world, resolve=resolve)
    if not url:
        with HttpService() as service:
            url = service.url  # nobody listens there any more
    sending(box, url)
    await begin(world)
    info = await world.app.workflows.get("inbox")
    assert (info.status, (info.issue or "")[:17]) == ("Running", "Retrying in 10 s:")
    (run,) = [run for run in await world.app.workflows.runs("inbox") if run.title == "send 1"]
    assert (run.phase, run.status) == ("mutating", "paused:transient")
    assert (await world.app.workflows.run("inbox", run.id)).output.status == "failed"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "wrong",
    [
        {"timeout": None},
        {"timeout": [1]},
        {"timeout": "0s"},
        {"method": None},
        {"headers": 1},
        {"headers": []},
        {"headers": {"a": 1}},
        {"body": 5},
    ],
    ids=str,
)
async def test_a_wrong_parameter_is_a_logic_error_and_nothing_is_sent(world: World, wrong: dict[str, Any]) -> None:
    box = online(world)
    with HttpService() as service:

        async def mutate(ctx: Any, prepared: Any) -> None:
            await ctx.mutate("http", url=service.url, **wrong)

        box.hooks["mutate"] = mutate
        await begin(world)
        assert service.received == []
    assert (await world.app.workflows.runs("inbox"))[0].status == "failed:logic"


async def test_the_policy_of_the_app_is_kept(world: World) -> None:
    box = online(world, EgressPolicy())
    sending(box, "http://127.0.0.1:9/rows")
    await begin(world)
    info = await world.app.workflows.get("inbox")
    assert (info.status, info.choices) == ("Needs attention", ("approve", "skip"))
    assert "is refused" in (info.issue or "")


async def test_a_secret_is_not_in_the_ledger_and_not_in_errors(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OSTINATO_SECRET_TOKEN", "s3cr3t")
    box = online(world)
    with HttpService(Reply(400, b"bad token s3cr3t")) as service:
        sending(box, service.url, headers={"Authorization": "secret://token"})
        await begin(world)
        assert service.received[0].headers["authorization"] == "s3cr3t"
    runs = await world.app.workflows.runs("inbox")
    info = await world.app.workflows.get("inbox")
    assert "answered 400" in (info.issue or "")
    assert "s3cr3t" not in repr((runs, info))


async def test_the_reader_http(world: World) -> None:
    box = online(world)
    bodies: list[Any] = []
    with HttpService(Reply(503), Reply(200, b"[1, 2]", {"content-type": "application/json"}), Reply(401)) as service:

        async def poll(ctx: Any, state: Any) -> None:
            bodies.append((await ctx.read("http", url=service.url))["body"])

        box.hooks["poll"] = poll
        await begin(world)
        assert "Retrying in 10 s" in ((await world.app.workflows.get("inbox")).issue or "")
        await world.advance("10s")
        assert bodies == [[1, 2]]
        await world.advance("5m")
        assert (await world.app.workflows.runs("inbox"))[0].status == "paused:approval"


async def test_start_starts_a_job_once(world: World) -> None:
    box = mailbox(world.app)
    greeted: list[str] = []

    @world.app.job()
    async def greet(name: str) -> None:
        greeted.append(name)

    async def mutate(ctx: Any, prepared: Any) -> None:
        await ctx.mutate("start", job="greet", input={"name": "Ada"})

    results: list[Any] = []

    async def emit(ctx: Any, prepared: Any, outcome: Any) -> None:
        if prepared.events:
            results.append(outcome.result)

    box.hooks |= {"mutate": mutate, "next": emit}
    await begin(world)
    assert greeted == ["Ada"]
    (run,) = await world.app.runs(name="greet")
    assert results == [{"id": run.id, "key": run.key}]


@pytest.mark.parametrize("late", [True, False], ids=["the answer is lost", "the call is lost"])
async def test_start_is_reconciled_by_its_id(world: World, late: bool) -> None:
    box = mailbox(world.app)

    @world.app.job()
    async def greet() -> None: ...

    tools = world.app.workflows._context.tools
    start, problems = tools.mutators["start"], [OSError("gone")]

    async def unsteady(call: Any, **params: Any) -> Any:
        if problems and not late:
            raise problems.pop()
        result = await start.function(call, **params)
        if problems:
            raise problems.pop()
        return result

    tools.mutators["start"] = type(start)("start", unsteady, start.reconcile)

    async def mutate(ctx: Any, prepared: Any) -> None:
        await ctx.mutate("start", job="greet")

    box.hooks["mutate"] = mutate
    await begin(world)
    await world.advance("10s")
    assert len(await world.app.runs(name="greet")) == 1
    assert [event.status for event in await world.app.workflows.events("inbox")] == ["consumed"]


JOURNEY = """\
apiVersion: v1
kind: Journey
metadata: {name: hello, version: 0.1.0}
spec:
  start: done
  states:
    done: {type: succeed}
"""


async def test_start_starts_a_function(world: World) -> None:
    box = mailbox(world.app)

    @world.app.function()
    async def greet(ctx: FunctionContext, name: str) -> str:
        await ctx.sleep("1m")
        return f"hello {name}"

    async def mutate(ctx: Any, prepared: Any) -> None:
        await ctx.mutate("start", function="greet", input={"name": "ada"})

    box.hooks["mutate"] = mutate
    await begin(world)
    await world.advance("2m")
    (run,) = await world.app.functions.list(name="greet")
    assert (run.status, run.result) == ("succeeded", "hello ada")


async def test_start_starts_a_journey(world: World) -> None:
    box = mailbox(world.app, mails=[])

    async def mutate(ctx: Any, prepared: Any) -> None:
        await ctx.mutate("start", journey="hello")

    box.hooks["mutate"] = mutate
    await world.up()
    await world.app.journeys.deploy(JOURNEY)
    box.mails.append("one")
    await world.advance("5m")
    (instance,) = await world.app.journeys.list()
    assert instance.phase == "SUCCEEDED"


@pytest.mark.parametrize(
    ("action", "words"),
    [
        ({"journey": "none such"}, "there is no journey"),
        ({"job": "greet", "journey": "x"}, "leave one out"),
        ({"input": {}}, "names no target"),
        ({"job": "greet", "input": {"nome": "Ada"}}, "nome"),
        ({"job": "greet", "input": [1]}, "input [1] is not an object"),
        ({"job": "greet", "input": ""}, "input '' is not an object"),
        ({"job": "greet", "options": 5}, "options 5 is not an object"),
        ({"job": "great"}, "no node knows the job 'great'; did you mean 'greet'?"),
        ({"job": None}, "job None is not the name of a job"),
        ({"job": ""}, "job '' is not the name of a job"),
        ({"job": []}, "job [] is not the name of a job"),
        ({"job": True}, "job True is not the name of a job"),
        ({"journey": 5}, "journey 5 is not the name of a journey"),
    ],
)
async def test_a_start_that_cannot_be_is_a_logic_error(world: World, action: dict[str, Any], words: str) -> None:
    box = mailbox(world.app)

    @world.app.job()
    async def greet(name: str) -> None: ...

    async def mutate(ctx: Any, prepared: Any) -> None:
        await ctx.mutate("start", **action)

    box.hooks["mutate"] = mutate
    await begin(world)
    (sent,) = [run for run in await world.app.workflows.runs("inbox") if run.title == "send 1"]
    assert sent.status == "failed:logic"
    assert words in sent.error["message"]


async def test_their_names_are_taken(world: World) -> None:
    with pytest.raises(OstinatoError, match="called 'http' already"):
        world.app.workflows.mutator("http")(_tool)


async def _tool(call: Any) -> None: ...
