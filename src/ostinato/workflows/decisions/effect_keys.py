"""Compute the idempotency keys of effects.

If a mutator was already called for the same events, the next call usually has the key of the latest call. It gets a new
key only if the service has refused the latest call for good and the parameters have changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ostinato.model import Json


class EarlierCall(NamedTuple):
    """An earlier call of a mutator for an event. If `refused` is true, a call with the same `params` cannot succeed."""

    key: str
    params: Json
    refused: bool


def effect_key(workflow_id: str, mutator: str, event_ids: Iterable[str]) -> str:
    """Return the idempotency key of a mutator's first call for these events. The key depends only on the arguments, and
    the order of `event_ids` does not matter. To get the key of a later call, pass this key to `key_of_call`."""
    text = "\x1f".join((workflow_id, mutator, *sorted(event_ids)))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def key_of_call(first: str, params: Json, earlier: Sequence[EarlierCall]) -> str:
    """Return the idempotency key of the next call. `first` is the key of the first call. `earlier` are the earlier
    calls, oldest first.

    Usually the next call has the same key as the latest call, so that the service cannot apply the effect twice. It
    gets a new key only if the service has refused the latest call for good and the parameters have changed. With the
    old key, a service that stores its responses by key would repeat the refusal.
    """
    calls = [call for call in earlier if call.key.partition("-")[0] == first]
    if not calls:
        return first
    latest = calls[-1]
    if not latest.refused or latest.params == params:
        return latest.key
    return f"{first}-{int(latest.key.partition('-')[2] or 1) + 1}"
