"""The steps of a backfill."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ostinato.schedules.decisions.decide import decide
from ostinato.schedules.model import (
    Occurrence,
    read_overlap,
)
from ostinato.schedules.operations.backfills import Backfill, step
from ostinato.when.instants import SECOND, Micros
from tests.support.decisions import MINUTELY, NOW, active_run, cases, counting_ids


@cases("backfiller")
def test_backfiller(case: dict[str, Any]) -> None:
    """`partial_fill_1000_intervals`: our step is bounded by `backfill_batch`, theirs by what is left of a buffer."""
    expected = case["expected"]
    if "trigger" in case:
        occurrence = Occurrence(NOW, NOW, origin="trigger-1", overlap=read_overlap(case["trigger"]["policy"]))
        decision = decide(replace(MINUTELY, paused=NOW), [active_run()], [occurrence], NOW, counting_ids())
        assert len(decision.start) == expected["buffered"]
        return
    span = case["backfill"]
    first, last = (NOW + 1000 if t == "T+1ms" else NOW + 7 * SECOND + t * SECOND for t in (span["start"], span["end"]))
    overlap = read_overlap(span["policy"]) if "policy" in span else None
    whole = Backfill("b", "ns", "id", first, last, first - 1, overlap, None, None, "running", 0, 0, NOW)
    after, occurrences, _ = step(whole, MINUTELY, 0, NOW, 450)
    assert len(occurrences) == expected.get("buffered", expected.get("first_batch"))
    assert all(o.manual and o.overlap is overlap for o in occurrences)
    assert (after.state == "completed") == expected["complete"]


@given(st.integers(1, 50), st.integers(0, 500), st.integers(0, 120))
def test_a_backfill_makes_each_time_of_its_range_once(batch: int, length: int, offset: int) -> None:
    first, last = NOW + offset * SECOND, NOW + (offset + length) * 10 * SECOND
    backfill = Backfill("b", "ns", "id", first, last, first - 1, None, None, None, "running", 0, 0, NOW)
    microses: list[Micros] = []
    while backfill.state == "running":
        backfill, more, _ = step(backfill, MINUTELY, 0, NOW, batch)
        assert len(more) <= batch
        microses += [o.nominal for o in more]
    assert microses == list(MINUTELY.spec.compiled.between(first, last))
    assert backfill.made == len(microses)
