"""Decide what to do if it is still unknown whether a mutation took effect."""

from __future__ import annotations

from typing import NamedTuple

from ostinato.when.instants import Micros
from ostinato.workflows.model import MutationStatus, Policy


class Next(NamedTuple):
    """What follows an attempt that did not find out whether a mutation took effect.

    - `status`: the new status of the mutation
    - `attempts`: how often the mutator has been asked, including this attempt
    - `next_at`: when to ask again, in microseconds since 1970, or None if a person must decide
    """

    status: MutationStatus
    attempts: int
    next_at: Micros | None


def after_attempt(attempts: int, policy: Policy, now: Micros) -> Next:
    """Decide what follows an attempt that did not find out whether a mutation took effect. `attempts` is the number of
    earlier attempts. After `policy.reconcile_attempts` attempts, a person must decide. Before that, the mutator is
    asked again later."""
    attempts += 1
    if attempts >= policy.reconcile_attempts:
        return Next(MutationStatus.INDETERMINATE, attempts, None)
    return Next(MutationStatus.NEEDS_RECONCILE, attempts, now + policy.backoff(attempts))
