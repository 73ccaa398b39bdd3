"""Several callers give inputs to the same few waits at the same moment, from one node or two, beside cancels and
timeouts, while the store loses answers after commits. An answer that an input was taken is true, and so is
an answer that it was not."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from ostinato import Ostinato
from ostinato.errors import Conflict, NotFound, StoreUnavailable
from ostinato.store.contract import Store
from ostinato.store.sqlite import SqliteStore
from ostinato.store.urls import open_url
from ostinato.testing import VirtualClock, run_virtual
from ostinato.testing.world import _FrozenTimeStore
from tests.support.faults import FaultyStore, HesitantStore
from tests.support.journey_parts import Work, plugins, text

ONCE = text(
    """
    ask:
      type: wait
      wait: {channel: manual, input: {schema: {type: integer}}, timeoutSec: 10, onTimeout: late}
      next: done
    done: {type: succeed, outputVar: payload}
    late: {type: fail, errorCode: LATE, reason: nobody answered}
    """,
    start="ask",
)
LOOP = text(
    """
    ask:
      type: wait
      wait: {channel: manual, input: {schema: {type: integer}}, timeoutSec: 10, onTimeout: late}
      next: note
    note:
      type: transform
      transform:
        mapper: {lang: py, expr: "{**context, 'taken': context.get('taken', []) + [context['payload']]}"}
        target: {kind: context}
      next: enough
    enough:
      type: choice
      choices: [{when: {predicate: {lang: py, expr: "len(context['taken']) < 4"}}, next: work}]
      default: done
    work: {type: task, task: {kind: 'work:v1', seconds: 0.1}, next: ask}
    done: {type: succeed, outputVar: taken}
    late: {type: fail, errorCode: LATE, reason: nobody answered}
    """,
    start="ask",
)


class Caller:
    """Gives inputs, and remembers the answer to each: `taken`, `refused`, or `unknown`."""

    def __init__(self, app: Ostinato) -> None:
        self.app = app
        self.answers: dict[int, str] = {}

    async def submit(self, id: str, value: int, key: str | None) -> None:
        for _ in range(10):
            try:
                await self.app.journeys.submit(id, "ask", value, key=key, wait="60s")
            except (Conflict, NotFound):
                self.answers[value] = "refused"
            except StoreUnavailable:
                self.answers[value] = "unknown"
                if key is not None:  # with a key it may be asked for again
                    continue
            else:
                self.answers[value] = "taken"
            return


@dataclass
class Scene:
    """One journey, the nodes that move it, and the stores that they see it through."""

    apps: list[Ostinato]
    stores: list[FaultyStore]
    dice: random.Random
    name: str

    @property
    def app(self) -> Ostinato:
        return self.dice.choice(self.apps)

    async def start(self) -> str:
        while True:
            try:
                return (await self.app.journeys.start("example", id=self.name, wait="5s")).id
            except StoreUnavailable:
                await asyncio.sleep(0.1)

    async def cancel(self, id: str) -> None:
        with suppress(StoreUnavailable):
            await self.app.journeys.cancel(id)

    def break_stores(self) -> None:
        for store in self.stores:
            store.ambiguous, store.lost = self.dice.choice([(0.0, 0.0), (0.3, 0.0), (0.2, 0.1)])

    def mend_stores(self) -> None:
        for store in self.stores:
            store.ambiguous = store.lost = 0.0


async def later(work: Awaitable[None], after: float) -> None:
    await asyncio.sleep(after)
    await work


async def play(scene: Scene, definition: str) -> None:
    dice = scene.dice
    await scene.apps[0].journeys.deploy(definition)
    scene.break_stores()
    id = await scene.start()
    moments = [0.0, 0.0, 0.1, 9.999, 10.0, 10.001]
    callers = [Caller(scene.app) for _ in range(4)]
    calls: list[Awaitable[None]] = []
    for number, caller in enumerate(callers):
        for turn in range(3):
            value = number * 10 + turn
            key = f"k{value}" if dice.random() < 0.5 else None
            calls.append(later(caller.submit(id, value, key), dice.choice(moments) + 0.1 * turn * dice.choice([0, 1])))
    if dice.random() < 0.4:
        calls.append(later(scene.cancel(id), dice.choice(moments)))
    await asyncio.gather(*calls)
    scene.mend_stores()
    async with asyncio.timeout(200):
        while not (await scene.apps[0].get(id)).over:
            await asyncio.sleep(1)
    await judge(scene.apps[0], id, {value: said for caller in callers for value, said in caller.answers.items()})


async def judge(app: Ostinato, id: str, answers: dict[int, str]) -> None:
    _, instance = await app.journeys.instance(id)
    outcome = await app.journeys.result(id)
    events = await app.events(subject=id, limit=1000)
    received = [one for one in events if one.name == "journey:input_received"]
    taken = {*instance.context.get("taken", ())}
    taken |= {instance.context["payload"]} if "payload" in instance.context else set()
    acknowledged = {value for value, said in answers.items() if said == "taken"}
    unknown = {value for value, said in answers.items() if said == "unknown"}
    assert acknowledged <= taken <= acknowledged | unknown, (answers, taken)
    assert len(received) == len(taken) == len({one.data["call"] for one in received}), (answers, taken)
    assert [one.name for one in events].count("journey:completed") == 1
    ends = {"SUCCEEDED": "succeeded", "LATE": "failed", "JOURNEY_CANCELLED": "cancelled"}
    assert (await app.get(id)).status == ends[outcome.status if outcome.error else "SUCCEEDED"]
    assert await app.check(repair=False) == []


async def scenario(stores: list[Store], clock: VirtualClock, seed: int, definition: str) -> None:
    dice = random.Random(seed)
    faulty = [FaultyStore(HesitantStore(store, dice), dice) for store in stores]
    apps = [Ostinato(store, clock=clock, journey_plugins=plugins(Work())) for store in faulty]
    async with AsyncExitStack() as stack:
        for app in apps:
            await stack.enter_async_context(app)
        await play(Scene(apps, faulty, dice, f"one-{seed}"), definition)


def play_all(seeds: range, stores: Callable[[int], list[Store]], definition: str) -> None:
    for seed in seeds:
        clock = VirtualClock()
        try:
            run_virtual(scenario(stores(seed), clock, seed, definition), clock)
        except BaseException as problem:
            problem.add_note(f"seed {seed}")
            raise


@pytest.mark.parametrize("nodes", [1, 2])
@pytest.mark.parametrize("definition", [ONCE, LOOP], ids=["once", "loop"])
def test_every_answer_about_an_input_is_true_on_sqlite(tmp_path: Path, definition: str, nodes: int) -> None:
    def stores(seed: int) -> list[Store]:
        return [SqliteStore(str(tmp_path / f"{seed}.db"), inline=True, durable=False)] * nodes

    play_all(range(30), stores, definition)


@pytest.mark.parametrize("nodes", [1, 2])
@pytest.mark.parametrize("definition", [ONCE, LOOP], ids=["once", "loop"])
def test_every_answer_about_an_input_is_true_on_postgres(postgres_url: str, definition: str, nodes: int) -> None:
    def stores(seed: int) -> list[Store]:
        return [_FrozenTimeStore(open_url(postgres_url, inline=True)) for _ in range(nodes)]

    play_all(range(5), stores, definition)
