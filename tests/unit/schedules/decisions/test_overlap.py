"""Which waiting occurrences start, wait or are dropped: Temporal's cases, where we differ, and properties."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ostinato import every
from ostinato.schedules.decisions.overlap import Waiting, process_buffer
from ostinato.schedules.model import (
    CatchUp,
    Overlap,
    Policies,
    Reason,
    Schedule,
    read_overlap,
)
from ostinato.when.instants import SECOND
from tests.support.decisions import MINUTELY, NOW, cases, schedule_of


@cases("process_buffer")
def test_overlap_table(case: dict[str, Any]) -> None:
    resolve = case["resolve"]
    waiting = []
    for start in case["buffer"]:
        policy = start["policy"] if resolve == "identity" else resolve["*"]
        waiting.append(Waiting(str(start["id"]), NOW, overlap=read_overlap(policy)))
    verdict = process_buffer(MINUTELY, waiting, ["running"] if case["is_running"] else [], NOW)
    expected = case["expected"]
    slot = expected["non_overlapping_start"]
    assert verdict.start == [str(n) for n in expected["overlapping_starts"]] + ([str(slot)] if slot else [])
    assert verdict.keep == [str(n) for n in expected["new_buffer"]]
    assert (verdict.cancel, verdict.terminate) == (expected["need_cancel"], expected["need_terminate"])
    skipped = [r for r, _ in verdict.dropped.values() if r is Reason.OVERLAP]
    assert len(skipped) == expected.get("overlap_skipped", 0)


@cases("process_buffer_task")
def test_buffer_task(case: dict[str, Any]) -> None:
    """`backing_off` is a chain in backoff, which counts as running here: it is not in the buffer at all."""
    fresh = [s for s in case["buffered_starts"] if "backoff_time" not in s]
    waiting = [
        Waiting(s["request_id"], NOW + s["actual"] * SECOND, s["manual"], read_overlap(s["policy"])) for s in fresh
    ]
    running = [w["run_id"] for w in case["running_workflows"]]
    verdict = process_buffer(schedule_of(case), waiting, running, NOW)
    expected = case["expected"]
    backing_off = len(case["buffered_starts"]) - len(fresh)
    assert len(verdict.start) + len(verdict.keep) + backing_off == expected["buffered"]
    reasons = [reason for reason, _ in verdict.dropped.values()]
    assert reasons.count(Reason.OVERLAP) == expected["overlap_skipped"]
    assert reasons.count(Reason.CATCHUP_WINDOW) == expected["missed_catchup_window"]
    assert verdict.terminate == bool(expected["terminate"])
    assert verdict.cancel == bool(expected["cancel"])
    for id, attempt in expected.get("attempts", {}).items():
        if any(w.id == id for w in waiting):
            assert id in (verdict.start if attempt == 1 else verdict.keep)
    if "remaining_actions" in expected:
        assert verdict.remaining == expected["remaining_actions"]


waiting_lists = st.lists(
    st.builds(Waiting, st.uuids().map(str), st.just(NOW), st.booleans(), st.sampled_from(list(Overlap))), max_size=12
)


@given(waiting_lists, st.booleans(), st.none() | st.integers(0, 5), st.booleans())
def test_every_waiting_occurrence_gets_one_verdict(
    waiting: list[Waiting], running: bool, remaining: int | None, paused: bool
) -> None:
    schedule = replace(MINUTELY, remaining=remaining, paused=paused)
    verdict = process_buffer(schedule, waiting, ["r"] if running else [], NOW)
    ids = [w.id for w in waiting]
    assert sorted(verdict.start + verdict.keep + list(verdict.dropped)) == sorted(ids)
    slots = [w for w in waiting if w.id in verdict.start and w.overlap is not Overlap.ALLOW_ALL]
    assert len(slots) <= (0 if running else 1)
    automated = [w for w in waiting if w.id in verdict.start and not w.manual]
    if remaining is not None:
        assert verdict.remaining == remaining - len(automated) >= 0
    if paused:
        assert automated == []
    if verdict.keep:
        assert running or slots
    assert not (verdict.cancel and verdict.terminate)


WINDOWED = Schedule("id", "s", every("60s"), Policies(catchup=CatchUp("all", window=300 * SECOND)), reached=NOW)


def test_an_expired_time_does_not_take_the_slot() -> None:
    line = [Waiting("expired", NOW - 3600 * SECOND), Waiting("good", NOW)]
    verdict = process_buffer(WINDOWED, line, [], NOW)
    assert verdict.start == ["good"]
    assert verdict.dropped == {"expired": (Reason.CATCHUP_WINDOW, None)}


def test_buffer_one_keeps_the_earliest() -> None:
    schedule = replace(WINDOWED, policies=replace(WINDOWED.policies, overlap=Overlap.BUFFER_ONE))
    line = [Waiting(name, NOW) for name in ("first", "second", "third")]
    verdict = process_buffer(schedule, line, ["running"], NOW)
    assert verdict.keep == ["first"]
    assert set(verdict.dropped) == {"second", "third"}


def test_what_may_run_beside_others_does_so_also_when_something_is_cancelled() -> None:
    line = [Waiting("beside", NOW, overlap=Overlap.ALLOW_ALL), Waiting("newest", NOW, overlap=Overlap.CANCEL_OTHER)]
    verdict = process_buffer(WINDOWED, line, ["running"], NOW)
    assert (verdict.start, verdict.keep, verdict.cancel) == (["beside"], ["newest"], True)
