"""Decide what follows an attempt to find out whether a mutation took effect."""

from __future__ import annotations

from typing import NamedTuple

from ostinato.when.instants import Micros
from ostinato.workflows.model import MutationStatus, Policy


class Next(NamedTuple):
    """The state of the ledger row, and when to ask the mutator again, or None."""

    status: MutationStatus
    attempts: int
    next_at: Micros | None


def after_attempt(attempts: int, policy: Policy, now: Micros) -> Next:
    """Decide what follows an attempt without an answer: ask again later, or leave the question to a person."""
    attempts += 1
    if attempts >= policy.reconcile_attempts:
        return Next(MutationStatus.INDETERMINATE, attempts, None)
    return Next(MutationStatus.NEEDS_RECONCILE, attempts, now + policy.backoff(attempts))
