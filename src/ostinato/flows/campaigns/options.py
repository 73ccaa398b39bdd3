"""Read and check the options of a campaign, which say how it is sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ostinato.errors import OstinatoError, did_you_mean, short_repr
from ostinato.flows.campaigns.local_time import QuietHours, read_clock, read_quiet_hours
from ostinato.flows.campaigns.rate import Rate, read_rate
from ostinato.flows.campaigns.variants import Variant, assign_variant, read_variants
from ostinato.flows.model import ON_ACTIVE_FLOW, OnActiveFlow
from ostinato.flows.read_values import read_choice, read_truth, read_whole
from ostinato.model import read_length
from ostinato.when.durations import DAY
from ostinato.when.instants import Micros

MOST_RECIPIENTS = 10_000  # the default of `max_recipients`
MOST_IN_FLIGHT = 1_000
_IN_FLIGHT = 50


@dataclass(frozen=True, slots=True)
class CampaignOptions:
    """The options that say how a campaign is sent.

    - `max_recipients`: the largest number of recipients that is accepted, unless `confirmed` is true
    - `confirmed`: whether any number of recipients is accepted
    - `in_flight`: how many turns may be in progress at once; a turn that began 5 minutes ago or earlier does not count
    - `rate`: how many messages of this campaign are sent in a period, or None, if there is no limit
    - `quiet_hours`: the hours in which no turn begins, in each recipient's zone, or None, if there are none
    - `local_time`: when turns begin, in minutes after midnight in each recipient's zone, or None, if they begin at once
    - `frequency_cap`: (messages, microseconds): how many messages of campaigns one user gets in a period, or None, if
      there is no limit
    - `cancel_on_reply`: whether to skip recipients who send a message after the campaign began and before their turn
    - `require_opt_in`: whether only users who have opted in get a message
    - `expires_after`: the microseconds after which recipients whose turn has not begun are skipped
    - `holdout`: the percentage of recipients who get nothing
    - `variants`: the variants of the campaign; a hash of the user chooses one, according to the weights
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
        """Return the name of the user's variant, `HOLDOUT` for the holdout group, or None if there are no variants."""
        return assign_variant(self.holdout, self.variants, salt, external_id)

    def variant(self, name: str | None) -> Variant | None:
        return next((variant for variant in self.variants if variant.name == name), None)


def read_options(value: object, where: str = "options") -> CampaignOptions:
    """Read the options of a campaign. Raises OstinatoError if an option is unknown or invalid."""
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


def _expiry(value: Any, where: str) -> Micros:
    length = read_length(value, where)
    if not 0 < length <= 90 * DAY:
        raise OstinatoError(f"{where} {short_repr(value)} is not between 0 and 90 days")
    return length


def _percent(value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 100:
        raise OstinatoError(f"{where} {short_repr(value)} is not a number of per cent from 0 to less than 100")
    return float(value)


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
    "variants": read_variants,
    "on_active_flow": lambda value, where: read_choice(value, where, ON_ACTIVE_FLOW),
}
_NULLABLE = ("rate", "quiet_hours", "local_time", "frequency_cap")
