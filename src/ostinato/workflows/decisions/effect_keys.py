"""The idempotency keys of effects. All tries of one mutator for the same events are one effect."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ostinato.model import Json


class EarlierCall(NamedTuple):
    """An earlier call of a mutator for the same event. `refused` means that the mutator reported that a call with these
    `params` can never succeed."""

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

    The key stays the same, so that the service does not apply the effect twice if it applies an earlier call late.
    There is one exception: if the service refused the last call for good, and the parameters are different now, the
    call gets a new key. Otherwise a service that stores its answers by key would repeat the refusal.
    """
    calls = [call for call in earlier if call.key.partition("-")[0] == first]
    if not calls:
        return first
    latest = calls[-1]
    if not latest.refused or latest.params == params:
        return latest.key
    return f"{first}-{int(latest.key.partition('-')[2] or 1) + 1}"
