"""Whatever a job raises is a failed attempt, and the node goes on."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from ostinato import Context, Ostinato, OstinatoError, RunFailed
from ostinato.testing import World

FORMS = ("async", "def")
RETRY = {"attempts": 2, "delay": "1s", "jitter": 0}


def declare(app: Ostinato, form: str, make: Callable[[], BaseException], succeeds: int = 2) -> None:
    """Declare the job `raises`. It raises an exception that `make` makes, until the attempt `succeeds`."""
    calls: list[int] = []

    def raise_or_return() -> str:
        calls.append(1)
        if len(calls) < succeeds:
            raise make()
        return "well"

    if form == "def":

        @app.job(retry=RETRY)
        def raises() -> str:
            return raise_or_return()

    else:

        @app.job(name="raises", retry=RETRY)
        async def raises_too() -> str:
            return raise_or_return()


@pytest.fixture(autouse=True)
def unraised() -> Iterator[None]:
    """Collect dropped coroutines within the test that has dropped them."""
    yield
    gc.collect()


ENDING = [(kind, form) for kind in (SystemExit, GeneratorExit, StopIteration) for form in FORMS]


@pytest.mark.parametrize(("kind", "form"), [*ENDING, (KeyboardInterrupt, "def")])  # no signal interrupts a thread
async def test_an_attempt_that_raises_anything_has_failed(world: World, kind: type[BaseException], form: str) -> None:
    declare(world.app, form, lambda: kind("enough"))
    run = await world.start("raises")
    await world.advance("5s")
    assert (await run.info()).status == "succeeded"
    attempts = await world.app.attempts(run.id)
    assert [a.status for a in attempts] == ["failed", "succeeded"]
    assert attempts[0].reason == f"{kind.__name__}: enough"
    assert "raise make()" in attempts[0].error["traceback"]


async def test_an_attempt_that_is_interrupted_has_crashed(world: World) -> None:
    declare(world.app, "async", KeyboardInterrupt)
    run = await world.start("raises", retry=1)  # a crash is tried again, whatever the policy says
    await world.advance("1s")
    assert (await run.info()).status == "succeeded"
    attempts = await world.app.attempts(run.id)
    words = "interrupted by a KeyboardInterrupt"
    assert [(a.status, a.reason) for a in attempts] == [("crashed", words), ("succeeded", None)]


class Unwritable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize("form", FORMS)
async def test_an_error_whose_text_cannot_be_written_is_a_failed_attempt(world: World, form: str) -> None:
    declare(world.app, form, Unwritable)
    run = await world.start("raises")
    await world.advance("5s")
    assert (await run.info()).status == "succeeded"
    failed, _ = await world.app.attempts(run.id)
    assert (failed.status, failed.error["type"]) == ("failed", "Unwritable")
    assert failed.reason == "Unwritable: its text cannot be written: __str__ raised RuntimeError"


async def test_a_cancelled_job_is_cancelled_whatever_it_raises_then(world: World) -> None:
    @world.app.job()
    async def stubborn() -> None:
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None

    run = await world.start("stubborn")
    await world.advance("1s")
    await run.cancel("not needed")
    await world.advance("1s")
    info = await run.info()
    assert (info.status, info.reason) == ("cancelled", "not needed")


async def test_an_attempt_that_ignores_the_end_of_its_time_ends_ten_seconds_later(world: World) -> None:
    ended: list[int] = []

    @world.app.job(timeout="5s", retry={"attempts": 2, "delay": 0})
    async def stubborn(ctx: Context) -> str:
        if ctx.attempt == 1:
            for _ in range(10):
                with suppress(asyncio.CancelledError):
                    await asyncio.sleep(10)
            with suppress(asyncio.CancelledError):
                await ctx.checkpoint("too late")  # the first call is cancelled
            with pytest.raises(OstinatoError, match="nothing is saved: this attempt is over"):
                await ctx.checkpoint("too late")
            ended.append(1)
        return f"attempt {ctx.attempt}"

    run = await world.start("stubborn")
    await world.advance("14s")
    assert (await run.info()).status == "active"
    await world.advance("2s")
    assert await run.result() == "attempt 2"
    attempts = await world.app.attempts(run.id)
    assert [(a.status, a.reason) for a in attempts] == [("timed_out", "timeout"), ("succeeded", None)]
    await world.advance("2m")
    assert ended == [1]  # what it returned is not stored
    assert [a.status for a in await world.app.attempts(run.id)] == ["timed_out", "succeeded"]
    assert await world.app.check() == []


async def test_a_cancelled_attempt_that_ignores_the_end_of_its_time_is_cancelled(world: World) -> None:
    @world.app.job(timeout="20s", retry=3)
    async def stubborn() -> None:
        while asyncio.get_running_loop().time() < 100:
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(10)

    run = await world.start("stubborn")
    await world.advance("5s")
    await run.cancel("enough")
    await world.advance("40s")
    info = await run.info()
    assert (info.status, info.reason) == ("cancelled", "enough")
    await world.advance("2m")
    assert len(await world.app.attempts(run.id)) == 1


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (KeyboardInterrupt, "crash_loop"),
        (SystemExit, "it could not be executed: SystemExit"),
        (GeneratorExit, "it could not be executed: GeneratorExit"),
    ],
)
async def test_a_body_that_raises_what_ends_programs_fails_its_run(
    world: World, kind: type[BaseException], reason: str
) -> None:
    async def broken(run: object) -> None:
        raise kind

    @world.app.job()
    async def work() -> None: ...

    await world.up()
    engine = world.app.engine
    began = engine.bodies.begin
    engine.bodies.begin = lambda run, body=None: began(run, broken)  # type: ignore[method-assign]
    run = await world.start("work")
    with pytest.raises(RunFailed, match=reason):
        await run.result("5s")
