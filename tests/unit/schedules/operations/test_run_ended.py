"""What a schedule remembers of a run that ended."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson
import pytest

from ostinato.engine.runs import Ended
from ostinato.model import Run, Status
from ostinato.schedules.model import (
    Outcomes,
    Policies,
)
from ostinato.schedules.operations.run_ended import read_verdict, remember
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


@pytest.mark.parametrize("outcome", [["success"], {"success": 1}, None, 5, "fine"])
def test_a_result_whose_outcome_is_no_verdict_is_no_report(outcome: Any) -> None:
    """What a run returned is the user's, so no value of it may break the transaction that ends the run."""
    run = Run("a", "job", detail='{"facts":{"x":1}}')
    result = orjson.dumps({"outcome": outcome}).decode()
    assert read_verdict(Ended(run, Status.SUCCEEDED, None, result)) is None
