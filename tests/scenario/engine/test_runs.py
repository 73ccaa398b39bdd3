"""The life of a run, on virtual time and both stores."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from itertools import pairwise
from typing import Any

import pytest

from ostinato import Context, Limit, Ostinato, Retry, RunCancelled, RunFailed
from ostinato.engine.executor import Fatal, RetryLater
from ostinato.engine.runs import stop_chain
from ostinato.errors import NotFound, OstinatoError
from ostinato.model import Status
from ostinato.testing import World
from ostinato.when.instants import SECOND


async def test_a_run_returns_its_result(world: World) -> None:
    @world.app.job()
    async def add(a: int, b: int) -> int:
        return a + b

    run = await world.start("add", {"a": 1, "b": 2})
    assert await run.result() == 3
    info = await run.info()
    assert (info.status, info.result, info.attempt) == ("succeeded", 3, 1)
    events = await world.app.events(subject=run.id)
    assert [e.name for e in events] == ["run:created", "run:started", "run:succeeded"]


@pytest.mark.parametrize("world", ["sqlite"], indirect=True)  # weeks of housekeeping
async def test_a_start_for_later_waits_until_then(world: World) -> None:
    @world.app.job()
    async def work() -> None: ...

    run = await world.start("work", at="2026-01-20T00:00Z")
    assert (await run.info()).status == "waiting"
    await world.advance_to("2026-01-19T23:59:59Z")
    assert (await run.info()).status == "waiting"
    await world.advance("1s")
    info = await run.info()
    assert info.status == "succeeded"
    assert info.started is not None
    assert info.started.isoformat() == "2026-01-20T00:00:00+00:00"


async def test_the_same_id_starts_once(world: World) -> None:
    calls = []

    @world.app.job()
    async def work(n: int) -> int:
        calls.append(n)
        return n

    first = await world.start("work", {"n": 1}, id="order-17")
    second = await world.start("work", {"n": 2}, id="order-17")
    assert (first.new, second.new) == (True, False)
    assert first.id == second.id
    assert await second.result() == 1
    assert calls == [1]
    many = await world.app.start_many("work", [{"n": 3}, {"n": 4}], ids=["order-17", "order-18"])
    assert [run.new for run in many] == [False, True]
    assert (await world.app.get("order-18")).id == many[1].id


async def test_a_failure_is_followed_by_attempts_with_growing_pauses(world: World) -> None:
    times = []

    @world.app.job(retry=Retry(attempts=4, delay="1s", factor=2, jitter=0))
    async def flaky() -> str:
        times.append(world.clock.now())
        if len(times) < 4:
            raise ValueError(f"no {len(times)}")
        return "at last"

    run = await world.start("flaky")
    assert await run.result() == "at last"
    pauses = [(b - a) // SECOND for a, b in pairwise(times)]
    assert pauses == [1, 2, 4]
    attempts = await world.app.attempts(run.id)
    assert [(a.attempt, a.status) for a in attempts] == [(1, "failed"), (2, "failed"), (3, "failed"), (4, "succeeded")]
    assert len(await world.app.runs(name="flaky")) == 1
    assert await world.app.counts() == {"failed": 3, "succeeded": 1}
    assert await world.app.counts(attempts=False) == {"succeeded": 1}


async def test_the_last_failure_is_the_outcome(world: World) -> None:
    @world.app.job(retry=2)
    async def bad() -> None:
        raise ValueError("never")

    run = await world.start("bad")
    with pytest.raises(RunFailed, match="ValueError: never") as problem:
        await run.result()
    error: Any = problem.value.error
    assert error["type"] == "ValueError"
    assert "never" in error["traceback"]
    names = [e.name for e in await world.app.events(subject=run.id)]
    assert names == ["run:created", "run:started", "run:retrying", "run:started", "run:failed"]


async def test_a_job_may_say_that_trying_again_is_useless_or_when(world: World) -> None:
    seen = []

    @world.app.job(retry=5)
    async def hopeless() -> None:
        raise Fatal("no use")

    @world.app.job(retry=5)
    async def busy() -> None:
        seen.append(world.clock.now())
        if len(seen) == 1:
            raise RetryLater(90)

    run = await world.start("hopeless")
    with pytest.raises(RunFailed, match="no use"):
        await run.result()
    await (await world.start("busy")).result()
    assert seen[1] - seen[0] == 90 * SECOND


async def test_a_run_that_takes_too_long_times_out_and_its_body_is_stopped(world: World) -> None:
    stopped = []

    @world.app.job(timeout="5s")
    async def slow() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            stopped.append(world.clock.now())

    run = await world.start("slow")
    begin = world.clock.now()
    with pytest.raises(RunFailed, match="timed out: timeout"):
        await run.result()
    assert stopped == [begin + 5 * SECOND]


async def test_a_run_without_a_sign_of_life_times_out(world: World) -> None:
    @world.app.job(heartbeat="10s")
    async def silent(ctx: Any) -> None:
        for _ in range(3):
            await asyncio.sleep(8)
            await ctx.heartbeat()
        await asyncio.sleep(11)

    run = await world.start("silent")
    begin = world.clock.now()
    with pytest.raises(RunFailed, match="no heartbeat"):
        await run.result()
    assert world.clock.now() - begin == pytest.approx(34 * SECOND, abs=1000)


async def test_a_deadline_ends_the_chain_wherever_it_stands(world: World) -> None:
    @world.app.job(retry=Retry(attempts=100, delay="60s", factor=1, jitter=0))
    async def failing() -> None:
        raise ValueError("again")

    @world.app.job()
    async def long() -> None:
        await asyncio.sleep(10**6)

    waiting = await world.start("failing", deadline="90s")
    running = await world.start("long", deadline="90s")
    for run in (waiting, running):
        with pytest.raises(RunFailed, match="timed out: deadline"):
            await run.result()
    done = await world.start("failing", deadline="90s", retry=1)
    with pytest.raises(RunFailed, match="again"):
        await done.result()
    assert [t for t in await world.app.upcoming() if t.purpose == "deadline"] == []


async def test_cancelling_a_waiting_run_ends_it_and_its_timer(world: World) -> None:
    @world.app.job()
    async def work() -> None: ...

    run = await world.start("work", at="2026-06-01T00:00Z")
    assert await run.cancel("changed my mind") == "cancelled"
    with pytest.raises(RunCancelled, match="changed my mind"):
        await run.result()
    assert [t.owner for t in await world.app.upcoming() if t.kind == "run"] == []
    assert await run.cancel() == "cancelled"


async def test_cancelling_a_running_coroutine_cancels_it_for_real(world: World) -> None:
    seen = []

    @world.app.job(retry=5)
    async def long() -> None:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    run = await world.start("long")
    await world.settle()
    assert await run.cancel("enough") == "active"
    with pytest.raises(RunCancelled, match="enough"):
        await run.result()
    assert seen == ["cancelled"]
    assert [a.status for a in await world.app.attempts(run.id)] == ["cancelled"]


async def test_a_run_that_is_cancelled_while_it_fails_keeps_the_reason_of_the_request(world: World) -> None:
    @world.app.job(retry=5)
    async def fails(ctx: Context) -> None:
        engine = world.app.engine
        await world.app.store.run(  # as from elsewhere: this node does not hear of it before the end
            lambda _: stop_chain(
                ctx.run_id, Status.CANCELLED, "no longer needed", engine.clock.now(), False, engine.kinds
            )
        )
        raise ValueError("broken")

    run = await world.start("fails")
    with pytest.raises(RunCancelled, match="no longer needed"):
        await run.result()
    (attempt,) = await world.app.attempts(run.id)
    assert (attempt.status, attempt.reason) == ("cancelled", "no longer needed")


async def test_a_terminated_run_is_over_at_once_and_its_late_result_is_refused(world: World) -> None:
    release = asyncio.Event()

    @world.app.job()
    async def stubborn() -> str:
        try:
            await release.wait()
        except asyncio.CancelledError:
            await asyncio.sleep(1)
        return "too late"

    run = await world.start("stubborn")
    await world.settle()
    assert await world.app.terminate(run.id, "now") == "terminated"
    with pytest.raises(RunCancelled, match="terminated: now"):
        await run.result()
    await world.advance("5s")
    assert (await run.info()).status == "terminated"
    assert (await run.info()).result is None


async def test_a_run_without_a_handler_is_parked_and_goes_on_when_one_arrives(world: World) -> None:
    run = await world.start("unknown", {"n": 5})
    await world.settle()
    info = await run.info()
    assert (info.status, info.reason) == ("waiting", "no_handler")
    await world.down()

    @world.app.job()
    async def unknown(n: int) -> int:
        return n

    await world.up()
    assert await run.result() == 5


async def test_checkpoints_survive_into_the_next_attempt(world: World) -> None:
    checkpoints: list[Any] = []

    @world.app.job(retry=3)
    async def steps(ctx: Any) -> list[int]:
        checkpoints.append(ctx.saved)
        done = ctx.saved or []
        for n in range(len(done), 3):
            done = [*done, n]
            await ctx.checkpoint(done)
            if n == 1 and ctx.attempt == 1:
                raise ValueError("half way")
        await ctx.progress(1.0, "all")
        return [*done, ctx.attempt]

    run = await world.start("steps")
    assert await run.result() == [0, 1, 2, 2]
    assert checkpoints == [None, [0, 1]]
    info = await run.info()
    assert info.checkpoint == [0, 1, 2]
    assert info.progress == {"done": 1.0, "note": "all"}


async def test_log_lines_are_kept_with_the_run_and_bounded(world: World) -> None:
    @world.app.job()
    async def chatty(ctx: Any) -> None:
        for n in range(1500):
            ctx.log(f"line {n} {'x' * 5000}")

    run = await world.start("chatty")
    await run.result()
    lines = await world.app.logs(run.id)
    assert len(lines) == 1001
    assert len(lines[0].message) == 4096
    assert lines[-1].message == "500 more lines were not kept"


async def test_what_is_not_json_or_too_large_fails_that_run_alone(world: World) -> None:
    @world.app.job()
    async def strange() -> object:
        return {1, 2}

    @world.app.job()
    async def huge() -> str:
        return "x" * 2_000_000

    @world.app.job()
    async def fine() -> int:
        return 1

    bad = [await world.start("strange"), await world.start("huge")]
    good = await world.start("fine")
    assert await good.result() == 1
    for run, words in zip(bad, ["is not JSON", "at most 1,048,576"], strict=True):
        with pytest.raises(RunFailed, match=words):
            await run.result()
    with pytest.raises(OstinatoError, match="is not JSON"):
        await world.start("other", {"a": object()})


async def test_a_name_that_no_store_keeps_and_a_priority_that_is_no_number_are_refused(world: World) -> None:
    for name in ("a\0b", "", "a\ud800"):
        with pytest.raises(OstinatoError, match="the job's name"):
            await world.start(name)
    with pytest.raises(OstinatoError, match="priority True is not a whole number"):
        await world.start("work", priority=True)


async def test_a_brace_outside_a_placeholder_is_refused_where_the_job_is_declared(world: World) -> None:
    async def send(user: str, text: str) -> None: ...

    for key in ("{user", "user}", "{}", "{user.id}", "{{user}}"):
        with pytest.raises(OstinatoError) as refused:
            world.app.job(serial_key=key)(send)
        assert str(refused.value) == (
            f"job 'send': serial_key {key!r} has a brace that is not part of a placeholder; "
            "its placeholders can be: {user}, {text}"
        )
    with pytest.raises(OstinatoError, match=r"the limit's key '\{user' has a brace"):
        world.app.job(concurrency=Limit("{user", most=1))(send)
    with pytest.raises(OstinatoError, match=r"the limit's key '\{usr\}' needs 'usr'; did you mean 'user'"):
        world.app.job(concurrency=Limit("{usr}", most=1))(send)


async def test_a_key_that_no_store_keeps_is_refused_before_anything_is_stored(world: World) -> None:
    @world.app.job(serial_key="{text}")
    async def keyed(text: str) -> None:
        pass

    with pytest.raises(OstinatoError, match=r"serial_key 'a.x00' is not a text that can be stored"):
        await world.start("keyed", {"text": "a\0"})
    with pytest.raises(OstinatoError, match=r"the limit's key 'a.x00' is not a text that can be stored"):
        await world.start("work", concurrency={"key": "a\0", "most": 1})
    with pytest.raises(OstinatoError, match=r"serial_key 'a.x00' is not a text"):
        await world.app.schedules.create("s", "0 9 * * *", "keyed", input={"text": "a\0"})
    with pytest.raises(OstinatoError, match="the token's label"):
        await world.app.create_token("reader", label="a\0")
    with pytest.raises(OstinatoError, match="the namespace's notes"):
        await world.app.create_namespace("team", "a\0")
    assert await world.runs() == []


async def test_priority_goes_first_and_then_the_order_of_starting(world: World) -> None:
    order: list[str] = []
    world.app.settings = world.app.settings.__class__(concurrency=1, lease=10**18)

    @world.app.job()
    async def work(tag: str) -> None:
        order.append(tag)
        await asyncio.sleep(1)

    await world.start("work", {"tag": "first"})
    await world.settle()
    for tag, priority in [("a", 0), ("b", 0), ("urgent", 5), ("later", -1)]:
        await world.start("work", {"tag": tag}, priority=priority)
    await world.advance("10s")
    assert order == ["first", "urgent", "a", "b", "later"]


async def test_plain_functions_run_in_threads(world: World) -> None:
    import threading

    @world.app.job()
    def work(ctx: Any, n: int) -> str:
        ctx.log("from a thread")
        ctx.checkpoint({"n": n})
        return threading.current_thread().name

    run = await world.start("work", {"n": 3})
    assert str(await run.result()).startswith("ostinato-job")
    assert (await run.info()).checkpoint == {"n": 3}
    assert [line.message for line in await world.app.logs(run.id)] == ["from a thread"]


async def test_events_reach_callbacks_in_order(world: World) -> None:
    seen: list[str] = []

    @world.app.on("run:*")
    async def hear(event: Any) -> None:
        seen.append(event.name)

    @world.app.on("run:succeeded")
    def broken(event: Any) -> None:
        raise RuntimeError("a callback's own problem")

    @world.app.job()
    async def work() -> None: ...

    await (await world.start("work")).result()
    await world.settle()
    assert seen == ["run:created", "run:started", "run:succeeded"]


@pytest.mark.parametrize("problem", [KeyboardInterrupt, SystemExit, GeneratorExit, asyncio.CancelledError])
async def test_whatever_a_callback_raises_the_next_event_is_delivered(
    world: World, problem: type[BaseException]
) -> None:
    seen: list[str] = []

    @world.app.on("run:*")
    async def hear(event: Any) -> None:
        seen.append(event.name)
        raise problem

    @world.app.job()
    async def work() -> None: ...

    await (await world.start("work")).result()
    await world.settle()
    assert seen == ["run:created", "run:started", "run:succeeded"]


async def test_a_named_callback_hears_what_happened_while_it_was_away(world: World) -> None:
    seen: list[int] = []

    @world.app.on("run:succeeded", name="mailer")
    async def hear(event: Any) -> None:
        seen.append(event.seq)

    @world.app.job()
    async def work() -> None: ...

    await (await world.start("work")).result()
    await world.settle()
    await world.down()
    world.app._listeners.clear()
    await world.up()
    await (await world.start("work")).result()
    await world.down()
    world.app.on("run:succeeded", name="mailer")(hear)
    await world.up()
    await world.settle()
    assert len(seen) == 2
    assert seen == sorted(seen)


@pytest.mark.parametrize("world", ["sqlite"], indirect=True)  # weeks of housekeeping
async def test_old_runs_and_events_are_removed(world: World) -> None:
    @world.app.job()
    async def work() -> None: ...

    old = await world.start("work")
    await old.result()
    await world.advance("29d")
    assert (await old.info()).status == "succeeded"
    young = await world.start("work")
    await young.result()
    await world.advance("3d")
    with pytest.raises(NotFound):
        await old.info()
    assert (await young.info()).status == "succeeded"
    assert {e.subject for e in await world.app.events(limit=1000)} == {young.id}


async def test_wrong_input_is_refused_at_the_door(world: World) -> None:
    @world.app.job()
    async def work(n: int) -> None: ...

    calls: list[tuple[Callable[[], Awaitable[object]], str]] = [
        (lambda: world.start("work", {"m": 1}), "it takes n"),
        (lambda: world.start("work", {"n": 1}, id=""), "1 to 512 characters"),
        (lambda: world.start("work", {"n": 1}, at="2026-06-01"), "has no offset"),
        (lambda: world.start("work", {"n": 1}, speed=3), "no option 'speed'"),
        (lambda: world.start("work", {"n": 1}, retry=0), "attempts 0 is not a whole number from 1"),
        (lambda: world.start("work", {"n": 1}, timeout=0), "greater than zero"),
        (lambda: world.start("work", {"n": 1}, serial_key="{customer}"), "needs 'customer' in the input"),
        (lambda: world.start("work", {"n": 1}, concurrency=Limit("k", most=0)), "most 0 is not a whole number from 1"),
        (lambda: world.start(print), "is not a job of this app"),
    ]
    for call, words in calls:
        with pytest.raises((OstinatoError, TypeError), match=words):
            await call()
    assert await world.app.runs() == []


async def test_a_namespace_sees_only_its_own(world: World) -> None:
    @world.app.job()
    async def work() -> None: ...

    run = await world.start("work")
    await run.result()
    world.app.namespace = "other"
    assert await world.app.runs() == []
    with pytest.raises(NotFound):
        await world.app.get(run.id)


def test_a_node_whose_outcomes_piled_up_claims_again_when_they_are_written(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On real time: only there are bodies faster than commits."""
    monkeypatch.setattr("ostinato.engine.claim_loop._BACKLOG", 5)
    monkeypatch.setattr("ostinato.engine.group_commit._MOST", 1)
    app = Ostinato(store_url, concurrency=20)

    @app.job()
    async def work() -> None: ...

    async def all_of_them() -> tuple[int, dict[str, int]]:
        async with app:
            ends = app.engine.bodies.ends
            most = 0

            async def watch() -> None:
                nonlocal most
                while True:
                    most = max(most, len(ends))
                    await asyncio.sleep(0)

            watching = asyncio.create_task(watch())
            async with asyncio.timeout(60):
                runs = await app.start_many(work, [{}] * 100)
                await asyncio.gather(*(run.result() for run in runs))
            watching.cancel()
            return most, await app.counts()

    most, counts = asyncio.run(all_of_them())
    assert 5 <= most < 100  # they piled up, and the claims stopped for it
    assert counts == {"succeeded": 100}
