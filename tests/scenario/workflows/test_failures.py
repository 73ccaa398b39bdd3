"""What follows a failure: the table of failure classes, retries, repairs and people, on both stores."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import Any

import pytest

from ostinato import Conflict, every
from ostinato.testing import World
from ostinato.workflows import Prepared
from ostinato.workflows.errors import (
    AuthRequired,
    InternalError,
    LogicError,
    PermissionDenied,
    PreconditionFailed,
    Transient,
)
from tests.support.workflows import NOT_KNOWN_YET, Late, Mailbox, Service, applied, mailbox


async def statuses(world: World, handler: str = "Send") -> list[tuple[str, str]]:
    """The phase and status of each attempt of a handler, oldest first."""
    runs = await world.app.workflows.runs("inbox")
    return [(run.phase, run.status) for run in reversed(runs) if run.handler == handler]


async def event_statuses(world: World) -> list[str]:
    return [event.status for event in await world.app.workflows.events("inbox")]


async def begin(world: World) -> None:
    await world.up()
    await world.settle()


def failing(*problems: BaseException) -> Any:
    """A hook that raises each of these once, and then nothing."""
    left = list(problems)

    async def hook(*_: Any) -> Any:
        if left:
            raise left.pop(0)
        return None

    return hook


async def test_decisions_5_6_and_7_a_transient_failure_is_retried_by_a_new_run(world: World) -> None:
    """The phase stays, the events stay reserved, and the new run is linked to the old one."""
    box = mailbox(world.app, service=Service(script=[Transient("busy", delivered="no")]))
    await begin(world)
    assert (await world.app.workflows.get("inbox")).issue == "Retrying in 10 s: busy"
    assert await event_statuses(world) == ["reserved"]
    await world.advance("10s")
    assert (await statuses(world))[-2:] == [("mutating", "paused:transient"), ("committed", "committed")]
    runs = await world.app.workflows.runs("inbox")
    assert runs[0].retry_of == runs[1].id
    assert len(box.service.effects) == 1
    assert await event_statuses(world) == ["consumed"]


async def test_decisions_24_and_26_transient_failures_back_off_and_then_need_a_person(world: World) -> None:
    """Five retries by the policy; a person who resumes starts the count again."""
    mailbox(world.app, service=Service(script=[Transient("busy", delivered="no")] * 7))
    await begin(world)
    for seconds in (10, 20, 40, 80, 160):
        assert (await world.app.workflows.get("inbox")).issue == f"Retrying in {seconds} s: busy"
        await world.advance(seconds)
    info = await world.app.workflows.get("inbox")
    assert (info.status, info.issue, info.choices) == ("Needs attention", "busy", ("resume", "skip"))
    await world.app.workflows.resolve("inbox", "resume")
    await world.settle()
    assert (await world.app.workflows.get("inbox")).issue == "Retrying in 10 s: busy"
    await world.advance("10s")
    assert await event_statuses(world) == ["consumed"]


async def test_decision_12_after_the_mutation_a_retry_only_calls_next(world: World) -> None:
    """The phase-reset rows `mutated` and `emitting`: the checkpoints are copied to the new run."""
    box = mailbox(world.app)
    outcomes: list[Any] = []
    failure = failing(Transient("later"))

    async def emit(ctx: Any, prepared: Any, outcome: Any) -> None:
        if outcome.status == "none":
            return
        await failure()
        outcomes.append((outcome.status, outcome.result, [event.id for event in prepared.events]))

    box.hooks["next"] = emit
    await begin(world)
    await world.advance("10s")
    assert outcomes == [("applied", {"sent": 1}, ["one"])]
    assert len(box.service.calls) == 1
    assert (await statuses(world))[-2:] == [("emitting", "paused:transient"), ("committed", "committed")]


@pytest.mark.parametrize(
    ("problem", "status"),
    [
        (AuthRequired("Gmail"), "paused:approval"),
        (PermissionDenied("no scope"), "paused:approval"),
        (PreconditionFailed("no such sheet"), "paused:approval"),
    ],
)
async def test_decisions_8_and_28_what_a_person_must_put_right_resumes_in_place(
    world: World, problem: Exception, status: str
) -> None:
    """The failure rows auth, permission and precondition."""
    box = mailbox(world.app, service=Service(script=[problem]))
    await begin(world)
    info = await world.app.workflows.get("inbox")
    assert (info.status, info.issue) == ("Needs attention", str(problem))
    assert (await statuses(world))[-1] == ("mutating", status)
    await world.app.workflows.resolve("inbox", "resume", run_id=info.run_id)
    await world.settle()
    assert (await statuses(world))[-1] == ("committed", "committed")
    runs = await world.app.workflows.runs("inbox")
    assert runs[0].id == info.run_id
    assert len(set(box.service.calls)) == 1  # and the same idempotency key
    with pytest.raises(Conflict, match="nothing to resolve"):
        await world.app.workflows.resolve("inbox", "resume", run_id=info.run_id)


async def test_auth_words_name_the_service(world: World) -> None:
    mailbox(world.app, service=Service(script=[AuthRequired("Gmail")]))
    await begin(world)
    assert (await world.app.workflows.get("inbox")).issue == "Waiting for you to reconnect Gmail"


async def test_a_logic_error_without_a_fixer_needs_a_person(world: World) -> None:
    box = mailbox(world.app)
    box.hooks["prepare"] = failing(ValueError("wrong"))
    await begin(world)
    info = await world.app.workflows.get("inbox")
    assert (info.status, info.issue) == ("Needs attention", "ValueError: wrong")
    del box.hooks["prepare"]
    await world.app.workflows.resolve("inbox", "resume")
    await world.settle()
    assert (await statuses(world))[0] == ("preparing", "failed:logic")
    assert await event_statuses(world) == ["consumed"]


async def test_decision_13_an_internal_error_of_a_mutator_is_uncertain(world: World) -> None:
    """An error without a class says nothing about the effect."""
    box = mailbox(world.app, service=Service(script=[Late(RuntimeError("connection reset"))]))
    await begin(world)
    assert len(box.service.effects) == 1
    assert (await statuses(world))[-1] == ("committed", "committed")
    assert len(box.service.calls) == 1


@pytest.mark.parametrize("problem", [Transient("timeout"), InternalError("bug"), TimeoutError(), OSError("gone")])
async def test_decision_10_uncertainty_is_reconciled_before_anything_else(world: World, problem: Exception) -> None:
    """An effect that did not take place is a transient failure."""
    box = mailbox(world.app, service=Service(script=[problem]))
    await begin(world)
    assert (await statuses(world))[-1] == ("mutating", "paused:transient")
    await world.advance("10s")
    assert len(box.service.effects) == 1
    assert len(box.service.calls) == 2


async def test_decision_33_reconciliation_is_tried_again_with_backoff(world: World) -> None:
    """It is verified, which needs nobody."""
    service = Service(script=[Late(Transient("timeout"))], answers=[NOT_KNOWN_YET, OSError("down")])
    mailbox(world.app, service=service)
    await begin(world)
    info = await world.app.workflows.get("inbox")
    assert (info.status, info.issue, info.choices) == ("Running", "Verifying whether send took effect", ())
    with pytest.raises(Conflict, match="still being verified"):
        await world.app.workflows.resolve("inbox", "skip")
    await world.advance("10s")
    assert (await statuses(world))[-1] == ("mutating", "paused:reconciliation")
    await world.advance("20s")
    assert (await statuses(world))[-1] == ("committed", "committed")
    assert len(service.effects) == 1


async def test_without_reconcile_a_person_decides(world: World) -> None:
    service = Service(script=[Late(Transient("timeout"))])
    mailbox(world.app, service=service, reconcile=False)
    await begin(world)
    info = await world.app.workflows.get("inbox")
    assert info.status == "Needs attention"
    assert info.choices == ("did_not_happen", "skip")
    with pytest.raises(Conflict, match="cannot be asked"):
        await world.app.workflows.resolve("inbox", "try_again")
    await world.advance("1d")
    assert len(service.calls) == 1  # never repeated by itself
    await world.app.workflows.resolve("inbox", "skip")
    await world.settle()
    assert await event_statuses(world) == ["skipped"]
    assert (await statuses(world))[-1] == ("committed", "committed")


async def test_decision_9_it_did_not_happen_does_it_again(world: World) -> None:
    """A new run from the beginning."""
    service = Service(script=[Transient("timeout")])
    mailbox(world.app, service=service, reconcile=False)
    await begin(world)
    await world.app.workflows.resolve("inbox", "did_not_happen")
    await world.settle()
    assert len(service.effects) == 1
    assert await event_statuses(world) == ["consumed"]
    runs = await world.app.workflows.runs("inbox")
    sent = [run for run in runs if run.handler == "Send" and run.title == "send 1"]
    assert sent[0].retry_of == sent[1].id


async def test_exhausted_reconciliation_needs_a_person_who_may_ask_again(world: World) -> None:
    service = Service(script=[Late(Transient("timeout"))], answers=[NOT_KNOWN_YET] * 5)
    mailbox(world.app, service=service)
    await begin(world)
    for seconds in (10, 20, 40, 80):
        await world.advance(seconds)
    info = await world.app.workflows.get("inbox")
    assert (info.status, info.choices) == ("Needs attention", ("try_again", "did_not_happen", "skip"))
    service.answers.append(applied({"id": 7}))
    await world.app.workflows.resolve("inbox", "try_again")
    await world.settle()
    runs = await world.app.workflows.runs("inbox")
    assert runs[0].status == "committed"
    assert {"status": "applied", "result": {"id": 7}} in [run.outcome for run in runs]


async def test_a_failure_blocks_the_whole_workflow_and_loses_no_trigger(world: World) -> None:
    box = mailbox(world.app, service=Service(script=[AuthRequired("Gmail")]))
    await begin(world)
    box.mails.append("two")
    await world.advance("1h")
    assert await event_statuses(world) == ["reserved"]  # the producer did not run
    with pytest.raises(Conflict, match="blocked: Waiting for you"):
        await world.app.workflows.run_now("inbox")
    await world.app.workflows.resolve("inbox", "resume")
    await world.settle()
    assert await event_statuses(world) == ["consumed", "consumed"]


async def test_a_handler_cannot_hide_an_error_of_ctx(world: World) -> None:
    box = mailbox(world.app)

    @world.app.workflows.reader("weather")
    async def weather() -> str:
        raise Transient("no answer")

    async def poll(ctx: Any, state: Any) -> str:
        try:
            await ctx.read("weather")
        except Exception:
            return "hidden"
        return "read"

    box.hooks["poll"] = poll
    await begin(world)
    assert (await statuses(world, "poll")) == [("executing", "paused:transient")]


async def test_a_second_effect_is_refused_before_the_first_takes_place(world: World) -> None:
    box = mailbox(world.app)

    async def mutate(ctx: Any, prepared: Any) -> None:
        try:
            await ctx.mutate("send", mails=[])
        except BaseException:
            await ctx.mutate("send", mails=[])

    box.hooks["mutate"] = mutate
    await begin(world)
    assert (await statuses(world))[-1] == ("mutating", "failed:logic")
    assert box.service.calls == []


async def test_decision_13_delivered_with_bad_output_counts_as_applied(world: World) -> None:
    box = mailbox(world.app, service=Service(script=[LogicError("odd answer", delivered="yes", result={"raw": 1})]))
    await begin(world)
    assert (await statuses(world))[-1] == ("committed", "committed")
    outcomes = [run.outcome for run in await world.app.workflows.runs("inbox") if run.handler == "Send"]
    assert {"status": "applied", "result": {"raw": 1}} in outcomes
    assert isinstance(box, Mailbox)


async def test_decision_34_an_internal_failure_can_be_resumed_by_a_person(world: World) -> None:
    """Nothing happens by itself, and a person may have it tried again in a new run."""
    box = mailbox(world.app)

    @world.app.workflows.reader("weather")
    async def weather() -> str:
        return (await failures()) or "sunny"

    failures = failing(RuntimeError("a defect"))

    async def prepare(ctx: Any, state: Any) -> Prepared:
        await ctx.read("weather")
        return Prepared(reserve=await ctx.peek("emails"))

    box.hooks["prepare"] = prepare
    await begin(world)
    await world.advance("1d")
    assert await statuses(world) == [("preparing", "failed:internal")]
    info = await world.app.workflows.get("inbox")
    assert (info.status, info.choices) == ("Needs attention", ("resume",))
    await world.app.workflows.resolve("inbox", "resume")
    await world.settle()
    assert await event_statuses(world) == ["consumed"]
    runs = [run for run in await world.app.workflows.runs("inbox") if run.handler == "Send"]
    assert runs[-2].retry_of == runs[-1].id


@pytest.mark.parametrize("phase", ["prepare", "mutate"])
async def test_before_the_mutation_a_retry_prepares_again(world: World, phase: str) -> None:
    """The phase-reset rows `preparing`, `prepared` and `mutating`: nothing is copied, and the events are released."""
    box = mailbox(world.app)
    prepared: list[int] = []
    failure = failing(Transient("later"))

    async def prepare(ctx: Any, state: Any) -> Prepared:
        events = await ctx.peek("emails")
        prepared.append(len(events))
        if phase == "prepare" and events:
            await failure()
        return Prepared(reserve=events, data=len(prepared))

    async def mutate(ctx: Any, data: Any) -> None:
        if phase == "mutate":
            await failure()
        await ctx.mutate("send", mails=[{"text": str(data.data)}])

    box.hooks |= {"prepare": prepare, "mutate": mutate}
    await begin(world)
    await world.advance("10s")
    assert prepared == [0, 1, 1]
    assert [params["mails"] for params in box.service.effects.values()] == [[{"text": "3"}]]
    events = await world.app.workflows.events("inbox")
    assert [(event.status, event.attempt) for event in events] == [("consumed", 1 if phase == "prepare" else 2)]


async def test_decision_25_a_retry_time_survives_a_restart(world: World) -> None:
    """The time and the count of failures are in the store."""
    box = mailbox(world.app, service=Service(script=[Transient("busy", delivered="no")] * 2))
    await begin(world)
    await world.advance("10s")
    assert (await world.app.workflows.get("inbox")).issue == "Retrying in 20 s: busy"
    await world.down()
    await begin(world)
    assert (await world.app.workflows.get("inbox")).issue == "Retrying in 20 s: busy"
    await world.advance("19s")
    assert not box.service.effects
    await world.advance("1s")
    assert len(box.service.effects) == 1


async def test_decision_20_a_failing_producer_stays_due(world: World) -> None:
    """A producer that fails starts afresh, and its next run is not put off."""
    box = mailbox(world.app)
    failure = failing(Transient("later"))
    states: list[Any] = []

    async def poll(ctx: Any, state: Any) -> int:
        states.append(state)
        await failure()
        return 1

    box.hooks["poll"] = poll
    await begin(world)
    assert await statuses(world, "poll") == [("executing", "paused:transient")]
    await world.advance("10s")
    assert await statuses(world, "poll") == [("executing", "paused:transient"), ("committed", "committed")]
    assert states == [None, None]


async def test_a_wake_time_survives_a_failure_of_next(world: World) -> None:
    """The wake time that `prepare` asked for is kept though the run fails and its retry does not prepare again."""
    box = mailbox(world.app, mails=[])
    times: list[datetime] = []
    failure = failing(Transient("later"))

    async def prepare(ctx: Any, state: Any) -> Prepared:
        times.append(ctx.now)
        return Prepared(wake_at=ctx.now + timedelta(hours=1) if len(times) == 1 else None)

    async def emit(ctx: Any, prepared: Any, outcome: Any) -> None:
        await failure()

    box.hooks |= {"prepare": prepare, "next": emit}
    await begin(world)
    await world.advance("61m")
    assert [time - times[0] for time in times] == [timedelta(), timedelta(hours=1)]


async def test_a_wake_time_that_passes_while_a_person_is_asked_is_not_lost(world: World) -> None:
    box = mailbox(world.app)
    times: list[datetime] = []

    async def prepare(ctx: Any, state: Any) -> Prepared:
        times.append(ctx.now)
        events = await ctx.peek("emails")
        return Prepared(reserve=events, wake_at=ctx.now + timedelta(minutes=1) if events else None)

    failure = failing(AuthRequired("Gmail"))

    async def emit(ctx: Any, prepared: Any, outcome: Any) -> None:
        if prepared.events:
            await failure()

    box.hooks |= {"prepare": prepare, "next": emit}
    await begin(world)
    assert len(times) == 2
    await world.advance("1h")
    await world.app.workflows.resolve("inbox", "resume")
    await world.settle()
    assert len(times) == 3


async def test_two_people_who_resolve_at_once(world: World) -> None:
    """One answer counts; the other is refused."""
    service = Service(script=[Transient("timeout")])
    mailbox(world.app, service=service, reconcile=False)
    await begin(world)
    resolve = world.app.workflows.resolve
    answers = await asyncio.gather(resolve("inbox", "did_not_happen"), resolve("inbox", "skip"), return_exceptions=True)
    assert sorted(isinstance(answer, Conflict) for answer in answers) == [False, True]
    await world.advance("3s")  # the refused call may hold the run's row while a node looks for work
    assert len(service.effects) + (await event_statuses(world)).count("skipped") == 1


@pytest.mark.parametrize("paused", [True, False])
async def test_a_pause_and_a_problem_do_not_disturb_each_other(world: World, paused: bool) -> None:
    """A paused workflow can be resolved; what follows starts when it is resumed."""
    service = Service(script=[LogicError("no such column")])
    mailbox(world.app, service=service)
    await begin(world)
    if paused:
        await world.app.workflows.pause("inbox")
    await world.app.workflows.resolve("inbox", "resume")
    await world.settle()
    assert len(service.effects) == (0 if paused else 1)
    await world.app.workflows.resume("inbox")
    await world.settle()
    assert len(service.effects) == 1


async def test_a_mutator_that_is_gone_is_asked_for_later(world: World) -> None:
    """A process without the mutator cannot verify an effect. A later deployment can bring it back."""
    service = Service(script=[Late(Transient("timeout"))], answers=[NOT_KNOWN_YET])
    mailbox(world.app, service=service)
    await begin(world)
    mutators = world.app.workflows._context.tools.mutators
    send = mutators.pop("send")
    for seconds in (10, 20, 40, 80):
        await world.advance(seconds)
    info = await world.app.workflows.get("inbox")
    assert (info.status, info.choices) == ("Needs attention", ("try_again", "did_not_happen", "skip"))
    assert "this process has no mutator 'send'" in (info.issue or "")
    mutators["send"] = send
    await world.app.workflows.resolve("inbox", "try_again")
    await world.settle()
    assert await event_statuses(world) == ["consumed"]
    assert len(service.effects) == 1


PHASES = {"poll": "executing", "prepare": "preparing", "mutate": "mutating", "next": "emitting"}


def failing_in(world: World, phase: str, problem: Exception, begun: list[str]) -> None:
    """Declare a workflow whose handler raises once, in this phase. `begun` notes each call of a handler."""
    code = world.app.workflow(phase)
    topic = code.topic("t")
    left = [problem]

    async def enter(name: str) -> None:
        begun.append(name)
        if name == phase and left:
            raise left.pop()

    @code.producer(every("5m"), publishes=topic)
    async def poll(ctx: Any, state: Any) -> None:
        await enter("poll")
        ctx.publish(topic, "m", input=ctx.register_input("mail", "email", "m"))

    @code.consumer(topic)
    class Work:
        async def prepare(self, ctx: Any, state: Any) -> Prepared | None:
            events = await ctx.peek(topic)
            if not events:
                return None
            await enter("prepare")
            return Prepared(reserve=events)

        async def mutate(self, ctx: Any, prepared: Any) -> None:
            await enter("mutate")

        async def next(self, ctx: Any, prepared: Any, outcome: Any) -> None:
            if prepared.events:
                await enter("next")


@pytest.mark.parametrize(
    ("problem", "status", "in_place"),
    [
        (Transient("busy"), "paused:transient", False),
        (ValueError("wrong"), "failed:logic", False),
        (LogicError("wrong"), "failed:logic", False),
        (AuthRequired("Gmail"), "paused:approval", True),
        (PermissionDenied("no scope"), "paused:approval", True),
        (PreconditionFailed("no sheet"), "paused:approval", True),
        (InternalError("a defect"), "failed:internal", False),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
async def test_the_failure_table_in_every_phase(world: World, problem: Exception, status: str, in_place: bool) -> None:
    """A failure leaves the phase as it is. What follows is the same run, or a new one that begins again before the
    mutation and only calls `next` after it."""
    begun: dict[str, list[str]] = {phase: [] for phase in PHASES}
    for phase in PHASES:
        failing_in(world, phase, problem, begun[phase])
    await begin(world)
    flows = world.app.workflows
    failed = {}
    for phase, stored in PHASES.items():
        (failed[phase],) = [run for run in await flows.runs(phase) if run.status != "committed"]
        assert (failed[phase].phase, failed[phase].status) == (stored, status)
        if status != "paused:transient":
            assert (await flows.get(phase)).status == "Needs attention"
            await flows.resolve(phase, "resume")
    await world.advance("10s")
    attention = [event for event in await world.app.events(limit=1000) if event.name == "workflow:needs_attention"]
    assert len(attention) == (0 if status == "paused:transient" else len(PHASES))
    for phase in PHASES:
        assert [event.status for event in await flows.events(phase)] == ["consumed"]
        runs = {run.id: run for run in await flows.runs(phase)}
        followers = [run for run in runs.values() if run.retry_of == failed[phase].id]
        assert len(followers) == (0 if in_place else 1)
        assert (runs[failed[phase].id].status == "committed") == in_place
        order = list(PHASES)
        once = order[: order.index(phase) + 1]
        again = order[order.index(phase) :]
        if not in_place and phase == "mutate":
            again = order[order.index("prepare") :]
        assert begun[phase] == [*once, *again]


async def test_needs_attention_is_an_event(world: World) -> None:
    """It names the workflow, the run, the class of the failure and the reason, and comes once."""
    mailbox(world.app, service=Service(script=[Late(Transient("timeout"))]), reconcile=False)
    heard: list[Any] = []

    @world.app.on("workflow:needs_attention")
    async def hear(event: Any) -> None:
        heard.append(event.data)

    await begin(world)
    await world.advance("1h")
    (data,) = heard
    info = await world.app.workflows.get("inbox")
    assert data == {
        "workflow": "inbox",
        "run_id": info.run_id,
        "failure": "reconciliation",
        "reason": "Nobody knows whether send took effect: timeout",
    }


async def test_a_new_version_that_asks_for_another_effect_is_in_the_ledger(world: World) -> None:
    """The run goes on with the same row and key. The ledger holds what was asked for last, which is what `reconcile`
    would be asked about."""
    box = mailbox(world.app, service=Service(script=[AuthRequired("Gmail")]))
    await begin(world)

    async def mutate(ctx: Any, prepared: Any) -> None:
        await ctx.mutate("send", mails=["another"])

    box.hooks["mutate"] = mutate
    await world.app.workflows.resolve("inbox", "reauthenticate")
    await world.settle()
    (output,) = await world.app.workflows.outputs("inbox")
    assert output.params == {"mails": ["another"]}
    assert [*box.service.effects.values()] == [{"mails": ["another"]}]
    assert len(set(box.service.calls)) == 1


@pytest.mark.parametrize(
    ("problem", "choice", "other"),
    [(AuthRequired("Gmail"), "reauthenticate", "approve"), (PermissionDenied("no"), "approve", "reauthenticate")],
)
async def test_a_choice_fits_its_failure(world: World, problem: Exception, choice: str, other: str) -> None:
    mailbox(world.app, service=Service(script=[problem]))
    await begin(world)
    assert (await world.app.workflows.get("inbox")).choices == (choice, "skip")
    with pytest.raises(Conflict, match=f"{choice} it, or skip"):
        await world.app.workflows.resolve("inbox", other)
    await world.app.workflows.resolve("inbox", choice)
    await world.settle()
    assert await event_statuses(world) == ["consumed"]
