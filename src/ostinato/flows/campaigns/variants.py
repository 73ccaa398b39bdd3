"""Assign users to the variants of a campaign, or to its holdout group, which gets no message.

A hash of the external id selects a user's variant. So a user has the same variant each time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ostinato.errors import OstinatoError, check_text, short_repr
from ostinato.flows.read_values import read_object, read_whole

MOST_VARIANTS = 8
HOLDOUT = "holdout"


@dataclass(frozen=True, slots=True)
class Variant:
    """One of several versions of a campaign.

    - `weight`: the variant's share of the recipients, relative to the other weights
    - `flow`: the flow that replaces the campaign's flow, or None, if the campaign's flow is used
    - `input`: values that override those with the same keys in the campaign's input, or None, if there are none
    """

    name: str
    weight: int = 1
    flow: str | None = None
    input: Mapping[str, Any] | None = None


def assign_variant(holdout: float, variants: Sequence[Variant], salt: str, external_id: str) -> str | None:
    """Return the name of the user's variant, or `HOLDOUT` if the user is in the holdout group.

    Return None if the campaign has no variants. The same salt and external id give the same result on every node.
    """
    if not holdout and not variants:
        return None
    digest = hashlib.sha256(f"{salt}\0{external_id}".encode()).digest()
    if int.from_bytes(digest[:8]) % 1_000_000 < holdout * 10_000:
        return HOLDOUT
    total = sum(variant.weight for variant in variants)
    place = int.from_bytes(digest[8:16]) % total if total else 0
    for variant in variants:
        place -= variant.weight
        if place < 0:
            return variant.name
    return None


def read_variants(value: object, where: str) -> tuple[Variant, ...]:
    """Read the option `variants`. Raises OstinatoError if a variant is invalid."""
    if not isinstance(value, Mapping) or not 1 <= len(value) <= MOST_VARIANTS:
        raise OstinatoError(f"{where} {short_repr(value)} is not an object of 1 to {MOST_VARIANTS} variants")
    variants = []
    for name, settings in value.items():
        place = f"{where}.{name}"
        check_text(name, f"{where}: a name")
        if name == HOLDOUT:
            raise OstinatoError(f"{place}: the name is reserved; the option holdout sets the share")
        if not isinstance(settings, Mapping) or set(settings) - {"weight", "flow", "input"}:
            raise OstinatoError(f"{place} {short_repr(settings)} is not an object of weight, flow and input")
        if settings.get("flow") is not None:
            check_text(settings["flow"], f"{place}.flow")
        if settings.get("input") is not None:
            read_object(settings["input"], f"{place}.input")
        weight = read_whole(settings.get("weight", 1), f"{place}.weight", 1, 1_000)
        variants.append(Variant(name, weight, settings.get("flow"), settings.get("input")))
    return tuple(variants)
