"""Every transaction is committed, its answer is lost, and it is tried again: each call says what it would have said
otherwise, and is on record once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from ostinato import Ostinato
from ostinato.errors import NotFound
from ostinato.store.contract import Store
from ostinato.store.sqlite import SqliteStore
from ostinato.store.urls import open_url
from ostinato.testing import VirtualClock, run_virtual
from ostinato.testing.world import _FrozenTimeStore
from ostinato.when import cron
from tests.support.faults import ForgetfulStore
from tests.support.journey_parts import Work, plugins, text
from tests.support.postgres import empty

ASK = """
    ask: {type: wait, wait: {channel: manual, input: {schema: {type: integer}}}, next: done}
    done: {type: succeed, outputVar: payload}
    """
LOOP = """
    ask: {type: wait, wait: {channel: manual, input: {schema: {type: integer}}}, next: ask}
    """
BOOKED = """
    book:
      type: task
      task: {kind: 'schedule:v1', start: run, interval: PT1H, maxRuns: 3}
      next: done
    run: {type: succeed}
    done: {type: succeed}
    """


async def one_run(app: Ostinato) -> Any:
    handle = await app.start("work", {"n": 1})
    return handle.new, await handle.result()


async def one_run_with_an_id(app: Ostinato) -> Any:
    first = await app.start("work", {"n": 1}, id="mine")
    again = await app.start("work", {"n": 1}, id="mine")
    return first.new, again.new, first.id == again.id


async def many_runs(app: Ostinato) -> Any:
    handles = await app.start_many("work", [{"n": 1}] * 3, ids=["a", "b", "a"])
    return [one.new for one in handles]


async def a_run_for_later(app: Ostinato) -> Any:
    handle = await app.start("work", {"n": 1}, at="2036-01-01T00:00Z", id="later")
    return handle.new, await handle.cancel("no"), (await handle.info()).reason


async def a_run_once_more(app: Ostinato) -> Any:
    first = await app.start("work", {"n": 1})
    await first.result()
    again = await app.retry(first.id)
    return again.new, again.id != first.id, await again.result()


async def stopping(app: Ostinato) -> Any:
    handle = await app.start("endless")
    other = await app.start("endless")
    await asyncio.sleep(1)
    return await app.terminate(handle.id), await app.cancel(other.id)


async def namespaces(app: Ostinato) -> Any:
    answers = await app.create_namespace("team"), await app.create_namespace("team")
    await app.delete_namespace("team")
    try:
        await app.delete_namespace("team")
    except NotFound:
        return answers
    return None


async def tokens(app: Ostinato) -> Any:
    _, token = await app.create_token("reader", label="x")
    await app.revoke_token(token.id)
    return [(one.label, one.revoked is not None) for one in await app.tokens()]


async def schedules(app: Ostinato) -> Any:
    calls = app.schedules
    at = cron("0 9 * * *")
    said: list[Any] = [(await calls.create("s", at, "work", input={"n": 1}, trigger=True)).token]
    await asyncio.sleep(10)  # what was triggered is over before more is asked for
    said.append((await calls.upsert("s", at, "work", input={"n": 2}))[0])
    said.append((await calls.upsert("s", at, "work", input={"n": 2}))[0])
    said.append((await calls.upsert("t", at, "work", input={"n": 2}))[0])
    said.append((await calls.update("s", notes="x")).token)
    said.append((await calls.pause("s", "stop")).token)
    said.append((await calls.resume("s")).token)
    said.append((await calls.trigger("s")).run["status"])  # type: ignore[index]
    await asyncio.sleep(10)
    said.append((await calls.skip("s", "2026-01-02T09:00Z")).token)
    said.append((await calls.put_back("s", "2026-01-02T09:00Z")).token)
    said.append((await calls.move("s", "2026-01-02T09:00Z", "2026-01-02T10:00Z")).token)
    filled = await calls.backfill("s", "2025-12-01T00:00Z", "2025-12-03T00:00Z")
    said.append(filled.token)
    await asyncio.sleep(10)
    said.append((await calls.delete("t")).token)
    return said


async def declarations(app: Ostinato) -> Any:
    wanted = [app.schedules.draft(name, cron("0 9 * * *"), "work", input={"n": 1}) for name in ("a", "b")]
    first = await app.schedules.apply(wanted, origin="file:x")
    second = await app.schedules.apply(wanted[:1], origin="file:x", prune=True)
    return [[(step.name, step.verb) for step in plan.steps] for plan in (first, second)]


async def webhooks(app: Ostinato) -> Any:
    webhook = await app.webhooks.create("https://example.org/x", ["run:*"])
    changed = await app.webhooks.update(webhook.id, notes="n")
    await app.webhooks.disable(webhook.id)
    on = await app.webhooks.enable(webhook.id)
    await app.webhooks.delete(webhook.id)
    return changed.notes, on.state, await app.webhooks.list()


async def journeys(app: Ostinato) -> Any:
    calls = app.journeys
    said: list[Any] = [(await calls.deploy_text(text(ASK, start="ask")))[1]]
    said.append((await calls.deploy_text(text(ASK, start="ask")))[1])
    first = await calls.start("example", {})
    said.append((first.phase, first.steps))
    said.append((await calls.submit(first.id, "ask", 7)).phase)
    keyed = await calls.start("example", {}, id="mine")
    assert keyed.id == (await calls.start("example", {}, id="mine")).id
    said.append((await calls.submit(keyed.id, "ask", 8, key="k")).phase)
    said.append((await calls.submit(keyed.id, "ask", 8, key="k")).phase)
    stopped = await calls.start("example", {})
    said.append(((await calls.cancel(stopped.id)).phase, (await app.get(stopped.id)).status))
    return said


async def a_wait_that_waits_again(app: Ostinato) -> Any:
    await app.journeys.deploy(text(LOOP, start="ask"))
    id = (await app.journeys.start("example", {})).id
    for number in range(3):
        await app.journeys.submit(id, "ask", number)
    names = [one.name for one in await app.events(subject=id, limit=1000)]
    return names.count("journey:input_received")


async def bindings(app: Ostinato) -> Any:
    await app.journeys.deploy(text(BOOKED, start="book"))
    await app.journeys.start("example", {})
    (binding,) = await app.journeys.bindings()
    done = await app.journeys.cancel_binding(binding.id)
    return binding.max_runs, done.state, (await app.journeys.cancel_binding(binding.id)).state


CALLS: list[Callable[[Ostinato], Awaitable[Any]]] = [
    one_run, one_run_with_an_id, many_runs, a_run_for_later, a_run_once_more, stopping, namespaces, tokens, schedules,
    declarations, webhooks, journeys, a_wait_that_waits_again, bindings,
]  # fmt: skip


async def answers_and_events(store: Store, clock: VirtualClock, calls: Callable[[Ostinato], Awaitable[Any]]) -> Any:
    """What the calls answered, and the events that they left."""
    app = Ostinato(store, clock=clock, journey_plugins=plugins(Work()))

    @app.job()
    async def work(n: int) -> int:
        return n

    @app.job()
    async def endless() -> None:
        await asyncio.sleep(1e6)

    async with app:
        answer = await calls(app)
        await asyncio.sleep(60)  # until all of it is quiet
        events = await app.events(limit=10_000)
        assert await app.check(repair=False) == []
    return answer, sorted(one.name for one in events if not one.name.startswith(("node:", "engine:")))


@pytest.mark.parametrize("calls", CALLS, ids=lambda one: one.__name__)
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_call_whose_answer_was_lost_says_the_same_and_is_done_once(
    request: pytest.FixtureRequest, tmp_path: Path, kind: str, calls: Callable[[Ostinato], Awaitable[Any]]
) -> None:
    def play(forgetful: bool) -> Any:
        if kind == "sqlite":
            store: Store = SqliteStore(str(tmp_path / f"{forgetful}.db"), inline=True, durable=False)
        else:
            store = _FrozenTimeStore(open_url(request.getfixturevalue("postgres_url"), inline=True))
        clock = VirtualClock()
        return run_virtual(answers_and_events(ForgetfulStore(store) if forgetful else store, clock, calls), clock)

    expected = play(False)
    if kind == "postgres":
        empty(request.getfixturevalue("postgres_url"))
    assert play(True) == expected
