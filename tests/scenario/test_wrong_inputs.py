"""What a job takes is checked where it is started; a call that is refused all the same is not tried again."""

from __future__ import annotations

from typing import Any

import pytest

from ostinato import OstinatoError, Retry, RunFailed
from ostinato.engine.handlers import Declaration, Handler
from ostinato.model import Event, event_data
from ostinato.testing import World

RETRY = Retry(attempts=3, delay=0)


def declared_by(world: World, name: str) -> Declaration:
    """As another process reads it from the store."""
    handler: Handler = world.app.engine.handlers[name]
    return Declaration.read(name, handler.declaration.write())


@pytest.mark.parametrize("given", [5, [5], "text", 0, [("n", 5)]])
async def test_an_input_that_is_no_object_is_refused_in_our_words(world: World, given: Any) -> None:
    @world.app.job()
    async def takes(n: int = 0) -> int:
        return n

    await world.up()
    with pytest.raises(OstinatoError, match=r"job 'takes': the input .* is not an object with names"):
        await world.app.start("takes", given)


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
    assert event_data(event) == {"nominal": "2026-01-01T00:00:00Z", "count": 3, "last": None}
