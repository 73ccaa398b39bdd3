"""A job's type hints check its input at the door, and are the types its arguments arrive in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from ostinato import Context, OstinatoError, Retry, RunFailed, every
from ostinato.engine.jobs import Declaration, Handler
from ostinato.errors import InputError
from ostinato.model import Event, event_data
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

    input = {
        "when": datetime(2026, 3, 1, 9, tzinfo=UTC),
        "address": {"street": "High St", "number": 7},
        "note": "as it is",
        "plain": [1, 2],
        "rest": {"a": None},
    }
    await (await world.start("visit", input)).result()
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


RETRY = Retry(attempts=3, delay=0)


def declared_by(world: World, name: str) -> Declaration:
    """As another process reads it from the store."""
    handler: Handler = world.app.engine.handlers[name]
    return Declaration.read(name, handler.declaration.write())


@pytest.mark.parametrize("value", [5, [5], "text", 0, [("n", 5)]])
async def test_an_input_that_is_no_object_is_refused_in_our_words(world: World, value: Any) -> None:
    @world.app.job()
    async def takes(n: int = 0) -> int:
        return n

    await world.up()
    with pytest.raises(OstinatoError, match=r"job 'takes': the input .* is not an object with string keys"):
        await world.app.start("takes", value)


@pytest.mark.parametrize("world", ["sqlite"], indirect=True)
async def test_a_process_without_the_function_refuses_what_one_with_it_does(world: World) -> None:
    @world.app.job()
    async def charge(customer: int, amount: int = 1) -> None: ...

    @world.app.job()
    async def anything(**what: Any) -> None: ...

    await world.up()
    for knows in (declared_by(world, "charge"), world.app.engine.handlers["charge"]):
        with pytest.raises(OstinatoError, match=r"^job 'charge': 'customer' is missing; it takes customer, amount$"):
            knows.check({})
        with pytest.raises(OstinatoError, match=r"it has no 'custmer', did you mean 'customer'\?; 'customer' is miss"):
            knows.check({"custmer": 7})
        knows.check({"customer": 7})
    declared_by(world, "anything").check({"whatever": 1})


@pytest.mark.parametrize("world", ["sqlite"], indirect=True)
async def test_wrong_names_and_wrong_types_are_reported_together(world: World) -> None:
    @world.app.job()
    async def charge(customer: int, amount: int = 1) -> None: ...

    await world.up()
    for knows in (declared_by(world, "charge"), world.app.engine.handlers["charge"]):
        with pytest.raises(InputError) as refused:
            knows.check({"custmer": 7, "amount": "much"})
        assert [place for place, _ in refused.value.faults] == [("custmer",), ("customer",), ("amount",)]
        assert "'customer' is missing" in str(refused.value)
        assert 'amount: input should be a valid integer, not "much"' in str(refused.value)


@pytest.mark.parametrize("world", ["sqlite"], indirect=True)
async def test_an_argument_in_place_of_an_option_is_answered_with_where_it_belongs(world: World) -> None:
    @world.app.job()
    async def charge(customer: int) -> None: ...

    await world.up()
    with pytest.raises(OstinatoError, match=r"give the input as an object: start\('charge', \{'customer': …\}\)"):
        await world.app.start(charge, customer=7)  # type: ignore[call-overload]


def test_a_declaration_of_an_earlier_or_a_later_version_is_read() -> None:
    text = (
        '{"serial_key":null,"serial_hold":"chain","limit":null,"queue":"default","priority":0,"at_most_once":false%s}'
    )
    Declaration.read("old", text % "").check({"anything": 1})
    assert Declaration.read("new", text % ',"colour":"red","takes":["n"]').takes == ("n",)


async def test_the_input_of_a_trigger_and_of_a_backfill_is_checked(world: World) -> None:
    @world.app.job()
    async def report(kind: str = "daily") -> None: ...

    await world.up()
    schedules = world.app.schedules
    await schedules.create("report", "0 9 * * *", "report")
    with pytest.raises(OstinatoError, match=r"it has no 'kindd', did you mean 'kind'\?"):
        await schedules.trigger("report", input={"kindd": 1})
    with pytest.raises(OstinatoError, match=r"it has no 'kindd'"):
        await schedules.backfill("report", "2025-12-01T00:00Z", "2025-12-03T00:00Z", input={"kindd": 1})
    assert await world.app.runs() == []


async def test_a_type_error_within_the_function_is_tried_again(world: World) -> None:
    @world.app.job(retry=RETRY)
    async def work() -> int:
        return len(5)  # type: ignore[arg-type]

    run = await world.start("work")
    with pytest.raises(RunFailed, match="has no len"):
        await run.result()
    assert (await run.info()).attempt == 3


def test_moments_in_the_data_of_an_event_are_written_out() -> None:
    event = Event(
        1, 0, "default", "schedule:skipped", "s", {"nominal": 1_767_225_600_000_000, "count": 3, "last": None}
    )
    assert event.at == datetime(1970, 1, 1, tzinfo=UTC)
    assert event_data(event) == {"nominal": "2026-01-01T00:00:00Z", "count": 3, "last": None}
