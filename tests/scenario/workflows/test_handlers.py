"""What handlers, readers and mutators can do wrong is classified, and blocks a workflow instead of losing its run."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ostinato import every
from ostinato.engine.context import LARGEST
from ostinato.testing import World
from ostinato.workflows import Prepared
from ostinato.workflows.declaration import WorkflowCode
from ostinato.workflows.runtime import body
from tests.support.workflows import Service, mailbox


async def blocked_by(world: World) -> tuple[str, str]:
    """The status of the latest run, and the issue."""
    await world.up()
    await world.settle()
    info = await world.app.workflows.get("inbox")
    runs = await world.app.workflows.runs("inbox")
    return runs[0].status, info.issue or ""


async def test_a_class_that_cannot_be_made(world: World) -> None:
    code: WorkflowCode = world.app.workflow("inbox")
    topic = code.topic("t")

    @code.consumer(topic)
    class Broken:
        def __init__(self) -> None:
            raise RuntimeError("no database")

        async def prepare(self, ctx: Any, state: Any) -> None:
            return None

    assert await blocked_by(world) == ("failed:logic", "RuntimeError: no database")


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        ({"reserve": None}, "give a list of events"),
        ({"reserve": "one"}, "give a list of events"),
        ({"reserve": {"emails": "one"}}, "give a list of message ids"),
        ({"reserve": {"emails": [1]}}, "give a list of message ids"),
        ({"title": 7}, "is not a text"),
        ({"data": "x" * LARGEST}, "bytes of JSON; at most"),
        ({"data": float("nan")}, "is not JSON"),
    ],
)
async def test_results_of_prepare_that_cannot_be_kept(world: World, returned: Any, words: str) -> None:
    box = mailbox(world.app)

    async def prepare(ctx: Any, state: Any) -> Any:
        return Prepared(**returned)

    box.hooks["prepare"] = prepare
    status, issue = await blocked_by(world)
    assert status == "failed:logic"
    assert words in issue


@pytest.mark.parametrize(
    ("message_id", "payload", "words"),
    [
        ("", None, "is not a text of at most 500 characters"),
        ("x" * 501, None, "is not a text of at most 500 characters"),
        ("a\x00b", None, "is not a text of at most 500 characters"),
        ("m", "x" * LARGEST, "bytes of JSON; at most"),
        ("m", {1, 2}, "is not JSON"),
    ],
)
async def test_publications_that_cannot_be_kept(world: World, message_id: str, payload: Any, words: str) -> None:
    box = mailbox(world.app)

    async def poll(ctx: Any, state: Any) -> None:
        ctx.publish("emails", message_id, payload, input=ctx.register_input("mail", "email", "one"))

    box.hooks["poll"] = poll
    status, issue = await blocked_by(world)
    assert status == "failed:logic"
    assert words in issue


async def test_the_largest_that_can_be_kept(world: World) -> None:
    box = mailbox(world.app)
    text = "x" * (LARGEST - 2)

    async def poll(ctx: Any, state: Any) -> str:
        ctx.publish("emails", "m" * 500, text, input=ctx.register_input("mail", "email", "one"))
        return "s" * (65_536 - 2)

    async def prepare(ctx: Any, state: Any) -> Prepared:
        return Prepared(reserve=await ctx.peek("emails"), data=text)

    async def mutate(ctx: Any, prepared: Any) -> None:
        await ctx.mutate("send", mails=[len(prepared.data)])

    async def send(call: Any, mails: Any) -> str:
        return text + "xx"

    box.hooks |= {"poll": poll, "prepare": prepare, "mutate": mutate}
    tools = world.app.workflows._context.tools
    del tools.mutators["send"]
    tools.mutator("send")(send)
    await world.up()
    await world.settle()
    assert [event.status for event in await world.app.workflows.events("inbox")] == ["consumed"]
    outcomes = [run.outcome for run in await world.app.workflows.runs("inbox") if run.outcome is not None]
    results = [outcome["result"] for outcome in outcomes if outcome["status"] == "applied"]
    assert len(results[0]["text"]) == 10_000  # too large to keep, and the effect has taken place all the same


async def test_decision_13_parameters_that_a_mutator_does_not_take(world: World) -> None:
    """What is found before the call is a logic error, and nothing is uncertain."""
    service = Service()
    box = mailbox(world.app)

    async def send(call: Any, mails: Any) -> None:
        service.calls.append(call.key)

    tools = world.app.workflows._context.tools
    del tools.mutators["send"]
    tools.mutator("send")(send)

    async def mutate(ctx: Any, prepared: Any) -> None:
        await ctx.mutate("send", letters=[])

    box.hooks["mutate"] = mutate
    status, issue = await blocked_by(world)
    assert (status, service.calls) == ("failed:logic", [])
    assert "mutator 'send': missing a required argument: 'mails'" in issue


async def test_parameters_that_a_reader_does_not_take(world: World) -> None:
    box = mailbox(world.app)

    @world.app.workflows.reader("weather")
    async def weather(city: str) -> str:
        return city

    async def poll(ctx: Any, state: Any) -> None:
        try:
            await ctx.read("weather", town="Oslo")
        except Exception:
            return

    box.hooks["poll"] = poll
    assert (await blocked_by(world))[0] == "failed:logic"


async def test_words_of_errors_are_kept_by_every_store(world: World) -> None:
    box = mailbox(world.app)

    async def poll(ctx: Any, state: Any) -> None:
        raise ValueError("a\x00b\ud800" + "x" * 1_000_000)

    box.hooks["poll"] = poll
    status, issue = await blocked_by(world)
    assert status == "failed:logic"
    assert issue.startswith("ValueError: a�b?xxx")
    assert len(issue) < 2100


async def test_a_defect_of_the_host_blocks_the_workflow(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that nobody could end would stop its workflow without a word."""
    mailbox(world.app)

    def broken(*_: Any) -> Any:
        raise RuntimeError("a defect")

    monkeypatch.setattr(body, "_read_result", broken)
    assert await blocked_by(world) == ("failed:internal", "RuntimeError: a defect")
    monkeypatch.undo()
    await world.app.workflows.resolve("inbox", "resume")
    await world.settle()
    assert [event.status for event in await world.app.workflows.events("inbox")] == ["consumed"]


async def test_a_phase_that_takes_too_long(world: World) -> None:
    code: WorkflowCode = world.app.workflow("inbox", policy={"phase_timeout": "10s"})
    topic = code.topic("t")

    @code.producer(every("5m"), publishes=topic)
    async def poll(ctx: Any, state: Any) -> None:
        await asyncio.sleep(60)

    @code.consumer(topic)
    class Read:
        async def prepare(self, ctx: Any, state: Any) -> None:
            return None

    await world.up()
    await world.advance("11s")
    assert await blocked_by(world) == ("failed:logic", "executing took longer than 10 s")


@pytest.mark.parametrize("problem", [asyncio.CancelledError, SystemExit])
@pytest.mark.parametrize("place", ["poll", "prepare", "read", "call", "ask"])
async def test_code_that_cancels_itself_or_exits_ends_its_run_and_not_the_node(
    world: World, place: str, problem: type[BaseException]
) -> None:
    service = Service(script=[problem()] if place == "call" else [TimeoutError()] if place == "ask" else [])
    service.answers = [problem()] if place == "ask" else []
    box = mailbox(world.app, service=service)

    @world.app.workflows.reader("weather")
    async def weather() -> None:
        raise problem

    async def leave(ctx: Any, state: Any) -> None:
        if place == "read":
            await ctx.read("weather")
        raise problem

    if place in ("poll", "prepare", "read"):
        box.hooks["poll" if place == "read" else place] = leave
    status, _ = await blocked_by(world)
    expected = {"read": "failed:internal", "call": "paused:transient", "ask": "paused:reconciliation"}
    assert status == expected.get(place, "failed:logic")
    box.hooks.clear()
    if place in expected and place != "read":
        await world.advance("30s")
    else:
        await world.app.workflows.resolve("inbox", "resume")
        await world.settle()
    assert [event.status for event in await world.app.workflows.events("inbox")] == ["consumed"]
    assert len(service.effects) == 1


async def test_a_task_that_outlives_its_phase_can_ask_for_nothing(world: World) -> None:
    box = mailbox(world.app)
    problems: list[str] = []
    tasks: list[asyncio.Task[None]] = []

    async def late(ctx: Any) -> None:
        await asyncio.sleep(1)
        try:
            ctx.publish("emails", "late", input=ctx.register_input("mail", "email", "late"))
        except Exception as problem:
            problems.append(str(problem))

    async def poll(ctx: Any, state: Any) -> None:
        if not tasks:
            tasks.append(asyncio.create_task(late(ctx)))

    box.hooks["poll"] = poll
    await world.up()
    await world.advance("2s")
    assert problems == ["ctx.register_input: a producer is over; await what it starts"]
    assert await world.app.workflows.events("inbox") == []
