"""The permission matrix: what each phase may do, on both stores. A violation is a logic error, caught or not."""

from __future__ import annotations

from typing import Any

import pytest

from ostinato.testing import World
from ostinato.workflows import CLEAR, Prepared
from tests.support.workflows import mailbox

ALLOWED = {
    "poll": {"read", "publish", "register_input"},
    "prepare": {"read", "peek", "get"},
    "mutate": {"mutate"},
    "next": {"publish"},
}


async def attempt(ctx: Any, operation: str) -> None:
    """Try an operation, and hide whatever it raises."""
    try:
        match operation:
            case "read":
                await ctx.read("weather")
            case "peek":
                await ctx.peek("emails")
            case "get":
                await ctx.get("emails", ["one"])
            case "publish":
                input = ctx.register_input("mail", "email", "x") if ctx.handler == "poll" else None
                ctx.publish("emails" if input else "echoes", "x", input=input)
            case "register_input":
                ctx.register_input("mail", "email", "x")
            case "mutate":
                await ctx.mutate("send", mails=[])
    except Exception:
        return


@pytest.mark.parametrize("operation", ["read", "mutate", "peek", "get", "publish", "register_input"])
@pytest.mark.parametrize("phase", ["poll", "prepare", "mutate", "next"])
async def test_the_permission_matrix(world: World, phase: str, operation: str) -> None:
    box = mailbox(world.app, publishes_from_next=True)

    @world.app.workflows.reader("weather")
    async def weather() -> str:
        return "sunny"

    async def trying(ctx: Any, *_: Any) -> Any:
        await attempt(ctx, operation)
        if phase == "prepare":
            return Prepared(reserve=await ctx.peek("emails"))
        return None

    box.hooks[phase] = trying
    await world.up()
    await world.settle()
    handler = "poll" if phase == "poll" else "Send"
    runs = [run for run in await world.app.workflows.runs("inbox") if run.handler == handler]
    if operation in ALLOWED[phase]:
        assert {run.status for run in runs} == {"committed"}
    else:
        assert runs[0].status == "failed:logic"
        assert f"ctx.{operation} is not allowed in" in runs[0].error["message"]


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        ("nothing", "it must return Prepared"),
        ({"reserve": {"emails": ["no such"]}}, "reserves events that do not exist"),
        ({"reserve": {"other": ["one"]}}, "to which 'Send' does not subscribe"),
        ({"reserve": ["one"]}, "give events that peek returned"),
        ({"data": object()}, "the data that prepare returned is not JSON"),
    ],
)
async def test_decision_15_what_prepare_returns_is_checked(world: World, returned: Any, words: str) -> None:
    box = mailbox(world.app)

    async def prepare(ctx: Any, state: Any) -> Any:
        return Prepared(**returned) if isinstance(returned, dict) else returned

    box.hooks["prepare"] = prepare
    await world.up()
    await world.settle()
    info = await world.app.workflows.get("inbox")
    assert info.status == "Needs attention"
    assert words in (info.issue or "")


async def test_decision_36_a_state_that_is_too_large_is_a_logic_error(world: World) -> None:
    box = mailbox(world.app)

    async def poll(ctx: Any, state: Any) -> str:
        return "x" * 70_000

    box.hooks["poll"] = poll
    await world.up()
    await world.settle()
    assert "at most 65,536 are kept" in ((await world.app.workflows.get("inbox")).issue or "")


async def test_decision_21_a_failing_producer_publishes_nothing(world: World) -> None:
    """Publications are buffered, and written when the run commits."""
    box = mailbox(world.app)

    async def poll(ctx: Any, state: Any) -> None:
        ctx.publish("emails", "one", input=ctx.register_input("mail", "email", "one"))
        raise ValueError("no")

    box.hooks["poll"] = poll
    await world.up()
    await world.settle()
    assert await world.app.workflows.events("inbox") == []


async def test_decision_36_none_keeps_the_state_and_clear_clears_it(world: World) -> None:
    box = mailbox(world.app)
    states: list[Any] = []
    returns: list[Any] = [{"n": 1}, None, CLEAR, None]

    async def poll(ctx: Any, state: Any) -> Any:
        states.append(state)
        return returns.pop(0)

    box.hooks["poll"] = poll
    await world.up()
    await world.advance("15m")
    assert states == [None, {"n": 1}, {"n": 1}, None]
