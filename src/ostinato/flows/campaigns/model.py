"""Values of campaigns: the options that a caller may set, the rows, and the decisions about one recipient that need no
store."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ostinato.engine.context import to_json
from ostinato.errors import OstinatoError, check_text, did_you_mean, short_repr
from ostinato.flows.errors import DefinitionError
from ostinato.flows.model import MOST_METADATA, ON_ACTIVE_FLOW, OnActiveFlow, Outcome
from ostinato.flows.segments import Segment, check_segment
from ostinato.model import read_length
from ostinato.when import zones
from ostinato.when.instants import SECOND, Micros, read_instant

CAMPAIGN_FUNCTION = "agent-campaign"  # the durable function that runs a campaign
CONTROL = "campaign"  # the name of the message that wakes a campaign whose status has changed
KEY = "campaign/"  # begins the keys of turns that campaigns start; the id of the campaign follows
PRIORITY = -10  # of sessions that campaigns open: lower than for messages and for schedules of one user
MOST_RECIPIENTS = 10_000  # the default of `max_recipients`
MOST_IN_FLIGHT = 1_000
MOST_VARIANTS = 8
HOLDOUT = "holdout"
_IN_FLIGHT = 50
_BURST = SECOND // 5  # after a delay, a throttled campaign may catch up by at most a fifth of a second
_RATE = re.compile(r"(?P<count>\d{1,7})/(?P<unit>s|m|h|d)")
_UNITS = {"s": SECOND, "m": 60 * SECOND, "h": 3_600 * SECOND, "d": 86_400 * SECOND}
_CLOCK = re.compile(r"(?P<hour>[01]\d|2[0-3]):(?P<minute>[0-5]\d)")

STATUSES = ("resolving", "sending", "paused", "stopping", "stopped", "done")
OVER = ("stopped", "done")  # statuses of campaigns that have ended
UNKNOWN = ("delivery_unknown", "campaign_lost")  # reasons of recipients who may have been messaged

# Why a recipient was not messaged, for `explain`.
REASONS: Mapping[str, str] = {
    "holdout": "they are in the holdout group, which gets no message",
    "unknown_user": "the agent has no such user",
    "opted_out": "they have opted out",
    "no_consent": "the campaign requires an opt-in, and they have not opted in",
    "suppressed": "they are on the suppression list",
    "replied": "they have written since the campaign began, and it is canceled by a reply",
    "frequency_cap": "they have had as many messages of campaigns as the frequency cap allows",
    "expired": "their time did not come before the campaign expired",
    "bootstrap_disabled": "they had no active session, and the campaign must not open one",
    "flow_active": "a flow was waiting for their answer",
    "campaign_stopped": "the campaign was stopped before their turn",
    "policy_end": "the hook before_llm has ended the turn",
    "policy_cancel": "the hook before_response has canceled the message",
    "local_time": "it is not yet the campaign's local_time where they are",
    "quiet_hours": "it is night where they are; their turn comes when quiet hours are over",
    "delivery_failed": "the transport did not deliver the message",
    "campaign_lost": "their turn was going on when the run of the campaign was stopped",
    "delivery_unknown": "nobody knows whether the message was delivered; it is not sent again",
}


@dataclass(frozen=True, slots=True)
class Rate:
    """A limit of `count` messages in each period of length `per`, evenly spaced.

    The caller stores the state of the limit as one time, `arrival`: the nominal time of the last message. The next
    message may be sent one interval later.
    """

    count: int
    per: Micros

    @property
    def interval(self) -> Micros:
        return max(1, self.per // self.count)

    def _from(self, arrival: Micros, now: Micros) -> Micros:
        return max(arrival, now - max(self.interval, _BURST))

    def room(self, arrival: Micros, now: Micros) -> int:
        """Return how many messages may be sent now."""
        return max(0, (now - self._from(arrival, now)) // self.interval)

    def take(self, arrival: Micros, now: Micros, count: int) -> Micros:
        """Return the new `arrival` after `count` messages were sent."""
        return self._from(arrival, now) + count * self.interval

    def next(self, arrival: Micros, now: Micros) -> Micros:
        """Return when one more message may be sent."""
        return self._from(arrival, now) + self.interval

    def __str__(self) -> str:
        return f"{self.count}/{next(unit for unit, length in _UNITS.items() if length == self.per)}"


@dataclass(frozen=True, slots=True)
class QuietHours:
    """A part of the day, in the recipient's zone, in which nothing is sent. `begin` and `end` are minutes after
    midnight. If `begin` is greater than `end`, the quiet hours include midnight."""

    begin: int
    end: int

    def until(self, now: Micros, zone: zones.Zone) -> Micros | None:
        """Return when the quiet hours end, or None if `now` is not within them."""
        second = now // SECOND
        wall = second + zone.offset(second)
        minute = wall % 86_400 // 60
        inside = self.begin <= minute < self.end if self.begin < self.end else minute >= self.begin or minute < self.end
        if not inside:
            return None
        return next_clock(now, self.end, zone)

    def as_json(self) -> dict[str, str]:
        return {"from": show_clock(self.begin), "to": show_clock(self.end)}


def next_clock(now: Micros, minute: int, zone: zones.Zone) -> Micros:
    """Return the first instant at or after `now` at which clocks of the zone show `minute`, in minutes after midnight.
    If daylight saving skips that time of day, use the first instant after the gap."""
    second = -(-now // SECOND)
    wall = second + zone.offset(second)
    midnight = wall - wall % 86_400
    for day in range(3):
        instant = zone.first_at_or_past(midnight + day * 86_400 + minute * 60) * SECOND
        if instant >= now:
            return instant
    raise AssertionError("a day has every minute")


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
    expires_after: Micros = 7 * _UNITS["d"]
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


def read_rate(value: object, where: str) -> Rate:
    match = _RATE.fullmatch(value) if isinstance(value, str) else None
    if match is None or not int(match["count"]):
        raise OstinatoError(f"{where} {short_repr(value)} is not a rate such as '20/s', '600/m' or '1000/h'")
    return Rate(int(match["count"]), _UNITS[match["unit"]])


def read_clock(value: object, where: str) -> int:
    """Return the minutes after midnight of a time of day such as `"22:00"`. Raises OstinatoError if `value` is not a
    time of day."""
    match = _CLOCK.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise OstinatoError(f"{where} {short_repr(value)} is not a time of day such as '22:00'")
    return int(match["hour"]) * 60 + int(match["minute"])


def show_clock(minute: int) -> str:
    return f"{minute // 60:02}:{minute % 60:02}"


def _read_quiet(value: object, where: str) -> QuietHours:
    if not isinstance(value, Mapping) or set(value) != {"from", "to"}:
        raise OstinatoError(f'{where} {short_repr(value)} is not {{"from": "22:00", "to": "08:00"}}')
    begin, end = read_clock(value["from"], f"{where}.from"), read_clock(value["to"], f"{where}.to")
    if begin == end:
        raise OstinatoError(f"{where}: from and to are both {value['to']!r}, so nothing could ever be sent")
    return QuietHours(begin, end)


def _read_cap(value: object, where: str) -> tuple[int, Micros]:
    if not isinstance(value, Mapping) or set(value) != {"messages", "per"}:
        raise OstinatoError(f'{where} {short_repr(value)} is not {{"messages": 2, "per": "7d"}}')
    messages = _whole(value["messages"], f"{where}.messages", 1, 1_000)
    per = read_length(value["per"], f"{where}.per")
    if not 0 < per <= 366 * _UNITS["d"]:
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
            _object(settings["input"], f"{place}.input")
        weight = _whole(settings.get("weight", 1), f"{place}.weight", 1, 1_000)
        variants.append(Variant(name, weight, settings.get("flow"), settings.get("input")))
    return tuple(variants)


def _whole(value: object, where: str, least: int, most: int) -> int:
    if type(value) is not int or not least <= value <= most:
        raise OstinatoError(f"{where} {short_repr(value)} is not a whole number from {least:,} to {most:,}")
    return value


def _truth(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        raise OstinatoError(f"{where} {short_repr(value)} is neither True nor False")
    return value


def _object(value: object, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise OstinatoError(f"{where} {short_repr(value)} is not an object")
    to_json(dict(value), where)
    return value


def _expiry(value: Any, where: str) -> Micros:
    length = read_length(value, where)
    if not 0 < length <= 90 * _UNITS["d"]:
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
    "max_recipients": lambda value, where: _whole(value, where, 1, 10_000_000),
    "confirmed": _truth,
    "in_flight": lambda value, where: _whole(value, where, 1, MOST_IN_FLIGHT),
    "rate": read_rate,
    "quiet_hours": _read_quiet,
    "local_time": read_clock,
    "frequency_cap": _read_cap,
    "cancel_on_reply": _truth,
    "require_opt_in": _truth,
    "expires_after": _expiry,
    "holdout": _percent,
    "variants": _read_variants,
    "on_active_flow": _active_flow,
}
_NULLABLE = ("rate", "quiet_hours", "local_time", "frequency_cap")


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


# The settings that an agent may have for all of its campaigns. The module `consent` reads `_WORDS`.
_DEFAULTS = ("quiet_hours", "frequency_cap", "require_opt_in", "in_flight", "max_recipients")
_WORDS = ("stop_words", "start_words", "stop_reply", "start_reply")
STOP_WORDS = ("stop", "stopall", "stop all", "unsubscribe", "opt out", "optout", "sair", "parar", "descadastrar")
START_WORDS = ("start", "unstop", "subscribe", "opt in", "optin", "voltar")


def check_defaults(value: Mapping[str, Any], where: str) -> None:
    """Raise OstinatoError if a setting that an agent has for all of its campaigns is unknown or invalid."""
    if not isinstance(value, Mapping):
        raise OstinatoError(f"{where} {short_repr(value)} is not an object")
    for name, setting in value.items():
        if name in _DEFAULTS:
            read_options({name: setting}, where)
        elif name == "rate":
            read_rate(setting, f"{where}.rate")
        elif name in ("stop_words", "start_words"):
            if isinstance(setting, str) or not all(isinstance(word, str) and word.strip() for word in setting):
                raise OstinatoError(f"{where}.{name} {short_repr(setting)} is not a list of words")
        elif name in ("stop_reply", "start_reply"):
            check_text(setting, f"{where}.{name}")
        else:
            names = (*_DEFAULTS, "rate", *_WORDS)
            hint = did_you_mean(str(name), names) or f"there are {', '.join(names)}"
            raise OstinatoError(f"{where} has no {short_repr(name)}; {hint}")
    starts = {word.casefold() for word in value.get("start_words", START_WORDS)}
    both = [word for word in value.get("stop_words", STOP_WORDS) if word.casefold() in starts]
    if both:
        raise OstinatoError(f"{where}: {both[0]!r} is in both stop_words and start_words, so it could not opt in again")


def with_defaults(options: object, defaults: Mapping[str, Any]) -> object:
    """Return the options of a campaign, completed with the defaults of its agent. An option that the campaign sets to
    None overrides the default. A value that is not a mapping is returned unchanged, because `read_options` refuses
    it."""
    if options is not None and not isinstance(options, Mapping):
        return options
    return {**{name: defaults[name] for name in _DEFAULTS if name in defaults}, **(options or {})}


def check_cap(options: CampaignOptions, keep: Micros | None, where: str) -> None:
    """Raise OstinatoError if the frequency cap needs older campaigns than the agent keeps."""
    if keep is not None and options.frequency_cap is not None and options.frequency_cap[1] > keep:
        raise OstinatoError(
            f"{where}.frequency_cap.per is {options.frequency_cap[1] / _UNITS['d']:g} d, and the agent keeps its "
            f"campaigns for {keep / _UNITS['d']:g} d only, so older ones could not be counted; raise the agent's keep, "
            "or lower the cap's per"
        )


@dataclass(frozen=True, slots=True)
class Definition:
    """What a campaign sends, to which users and how. This is the checked input of the function `agent-campaign`;
    `given` is that input as JSON values."""

    agent: str
    segment: Segment
    flow: str | None = None
    input: Mapping[str, Any] | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    campaign_id: str | None = None
    schedule_id: str | None = None
    scheduled_for: Micros | None = None
    trigger_type: str | None = None
    run_attempt: int | None = None
    allow_session_bootstrap: bool = False
    options: CampaignOptions = field(default_factory=CampaignOptions)
    given: Mapping[str, Any] = field(default_factory=dict)
    segment_id: str = ""

    def occurrence(self, run_id: str) -> str:
        """Return the key that identifies a campaign: its schedule and due time, or its run if it has no schedule."""
        if self.schedule_id is None:
            return f"run/{run_id}"
        return f"schedule/{self.schedule_id}/{self.scheduled_for}"


_NAMES = (
    "agent segment flow input metadata campaign_id schedule_id scheduled_for trigger_type run_attempt "
    "allow_session_bootstrap options"
).split()


def read_definition(value: Mapping[str, Any]) -> Definition:
    """Read the input of the function `agent-campaign`. Raises OstinatoError if a value is unknown or invalid."""
    unknown = sorted(set(value) - set(_NAMES))
    if unknown:
        raise OstinatoError(
            f"a campaign has no {unknown[0]!r}; {did_you_mean(unknown[0], _NAMES) or ', '.join(_NAMES)}"
        )
    check_text(value.get("agent"), "the campaign's agent")
    for name in ("flow", "campaign_id", "schedule_id", "trigger_type"):
        if value.get(name) is not None:
            check_text(value[name], f"the campaign's {name}")
    moment = value.get("scheduled_for")
    if moment is not None and (type(moment) is not int or moment < 0):
        moment = read_instant(moment, "the campaign's scheduled_for")
    if value.get("schedule_id") is not None and moment is None:
        raise OstinatoError("a campaign of a schedule has scheduled_for, the time of the occurrence")
    attempt = value.get("run_attempt")
    if attempt is not None:
        _whole(attempt, "the campaign's run_attempt", 1, 1_000_000)
    for name in ("input", "metadata"):
        if value.get(name) is not None:
            _object(value[name], f"the campaign's {name}")
    metadata = value.get("metadata") or {}
    if len(to_json(dict(metadata), "the campaign's metadata")) > MOST_METADATA:
        words = f"the campaign's metadata have more than {MOST_METADATA:,} bytes"
        raise DefinitionError(words, (("metadata",), words))
    segment = check_segment(value.get("segment"), "the campaign's segment")
    return Definition(
        value["agent"],
        segment,
        value.get("flow"),
        value.get("input"),
        metadata,
        value.get("campaign_id"),
        value.get("schedule_id"),
        moment,
        value.get("trigger_type"),
        attempt,
        _truth(value.get("allow_session_bootstrap", False), "the campaign's allow_session_bootstrap"),
        read_options(value.get("options"), "the campaign's options"),
        {name: value[name] for name in _NAMES if value.get(name) is not None},
        segment.id,
    )


@dataclass(slots=True)
class CampaignRecord:
    """The row of a campaign. `id` is the id of the campaign's run. `status` is one of `STATUSES`. `arrival` is the
    state of the campaign's rate limit (see `Rate`). The audience is resolved with the users that exist at the instant
    `as_of`. `resolution` is the id of the latest attempt to resolve the audience; only this attempt may store
    recipients. `definition` is JSON."""

    id: str
    namespace: str
    agent: str
    occurrence: str
    campaign_id: str | None
    schedule_id: str | None
    scheduled_for: Micros | None
    definition: str
    status: str = "resolving"
    reason: str | None = None
    total: int = 0
    as_of: Micros = 0
    arrival: Micros = 0
    created: Micros = 0
    resolved: Micros | None = None
    finished: Micros | None = None
    outcome: str | None = None
    counts: str = "{}"
    actor: str | None = None
    resolution: str | None = None

    @property
    def over(self) -> bool:
        return self.status in OVER

    @property
    def salt(self) -> str:
        """The text that, together with the user, determines holdout and variant."""
        return self.campaign_id or self.schedule_id or self.id


@dataclass(slots=True)
class RecipientRecord:
    """The row of one recipient of a campaign. `status` is pending, started or done. `due` is when the recipient's turn
    may begin. While the recipient is pending, `reason` says why they wait. `delivered` is the number of messages that
    they got."""

    campaign_id: str
    external_id: str
    namespace: str
    user_id: str | None
    status: str = "pending"
    due: Micros = 0
    variant: str | None = None
    outcome: str | None = None
    reason: str | None = None
    turn_id: str | None = None
    session_id: str | None = None
    started: Micros | None = None
    finished: Micros | None = None
    delivered: int = 0


def aggregate(counts: Mapping[str, int]) -> tuple[Outcome, str | None]:
    """Return the outcome of a campaign and the reason for it. `counts` maps each outcome to the number of recipients
    with it. The reason is `partial` if some recipients succeeded and some failed."""
    if not sum(counts.values()):
        return Outcome.SKIPPED, "empty_segment"
    if counts.get("success"):
        return Outcome.SUCCESS, "partial" if counts.get("failed") else None
    if counts.get("failed"):
        return Outcome.FAILED, "no_recipient_succeeded"
    if counts.get("canceled_hitl") == sum(counts.values()):
        return Outcome.CANCELED_HITL, "hitl"
    return Outcome.SKIPPED, "all_skipped"
