"""What is refused at the door, in our own words: names, policies, contexts, what prepare returns."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from ostinato import Conflict, NotFound, OstinatoError, every
from ostinato.testing import World
from ostinato.workflows import LogicError, Prepared, Transient, WorkflowCode
from tests.support.workflows import Service, mailbox


async def begin(world: World) -> None:
    await world.up()
    await world.settle()


async def _handler(ctx: Any, state: Any) -> None: ...


def _code() -> WorkflowCode:
    code = WorkflowCode("w")
    code.topic("t")
    return code


@pytest.mark.parametrize(
    ("declare", "words"),
    [
        (lambda: WorkflowCode("w", version=10**30), "not a whole number from 1 to"),
        (lambda: WorkflowCode("w", policy="a"), "policy 'a' is not a mapping"),  # type: ignore[arg-type]
        (lambda: WorkflowCode("w", policy=[]), r"policy \[\] is not a mapping"),  # type: ignore[arg-type]
        (lambda: WorkflowCode("w", policy={5: 1}), "policy has no 5"),  # type: ignore[dict-item]
        (lambda: WorkflowCode("w", policy={"phase_timeout": "0s"}), "phase_timeout '0s' is too small"),
        (lambda: WorkflowCode("w", policy={"crash_attempts": 0}), "crash_attempts 0 is too small"),
        (lambda: WorkflowCode("w", policy={"fix_attempts": 10**30}), "is not a whole number up to"),
        (lambda: WorkflowCode("w", policy={"backoff_first": "1h"}), "backoff_first is longer than backoff_longest"),
        (lambda: _code().producer(every("5m"), publishes=5)(_handler), "names 5, which is no topic"),  # type: ignore[arg-type]
        (lambda: _code().producer(every("5m"), publishes=[5])(_handler), "names 5, which is no topic"),  # type: ignore[list-item]
        (lambda: _code().producer(every("5m"), publishes="t")(5), "is an async function, not 5"),  # type: ignore[type-var]
        (lambda: _code().consumer("t")(5), "consumer '5' is not a class"),  # type: ignore[type-var]
        (lambda: _code().consumer(["t"])(_handler), "is not a class"),  # type: ignore[arg-type,type-var]
    ],
)
def test_a_wrong_declaration_is_refused(declare: Callable[[], Any], words: str) -> None:
    with pytest.raises(OstinatoError, match=words):
        declare()


async def test_a_tool_without_a_name_is_refused(world: World) -> None:
    for declare, what in ((world.app.workflows.mutator, "mutator"), (world.app.workflows.reader, "reader")):
        with pytest.raises(OstinatoError, match=f"@{what} has no name"):
            declare(_handler)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", [None, 5, b"w", ["w"], ""], ids=str)
async def test_a_wrong_name_is_refused(world: World, name: Any) -> None:
    await world.up()
    flows = world.app.workflows
    for call in (flows.get, flows.runs, flows.events, flows.inputs, flows.outputs, flows.draw, flows.pause):
        with pytest.raises(OstinatoError, match="is not the name of a workflow"):
            await call(name)


async def test_a_wrong_part_of_a_workflow_is_refused(world: World) -> None:
    mailbox(world.app)
    await begin(world)
    flows = world.app.workflows
    with pytest.raises(NotFound, match="has no topic 'email'; did you mean 'emails'"):
        await flows.events("inbox", topic="email")
    with pytest.raises(NotFound, match="has no handler 'Sent'; did you mean 'Send'"):
        await flows.runs("inbox", handler="Sent")
    with pytest.raises(OstinatoError, match="topic 5 is not a text"):
        await flows.events("inbox", topic=5)  # type: ignore[arg-type]
    with pytest.raises(OstinatoError, match="None is not the id of a run"):
        await flows.run("inbox", None)  # type: ignore[arg-type]
    with pytest.raises(OstinatoError, match="topic 5 is not a text"):
        await flows.skip_event("inbox", 5, "one")  # type: ignore[arg-type]
    with pytest.raises(OstinatoError, match="input_id None is not a text"):
        await flows.skip_input("inbox", None)  # type: ignore[arg-type]
    assert {run.handler for run in await flows.runs("inbox", handler="poll")} == {"poll"}
    assert await flows.events("inbox", topic="emails", status="skipped") == []


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (None, "None is no workflow; deploy a WorkflowCode"),
        ("nope:x", "'nope:x' cannot be imported: ModuleNotFoundError"),
        ("asyncio:run", "'asyncio:run' is no workflow"),
        ("nope", "is no import path"),
    ],
)
async def test_what_cannot_be_deployed_is_refused(world: World, code: Any, words: str) -> None:
    await world.up()
    with pytest.raises(OstinatoError, match=words):
        await world.app.workflows.deploy(code)


@pytest.mark.parametrize(
    ("phase", "act", "words"),
    [
        ("poll", lambda ctx: ctx.read(None), "None is not the name of a reader"),
        (
            "poll",
            lambda ctx: ctx.publish([], "m", input=ctx.register_input("a", "b", "c")),
            "publish: [] names no topic",
        ),
        ("poll", lambda ctx: ctx.publish("emails", "m", input=[]), "publish: input [] is none that register_input"),
        ("poll", lambda ctx: ctx.register_input("a", "b", "c", 5), "title 5 is not a text of at most 1,000"),
        ("poll", lambda ctx: ctx.register_input("a", "b", "c", "t" * 1001), "is not a text of at most 1,000"),
        ("poll", lambda ctx: ctx.register_input("a", "b", b"c"), "id b'c' is not a text of at most 500"),
        ("prepare", lambda ctx: ctx.peek([]), "peek: [] is no topic"),
        ("prepare", lambda ctx: ctx.get(5, []), "get: 5 is no topic"),
        ("prepare", lambda _: Prepared(reserve=5), "Prepared: it reserves 5; give a list of events"),  # type: ignore[arg-type]
        ("prepare", lambda _: Prepared(title=5), "Prepared: the title 5 is not a text"),  # type: ignore[arg-type]
        ("prepare", lambda _: Prepared(wake_at="noon"), "Prepared: wake_at 'noon' is no datetime"),  # type: ignore[arg-type]
        ("prepare", lambda _: Prepared(wake_at=datetime(2030, 1, 1)), "is no datetime with a zone"),  # noqa: DTZ001
        ("mutate", lambda ctx: ctx.mutate(None), "None is not the name of a mutator"),
    ],
)
async def test_a_wrong_call_is_a_logic_error(world: World, phase: str, act: Callable[[Any], Any], words: str) -> None:
    box = mailbox(world.app)

    async def hook(ctx: Any, *_: Any) -> None:
        answer = act(ctx)
        if hasattr(answer, "__await__"):
            await answer

    box.hooks[phase] = hook
    await begin(world)
    info = await world.app.workflows.get("inbox")
    assert words in (info.issue or "")
    assert (await world.app.workflows.runs("inbox"))[0].status == "failed:logic"


def test_what_prepare_returns_is_checked_when_it_is_made() -> None:
    with pytest.raises(LogicError, match="give a list of message ids"):
        Prepared(reserve={"t": "m"})
    assert Prepared(reserve={"t": ["m"]}).reserve == {"t": ["m"]}


async def test_a_poison_event_is_skipped_by_name(world: World) -> None:
    """A run that fails in `prepare` holds nothing; `skip` says what to do instead."""
    box = mailbox(world.app)

    async def prepare(ctx: Any, state: Any) -> Any:
        for event in await ctx.peek("emails"):
            raise ValueError(event.id)

    box.hooks["prepare"] = prepare
    await begin(world)
    flows = world.app.workflows
    with pytest.raises(Conflict) as refused:
        await flows.resolve("inbox", "skip")
    assert "ostinato workflows skip-event inbox TOPIC MESSAGE" in str(refused.value)
    assert "ostinato workflows resolve inbox resume" in str(refused.value)
    await flows.skip_event("inbox", "emails", "one")
    await flows.resolve("inbox", "resume")
    await world.settle()
    assert (await flows.get("inbox")).status == "Idle"


async def test_other_code_under_the_same_number_is_a_repair(world: World) -> None:
    def version(number: int, topic: str) -> WorkflowCode:
        code = WorkflowCode("w", version=number)
        code.topic(topic)
        code.topic("t")
        code.producer(every("5m"), publishes="t", name="poll")(_handler)

        @code.consumer("t")
        class Take:
            async def prepare(self, ctx: Any, state: Any) -> None: ...

        return code

    await world.up()
    flows = world.app.workflows
    assert (await flows.deploy(version(1, "a"))).version == "1"
    assert (await flows.deploy(version(1, "a"))).version == "1"
    assert (await flows.deploy(version(1, "b"))).version == "1.1"
    assert (await flows.deploy(version(2, "a"))).version == "2"


# Paused, stopped, blocked


async def test_a_paused_workflow_still_needs_attention(world: World) -> None:
    box = mailbox(world.app, service=Service(script=[Transient("timeout")]), reconcile=False)
    await begin(world)
    flows = world.app.workflows
    info = await flows.pause("inbox")
    assert (info.status, info.choices) == ("Needs attention", ("did_not_happen", "skip"))
    assert info.timing == "Checks every 5 minutes · paused until you resume it"
    await flows.resolve("inbox", "did_not_happen")
    await world.advance("1h")
    info = await flows.get("inbox")
    assert (info.status, (info.issue or "")[:28]) == ("Stopped", "Retries when it runs again: ")
    assert len(box.service.calls) == 1
    await flows.resume("inbox")
    await world.settle()
    info = await flows.stop("inbox")
    assert (info.status, info.timing) == ("Stopped", "Checks every 5 minutes · stopped for good")
