"""A job's type hints check its input at the door, and are the types its arguments arrive in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from ostinato import Context, OstinatoError, every
from ostinato.testing import World


@dataclass
class Address:
    street: str
    number: int


class Opaque:
    """A type that JSON cannot say."""


async def test_a_value_of_the_wrong_type_is_refused_before_anything_is_on_record(world: World) -> None:
    @world.app.job(retry=3)
    async def charge(account: str, cents: int, address: Address | None = None) -> None: ...

    with pytest.raises(OstinatoError) as problem:
        await world.start("charge", {"account": 5, "cents": "five", "address": {"street": "High St", "number": "x"}})
    assert str(problem.value) == (
        "job 'charge': account: input should be a valid string, not 5; "
        'cents: input should be a valid integer, not "five"; '
        'address.number: input should be a valid integer, not "x"'
    )
    with pytest.raises(OstinatoError, match="cents: input should be a valid integer"):
        await world.app.schedules.create("s", every("1h"), "charge", input={"account": "ada", "cents": "5"})
    assert await world.runs() == []
    assert await world.app.schedules.list() == []


async def test_arguments_arrive_in_the_types_of_the_hints(world: World) -> None:
    seen: list[Any] = []

    @world.app.job
    async def visit(ctx: Context, when: datetime, address: Address, note: Opaque, plain: list[int], rest: Any) -> None:
        seen.extend([when, address, note, plain, rest])

    given = {
        "when": datetime(2026, 3, 1, 9, tzinfo=UTC),
        "address": {"street": "High St", "number": 7},
        "note": "as it is",
        "plain": [1, 2],
        "rest": {"a": None},
    }
    await (await world.start("visit", given)).result()
    assert seen == [datetime(2026, 3, 1, 9, tzinfo=UTC), Address("High St", 7), "as it is", [1, 2], {"a": None}]


async def test_an_input_that_nobody_checked_fails_once_and_says_why(world: World) -> None:
    """The process that starts it may not have the function; trying again would change nothing."""
    run = await world.start("later", {"n": "five"})

    @world.app.job(retry=5)
    async def later(n: int) -> None: ...

    await world.down()
    await world.up()
    await world.settle()
    info = await run.info()
    assert (info.status, info.attempt) == ("failed", 1)
    assert info.reason == "job 'later': n: input should be a valid integer, not \"five\""


async def test_a_context_tells_moments_as_datetimes(world: World) -> None:
    @world.app.job
    async def look(ctx: Context) -> list[str]:
        await ctx.log("awaited, as the other methods are")
        ctx.log("not awaited")
        return [ctx.due.isoformat(), ctx.now().isoformat()]

    await world.up()
    now = datetime.fromtimestamp(world.clock.now() / 1_000_000, UTC).isoformat()
    run = await world.start("look")
    assert await run.result() == [now, now]
    assert [line.message for line in await world.app.logs(run.id)] == [
        "awaited, as the other methods are",
        "not awaited",
    ]
