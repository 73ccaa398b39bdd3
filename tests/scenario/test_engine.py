"""The engine's own conduct: poison, outages, invariants, clocks, what it tells about itself."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client import generate_latest

from ostinato import Limit, Ostinato, OstinatoError, Retry, RunFailed, StoreUnavailable, every
from ostinato.diagnosis import diagnose
from ostinato.engine.claims import Hands
from ostinato.engine.executor import Stop
from ostinato.engine.rows import timer_row
from ostinato.engine.runs import stop
from ostinato.model import Status, Timer
from ostinato.store.contract import Operation, Row, sql
from ostinato.testing import World, run_virtual
from ostinato.when.instants import SECOND, Micros


async def test_one_poison_timer_is_parked_and_the_rest_go_on(world: World) -> None:
    fired: list[str] = []

    def fire(timers: Sequence[Timer], now: Micros, hands: Hands) -> Operation[list[Row]]:
        for timer in timers:
            if timer.owner == "poison":
                raise ValueError("bad data")
            fired.append(timer.owner)
        return []
        yield  # an operation, though it has nothing to ask the store

    await world.up()
    world.app.engine.purposes["test", "tick"] = fire
    due = world.clock.now() + 10 * SECOND
    owners = ["a", "poison", "b", "c"]
    await world.app.store.run(lambda _: _set([Timer("test", o, "tick", due) for o in owners]))
    world.app.engine.hint()
    await world.advance("20s")
    assert sorted(set(fired)) == ["a", "b", "c"]

    def parked(_: int) -> Operation[list[Row]]:
        return (yield sql("parked_timers", limit=10))

    (row,) = await world.app.store.read(parked)
    assert row[1] == "poison"
    assert "bad data" in row[6]
    (told,) = [one for one in await diagnose(world.app) if one.name == "parked_timers"]
    assert (told.state, "bad data" in told.words) == ("wrong", True)
    assert "doctor --repair" in told.remedy
    run = await world.start("later", at="2026-01-02T00:00Z")
    await world.advance_to("2026-01-02T00:00:01Z")
    assert (await run.info()).reason == "no_handler"


def _set(timers: list[Timer]) -> Operation[None]:
    yield sql("set_timers", [timer_row(t) for t in timers])


async def test_what_is_parked_can_be_tried_again(world: World) -> None:
    fired: list[str] = []
    healthy = False

    def fire(timers: Sequence[Timer], now: Micros, hands: Hands) -> Operation[list[Row]]:
        if not healthy:
            raise ValueError("bad data")
        fired.extend(timer.owner for timer in timers)
        return []
        yield  # an operation, though it has nothing to ask the store

    await world.up()
    world.app.engine.purposes["test", "tick"] = fire
    for repaired in ("one", "two"):
        healthy = False
        timer = Timer("test", repaired, "tick", world.clock.now())
        await world.app.store.run(lambda _, timer=timer: _set([timer]))  # type: ignore[misc]
        world.app.engine.hint()
        await world.advance("1s")
        healthy = True
        if repaired == "one":
            assert await world.app.unpark_timers() == 1
        else:
            (told,) = [one for one in await diagnose(world.app, repair=True) if one.name == "parked_timers"]
            assert (told.state, told.remedy) == ("notice", "they are tried again now")
        await world.advance("1s")
    assert fired == ["one", "two"]
    assert await world.app.unpark_timers() == 0


async def test_a_schedule_whose_timer_cannot_be_fired_is_parked_and_says_so(world: World) -> None:
    @world.app.job()
    async def tick() -> None: ...

    def poison(timers: Sequence[Timer], now: Micros, hands: Hands) -> Operation[list[Row]]:
        raise ValueError("bad data")
        yield

    await world.up()
    await world.app.schedules.create("tick", every("10s"), "tick")
    purposes = world.app.engine.purposes
    healthy, purposes["schedule", "next"] = purposes["schedule", "next"], poison
    await world.advance("15s")
    info = await world.app.schedules.get("tick")
    assert (info.state, info.next) == ("parked", None)
    assert "bad data" in (info.reason or "")
    (told,) = [one for one in await diagnose(world.app) if one.name == "parked_schedules"]
    assert (told.state, "bad data" in told.words) == ("wrong", True)
    purposes["schedule", "next"] = healthy
    await world.app.schedules.resume("tick")
    await world.advance("10s")
    assert await world.occurrences("tick") == ["skipped: parked", "succeeded"]
    names = [event.name for event in await world.app.events(subject=info.id, limit=100)]
    assert names.count("schedule:parked") == 1


async def test_a_purpose_that_only_newer_nodes_know_is_left_to_them(world: World) -> None:
    await world.up()
    due = world.clock.now() + SECOND
    await world.app.store.run(lambda _: _set([Timer("future", "x", "unknown", due)]))
    world.app.engine.hint()
    await world.advance("3s")
    (timer,) = [t for t in await world.app.upcoming() if t.kind == "future"]
    assert timer.due > due


async def test_what_became_due_in_an_outage_happens_after_it(world: World) -> None:
    @world.app.job()
    async def work() -> None: ...

    run = await world.start("work", at="2026-01-01T06:00Z")
    await world.outage("2026-01-01T05:00Z", "2026-01-01T09:00Z")
    info = await run.info()
    assert info.status == "succeeded"
    assert info.due.isoformat() == "2026-01-01T06:00:00+00:00"
    assert info.started is not None
    assert info.started.isoformat() == "2026-01-01T09:00:00+00:00"


async def test_a_crashed_attempt_is_followed_by_another_but_not_for_ever(world: World) -> None:
    world.app.settings = world.app.settings.__class__(lease=4 * SECOND)
    began: list[int] = []

    @world.app.job()
    async def deadly(ctx: Any) -> None:
        began.append(ctx.attempt)
        await asyncio.sleep(3600)

    @world.app.job(at_most_once=True)
    async def careful() -> None:
        await asyncio.sleep(3600)

    runs = [await world.start("deadly"), await world.start("careful")]
    for _ in range(3):
        await world.advance("1s")
        await world.crash()
        await asyncio.sleep(5)
        await world.up()
        await world.advance("6s")
    assert began == [1, 2, 3]
    attempts = await world.app.attempts(runs[0].id)
    assert [(a.status, a.reason) for a in attempts] == [
        ("crashed", "node lost"),
        ("crashed", "node lost"),
        ("failed", "crash_loop"),
    ]
    careful_info = await runs[1].info()
    assert (careful_info.attempt, careful_info.status) == (1, "failed")
    assert "at most once" in (careful_info.reason or "")


async def test_a_crash_takes_nothing_from_the_retries(world: World) -> None:
    world.app.settings = world.app.settings.__class__(lease=4 * SECOND)

    @world.app.job(retry={"attempts": 2, "delay": "1s", "jitter": 0})
    async def unlucky(ctx: Any) -> str:
        if ctx.attempt == 1:
            await asyncio.sleep(3600)
        if ctx.attempt == 2:
            raise ValueError("once")
        return "well"

    run = await world.start("unlucky")
    await world.advance("1s")
    await world.crash()
    await asyncio.sleep(5)
    await world.up()
    assert await run.result() == "well"
    assert [a.status for a in await world.app.attempts(run.id)] == ["crashed", "failed", "succeeded"]


async def test_the_scanner_repairs_what_is_safe_and_reports_all(world: World) -> None:
    @world.app.job(serial_key="k")
    async def work() -> None: ...

    @world.app.job(concurrency=3)
    async def limited() -> None: ...

    await world.up()

    def break_things(_: int) -> Operation[None]:
        yield sql("take_serials", [("default", "k", "nobody")])
        yield sql("open_limits", [("default", "job:limited", 3, None, 1000, 1)])
        yield sql("save_limits", [("default", "job:limited", 3, 0)])

    await world.app.store.run(break_things)
    stuck = await world.start("work")
    also = await world.start("limited")
    await world.settle()
    assert (await stuck.info()).status == (await also.info()).status == "buffered"
    reported = await world.app.check(repair=False)
    assert {f.rule for f in reported} == {"serial_held_by_the_dead", "limit_miscounted"}
    assert not any(f.repaired for f in reported)
    repaired = await world.app.check()
    assert all(f.repaired for f in repaired)
    await stuck.result()
    await also.result()
    assert await world.app.check() == []


async def test_logs_carry_an_action_and_metrics_count(world: World, caplog: pytest.LogCaptureFixture) -> None:
    @world.app.job()
    async def work() -> None: ...

    with caplog.at_level("INFO", logger="ostinato"):
        run = await world.start("work")
        await run.result()
        await world.settle()
        text = generate_latest(world.app.engine.metrics.registry).decode()
        await world.down()
    assert [record.values["action"] for record in caplog.records] == ["node_started", "node_stopped"]  # type: ignore[attr-defined]
    assert 'ostinato_runs_ended_total{status="succeeded"} 1.0' in text
    assert "ostinato_runs_claimed_total 1.0" in text


def test_spans_are_made_where_tracing_is_set_up() -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))

    world = World()

    async def main() -> None:
        @world.app.job()
        async def work() -> None: ...

        await world.up()
        world.app.engine.bodies.spans.on = True
        world.app.engine.bodies.spans.tracer = trace.get_tracer("ostinato", tracer_provider=provider)
        await (await world.start("work")).result()
        await world.close()

    run_virtual(main(), world.clock)
    spans = {span.name: span for span in exporter.get_finished_spans()}
    assert set(spans) == {"run work", "claim"}
    span = spans["run work"]
    assert span.attributes is not None
    assert span.attributes["ostinato.attempt"] == 1


async def test_a_late_beat_is_noticed(world: World) -> None:
    await world.up()
    engine = world.app.engine
    assert engine.beat.late_by() == 0
    for loop in engine._loops:
        loop.cancel()
    assert world.app.ready()
    await asyncio.sleep(60)
    assert engine.beat.late_by() == pytest.approx(55 * SECOND, abs=SECOND)
    assert not world.app.ready()


async def test_a_clock_that_steps_back_does_not_fire_twice(world: World) -> None:
    times: list[int] = []

    @world.app.job()
    async def work() -> None:
        times.append(world.clock.now())

    await world.start("work", at="2026-01-01T01:00Z")
    await world.advance_to("2026-01-01T01:00:01Z")
    world.app.engine.clock.ahead -= 7200 * SECOND
    await world.advance("3h")
    assert len(times) == 1


def test_a_year_passes_in_a_moment() -> None:
    days: list[int] = []
    world = World()

    async def main() -> None:
        @world.app.job()
        async def daily(n: int) -> None:
            days.append(n)
            if n < 365:
                await world.app.start("daily", {"n": n + 1}, at=world.now + timedelta(days=1))

        await world.start("daily", {"n": 1})
        await world.advance("366d")
        await world.close()

    run_virtual(main(), world.clock)
    assert days == list(range(1, 366))


async def test_expectations_tell_what_they_found(world: World) -> None:
    @world.app.job()
    async def work(n: int) -> None:
        if n == 2:
            raise ValueError("two")

    for n in (1, 2):
        await world.start("work", {"n": n})
    await world.settle()
    await world.expect("work", "succeeded", "failed: ValueError*")
    with pytest.raises(AssertionError, match="failed: ValueError: two"):
        await world.expect("work", "succeeded", "succeeded")


async def test_a_store_that_fails_while_a_run_ends_loses_neither_its_outcome_nor_its_lines(world: World) -> None:
    @world.app.job()
    async def chatty(ctx: Any) -> str:
        ctx.log("something")
        return "done"

    await world.up()
    engine = world.app.engine
    real, failures = engine.bodies.ends._commit, 3

    async def failing(ends: Any) -> Any:
        nonlocal failures
        if failures:
            failures -= 1
            raise StoreUnavailable("away")
        return await real(ends)

    engine.bodies.ends._commit = failing
    run = await world.start("chatty")
    assert await run.result() == "done"
    assert failures == 0
    assert [line.message for line in await world.app.logs(run.id)] == ["something"]


async def test_a_policy_given_in_words_is_read_and_one_that_cannot_be_is_refused(world: World) -> None:
    times: list[Micros] = []

    @world.app.job(retry=Retry(attempts=2, delay="5s", jitter=0))
    async def worded() -> None:
        times.append(world.clock.now())
        raise ValueError("again")

    run = await world.start("worded", concurrency=Limit("k", most=1, per="1m"))
    with pytest.raises(RunFailed):
        await run.result()
    assert times[1] - times[0] == 5 * SECOND
    for wrong in ({"keep_runs": "P1M"}, {"lease": 0}, {"keep_events": "-1s"}, {"keep_runs": 0}):
        with pytest.raises(OstinatoError):
            Ostinato("sqlite:///never.db", **wrong)


async def test_a_cancel_request_survives_being_handed_back(world: World) -> None:
    world.app.settings = world.app.settings.__class__(lease=4 * SECOND, grace=SECOND)

    @world.app.job()
    async def long() -> None:
        await asyncio.sleep(10**6)

    run = await world.start("long")
    await world.settle()
    await world.app.store.run(lambda _: stop(run.id, Status.CANCELLED, "enough", world.clock.now()))
    await world.down()
    await world.up()
    await world.advance("5s")
    assert (await run.info()).status == "cancelled"


async def test_the_scanner_runs_by_itself(world: World) -> None:
    @world.app.job(serial_key="k")
    async def work() -> None: ...

    await world.up()

    def hold_by_nobody(_: int) -> Operation[None]:
        yield sql("take_serials", [("default", "k", "nobody")])

    await world.app.store.run(hold_by_nobody)
    run = await world.start("work")
    await world.advance("7h")
    assert (await run.info()).status == "succeeded"
    names = [e.name for e in await world.app.events(limit=100)]
    assert "engine:invariant_broken" in names


async def test_a_rate_alone_does_not_limit_how_many_run_at_once(world: World) -> None:
    running, most = 0, 0

    @world.app.job(concurrency=Limit("api", rate=50, per="1s"))
    async def work() -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(100)
        running -= 1

    await world.up()
    await world.app.start_many("work", [{} for _ in range(80)])
    await world.advance("5s")
    assert most == 80


async def test_a_body_that_is_stopped_before_its_first_step_ends_all_the_same(world: World) -> None:
    @world.app.job()
    async def work() -> None:
        await asyncio.sleep(600)

    await world.up()
    engine = world.app.engine
    began = engine.bodies.begin
    cancelled: list[bool] = []

    def begin_and_stop(run: Any) -> None:
        began(run)
        if not cancelled:
            cancelled.append(engine.bodies.cancel_here(run.id, Stop(Status.CANCELLED, "at once")))

    engine.bodies.begin = begin_and_stop  # type: ignore[method-assign]
    run = await world.start("work")
    await world.advance("1s")
    assert cancelled == [True]
    assert (await run.info()).status == "cancelled"
