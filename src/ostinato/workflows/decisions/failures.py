"""Decide what follows the failure of a run: a retry, a repair by the fixer, or an action of a person."""

from __future__ import annotations

from typing import NamedTuple

from ostinato.when.instants import Micros
from ostinato.workflows.model import (
    Blocked,
    FailureClass,
    HandlerRun,
    HandlerType,
    MutationStatus,
    Phase,
    Policy,
    RunStatus,
)


class Failure(NamedTuple):
    """The reason why a run fails. `words` is the message for people."""

    failure: FailureClass
    words: str


class Verdict(NamedTuple):
    """The consequences of a failure: the new values for the run and the workflow. `logic_failures` and `blocked` are
    for the workflow; the other values are for the run."""

    status: RunStatus
    failures: int
    crashes: int
    logic_failures: int
    blocked: Blocked


def judge(
    run: HandlerRun,
    failure: Failure,
    policy: Policy,
    now: Micros,
    *,
    logic_failures: int = 0,
    can_fix: bool = False,
    checking_at: Micros | None = None,
) -> Verdict:
    """Decide what follows a failure of `run`. `logic_failures` counts the logic errors in a row before this failure.
    `can_fix` means that the workflow has a fixer. `checking_at` is when the mutator will be asked whether the mutation
    took effect, or None."""
    kind = failure.failure
    failures = run.failures + 1 if kind is FailureClass.TRANSIENT else 0
    crashes = run.crashes + 1 if kind is FailureClass.CRASH else 0
    retry_at: Micros | None = None
    fixing = False
    if kind is FailureClass.TRANSIENT and failures <= policy.transient_retries:
        retry_at = now + policy.backoff(failures)
    elif kind is FailureClass.CRASH and crashes < policy.crash_attempts:
        retry_at = now
    elif kind is FailureClass.LOGIC:
        logic_failures += 1
        fixing = can_fix and logic_failures < policy.fix_attempts
    blocked = Blocked(kind, failure.words, run.run_id, retry_at, checking_at, fixing, now)
    return Verdict(kind.status, failures, crashes, logic_failures, blocked)


class Start(NamedTuple):
    """Says where the retry of a failed run begins. `phase` is the first phase of the new run. If `keeps` is true, the
    new run takes over the checkpoints, reservations and mutation of the failed run. Otherwise the failed run's
    reservations are released."""

    phase: Phase
    keeps: bool


def follow(run: HandlerRun, mutation: MutationStatus | None) -> Start:
    """Decide where the retry of a failed run begins. `mutation` is the status of the run's mutation, or None.

    If the run is a producer's, the retry executes the producer again. If the outcome of the mutation is final, the
    retry continues with the handler's `next`. If it is unknown whether the mutation took effect, the retry first asks
    the mutator. Otherwise the retry does everything again.
    """
    if run.type is HandlerType.PRODUCER:
        return Start(Phase.EXECUTING, keeps=False)
    if run.phase.mutation_settled:
        return Start(Phase.EMITTING, keeps=True)
    if mutation in UNCERTAIN:
        return Start(Phase.MUTATING, keeps=True)
    return Start(Phase.PREPARING, keeps=False)


UNCERTAIN = (MutationStatus.IN_FLIGHT, MutationStatus.NEEDS_RECONCILE, MutationStatus.INDETERMINATE)
