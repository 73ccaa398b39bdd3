"""One decision about a schedule, from its rows and what is due."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ostinato.model import Status
from ostinato.schedules.decisions.decide import Live, decide, decide_by_oldest, oldest_suffice
from ostinato.schedules.model import (
    CatchUp,
    Memory,
    Occurrence,
    Overlap,
    Policies,
    Reason,
)
from ostinato.when.instants import SECOND
from tests.support.decisions import MINUTELY, NOW, active_run, counting_ids, schedule_of
from tests.support.temporal_cases import CASES


@pytest.mark.parametrize(
    "case", [c for c in CASES["process_time_range"] if c["manual"] or "limit" in c], ids=lambda c: c["name"]
)
def test_limits_of_the_buffer(case: dict[str, Any]) -> None:
    """`max_buffer` binds what the clock brings; what someone asks for waits, and is never dropped."""
    first, last = (NOW + s * SECOND for s in case["range_s"])
    schedule = schedule_of(case)
    origin = "backfill-1" if case["manual"] else "auto"
    due = [Occurrence(n, n, origin=origin) for n in schedule.spec.compiled.between(first + 1, last)]
    limit = case.get("limit")
    schedule = replace(schedule, policies=replace(schedule.policies, overlap=Overlap.BUFFER_ALL, max_buffer=limit))
    decision = decide(schedule, [active_run()] if limit else [], due, NOW, counting_ids())
    expected = case["expected"]
    if case["manual"] and limit:  # upstream fills its buffer by and by; ours has room for all of a step
        assert (len(decision.hold), decision.passed) == (len(due), [])
    else:
        assert len(decision.start) + len(decision.hold) == expected["starts"]
    assert sum(p.count for p in decision.passed if p.reason is Reason.BUFFER_FULL) == expected.get("dropped", 0)


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
    schedule = replace(MINUTELY, policies=policies, remaining=remaining, memory=memory)
    going = [active_run()] if running else []
    whole = decide(schedule, [*going, *waiting], [], NOW, lambda: "")
    if not oldest_suffice(schedule):
        assert policies.overlap is Overlap.SKIP or remaining == 1 or len(waiting) > (policies.max_buffer or 99)
        return
    short = decide_by_oldest(schedule, [*going, *waiting[:first]], NOW)
    if short is None:
        first_waiting = waiting[:first]
        assert {why for _, why, _ in whole.drop} <= {Reason.CATCHUP_WINDOW}
        assert whole.drop or all(one.manual for one in first_waiting)
    else:
        assert short == whole
