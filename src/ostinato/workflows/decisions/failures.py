"""Decide what follows the failure of a run: a retry, a repair by the fixer, or the action of a person."""

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


class RunFailure(NamedTuple):
    """The reason why a run fails. `words` is the message for people."""

    failure: FailureClass
    words: str


class Verdict(NamedTuple):
    """The values to store after a failure. `logic_failures` and `blocked` are stored in the workflow, and the other
    values in the run."""

    status: RunStatus
    failures: int
    crashes: int
    logic_failures: int
    blocked: Blocked


def judge(
    run: HandlerRun,
    failure: RunFailure,
    policy: Policy,
    now: Micros,
    *,
    logic_failures: int = 0,
    can_fix: bool = False,
    checking_at: Micros | None = None,
) -> Verdict:
    """Decide what follows a failure of `run`.

    - `logic_failures`: the number of logic errors in a row before this failure
    - `can_fix`: whether the workflow has a fixer
    - `checking_at`: when the mutator will be asked whether its effect took place; None if it will not be asked
    """
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


class RetryStart(NamedTuple):
    """Where the retry of a failed run begins. If `keeps` is true, the retry takes over the failed run's checkpoints,
    reservations and mutation. Otherwise the reservations are released."""

    phase: Phase
    keeps: bool


def follow(run: HandlerRun, mutation: MutationStatus | None) -> RetryStart:
    """Decide where the retry of a failed run begins. `mutation` is the status of the run's mutation, if it has one.

    - If the run is a producer's, the retry executes the producer again.
    - If the mutation's outcome is final, the retry continues with the handler's method `next`.
    - If it is unknown whether the mutation took effect, the retry first asks the mutator.
    - Otherwise the retry begins with the handler's method `prepare`.
    """
    if run.type is HandlerType.PRODUCER:
        return RetryStart(Phase.EXECUTING, keeps=False)
    if run.phase.mutation_settled:
        return RetryStart(Phase.EMITTING, keeps=True)
    if mutation in UNCERTAIN:
        return RetryStart(Phase.MUTATING, keeps=True)
    return RetryStart(Phase.PREPARING, keeps=False)


UNCERTAIN = (MutationStatus.IN_FLIGHT, MutationStatus.NEEDS_RECONCILE, MutationStatus.INDETERMINATE)
