"""Which times are due, late or left out: Temporal's cases for its generator, and our own rules."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ostinato import cron, every
from ostinato.schedules.decisions.catchup import generate
from ostinato.schedules.decisions.due_times import upcoming
from ostinato.schedules.model import (
    GRACE,
    CatchUp,
    Memory,
    Occurrence,
    Policies,
    Reason,
    Schedule,
)
from ostinato.when.instants import SECOND, Micros, read_instant
from ostinato.when.temporal import spec_from_temporal
from tests.support.decisions import ALL_OF_A_YEAR, DAY, MINUTELY, NOW, schedule_of
from tests.support.temporal_cases import CASES


@pytest.mark.parametrize(
    "case", [c for c in CASES["process_time_range"] if not c["manual"] and "limit" not in c], ids=lambda c: c["name"]
)
def test_time_range(case: dict[str, Any]) -> None:
    """The manual ranges belong to the backfiller, the buffer's limit to `max_buffer`."""
    if "spec" in case:
        first, last = (read_instant(t, "range") for t in case["range_abs"])
        schedule = replace(
            schedule_of(case),
            spec=spec_from_temporal(case["spec"]),
            reached=first,
            updated=read_instant(case["update_time_abs"], "update"),
        )
        (occurrence,) = generate(schedule, last).occurrences
        assert occurrence.nominal == read_instant(case["expected"]["nominal"], "nominal")
        assert occurrence.actual > schedule.updated
        return
    first, last = (NOW + s * SECOND for s in case["range_s"])
    occurrences = generate(replace(schedule_of(case), reached=first), last).occurrences
    assert len([o for o in occurrences if o.reason is None]) == case["expected"]["starts"]


@pytest.mark.parametrize("case", [c for c in CASES["generator"] if "idle" not in c["name"]], ids=lambda c: c["name"])
def test_generator(case: dict[str, Any]) -> None:
    """Idleness is a state here, nothing is deleted by itself: `idle_sets_close_time` binds nowhere."""
    schedule = replace(schedule_of(case), reached=NOW + case.get("hwm", 0) * SECOND)
    expected = case["expected"]
    batch = generate(schedule, NOW)
    runs = [o for o in batch.occurrences if o.reason is None]
    missed = [o for o in batch.occurrences if o.reason is Reason.CATCHUP_WINDOW]
    if "buffered" in expected:
        assert len(runs) < 5 if expected["buffered"] == "<5" else len(runs) == expected["buffered"]
    if "missed" in expected:
        assert len(missed) > 0 if expected["missed"] == ">0" else len(missed) == expected["missed"]
    if expected.get("hwm_advanced"):
        assert batch.reached == NOW
    if "future_count" in expected:
        assert len(upcoming(schedule, NOW)) == expected["future_count"]
    if "all_future_after" in expected:
        assert all(o.nominal > NOW + expected["all_future_after"] * SECOND for o in upcoming(schedule, NOW))


def test_pausing_leaves_a_reason_for_each_time() -> None:
    batch = generate(replace(MINUTELY, paused=True, reached=NOW - 300 * SECOND), NOW)
    assert [o.reason for o in batch.occurrences] == [Reason.PAUSED] * 5


def test_latest_runs_one_for_all_that_were_late() -> None:
    daily = Schedule("id", "report", cron("0 9 * * *"), reached=read_instant("2026-03-01T09:00Z", "t"))
    now = read_instant("2026-03-04T10:00Z", "t")
    batch = generate(daily, now)
    assert [(o.reason, o.stands_for) for o in batch.occurrences] == [
        (Reason.COALESCED, 0),
        (Reason.COALESCED, 0),
        (None, 2),
    ]
    assert batch.wake == read_instant("2026-03-05T09:00Z", "t")


def test_a_busy_moment_is_not_an_outage() -> None:
    secondly = Schedule("id", "tick", every("1s"), reached=NOW - 5 * SECOND)
    assert [o.reason for o in generate(secondly, NOW).occurrences] == [None] * 5


@pytest.mark.parametrize("length", range(1, 60, 7))
def test_a_jittered_occurrence_is_never_lost_by_looking_in_between(length: int) -> None:
    """Every nominal time comes exactly once, however often and whenever the generator is asked."""
    jittered = Schedule("id", "jitter", every("1h", jitter="1h"), reached=NOW, policies=Policies(catchup=ALL_OF_A_YEAR))
    seen: list[Micros] = []
    at = NOW
    while at < NOW + DAY:
        at += length * 60 * SECOND
        batch = generate(jittered, at)
        seen += [o.nominal for o in batch.occurrences]
        assert all(o.actual <= at for o in batch.occurrences)
        jittered = replace(jittered, reached=batch.reached, updated=at if length % 2 else 0)
    assert seen == [NOW + n * 3600 * SECOND for n in range(1, len(seen) + 1)]
    assert len(seen) >= 22


def test_an_edit_neither_refires_nor_invents() -> None:
    hourly = Schedule("id", "s", every("1h"), reached=NOW)
    edited = replace(hourly, spec=every("15m"), updated=NOW + 40 * 60 * SECOND)
    batch = generate(edited, NOW + 50 * 60 * SECOND)
    assert [o.nominal for o in batch.occurrences] == [NOW + 45 * 60 * SECOND]


def test_a_full_batch_says_that_there_is_more() -> None:
    batch = generate(replace(MINUTELY, reached=NOW - 100 * 60 * SECOND), NOW, batch=30)
    assert batch.more
    assert len(batch.occurrences) == 30
    assert batch.wake == NOW


policies = st.builds(
    CatchUp,
    st.sampled_from(["skip", "latest", "all"]),
    st.none() | st.integers(0, 3600 * SECOND),
    st.none() | st.integers(1, 9),
    st.just(10_000),
)


def judged_whole(due: list[Occurrence], policy: CatchUp, now: Micros) -> list[Reason | None]:
    """The catch-up rules over a whole list at once, as one would write them down."""
    late = [one for one in due if now - one.actual > GRACE]
    on_time = len(due) - len(late)
    if policy.mode == "skip":
        runs = 0
    elif policy.mode == "latest":
        runs = 0 if on_time else min(1, len(late))
    else:
        window = policy.window
        fit = [one for one in late if window is None or now - one.actual <= max(window, GRACE)]
        runs = len(fit) if policy.most is None else min(len(fit), policy.most)
    reason = Reason.COALESCED if policy.mode == "latest" else Reason.CATCHUP_WINDOW
    return [reason] * (len(late) - runs) + [None] * (runs + on_time)


@settings(deadline=None)  # many small batches of two hours of seconds take a while on a busy machine
@given(st.integers(1, 900), st.integers(0, 7200), policies, st.integers(2, 50))
def test_every_due_time_has_the_outcome_of_the_catchup_rules(step: int, ago: int, policy: CatchUp, batch: int) -> None:
    """However many batches it takes."""
    schedule = Schedule("id", "s", every(f"{step}s"), Policies(catchup=policy), reached=NOW - ago * SECOND)
    whole = [Occurrence(n, n) for n in schedule.spec.compiled.between(schedule.reached + 1, NOW)]
    occurrences: list[Occurrence] = []
    while True:
        got = generate(schedule, NOW, batch)
        occurrences += got.occurrences
        schedule = replace(schedule, reached=got.reached, memory=replace(schedule.memory, coalesced=got.coalesced))
        if not got.more:
            break
    assert [o.nominal for o in occurrences] == [o.nominal for o in whole]
    assert [o.reason for o in occurrences] == judged_whole(whole, policy, NOW)
    coalesced = sum(o.reason is Reason.COALESCED for o in occurrences)
    assert sum(o.stands_for for o in occurrences) == coalesced


def test_late_runs_come_at_the_pace_of_the_policy() -> None:
    slow = Policies(catchup=CatchUp("all", pace=10))
    schedule = replace(MINUTELY, policies=slow, reached=NOW - 3600 * SECOND)
    batch = generate(schedule, NOW)
    assert len(batch.occurrences) == 10
    assert batch.wake == NOW + SECOND
    assert batch.more


def test_one_occurrence_is_left_out_and_another_moved() -> None:
    minute = 60 * SECOND
    memory = Memory(left_out=frozenset({NOW + minute}), moved={NOW + 2 * minute: NOW + 2 * minute + 7 * SECOND})
    schedule = replace(MINUTELY, memory=memory, policies=Policies(catchup=ALL_OF_A_YEAR))
    occurrences = generate(schedule, NOW + 3 * minute).occurrences
    assert [(o.nominal, o.actual - o.nominal, o.reason) for o in occurrences] == [
        (NOW + minute, 0, Reason.ASKED),
        (NOW + 2 * minute, 7 * SECOND, None),
        (NOW + 3 * minute, 0, None),
    ]
    assert upcoming(schedule, NOW + 2 * minute)[0].actual == NOW + 2 * minute + 7 * SECOND
