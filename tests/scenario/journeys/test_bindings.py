"""`schedule:v1`: what a journey schedules of itself, and the context that its runs hand on."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from ostinato import every
from ostinato.errors import NotFound, OstinatoError
from ostinato.journeys.bindings import Binding, carry_context
from ostinato.journeys.definitions import CheckedDefinition, InvalidDefinition, store_definitions
from ostinato.journeys.documents import read_document
from ostinato.journeys.language import read
from ostinato.journeys.machine.model import ROOT
from ostinato.journeys.rows import JourneyRecord, read_record
from ostinato.journeys.store import statement
from ostinato.store.contract import single
from ostinato.testing import World, run_virtual
from ostinato.when.instants import format_instant
from tests.support.journey_parts import Work, paying, plugins, text


async def scheduled(world: World, *, token: str = "t", **options: Any) -> str:
    """The id of the binding that a run of the journey makes."""
    await world.up()
    await world.app.journeys.deploy(paying(**options))
    status = await world.app.journeys.start("pay", {"who": "u1", "token": token})
    assert status.phase == "SUCCEEDED", (await world.app.journeys.result(status.id)).error
    return (await world.app.journeys.bindings(name="pay", subject="u1"))[-1].id


async def runs_of(world: World, id: str) -> list[str]:
    binding = await world.app.journeys.binding(id)
    return await world.occurrences(binding.schedule)


async def test_runs_hand_their_context_on_and_are_bounded(world: World, work: Work) -> None:
    """The first at once; a failed one counts, and hands on what it has, too."""
    id = await scheduled(world)
    await world.advance("4h")
    assert await runs_of(world, id) == ["succeeded", "failed: DECLINED", "succeeded"]
    assert [(call.context["token"], call.context["count"]) for call in work.calls] == [("t", 0), ("t+", 1), ("t++", 2)]
    binding = await world.app.journeys.binding(id)
    assert (binding.state, binding.runs_executed, binding.max_runs) == ("exhausted", 3, 3)
    listed = await world.app.journeys.list(name="pay", attributes={"subjectId": "u1"})
    assert [one.phase for one in listed] == ["SUCCEEDED", "FAILED", "SUCCEEDED"]


async def test_months_end_where_they_end(world: World, work: Work) -> None:
    await scheduled(world, interval="P1M", runs=4, start_at="2026-01-31T09:00:00Z")
    for day in ("01-31", "02-28", "03-31", "04-30", "05-31"):
        await world.outage(world.now, f"2026-{day}T08:59Z")
        await world.advance("2m")
    assert [format_instant(call.now)[5:13] for call in work.calls] == ["01-31T09", "02-28T09", "03-31T09", "04-30T09"]


async def test_a_start_in_the_past_is_made_up_for_once(world: World) -> None:
    id = await scheduled(world, interval="P1D", start_at="2025-06-01T06:00:00Z", runs=2)
    await world.advance("1h")
    assert await runs_of(world, id) == ["succeeded"]
    await world.advance_to("2026-01-01T06:01Z")
    assert await runs_of(world, id) == ["succeeded", "failed: DECLINED"]


async def test_what_passes_while_no_node_is_there_comes_once_on_the_grid(world: World, work: Work) -> None:
    id = await scheduled(world, runs=5)
    await world.outage("2026-01-01T00:30Z", "2026-01-01T03:30Z")
    assert await runs_of(world, id) == ["succeeded", "missed: coalesced", "missed: coalesced", "failed: DECLINED"]
    await world.advance("1h")
    assert len(work.calls) == 3
    assert (await world.app.journeys.binding(id)).runs_executed == 3


async def test_runs_never_overlap_and_what_they_cover_says_so(world: World, work: Work) -> None:
    """The first time that comes while a run is going waits for its end, the others are passed over."""
    id = await scheduled(world, runs=3, seconds=2.1 * 3600)
    await world.advance_to("2026-01-01T02:01Z")
    assert await runs_of(world, id) == ["active", "buffered: overlap", "skipped: overlap"]
    await world.advance_to("2026-01-01T02:30Z")
    assert [call.context["count"] for call in work.calls] == [0, 1]


@pytest.mark.parametrize("existing", ["fail", "addAnother"])
async def test_one_that_exists_is_in_the_way_or_gets_another_beside_it(world: World, existing: str) -> None:
    await scheduled(world, existing=existing, runs=100)
    again = await world.app.journeys.start("pay", {"who": "u1", "token": "x"})
    other = await world.app.journeys.start("pay", {"who": "u2", "token": "x"})
    assert other.phase == "SUCCEEDED"
    bindings = await world.app.journeys.bindings(name="pay", subject="u1")
    if existing == "fail":
        error = (await world.app.journeys.result(again.id)).error
        assert error is not None
        assert error["code"] == "SCHEDULE_EXISTS"
        assert len(bindings) == 1
    else:
        assert (again.phase, len(bindings)) == ("SUCCEEDED", 2)


async def test_a_run_from_before_an_upsert_leaves_its_context_to_nobody(world: World, work: Work) -> None:
    id = await scheduled(world, existing="upsert", runs=2, seconds=1800)
    await world.advance("10m")
    await world.app.journeys.start("pay", {"who": "u1", "token": "new"})
    await world.advance("4h")
    assert [call.context["token"] for call in work.calls] == ["t", "new", "new+"]
    binding = await world.app.journeys.binding(id)
    assert (binding.runs_executed, binding.state, len(await world.app.journeys.bindings())) == (2, "exhausted", 1)


async def test_the_run_of_a_cancelled_binding_finishes_and_carries_nothing(world: World, work: Work) -> None:
    id = await scheduled(world, seconds=1800)
    await world.advance("10m")
    (cancelled,) = await world.app.journeys.cancel_bindings("pay", "u1")
    assert (cancelled.id, cancelled.state) == (id, "cancelled")
    await world.advance("3h")
    instances = await world.app.journeys.list(name="pay")
    assert ([one.phase for one in instances], len(work.calls)) == (["SUCCEEDED", "SUCCEEDED"], 1)
    assert (await world.app.journeys.binding(id)).runs_executed == 0
    assert (await world.app.journeys.start("pay", {"who": "u1", "token": "x"})).phase == "SUCCEEDED"


async def test_a_binding_behind_many_that_have_ended_is_cancelled_too(
    world: World, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ostinato.journeys.api.changes._PAGE", 1)
    ended = await scheduled(world)
    await world.app.journeys.cancel_bindings("pay", "u1")
    await world.app.journeys.start("pay", {"who": "u1", "token": "x"})
    (cancelled,) = await world.app.journeys.cancel_bindings("pay", "u1")
    assert (cancelled.state, cancelled.id > ended) == ("cancelled", True)


async def test_triggers_count_against_the_runs(world: World, work: Work) -> None:
    id = await scheduled(world, runs=2, start_at="2026-02-01T00:00:00Z")
    name = (await world.app.journeys.binding(id)).schedule
    for _ in range(2):
        await world.app.schedules.trigger(name)
        await world.settle()
    skipped = await world.app.schedules.trigger(name)
    assert skipped.run is not None
    assert (skipped.run["status"], skipped.run["reason"]) == ("skipped", "exhausted")
    await world.outage(world.now, "2026-01-31T23:59Z")
    await world.advance("2h")
    assert [call.context["count"] for call in work.calls] == [0, 1]
    assert (await world.app.journeys.binding(id)).state == "exhausted"


async def trigger_many(world: World, id: str, times: int) -> None:
    name = (await world.app.journeys.binding(id)).schedule
    for _ in range(times):
        await world.app.schedules.trigger(name, overlap="allow_all")


async def test_runs_that_end_together_are_each_counted(world: World, work: Work) -> None:
    """They began with the same context; the next run gets that of the one that ended last."""
    id = await scheduled(world, runs=4, start_at="2026-02-01T00:00:00Z", seconds=600)
    await trigger_many(world, id, 2)
    await world.advance("11m")
    binding = await world.app.journeys.binding(id)
    assert (binding.state, binding.runs_executed) == ("active", 2)
    await trigger_many(world, id, 2)
    await world.advance("11m")
    binding = await world.app.journeys.binding(id)
    assert (binding.state, binding.runs_executed) == ("exhausted", 4)
    assert [call.context["count"] for call in work.calls] == [0, 0, 1, 1]


@pytest.mark.parametrize("order", [slice(None), slice(None, None, -1)])
async def test_of_runs_that_end_together_those_of_the_present_generation_count(world: World, order: slice) -> None:
    """Whatever the order of the batch: a run from before an upsert hides no later one, and the context that stays is
    that of the run that ended last."""
    id = await scheduled(world, existing="upsert", runs=5, start_at="2026-02-01T00:00:00Z")
    await trigger_many(world, id, 1)
    await world.settle()
    (run,) = await world.app.schedules.history((await world.app.journeys.binding(id)).schedule)
    await world.app.journeys.start("pay", {"who": "u1", "token": "new"})
    (row,) = await world.app.store.read(lambda _: single(statement("journeys_by_ids", [(run.run_id,)])))
    old, now = read_record(row), world.clock.now()
    assert old.generation == 1

    def ended(token: str, **changes: Any) -> JourneyRecord:
        root = replace(old.instance.root, context={"token": token, "count": 0})
        return replace(old, instance=replace(old.instance, frames={ROOT: root}), **changes)

    batch = [
        ended("old", finished=now + 2),
        ended("earlier", generation=2, finished=now),
        ended("later", generation=2, finished=now + 1),
    ]
    await world.app.store.run(lambda _: carry_context(batch[order], now))
    (stored,) = await world.app.store.run(lambda _: single(statement("lock_bindings", [(id,)])))
    assert Binding(*stored).runs_executed == 2
    assert json.loads(Binding(*stored).last_context)["token"] == "later"


async def test_the_context_of_a_binding_is_shown_nowhere(world: World) -> None:
    id = await scheduled(world, token="s3cr3t")
    await world.advance("2h")
    binding = await world.app.journeys.binding(id)
    shown = [
        binding,
        await world.app.schedules.get(binding.schedule),
        await world.app.schedules.history(binding.schedule),
        await world.app.journeys.list(),
        [await world.app.get(run.id) for run in await world.runs()],
        await world.app.events(limit=1000),
        await world.app.upcoming(),
    ]
    assert not [one for one in shown if "s3cr3t" in repr(one)]


async def test_an_interval_that_is_too_short_fails_the_run_with_its_code(world: World) -> None:
    await world.up()
    await world.app.journeys.deploy(
        text(
            """
            a:
              type: task
              task: {kind: 'schedule:v1', start: b, interval: {mapper: {lang: py, expr: "'PT1S'"}}, maxRuns: 1}
              next: b
            b: {type: succeed}
            """
        )
    )
    status = await world.app.journeys.start("example")
    error = (await world.app.journeys.result(status.id)).error
    assert error is not None
    assert error["code"] == "SCHEDULE_INVALID_INTERVAL"
    assert await world.app.journeys.bindings() == []


async def test_a_scheduled_run_that_would_wait_for_somebody_is_an_error(world: World) -> None:
    """The rules refuse such a journey; this one came on record without them."""
    written = text(
        """
        a: {type: task, task: {kind: 'schedule:v1', start: ask, interval: P1D, maxRuns: 1}, next: b}
        b: {type: succeed}
        ask: {type: wait, wait: {channel: manual, input: {schema: {}}}, next: b}
        """
    )
    await world.up()
    with pytest.raises(InvalidDefinition, match="reaches ask"):
        await world.app.journeys.deploy(written)
    definition, _ = read(read_document(written))
    assert definition is not None
    unchecked = CheckedDefinition(definition, "journey.yaml", written)
    await world.app.store.run(lambda _: store_definitions([unchecked], "default", None, world.clock.now()))
    await world.app.journeys.start("example")
    await world.advance("1m")
    newest, _ = await world.app.journeys.list()
    error = (await world.app.journeys.result(newest.id)).error
    assert error is not None
    assert error["code"] == "urn:journeyforge:error:internal"


async def test_what_a_schedule_starts_by_itself_may_wait_for_somebody(world: World) -> None:
    await world.up()
    await world.app.journeys.deploy(
        text("a: {type: wait, wait: {channel: manual, input: {schema: {}}}, next: b}\nb: {type: succeed}")
    )
    await world.app.schedules.create("approvals", every("1h"), {"journey": "example"}, overlap="skip")
    await world.advance("61m")
    (asked,) = await world.app.journeys.list()
    assert (asked.phase, asked.current_state) == ("RUNNING", "a")
    await world.advance("60m")
    assert await world.occurrences("approvals") == ["waiting: an input", "skipped: overlap"]
    await world.app.journeys.submit(asked.id, "a", {})
    await world.advance("60m")
    assert (await world.occurrences("approvals"))[:2] == ["succeeded", "skipped: overlap"]
    assert len(await world.occurrences("approvals")) == 3


DOES = "a: {type: task, task: {kind: 'work:v1'}, next: b}\nb: {type: succeed}"


async def test_a_schedule_of_a_journey_that_is_not_there_is_refused_or_waits_for_it(world: World, work: Work) -> None:
    await world.up()
    strict = text(DOES, name="strict", spec="input: {schema: {required: [who]}}")
    await world.app.journeys.deploy(text(DOES), strict, text(DOES, name="answering", kind="Api"))
    for action, words in (
        ({"journey": "exmaple"}, "there is no journey 'exmaple'.*did you mean 'example'"),
        ({"journey": "example", "version": "9.9.9"}, "there is no journey 'example' 9.9.9"),
        ({"journey": "example", "start": "aa"}, "journey 'example' has no state 'aa' to start at; did you mean 'a'"),
        ({"journey": "strict", "input": {"whom": 1}}, '"who" is a required property'),
        ({"journey": "answering"}, "'answering' is an API"),
    ):
        with pytest.raises(OstinatoError, match=words):
            await world.app.schedules.create("nightly", "*/10 * * * *", action)
    await world.app.schedules.create("nightly", "*/10 * * * *", {"journey": "example"}, catchup="all")
    with pytest.raises(NotFound, match="'others'"):
        await world.app.schedules.update("nightly", action={"journey": "others"})
    # From code or a file it may come before its journey.
    await world.app.schedules.upsert("nightly", "*/10 * * * *", {"journey": "late"})
    await world.advance("10m")
    await world.advance("1s")
    (run,) = await world.runs("late")
    assert (run.status, run.reason) == ("waiting", "cannot start: there is no journey 'late' in namespace 'default'")
    await world.app.schedules.trigger("nightly", overlap="allow_all")
    other = max(one.id for one in await world.runs("late"))
    await world.app.cancel(other, "not needed")  # it never began, and ends all the same
    assert ((await world.app.get(other)).status, (await world.app.get(other)).reason) == ("cancelled", "not needed")
    await world.app.journeys.deploy(text(DOES, name="late"))
    await world.advance("5m")
    assert (sorted(await world.occurrences("nightly")), len(work.calls)) == (["cancelled: not needed", "succeeded"], 1)
    await world.app.schedules.upsert("nightly", None, {"journey": "strict", "input": {"who": 1}})
    asked = await world.app.schedules.trigger("nightly", input={"whom": 2})
    await world.advance("1s")
    assert asked.run is not None
    run = await world.app.get(asked.run["id"])
    assert (run.status, '"who" is a required property' in str(run.reason)) == ("failed", True)
    with pytest.raises(NotFound, match="never began"):
        await world.app.journeys.status(run.id)


async def test_a_schedule_starts_a_journey(world: World, work: Work) -> None:
    await world.up()
    await world.app.journeys.deploy(text(DOES))
    await world.app.schedules.create("nightly", "*/10 * * * *", {"journey": "example", "input": {"day": 1}})
    await world.advance("21m")
    assert await world.occurrences("nightly") == ["succeeded", "succeeded"]
    assert [call.context for call in work.calls] == [{"day": 1}, {"day": 1}]
    assert [one.name for one in await world.runs("example")] == ["example", "example"]


async def test_a_first_time_that_is_null_is_no_time(world: World) -> None:
    """A misspelt path must not begin at once."""
    await world.up()
    misspelt = paying().replace(
        "interval:", "startAt: {mapper: {lang: py, expr: context.get('frist')}}\n        interval:"
    )
    await world.app.journeys.deploy(misspelt)
    id = (await world.app.journeys.start("pay", {"who": "u1", "token": "t"})).id
    outcome = await world.app.journeys.result(id)
    assert outcome.error is not None
    assert outcome.error["code"] == "SCHEDULE_INVALID_START_AT"
    assert "to begin at once, leave startAt out" in outcome.error["reason"]
    assert await world.app.journeys.bindings() == []


async def test_a_first_time_beyond_all_times_is_refused(world: World) -> None:
    await world.up()
    late = paying().replace("interval:", "startAt: {mapper: {lang: py, expr: context.get('first')}}\n        interval:")
    await world.app.journeys.deploy(late)
    for first in ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00Z"):
        id = (await world.app.journeys.start("pay", {"who": "u1", "token": "t", "first": first})).id
        outcome = await world.app.journeys.result(id)
        assert outcome.error is not None
        assert outcome.error["code"] == "SCHEDULE_INVALID_START_AT"
        assert "lies outside the years 2 to 9998" in outcome.error["reason"]


async def test_a_trigger_of_a_binding_takes_no_input(world: World) -> None:
    await scheduled(world, start_at="2026-02-01T00:00:00Z")
    (binding,) = await world.app.journeys.bindings()
    with pytest.raises(OstinatoError, match="each run begins with what the last one left, so a trigger takes no input"):
        await world.app.schedules.trigger(binding.schedule, input={"count": 7})
    assert (await world.app.schedules.trigger(binding.schedule)).run is not None


async def test_scheduled_runs_do_not_wait_in_the_compensation_of_a_scheduled_run(world: World) -> None:
    await world.up()
    asks = "{type: wait, wait: {channel: manual, input: {schema: {}}}, next: done}"
    undo = f"  compensation: {{start: ask, states: {{ask: {asks}, done: {{type: succeed}}}}}}\n  states:"
    waiting = paying(runs=2, start_at="2026-01-01T01:00:00Z").replace("  states:", undo, 1)
    with pytest.raises(
        InvalidDefinition, match="the compensation of a scheduled run reaches ask, which waits for an input"
    ):
        await world.app.journeys.deploy(waiting)
    # What an earlier version let through ends when it gets there.
    definition, _ = read(read_document(waiting))
    assert definition is not None
    checked = CheckedDefinition(definition, "pay.journey.yaml", waiting, ())
    await world.app.store.run(lambda _: store_definitions([checked], "default", None, world.clock.now()))
    await world.app.journeys.start("pay", {"who": "u1", "token": "t"})
    await world.advance("3h")
    children = [run for run in await world.app.runs() if run.parent_id is not None]
    assert [run.status for run in children] == ["failed"]


def test_a_run_that_was_fired_before_a_renewal_and_not_begun_is_given_up(store_url: str) -> None:
    """It began with the renewed context, as one more run than the renewed binding may have."""
    world = World(store_url, journey_plugins=plugins(Work()), concurrency=1)

    @world.app.job
    async def nap() -> None:
        await asyncio.sleep(60)

    async def main() -> None:
        await world.start(nap)  # nothing else is claimed meanwhile
        await world.settle()
        await world.app.journeys.deploy(paying(existing="upsert"))
        for token in ("a", "b"):
            await world.app.journeys.start("pay", {"who": "ada", "token": token})
            await world.advance("1s")  # a renewal in the same microsecond would have the times of the one before
        statuses = sorted(run.status for run in await world.app.runs(name="pay"))
        assert statuses == ["cancelled", "ready", "succeeded", "succeeded"]
        await world.advance("5h")
        (binding,) = await world.app.journeys.bindings()
        assert (binding.state, binding.runs_executed) == ("exhausted", 3)
        paid = [one for one in await world.app.journeys.list(name="pay") if one.attributes.get("subjectId") == "ada"]
        contexts = [(await world.app.journeys.instance(one.id))[1].context for one in paid]
        assert sorted(one["count"] for one in contexts if one["token"].startswith("b")) == [1, 2, 3]
        await world.close()

    run_virtual(main(), world.clock)
