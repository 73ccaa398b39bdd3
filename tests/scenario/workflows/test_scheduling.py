"""When handlers run: producers by their schedule, consumers by events and wake times, and the patterns of both."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from ostinato import Conflict, OstinatoError, cron, every
from ostinato.store.contract import Operation, Row, sql
from ostinato.testing import World, run_virtual
from ostinato.workflows import Prepared
from ostinato.workflows.declaration import WorkflowCode
from tests.support.workflows import mailbox


def read_causes() -> Operation[list[Row]]:
    return (yield sql("test_causes"))


@pytest.fixture(autouse=True)
def causes_statement(add_statement: Callable[[str, str], None]) -> None:
    add_statement(
        "test_causes",
        "SELECT e.message_id, i.external_id FROM ostinato_workflow_causes c JOIN ostinato_workflow_events e"
        " ON e.id = c.event_id JOIN ostinato_workflow_inputs i ON i.id = c.input_id",
    )


async def handlers(world: World) -> list[str]:
    """The handler of each run, oldest first."""
    return [run.handler for run in reversed(await world.app.workflows.runs("inbox", limit=1000))]


async def begin(world: World) -> None:
    await world.up()
    await world.settle()


async def test_everything_runs_at_once_on_deploy_consumers_first(world: World) -> None:
    mailbox(world.app)
    await begin(world)
    assert await handlers(world) == ["Send", "poll", "Send"]


async def test_decision_22_an_interval_counts_from_the_last_commit(world: World) -> None:
    """Missed times collapse into one, and the next run is that long after the commit."""
    box = mailbox(world.app)
    times: list[datetime] = []

    async def poll(ctx: Any, state: Any) -> None:
        times.append(ctx.now)

    box.hooks["poll"] = poll
    begun = world.now
    await begin(world)
    await world.advance("10m")
    assert [time - begun for time in times] == [timedelta(minutes=5 * n) for n in range(3)]


async def test_a_cron_producer_runs_at_its_times(world: World) -> None:
    inbox = world.app.workflow("inbox")
    topic = inbox.topic("ticks")
    times: list[str] = []

    @inbox.producer(cron("0 * * * *", tz="UTC"), publishes=topic)
    async def tick(ctx: Any, state: Any) -> None:
        times.append(f"{ctx.now:%H:%M}")

    @inbox.consumer(topic)
    class Ignore:
        async def prepare(self, ctx: Any, state: Any) -> None:
            return None

    await begin(world)
    await world.advance("3h")
    assert [time[-3:] for time in times[1:]] == [":00"] * 3


async def test_a_consumer_that_reserves_nothing_waits_for_a_new_event(world: World) -> None:
    box = mailbox(world.app)
    seen: list[int] = []

    async def prepare(ctx: Any, state: Any) -> Prepared:
        seen.append(len(await ctx.peek("emails")))
        return Prepared()

    box.hooks["prepare"] = prepare
    await begin(world)
    assert seen == [0, 1]
    await world.advance("12m")  # the producer publishes the same mail again: nothing is new
    assert seen == [0, 1]
    box.mails.append("two")
    await world.advance("5m")
    assert seen == [0, 1, 2]


async def test_decision_18_a_changed_payload_of_a_pending_event_wakes_its_consumer(world: World) -> None:
    """The last write wins on the payload, never on the status."""
    box = mailbox(world.app)
    payloads: list[Any] = []
    texts = ["draft", "final", "final"]

    async def poll(ctx: Any, state: Any) -> None:
        text = texts.pop(0) if texts else "late"
        ctx.publish("emails", "m", text, input=ctx.register_input("mail", "email", "m"))

    async def prepare(ctx: Any, state: Any) -> Prepared:
        events = await ctx.peek("emails")
        payloads.append([event.payload for event in events])
        return Prepared(reserve=events if len(payloads) > 3 else [])

    box.hooks |= {"poll": poll, "prepare": prepare}
    await begin(world)
    await world.advance("5m")
    assert payloads == [[], ["draft"], ["final"]]
    await world.advance("5m")
    assert len(payloads) == 3
    events = await world.app.workflows.events("inbox")
    assert [(event.payload, event.status) for event in events] == [("final", "pending")]


async def test_decision_18_a_payload_changes_in_every_status(world: World) -> None:
    """An event that is consumed stays consumed, and nobody is woken."""
    box = mailbox(world.app)
    texts = ["first"]

    async def poll(ctx: Any, state: Any) -> None:
        ctx.publish("emails", "m", texts[-1], input=ctx.register_input("mail", "email", "m"))

    box.hooks["poll"] = poll
    await begin(world)
    before = await handlers(world)
    texts.append("second")
    await world.advance("5m")
    (event,) = await world.app.workflows.events("inbox")
    assert (event.payload, event.status) == ("second", "consumed")
    assert await handlers(world) == [*before, "poll"]


async def test_decision_2_pattern_simple_fifo_events_remain_so_the_consumer_runs_again(world: World) -> None:
    """The pattern Simple FIFO: one event a run, at once, in order."""
    box = mailbox(world.app, mails=["a", "b", "c"])
    await begin(world)
    sent = [params["mails"][0]["text"] for params in box.service.effects.values()]
    assert sent == ["a", "b", "c"]


async def test_wake_at_wakes_a_consumer_and_is_cleared_when_absent(world: World) -> None:
    box = mailbox(world.app, mails=[])
    times: list[datetime] = []

    async def prepare(ctx: Any, state: Any) -> Prepared:
        times.append(ctx.now)
        return Prepared(wake_at=ctx.now + timedelta(minutes=1) if len(times) < 3 else None)

    box.hooks["prepare"] = prepare
    await begin(world)
    await world.advance("1h")
    assert [time - times[0] for time in times] == [timedelta(minutes=n) for n in range(3)]


@pytest.mark.parametrize(
    ("asked", "after"),
    [
        (timedelta(seconds=1), timedelta(seconds=30)),
        (timedelta(days=9), timedelta(days=1)),
        (-timedelta(days=1), timedelta(seconds=30)),
    ],
)
async def test_decisions_24_and_37_wake_at_is_brought_within_the_bounds_of_the_host(
    world: World, asked: timedelta, after: timedelta
) -> None:
    """The policy sets the bounds."""
    box = mailbox(world.app, mails=[])
    times: list[datetime] = []

    async def prepare(ctx: Any, state: Any) -> Prepared:
        times.append(ctx.now)
        return Prepared(wake_at=ctx.now + asked)

    box.hooks["prepare"] = prepare
    await begin(world)
    await world.advance(after.total_seconds())
    assert times[1] - times[0] == after


async def test_decision_37_a_wake_time_without_a_zone_is_a_logic_error(world: World) -> None:
    box = mailbox(world.app, mails=[])

    async def prepare(ctx: Any, state: Any) -> Prepared:
        return Prepared(wake_at=datetime(2030, 1, 1))  # noqa: DTZ001

    box.hooks["prepare"] = prepare
    await begin(world)
    assert "is no datetime with a zone" in ((await world.app.workflows.get("inbox")).issue or "")


async def test_pattern_correlation(world: World) -> None:
    """A consumer waits until the second of two events is there."""
    box = mailbox(world.app, mails=["request"])

    async def prepare(ctx: Any, state: Any) -> Prepared:
        events = await ctx.peek("emails")
        return Prepared(reserve=events if len(events) == 2 else [], data=[event.payload for event in events])

    box.hooks["prepare"] = prepare
    await begin(world)
    assert not box.service.effects
    box.mails.append("reply")
    await world.advance("5m")
    assert len(box.service.effects) == 1


async def test_pattern_batch_with_timeout(world: World) -> None:
    """Three events, or ten minutes, whichever comes first."""
    box = mailbox(world.app, mails=["a"])

    async def prepare(ctx: Any, state: Any) -> Prepared:
        events = await ctx.peek("emails")
        oldest = min((event.created for event in events), default=None)
        if len(events) >= 3 or (oldest is not None and ctx.now - oldest >= timedelta(minutes=10)):
            return Prepared(reserve=events, data=[event.payload for event in events])
        return Prepared(wake_at=None if oldest is None else oldest + timedelta(minutes=10))

    box.hooks["prepare"] = prepare
    await begin(world)
    await world.advance("9m")
    assert not box.service.effects
    await world.advance("1m")
    assert len(box.service.effects) == 1
    box.mails += ["b", "c", "d"]
    await world.advance("5m")
    assert len(box.service.effects) == 2


async def test_pattern_daily_digest(world: World) -> None:
    """Events wake the consumer, which reserves nothing until nine o'clock; then it sets the next wake time at once."""
    box = mailbox(world.app, mails=["a"], poll_every="1h")

    async def prepare(ctx: Any, state: Any) -> Prepared:
        nine = ctx.now.replace(hour=9, minute=0, second=0, microsecond=0)
        tomorrow = nine if nine > ctx.now else nine + timedelta(days=1)
        events = await ctx.peek("emails")
        if ctx.now != nine:
            return Prepared(wake_at=tomorrow)
        return Prepared(reserve=events, data=[event.payload for event in events], wake_at=tomorrow)

    box.hooks["prepare"] = prepare
    await begin(world)
    await world.advance("25h")
    assert [params["mails"] for params in box.service.effects.values()] == [[{"text": "a"}]]
    box.mails.append("b")
    await world.advance("24h")
    assert len(box.service.effects) == 2


async def test_decision_4_a_consumer_that_feeds_itself_cannot_spin(world: World) -> None:
    """It reserved nothing and published to its own topic, so it waits half a minute."""
    loop = world.app.workflow("inbox")
    topic = loop.topic("self")
    times: list[datetime] = []

    @loop.consumer(topic, publishes=topic)
    class Spin:
        async def prepare(self, ctx: Any, state: Any) -> Prepared:
            times.append(ctx.now)
            return Prepared(data=len(times))

        async def next(self, ctx: Any, prepared: Any, outcome: Any) -> None:
            ctx.publish(topic, f"m{prepared.data}")

    await begin(world)
    await world.advance("61s")
    assert [time - times[0] for time in times] == [timedelta(seconds=30 * n) for n in range(3)]


async def test_run_now_runs_every_producer_and_moves_its_next_run(world: World) -> None:
    box = mailbox(world.app, mails=[])
    await begin(world)
    await world.advance("2m")
    box.mails.append("now")
    await world.app.workflows.run_now("inbox")
    await world.settle()
    assert len(box.service.effects) == 1
    info = await world.app.workflows.get("inbox")
    assert info.next_run == world.now + timedelta(minutes=5)


async def test_decision_39_run_now_is_refused_while_a_run_is_under_way(world: World) -> None:
    box = mailbox(world.app)
    refusals: list[str] = []

    async def poll(ctx: Any, state: Any) -> None:
        try:
            await world.app.workflows.run_now("inbox")
        except Conflict as problem:
            refusals.append(str(problem))

    box.hooks["poll"] = poll
    await begin(world)
    assert len(refusals) == 1
    assert "has a run under way" in refusals[0]
    await world.app.workflows.pause("inbox")
    with pytest.raises(Conflict, match="is paused; resume it first"):
        await world.app.workflows.run_now("inbox")


async def test_pattern_time_window(world: World) -> None:
    """Events are processed an hour after they came; the wake time brings the consumer back."""
    box = mailbox(world.app, mails=["a"], batch=10)
    begun = world.now

    async def prepare(ctx: Any, state: Any) -> Prepared:
        events = await ctx.peek("emails")
        ripe = [event for event in events if ctx.now - event.created >= timedelta(hours=1)]
        wake_at = min((event.created + timedelta(hours=1) for event in events if event not in ripe), default=None)
        return Prepared(reserve=ripe, data=[event.payload for event in ripe], wake_at=wake_at)

    box.hooks["prepare"] = prepare
    await begin(world)
    await world.advance("59m")
    assert not box.service.effects
    await world.advance("1m")
    assert len(box.service.effects) == 1
    assert world.now - begun == timedelta(hours=1)


@pytest.mark.parametrize("reserve", [(), {"emails": []}], ids=["no groups", "a group without ids"])
async def test_decisions_1_and_14_next_runs_though_nothing_is_reserved(world: World, reserve: Any) -> None:
    """Empty means no ids. `mutate` is left out, `next` is called with `none`."""
    box = mailbox(world.app)
    outcomes: list[Any] = []

    async def prepare(ctx: Any, state: Any) -> Prepared:
        return Prepared(reserve=reserve, data="kept")

    async def mutate(ctx: Any, prepared: Any) -> None:
        raise AssertionError("mutate is called")

    async def emit(ctx: Any, prepared: Any, outcome: Any) -> None:
        outcomes.append((outcome.status, outcome.result, prepared.data, prepared.events))

    box.hooks |= {"prepare": prepare, "mutate": mutate, "next": emit}
    await begin(world)
    assert outcomes == [("none", None, "kept", ())] * 2
    assert (await world.app.workflows.get("inbox")).pending == {"emails": 1}


async def test_decision_3_an_event_that_comes_while_a_consumer_runs_wakes_it_again(world: World) -> None:
    """What makes a consumer due is forgotten when its run starts, not when it ends."""
    box = mailbox(world.app, publishes_from_next=True)
    seen: list[list[str]] = []

    async def prepare(ctx: Any, state: Any) -> Prepared:
        events = [*await ctx.peek("emails"), *await ctx.peek("echoes")]
        seen.append([event.id for event in events])
        return Prepared(reserve=events[:1])

    async def mutate(ctx: Any, prepared: Any) -> None:
        return

    async def emit(ctx: Any, prepared: Any, outcome: Any) -> None:
        if prepared.events and prepared.events[0].topic == "emails":
            ctx.publish("echoes", "echo")

    box.hooks |= {"prepare": prepare, "mutate": mutate, "next": emit}
    await begin(world)
    assert seen == [[], ["one"], ["echo"]]


async def test_decision_15_an_event_that_is_skipped_meanwhile_is_prepared_again(world: World) -> None:
    """An id that is no longer pending is no mistake of the handler; an id twice counts once."""
    box = mailbox(world.app, mails=["a", "b"], batch=2)
    prepared: list[list[str]] = []

    async def prepare(ctx: Any, state: Any) -> Prepared:
        events = await ctx.peek("emails")
        prepared.append([event.id for event in events])
        if len(prepared) == 2:
            await world.app.workflows.skip_event("inbox", "emails", "a")
        return Prepared(reserve=[*events, *events], data=[event.payload for event in events])

    box.hooks["prepare"] = prepare
    await begin(world)
    assert prepared == [[], ["a", "b"], ["b"]]
    events = await world.app.workflows.events("inbox")
    assert [(event.message_id, event.status) for event in events] == [("a", "skipped"), ("b", "consumed")]


async def test_decisions_16_and_17_an_event_has_an_id_and_no_title(world: World) -> None:
    """`id` and `message_id` are the same, and titles are for inputs and runs."""
    box = mailbox(world.app)
    seen: list[Any] = []

    async def prepare(ctx: Any, state: Any) -> None:
        seen.extend(await ctx.peek("emails"))
        assert await ctx.get("emails", ["one", "no such"]) == seen

    box.hooks["prepare"] = prepare
    await begin(world)
    (event,) = seen
    assert event.id == event.message_id == "one"
    assert not hasattr(event, "title")


async def test_decisions_18_and_39_lineage_is_the_union_of_all_causes(world: World) -> None:
    """Causes are added, never replaced, and each reservation of an event is on record."""
    box = mailbox(world.app, publishes_from_next=True)

    async def poll(ctx: Any, state: Any) -> int:
        if state is None:
            for id in ("x", "y"):
                ctx.publish("emails", "same", id, input=ctx.register_input("mail", "email", id))
        return 1

    async def prepare(ctx: Any, state: Any) -> Prepared:
        return Prepared(reserve=await ctx.peek("emails"))

    async def mutate(ctx: Any, prepared: Any) -> None:
        return

    async def emit(ctx: Any, prepared: Any, outcome: Any) -> None:
        if prepared.events:
            ctx.publish("echoes", "echo")

    box.hooks |= {"poll": poll, "prepare": prepare, "mutate": mutate, "next": emit}
    await begin(world)
    assert await causes(world) == {"same": {"x", "y"}, "echo": {"x", "y"}}
    events = await world.app.workflows.events("inbox")
    assert {event.message_id: event.payload for event in events}["same"] == "y"
    assert [event.attempt for event in events] == [1, 1]


async def causes(world: World) -> dict[str, set[str]]:
    """The external ids of the inputs that each event stems from."""
    rows = await world.app.store.read(lambda _: read_causes())
    inputs: dict[str, set[str]] = {}
    for message_id, external_id in rows:
        inputs.setdefault(message_id, set()).add(external_id)
    return inputs


async def test_consumers_come_before_producers_and_the_oldest_event_first(world: World) -> None:
    """The rules of priority: existing work first, and of two consumers the one whose event has waited longest."""
    code = world.app.workflow("inbox")
    first, second = code.topic("first"), code.topic("second")
    order: list[str] = []

    @code.producer(every("5m"), publishes=[first, second])
    async def poll(ctx: Any, state: Any) -> int:
        order.append("poll")
        input = ctx.register_input("mail", "email", "m")
        if state is None:
            for topic in (second, first):
                ctx.publish(topic, "m", input=input)
        return 1

    def consumer(topic: Any, name: str) -> None:
        @code.consumer(topic, name=name)
        class Consumer:
            async def prepare(self, ctx: Any, state: Any) -> Prepared:
                events = await ctx.peek(topic)
                if events:
                    order.append(name)
                return Prepared(reserve=events)

    consumer(first, "a")
    consumer(second, "b")
    await begin(world)
    assert order == ["poll", "b", "a"]


def test_decision_38_workflows_take_turns() -> None:
    """One run per workflow, and none waits until another has worked off its backlog."""
    world = World(concurrency=1)
    order: list[str] = []
    for name in ("a", "b", "c"):
        declare_backlog(world, name, order)

    async def main() -> None:
        await begin(world)
        await world.close()

    run_virtual(main(), world.clock)
    turns = [order[at : at + 3] for at in range(0, len(order), 3)]
    assert len(order) == 15
    assert all(sorted(turn) == ["a", "b", "c"] for turn in turns)


def declare_backlog(world: World, name: str, order: list[str]) -> None:
    code = world.app.workflow(name)
    topic = code.topic("t")

    @code.producer(every("1h"), publishes=topic)
    async def poll(ctx: Any, state: Any) -> None:
        input = ctx.register_input("test", "batch", "1")
        for number in range(5):
            ctx.publish(topic, str(number), input=input)

    @code.consumer(topic)
    class Work:
        async def prepare(self, ctx: Any, state: Any) -> Prepared:
            events = await ctx.peek(topic, limit=1)
            if events:
                order.append(name)
            return Prepared(reserve=events)


async def test_decision_29_a_paused_workflow_finishes_its_run_and_starts_no_other(world: World) -> None:
    box = mailbox(world.app)

    async def poll(ctx: Any, state: Any) -> None:
        await world.app.workflows.pause("inbox")
        ctx.publish("emails", "one", {}, input=ctx.register_input("mail", "email", "one"))

    box.hooks["poll"] = poll
    await begin(world)
    await world.advance("1h")
    assert await handlers(world) == ["Send", "poll"]
    assert (await world.app.workflows.get("inbox")).status == "Stopped"
    await world.app.workflows.resume("inbox")
    await world.settle()
    assert len(box.service.effects) == 1


async def test_what_was_due_during_an_outage_runs_once(world: World) -> None:
    box = mailbox(world.app, mails=[])
    await begin(world)
    box.mails.append("late")
    await world.down()
    await world._sleep_to(world.clock.now() + 3600 * 1_000_000)
    await begin(world)
    assert len(box.service.effects) == 1
    assert (await handlers(world)).count("poll") == 2


async def _handler(ctx: Any, state: Any) -> None: ...


def test_decisions_19_22_and_23_definitions_are_checked_when_they_are_written() -> None:
    """One publisher and one consumer for each topic, and one schedule, which is a spec."""
    code = WorkflowCode("w")
    topic = code.topic("t")
    with pytest.raises(OstinatoError, match=r"shorter than the policy's min_interval \(Every 30 seconds\)"):
        code.producer(every("1s"), publishes=topic)
    with pytest.raises(OstinatoError, match="is no spec; write every"):
        code.producer({"interval": "5m", "cron": "0 * * * *"}, publishes=topic)  # type: ignore[arg-type]
    with pytest.raises(OstinatoError, match="names an unknown topic 'tt'"):
        code.producer(every("1m"), publishes="tt", name="p")(_handler)
    with pytest.raises(OstinatoError, match="has no prepare"):
        code.consumer(topic)(type("C", (), {}))

    @code.producer(every("1m"), publishes=topic)
    async def first(ctx: Any, state: Any) -> None: ...

    @code.producer(every("1m"), publishes=topic)
    async def second(ctx: Any, state: Any) -> None: ...

    with pytest.raises(OstinatoError, match=r"'first' and 'second' both publish to 't'.*nobody consumes topic 't'"):
        code.define()
