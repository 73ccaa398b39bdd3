"""Random lives of a workflow: publishes, failures of every class, crashes, stops, and what people do. After every step
its invariants hold, and in the end every event is consumed or skipped and no effect has taken place twice."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import Phase as Stage
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from ostinato import Conflict, every
from ostinato.store.contract import Operation, Row, sql
from ostinato.testing import VirtualLoop, World
from ostinato.workflows import NOT_KNOWN_YET, Prepared
from ostinato.workflows.declaration import WorkflowCode
from ostinato.workflows.errors import (
    AuthRequired,
    InternalError,
    LogicError,
    PermissionDenied,
    PreconditionFailed,
    Transient,
)
from ostinato.workflows.model import Phase
from tests.support.workflows import Late, Service

RANK = {phase.value: rank for rank, phase in enumerate(Phase)}
FAILURES: dict[str, Callable[[], Exception]] = {
    "transient": lambda: Transient("busy"),
    "logic": lambda: ValueError("wrong"),
    "auth": lambda: AuthRequired("Mail"),
    "permission": lambda: PermissionDenied("no scope"),
    "precondition": lambda: PreconditionFailed("no sheet"),
    "internal": lambda: InternalError("a defect"),
}
CALLS: dict[str, Callable[[], Any]] = {
    "refused": lambda: LogicError("no such column"),
    "busy": lambda: Transient("busy", delivered="no"),
    "lost call": lambda: Transient("timeout"),
    "lost answer": lambda: Late(Transient("timeout")),
    "strange answer": lambda: Late(RuntimeError("odd")),
    "applied all the same": lambda: Late(LogicError("odd", delivered="yes", result=1)),
    "auth": lambda: AuthRequired("Sheet"),
}


class Lives(RuleBasedStateMachine):
    """One workflow on one store, with one node that may be down: mails are sent two at a time, then logged."""

    reconcile = True

    def __init__(self) -> None:
        super().__init__()
        self.world = World(lease=120.0, grace=1.0)
        self.runner = asyncio.Runner(loop_factory=lambda: VirtualLoop(self.world.clock))
        self.service = Service()
        self.mails: list[str] = []
        self.plans: dict[str, list[Exception]] = {}
        self.ranks: dict[str, int] = {}
        self.version = 1
        self.up = True
        tools = self.world.app.workflows
        tools.mutator("send", reconcile=self.service.ask if self.reconcile else None)(self.send)

        async def begin() -> None:
            await self.world.up()
            await self.workflows.deploy(self.code())
            await self.world.settle()

        self.play(begin())

    @property
    def workflows(self) -> Any:
        return self.world.app.workflows

    def play(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.runner.get_loop().run_until_complete(work)

    async def send(self, call: Any, **params: Any) -> Any:
        await asyncio.sleep(1)
        result = await self.service.send(call, **params)
        await asyncio.sleep(1)
        return result

    async def phase(self, name: str) -> None:
        """Take a moment, so that a node can end here, and fail if that is planned."""
        await asyncio.sleep(0.5)
        if self.plans.get(name):
            raise self.plans[name].pop(0)

    def code(self) -> WorkflowCode:
        code = WorkflowCode("inbox", version=self.version)
        mails, sent = code.topic("mails"), code.topic("sent")

        @code.producer(every("5m"), publishes=mails)
        async def poll(ctx: Any, state: Any) -> int:
            for mail in self.mails:
                ctx.publish(mails, mail, input=ctx.register_input("mail", "email", mail))
            await self.phase("poll")
            return len(self.mails)

        @code.consumer(mails, publishes=sent)
        class Send:
            async def prepare(_, ctx: Any, state: Any) -> Prepared:
                events = await ctx.peek(mails, limit=2)
                await self.phase("prepare")
                return Prepared(reserve=events, data=[event.id for event in events])

            async def mutate(_, ctx: Any, prepared: Any) -> None:
                await self.phase("mutate")
                await ctx.mutate("send", mails=prepared.data)

            async def next(_, ctx: Any, prepared: Any, outcome: Any) -> None:
                await self.phase("next")
                if prepared.events:
                    ctx.publish(sent, "+".join(event.id for event in prepared.events), outcome.status)

        @code.consumer(sent)
        class Log:
            async def prepare(_, ctx: Any, state: Any) -> Prepared:
                return Prepared(reserve=await ctx.peek(sent))

        return code

    # What happens

    @rule(count=st.integers(1, 3))
    def mail(self, count: int) -> None:
        self.mails += [f"m{len(self.mails) + number}" for number in range(count)]

    @rule(phase=st.sampled_from(["poll", "prepare", "mutate", "next"]), failure=st.sampled_from(sorted(FAILURES)))
    def plan_failure(self, phase: str, failure: str) -> None:
        self.plans.setdefault(phase, []).append(FAILURES[failure]())

    @rule(call=st.sampled_from(sorted(CALLS)))
    def plan_call(self, call: str) -> None:
        self.service.script.append(CALLS[call]())

    @rule(problem=st.booleans())
    def plan_doubt(self, problem: bool) -> None:
        self.service.answers.append(OSError("down") if problem else NOT_KNOWN_YET)

    @precondition(lambda self: self.up)
    @rule(seconds=st.sampled_from([0.3, 1.2, 2.1, 12, 31, 301, 1500]))
    def pass_time(self, seconds: float) -> None:
        self.play(self.world.advance(seconds))

    @precondition(lambda self: self.up)
    @rule(orderly=st.booleans())
    def end_node(self, orderly: bool) -> None:
        self.play(self.world.down() if orderly else self.world.crash())
        self.up = False

    @precondition(lambda self: not self.up)
    @rule(later=st.sampled_from([0.0, 1.0, 3600.0]))
    def begin_node(self, later: float) -> None:
        async def begin() -> None:
            await asyncio.sleep(later)
            await self.world.up()
            await self.world.settle()

        self.up = True
        self.play(begin())

    # What people do

    @precondition(lambda self: self.up)
    @rule(data=st.data())
    def resolve(self, data: st.DataObject) -> None:
        info = self.play(self.workflows.get("inbox"))
        if info.choices:
            self.play(self.answer(data.draw(st.sampled_from(info.choices))))

    async def answer(self, choice: str) -> None:
        """Settle the problem; nobody says that an effect did not happen if it did."""
        if choice == "did_not_happen":
            held = await self.workflows.events("inbox", topic="mails", status="reserved")
            if self.sent.keys() & {event.message_id for event in held}:
                choice = "skip"
        await self.workflows.resolve("inbox", choice)
        await self.world.settle()

    @precondition(lambda self: self.up and self.mails)
    @rule(data=st.data())
    def skip_event(self, data: st.DataObject) -> None:
        events = self.play(self.workflows.events("inbox", topic="mails"))
        if events:
            event = data.draw(st.sampled_from(events))
            with suppress(Conflict):  # it is consumed, or on its way
                self.play(self.workflows.skip_event("inbox", "mails", event.message_id))

    @precondition(lambda self: self.up and self.mails)
    @rule(data=st.data())
    def skip_input(self, data: st.DataObject) -> None:
        inputs = self.play(self.workflows.inputs("inbox", limit=1000))
        if inputs:
            self.play(self.workflows.skip_input("inbox", data.draw(st.sampled_from(inputs)).id))

    @precondition(lambda self: self.up)
    @rule()
    def stop_and_deploy(self) -> None:
        """Stop it for good, and bring it back with a new version, which goes on where it was."""
        self.play(self.workflows.stop("inbox"))
        self.deploy()

    @precondition(lambda self: self.up)
    @rule(verb=st.sampled_from(["pause", "resume", "run_now"]))
    def ask(self, verb: str) -> None:
        async def asking() -> None:
            try:
                await getattr(self.workflows, verb)("inbox")
            except Conflict:
                assert verb == "run_now"
            await self.world.settle()

        self.play(asking())

    @precondition(lambda self: self.up)
    @rule()
    def deploy(self) -> None:
        self.version += 1
        self.play(self.workflows.deploy(self.code()))

    # What always holds

    @property
    def sent(self) -> Counter[str]:
        return Counter(mail for params in self.service.effects.values() for mail in params["mails"])

    @invariant()
    def no_effect_takes_place_twice(self) -> None:
        assert not [mail for mail, times in self.sent.items() if times > 1]

    @precondition(lambda self: self.up)
    @invariant()
    def runs_are_in_order(self) -> None:
        """At most one run is active, and the phase of a run only goes forward."""
        runs = self.play(self.workflows.runs("inbox", limit=10_000))
        assert len([run for run in runs if run.status == "active"]) <= 1
        for run in runs:
            rank = RANK[run.phase]
            assert rank >= self.ranks.get(run.id, 0), f"{run} went back"
            self.ranks[run.id] = rank

    @precondition(lambda self: self.up)
    @invariant()
    def reservations_have_an_owner(self) -> None:
        assert self.play(self.world.app.check(repair=False)) == []

    @precondition(lambda self: self.up)
    @invariant()
    def lineage_is_complete(self) -> None:
        """An event that `next` published stems from what all events of its run stem from."""
        causes: dict[str, set[str]] = {}
        for message_id, input_id in self.play(self.world.app.store.read(lambda _: read_causes())):
            causes.setdefault(message_id, set()).add(input_id)
        for event in self.play(self.workflows.events("inbox", limit=10_000)):
            assert causes[event.message_id] == set(event.message_id.split("+"))

    def teardown(self) -> None:
        """Let everything succeed from now on: nothing is lost."""
        self.plans.clear()
        self.service.script.clear()
        self.service.answers.clear()
        try:
            self.play(self.finish())
            self.no_effect_takes_place_twice()
        finally:
            self.play(self.world.close())
            self.runner.close()

    async def finish(self) -> None:
        await self.world.up()
        await self.workflows.resume("inbox")
        for _ in range(60):
            await self.world.advance("5m")
            info = await self.workflows.get("inbox")
            if info.choices:
                await self.answer(info.choices[0])
            events = await self.workflows.events("inbox", limit=10_000)
            settled = all(event.status in ("consumed", "skipped") for event in events)
            if info.status == "Idle" and settled and {*self.mails} <= {event.message_id for event in events}:
                break
        else:
            raise AssertionError(f"not done: {info} {events}")
        consumed = {e.message_id for e in events if e.topic == "mails" and e.status == "consumed"}
        assert consumed <= self.sent.keys(), "an event was consumed without its effect"


def read_causes() -> Operation[list[Row]]:
    return (yield sql("test_causes"))


@pytest.fixture(autouse=True)
def causes(add_statement: Callable[[str, str], None]) -> None:
    add_statement(
        "test_causes",
        "SELECT e.message_id, i.external_id FROM ostinato_workflow_causes c JOIN ostinato_workflow_events e"
        " ON e.id = c.event_id JOIN ostinato_workflow_inputs i ON i.id = c.input_id",
    )


class WithoutReconcile(Lives):
    reconcile = False


def play(machine: type[Lives], examples: int, steps: int, *, chance: bool = False) -> None:
    shrink = () if os.environ.get("OSTINATO_NO_SHRINK") else (Stage.shrink,)
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            database=None,
            derandomize=not chance,
            suppress_health_check=list(HealthCheck),
            phases=(Stage.generate, *shrink),
        ),
    )


@pytest.mark.parametrize("machine", [Lives, WithoutReconcile])
def test_random_lives_keep_the_invariants(machine: type[Lives]) -> None:
    play(machine, 12, 25)


@pytest.mark.soak
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("machine", [Lives, WithoutReconcile])
def test_many_random_lives_keep_the_invariants(machine: type[Lives]) -> None:
    play(
        machine, int(os.environ.get("OSTINATO_LIVES", "2000")), int(os.environ.get("OSTINATO_STEPS", "40")), chance=True
    )
