"""Change the suppression list of an agent. Campaigns send nothing to the users on this list."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ostinato.engine.rows import audit
from ostinato.errors import OstinatoError, check_text, short_repr
from ostinato.flows.campaigns.store import campaign_statement
from ostinato.flows.store import write_events
from ostinato.flows.turns import TransactionContext
from ostinato.store.contract import Operation

_MOST_NAMED = 1_000


def check_names(users: Collection[str]) -> Sequence[str]:
    """Return the external ids sorted and without duplicates. Raises OstinatoError if there are none or too many."""
    if isinstance(users, str) or not 1 <= len(users) <= _MOST_NAMED:
        raise OstinatoError(f"users {short_repr(users)} is not a list of 1 to {_MOST_NAMED:,} external ids")
    for name in users:
        check_text(name, "a user")
    return sorted(set(users))


def suppress(place: TransactionContext, names: Sequence[str], reason: str) -> Operation[int]:
    """Put users on the list. Return how many were not on it before."""
    rows = [(place.namespace, place.agent, name, reason, place.now, place.actor) for name in names]
    stored = yield campaign_statement("suppress", rows)
    yield from _note_list(place, "campaign:suppressed", len(stored), reason)
    return len(stored)


def unsuppress(place: TransactionContext, names: Sequence[str]) -> Operation[int]:
    """Remove users from the list. Return how many were on it."""
    rows = yield campaign_statement(
        "unsuppress", [(name,) for name in names], namespace=place.namespace, agent=place.agent
    )
    yield from _note_list(place, "campaign:unsuppressed", len(rows), None)
    return len(rows)


def _note_list(place: TransactionContext, event: str, count: int, reason: str | None) -> Operation[None]:
    if count:
        row = audit(place.now, place.namespace, event, place.agent, place.actor, count=count, reason=reason)
        yield from write_events(row)
