"""Decide what follows an attempt to find out whether a mutation took effect."""

from __future__ import annotations

from typing import NamedTuple

from ostinato.when.instants import Micros
from ostinato.workflows.model import MutationStatus, Policy


class Next(NamedTuple):
    """What follows the attempt. `status` is the new status of the mutation in the ledger. `attempts` counts how often
    the mutator has been asked. `next_at` is when it is asked again, or None if it is not."""

    status: MutationStatus
    attempts: int
    next_at: Micros | None


def after_attempt(attempts: int, policy: Policy, now: Micros) -> Next:
    """Decide what follows an attempt that did not find out whether the mutation took effect: ask again later, or leave
    the question to a person. `attempts` counts the attempts before this one."""
    attempts += 1
    if attempts >= policy.reconcile_attempts:
        return Next(MutationStatus.INDETERMINATE, attempts, None)
    return Next(MutationStatus.NEEDS_RECONCILE, attempts, now + policy.backoff(attempts))
