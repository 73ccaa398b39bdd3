"""Compute the idempotency keys of effects. All tries of one mutator for the same events normally have the same key.
After a final refusal, a call with other parameters gets a new key."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ostinato.model import Json


class EarlierCall(NamedTuple):
    """One earlier call of a mutator for an event. `refused` means that the call failed for good: a new call with equal
    `params` cannot succeed."""

    key: str
    params: Json
    refused: bool


def effect_key(workflow_id: str, mutator: str, event_ids: Iterable[str]) -> str:
    """Return the idempotency key of the first call of a mutator for these events. It is the same in every run that
    reserves the same events."""
    text = "\x1f".join((workflow_id, mutator, *sorted(event_ids)))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def key_of_call(first: str, params: Json, earlier: Sequence[EarlierCall]) -> str:
    """Return the idempotency key of the next call of a mutator. `first` is the key of the first call, and `earlier` are
    the calls so far, the oldest first.

    Usually all calls have the same key, so that the service cannot apply the effect twice. The call gets a new key only
    if the service refused the last call for good and the parameters have changed since. With the old key, a service
    that stores its answers by key would repeat the refusal.
    """
    calls = [call for call in earlier if call.key.partition("-")[0] == first]
    if not calls:
        return first
    latest = calls[-1]
    if not latest.refused or latest.params == params:
        return latest.key
    return f"{first}-{int(latest.key.partition('-')[2] or 1) + 1}"
