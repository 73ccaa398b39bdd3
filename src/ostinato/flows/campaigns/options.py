"""The options of a campaign, which say how it is sent: their values, and how they are read and checked. The holdout and
the variant of a user are chosen here, too."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ostinato.engine.context import to_json
from ostinato.errors import OstinatoError, check_text, did_you_mean, short_repr
from ostinato.flows.campaigns.local_time import QuietHours, read_clock, read_quiet_hours
from ostinato.flows.campaigns.rate import Rate, read_rate
from ostinato.flows.model import ON_ACTIVE_FLOW, OnActiveFlow
from ostinato.model import read_length
from ostinato.when.durations import DAY
from ostinato.when.instants import Micros

MOST_RECIPIENTS = 10_000  # the default of `max_recipients`
MOST_IN_FLIGHT = 1_000
MOST_VARIANTS = 8
HOLDOUT = "holdout"
_IN_FLIGHT = 50


@dataclass(frozen=True, slots=True)
class Variant:
    """One of several versions of a campaign. `flow`, if set, replaces the campaign's flow. The keys of `input` override
    those of the campaign's input. `weight` is the variant's share of the recipients, relative to the other weights."""

    name: str
    weight: int = 1
    flow: str | None = None
    input: Mapping[str, Any] | None = None

    def as_json(self) -> dict[str, Any]:
        values = {"weight": self.weight, "flow": self.flow, "input": self.input}
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True)
class CampaignOptions:
    """How a campaign is sent.

    `max_recipients` is the largest audience that is accepted unless `confirmed` is true. `in_flight` is how many turns
    may be in progress at once. `rate` limits the messages of this campaign in a period. `quiet_hours` and `local_time`
    are in the zone of each recipient. `frequency_cap` limits how many messages of campaigns one user gets in a period.
    With `cancel_on_reply`, recipients are skipped if they send a message before their turn begins. With
    `require_opt_in`, only users who have opted in get a message. Recipients whose turn has not begun after
    `expires_after` are skipped. `holdout` is the percentage of recipients who get nothing. `variants` are chosen by a
    hash of the user, according to their weights.
    """

    max_recipients: int = MOST_RECIPIENTS
    confirmed: bool = False
    in_flight: int = _IN_FLIGHT
    rate: Rate | None = None
    quiet_hours: QuietHours | None = None
    local_time: int | None = None
    frequency_cap: tuple[int, Micros] | None = None
    cancel_on_reply: bool = False
    require_opt_in: bool = False
    expires_after: Micros = 7 * DAY
    holdout: float = 0
    variants: tuple[Variant, ...] = ()
    on_active_flow: OnActiveFlow = "skip"

    def assign(self, salt: str, external_id: str) -> str | None:
        """Return the name of the user's variant, `HOLDOUT` if the user is in the holdout group, or None if there are no
        variants. The same salt and external id give the same result on every node."""
        if not self.holdout and not self.variants:
            return None
        digest = hashlib.sha256(f"{salt}\0{external_id}".encode()).digest()
        if int.from_bytes(digest[:8]) % 1_000_000 < self.holdout * 10_000:
            return HOLDOUT
        total = sum(variant.weight for variant in self.variants)
        place = int.from_bytes(digest[8:16]) % total if total else 0
        for variant in self.variants:
            place -= variant.weight
            if place < 0:
                return variant.name
        return None

    def variant(self, name: str | None) -> Variant | None:
        return next((variant for variant in self.variants if variant.name == name), None)


def read_options(value: object, where: str = "options") -> CampaignOptions:
    """Read the options of a campaign. Raises OstinatoError if an option is unknown or invalid; the message names the
    option."""
    if value is None:
        return CampaignOptions()
    if not isinstance(value, Mapping):
        raise OstinatoError(f"{where} {short_repr(value)} is not an object")
    read: dict[str, Any] = {}
    for name, setting in value.items():
        if name not in _READ:
            hint = did_you_mean(str(name), _READ) or f"there are {', '.join(_READ)}"
            raise OstinatoError(f"{where}: a campaign has no option {short_repr(name)}; {hint}")
        read[name] = read_option(name, setting, f"{where}.{name}")
    return CampaignOptions(**read)


def read_option(name: str, value: object, where: str) -> Any:
    """Read one option of a campaign. Raises OstinatoError if the value is invalid."""
    return None if value is None and name in _NULLABLE else _READ[name](value, where)


def _read_cap(value: object, where: str) -> tuple[int, Micros]:
    if not isinstance(value, Mapping) or set(value) != {"messages", "per"}:
        raise OstinatoError(f'{where} {short_repr(value)} is not {{"messages": 2, "per": "7d"}}')
    messages = read_whole(value["messages"], f"{where}.messages", 1, 1_000)
    per = read_length(value["per"], f"{where}.per")
    if not 0 < per <= 366 * DAY:
        raise OstinatoError(f"{where}.per {short_repr(value['per'])} is not between 0 and 366 days")
    return messages, per


def _read_variants(value: object, where: str) -> tuple[Variant, ...]:
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


def read_whole(value: object, where: str, least: int, most: int) -> int:
    """Return `value` if it is an int in the range. Otherwise raise OstinatoError."""
    if type(value) is not int or not least <= value <= most:
        raise OstinatoError(f"{where} {short_repr(value)} is not a whole number from {least:,} to {most:,}")
    return value


def read_truth(value: object, where: str) -> bool:
    """Return `value` if it is a bool. Otherwise raise OstinatoError."""
    if not isinstance(value, bool):
        raise OstinatoError(f"{where} {short_repr(value)} is neither True nor False")
    return value


def read_object(value: object, where: str) -> Mapping[str, Any]:
    """Return `value` if it is a mapping that JSON can represent. Otherwise raise OstinatoError."""
    if not isinstance(value, Mapping):
        raise OstinatoError(f"{where} {short_repr(value)} is not an object")
    to_json(dict(value), where)
    return value


def _expiry(value: Any, where: str) -> Micros:
    length = read_length(value, where)
    if not 0 < length <= 90 * DAY:
        raise OstinatoError(f"{where} {short_repr(value)} is not between 0 and 90 days")
    return length


def _percent(value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 100:
        raise OstinatoError(f"{where} {short_repr(value)} is not a number of per cent from 0 to less than 100")
    return float(value)


def _active_flow(value: object, where: str) -> str:
    if value not in ON_ACTIVE_FLOW:
        raise OstinatoError(f"{where} {short_repr(value)} is none of {', '.join(ON_ACTIVE_FLOW)}")
    return str(value)


_READ: Mapping[str, Any] = {
    "max_recipients": lambda value, where: read_whole(value, where, 1, 10_000_000),
    "confirmed": read_truth,
    "in_flight": lambda value, where: read_whole(value, where, 1, MOST_IN_FLIGHT),
    "rate": read_rate,
    "quiet_hours": read_quiet_hours,
    "local_time": read_clock,
    "frequency_cap": _read_cap,
    "cancel_on_reply": read_truth,
    "require_opt_in": read_truth,
    "expires_after": _expiry,
    "holdout": _percent,
    "variants": _read_variants,
    "on_active_flow": _active_flow,
}
_NULLABLE = ("rate", "quiet_hours", "local_time", "frequency_cap")
