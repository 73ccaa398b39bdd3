"""Campaigns on both stores: the audience is frozen, everybody gets one message at most, and every skip has a reason."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ostinato import Conflict, NotFound, OstinatoError, RunFailed
from ostinato.flows import BeforeLLMInput, Cancel, End, NotSent, ResponseMeta, ScriptedModel, SkipLLM
from ostinato.flows.campaigns.model import CAMPAIGN_FUNCTION
from ostinato.flows.campaigns.skips import REASONS
from ostinato.flows.errors import AudienceTooLarge, SegmentFailed
from ostinato.testing import World
from ostinato.when.instants import from_datetime
from tests.support.agents import Chat, Outbox, make_buddy
from tests.support.campaigns import (
    ALL,
    all_events,
    campaigns,
    make_hello,
    numbered,
    outcomes,
    put_people,
    run_campaign,
)


async def test_47_49_52_everybody_gets_one_message_through_the_whole_pipeline(world: World) -> None:
    agent, outbox = make_hello(world)
    metas: list[ResponseMeta] = []
    agent.on_response(lambda structured, ctx, meta: metas.append(meta))
    await put_people(world, *numbered("u", 130))
    ended = await run_campaign(world, campaign_id="spring")
    assert (ended.status, ended.outcome, ended.reason, ended.recipients) == ("done", "success", None, 130)
    assert ended.counts == {"success": 130}
    assert Counter(message.user for message in outbox.sent) == Counter(numbered("u", 130))
    assert [meta.source for meta in metas] == ["scheduled"] * 130
    log = await all_events(world)
    names = Counter(event.name for event in log)
    assert names["schedule:campaign_resolved"] == 1
    assert names["schedule:recipient_run_started"] == names["schedule:recipient_run_completed"] == 130
    assert names["campaign:started"] == names["campaign:completed"] == 1
    order = [event.name for event in log]
    assert order.index("schedule:campaign_resolved") < order.index("schedule:recipient_run_started")
    first = next(event for event in log if event.name == "schedule:recipient_run_completed")
    assert first.subject == ended.id
    assert (
        first.data.items()
        >= {
            "agent": "buddy",
            "campaign_id": "spring",
            "flow": "hello",
            "target_kind": "segment",
            "source": "scheduled",
            "outcome": "success",
        }.items()
    )
    assert {"recipient_user_external_id", "request_id", "session_id", "segment_id"} <= first.data.keys()


async def test_75_76_events_carry_the_schedule_and_the_recipient(world: World) -> None:
    make_hello(world)
    await put_people(world, "ada")
    occurrence = from_datetime(world.now)
    run = await world.app.functions.start(
        CAMPAIGN_FUNCTION,
        {
            "agent": "buddy",
            "segment": ALL,
            "flow": "hello",
            "schedule_id": "s1",
            "scheduled_for": occurrence,
            "trigger_type": "cron",
            "run_attempt": 1,
            "campaign_id": "daily",
            "allow_session_bootstrap": True,
        },
    )
    result = await run.result("1m")
    assert result == {
        "outcome": "success",
        "reason": None,
        "partial": False,
        "campaign": run.id,
        "recipients": 1,
        "counts": {"success": 1},
    }
    log = await all_events(world)
    for name in ("schedule:campaign_resolved", "schedule:recipient_run_started", "schedule:recipient_run_completed"):
        (event,) = [event for event in log if event.name == name]
        assert event.data.items() >= {"schedule_id": "s1", "scheduled_for": occurrence, "campaign_id": "daily"}.items()
    (sent,) = [event for event in log if event.name == "response:sent"]
    assert (
        sent.data.items()
        >= {
            "schedule_id": "s1",
            "scheduled_for": occurrence,
            "trigger_type": "cron",
            "run_attempt": 1,
            "campaign_id": "daily",
        }.items()
    )


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"flow": "helo"}, "the campaign's flow: agent 'buddy' has no flow 'helo'; did you mean 'hello'?"),
        (
            {"flow": "hello", "options": {"variants": {"a": {"flow": "bye"}}}},
            "the campaign's options.variants.a.flow: agent 'buddy' has no flow 'bye'; there is hello",
        ),
    ],
)
async def test_a_run_with_an_unknown_flow_fails_before_anybody_is_skipped(
    world: World, more: dict[str, Any], words: str
) -> None:
    make_hello(world)
    await put_people(world, "ada")
    run = await world.app.functions.start(CAMPAIGN_FUNCTION, {"agent": "buddy", "segment": ALL, **more})
    with pytest.raises(RunFailed) as failed:
        await run.result("1m")
    assert words in str(failed.value)
    assert await campaigns(world).list() == []


async def test_48_the_segment_is_resolved_when_the_campaign_begins(world: World) -> None:
    """Not when it was created, and not again later: people who come meanwhile get nothing."""
    _, outbox = make_hello(world)
    await put_people(world, "ada", tags=["vip"])
    await put_people(world, "bob")
    await put_people(world, "eve", tags=["vip"])
    chat = await campaigns(world).send(
        {"type": "tag", "tag": "vip"}, flow="hello", allow_session_bootstrap=True, in_flight=1, rate="1/m"
    )
    await world.advance("5s")
    await put_people(world, "bob", tags=["vip"])
    await put_people(world, "zoe", tags=["vip"])
    await put_people(world, "eve", tags=[])
    await chat.outcome("10m")
    assert sorted(message.user for message in outbox.sent) == ["ada", "eve"]


@pytest.mark.parametrize(
    ("segment", "expected"),
    [
        (ALL, ["ada", "bob", "eve"]),
        ({"type": "tag", "tag": "vip"}, ["ada"]),
        ({"type": "active_since", "active_since_days": 7}, ["bob"]),
        ({"type": "custom_query", "query": 'locale = "pt" and not tags has "vip"'}, ["bob"]),
        ({"type": "custom_query", "query": 'data.plan in ("a", "b") or name = "Eve"'}, ["ada", "eve"]),
        ({"type": "users", "users": ["eve", "nobody"]}, ["eve"]),
        ({"type": "custom_query", "resolver": "starts", "params": {"letter": "a"}}, ["ada"]),
    ],
)
async def test_47_segments(world: World, segment: dict[str, Any], expected: list[str]) -> None:
    agent, outbox = make_hello(world)

    @agent.segment("starts")
    async def starts(ctx: Any, letter: str) -> Any:
        return [name for name in ("ada", "bob", "eve") if name.startswith(letter)]

    @agent.before_llm
    def silent(hook_input: BeforeLLMInput) -> Any:
        return End() if hook_input.turn.source == "inbound" else None

    await put_people(world, "ada", tags=["vip"], locale="pt", data={"plan": "a"})
    await put_people(world, "bob", locale="pt")
    await put_people(world, "eve", name="Eve")
    await Chat(world, "bob").say("hi")
    await world.advance("6d")
    await run_campaign(world, segment)
    assert sorted(message.user for message in outbox.sent) == expected


async def test_50_57_an_occurrence_is_sent_once_however_often_it_is_started(world: World) -> None:
    """Two runs of one occurrence, at once and later: one campaign, one message each."""
    _, outbox = make_hello(world)
    await put_people(world, *numbered("u", 20))
    occurrence = {
        "agent": "buddy",
        "segment": ALL,
        "flow": "hello",
        "schedule_id": "s1",
        "scheduled_for": from_datetime(world.now),
        "allow_session_bootstrap": True,
    }
    start = world.app.functions.start
    runs = await asyncio.gather(*(start(CAMPAIGN_FUNCTION, occurrence) for _ in range(3)))
    results = [await run.result("1m") for run in runs]
    late = await (await start(CAMPAIGN_FUNCTION, occurrence)).result("1m")
    assert len({result["campaign"] for result in [*results, late]}) == 1
    assert [result["counts"] for result in [*results, late]] == [{"success": 20}] * 4
    assert Counter(message.user for message in outbox.sent) == Counter(numbered("u", 20))
    next_day = {**occurrence, "scheduled_for": occurrence["scheduled_for"] + 86_400_000_000}  # type: ignore[operator]
    await (await start(CAMPAIGN_FUNCTION, next_day)).result("2d")
    assert len(outbox.sent) == 40


async def test_a_direct_send_with_an_id_is_started_once(world: World) -> None:
    _, outbox = make_hello(world)
    await put_people(world, "ada")
    sends = [
        await campaigns(world).send(ALL, flow="hello", allow_session_bootstrap=True, id="spring") for _ in range(3)
    ]
    await sends[0].outcome("1m")
    assert [sent.new for sent in sends] == [True, False, False]
    assert len({sent.id for sent in sends}) == 1
    assert outbox.texts == ["hello ada"]
    for other in ({"input": {"word": "bye"}}, {"rate": "1/s"}, {"allow_session_bootstrap": False}):
        with pytest.raises(Conflict, match="has sent another campaign with the id 'spring'; take another id"):
            await run_campaign(world, id="spring", **other)
    await put_people(world, "bob", "eve")
    again = await campaigns(world).send(ALL, flow="hello", allow_session_bootstrap=True, id="spring")
    assert (again.id, again.new) == (sends[0].id, False)
    assert len(await campaigns(world).list()) == 1


async def test_51_53_59_a_failure_is_of_one_recipient_and_stays_visible(world: World) -> None:
    _, outbox = make_hello(world)
    outbox.trouble = [NotSent("no such number", retry=False)]
    await put_people(world, "ada", "bob", "eve")
    ended = await run_campaign(world, in_flight=1)
    assert (ended.outcome, ended.reason, ended.partial) == ("success", "partial", True)
    assert ended.counts == {"success": 2, "failed": 1}
    assert await outcomes(world, ended.id) == {
        "ada": ("failed", "delivery_failed"),
        "bob": ("success", None),
        "eve": ("success", None),
    }
    failed = [event for event in await all_events(world) if event.name == "schedule:recipient_run_failed"]
    assert [event.data["recipient_user_external_id"] for event in failed] == ["ada"]
    assert [one.user for one in await campaigns(world).recipients(ended.id, outcome="failed")] == ["ada"]


async def test_22_the_aggregate_outcome(world: World) -> None:
    """Decision 22: nobody, everybody skipped, everybody failed."""
    _, outbox = make_hello(world)
    await world.up()
    empty = await run_campaign(world)
    assert (empty.outcome, empty.reason, empty.recipients) == ("skipped", "empty_segment", 0)
    await put_people(world, "ada")
    skipped = await run_campaign(world, allow_session_bootstrap=False)
    assert (skipped.outcome, skipped.reason, skipped.counts) == ("skipped", "all_skipped", {"skipped": 1})
    assert await outcomes(world, skipped.id) == {"ada": ("skipped", "bootstrap_disabled")}
    outbox.trouble = [NotSent("no", retry=False)]
    failed = await run_campaign(world)
    assert (failed.outcome, failed.reason) == ("failed", "no_recipient_succeeded")


async def test_39_72_people_in_the_loop_cancel_one_recipient_and_the_others_go_on(world: World) -> None:
    agent, outbox = make_hello(world, admins=["root"])
    agent.before_llm(lambda hook_input: End() if hook_input.turn.source == "inbound" else None)
    await put_people(world, "ada", "bob")
    await Chat(world, "ada").say("hi")
    await world.app.within("default", "root").agents.take_over("buddy", "ada")
    ended = await run_campaign(world)
    assert await outcomes(world, ended.id) == {
        "ada": ("canceled_hitl", "hitl_live_takeover"),
        "bob": ("success", None),
    }
    assert ended.outcome == "success"
    assert [message.user for message in outbox.sent] == ["bob"]
    (event,) = [event for event in await all_events(world) if event.name == "schedule:run_canceled_hitl"]
    assert event.data["recipient_user_external_id"] == "ada"


async def test_34_a_hook_cancels_the_message_of_one_recipient(world: World) -> None:
    agent, outbox = make_hello(world)
    agent.before_response(lambda response: Cancel("no") if response.user.external_id == "ada" else None)
    await put_people(world, "ada", "bob")
    ended = await run_campaign(world)
    assert await outcomes(world, ended.id) == {"ada": ("success", "policy_cancel"), "bob": ("success", None)}
    assert outbox.texts == ["hello bob"]
    assert not (await campaigns(world).explain(ended.id, "ada")).messaged


async def test_a_campaign_does_not_count_as_activity_of_its_recipients(world: World) -> None:
    """Decision 27: a campaign for active users must not keep itself alive."""
    make_hello(world)
    await put_people(world, "ada")
    await run_campaign(world)
    assert (await world.app.agents.user("buddy", "ada")).active is None


# Pause, resume, stop


async def test_18_pause_resume_and_stop_in_the_middle(world: World) -> None:
    _, outbox = make_hello(world)
    await put_people(world, *numbered("u", 10))
    sent = await campaigns(world).send(ALL, flow="hello", allow_session_bootstrap=True, rate="1/m")
    await world.advance("2m30s")
    assert len(outbox.sent) == 3
    paused = await campaigns(world).pause(sent.id, "lunch")
    assert (paused.status, paused.counts) == ("paused", {"success": 3, "pending": 7})
    await world.advance("3h")
    assert len(outbox.sent) == 3
    assert (await campaigns(world).get(sent.id)).status == "paused"
    await campaigns(world).resume(sent.id)
    await world.advance("2m30s")
    assert len(outbox.sent) == 6
    await campaigns(world).stop(sent.id, "enough")
    ended = await sent.outcome("1m")
    assert (ended.outcome, ended.counts) == ("success", {"success": 6, "skipped": 4})
    assert (ended.status, ended.reason) == ("stopped", "enough")
    assert [one.id for one in await campaigns(world).list(status="stopped")] == [sent.id]
    (completed,) = [event for event in await all_events(world) if event.name == "campaign:completed"]
    assert (completed.data["status"], completed.data["reason"]) == ("stopped", "enough")
    assert ended.reasons == {"campaign_stopped": 4}
    assert Counter(message.user for message in outbox.sent) == Counter(numbered("u", 6))
    skipped = [event for event in await all_events(world) if event.name == "schedule:skipped"]
    assert sorted(event.data["recipient_user_external_id"] for event in skipped) == list(numbered("u", 10)[6:])
    with pytest.raises(Conflict, match="is stopped"):
        await campaigns(world).pause(sent.id)


async def test_18_a_stop_holds_back_what_is_not_committed_for_sending(world: World) -> None:
    """Turns that have begun are asked again before their message is committed."""
    agent, outbox = make_hello(world)

    @agent.before_response
    async def slow(response: Any) -> None:
        await asyncio.sleep(5)

    await put_people(world, *numbered("u", 8))
    sent = await campaigns(world).send(ALL, flow="hello", allow_session_bootstrap=True, in_flight=4)
    await world.advance("2s")
    await campaigns(world).stop(sent.id)
    ended = await sent.outcome("1m")
    assert outbox.sent == []
    assert (ended.outcome, ended.counts, ended.reasons) == ("skipped", {"skipped": 8}, {"campaign_stopped": 8})


async def test_a_canceled_run_leaves_no_recipient_open(world: World) -> None:
    _, outbox = make_hello(world)
    await put_people(world, *numbered("u", 5))
    sent = await campaigns(world).send(ALL, flow="hello", allow_session_bootstrap=True, rate="1/m")
    await world.advance("90s")
    await world.app.functions.cancel(sent.id)
    await world.advance("1m")
    ended = await campaigns(world).get(sent.id)
    assert (ended.status, ended.reason, ended.counts) == ("stopped", "canceled", {"success": 2, "skipped": 3})
    assert len(outbox.sent) == 2


async def test_a_canceled_run_of_a_large_campaign_ends_its_recipients_in_chunks(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chunk is one transaction, so that nobody waits for the lock of the campaign for long."""
    monkeypatch.setattr("ostinato.flows.campaigns.changes.CHUNK", 3)
    monkeypatch.setattr("ostinato.flows.campaigns.run.CampaignRun._shift", _nothing)
    make_hello(world)
    await put_people(world, *numbered("u", 10))
    sent = await campaigns(world).send(ALL, flow="hello", allow_session_bootstrap=True)
    await world.advance("5s")
    await world.app.functions.cancel(sent.id)
    await world.advance("1m")
    ended = await campaigns(world).get(sent.id)
    assert (ended.status, ended.reason, ended.counts) == ("stopped", "canceled", {"skipped": 10})
    skipped = [event for event in await all_events(world) if event.name == "schedule:skipped"]
    assert len({event.data["recipient_user_external_id"] for event in skipped}) == len(skipped) == 10


async def _nothing(_: Any) -> dict[str, Any]:
    """The sending part of a campaign's run, which does nothing and is not over."""
    return {"over": False, "idle": True, "changed": False, "flying": 0, "next": None}


@pytest.mark.parametrize("how", ["cancel", "terminate"])
async def test_who_waits_for_a_campaign_gets_it_though_its_run_was_ended(world: World, how: str) -> None:
    make_hello(world)
    await put_people(world, *numbered("u", 5))
    sent = await campaigns(world).send(ALL, flow="hello", allow_session_bootstrap=True, rate="1/m")
    await world.advance("90s")
    await getattr(world.app.functions, how)(sent.id)
    ended = await sent.outcome("1m")
    assert (ended.status, ended.counts) == ("stopped", {"success": 2, "skipped": 3})
    assert await campaigns(world).wait(sent.id) == ended


@pytest.mark.parametrize("flow", [None, "hello"], ids=["direct", "flow"])
async def test_a_turn_that_outlives_its_canceled_campaign_sends_nothing(world: World, flow: str | None) -> None:
    agent, outbox = make_buddy(world, "hello", "hello", "hello")

    @agent.flow
    async def hello(ctx: Any) -> None:
        await ctx.say("hello")

    @agent.before_llm
    async def think(hook_input: Any) -> Any:
        await asyncio.sleep(60)

    @agent.before_response
    async def think_again(candidate: Any) -> Any:
        await asyncio.sleep(60)

    await put_people(world, *numbered("u", 3))
    options: dict[str, Any] = {"metadata": {"prompt": "Say hello."}} if flow is None else {"flow": flow}
    sent = await campaigns(world).send(ALL, allow_session_bootstrap=True, **options)
    await world.advance("5s")
    await world.app.functions.cancel(sent.id)
    await world.advance("10s")
    ended = await campaigns(world).get(sent.id)
    assert (ended.status, ended.counts) == ("stopped", {"failed": 3})
    await world.advance("10m")
    assert outbox.sent == []


async def test_a_terminated_run_leaves_no_campaign_that_sends(world: World) -> None:
    _, outbox = make_hello(world)
    await put_people(world, *numbered("u", 5))
    sent = await campaigns(world).send(ALL, flow="hello", allow_session_bootstrap=True, rate="1/m")
    await world.advance("90s")
    await world.app.functions.terminate(sent.id)
    await world.advance("10s")
    ended = await campaigns(world).get(sent.id)
    assert (ended.status, ended.reason) == ("stopped", "run_terminated")
    assert (ended.outcome, ended.counts) == ("success", {"success": 2, "skipped": 3})
    await world.advance("10m")
    assert len(outbox.sent) == 2
    assert await world.app.check(repair=False) == []


async def test_the_scanner_calls_a_campaign_repaired_when_it_is_over(world: World) -> None:
    """The first scan stops the campaign and skips the waiting recipients. The second scan ends it."""
    make_hello(world)
    await put_people(world, *numbered("u", 5))
    sent = await campaigns(world).send(ALL, flow="hello", allow_session_bootstrap=True, rate="1/h")
    await world.advance("30s")
    await world.down()
    async with world.app.connected() as app:
        await app.functions.terminate(sent.id)
        await asyncio.sleep(3600)
        seen = []
        for _ in range(3):
            findings = [finding for finding in await app.check() if finding.rule == "campaign_without_run"]
            status = (await app.agents.campaigns("buddy").get(sent.id)).status
            seen.append(([(finding.subject, finding.repaired) for finding in findings], status))
    assert seen == [([(sent.id, False)], "stopping"), ([(sent.id, True)], "stopped"), ([], "stopped")]


async def test_a_terminated_run_lets_turns_end_that_go_on(world: World) -> None:
    """What they do counts: nobody is said to be lost who was messaged."""
    agent, outbox = make_hello(world)

    @agent.on_response
    async def slow(structured: Any) -> None:
        await asyncio.sleep(5)

    await put_people(world, "ada")
    sent = await campaigns(world).send(ALL, flow="hello", allow_session_bootstrap=True)
    await world.advance("2s")
    assert len(outbox.sent) == 1
    await world.app.functions.terminate(sent.id)
    await world.advance("2s")
    assert (await campaigns(world).get(sent.id)).status == "stopping"
    await world.advance("10s")
    ended = await campaigns(world).get(sent.id)
    assert (ended.status, ended.counts) == ("stopped", {"success": 1})


async def test_58_a_restart_in_good_order_goes_on_where_it_was(world: World) -> None:
    _, outbox = make_hello(world)
    await put_people(world, *numbered("u", 30))
    sent = await campaigns(world).send(ALL, flow="hello", allow_session_bootstrap=True, rate="1/s")
    await world.advance("10s")
    before = len(outbox.sent)
    assert 0 < before < 30
    await world.down()
    await world.up()
    ended = await sent.outcome("10m")
    assert ended.counts == {"success": 30}
    assert Counter(message.user for message in outbox.sent) == Counter(numbered("u", 30))


async def test_a_turn_that_was_deferred_is_collected_when_its_flow_is_over(world: World) -> None:
    agent, outbox = make_hello(world)

    @agent.flow
    async def checkin(ctx: Any) -> None:
        await ctx.ask("How are you?")

    agent.router(lambda hook_input: "checkin")
    await put_people(world, "ada", "bob")
    chat = Chat(world)
    await chat.say("hi")
    sent = await campaigns(world).send(ALL, flow="hello", allow_session_bootstrap=True, on_active_flow="defer")
    await world.advance("2h")
    assert (await campaigns(world).get(sent.id)).counts == {"success": 1, "started": 1}
    await chat.say("well")
    ended = await sent.outcome("5m")
    assert ended.counts == {"success": 2}
    assert outbox.texts == ["How are you?", "hello bob", "hello ada"]


async def test_58_a_session_whose_run_was_stopped_fails_its_recipient(world: World) -> None:
    agent, _ = make_hello(world)

    @agent.before_response
    async def slow(response: Any) -> None:
        await asyncio.sleep(8 if response.user.external_id == "ada" else 0)

    await put_people(world, "ada", "bob")
    sent = await campaigns(world).send(ALL, flow="hello", allow_session_bootstrap=True)
    await world.advance("2s")
    (session,) = await world.app.agents.sessions("buddy", user="ada")
    await world.app.terminate(session.run_id)
    ended = await sent.outcome("20m")
    assert await outcomes(world, ended.id) == {"ada": ("failed", "session_lost"), "bob": ("success", None)}


async def test_20_sessions_that_campaigns_open_have_a_lower_priority_until_they_are_needed(world: World) -> None:
    agent, _ = make_hello(world)
    agent.before_llm(lambda hook_input: End() if hook_input.turn.source == "inbound" else None)
    await put_people(world, "ada", "bob")
    await run_campaign(world)
    (session,) = await world.app.agents.sessions("buddy", user="ada")
    assert (await world.app.get(session.run_id)).priority < 0
    await Chat(world).say("hi")
    assert (await world.app.get(session.run_id)).priority == 0


# Limits and consent


async def test_an_audience_above_the_cap_needs_a_confirmation(world: World) -> None:
    _, outbox = make_hello(world)
    await put_people(world, "ada", "bob", "eve")
    with pytest.raises(AudienceTooLarge, match="max_recipients=2 users"):
        await run_campaign(world, max_recipients=2)
    assert await campaigns(world).list() == []
    assert (await campaigns(world).preview(ALL, max_recipients=2)).refused
    run = await world.app.functions.start(
        CAMPAIGN_FUNCTION,
        {
            "agent": "buddy",
            "segment": ALL,
            "flow": "hello",
            "allow_session_bootstrap": True,
            "options": {"max_recipients": 2},
        },
    )
    result = await run.result("1m")
    assert (result["outcome"], result["reason"]) == ("failed", "too_many_recipients")
    assert await campaigns(world).recipients(run.id) == []
    assert outbox.sent == []
    ended = await run_campaign(world, max_recipients=2, confirmed=True)
    assert ended.counts == {"success": 3}


async def test_the_rate_of_a_campaign_and_that_of_the_transport(world: World) -> None:
    _, outbox = make_hello(world, campaigns={"rate": "2/m"})
    await put_people(world, *numbered("u", 6))
    first = await campaigns(world).send(ALL, flow="hello", allow_session_bootstrap=True)
    second = await campaigns(world).send(ALL, flow="hello", allow_session_bootstrap=True, rate="1/m")
    await world.advance("59s")
    assert len(outbox.sent) == 2  # both campaigns share the transport
    await first.outcome("1h")
    await second.outcome("1h")
    times = [message.now for message in outbox.sent]
    assert len(times) == 12
    assert min(later - sooner for sooner, later in zip(times, times[2:], strict=False)) >= 59_000_000


async def test_quiet_hours_are_those_of_each_recipient(world: World) -> None:
    _, outbox = make_hello(world)
    await put_people(world, "rio", tz="America/Sao_Paulo")  # 21:00 on the day before
    await put_people(world, "tokyo", tz="Asia/Tokyo")  # 09:00
    await put_people(world, "home")  # the agent's zone is that of São Paulo
    sent = await campaigns(world).send(
        ALL, flow="hello", allow_session_bootstrap=True, quiet_hours={"from": "20:00", "to": "08:00"}
    )
    await world.advance("1m")
    assert [message.user for message in outbox.sent] == ["tokyo"]
    waiting = {one.user: (one.status, one.reason) for one in await campaigns(world).recipients(sent.id)}
    assert waiting["rio"] == ("pending", "quiet_hours")
    assert "quiet hours" in (await campaigns(world).explain(sent.id, "rio")).words
    await world.advance_to("2026-01-01T10:59:00Z")
    assert len(outbox.sent) == 1
    await world.advance_to("2026-01-01T11:00:30Z")  # 08:00 in São Paulo
    assert sorted(message.user for message in outbox.sent) == ["home", "rio", "tokyo"]
    assert (await sent.outcome("1m")).counts == {"success": 3}


async def test_delivery_at_a_local_time(world: World) -> None:
    _, outbox = make_hello(world)
    await put_people(world, "berlin", tz="Europe/Berlin")
    await put_people(world, "tokyo", tz="Asia/Tokyo")
    sent = await campaigns(world).send(ALL, flow="hello", allow_session_bootstrap=True, local_time="09:30")
    await world.advance_to("2026-01-01T00:31:00Z")
    assert [message.user for message in outbox.sent] == ["tokyo"]
    await world.advance_to("2026-01-01T08:31:00Z")
    assert [message.user for message in outbox.sent] == ["tokyo", "berlin"]
    await sent.outcome("1m")


async def test_what_does_not_begin_in_time_expires(world: World) -> None:
    _, outbox = make_hello(world)
    await put_people(world, "ada", "bob", "eve")
    ended = await run_campaign(world, rate="1/h", expires_after="90m")
    assert await outcomes(world, ended.id) == {
        "ada": ("success", None),
        "bob": ("success", None),
        "eve": ("skipped", "expired"),
    }
    assert len(outbox.sent) == 2


async def test_a_local_time_after_the_expiry_expires_at_once(world: World) -> None:
    """Everybody else waits for their local time, with a reason and the time."""
    _, outbox = make_hello(world)
    await put_people(world, "berlin", tz="Europe/Berlin")  # 09:30 is at 08:30Z
    await put_people(world, "rio", tz="America/Sao_Paulo")  # 09:30 is at 12:30Z
    await put_people(world, "gone", tz="America/Sao_Paulo", consent="opted_out")
    options: dict[str, Any] = {"allow_session_bootstrap": True, "local_time": "09:30", "expires_after": "10h"}
    assert (await campaigns(world).preview(ALL, **options)).skipped == {"expired": 2}
    sent = await campaigns(world).send(ALL, flow="hello", **options)
    await world.advance("1m")
    assert await outcomes(world, sent.id) == {
        "berlin": (None, "local_time"),
        "gone": ("skipped", "expired"),
        "rio": ("skipped", "expired"),
    }
    waits = await campaigns(world).explain(sent.id, "berlin")
    due = datetime(2026, 1, 1, 8, 30, tzinfo=UTC)
    assert (waits.messaged, waits.outcome, waits.reason, waits.due) == (False, None, "local_time", due)
    assert waits.words.endswith("where they are; their turn comes at 2026-01-01T08:30:00+00:00")
    expired = await campaigns(world).explain(sent.id, "rio")
    assert (expired.words, expired.due) == ("their time did not come before the campaign expired", None)
    ended = await sent.outcome("10h")
    assert ended.finished is not None
    assert ended.finished < due + timedelta(minutes=1)
    assert (ended.counts, ended.reasons) == ({"success": 1, "skipped": 2}, {"expired": 2})
    assert [message.user for message in outbox.sent] == ["berlin"]


@pytest.mark.parametrize("reason", ["unknown_user", "opted_out", "suppressed"])
async def test_explain_foresees_that_a_waiting_recipient_will_be_skipped(world: World, reason: str) -> None:
    make_hello(world)
    await put_people(world, "ada", "zoe", tz="UTC")
    sent = await campaigns(world).send(ALL, flow="hello", allow_session_bootstrap=True, local_time="09:30")
    await world.advance("1m")
    if reason == "unknown_user":
        await world.app.agents.delete_user("buddy", "ada")
    elif reason == "opted_out":
        await world.app.agents.put_user("buddy", "ada", consent="opted_out")
    else:
        await campaigns(world).suppress(["ada"], "asked by phone")
    foreseen = await campaigns(world).explain(sent.id, "ada")
    assert (foreseen.messaged, foreseen.outcome) == (False, None)
    assert foreseen.words == (
        f"their turn has not come; if it came now, they would be skipped: {REASONS[reason]} ({reason})"
    )
    assert "if it came now" not in (await campaigns(world).explain(sent.id, "zoe")).words
    await sent.outcome("1d")
    assert await outcomes(world, sent.id) == {"ada": ("skipped", reason), "zoe": ("success", None)}


async def test_explain_goes_by_the_time_that_was_stored_with_the_audience(world: World) -> None:
    make_hello(world)
    await put_people(world, "ada", tz="UTC")
    options: dict[str, Any] = {"allow_session_bootstrap": True, "local_time": "00:30", "expires_after": "12h"}
    sent = await campaigns(world).send(ALL, flow="hello", **options)
    await world.advance("1m")
    await world.app.agents.put_user("buddy", "ada", tz="Asia/Tokyo")
    assert (await campaigns(world).explain(sent.id, "ada")).reason == "local_time"
    assert "would be skipped" not in (await campaigns(world).explain(sent.id, "ada")).words
    assert (await sent.outcome("1d")).counts == {"success": 1}


async def test_waiting_for_a_campaign_returns_it(world: World) -> None:
    make_hello(world)
    await put_people(world, "ada")
    sent = await campaigns(world).send(ALL, flow="hello", allow_session_bootstrap=True)
    ended = await campaigns(world).wait(sent.id, "1m")
    assert (ended.id, ended.status, ended.counts) == (sent.id, "done", {"success": 1})
    assert ended == await campaigns(world).get(sent.id)


async def test_a_list_has_the_reasons_and_variants_of_campaigns_that_are_over(world: World) -> None:
    make_hello(world)
    await put_people(world, *numbered("u", 12))
    await put_people(world, "ada", consent="opted_out")
    options: dict[str, Any] = {"holdout": 30, "variants": {"a": {}, "b": {}}}
    first = await run_campaign(world, campaign_id="spring", **options)
    second = await run_campaign(world, {"type": "users", "users": ["ada", "nobody"]})
    assert first.reasons.keys() == {"holdout", "opted_out"}
    assert second.reasons == {"opted_out": 1, "unknown_user": 1}
    waiting = await campaigns(world).send(ALL, flow="hello", allow_session_bootstrap=True, local_time="09:30")
    await world.advance("1m")
    listed = await campaigns(world).list()
    assert listed[1:] == [second, first]
    assert (listed[0].id, listed[0].counts, listed[0].reasons, listed[0].variants) == (waiting.id, {}, {}, {})


async def test_a_frequency_cap_and_its_override(world: World) -> None:
    _, outbox = make_hello(world, campaigns={"frequency_cap": {"messages": 1, "per": "7d"}})
    await put_people(world, "ada")
    assert (await run_campaign(world)).counts == {"success": 1}
    capped = await run_campaign(world)
    assert await outcomes(world, capped.id) == {"ada": ("skipped", "frequency_cap")}
    assert (await run_campaign(world, frequency_cap=None)).counts == {"success": 1}
    await world.advance("8d")
    assert (await run_campaign(world)).counts == {"success": 1}
    assert len(outbox.sent) == 3


async def test_a_turn_that_says_nothing_is_no_message(world: World) -> None:
    agent, outbox = make_hello(world, campaigns={"frequency_cap": {"messages": 1, "per": "7d"}})
    silent = True
    agent.before_llm(lambda hook_input: SkipLLM() if silent else None)
    await put_people(world, "ada")
    quiet = await run_campaign(world)
    assert quiet.counts == {"success": 1}
    why = await campaigns(world).explain(quiet.id, "ada")
    assert (why.messaged, why.words) == (False, "their turn said nothing (policy_skip)")
    silent = False
    spoken = await run_campaign(world)
    assert (await campaigns(world).explain(spoken.id, "ada")).messaged
    assert [recipient.delivered for recipient in await campaigns(world).recipients(spoken.id)] == [1]
    assert len(outbox.sent) == 1


async def test_stop_is_confirmed_once_and_ends_campaigns_for_a_user(world: World) -> None:
    agent, outbox = make_hello(world, campaigns={"stop_reply": "Bye."})
    agent.before_llm(lambda hook_input: End() if hook_input.turn.source == "inbound" else None)
    await put_people(world, "ada", "bob")
    chat = Chat(world)
    assert await chat.say(" Stop! ") == ("success", None)
    assert await chat.say("STOP") == ("success", "opted_out")
    assert outbox.texts == ["Bye."]
    user = await world.app.agents.user("buddy", "ada")
    assert (user.consent, user.consent_at is not None) == ("opted_out", True)
    ended = await run_campaign(world)
    assert await outcomes(world, ended.id) == {"ada": ("skipped", "opted_out"), "bob": ("success", None)}
    assert (await campaigns(world).explain(ended.id, "ada")).words == "they have opted out"
    assert await chat.say("start") == ("success", None)
    assert (await world.app.agents.user("buddy", "ada")).consent == "opted_in"
    assert await chat.say("start") == ("skipped", "policy_end")  # means nothing to a person who has not opted out
    assert (await run_campaign(world)).counts == {"success": 2}
    log = [event.name for event in await all_events(world)]
    assert (log.count("flow:opted_out"), log.count("flow:opted_in")) == (1, 1)


async def test_stop_is_confirmed_also_while_a_person_has_the_conversation(world: World) -> None:
    """The consent changes, the person sees the message, and the user gets the confirmation."""
    agent, outbox = make_hello(world, admins=["root"], campaigns={"stop_reply": "Bye.", "start_reply": "Welcome."})
    agent.before_llm(lambda hook_input: End() if hook_input.turn.source == "inbound" else None)
    chat = Chat(world)
    await chat.say("hi")
    await world.app.within("default", "root").agents.take_over("buddy", "ada")
    assert await chat.say("STOP") == ("success", None)
    assert outbox.texts == ["Bye."]
    assert (await world.app.agents.user("buddy", "ada")).consent == "opted_out"
    assert await chat.say("STOP") == ("success", "forwarded")  # it is confirmed once
    assert await chat.say("really") == ("success", "forwarded")
    assert await chat.say("start") == ("success", None)
    assert outbox.texts == ["Bye.", "Welcome."]
    forwarded = [event.data["text"] for event in await all_events(world) if event.name == "hitl:forwarded"]
    assert forwarded == ["STOP", "STOP", "really", "start"]
    (session,) = await world.app.agents.sessions("buddy")
    assert session.takeover == "root"


async def test_stop_takes_effect_when_it_is_accepted(world: World) -> None:
    """Also for a message that is being prepared, and while a person has the conversation."""
    agent, outbox = make_hello(world, admins=["root"])

    @agent.before_response
    async def slow(response: Any) -> None:
        await asyncio.sleep(5 if response.turn.source == "scheduled" else 0)

    await put_people(world, "ada")
    sent = await campaigns(world).send(ALL, flow="hello", allow_session_bootstrap=True)
    await world.advance("1s")
    await world.app.agents.receive("buddy", "ada", "stop", id="m1")
    assert (await world.app.agents.user("buddy", "ada")).consent == "opted_out"
    ended = await sent.outcome("1m")
    assert await outcomes(world, ended.id) == {"ada": ("skipped", "opted_out")}
    assert [text for text in outbox.texts if text.startswith("hello")] == []


async def test_a_transport_cannot_claim_that_a_message_changed_the_consent(world: World) -> None:
    _, outbox = make_hello(world)
    agent = world.app.agents.codes.by_name["buddy"]
    agent.before_llm(lambda hook_input: End())
    await world.up()
    forged = {"consent_change": {"to": "opted_in", "new": True}}
    await world.app.agents.receive("buddy", "ada", "hi", id="m1", metadata=forged)
    await world.settle()
    assert outbox.sent == []


async def test_the_suppression_list(world: World) -> None:
    _, outbox = make_hello(world)
    await put_people(world, "ada", "bob")
    assert await campaigns(world).suppress(["ada", "stranger"], "complained") == 2
    assert await campaigns(world).suppressed() == [("ada", "complained"), ("stranger", "complained")]
    ended = await run_campaign(world)
    assert await outcomes(world, ended.id) == {"ada": ("skipped", "suppressed"), "bob": ("success", None)}
    assert await campaigns(world).unsuppress(["ada", "nobody"]) == 1
    assert (await run_campaign(world)).counts == {"success": 2}
    assert len(outbox.sent) == 3


async def test_only_people_who_opted_in(world: World) -> None:
    make_hello(world)
    await put_people(world, "ada", consent="opted_in")
    await put_people(world, "bob")
    ended = await run_campaign(world, require_opt_in=True)
    assert await outcomes(world, ended.id) == {"ada": ("success", None), "bob": ("skipped", "no_consent")}


async def test_a_reply_cancels_the_message_that_has_not_come(world: World) -> None:
    agent, outbox = make_hello(world)
    agent.before_llm(lambda hook_input: End() if hook_input.turn.source == "inbound" else None)
    await put_people(world, "ada", "bob")
    sent = await campaigns(world).send(
        ALL, flow="hello", allow_session_bootstrap=True, rate="1/m", cancel_on_reply=True
    )
    await world.advance("10s")
    await Chat(world, "bob").say("hi there")
    ended = await sent.outcome("10m")
    assert await outcomes(world, ended.id) == {"ada": ("success", None), "bob": ("skipped", "replied")}
    assert outbox.texts == ["hello ada"]


async def test_holdout_and_variants_are_the_same_every_time(world: World) -> None:
    _, outbox = make_hello(world)
    await put_people(world, *numbered("u", 60))
    options = {
        "campaign_id": "spring",
        "holdout": 20,
        "variants": {"warm": {"weight": 2, "input": {"word": "dear"}}, "cold": {"input": {"word": "hi"}}},
    }
    first = await run_campaign(world, **options)
    groups = {one.user: one.variant for one in await campaigns(world).recipients(first.id)}
    second = await run_campaign(world, **options)
    assert groups == {one.user: one.variant for one in await campaigns(world).recipients(second.id)}
    assert set(first.variants) == {"holdout", "warm", "cold"}
    assert first.counts == {"success": 60 - first.variants["holdout"], "skipped": first.variants["holdout"]}
    words = Counter(text.split()[0] for text in outbox.texts)
    assert words == {"dear": 2 * first.variants["warm"], "hi": 2 * first.variants["cold"]}


# Looking


async def test_preview_and_test_send(world: World) -> None:
    _, outbox = make_hello(world)
    await put_people(world, "ada", "bob")
    await put_people(world, "eve", consent="opted_out")
    preview = await campaigns(world).preview(ALL, flow="hello", allow_session_bootstrap=True)
    assert (preview.recipients, preview.reachable, preview.skipped) == (3, 2, {"opted_out": 1})
    assert (preview.sample, preview.refused) == (("ada", "bob"), False)
    assert outbox.sent == []
    sent = await campaigns(world).test(["ada", "eve", "nobody"], flow="hello")
    ended = await sent.outcome("1m")
    assert await outcomes(world, ended.id) == {
        "ada": ("success", None),
        "eve": ("skipped", "opted_out"),
        "nobody": ("skipped", "unknown_user"),
    }
    assert outbox.texts == ["hello ada"]
    assert [one.id for one in await campaigns(world).list(campaign_id="test")] == [sent.id]


async def test_a_test_does_not_reach_users_without_the_consent_that_the_agent_requires(world: World) -> None:
    make_hello(world, campaigns={"require_opt_in": True})
    await put_people(world, "ada", consent="opted_in")
    await put_people(world, "bob")
    ended = await (await campaigns(world).test(["ada", "bob"], flow="hello")).outcome("1m")
    assert await outcomes(world, ended.id) == {"ada": ("success", None), "bob": ("skipped", "no_consent")}


async def test_preview_counts_everybody_once(world: World) -> None:
    agent, _ = make_hello(world)
    agent.segment("twice")(lambda ctx: [*numbered("u", 501), *numbered("u", 2)])  # the same people on two pages
    await put_people(world, "u000", "u001")
    preview = await campaigns(world).preview(
        {"type": "custom_query", "resolver": "twice"}, flow="hello", allow_session_bootstrap=True
    )
    assert (preview.recipients, preview.skipped["unknown_user"]) == (501, 499)


async def test_preview_counts_with_the_options_of_send(world: World) -> None:
    agent, _ = make_hello(world)
    agent.before_llm(lambda hook_input: End() if hook_input.turn.source == "inbound" else None)
    await put_people(world, *numbered("u", 40))
    await Chat(world, "u000").say("hi")
    preview = campaigns(world).preview
    without = await preview(ALL, flow="hello")
    assert (without.reachable, without.skipped, without.sample) == (1, {"bootstrap_disabled": 39}, ("u000",))
    assert (await preview(ALL)).reachable == 1  # what it says may be left out
    options: dict[str, Any] = {
        "holdout": 20,
        "variants": {"a": {}, "b": {}},
        "campaign_id": "spring",
        "allow_session_bootstrap": True,
    }
    foreseen = await preview(ALL, flow="hello", **options)
    sent = await run_campaign(world, **options)
    assert foreseen.reachable == sent.counts["success"]
    assert {**foreseen.variants, "holdout": foreseen.skipped["holdout"]} == sent.variants
    capped = await preview(ALL, allow_session_bootstrap=True, frequency_cap={"messages": 1, "per": "1d"})
    assert capped.skipped == {"frequency_cap": sent.counts["success"]}
    held = {"from": "00:00", "to": "23:59"}
    late = await preview(ALL, allow_session_bootstrap=True, quiet_hours=held, expires_after="1m")
    assert late.skipped == {"expired": 40}
    with pytest.raises(OstinatoError, match="did you mean 'hello'"):
        await preview(ALL, flow="helo")
    with pytest.raises(OstinatoError, match="did you mean 'in_flight'"):
        await preview(ALL, in_fligth=3)


async def test_explain_says_that_nobody_knows(world: World) -> None:
    _, outbox = make_hello(world)
    outbox.trouble = [RuntimeError("the line broke off")]
    await put_people(world, "ada")
    ended = await run_campaign(world)
    explained = await campaigns(world).explain(ended.id, "ada")
    assert (explained.messaged, explained.reason) == ("unknown", "delivery_unknown")
    assert "nobody knows" in explained.words


@pytest.mark.parametrize("flow", [None, "classic"])
async def test_a_campaign_that_could_say_nothing_is_refused_at_the_door(world: World, flow: str | None) -> None:
    make_hello(world)
    world.app.agent("talks", tz="UTC", transport=Outbox(), model=ScriptedModel("hi"))
    await put_people(world, "ada")
    with pytest.raises(OstinatoError, match=r"has no model that could write the message; name a flow .*'hello'"):
        await campaigns(world).send(ALL, flow=flow, metadata={"prompt": "Say hi."})
    with pytest.raises(OstinatoError, match=r"neither a flow nor a prompt.*metadata=\{'prompt': '…'\}"):
        await world.app.agents.campaigns("talks").send(ALL, flow=flow)
    with pytest.raises(OstinatoError, match=r"metadata\['prompt'\] 5 is not a text"):
        await world.app.agents.campaigns("talks").send(ALL, flow=flow, metadata={"prompt": 5})
    await world.app.agents.campaigns("talks").send(ALL, flow=flow, metadata={"prompt": "Say hi."})
    with pytest.raises(OstinatoError, match="has no model"):
        await campaigns(world).send(ALL, flow="hello", variants={"a": {"flow": "classic"}})
    assert await campaigns(world).list() == []


async def test_the_status_of_a_list_is_checked(world: World) -> None:
    make_hello(world)
    await world.up()
    with pytest.raises(OstinatoError, match="status 'zz' is none of resolving, sending, paused, stopping, stopped"):
        await campaigns(world).list(status="zz")


async def test_explain_names_the_reason(world: World) -> None:
    make_hello(world)
    await put_people(world, "ada", tags=["vip"])
    await put_people(world, "bob")
    ended = await run_campaign(world, {"type": "custom_query", "query": 'tags has "vip"'})
    await put_people(world, "late", tags=["vip"])
    explain = campaigns(world).explain
    assert (await explain(ended.id, "ada")).messaged
    assert "do not fit the query" in (await explain(ended.id, "bob")).words
    assert "no such user" in (await explain(ended.id, "nobody")).words
    await put_people(world, "bob", tags=["vip"])
    assert "they do now" in (await explain(ended.id, "bob")).words
    with pytest.raises(NotFound, match="no campaign 'nothing'"):
        await explain("nothing", "ada")


async def test_recipients_are_paged(world: World) -> None:
    make_hello(world)
    await put_people(world, *numbered("u", 7))
    ended = await run_campaign(world)
    pages, after = [], ""
    while page := await campaigns(world).recipients(ended.id, after=after, limit=3):
        pages.append([one.user for one in page])
        after = page[-1].user
    assert [len(page) for page in pages] == [3, 3, 1]
    assert [user for page in pages for user in page] == list(numbered("u", 7))


async def test_a_campaign_of_another_namespace_does_not_exist(world: World) -> None:
    make_hello(world)
    await put_people(world, "ada")
    ended = await run_campaign(world)
    await world.app.create_namespace("other")
    other = world.app.within("other").agents.campaigns("buddy")
    for call in (other.get, other.recipients, other.pause, other.stop):
        with pytest.raises(NotFound):
            await call(ended.id)


@pytest.mark.parametrize("form", ["coroutine", "function", "generator", "async generator", "text"])
async def test_a_resolver_that_fails_is_named_with_its_error(world: World, form: str) -> None:
    agent, outbox = make_hello(world)

    async def coroutine(ctx: Any) -> Any:
        raise RuntimeError("shop is down")

    def function(ctx: Any) -> Any:
        raise RuntimeError("shop is down")

    def generator(ctx: Any) -> Any:
        yield "ada"
        raise RuntimeError("shop is down")

    async def async_generator(ctx: Any) -> Any:
        yield "ada"
        raise RuntimeError("shop is down")

    def text(ctx: Any) -> Any:
        return "ada"

    forms = (coroutine, function, generator, async_generator, text)
    agent.segment("bad")({form.__name__.replace("_", " "): form for form in forms}[form])
    await put_people(world, "ada")
    words = "segment 'bad' raised RuntimeError: shop is down"
    if form == "text":
        words = "segment 'bad' returned 'ada', which is not a list of external ids"
    bad = {"type": "custom_query", "resolver": "bad"}
    with pytest.raises(SegmentFailed, match=words):
        await campaigns(world).preview(bad)
    ended = await run_campaign(world, bad)
    assert (ended.status, ended.outcome, ended.reason) == ("done", "failed", f"segment_failed: {words}")
    assert (ended.counts, outbox.sent) == ({}, [])


# At the door


@pytest.mark.parametrize(
    ("segment", "options", "words"),
    [
        ({"type": "everybody"}, {}, "type 'everybody' is none of all, active_since, tag"),
        ({"type": "tag"}, {}, "the campaign's segment: tag is missing"),
        ({"type": "active_since", "active_since_days": 0}, {}, "whole number from 1"),
        ({"type": "all", "tag": "x"}, {}, "of type 'all' has no 'tag'"),
        ({"type": "custom_query", "query": "1=1; DROP TABLE users"}, {}, "at character 4"),
        ({"type": "custom_query", "query": 'locales = "pt"'}, {}, "did you mean 'locale'"),
        ({"type": "custom_query", "query": 'plan = "a"'}, {}, "did you mean 'data.plan'"),
        ({"type": "custom_query", "resolver": "vips"}, {}, "has no segment 'vips'"),
        (ALL, {"rate": "fast"}, "options.rate 'fast' is not a rate such as '20/s'"),
        (ALL, {"quiet_hours": {"from": "25:00", "to": "08:00"}}, "options.quiet_hours.from '25:00' is not a time"),
        (ALL, {"in_flihgt": 3}, "did you mean 'in_flight'"),
        (ALL, {"holdout": 100}, "per cent from 0 to less than 100"),
        (ALL, {"variants": {"a": {"flow": "nope"}}}, "has no flow 'nope'"),
        (ALL, {"max_recipients": True}, "options.max_recipients True is not a whole number"),
        (ALL, {"flow": "helo"}, "did you mean 'hello'"),
        (
            ALL,
            {"variants": {"a": {"input": {"words": "x"}}}},
            "options.variants.a.input: flow 'hello': words: there is",
        ),
        (ALL, {"input": {"words": "x"}}, "flow 'hello': words: there is no such argument; did you mean 'word'?"),
    ],
)
async def test_bad_input_is_refused_at_the_door(world: World, segment: Any, options: Any, words: str) -> None:
    make_hello(world)
    await world.up()
    with pytest.raises(OstinatoError) as refused:
        await run_campaign(world, segment, **options)
    assert words in str(refused.value)
    assert await campaigns(world).list() == []


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"stop_words": ["Halt", "Stop"], "start_words": ["go", "stop"]}, "Stop"),
        ({"start_words": ["parar"]}, "parar"),  # one of the default stop words
        ({"stop_words": ["START"]}, "START"),
    ],
)
def test_a_word_does_not_stop_and_start(world: World, settings: dict[str, Any], word: str) -> None:
    with pytest.raises(OstinatoError, match=f"campaigns: '{word}' is in both stop_words and start_words"):
        make_hello(world, campaigns=settings)


@pytest.mark.parametrize("value", [5, None, "stop", {"stop": 1}, ["stop", ""], ["stop", 7]])
def test_words_that_are_no_list_are_refused(world: World, value: Any) -> None:
    with pytest.raises(OstinatoError, match=r"campaigns\.stop_words .* is not a list of words"):
        make_hello(world, campaigns={"stop_words": value})
