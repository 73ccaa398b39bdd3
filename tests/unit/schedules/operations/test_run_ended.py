"""What a schedule remembers of a run that ended."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ostinato.engine.runs import Ended
from ostinato.model import Run, Status
from ostinato.schedules.companions import Companion, RunVerdict
from ostinato.schedules.model import (
    Outcomes,
    Policies,
)
from ostinato.schedules.operations.run_ended import remember
from tests.support.decisions import MINUTELY, NOW
from tests.support.temporal_cases import CASES


@pytest.mark.parametrize(
    "case", [c for c in CASES["completion"] if "outcome" in c and c.get("request_known", True)], ids=lambda c: c["name"]
)
def test_completion(case: dict[str, Any]) -> None:
    """The other cases of the group are about a completion that overtakes its start, which one transaction rules out."""
    before = Outcomes(result="old", failure={"reason": "old"}, failures=0)
    policies = Policies(pause_after_failures=1 if case["pause_on_failure"] else None)
    schedule = replace(MINUTELY, policies=policies, outcomes=before)
    status = {"success": Status.SUCCEEDED, "failure": Status.FAILED, "terminated": Status.TERMINATED}[case["outcome"]]
    run = Run("wf-1", "job", root_id="wf-1", schedule_id="id", detail='{"schedule":"sched-id"}')
    after, _ = remember(schedule, Ended(run, status, None, '"new"' if status is Status.SUCCEEDED else None), NOW)
    expected = case["expected"]
    assert bool(after.paused) == expected["paused"]
    if expected.get("last_success_set"):
        assert (after.outcomes.result, after.outcomes.failure) == ("new", None)
    if "notes_contains" in expected:
        assert expected["notes_contains"] in after.notes
    if expected.get("conflict_token_bumped"):
        assert after.token == schedule.token + 1
    if status is not Status.SUCCEEDED:
        assert after.outcomes.result == "old"


@pytest.mark.parametrize(
    ("verdict", "event", "outcomes"),
    [
        (RunVerdict("run_completed", True, {"ate": 3}), "schedule:run_completed", ({"ate": 3}, 0)),
        (RunVerdict("run_failed", False, {"reason": "full"}), "schedule:run_failed", ("old", 2)),
        (RunVerdict("skipped", None, {"reason": "full"}), "schedule:skipped", ("old", 1)),
        (None, "schedule:run_completed", ("new", 0)),
    ],
)
@pytest.mark.parametrize("facts", ["", '"facts":{"x":1}'])
def test_a_companion_says_how_a_run_with_facts_counts(
    verdict: RunVerdict | None, event: str, outcomes: tuple[Any, int], facts: str
) -> None:
    def nothing(_: Any) -> Any:
        yield from ()

    companions = {"dinner": Companion(nothing, nothing, nothing, read_verdict=lambda ended: verdict)}
    before = Outcomes(result="old", failures=1)
    policies = Policies(pause_after_failures=2)
    schedule = replace(MINUTELY, policies=policies, outcomes=before, companion="dinner")
    run = Run("a", "job", root_id="a", schedule_id="id", detail=f"{{{facts}}}")
    after, events = remember(schedule, Ended(run, Status.SUCCEEDED, None, '"new"'), NOW, companions)
    if not facts:
        event, outcomes = "schedule:run_completed", ("new", 0)
    assert events[0][2] == event
    assert (after.outcomes.result, after.outcomes.failures) == outcomes
    assert bool(after.paused) == (event == "schedule:run_failed")
