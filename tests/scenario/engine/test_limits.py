"""Serial keys, limits, rates and fair shares."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ostinato import Limit, Ostinato, OstinatoError, Retry, every
from ostinato.engine.limits import Gate, admit
from ostinato.store.contract import Operation, Row, sql
from ostinato.testing import World
from ostinato.when.instants import SECOND


class Watch:
    """Which bodies of a key run at once, and in what order they began."""

    def __init__(self) -> None:
        self.now: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self.order: dict[str, list[int]] = {}

    async def body(self, key: str, n: int, seconds: float) -> None:
        self.now[key] += 1
        self.most[key] = max(self.most[key], self.now[key])
        self.order.setdefault(key, []).append(n)
        try:
            await asyncio.sleep(seconds)
        finally:
            self.now[key] -= 1


async def test_one_key_runs_one_at_a_time_in_order(world: World) -> None:
    watch = Watch()

    @world.app.job(serial_key="{key}")
    async def work(key: str, n: int) -> None:
        await watch.body(key, n, 1)

    dice = random.Random(1)
    keys = [dice.choice(["hot", "hot", "a", "b", "c"]) for _ in range(40)]
    runs = await _many(world, "work", [{"key": k, "n": n} for n, k in enumerate(keys)])
    await asyncio.gather(*(run.result() for run in runs))
    assert set(watch.most.values()) == {1}
    assert all(order == sorted(order) for order in watch.order.values())
    assert await world.app.check() == []


async def test_a_chain_keeps_its_key_through_retries(world: World) -> None:
    log: list[str] = []

    @world.app.job(serial_key="k", retry=Retry(attempts=3, delay="10s", factor=1, jitter=0))
    async def work(tag: str) -> None:
        log.append(tag)
        if tag == "a" and log.count("a") < 3:
            raise ValueError("again")

    runs = await _many(world, "work", [{"tag": "a"}, {"tag": "b"}])
    await asyncio.gather(*(run.result() for run in runs))
    assert log == ["a", "a", "a", "b"]


async def test_a_key_held_only_while_active_is_free_between_attempts(world: World) -> None:
    log: list[str] = []

    @world.app.job(serial_key="k", serial_hold="active", retry=Retry(attempts=2, delay="10s", jitter=0))
    async def work(tag: str) -> None:
        log.append(tag)
        if tag == "a" and log.count("a") < 2:
            raise ValueError("again")

    runs = await _many(world, "work", [{"tag": "a"}, {"tag": "b"}])
    await asyncio.gather(*(run.result() for run in runs))
    assert log == ["a", "b", "a"]


@pytest.mark.parametrize("how", ["cancel", "terminate", "fail", "time out"])
async def test_however_the_holder_ends_the_next_goes(world: World, how: str) -> None:
    log: list[str] = []

    @world.app.job(serial_key="k", timeout="1h")
    async def work(tag: str) -> None:
        log.append(tag)
        if tag == "a":
            await asyncio.sleep(60 if how == "fail" else 10**6)
            raise ValueError("end")

    runs = await _many(world, "work", [{"tag": "a"}, {"tag": "b"}, {"tag": "c"}])
    await world.settle()
    assert (await runs[1].info()).status == "buffered"
    if how == "cancel":
        await runs[1].cancel()
        await runs[0].cancel()
    elif how == "terminate":
        await world.app.terminate(runs[0].id)
    await world.advance("2h")
    assert log == (["a", "c"] if how == "cancel" else ["a", "b", "c"])
    assert await world.app.check() == []


async def test_a_limit_lets_so_many_go_at_once(world: World) -> None:
    watch = Watch()

    @world.app.job(concurrency=Limit("{key}", most=3))
    async def work(key: str, n: int) -> None:
        await watch.body(key, n, 1)

    begin = world.clock.now()
    runs = await _many(world, "work", [{"key": "ab"[n % 2], "n": n} for n in range(24)])
    await asyncio.gather(*(run.result() for run in runs))
    assert watch.most == {"a": 3, "b": 3}
    assert (world.clock.now() - begin) // SECOND == 4
    assert await world.app.check() == []


async def test_a_number_limits_the_job_itself(world: World) -> None:
    watch = Watch()

    @world.app.job(concurrency=2)
    async def work(n: int) -> None:
        await watch.body("all", n, 1)

    runs = await _many(world, "work", [{"n": n} for n in range(6)])
    await asyncio.gather(*(run.result() for run in runs))
    assert watch.most == {"all": 2}


async def test_a_rate_lets_so_many_go_in_a_period(world: World) -> None:
    times: list[int] = []

    @world.app.job(concurrency=Limit("api", rate=5, per="60s"))
    async def work() -> None:
        times.append(world.clock.now())

    begin = world.clock.now()
    runs = await _many(world, "work", [{} for _ in range(15)])
    await asyncio.gather(*(run.result() for run in runs))
    at = [(t - begin) // SECOND for t in times]
    assert at[:5] == [0] * 5
    assert at[5:] == [12 * n for n in range(1, 11)]


async def test_a_limit_that_nobody_needs_is_forgotten_and_one_in_use_is_not(world: World) -> None:
    @world.app.job(concurrency=Limit("tenant {key}", most=1))
    async def work(key: str, hours: int) -> None:
        await asyncio.sleep(hours * 3600)

    def limits(_: int) -> Operation[list[Row]]:
        return (yield sql("lock_limits", [("default", f"tenant {key}") for key in ("short", "long")]))

    async def limit_keys() -> set[str]:
        return {row[1] for row in await world.app.store.read(limits)}

    long = [await world.start("work", {"key": "long", "hours": 5}) for _ in range(2)]
    await (await world.start("work", {"key": "short", "hours": 1})).result()
    assert await limit_keys() == {"tenant short", "tenant long"}
    await world.advance("7h")
    assert await limit_keys() == {"tenant long"}
    again = await world.start("work", {"key": "short", "hours": 0})
    await asyncio.gather(again.result(), *(run.result() for run in long))
    assert await world.app.check() == []


async def test_a_small_tenant_is_not_kept_waiting_by_a_large_one(world: World) -> None:
    world.app.settings = world.app.settings.__class__(concurrency=10, lease=10**18)
    first: dict[str, int] = {}
    done: Counter[str] = Counter()

    @world.app.job(concurrency=Limit("{tenant}"))
    async def work(tenant: str) -> None:
        first.setdefault(tenant, world.clock.now())
        await asyncio.sleep(1)
        done[tenant] += 1

    begin = world.clock.now()
    await _many(world, "work", [{"tenant": "large"} for _ in range(300)])
    await _many(world, "work", [{"tenant": f"small{n}"} for n in range(9) for _ in range(30)])
    await world.advance("20s")
    assert max(first.values()) - begin <= 3 * SECOND
    shares = [done[t] for t in first]
    assert max(shares) <= 1.6 * min(shares)


async def test_weights_give_larger_shares(world: World) -> None:
    world.app.settings = world.app.settings.__class__(concurrency=10, lease=10**18)
    done: Counter[str] = Counter()

    @world.app.job()
    async def work(tenant: str) -> None:
        await asyncio.sleep(1)
        done[tenant] += 1

    for tenant, weight in [("heavy", 3), ("light", 1)]:
        limit = Limit(tenant, weight=weight)
        await _many(world, "work", [{"tenant": tenant} for _ in range(400)], concurrency=limit)
    await world.advance("40s")
    assert done["heavy"] / done["light"] == pytest.approx(3, rel=0.1)


async def test_serial_key_and_limit_together(world: World) -> None:
    watch = Watch()
    total = Watch()

    @world.app.job(serial_key="{key}", concurrency=Limit("pool", most=2))
    async def work(key: str, n: int) -> None:
        await asyncio.gather(watch.body(key, n, 1), total.body("all", n, 1))

    dice = random.Random(2)
    runs = await _many(world, "work", [{"key": dice.choice("abcd"), "n": n} for n in range(30)])
    await asyncio.gather(*(run.result() for run in runs))
    assert set(watch.most.values()) == {1}
    assert total.most["all"] == 2
    assert all(order == sorted(order) for order in watch.order.values())
    assert await world.app.check() == []


@given(
    st.builds(
        Gate,
        st.just("n"),
        st.just("k"),
        st.none() | st.integers(1, 20),
        st.none() | st.integers(1, 50),
        st.integers(1000, 10**9),
        st.integers(1, 5),
        st.integers(0, 30),
        st.integers(0, 10**10),
    ),
    st.integers(0, 100),
    st.integers(0, 10**10),
)
def test_a_gate_never_lets_in_more_than_it_holds(gate: Gate, wanted: int, now: int) -> None:
    admitted, after, again = admit(gate, wanted, now)
    assert 0 <= admitted <= wanted
    assert after.used == gate.used + admitted
    if gate.most is not None and admitted:
        assert after.used <= gate.most
    if gate.rate is not None:
        assert admitted <= gate.rate
    assert again is None or again > now


async def _many(world: World, name: str, inputs: list[dict[str, Any]], **options: Any) -> list[Any]:
    await world.up()
    return await world.app.start_many(name, inputs, **options)


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


async def test_keys_take_the_defaults_of_what_the_input_leaves_out(world: World) -> None:
    def declare(app: Ostinato) -> None:
        @app.job(serial_key="report-{kind}-{copies}", concurrency=Limit("pool-{kind}", most=2))
        async def report(kind: str = "daily", copies: int = 2, note: object = object) -> None: ...

    async def keys(app: Ostinato, id: str) -> tuple[str | None, str | None]:
        run = await app.get(id)
        return run.serial_key, run.concurrency_key

    declare(world.app)
    await world.up()
    start = world.app.start
    assert await keys(world.app, (await start("report")).id) == ("report-daily-2", "pool-daily")
    assert await keys(world.app, (await start("report", {"kind": "x"})).id) == ("report-x-2", "pool-x")
    assert await keys(world.app, (await start("report", {"*": ["y"]})).id) == ("report-y-2", "pool-y")
    with pytest.raises(OstinatoError, match=r"has '\*', a list of all arguments by position, and also 'x'"):
        await start("report", {"*": ["y"], "x": 1})
    keyed = await start("report", serial_key="{copies}")
    assert await keys(world.app, keyed.id) == ("2", "pool-daily")
    with pytest.raises(OstinatoError, match="needs 'note' in the input"):
        await start("report", serial_key="{note}")  # a default that JSON cannot hold

    await world.app.schedules.create("nightly", every("1h"), "report")
    await world.advance("1h")
    (occurrence,) = await world.app.schedules.history("nightly")
    assert await keys(world.app, occurrence.run_id) == ("report-daily-2", "pool-daily")

    async with Ostinato(
        world.app.store, clock=world.clock
    ).connected() as other:  # without the function, by what nodes have declared
        assert await keys(other, (await other.start("report", {"copies": 3})).id) == ("report-daily-3", "pool-daily")
        assert await keys(other, (await other.start("report", {"*": ["z"]})).id) == ("report-z-2", "pool-z")


async def test_runs_with_an_empty_key_run_end_and_are_recovered(world: World) -> None:
    called: list[str] = []

    @world.app.job(serial_key="one", concurrency=Limit("{customer}", most=1))
    async def send(customer: str) -> None:
        called.append(customer)
        await asyncio.sleep(10)

    world.app.configure(lease="1m")
    await world.up()
    runs = [await world.start("send", {"customer": customer}) for customer in ("a", "", "")]
    await world.advance("15s")
    await world.crash()
    await world.up()
    await world.advance("5m")
    assert [(await run.info()).status for run in runs] == ["succeeded"] * 3
    assert called == ["a", "", "", ""]  # the second was interrupted
    assert await world.app.check() == []


async def test_a_stored_action_with_arguments_by_position_and_by_name_goes_on(world: World) -> None:
    called: list[tuple[int, int]] = []

    @world.app.job()
    async def work(x: int, y: int = 0) -> None:
        called.append((x, y))

    await world.up()
    schedules = world.app.schedules
    with pytest.raises(OstinatoError, match="a list of all arguments by position, and also 'y'"):
        await schedules.create("s", every("1m"), "work", {"*": [1], "y": 2})
    draft = schedules.draft("s", every("1m"), "work", {"*": [1]})
    stored = replace(draft, action=replace(draft.action, input={"*": [1], "y": 2}))  # as former versions did
    await schedules.create_many([stored])
    with pytest.raises(OstinatoError, match="schedule 's': the input has"):
        await schedules.trigger("s", input={"*": [1], "y": 2})
    with pytest.raises(OstinatoError, match="schedule 's': the input has"):
        await schedules.backfill("s", "2025-01-01T00:00Z", "2025-01-02T00:00Z", input={"*": [1], "y": 2})
    await world.advance("2m")
    assert called == [(1, 0), (1, 0)]
