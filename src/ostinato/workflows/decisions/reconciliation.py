"""Decide what to do if it is still unknown whether a mutation took effect."""

from __future__ import annotations

from typing import NamedTuple

from ostinato.when.instants import Micros
from ostinato.workflows.model import MutationStatus, Policy


class Next(NamedTuple):
    """What to do after an attempt to find out whether a mutation took effect. `status` is the new status of the
    mutation in the ledger. `attempts` counts how often the mutator was asked. `next_at` is when to ask again, or None
    if a person must decide."""

    status: MutationStatus
    attempts: int
    next_at: Micros | None


def after_attempt(attempts: int, policy: Policy, now: Micros) -> Next:
    """Decide whether to ask the mutator again later, or to leave the question to a person. Call this after an attempt
    that did not find out whether the mutation took effect. `attempts` counts the attempts before this one."""
    attempts += 1
    if attempts >= policy.reconcile_attempts:
        return Next(MutationStatus.INDETERMINATE, attempts, None)
    return Next(MutationStatus.NEEDS_RECONCILE, attempts, now + policy.backoff(attempts))
