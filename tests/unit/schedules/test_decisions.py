"""Generator and invoker against the facts known about Temporal's, and their own properties."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ostinato import OstinatoError, cron, every
from ostinato.engine.runs import Ended
from ostinato.model import Run, Status
from ostinato.schedules.backfiller import Backfill, step
from ostinato.schedules.completing import remember
from ostinato.schedules.decide import Live, decide, decide_by_the_first, first_ones_tell
from ostinato.schedules.generator import generate, upcoming
from ostinato.schedules.invoker import Waiting, process_buffer
from ostinato.schedules.model import (
    GRACE,
    CatchUp,
    Memory,
    Occurrence,
    Outcomes,
    Overlap,
    Policies,
    Reason,
    Schedule,
    read_catchup,
    read_overlap,
)
from ostinato.when.instants import SECOND, Micros, read_instant
from ostinato.when.temporal import spec_from_temporal

CASES: dict[str, Any] = json.loads((Path(__file__).parents[2] / "data/temporal_invoker_cases.json").read_text())
NOW = read_instant("2025-03-31T12:00:00Z", "now")
DAY = 86_400 * SECOND
MINUTELY = Schedule("id", "sched-id", every("60s"), namespace="ns-id", reached=NOW)
ALL_OF_A_YEAR = CatchUp("all", window=365 * DAY)


def cases(section: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", [pytest.param(c, id=c["name"]) for c in CASES[section]])


def schedule(case: dict[str, Any]) -> Schedule:
    """The harness of the facts: every minute, a catch-up window of 300 s."""
    window = case.get("catchup_window", 300)
    catchup = ALL_OF_A_YEAR if not window else CatchUp("all", window=max(10, window) * SECOND)
    remaining = case.get("remaining", case.get("remaining_actions"))
    limited = case.get("limited", case.get("limited_actions"))
    return replace(
        MINUTELY,
        policies=Policies(catchup=catchup),
        paused=case.get("paused", False),
        remaining=remaining if limited else None,
    )


@cases("process_buffer")
def test_overlap_table(case: dict[str, Any]) -> None:
    resolve = case["resolve"]
    waiting = []
    for one in case["buffer"]:
        policy = one["policy"] if resolve == "identity" else resolve["*"]
        waiting.append(Waiting(str(one["id"]), NOW, overlap=read_overlap(policy)))
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
    verdict = process_buffer(schedule(case), waiting, running, NOW)
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


@pytest.mark.parametrize(
    "case", [c for c in CASES["process_time_range"] if not c["manual"] and "limit" not in c], ids=lambda c: c["name"]
)
def test_time_range(case: dict[str, Any]) -> None:
    """The manual ranges belong to the backfiller, the buffer's limit to `max_buffer`."""
    if "spec" in case:
        first, last = (read_instant(t, "range") for t in case["range_abs"])
        one = replace(
            schedule(case),
            spec=spec_from_temporal(case["spec"]),
            reached=first,
            updated=read_instant(case["update_time_abs"], "update"),
        )
        (occurrence,) = generate(one, last).occurrences
        assert occurrence.nominal == read_instant(case["expected"]["nominal"], "nominal")
        assert occurrence.actual > one.updated
        return
    first, last = (NOW + s * SECOND for s in case["range_s"])
    found = generate(replace(schedule(case), reached=first), last).occurrences
    assert len([o for o in found if o.reason is None]) == case["expected"]["starts"]


@pytest.mark.parametrize("case", [c for c in CASES["generator"] if "idle" not in c["name"]], ids=lambda c: c["name"])
def test_generator(case: dict[str, Any]) -> None:
    """Idleness is a state here, nothing is deleted by itself: `idle_sets_close_time` binds nowhere."""
    one = replace(schedule(case), reached=NOW + case.get("hwm", 0) * SECOND)
    expected = case["expected"]
    found = generate(one, NOW)
    runs = [o for o in found.occurrences if o.reason is None]
    missed = [o for o in found.occurrences if o.reason is Reason.CATCHUP_WINDOW]
    if "buffered" in expected:
        assert len(runs) < 5 if expected["buffered"] == "<5" else len(runs) == expected["buffered"]
    if "missed" in expected:
        assert len(missed) > 0 if expected["missed"] == ">0" else len(missed) == expected["missed"]
    if expected.get("hwm_advanced"):
        assert found.reached == NOW
    if "future_count" in expected:
        assert len(upcoming(one, NOW)) == expected["future_count"]
    if "all_future_after" in expected:
        assert all(o.nominal > NOW + expected["all_future_after"] * SECOND for o in upcoming(one, NOW))


@pytest.mark.parametrize(
    "case", [c for c in CASES["process_time_range"] if c["manual"] or "limit" in c], ids=lambda c: c["name"]
)
def test_limits_of_the_buffer(case: dict[str, Any]) -> None:
    """`max_buffer` binds what the clock brings; what someone asks for waits, and is never dropped."""
    first, last = (NOW + s * SECOND for s in case["range_s"])
    one = schedule(case)
    origin = "backfill-1" if case["manual"] else "auto"
    due = [Occurrence(n, n, origin=origin) for n in one.spec.compiled.between(first + 1, last)]
    limit = case.get("limit")
    one = replace(one, policies=replace(one.policies, overlap=Overlap.BUFFER_ALL, max_buffer=limit))
    found = decide(one, [busy()] if limit else [], due, NOW, counter())
    expected = case["expected"]
    if case["manual"] and limit:  # upstream fills its buffer by and by; ours has room for all of a step
        assert (len(found.hold), found.passed) == (len(due), [])
    else:
        assert len(found.start) + len(found.hold) == expected["starts"]
    assert sum(p.count for p in found.passed if p.reason is Reason.BUFFER_FULL) == expected.get("dropped", 0)


def busy() -> Live:
    return Live("r", "r", Status.ACTIVE, False, NOW - 3600 * SECOND)


def counter() -> Callable[[], str]:
    numbers = count(1)
    return lambda: f"id{next(numbers)}"


@cases("backfiller")
def test_backfiller(case: dict[str, Any]) -> None:
    """`partial_fill_1000_intervals`: our step is bounded by `backfill_batch`, theirs by what is left of a buffer."""
    expected = case["expected"]
    if "trigger" in case:
        one = Occurrence(NOW, NOW, origin="trigger-1", overlap=read_overlap(case["trigger"]["policy"]))
        found = decide(replace(MINUTELY, paused=NOW), [busy()], [one], NOW, counter())
        assert len(found.start) == expected["buffered"]
        return
    span = case["backfill"]
    first, last = (NOW + 1000 if t == "T+1ms" else NOW + 7 * SECOND + t * SECOND for t in (span["start"], span["end"]))
    overlap = read_overlap(span["policy"]) if "policy" in span else None
    whole = Backfill("b", "ns", "id", first, last, first - 1, overlap, None, None, "running", 0, 0, NOW)
    after, made, _ = step(whole, MINUTELY, 0, NOW, 450)
    assert len(made) == expected.get("buffered", expected.get("first_batch"))
    assert all(o.manual and o.overlap is overlap for o in made)
    assert (after.state == "completed") == expected["complete"]


@given(st.integers(1, 50), st.integers(0, 500), st.integers(0, 120))
def test_a_backfill_makes_each_time_of_its_range_once(batch: int, length: int, offset: int) -> None:
    first, last = NOW + offset * SECOND, NOW + (offset + length) * 10 * SECOND
    one = Backfill("b", "ns", "id", first, last, first - 1, None, None, None, "running", 0, 0, NOW)
    made: list[Micros] = []
    while one.state == "running":
        one, more, _ = step(one, MINUTELY, 0, NOW, batch)
        assert len(more) <= batch
        made += [o.nominal for o in more]
    assert made == list(MINUTELY.spec.compiled.between(first, last))
    assert one.made == len(made)


@pytest.mark.parametrize(
    "case", [c for c in CASES["completion"] if "outcome" in c and c.get("request_known", True)], ids=lambda c: c["name"]
)
def test_completion(case: dict[str, Any]) -> None:
    """The other cases of the group are about a completion that overtakes its start, which one transaction rules out."""
    before = Outcomes(result="old", failure={"reason": "old"}, failures=0)
    policies = Policies(pause_after_failures=1 if case["pause_on_failure"] else None)
    one = replace(MINUTELY, policies=policies, outcomes=before)
    status = {"success": Status.SUCCEEDED, "failure": Status.FAILED, "terminated": Status.TERMINATED}[case["outcome"]]
    run = Run("wf-1", "job", root_id="wf-1", schedule_id="id", detail='{"schedule":"sched-id"}')
    after, _ = remember(one, Ended(run, status, None, '"new"' if status is Status.SUCCEEDED else None), NOW)
    expected = case["expected"]
    assert bool(after.paused) == expected["paused"]
    if expected.get("last_success_set"):
        assert (after.outcomes.result, after.outcomes.failure) == ("new", None)
    if "notes_contains" in expected:
        assert expected["notes_contains"] in after.notes
    if expected.get("conflict_token_bumped"):
        assert after.token == one.token + 1
    if status is not Status.SUCCEEDED:
        assert after.outcomes.result == "old"


def test_pausing_leaves_a_reason_for_each_time() -> None:
    found = generate(replace(MINUTELY, paused=True, reached=NOW - 300 * SECOND), NOW)
    assert [o.reason for o in found.occurrences] == [Reason.PAUSED] * 5


# Our own rules


def test_latest_runs_one_for_all_that_were_late() -> None:
    daily = Schedule("id", "report", cron("0 9 * * *"), reached=read_instant("2026-03-01T09:00Z", "t"))
    now = read_instant("2026-03-04T10:00Z", "t")
    found = generate(daily, now)
    assert [(o.reason, o.stands_for) for o in found.occurrences] == [
        (Reason.COALESCED, 0),
        (Reason.COALESCED, 0),
        (None, 2),
    ]
    assert found.wake == read_instant("2026-03-05T09:00Z", "t")


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
        found = generate(jittered, at)
        seen += [o.nominal for o in found.occurrences]
        assert all(o.actual <= at for o in found.occurrences)
        jittered = replace(jittered, reached=found.reached, updated=at if length % 2 else 0)
    assert seen == [NOW + n * 3600 * SECOND for n in range(1, len(seen) + 1)]
    assert len(seen) >= 22


def test_an_edit_neither_refires_nor_invents() -> None:
    hourly = Schedule("id", "s", every("1h"), reached=NOW)
    edited = replace(hourly, spec=every("15m"), updated=NOW + 40 * 60 * SECOND)
    found = generate(edited, NOW + 50 * 60 * SECOND)
    assert [o.nominal for o in found.occurrences] == [NOW + 45 * 60 * SECOND]


def test_a_full_batch_says_that_there_is_more() -> None:
    found = generate(replace(MINUTELY, reached=NOW - 100 * 60 * SECOND), NOW, batch=30)
    assert found.more
    assert len(found.occurrences) == 30
    assert found.wake == NOW


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
    one = Schedule("id", "s", every(f"{step}s"), Policies(catchup=policy), reached=NOW - ago * SECOND)
    whole = [Occurrence(n, n) for n in one.spec.compiled.between(one.reached + 1, NOW)]
    found: list[Occurrence] = []
    while True:
        got = generate(one, NOW, batch)
        found += got.occurrences
        one = replace(one, reached=got.reached, memory=replace(one.memory, coalesced=got.coalesced))
        if not got.more:
            break
    assert [o.nominal for o in found] == [o.nominal for o in whole]
    assert [o.reason for o in found] == judged_whole(whole, policy, NOW)
    coalesced = sum(o.reason is Reason.COALESCED for o in found)
    assert sum(o.stands_for for o in found) == coalesced


def test_late_runs_come_at_the_pace_of_the_policy() -> None:
    slow = Policies(catchup=CatchUp("all", pace=10))
    one = replace(MINUTELY, policies=slow, reached=NOW - 3600 * SECOND)
    found = generate(one, NOW)
    assert len(found.occurrences) == 10
    assert found.wake == NOW + SECOND
    assert found.more


def test_one_occurrence_is_left_out_and_another_moved() -> None:
    minute = 60 * SECOND
    memory = Memory(left_out=frozenset({NOW + minute}), moved={NOW + 2 * minute: NOW + 2 * minute + 7 * SECOND})
    one = replace(MINUTELY, memory=memory, policies=Policies(catchup=ALL_OF_A_YEAR))
    found = generate(one, NOW + 3 * minute).occurrences
    assert [(o.nominal, o.actual - o.nominal, o.reason) for o in found] == [
        (NOW + minute, 0, Reason.ASKED),
        (NOW + 2 * minute, 7 * SECOND, None),
        (NOW + 3 * minute, 0, None),
    ]
    assert upcoming(one, NOW + 2 * minute)[0].actual == NOW + 2 * minute + 7 * SECOND


waiting_lists = st.lists(
    st.builds(Waiting, st.uuids().map(str), st.just(NOW), st.booleans(), st.sampled_from(list(Overlap))), max_size=12
)


@given(waiting_lists, st.booleans(), st.none() | st.integers(0, 5), st.booleans())
def test_every_waiting_occurrence_gets_one_verdict(
    waiting: list[Waiting], running: bool, remaining: int | None, paused: bool
) -> None:
    one = replace(MINUTELY, remaining=remaining, paused=paused)
    verdict = process_buffer(one, waiting, ["r"] if running else [], NOW)
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


@pytest.mark.parametrize("value", ["sometimes", -5, CatchUp("all", most=0)])
def test_a_wrong_catchup_is_refused(value: Any) -> None:
    with pytest.raises(OstinatoError, match="catchup"):
        read_catchup(value)


def test_policies_are_read_from_words() -> None:
    assert read_catchup("1h") == CatchUp("all", window=3600 * SECOND)
    assert read_overlap("BUFFER_ONE") is Overlap.BUFFER_ONE
    with pytest.raises(OstinatoError, match="did you mean 'skip'"):
        read_overlap("skp")


@given(
    st.builds(
        Policies,
        overlap=st.sampled_from([Overlap.BUFFER_ALL] * 3 + [Overlap.SKIP]),
        catchup=st.sampled_from([CatchUp("all"), CatchUp("all", window=20 * SECOND), CatchUp("latest")]),
        max_buffer=st.none() | st.integers(1, 12),
        manual_counts=st.booleans(),
    ),
    st.lists(st.tuples(st.integers(0, 30), st.sampled_from(["auto"] * 3 + ["trigger-1"])), min_size=2, max_size=12),
    st.none() | st.integers(1, 3),
    st.booleans(),
    st.integers(2, 5),
)
def test_the_first_ones_that_wait_tell_what_the_whole_buffer_does(
    policies: Policies, line: list[tuple[int, str]], remaining: int | None, running: bool, first: int
) -> None:
    waiting = [
        Live(f"w{n:02d}", f"w{n:02d}", Status.BUFFERED, True, NOW - ago * SECOND, {"origin": origin, "nominal": 0})
        for n, (ago, origin) in enumerate(line)
    ]
    waiting.sort(key=lambda one: (one.due, one.id))
    memory = Memory(waiting=len(waiting), alike=True)
    one = replace(MINUTELY, policies=policies, remaining=remaining, memory=memory)
    going = [busy()] if running else []
    whole = decide(one, [*going, *waiting], [], NOW, lambda: "")
    if not first_ones_tell(one):
        assert policies.overlap is Overlap.SKIP or remaining == 1 or len(waiting) > (policies.max_buffer or 99)
        return
    short = decide_by_the_first(one, [*going, *waiting[:first]], NOW)
    if short is None:
        known = waiting[:first]
        assert {why for _, why, _ in whole.drop} <= {Reason.CATCHUP_WINDOW}
        assert whole.drop or all(one.manual for one in known)
    else:
        assert short == whole
