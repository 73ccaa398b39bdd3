"""Code of users that raises what nobody expects, cancels itself, or does not end: a workflow never hangs on it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any

import pytest

from ostinato import every
from ostinato.testing import World
from ostinato.workflows import LogicError, Prepared
from tests.support.workflows import Mailbox, Service, mailbox

PHASES = {"poll": "executing", "prepare": "preparing", "mutate": "mutating", "next": "emitting"}


class OwnError(BaseException):
    pass


class Speechless(Exception):
    def __str__(self) -> str:
        raise RuntimeError


async def cancelled_inside() -> None:
    task = asyncio.ensure_future(asyncio.sleep(60))
    task.cancel()
    await task


async def cancels_itself() -> None:
    current = asyncio.current_task()
    assert current is not None
    current.cancel()
    await asyncio.sleep(1)


def raises(problem: BaseException) -> Callable[[], Any]:
    async def raise_it() -> None:
        raise problem

    return raise_it


async def exits() -> None:
    sys.exit(3)


WAYWARD: dict[str, Callable[[], Any]] = {
    "the handler raised CancelledError": raises(asyncio.CancelledError()),
    "the handler raised CancelledError ": cancelled_inside,
    "the handler raised CancelledError  ": cancels_itself,
    "the handler raised GeneratorExit": raises(GeneratorExit()),
    "the handler raised KeyboardInterrupt": raises(KeyboardInterrupt()),
    "the handler raised SystemExit: 3": exits,
    "the handler raised OwnError: mine": raises(OwnError("mine")),
    "the handler raised BaseExceptionGroup: two (1 sub-exception)": raises(BaseExceptionGroup("two", [OwnError()])),
    "Speechless: its text cannot be written: __str__ raised RuntimeError": raises(Speechless()),
}
SOME = (
    "the handler raised CancelledError  ",
    "the handler raised SystemExit: 3",
    "Speechless: its text cannot be written: __str__ raised RuntimeError",
)


async def begin(world: World) -> None:
    await world.up()
    await world.settle()


async def statuses(world: World) -> list[tuple[str, str]]:
    return [(run.phase, run.status) for run in await world.app.workflows.runs("inbox")]


def in_phase(box: Mailbox, phase: str, act: Callable[[], Any]) -> None:
    """Have a handler do this once, when there are events."""
    left = [act]

    async def hook(ctx: Any, *rest: Any) -> Any:
        if phase == "poll" or (await ctx.peek("emails") if phase == "prepare" else rest[0].events):
            while left:
                await left.pop()()

    box.hooks[phase] = hook


@pytest.mark.parametrize(
    ("phase", "words"),
    [*(("mutate", words) for words in WAYWARD), *((phase, next(iter(WAYWARD))) for phase in PHASES)],
)
async def test_whatever_a_handler_raises_is_a_logic_error(world: World, phase: str, words: str) -> None:
    box = mailbox(world.app)
    in_phase(box, phase, WAYWARD[words])
    await begin(world)
    info = await world.app.workflows.get("inbox")
    assert (info.status, info.issue) == ("Needs attention", words.rstrip())
    assert (await statuses(world))[0] == (PHASES[phase], "failed:logic")
    box.hooks.clear()
    await world.app.workflows.resolve("inbox", "resume")
    await world.settle()
    assert (await world.app.workflows.get("inbox")).status == "Idle"
    assert [event.status for event in await world.app.workflows.events("inbox")] == ["consumed"]


@pytest.mark.parametrize("words", SOME)
async def test_whatever_a_mutator_raises_is_uncertain(world: World, words: str) -> None:
    class Wayward(Service):
        async def send(self, call: Any, **params: Any) -> Any:
            if not self.calls:
                self.calls.append(call.key)
                await WAYWARD[words]()
            return await super().send(call, **params)

    box = mailbox(world.app, service=Wayward())
    await begin(world)
    assert (await statuses(world))[0] == ("mutating", "paused:transient")  # asked, it says that nothing took place
    await world.advance("10s")
    assert len(box.service.effects) == 1


@pytest.mark.parametrize("words", SOME)
async def test_whatever_a_fixer_raises_goes_to_a_person(world: World, words: str) -> None:
    box = mailbox(world.app)
    in_phase(box, "prepare", raises(ValueError("wrong")))

    @box.code.fix_with
    async def fix(failed: Any) -> None:
        await WAYWARD[words]()

    await begin(world)
    info = await world.app.workflows.get("inbox")
    assert (info.status, info.issue) == ("Needs attention", "ValueError: wrong")


async def test_a_fixer_that_does_not_end_is_cut_off(world: World) -> None:
    box = mailbox(world.app)
    in_phase(box, "prepare", raises(ValueError("wrong")))

    @box.code.fix_with
    async def fix(failed: Any) -> None:
        await asyncio.sleep(10**6)

    await begin(world)
    assert (await world.app.workflows.get("inbox")).status == "Running"
    await world.advance("5m")
    assert (await world.app.workflows.get("inbox")).status == "Needs attention"


async def deaf() -> None:
    """Ignore every cancellation, for a day."""
    for _ in range(24):
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            continue


async def test_a_handler_that_ignores_its_cancellation_is_left_behind(world: World) -> None:
    box = mailbox(world.app, policy={"phase_timeout": "1500ms"})
    in_phase(box, "prepare", deaf)
    await begin(world)
    await world.advance("12s")
    info = await world.app.workflows.get("inbox")
    assert (info.status, info.issue) == ("Needs attention", "preparing took longer than 1.5 s")
    await world.advance("2d")


async def test_a_stop_of_the_node_is_no_failure(world: World) -> None:
    """The handler is cancelled with its node, and the run goes on with the next one."""
    box = mailbox(world.app)
    seen: list[str] = []

    async def prepare(ctx: Any, state: Any) -> Any:
        events = await ctx.peek("emails")
        if events and not seen:
            try:
                await asyncio.sleep(120)
            except asyncio.CancelledError:
                seen.append("cancelled")
                raise
        return Prepared(reserve=events, data=[event.payload for event in events])

    box.hooks["prepare"] = prepare
    await begin(world)
    await world.down()
    assert seen == ["cancelled"]
    await begin(world)
    assert [event.status for event in await world.app.workflows.events("inbox")] == ["consumed"]
    assert {status for _, status in await statuses(world)} == {"committed"}


# ctx.mutate


async def in_a_group(ctx: Any) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(ctx.mutate("send", mails=[]))


async def in_a_task(ctx: Any) -> None:
    await asyncio.create_task(ctx.mutate("send", mails=[]))


async def gathered(ctx: Any) -> None:
    await asyncio.gather(ctx.mutate("send", mails=[]))


@pytest.mark.parametrize("act", [in_a_group, in_a_task, gathered])
async def test_an_effect_in_a_task_of_its_own_is_refused(world: World, act: Callable[[Any], Any]) -> None:
    box = mailbox(world.app)

    async def mutate(ctx: Any, prepared: Any) -> None:
        await act(ctx)

    box.hooks["mutate"] = mutate
    await begin(world)
    info = await world.app.workflows.get("inbox")
    assert info.issue == "ctx.mutate('send', …) is in a task of its own; await it in mutate itself"
    assert (info.status, box.service.calls) == ("Needs attention", [])
    box.hooks.clear()
    await world.app.workflows.resolve("inbox", "resume")
    await world.settle()
    assert len(box.service.effects) == 1


async def forgotten(ctx: Any) -> None:
    ctx.mutate("send", mails=[])


async def forgotten_before_another(ctx: Any) -> None:
    ctx.mutate("send", mails=[])
    await ctx.mutate("send", mails=[])


@pytest.mark.parametrize("act", [forgotten, forgotten_before_another])
async def test_an_effect_that_is_not_awaited_is_a_logic_error(world: World, act: Callable[[Any], Any]) -> None:
    box = mailbox(world.app)

    async def mutate(ctx: Any, prepared: Any) -> None:
        await act(ctx)

    box.hooks["mutate"] = mutate
    await begin(world)
    info = await world.app.workflows.get("inbox")
    assert info.issue == "ctx.mutate('send', …) was called and not awaited; write await ctx.mutate(…)"
    assert (info.status, box.service.calls) == ("Needs attention", [])
    assert [event.status for event in await world.app.workflows.events("inbox")] == ["reserved"]


async def test_an_effect_in_a_task_that_nobody_awaits_is_a_logic_error(world: World) -> None:
    box = mailbox(world.app)
    tasks: list[asyncio.Task[Any]] = []

    async def mutate(ctx: Any, prepared: Any) -> None:
        tasks.append(asyncio.create_task(ctx.mutate("send", mails=[])))

    box.hooks["mutate"] = mutate
    await begin(world)
    info = await world.app.workflows.get("inbox")
    assert (info.status, box.service.calls) == ("Needs attention", [])
    assert info.issue == "ctx.mutate('send', …) is in a task of its own; await it in mutate itself"
    (task,) = tasks
    assert isinstance(task.exception(), LogicError)


async def test_the_context_of_an_earlier_phase_is_of_no_use(world: World) -> None:
    """A consumer that keeps the `ctx` of `prepare` cannot read in `mutate`, nor publish in `next` by another's."""
    code = world.app.workflow("w")
    topic = code.topic("t")
    refused: list[str] = []

    @code.producer(every("5m"), publishes=topic)
    async def poll(ctx: Any, state: Any) -> None:
        ctx.publish(topic, "m", input=ctx.register_input("mail", "email", "m"))

    @code.consumer(topic)
    class Keep:
        async def prepare(self, ctx: Any, state: Any) -> Any:
            self.kept = ctx
            return Prepared(reserve=await ctx.peek(topic))

        async def mutate(self, ctx: Any, prepared: Any) -> None:
            for call in (self.kept.peek, self.kept.read, self.kept.mutate):
                try:
                    await call("t")
                except Exception as problem:
                    refused.append(str(problem))

    await begin(world)
    assert refused == [f"ctx.{name}: prepare is over; await what it starts" for name in ("peek", "read", "mutate")]
