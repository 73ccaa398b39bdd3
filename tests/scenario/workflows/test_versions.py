"""Versions, repairs, and what people skip, on both stores."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ostinato import Conflict, NotFound, Ostinato, every
from ostinato.testing import World
from ostinato.workflows import Prepared
from ostinato.workflows.declaration import WorkflowCode
from ostinato.workflows.errors import AuthRequired, LogicError, Transient
from ostinato.workflows.operations.deploy import find
from tests.support.workflows import NOT_KNOWN_YET, Late, Service, mailbox


def version(
    number: int | None, *, handler: str = "Send", fails: bool = False, subscribes: str = "emails"
) -> WorkflowCode:
    """A version of `inbox` whose consumer may have another name, or fail."""
    code = WorkflowCode("inbox", version=number)
    emails = code.topic("emails")

    @code.producer(every("5m"), publishes=emails)
    async def poll(ctx: Any, state: Any) -> int:
        count = (state or 0) + 1
        ctx.publish(emails, f"m{count}", count, input=ctx.register_input("mail", "email", str(count)))
        return count

    @code.consumer(emails, name=handler)
    class Consumer:
        async def prepare(self, ctx: Any, state: Any) -> Prepared:
            if fails:
                raise ValueError("broken")
            return Prepared(reserve=await ctx.peek(emails))

    return code


async def test_the_same_version_again_changes_nothing(world: World) -> None:
    await world.up()
    await world.app.workflows.deploy(version(1))
    await world.settle()
    before = await world.app.workflows.runs("inbox")
    await world.app.workflows.deploy(version(1))
    await world.settle()
    assert await world.app.workflows.runs("inbox") == before


async def test_pending_events_and_state_go_on_under_a_new_version(world: World) -> None:
    await world.up()
    await world.app.workflows.deploy(version(1, fails=True))
    await world.settle()
    assert (await world.app.workflows.get("inbox")).status == "Needs attention"
    info = await world.app.workflows.deploy(version(2))
    assert info.version == "2"
    await world.settle()
    assert [event.status for event in await world.app.workflows.events("inbox")] == ["consumed"]
    await world.advance("5m")
    assert [event.message_id for event in await world.app.workflows.events("inbox")] == ["m1", "m2"]


async def test_an_older_version_is_left_alone(world: World) -> None:
    await world.up()
    await world.app.workflows.deploy(version(2))
    info = await world.app.workflows.deploy(version(1, handler="Other"))
    assert info.version == "2"


async def test_decision_35_a_vanished_handler_gives_its_events_back_before_the_mutation(world: World) -> None:
    await world.up()
    await world.app.workflows.deploy(version(1, fails=True))
    await world.settle()
    await world.app.workflows.deploy(version(2, handler="Other"))
    await world.settle()
    runs = await world.app.workflows.runs("inbox")
    assert ("Send", "cancelled") in {(run.handler, run.status) for run in runs}
    assert [event.status for event in await world.app.workflows.events("inbox")] == ["consumed"]


async def test_a_fixer_repairs_a_logic_error(world: World) -> None:
    broken = version(1, fails=True)
    failures: list[Any] = []

    @broken.fix_with
    async def repair(failed: Any) -> WorkflowCode:
        failures.append((failed.handler, failed.phase, failed.error["message"]))
        return version(1)

    await world.up()
    await world.app.workflows.deploy(broken)
    await world.settle()
    assert failures == [("Send", "preparing", "ValueError: broken")]
    info = await world.app.workflows.get("inbox")
    assert (info.version, info.status) == ("1.1", "Idle")
    assert [event.status for event in await world.app.workflows.events("inbox")] == ["consumed"]


async def test_decision_27_the_third_logic_failure_in_a_row_needs_a_person(world: World) -> None:
    """Three failures, two repairs."""
    broken = version(1, fails=True)
    names = iter("abcdef")
    repairs: list[str] = []

    async def repair(failed: Any) -> WorkflowCode:
        repairs.append(failed.version)
        code = version(1, fails=True)
        code.topic(next(names))
        return code

    broken.fix_with(repair)
    await world.up()
    await world.app.workflows.deploy(broken)
    await world.settle()
    assert repairs == ["1", "1.1"]
    assert (await world.app.workflows.get("inbox")).status == "Needs attention"


async def test_a_fixer_that_fails_leaves_it_to_a_person(world: World) -> None:
    broken = version(1, fails=True)

    @broken.fix_with
    async def repair(failed: Any) -> None:
        raise RuntimeError("no idea")

    await world.up()
    await world.app.workflows.deploy(broken)
    await world.settle()
    info = await world.app.workflows.get("inbox")
    assert (info.status, info.issue) == ("Needs attention", "ValueError: broken")


async def test_skipping_a_pending_event(world: World) -> None:
    box = mailbox(world.app, mails=["a", "b"])

    async def prepare(ctx: Any, state: Any) -> Prepared:
        return Prepared()

    box.hooks["prepare"] = prepare
    await world.up()
    await world.settle()
    await world.app.workflows.skip_event("inbox", "emails", "a")
    with pytest.raises(NotFound, match="topic 'emails' has no event 'z'"):
        await world.app.workflows.skip_event("inbox", "emails", "z")
    del box.hooks["prepare"]
    await world.app.workflows.run_now("inbox")
    box.mails.append("c")
    await world.advance("5m")
    events = {event.message_id: event.status for event in await world.app.workflows.events("inbox")}
    assert events == {"a": "skipped", "b": "consumed", "c": "consumed"}


async def test_decision_30_skipping_a_reserved_event_prepares_the_rest_again(world: World) -> None:
    """Before the mutation the run is cancelled, and the others of its batch are prepared again."""
    box = mailbox(world.app, mails=["a", "b"], batch=2)
    stuck = [AuthRequired("Gmail")]

    async def mutate(ctx: Any, prepared: Any) -> None:
        if stuck:
            raise stuck.pop()
        await ctx.mutate("send", mails=prepared.data)

    box.hooks["mutate"] = mutate
    await world.up()
    await world.settle()
    assert (await world.app.workflows.get("inbox")).status == "Needs attention"
    await world.app.workflows.skip_event("inbox", "emails", "a")
    await world.settle()
    events = {event.message_id: event.status for event in await world.app.workflows.events("inbox")}
    assert events == {"a": "skipped", "b": "consumed"}
    assert "cancelled" in {run.status for run in await world.app.workflows.runs("inbox")}
    assert len(box.service.effects) == 1


async def test_decision_30_an_event_whose_mutation_has_begun_cannot_be_skipped(world: World) -> None:
    service = Service(script=[Transient("timeout")])
    mailbox(world.app, service=service, reconcile=False)
    await world.up()
    await world.settle()
    with pytest.raises(Conflict, match="effect may have begun; nothing was skipped"):
        await world.app.workflows.skip_event("inbox", "emails", "one")
    assert [event.status for event in await world.app.workflows.events("inbox")] == ["reserved"]


async def test_decision_31_a_skipped_input_skips_its_later_events_too(world: World) -> None:
    code: WorkflowCode = world.app.workflow("inbox")
    topic = code.topic("t")
    ids: list[str] = []

    @code.producer(every("5m"), publishes=topic)
    async def poll(ctx: Any, state: Any) -> int:
        ids.append(ctx.register_input("mail", "email", "same", "the same mail"))
        ctx.publish(topic, f"m{len(ids)}", input=ids[-1])
        return 0

    @code.consumer(topic)
    class Wait:
        async def prepare(self, ctx: Any, state: Any) -> None:
            return None

    await world.up()
    await world.settle()
    await world.app.workflows.skip_input("inbox", ids[0])
    await world.advance("5m")
    assert ids[0] == ids[1]
    assert [event.status for event in await world.app.workflows.events("inbox")] == ["skipped", "skipped"]


async def test_a_skip_of_a_blocked_run_calls_next_with_skipped(world: World) -> None:
    box = mailbox(world.app, service=Service(script=[LogicError("no such column")]))
    outcomes: list[str] = []

    async def emit(ctx: Any, prepared: Any, outcome: Any) -> None:
        outcomes.append(outcome.status)

    box.hooks["next"] = emit
    await world.up()
    await world.settle()
    await world.app.workflows.resolve("inbox", "skip")
    await world.settle()
    assert outcomes[-1] == "skipped"
    assert [event.status for event in await world.app.workflows.events("inbox")] == ["skipped"]


async def test_a_stopped_workflow_stays_stopped(world: World) -> None:
    mailbox(world.app)
    await world.up()
    await world.app.workflows.stop("inbox")
    await world.advance("1h")
    assert (await world.app.workflows.get("inbox")).status == "Stopped"
    with pytest.raises(Conflict, match="is stopped for good"):
        await world.app.workflows.resume("inbox")


async def test_decisions_30_and_35_an_uncertain_effect_is_settled_though_its_handler_is_gone(world: World) -> None:
    """A mutation that may have taken place counts as done, so its events are not given back."""
    service = Service(script=[Late(Transient("timeout"))], answers=[NOT_KNOWN_YET])
    mailbox(world.app, service=service)
    await world.up()
    await world.settle()
    await world.app.workflows.deploy(version(2, handler="Other"))
    await world.advance("10s")
    runs = {run.handler: run for run in await world.app.workflows.runs("inbox") if run.outcome is not None}
    assert runs["Send"].status == "committed"
    assert runs["Send"].outcome == {"status": "applied", "result": {"found": True}}
    assert "the handler is gone" in runs["Send"].error["message"]
    events = await world.app.workflows.events("inbox")
    assert {event.message_id: event.status for event in events}["one"] == "consumed"
    assert len(service.effects) == 1


async def test_decision_35_a_settled_mutation_commits_without_its_handler(world: World) -> None:
    """After the mutation, the run commits without `next`."""
    box = mailbox(world.app)

    async def emit(ctx: Any, prepared: Any, outcome: Any) -> None:
        if prepared.events:
            raise ValueError("broken")

    box.hooks["next"] = emit
    await world.up()
    await world.settle()
    assert len(box.service.effects) == 1
    await world.app.workflows.deploy(version(2, handler="Other"))
    await world.settle()
    runs = [run for run in await world.app.workflows.runs("inbox") if run.handler == "Send"]
    assert (runs[0].phase, runs[0].status) == ("committed", "committed")
    events = {event.message_id: event.status for event in await world.app.workflows.events("inbox")}
    assert events["one"] == "consumed"


async def test_a_name_that_changes_its_type_is_another_handler(world: World) -> None:
    """A consumer's run is not taken up by a producer of the same name."""
    mailbox(world.app, service=Service(script=[LogicError("no")]))
    await world.up()
    await world.settle()
    code = WorkflowCode("inbox", version=2)
    emails = code.topic("emails")
    polls: list[Any] = []

    @code.producer(every("5m"), publishes=emails, name="Send")
    async def poll(ctx: Any, state: Any) -> None:
        polls.append(state)

    @code.consumer(emails)
    class Read:
        async def prepare(self, ctx: Any, state: Any) -> Prepared:
            return Prepared(reserve=await ctx.peek(emails))

    await world.app.workflows.deploy(code)
    await world.settle()
    assert ("consumer", "cancelled") in {(run.type, run.status) for run in await world.app.workflows.runs("inbox")}
    assert [event.status for event in await world.app.workflows.events("inbox")] == ["consumed"]
    assert len(polls) == 1


async def test_decision_35_events_of_a_topic_without_a_consumer_are_reported(world: World) -> None:
    """They are orphaned, and start nothing."""
    code = WorkflowCode("inbox", version=1)
    old = code.topic("old")

    @code.producer(every("5m"), publishes=old)
    async def poll(ctx: Any, state: Any) -> None:
        ctx.publish(old, "m", input=ctx.register_input("mail", "email", "m"))

    @code.consumer(old)
    class Wait:
        async def prepare(self, ctx: Any, state: Any) -> None:
            return None

    await world.up()
    await world.app.workflows.deploy(code)
    await world.settle()
    await world.app.workflows.deploy(version(2))
    await world.settle()
    info = await world.app.workflows.get("inbox")
    assert (info.status, info.pending, info.orphaned) == ("Idle", {"old": 1}, ("old",))


async def test_a_deployment_while_a_run_is_under_way(world: World) -> None:
    """The run ends with the code that it began with; the new version runs next."""
    code = version(1)
    runs: list[str] = []
    newer = version(2)

    def hook(which: WorkflowCode, name: str) -> None:
        definition, function = which._producers["poll"]

        async def poll(ctx: Any, state: Any) -> Any:
            runs.append(f"{name} begins")
            if name == "old":
                await world.app.workflows.deploy(newer)
            runs.append(f"{name} ends")
            return await function(ctx, state)

        which._producers["poll"] = definition, poll

    hook(code, "old")
    hook(newer, "new")
    await world.up()
    await world.app.workflows.deploy(code)
    await world.settle()
    assert runs == ["old begins", "old ends"]
    await world.advance("5m")
    assert runs[2:] == ["new begins", "new ends"]
    versions = [run.version for run in await world.app.workflows.runs("inbox") if run.handler == "poll"]
    assert versions == ["2", "1"]


async def test_a_deployment_while_a_fixer_works_starts_no_second_run(world: World) -> None:
    """The retry waits until the fixer has ended, and its repair of the old version is not deployed."""
    broken = version(1, fails=True)
    under_way: list[int] = []

    @broken.fix_with
    async def repair(failed: Any) -> WorkflowCode:
        with pytest.raises(Conflict, match="is being fixed"):
            await world.app.workflows.resolve("inbox", "resume")
        await world.app.workflows.deploy(version(2))
        await asyncio.sleep(5)
        under_way.append(len([run for run in await world.app.workflows.runs("inbox") if run.status == "active"]))
        return version(1)

    await world.up()
    await world.app.workflows.deploy(broken)
    await world.advance("10s")
    assert under_way == [1]
    info = await world.app.workflows.get("inbox")
    assert (info.version, info.status) == ("2", "Idle")
    assert [event.status for event in await world.app.workflows.events("inbox")] == ["consumed"]


async def test_a_restart_keeps_a_repair_that_can_be_loaded(world: World) -> None:
    """A declared version does not replace its own repair, if the repair is named by an import path."""
    await world.up()
    await world.app.workflows.deploy(version(1, fails=True))
    context = world.app.workflows._context
    workflow = await context.store.read(lambda _: find("default", "inbox"))
    assert workflow is not None
    await world.app.workflows._deploy(version(1), "package.module:inbox", repairs=workflow.digest)
    info = await world.app.workflows.deploy(version(1, fails=True))
    assert info.version == "1.1"
    assert (await world.app.workflows.deploy(version(2))).version == "2"


async def test_a_person_replaces_a_repair_that_can_be_loaded(world: World) -> None:
    """Code that is deployed by its import path replaces an earlier repair with the same number."""
    await world.up()
    names = []
    for topic in ("a", "b", "c"):
        code = version(1)
        code.topic(topic)
        await world.app.workflows._deploy(code, f"package.module:{topic}")
        names.append((await world.app.workflows.get("inbox")).version)
    assert names == ["1", "1.1", "1.2"]


async def test_a_new_version_starts_a_stopped_workflow_again(world: World) -> None:
    await world.up()
    await world.app.workflows.deploy(version(1))
    await world.settle()
    await world.app.workflows.stop("inbox")
    assert (await world.app.workflows.deploy(version(1))).status == "Stopped"
    await world.app.workflows.deploy(version(2))
    await world.settle()
    assert (await world.app.workflows.get("inbox")).status == "Idle"


async def test_decision_30_skipping_an_event_of_a_failed_run_tries_the_rest_again(world: World) -> None:
    """A run that failed before its mutation is given up like one that is under way."""
    service = Service(script=[LogicError("no such column")])
    mailbox(world.app, service=service, mails=["a", "b"], batch=2)
    await world.up()
    await world.settle()
    assert (await world.app.workflows.get("inbox")).status == "Needs attention"
    await world.app.workflows.skip_event("inbox", "emails", "a")
    await world.settle()
    events = {event.message_id: event.status for event in await world.app.workflows.events("inbox")}
    assert events == {"a": "skipped", "b": "consumed"}
    assert [params["mails"] for params in service.effects.values()] == [[{"text": "b"}]]


async def test_decision_30_a_skip_while_a_person_is_asked_to_reconnect(world: World) -> None:
    """An effect that certainly did not take place is no reason to keep its events."""
    service = Service(script=[AuthRequired("Gmail")])
    mailbox(world.app, service=service, mails=["a", "b"], batch=2)
    await world.up()
    await world.settle()
    await world.app.workflows.skip_event("inbox", "emails", "a")
    await world.settle()
    events = {event.message_id: event.status for event in await world.app.workflows.events("inbox")}
    assert events == {"a": "skipped", "b": "consumed"}


@pytest.mark.parametrize("name", ["a b", "ünï/çödé", "'; DROP TABLE x; --", "a.b:c", "%_", "日本"])
async def test_odd_names(world: World, name: str) -> None:
    code = WorkflowCode(name)
    topic = code.topic(name)

    @code.producer(every("5m"), publishes=topic, name=f"{name}!")
    async def poll(ctx: Any, state: Any) -> None:
        ctx.publish(topic, name, name, input=ctx.register_input(name, name, name, name))

    @code.consumer(topic, name=name)
    class Read:
        async def prepare(self, ctx: Any, state: Any) -> Prepared:
            return Prepared(reserve=await ctx.peek(topic), title=name)

    await world.up()
    await world.app.workflows.deploy(code)
    await world.settle()
    (event,) = await world.app.workflows.events(name)
    assert (event.message_id, event.payload, event.status) == (name, name, "consumed")
    assert [info.name for info in await world.app.workflows.list()] == [name]


async def test_a_workflow_belongs_to_the_namespace_of_its_app(world: World) -> None:
    """The same name in two namespaces is two workflows; each has its own events."""
    async with Ostinato(world.app.store, clock=world.clock, **world._settings).connected() as app:
        await app.create_namespace("other")
    await world.up()
    other = world.app.workflows.within("other", None)
    await world.app.workflows.deploy(version(1))
    await other.deploy(version(1))
    await world.settle()
    await world.app.workflows.pause("inbox")
    await world.advance("5m")
    assert len(await world.app.workflows.events("inbox")) == 1
    assert len(await other.events("inbox")) == 2


async def test_decision_31_an_input_that_is_skipped_during_its_effect_is_not_tried_again(world: World) -> None:
    """The effect did not take place, so the event is released, and it is not wanted any more."""
    service = Service(script=[Transient("timeout")], answers=[NOT_KNOWN_YET])
    mailbox(world.app, service=service, mails=["a", "b"], batch=2)
    await world.up()
    await world.settle()
    flows = world.app.workflows
    inputs = {input.title: input.id for input in await flows.inputs("inbox")}
    await flows.skip_input("inbox", inputs["a"])
    assert [event.status for event in await flows.events("inbox")] == ["reserved", "reserved"]
    await world.advance("30s")
    events = {event.message_id: event.status for event in await flows.events("inbox")}
    assert events == {"a": "skipped", "b": "consumed"}
    assert [params["mails"] for params in service.effects.values()] == [[{"text": "b"}]]


async def test_a_skip_that_comes_too_late_is_refused(world: World) -> None:
    mailbox(world.app, mails=["a"])
    await world.up()
    await world.settle()
    with pytest.raises(Conflict, match="event 'a' of topic 'emails' is consumed; nothing was skipped"):
        await world.app.workflows.skip_event("inbox", "emails", "a")
    names = [event.name for event in await world.app.events(limit=1000)]
    assert "workflow:event_skipped" not in names
