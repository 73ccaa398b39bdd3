"""The tables of workflows as pure decisions: phase reset, failures, reconciliation, policy, what people see."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from ostinato.when.instants import SECOND, Micros
from ostinato.workflows.decisions.failures import RetryStart, RunFailure, follow, judge
from ostinato.workflows.decisions.reconciliation import after_attempt
from ostinato.workflows.definition import WorkflowDefinition
from ostinato.workflows.model import (
    MINUTE,
    Blocked,
    FailureClass,
    HandlerRun,
    HandlerType,
    MutationStatus,
    Phase,
    Policy,
    RunStatus,
    Workflow,
    WorkflowState,
)
from ostinato.workflows.views.overview import issue_of, status_of

ROOT = Path(__file__).parents[3]
NOW: Micros = 1_000_000 * SECOND


def run_at(
    phase: Phase, kind: HandlerType = HandlerType.CONSUMER, *, failures: int = 0, crashes: int = 0
) -> HandlerRun:
    return HandlerRun("r", "w", "h", kind, None, 1, 0, phase, RunStatus.ACTIVE, failures=failures, crashes=crashes)


def test_every_decision_has_a_test_named_after_it() -> None:
    page = (ROOT / "docs/discussions/workflow-decisions.md").read_text(encoding="utf-8")
    decisions = {int(number) for number in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)}
    assert decisions == set(range(1, 40))
    tested: set[int] = set()
    for file in (ROOT / "tests").glob("*/workflows/test_*.py"):
        text = file.read_text(encoding="utf-8")
        for numbers in re.findall(r"def test_decisions?_((?:\d+_)(?:(?:and_)?\d+_)*)", text):
            tested |= {int(number) for number in re.findall(r"\d+", numbers)}
    assert tested == decisions


UNCERTAIN = [MutationStatus.IN_FLIGHT, MutationStatus.NEEDS_RECONCILE, MutationStatus.INDETERMINATE]


@pytest.mark.parametrize(
    ("phase", "mutation", "start"),
    [
        *(
            (phase, None, RetryStart(Phase.PREPARING, False))
            for phase in (Phase.PREPARING, Phase.PREPARED, Phase.MUTATING)
        ),
        (Phase.MUTATING, MutationStatus.FAILED, RetryStart(Phase.PREPARING, False)),
        *((Phase.MUTATING, status, RetryStart(Phase.MUTATING, True)) for status in UNCERTAIN),
        *(
            (phase, mutation, RetryStart(Phase.EMITTING, True))
            for phase in (Phase.MUTATED, Phase.EMITTING)
            for mutation in (None, MutationStatus.APPLIED, MutationStatus.FAILED)
        ),
    ],
)
def test_the_table_of_phase_resets(phase: Phase, mutation: MutationStatus | None, start: RetryStart) -> None:
    assert follow(run_at(phase), mutation) == start


def test_a_producer_always_begins_again() -> None:
    assert follow(run_at(Phase.EXECUTING, HandlerType.PRODUCER), None) == RetryStart(Phase.EXECUTING, False)


@pytest.mark.parametrize(
    ("failure", "status", "follows", "in_place"),
    [
        (FailureClass.TRANSIENT, "paused:transient", "retry", False),
        (FailureClass.LOGIC, "failed:logic", "fix", False),
        (FailureClass.AUTH, "paused:approval", "person", True),
        (FailureClass.PERMISSION, "paused:approval", "person", True),
        (FailureClass.PRECONDITION, "paused:approval", "person", True),
        (FailureClass.RECONCILIATION, "paused:reconciliation", "person", True),
        (FailureClass.INTERNAL, "failed:internal", "person", False),
        (FailureClass.CRASH, "crashed", "retry now", False),
    ],
)
def test_the_table_of_failures(failure: FailureClass, status: str, follows: str, in_place: bool) -> None:
    verdict = judge(run_at(Phase.MUTATING), RunFailure(failure, "why"), Policy(), NOW, can_fix=True)
    blocked = verdict.blocked
    assert (verdict.status.value, failure.resumes_in_place) == (status, in_place)
    assert blocked.needs_person == (follows == "person")
    assert blocked.fixing == (follows == "fix")
    assert blocked.retry_at == {"retry": NOW + 10 * SECOND, "retry now": NOW}.get(follows)


def test_budgets_end_with_a_person() -> None:
    policy = Policy()
    transient = RunFailure(FailureClass.TRANSIENT, "busy")
    waits = [judge(run_at(Phase.PREPARING, failures=n), transient, policy, NOW).blocked.retry_at for n in range(6)]
    assert waits == [*(NOW + seconds * SECOND for seconds in (10, 20, 40, 80, 160)), None]
    logic = RunFailure(FailureClass.LOGIC, "wrong")
    fixes = [
        judge(run_at(Phase.PREPARING), logic, policy, NOW, logic_failures=n, can_fix=True).blocked.fixing
        for n in range(3)
    ]
    assert fixes == [True, True, False]
    crash = RunFailure(FailureClass.CRASH, "lost")
    crashes = [judge(run_at(Phase.PREPARING, crashes=n), crash, policy, NOW).blocked.needs_person for n in range(3)]
    assert crashes == [False, False, True]
    asked = [after_attempt(n, policy, NOW) for n in range(5)]
    assert [answer.next_at for answer in asked[:4]] == [NOW + seconds * SECOND for seconds in (10, 20, 40, 80)]
    assert asked[4] == (MutationStatus.INDETERMINATE, 5, None)


def test_decision_24_the_numbers_of_the_policy() -> None:
    policy = Policy()
    assert (policy.wake_min, policy.wake_max) == (30 * SECOND, 24 * 60 * MINUTE)
    assert (policy.backoff_first, policy.backoff_longest, policy.transient_retries) == (10 * SECOND, 10 * MINUTE, 5)
    assert (policy.fix_attempts, policy.reconcile_attempts) == (3, 5)
    assert (policy.phase_timeout, policy.max_state_bytes) == (5 * MINUTE, 65_536)
    assert policy.stale_after == 7 * 24 * 60 * MINUTE
    assert [policy.backoff(n) // SECOND for n in (1, 2, 6, 7, 8, 1000)] == [10, 20, 320, 600, 600, 600]


WORKFLOW = Workflow("w", "n", "inbox", 1, 0, "d", "{}", None, WorkflowState.ACTIVE, None, None, 0, 0, 0, None)
STUCK = Blocked(FailureClass.AUTH, "Waiting for you to reconnect Gmail", "r")


@pytest.mark.parametrize(
    ("workflow", "status", "issue"),
    [
        (WORKFLOW, "Idle", None),
        (replace(WORKFLOW, run_id="r"), "Running", None),
        (replace(WORKFLOW, state=WorkflowState.PAUSED), "Stopped", None),
        (replace(WORKFLOW, state=WorkflowState.ARCHIVED, run_id="r"), "Stopped", None),
        (replace(WORKFLOW, blocked=STUCK), "Needs attention", "Waiting for you to reconnect Gmail"),
        (
            replace(WORKFLOW, blocked=replace(STUCK, retry_at=NOW + 40 * SECOND, reason="busy")),
            "Running",
            "Retrying in 40 s: busy",
        ),
        (replace(WORKFLOW, blocked=replace(STUCK, fixing=True, reason="wrong")), "Running", "Fixing: wrong"),
        (replace(WORKFLOW, blocked=replace(STUCK, checking_at=NOW, reason="Verifying")), "Running", "Verifying"),
    ],
)
def test_decision_33_what_people_see(workflow: Workflow, status: str, issue: str | None) -> None:
    assert (status_of(workflow), issue_of(workflow, NOW)) == (status, issue)


def test_documents_of_a_newer_node_can_be_read() -> None:
    """During an upgrade an older node meets fields that it does not know."""
    assert Blocked.from_json({**STUCK.to_json(), "newer": 1}) == STUCK
    definition = WorkflowDefinition((), (), (), Policy(transient_retries=7))
    text = definition.to_json().replace('"transient_retries"', '"newer":1,"transient_retries"')
    assert '"newer"' in text
    assert WorkflowDefinition.from_json(text) == definition
