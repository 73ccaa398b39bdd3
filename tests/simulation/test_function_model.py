"""Random programs as durable functions, with random crashes, stops, messages and cancellations, against a model of the
same program that knows neither steps nor replays."""

from __future__ import annotations

import asyncio
import os
import random
import tempfile
from collections import Counter
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ostinato import Ostinato, RunCancelled
from ostinato.functions import Cancelled, ChildFailed, FunctionContext, FunctionOver, ReceiveTimedOut, StepFailed, step
from ostinato.functions.store import statement
from ostinato.store.contract import Operation, Row
from ostinato.store.sqlite import SqliteStore
from ostinato.testing import VirtualClock, World, run_virtual
from tests.support.examples import examples
from tests.support.faults import HesitantStore

Program = list[Any]
ALWAYS = 99  # as the number of failures of a step

# Programs are JSON: lists of operations, each a list that begins with its name.
LEAVES = st.one_of(
    st.tuples(st.just("step"), st.sampled_from([0, 0, 1, 2, ALWAYS]), st.sampled_from([0.0, 0.4, 3.0])),
    st.tuples(st.just("sleep"), st.sampled_from([0, 1, 7])),
    st.tuples(st.just("receive"), st.sampled_from([None, 2, 9])),
    st.tuples(st.just("values")),
    st.tuples(st.just("version"), st.integers(1, 3)),
    st.tuples(st.just("job"), st.integers(0, 9)),
)
BODIES = st.recursive(
    st.lists(LEAVES, min_size=1, max_size=4),
    lambda bodies: st.lists(
        st.one_of(
            LEAVES,
            st.tuples(st.just("gather"), st.lists(bodies, min_size=0, max_size=3)),
            st.tuples(st.just("child"), bodies),
        ),
        min_size=1,
        max_size=4,
    ),
    max_leaves=12,
)
PROGRAMS = st.lists(BODIES, min_size=1, max_size=3)  # each but the last continues as the next
EVENTS = st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.1, 0.5, 1.0, 2.0, 9.0]),
        st.sampled_from(["send", "send", "send", "crash", "stop", "cancel", "nothing"]),
        st.integers(0, 99),
    ),
    max_size=12,
)


def label(body: Any, numbers: count[int], branch: str = "m") -> Program:
    """Give steps a key and receives a mailbox of their branch, so that the order within one is certain."""
    labelled: Program = []
    for name, *arguments in body:
        number = next(numbers)
        match name:
            case "step" | "version":
                labelled.append([name, f"{name}{number}", *arguments])
            case "receive":
                labelled.append([name, branch, *arguments])
            case "gather":
                labelled.append([name, [label(one, numbers, f"m{number}.{i}") for i, one in enumerate(arguments[0])]])
            case "child":
                labelled.append([name, label(arguments[0], numbers, f"m{number}")])
            case _:
                labelled.append([name, *arguments])
    return labelled


def mailboxes(body: Program) -> Counter[str]:
    """How many receives each mailbox has, without those of children."""
    boxes: Counter[str] = Counter()
    for name, *arguments in body:
        if name == "receive":
            boxes[arguments[0]] += 1
        elif name == "gather":
            for branch in arguments[0]:
                boxes += mailboxes(branch)
    return boxes


class Interpreter:
    """The same program twice: as a durable function, and as a model that checks what the function returned."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()  # steps that have returned
        self.failures: Counter[str] = Counter()
        self.results: dict[str, list[Any]] = {}  # by run and generation, of every execution that came to its end

    def declare(self, app: Ostinato) -> None:
        @app.job
        async def twice(n: int) -> int:
            await asyncio.sleep(0.3)
            return 2 * n

        @app.function()
        async def program(ctx: FunctionContext, bodies: list[Any]) -> Any:
            body, *rest = bodies
            try:
                result = await self.execute(ctx, body)
                ctx.set_state(len(rest))
            except Cancelled:
                await ctx.step(self.work, f"clean {ctx.run_id}", 0, 0.1)
                raise
            self.results.setdefault(f"{ctx.run_id}/{len(rest)}", []).append(result)
            if rest:
                ctx.continue_as({"bodies": rest})
            return result

    async def work(self, key: str, failures: int, seconds: float) -> str:
        await asyncio.sleep(seconds)
        if failures == ALWAYS or self.failures[key] < failures:
            self.failures[key] += 1
            raise ValueError(key)
        self.calls[key] += 1
        return key

    async def execute(self, ctx: FunctionContext, body: Program) -> list[Any]:
        outcomes: list[Any] = []
        for name, *arguments in body:
            outcomes.append(await self.do(ctx, name, arguments))
        return outcomes

    async def do(self, ctx: FunctionContext, name: str, arguments: list[Any]) -> Any:
        match name:
            case "step":
                policy = {"attempts": 3, "delay": "1s", "jitter": 0}
                try:
                    return await ctx.step(step(self.work, name=arguments[0], retry=policy), *arguments)
                except StepFailed as failed:
                    return ["failed", failed.step]
            case "sleep":
                return await ctx.sleep(arguments[0])
            case "receive":
                try:
                    return await ctx.receive(arguments[0], timeout=arguments[1])
                except ReceiveTimedOut:
                    return "late"
            case "values":
                ctx.now()
                ctx.log("values")
                return [ctx.random() < 1, len(str(ctx.uuid()))]
            case "version":
                return ctx.version(*arguments)
            case "job":
                return await (await ctx.start("twice", {"n": arguments[0]})).result()
            case "gather":
                return await ctx.gather(*(self.execute(ctx, branch) for branch in arguments[0]))
            case "child":
                child = await ctx.start("program", {"bodies": [without_endless_receives(arguments[0])]})
                try:
                    return await child.result()
                except ChildFailed as failed:
                    return ["child", failed.status]
        raise AssertionError(name)

    def check(self, body: Program, outcomes: list[Any], received: dict[str, int]) -> None:
        """Compare what a program returned with what it says. `received` counts the messages of each mailbox."""
        assert len(outcomes) == len(body)
        for (name, *arguments), outcome in zip(body, outcomes, strict=True):
            match name:
                case "step":
                    key, failures, _ = arguments
                    assert outcome == (key if failures < 3 else ["failed", key])
                case "sleep":
                    assert outcome is None
                case "receive":
                    box, timeout = arguments
                    if outcome == "late":
                        assert timeout is not None
                    else:
                        assert outcome == [box, received.get(box, 0)], "lost, received twice, or out of order"
                        received[box] = received.get(box, 0) + 1
                case "values":
                    assert outcome == [True, 36]
                case "version":
                    assert outcome == arguments[1]
                case "job":
                    assert outcome == 2 * arguments[0]
                case "gather":
                    assert len(outcome) == len(arguments[0])
                    for branch, result in zip(arguments[0], outcome, strict=True):
                        self.check(branch, result, received)
                case "child":
                    self.check(without_endless_receives(arguments[0]), outcome, {})


def without_endless_receives(body: Program) -> Program:
    """The program of a child, to which nobody sends anything."""
    return [
        ["receive", arguments[0], arguments[1] or 3]
        if name == "receive"
        else ["gather", [without_endless_receives(branch) for branch in arguments[0]]]
        if name == "gather"
        else [name, *arguments]
        for name, *arguments in body
    ]


class Life:
    """One run of a program, with what happens around it."""

    def __init__(self, world: World, bodies: list[Program]) -> None:
        self.world = world
        self.bodies = bodies
        self.interpreter = Interpreter()
        self.interpreter.declare(world.app)
        self.boxes = sum((mailboxes(body) for body in bodies), Counter[str]())
        self.sent: Counter[str] = Counter()
        self.ended: dict[str, int] = {}  # steps that were seen as recorded, with their calls until then
        self.cancelled = False

    @property
    def functions(self) -> Any:
        return self.world.app.functions

    async def live(self, events: list[tuple[float, str, int]]) -> None:
        await self.world.up()
        await self.functions.start("program", {"bodies": self.bodies}, id="it")
        for seconds, what, number in events:
            if seconds:
                await asyncio.sleep(seconds)
            await self.happen(what, number)
            await self.look()
        await self.finish()

    async def happen(self, what: str, number: int) -> None:
        over = (await self.functions.get("it")).over
        match what:
            case "send" if self.boxes and not over:
                await self.send(sorted(self.boxes)[number % len(self.boxes)])
            case "crash":
                await self.world.crash()
                await asyncio.sleep(number % 3)
                await self.world.up()
            case "stop":
                await self.world.down()
                await self.world.up()
            case "cancel" if number < 30:
                await self.functions.cancel("it", "enough")
                self.cancelled = True

    async def send(self, box: str) -> None:
        try:
            await self.functions.send("it", box, [box, self.sent[box]], id=f"{box}/{self.sent[box]}")
        except FunctionOver:  # it has ended meanwhile
            return
        self.sent[box] += 1

    async def look(self) -> None:
        """A step that is recorded is not done again."""
        for info in await self.functions.list():
            for done in await self.functions.steps(info.id):
                if done.kind == "step" and done.status == "done":
                    calls = self.interpreter.calls[done.result]
                    assert self.ended.setdefault(done.result, calls) == calls, f"{done.result} was done again"

    async def finish(self) -> None:
        """Send what is missing, and let everything end."""
        for _ in range(200):
            infos = await self.functions.list()
            if all(info.over for info in infos):
                break
            if not (await self.functions.get("it")).over:
                for box, times in self.boxes.items():
                    if self.sent[box] < times:
                        await self.send(box)
            await self.world.advance("10s")
            await self.look()
        else:
            raise AssertionError(f"not done: {infos}")
        await self.check_end()

    async def check_end(self) -> None:
        run = await self.functions.get("it")
        try:
            result = await self.functions.result("it")
        except RunCancelled:
            assert self.cancelled
        else:
            assert (run.status, run.state, run.generation) == ("succeeded", 0, len(self.bodies) - 1)
            received: dict[str, int] = {}
            for number, body in enumerate(self.bodies):
                ends = self.interpreter.results[f"{run.id}/{len(self.bodies) - 1 - number}"]
                assert all(one == ends[0] for one in ends), "an execution came to another end"
                self.interpreter.check(body, ends[0], received)
            assert result == ends[0]
            await self.check_mail(run.id, received)
        for info in await self.functions.list():
            if info.version is not None and not (info.status == "cancelled" and "grace" in (info.reason or "")):
                assert await self.functions.replay(info.id) == [], "the code waits where the record has ended"
        for ends in self.interpreter.results.values():
            assert all(one == ends[0] for one in ends), "a replay came to another end"
        assert await self.world.app.check(repair=False) == []

    async def check_mail(self, run_id: str, received: dict[str, int]) -> None:
        """Each message was taken by the receive that returned it; a receive that timed out had none in time."""

        def read(_: int) -> Operation[list[Row]]:
            return (yield statement("messages_of", run=run_id, limit=10_000))

        rows = await self.world.app.store.read(read)
        taken = Counter(name for _, _, name, _, _, _, position in rows if position is not None)
        assert taken == Counter(received)
        steps = await self.functions.steps(run_id)
        seqs = {record.position: record.seq for record in steps}
        for late in [record for record in steps if record.status == "timed_out"]:
            for _, id, name, _, sent, _, position in rows:
                in_time = name == late.name and sent <= late.due.timestamp() * 1e6
                earlier = position is not None and seqs.get(position, 0) < late.seq
                assert not in_time or earlier, f"message {id} was in time for {late.position}"


def play(bodies: list[Any], events: list[Any], seed: int, cache: int) -> None:
    numbers = count()
    labelled = [label(body, numbers, f"g{number}") for number, body in enumerate(bodies)]
    clock = VirtualClock()
    with tempfile.TemporaryDirectory() as folder:
        inner = SqliteStore(f"{folder}/store.db", inline=True, durable=False)
        store = HesitantStore(inner, random.Random(seed)) if seed % 2 else inner

        async def main() -> None:
            world = World(store, clock=clock, lease=2.0, grace=1.0, function_cache=cache)
            try:
                await Life(world, labelled).live(events)
            finally:
                await world.close()

        run_virtual(main(), clock)


@examples(32)
@given(bodies=PROGRAMS, events=EVENTS, seed=st.integers(0, 999), cache=st.sampled_from([1, 100]))
def test_random_programs_end_as_their_model_says(bodies: Any, events: Any, seed: int, cache: int) -> None:
    play(bodies, events, seed, cache)


@pytest.mark.soak
@pytest.mark.timeout(7200)
@examples(int(os.environ.get("OSTINATO_LIVES", "3000")), chance=True)
@given(bodies=PROGRAMS, events=EVENTS, seed=st.integers(0, 999), cache=st.sampled_from([1, 100]))
def test_many_random_programs_end_as_their_model_says(bodies: Any, events: Any, seed: int, cache: int) -> None:
    play(bodies, events, seed, cache)
