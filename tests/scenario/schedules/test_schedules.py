"""Schedules on the clockwork: each due time comes once and leaves its record, whatever happens in between."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ostinato import Conflict, Limit, NotFound, OstinatoError, Retry, cron, every, manual, once
from ostinato.model import read_retry
from ostinato.schedules.forms import Forms, Patch
from ostinato.schedules.model import OverlapName
from ostinato.schedules.scheduler import TokenMismatch
from ostinato.starting import read_limit
from ostinato.testing import World
from ostinato.when.instants import from_datetime

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


async def begin(world: World) -> list[tuple[Any, ...]]:
    """A world at a round time with a job that notes what it was told."""
    seen: list[tuple[Any, ...]] = []

    @world.app.job()
    async def note(ctx: Any, who: str = "") -> int:
        seen.append((ctx.nominal, ctx.coalesced, who))
        return len(seen)

    @world.app.job()
    async def slow(ctx: Any, seconds: float = 90) -> None:
        seen.append((ctx.nominal, ctx.coalesced, "slow"))
        await asyncio.sleep(seconds)

    @world.app.job()
    async def bad() -> None:
        raise ValueError("no")

    await world.up()
    return seen


def minutes(*numbers: float) -> list[datetime]:
    return [BEGIN + timedelta(minutes=n) for n in numbers]


async def told(world: World, name: str) -> list[tuple[datetime, str, str | None]]:
    """What became of its times, the oldest first."""
    found = await world.app.schedules.history(name, limit=1000)
    return [(one.nominal, one.status, one.reason) for one in reversed(found)]


async def events(world: World, name: str) -> list[str]:
    info = await world.app.schedules.get(name)
    found = await world.app.events(subject=info.id, limit=1000)
    return [event.name.removeprefix("schedule:") for event in found]


async def test_a_schedule_runs_at_each_of_its_times(world: World) -> None:
    seen = await begin(world)
    await world.app.schedules.create("tick", every("1m"), "note", input={"who": "me"})
    await world.advance("5m")
    assert seen == [(at, 0, "me") for at in minutes(1, 2, 3, 4, 5)]
    info = await world.app.schedules.get("tick")
    assert info.state == "running"
    assert info.counts == {"actions": 5}
    assert info.last_result == 5
    assert info.next == minutes(6)[0]
    assert info.upcoming[:3] == tuple(minutes(6, 7, 8))
    assert [one.status for one in info.recent] == ["succeeded"] * 5


async def test_an_occurrence_missed_during_an_outage_runs_once_late(world: World) -> None:
    seen = await begin(world)
    await world.app.schedules.create("report", cron("0 9 * * *"), "note")
    await world.outage("2026-01-02T08:00Z", "2026-01-04T10:00Z")
    nines = [datetime(2026, 1, day, 9, tzinfo=UTC) for day in (1, 2, 3, 4)]
    assert await told(world, "report") == [
        (nines[0], "succeeded", None),
        (nines[1], "missed", "coalesced"),
        (nines[2], "missed", "coalesced"),
        (nines[3], "succeeded", None),
    ]
    assert seen[-1] == (nines[3], 2, "")
    assert (await world.app.schedules.history("report"))[0].previous == nines[0]
    assert "late" in await events(world, "report")


@pytest.mark.parametrize(
    ("catchup", "outcomes"),
    [
        ("skip", {"succeeded": 1, "catchup_window": 60}),
        ("all", {"succeeded": 61}),
        ("10m", {"succeeded": 11, "catchup_window": 50}),
        ({"mode": "all", "most": 5}, {"succeeded": 6, "catchup_window": 55}),
    ],
)
async def test_an_outage_follows_the_catchup_policy(world: World, catchup: Any, outcomes: dict[str, int]) -> None:
    await begin(world)
    await world.app.schedules.create("tick", every("1m"), "note", catchup=catchup, overlap="buffer_all")
    await world.outage("2026-01-01T00:01:30Z", "2026-01-01T01:01:20Z")
    found = [reason or status for _, status, reason in await told(world, "tick")]
    assert Counter(found) == Counter(outcomes)


async def test_late_runs_are_paced(world: World) -> None:
    seen = await begin(world)
    await world.app.schedules.create(
        "tick", every("1m"), "note", catchup={"mode": "all", "pace": 10}, overlap="allow_all"
    )
    await world.outage("2026-01-01T00:00:30Z", "2026-01-01T01:00:20Z")
    assert len(seen) == 10
    await world.app.schedules.skip("tick", "2026-01-01T02:00Z")  # a change does not spur it on
    await world.settle()
    assert len(seen) == 10
    await world.advance("3s")
    assert len(seen) == 40
    await world.advance("1m")
    assert [at for at, _, _ in seen] == minutes(*range(1, 62))


@pytest.mark.parametrize(
    ("overlap", "expected"),
    [
        ("skip", ["succeeded", "skipped", "succeeded", "skipped", "succeeded", "skipped"]),
        ("buffer_one", ["succeeded", "succeeded", "succeeded", "active", "skipped", "buffered"]),
        ("buffer_all", ["succeeded", "succeeded", "succeeded", "active", "buffered", "buffered"]),
        ("cancel_other", ["cancelled", "cancelled", "cancelled", "cancelled", "cancelled", "active"]),
        ("terminate_other", ["terminated"] * 5 + ["active"]),
        ("allow_all", ["succeeded"] * 5 + ["active"]),
    ],
)
async def test_overlap(world: World, overlap: OverlapName, expected: list[str]) -> None:
    await begin(world)
    await world.app.schedules.create("slow", every("1m"), "slow", overlap=overlap, input={"seconds": 89})
    await world.advance("6m30s")
    assert [status for _, status, _ in await told(world, "slow")] == expected


async def test_what_was_in_the_way_is_on_record(world: World) -> None:
    await begin(world)
    await world.app.schedules.create("slow", every("1m"), "slow")
    await world.advance("2m")
    second, first = await world.app.schedules.history("slow")
    assert (second.status, second.reason, second.blocked_by) == ("skipped", "overlap", first.run_id)
    explained = await world.app.schedules.explain("slow", minutes(2)[0])
    assert explained.outcome == "skipped"
    assert "still going" in str(explained)
    assert first.run_id in str(explained)


async def test_a_completion_lets_the_next_go_in_the_same_moment(world: World) -> None:
    await begin(world)
    await world.app.schedules.create("slow", every("1m"), "slow", overlap="buffer_all", input={"seconds": 61})
    await world.advance("3m")
    one, two, three = reversed(await world.app.schedules.history("slow"))
    assert two.started == one.finished
    assert three.status == "buffered"
    assert (await world.app.schedules.get("slow")).waiting == 1


async def test_pausing_keeps_the_record_and_resuming_asks(world: World) -> None:
    seen = await begin(world)
    await world.app.schedules.create("tick", every("1m"), "note", overlap="buffer_all")
    await world.advance("90s")
    await world.app.schedules.pause("tick", "holiday")
    assert (await world.app.schedules.get("tick")).state == "paused"
    await world.advance("3m")
    answer = await world.app.schedules.resume("tick")
    assert str(answer.lateness) == "3 late, will run 0"
    await world.advance("1m")
    assert [(at, s, r) for at, s, r in await told(world, "tick")][1:4] == [
        (at, "skipped", "paused") for at in minutes(2, 3, 4)
    ]
    assert [at for at, _, _ in seen] == minutes(1, 5)
    await world.app.schedules.pause("tick")
    await world.advance("3m")
    answer = await world.app.schedules.resume("tick", catchup="all")
    assert str(answer.lateness) == "3 late, will run 3"
    await world.settle()
    assert [at for at, _, _ in seen] == minutes(1, 5, 6, 7, 8)
    names = await events(world, "tick")
    assert names.count("paused") == names.count("resumed") == 2


async def test_a_long_pause_is_one_row(world: World) -> None:
    await begin(world)
    await world.app.schedules.create("tick", every("1m"), "note", paused=True)
    await world.advance("1d")
    await world.app.schedules.resume("tick")
    await world.advance("1m")
    stretch, after = reversed(await world.app.schedules.history("tick"))
    assert (stretch.count, stretch.nominal, stretch.last) == (1440, minutes(1)[0], minutes(1440)[0])
    assert after.status == "succeeded"
    assert (await world.app.schedules.explain("tick", minutes(700)[0])).reason == "paused"
    assert (await world.app.schedules.get("tick")).counts == {"paused": 1440, "actions": 1}


async def test_skips_beyond_a_hundred_in_a_row_share_a_row(world: World) -> None:
    await begin(world)
    await world.app.schedules.create("slow", every("1m"), "slow", input={"seconds": 5 * 3600 + 30})
    await world.advance("5h2m")
    found = list(reversed(await world.app.schedules.history("slow", limit=1000)))
    assert [one.status for one in found[:102]] == ["succeeded"] + ["skipped"] * 101
    assert found[101].count == 200
    assert found[101].last == minutes(301)[0]
    assert found[102].nominal == minutes(302)[0]
    assert sum(one.count for one in found) == 302


async def test_an_edit_neither_refires_nor_loses(world: World) -> None:
    seen = await begin(world)
    await world.app.schedules.create("tick", cron("*/10 * * * *"), "note")
    await world.advance("10m")
    await world.app.schedules.update("tick", spec=cron("*/5 * * * *"))
    await world.advance("5m")
    await world.app.schedules.update("tick", spec=cron("*/10 * * * *"), input={"who": "new"})
    await world.advance("25m")
    assert [at for at, _, _ in seen] == minutes(10, 15, 20, 30, 40)
    assert seen[-1][2] == "new"


async def test_an_edit_during_an_outage_keeps_what_was_due_before_it(world: World) -> None:
    seen = await begin(world)
    await world.app.schedules.create("tick", cron("0 * * * *"), "note")
    await world.advance_to("2026-01-01T00:30Z")
    await world.down()
    await asyncio.sleep(2 * 3600)
    async with world.app.connected():
        await world.app.schedules.update("tick", spec=cron("45 * * * *"))
    await world.advance_to("2026-01-01T03:00Z")
    hours = [datetime(2026, 1, 1, hour, minute, tzinfo=UTC) for hour, minute in ((1, 0), (2, 0), (2, 45))]
    assert [at for at, _, _ in await told(world, "tick")] == hours
    assert [at for at, _, _ in seen] == hours[1:]


async def test_a_jittered_occurrence_survives_an_edit_of_its_spec(world: World) -> None:
    seen = await begin(world)
    await world.app.schedules.create("jitter", every("1h", jitter="50m"), "note")
    due = (await world.app.schedules.get("jitter")).next
    assert due is not None
    assert due > BEGIN + timedelta(hours=1)
    await world.advance_to(BEGIN + timedelta(hours=1) + (due - BEGIN - timedelta(hours=1)) / 2)
    await world.app.schedules.update("jitter", spec=every("7h"))
    await world.advance_to(due)
    assert [at for at, _, _ in seen] == [BEGIN + timedelta(hours=1)]


async def test_remaining_actions_run_out_and_the_schedule_is_completed(world: World) -> None:
    seen = await begin(world)
    await world.app.schedules.create("few", every("1m"), "note", remaining=2)
    await world.advance("10m")
    info = await world.app.schedules.get("few")
    assert (len(seen), info.state, info.remaining, info.next) == (2, "completed", 0, None)
    assert (await events(world, "few")).count("completed") == 1
    await world.app.schedules.update("few", remaining=1)
    await world.advance("10m")
    assert [at for at, _, _ in seen] == minutes(1, 2, 11)


async def test_a_one_off_completes_and_stays_readable(world: World) -> None:
    seen = await begin(world)
    await world.app.schedules.create("once", once(BEGIN + timedelta(minutes=3)), "note")
    await world.advance("1d")
    assert len(seen) == 1
    assert (await world.app.schedules.get("once")).state == "completed"


async def test_triggers_are_runs_of_their_own(world: World) -> None:
    seen = await begin(world)
    await world.app.schedules.create("by hand", manual(), "note", paused=True)
    answers = [
        await world.app.schedules.trigger("by hand", input={"who": str(n)}, overlap="allow_all") for n in range(3)
    ]
    await world.settle()
    assert [who for _, _, who in seen] == ["0", "1", "2"]
    assert len({answer.run["id"] for answer in answers if answer.run}) == 3
    assert (await world.app.schedules.get("by hand")).state == "paused"
    assert [one.origin[:8] for one in await world.app.schedules.history("by hand")] == ["trigger-"] * 3


async def test_a_trigger_that_is_skipped_says_so(world: World) -> None:
    await begin(world)
    await world.app.schedules.create("slow", manual(), "slow")
    first = await world.app.schedules.trigger("slow")
    second = await world.app.schedules.trigger("slow")
    assert first.run is not None
    assert second.run is not None
    assert first.run["status"] == "started"
    assert (second.run["status"], second.run["reason"], second.run["blocked_by"]) == (
        "skipped",
        "overlap",
        first.run["id"],
    )


async def test_failures_in_a_row_pause_the_schedule(world: World) -> None:
    await begin(world)
    await world.app.schedules.create("bad", every("1m"), "bad", pause_after_failures=3)
    await world.advance("10m")
    info = await world.app.schedules.get("bad")
    assert (info.state, info.failures, info.counts["actions"]) == ("paused", 3, 3)
    assert info.notes.startswith("paused after 3 failures in a row: failed")
    assert info.last_failure["reason"] == "ValueError: no"
    names = await events(world, "bad")
    assert (names.count("run_failed"), names.count("paused")) == (3, 1)
    await world.app.schedules.resume("bad")
    await world.advance("2m")
    info = await world.app.schedules.get("bad")
    assert (info.state, info.failures) == ("running", 2)  # who resumes it gives it three tries again


async def test_the_next_run_knows_how_the_last_one_went(world: World) -> None:
    heard: list[tuple[Any, Any]] = []

    @world.app.job()
    async def learn(ctx: Any) -> int:
        heard.append((ctx.last_result, ctx.last_failure and ctx.last_failure["reason"]))
        if len(heard) == 2:
            raise ValueError("second")
        return len(heard)

    await world.up()
    await world.app.schedules.create("learn", every("1m"), "learn")
    await world.advance("4m")
    assert heard == [(None, None), (1, None), (1, "ValueError: second"), (3, None)]


async def test_a_backfill_runs_a_range_and_leaves_its_record(world: World) -> None:
    seen = await begin(world)
    await world.app.schedules.create("daily", cron("0 9 * * *"), "note")
    answer = await world.app.schedules.backfill(
        "daily", "2025-01-01T09:00Z", "2025-01-10T09:00Z", overlap="buffer_all", input={"who": "fill"}
    )
    await world.settle()
    assert [(at.day, who) for at, _, who in seen if at] == [(day, "fill") for day in range(1, 11)]
    (record,) = await world.app.schedules.backfills("daily")
    assert (record.id, record.state, record.made, record.total) == (answer.backfill, "completed", 10, 10)
    names = await events(world, "daily")
    assert "backfill_started" in names
    assert names[-1] in ("backfill_completed", "run_completed")
    assert (await world.app.schedules.get("daily")).backfills == 0


async def test_a_backfill_of_what_is_still_to_come_is_refused(world: World) -> None:
    await begin(world)
    await world.app.schedules.create("daily", cron("0 9 * * *", tz="Europe/Berlin"), "note")
    with pytest.raises(OstinatoError, match=r"still to come, from 2026-01-01T09:00:00\+01:00 on"):
        await world.app.schedules.backfill("daily", "2025-12-30T00:00Z", "2026-01-05T00:00Z")
    assert await world.app.schedules.backfills("daily") == []
    await world.app.schedules.backfill("daily", "2025-12-30T00:00Z", "2026-01-01T07:59Z")  # no time of it is to come


async def test_a_time_to_come_that_a_backfill_ran_is_explained_as_both(world: World) -> None:
    await begin(world)
    await world.app.schedules.create("daily", cron("0 9 * * *"), "note")
    at = "2026-01-03T09:00:00Z"
    moment = datetime.fromisoformat(at)
    patch = Patch(backfills=((from_datetime(moment), from_datetime(moment), None),))  # as Temporal's clients may
    await Forms.of(world.app.schedules).patch("daily", patch, asked="")
    await world.settle()
    told = await world.app.schedules.explain("daily", at)
    assert told.outcome == "will_run"
    assert f"The time {at} (by a backfill) ran and succeeded" in str(told)
    assert f"{at} is a time to come." in str(told)
    await world.app.schedules.skip("daily", at)
    told = await world.app.schedules.explain("daily", at)
    assert (told.outcome, told.reason, len(told.records)) == ("will_not_run", "asked", 1)


@pytest.mark.parametrize("to", ["2026-01-02T08:00Z", "2026-01-02T10:00Z"])
async def test_one_that_ran_where_it_was_moved_is_explained_by_both_times(world: World, to: str) -> None:
    await begin(world)
    await world.app.schedules.create("daily", cron("0 9 * * *"), "note")
    await world.app.schedules.move("daily", "2026-01-02T09:00Z", to)
    await world.advance("3d")
    (by_nominal, by_moved) = [await world.app.schedules.explain("daily", at) for at in ("2026-01-02T09:00Z", to)]
    assert by_nominal.outcome == "ran"
    assert by_moved == by_nominal


async def test_a_backfill_can_be_paused_resumed_and_cancelled(world: World) -> None:
    seen = await begin(world)
    await world.app.schedules.create("hourly", cron("0 * * * *"), "note")
    answer = await world.app.schedules.backfill(
        "hourly", "2025-01-01T00:00Z", "2025-01-31T00:00Z", overlap="allow_all", rate=10
    )
    assert answer.backfill is not None
    await world.advance("3s")
    done = len(seen)
    assert 30 <= done <= 50
    await world.app.schedules.pause_backfill("hourly", answer.backfill)
    await world.advance("10s")
    assert len(seen) == done
    await world.app.schedules.resume_backfill("hourly", answer.backfill)
    await world.advance("2s")
    assert len(seen) >= done + 20
    await world.app.schedules.cancel_backfill("hourly", answer.backfill)
    done = len(seen)
    await world.advance("10s")
    assert len(seen) == done
    (record,) = await world.app.schedules.backfills("hourly")
    assert (record.state, record.made) == ("cancelled", done)
    with pytest.raises(Conflict, match="cancelled"):
        await world.app.schedules.resume_backfill("hourly", answer.backfill)


async def test_a_stale_token_is_refused_and_told_the_current_one(world: World) -> None:
    await begin(world)
    created = await world.app.schedules.create("s", every("1m"), "note")
    updated = await world.app.schedules.update("s", token=created.token, notes="one")
    with pytest.raises(TokenMismatch, match="current one is 2") as refused:
        await world.app.schedules.update("s", token=created.token, notes="two")
    assert refused.value.current == updated.token == 2
    assert (await world.app.schedules.get("s")).notes == "one"


async def test_a_request_is_done_once(world: World) -> None:
    seen = await begin(world)
    await world.app.schedules.create("s", manual(), "note", request_id="r0")
    await world.app.schedules.create("s", manual(), "note", request_id="r0")
    one = await world.app.schedules.trigger("s", request_id="r1")
    two = await world.app.schedules.trigger("s", request_id="r1")
    await world.settle()
    assert one == two
    assert len(seen) == 1
    with pytest.raises(Conflict, match="another call"):
        await world.app.schedules.pause("s", request_id="r1")
    with pytest.raises(Conflict, match="exists already"):
        await world.app.schedules.create("s", manual(), "note")


async def test_exactly_one_occurrence_is_skipped_or_moved(world: World) -> None:
    seen = await begin(world)
    await world.app.schedules.create("hourly", cron("0 * * * *"), "note")
    hour = [BEGIN + timedelta(hours=n) for n in range(6)]
    await world.app.schedules.skip("hourly", hour[1])
    await world.app.schedules.move("hourly", hour[2], hour[2] + timedelta(minutes=20))
    await world.app.schedules.move("hourly", hour[3], hour[3] - timedelta(minutes=20))
    assert (await world.app.schedules.explain("hourly", hour[1])).reason == "asked"
    with pytest.raises(OstinatoError, match="neighbours"):
        await world.app.schedules.move("hourly", hour[4], hour[5] + timedelta(minutes=1))
    with pytest.raises(OstinatoError, match="not a coming time"):
        await world.app.schedules.skip("hourly", hour[1] + timedelta(minutes=3))
    await world.advance_to(hour[2] + timedelta(minutes=19))
    assert seen == []
    await world.advance_to(hour[4])
    found = reversed(await world.app.schedules.history("hourly"))
    assert [(one.nominal, one.due - one.nominal, one.status) for one in found] == [
        (hour[1], timedelta(0), "skipped"),
        (hour[2], timedelta(minutes=20), "succeeded"),
        (hour[3], timedelta(minutes=-20), "succeeded"),
        (hour[4], timedelta(0), "succeeded"),
    ]


async def test_a_skip_or_a_move_can_be_taken_back(world: World) -> None:
    seen = await begin(world)
    await world.app.schedules.create("hourly", cron("0 * * * *"), "note")
    hour = [BEGIN + timedelta(hours=n) for n in range(4)]
    await world.app.schedules.skip("hourly", hour[1])
    await world.app.schedules.move("hourly", hour[2], hour[2] + timedelta(minutes=20))
    assert (await world.app.schedules.get("hourly")).upcoming[0] == hour[2] + timedelta(minutes=20)
    await world.app.schedules.put_back("hourly", hour[1])
    await world.app.schedules.put_back("hourly", hour[2])
    with pytest.raises(OstinatoError, match="neither skipped nor moved"):
        await world.app.schedules.put_back("hourly", hour[3])
    await world.advance_to(hour[3])
    assert [at for at, _, _ in seen] == hour[1:]


async def test_what_a_deletion_cancels_is_stopped_at_once(world: World) -> None:
    await begin(world)
    await world.app.schedules.create("slow", manual(), "slow")
    await world.app.schedules.trigger("slow")
    await world.settle()
    await world.app.schedules.delete("slow", running="cancel")
    await world.settle()
    await world.expect("slow", "cancelled: its schedule was deleted")


async def test_deleting_gives_up_what_waits_and_leaves_what_runs(world: World) -> None:
    await begin(world)
    await world.app.schedules.create("slow", every("1m"), "slow", overlap="buffer_all")
    await world.advance("2m")
    id = (await world.app.schedules.get("slow")).id
    await world.app.schedules.delete("slow")
    with pytest.raises(NotFound, match="no schedule 'slow'"):
        await world.app.schedules.get("slow")
    await world.advance("5m")
    runs = await world.runs("slow")
    assert [(run.status, run.reason) for run in runs] == [("succeeded", None), ("skipped", "closed")]
    told = [event.name for event in await world.app.events(subject=id, limit=100)]
    assert "schedule:deleted" in told
    await world.app.schedules.create("slow", manual(), "slow")
    assert (await world.app.schedules.get("slow")).id != id


async def test_a_poison_schedule_is_parked_and_harms_no_other(
    world: World, add_statement: Callable[[str, str], None]
) -> None:
    from ostinato.store.contract import Operation, sql

    seen = await begin(world)
    for n in range(5):
        await world.app.schedules.create(f"s{n}", every("1m"), "note", input={"who": str(n)})
    bad = (await world.app.schedules.get("s2")).id

    def spoil(_: int) -> Operation[None]:
        yield sql("spoil_schedule", id=bad)

    mars = '{"cron": ["0 9 * * *"], "tz": "Mars/Base"}'
    add_statement("spoil_schedule", f"UPDATE ostinato_schedules SET spec = '{mars}' WHERE id = :id")
    await world.app.store.run(spoil)
    await world.advance("3m")
    assert Counter(who for _, _, who in seen) == {"0": 3, "1": 3, "3": 3, "4": 3}
    found = [event for event in await world.app.events(subject=bad, limit=100) if event.name == "schedule:parked"]
    assert len(found) == 1
    assert "Mars/Base" in found[0].data["reason"]
    await world.app.schedules.upsert("s2", every("1m"), "note", input={"who": "mended"})
    await world.advance("1m")
    assert "mended" in {who for _, _, who in seen}


async def test_an_action_that_cannot_be_made_is_tried_and_then_fails(world: World) -> None:
    seen = await begin(world)

    @world.app.job(serial_key="customer-{customer}")
    async def mail(customer: str = "") -> None:
        seen.append((None, 0, customer))

    await world.app.schedules.create("mail", every("1m"), "mail", input={"customer": "a"}, overlap="buffer_all")
    world.app._maker.check_input = lambda schedule, input: None  # type: ignore[method-assign]  # it took `who` then
    await world.app.schedules.trigger("mail", input={"who": "b"})
    await world.advance("5s")
    (one,) = await world.app.schedules.history("mail")
    assert one.status == "waiting"
    assert one.reason is not None
    assert one.reason.startswith("cannot start: job 'mail': it has no 'who'")
    await world.advance("55s")
    assert [status for _, status, _ in await told(world, "mail")] == ["failed", "succeeded"]
    assert seen == [(None, 0, "a")]


async def test_bulk_by_a_filter(world: World) -> None:
    await begin(world)
    for n in range(6):
        await world.app.schedules.create(f"job-{n}", every("1m"), "note", tags=["even" if n % 2 == 0 else "odd"])
    steps: list[tuple[int, int]] = []
    done = await world.app.schedules.each(
        world.app.schedules.pause, tag="even", progress=lambda n, of: steps.append((n, of))
    )
    assert done == {"job-0": None, "job-2": None, "job-4": None}
    assert steps == [(1, 3), (2, 3), (3, 3)]
    assert [one.name for one in await world.app.schedules.list(state="paused")] == ["job-0", "job-2", "job-4"]
    assert [one.name for one in await world.app.schedules.list(match="job-[45]")] == ["job-4", "job-5"]


async def test_upsert_creates_changes_and_leaves_alone(world: World) -> None:
    seen = await begin(world)
    put = world.app.schedules.upsert
    assert (await put("s", every("2m"), "note"))[0] == "created"
    assert (await put("s", every("2m"), "note"))[0] == "unchanged"
    await world.advance("3m")
    assert (await put("s", every("3m"), "note"))[0] == "updated"
    await world.advance("3m")
    assert [at for at, _, _ in seen] == minutes(2, 6)
    assert (await world.app.schedules.get("s")).counts == {"actions": 2}


async def test_what_is_late_is_said_before_it_happens(world: World) -> None:
    await begin(world)
    await world.app.schedules.create("tick", every("1m"), "note")
    await world.down()
    await asyncio.sleep(17 * 60 + 20)
    async with world.app.connected():
        assert {name: str(one) for name, one in (await world.app.schedules.late()).items()} == {
            "tick": "17 late, will run 1"
        }
        coming = await world.app.schedules.upcoming(3)
        assert [str(one.lateness) for one in coming] == [
            "17 late, will run 1",
            "0 late, will run 0",
            "0 late, will run 0",
        ]
        assert str((await world.app.schedules.get("tick")).lateness) == "17 late, will run 1"
        explained = await world.app.schedules.explain("tick", minutes(1)[0])
        assert explained.outcome == "late"


async def test_explain_covers_every_kind_of_moment(world: World) -> None:
    await begin(world)
    await world.app.schedules.create("tick", cron("*/10 * * * *"), "note")
    await world.advance("10m")
    explain = world.app.schedules.explain
    assert (await explain("tick", minutes(10)[0])).outcome == "ran"
    assert (await explain("tick", minutes(11)[0])).outcome == "no_time"
    assert (await explain("tick", minutes(20)[0])).outcome == "will_run"
    assert (await explain("tick", minutes(-10)[0])).reason == "not_created"
    await world.app.schedules.pause("tick", "because")
    found = await explain("tick", minutes(20)[0])
    assert (found.outcome, found.reason) == ("will_not_run", "paused")
    assert "because" in str(found)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"spec": "61 * * * *"}, "61"),
        ({"overlap": "skp"}, "did you mean 'skip'"),
        ({"catchup": "sometimes"}, "catchup"),
        ({"max_bufer": 3}, "did you mean 'max_buffer'"),
        ({"remaining": -1}, "remaining -1"),
        ({"action": {"jobb": "x"}}, "names no target"),
        ({"input": {"nobody": 1}}, "it has no 'nobody'"),
        ({"timeout": "soon"}, "timeout"),
        ({"tags": "a"}, "tags"),
        ({"action": ""}, "names no job"),
    ],
)
async def test_bad_input_is_refused_at_the_door(world: World, given: dict[str, Any], words: str) -> None:
    await begin(world)
    whole = {"spec": every("1m"), "action": "note", **given}
    with pytest.raises((OstinatoError, ValueError), match=words.replace("{", r"\{")):
        await world.app.schedules.create("s", **whole)
    assert await world.app.schedules.list() == []


async def test_an_unknown_job_is_parked_and_counts_as_running(world: World) -> None:
    await begin(world)
    await world.app.schedules.create("later", every("1m"), "not yet there")
    await world.advance("3m")
    found = [(status, reason) for _, status, reason in await told(world, "later")]
    assert found == [("waiting", "no_handler"), ("skipped", "overlap"), ("skipped", "overlap")]


async def test_the_policy_in_force_is_the_current_one(world: World) -> None:
    await begin(world)
    await world.app.schedules.create("slow", every("1m"), "slow", overlap="skip", input={"seconds": 150})
    await world.advance("2m")
    await world.app.schedules.update("slow", overlap="buffer_all")
    await world.advance("1m")
    assert [status for _, status, _ in await told(world, "slow")] == ["active", "skipped", "buffered"]


async def test_max_buffer_drops_with_a_row(world: World) -> None:
    await begin(world)
    await world.app.schedules.create(
        "slow", every("1m"), "slow", overlap="buffer_all", max_buffer=2, input={"seconds": 3600}
    )
    await world.advance("5m")
    assert [reason for _, _, reason in await told(world, "slow")] == [
        None,
        "overlap",
        "overlap",
        "buffer_full",
        "buffer_full",
    ]


async def test_what_is_given_as_values_means_the_same_when_read_back(world: World) -> None:
    await begin(world)
    given: dict[str, Any] = {
        "retry": Retry(attempts=3, delay="2s"),
        "concurrency": Limit("k", most=2, rate=5, per="1m"),
        "timeout": timedelta(minutes=10),
        "memo": {"pair": (1, 2)},
    }
    assert (await world.app.schedules.upsert("s", every("1h"), "note", **given))[0] == "created"
    options = (await world.app.schedules.get("s")).options
    assert read_retry(options["retry"]) == given["retry"]
    assert read_limit(options["concurrency"], "note") == given["concurrency"]
    assert options["timeout"] == "PT10M"
    assert (await world.app.schedules.upsert("s", every("1h"), "note", **given))[0] == "unchanged"


@pytest.mark.parametrize("overlap", ["buffer_all", "allow_all"])
async def test_a_long_backfill_drops_nothing_and_leaves_room_for_what_is_live(
    world: World, overlap: OverlapName
) -> None:
    await begin(world)
    length = 2 if overlap == "allow_all" else 0
    await world.app.schedules.create("live", every("1s"), "note", catchup="all", overlap="allow_all")
    await world.app.schedules.create("filled", cron("* * * * *"), "slow", paused=True, input={"seconds": length})
    times = 1_500 if overlap == "allow_all" else 200
    last = BEGIN - timedelta(minutes=1)
    await world.app.schedules.backfill("filled", last - timedelta(minutes=times - 1), last, overlap=overlap)
    await world.advance("65s")
    (record,) = await world.app.schedules.backfills("filled")
    assert (record.state, record.made, record.total) == ("completed", times, times)
    assert Counter(await world.occurrences("filled")) == {"succeeded": min(times, 1000)}  # the newest
    assert (await world.app.schedules.get("filled")).counts == {"actions": times}
    late = [one.started - one.due for one in await world.app.schedules.history("live") if one.started]
    assert len(late) == 65
    assert max(late) < timedelta(seconds=1)
