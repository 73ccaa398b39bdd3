"""Read the definition of an agent's schedule, and convert it into a spec and policies. Nothing here uses the store."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from typing import Any

import orjson

from ostinato.engine.context import to_json
from ostinato.errors import OstinatoError, SpecError, check_text, did_you_mean, refuse_nul, short_repr, show_wrong
from ostinato.flows.campaigns.options import read_options
from ostinato.flows.errors import DefinitionError
from ostinato.flows.model import MOST_METADATA, ON_ACTIVE_FLOW
from ostinato.flows.read_values import read_choice, read_truth, read_whole
from ostinato.flows.segments import check_segment
from ostinato.model import MOST
from ostinato.schedules.model import CatchUp, Overlap, Policies
from ostinato.when import Spec, cron, once, zones
from ostinato.when.instants import SECOND, Micros, format_instant, read_datetime, to_datetime
from ostinato.when.local_times import read_moment

FIELDS = (
    "flow",
    "trigger",
    "target",
    "allow_session_bootstrap",
    "on_missed",
    "metadata",
    "input",
    "on_active_flow",
)
EXECUTORS = ("in_process", "external")
RESERVED = ("schedule_id", "scheduled_for", "trigger_type", "run_attempt", "campaign_id", "segment_id", "given")
_GRACE: Micros = 60 * SECOND
_CATCH_UP_AGE = 86_400  # seconds
_BUFFER = 100


@dataclass(frozen=True, slots=True)
class OnMissed:
    """What happens to due times that were missed.

    - `policy`: `skip` runs none of the missed due times, and `catch_up` runs them late
    - `max_runs`: `catch_up` runs at most this many due times, the newest ones
    - `max_age_seconds`: `catch_up` does not run due times that are older than this
    """

    policy: str = "skip"
    max_runs: int | None = None
    max_age_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class SchedulerSettings:
    """The setting `scheduler` of an agent.

    - `executor`: `in_process` or `external`
    - `poll_interval_ms`: sets how late a due time may be processed and still count as on time: three times this
      interval, but at least 60 seconds; the interval has no other effect, because nodes do not poll
    - `claim_ttl_seconds`: how long a claim of `SchedulerStore` lasts; None means 60 seconds

    All agents of an app must agree on these three fields. An agent that leaves a field at None agrees with any value.
    """

    enabled: bool = True
    tz: str | None = None
    executor: str | None = None
    poll_interval_ms: int | None = None
    claim_ttl_seconds: int | None = None
    max_concurrent_runs: int | None = None
    default_on_missed: OnMissed = field(default_factory=OnMissed)

    @property
    def grace(self) -> Micros:
        """How late a due time may be processed and still count as on time, in microseconds."""
        return max(_GRACE, 3 * 1000 * (self.poll_interval_ms or 0))

    def as_json(self) -> dict[str, Any]:
        """Return the settings in the form that `read_scheduler` reads."""
        return asdict(self)

    @property
    def digest(self) -> str:
        """A text that contains the settings that affect stored schedules. Each schedule is stored with this text. If
        the stored text is not the present one, the schedule must be updated."""
        return f"{orjson.dumps(asdict(self.default_on_missed)).decode()} {self.grace} {self.max_concurrent_runs}"


@dataclass(frozen=True, slots=True)
class AgentScheduleDefinition:
    """A checked definition of an agent's schedule. `target` is a mapping such as
    `{"kind": "user", "user_external_id": …}`."""

    flow: str
    trigger_type: str
    cron_expr: str | None
    run_at: Micros | None
    target: Mapping[str, Any]
    allow_session_bootstrap: bool
    on_missed: OnMissed | None
    metadata: Mapping[str, Any]
    input: Mapping[str, Any] | None
    on_active_flow: str

    @property
    def target_kind(self) -> str:
        return str(self.target["kind"])

    @property
    def user(self) -> str | None:
        user: str | None = self.target.get("user_external_id")
        return user

    def as_json(self) -> dict[str, Any]:
        """Return the definition in the form that `read_definition` reads."""
        trigger: dict[str, Any] = {"type": self.trigger_type}
        if self.run_at is not None:
            trigger["run_at"] = format_instant(self.run_at)
        else:
            trigger["expr"] = self.cron_expr
        return {
            "flow": self.flow,
            "trigger": trigger,
            "target": dict(self.target),
            "allow_session_bootstrap": self.allow_session_bootstrap,
            "on_missed": None if self.on_missed is None else asdict(self.on_missed),
            "metadata": dict(self.metadata),
            "input": None if self.input is None else dict(self.input),
            "on_active_flow": self.on_active_flow,
        }

    def spec(self, zone: str) -> Spec:
        if self.run_at is not None:
            return once(format_instant(self.run_at), tz=zone)
        return cron(self.cron_expr or "", tz=zone)

    def missed(self, settings: SchedulerSettings) -> OnMissed:
        """Return the definition's policy for missed due times, or the default from `settings` if the definition has
        none. A `catch_up` policy without limits gets default limits."""
        missed = self.on_missed or settings.default_on_missed
        if missed.policy == "catch_up" and missed.max_runs is None and missed.max_age_seconds is None:
            return OnMissed("catch_up", 1, _CATCH_UP_AGE)
        return missed

    def policies(self, settings: SchedulerSettings) -> Policies:
        """Return the engine's policies for overlaps and missed due times."""
        missed, grace = self.missed(settings), settings.grace
        if missed.policy == "skip":
            return Policies(Overlap.SKIP, CatchUp("all", window=grace))
        age = None if missed.max_age_seconds is None else max(grace, missed.max_age_seconds * SECOND)
        catchup = CatchUp("all", window=age, most=missed.max_runs)
        return Policies(Overlap.BUFFER_ALL, catchup, max_buffer=missed.max_runs or _BUFFER)

    def covers(self, run_at: Micros, now: Micros, settings: SchedulerSettings) -> bool:
        """Return whether an occurrence that was due at `run_at` would still run at the time `now`."""
        missed = self.missed(settings)
        if missed.policy == "skip":
            return now - run_at <= settings.grace
        return missed.max_age_seconds is None or now - run_at <= max(settings.grace, missed.max_age_seconds * SECOND)

    def digest(self, zone: str, settings: SchedulerSettings) -> str:
        """Return a hash of the definition, the zone and the settings. Equal hashes mean equal schedules."""
        whole = [self.as_json(), zone, settings.digest]
        return hashlib.sha256(orjson.dumps(whole, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _check_fields(document: object, fields: tuple[str, ...], place: str) -> Mapping[str, Any]:
    """Return `document` if it is an object that has only these fields. Otherwise raise OstinatoError."""
    if not isinstance(document, Mapping):
        raise OstinatoError(f"{place} {short_repr(document)} is not an object with {', '.join(fields)}")
    for name in document:
        if name not in fields:
            hint = did_you_mean(str(name), fields) or f"there is {', '.join(fields)}"
            raise OstinatoError(f"{place} has no {short_repr(name)}; {hint}")
    return document


def _text(value: object, place: str, most: int = 200) -> str:
    if value is None:
        raise OstinatoError(f"{place} is missing")
    check_text(value, place, most)
    return str(value)


def read_on_missed(document: object, place: str) -> OnMissed:
    parts = _check_fields(document, ("policy", "max_runs", "max_age_seconds"), place)
    policy = parts.get("policy")
    if policy not in ("skip", "catch_up"):
        raise OstinatoError(f"{place}.policy {short_repr(policy)} is neither 'skip' nor 'catch_up'")
    bounds = {name: parts[name] for name in ("max_runs", "max_age_seconds") if parts.get(name) is not None}
    if policy == "skip" and bounds:
        raise OstinatoError(f"{place}.{next(iter(bounds))} is for the policy 'catch_up'; 'skip' runs nothing")
    numbers = {name: read_whole(value, f"{place}.{name}", 1, 100_000_000) for name, value in bounds.items()}
    return OnMissed(policy, numbers.get("max_runs"), numbers.get("max_age_seconds"))


def read_trigger(document: object, zone: str, place: str) -> tuple[str, str | None, Micros | None]:
    """Read a trigger. Return `("cron", expression, None)` or `("once", None, instant)`. A `run_at` without an offset is
    a local time in `zone`."""
    parts = _check_fields(document, ("type", "expr", "run_at"), place)
    kind = parts.get("type")
    if kind not in ("cron", "once"):
        raise OstinatoError(
            f"{place}.type {short_repr(kind)} is neither 'cron' nor 'once'; write "
            "{'type': 'cron', 'expr': '0 9 * * *'} or {'type': 'once', 'run_at': '2026-03-01T09:00'}"
        )
    other, wanted = ("run_at", "expr") if kind == "cron" else ("expr", "run_at")
    if parts.get(other) is not None:
        raise OstinatoError(f"{place} of type {kind!r} has no {other!r}")
    if parts.get(wanted) is None:
        raise OstinatoError(f"{place} of type {kind!r} needs {wanted!r}")
    if kind == "cron":
        return kind, read_expr(parts["expr"], zone, f"{place}.expr"), None
    return kind, None, read_run_at(parts["run_at"], zone, f"{place}.run_at")


def read_expr(value: object, zone: str, place: str) -> str:
    """Return a cron expression with normalized spaces. Raises OstinatoError if the expression does not have exactly
    five fields, is invalid, or never has a due time."""
    expr = " ".join(_text(value, place).split())
    if len(expr.split()) != 5:
        raise OstinatoError(
            f"{place} {short_repr(expr)} has {len(expr.split())} fields; a cron line has five: minute, hour, "
            "day, month, weekday"
        )
    try:
        spec = cron(expr, tz=zone)
        spec.check()
    except OstinatoError as problem:
        raise OstinatoError(f"{place} {short_repr(expr)}: {problem}") from None
    if spec.compiled.next(0) is None:
        raise OstinatoError(f"{place} {short_repr(expr)} has no times")
    return expr


def read_run_at(value: object, zone: str, place: str) -> Micros:
    """Convert a time such as `"2026-03-01T09:00"` into an instant. A time without an offset is a local time in `zone`.
    Raises OstinatoError if `value` is not a time, or if schedules do not support its year."""
    if not isinstance(value, str | datetime):
        raise OstinatoError(f"{place} {short_repr(value)} is not a time such as '2026-03-01T09:00'")
    moment = read_datetime(value, place)
    if zones.FIRST_YEAR <= moment.year <= zones.LAST_YEAR:  # times of other years may exceed the calendar in UTC
        try:
            instant = read_moment(moment, zones.zone(zone), place)
        except SpecError as problem:  # its place is one in a spec
            raise DefinitionError(str(problem), (("trigger", "run_at"), str(problem))) from None
        if zones.FIRST_YEAR <= to_datetime(instant).year <= zones.LAST_YEAR:
            return instant
    raise SpecError(
        f"{place} {moment.isoformat()} is not in the years {zones.FIRST_YEAR} to {zones.LAST_YEAR} in UTC",
        field=place,
        value=moment.isoformat(),
        hint="check the year",
    )


def read_target(document: object, place: str) -> dict[str, Any]:
    if not isinstance(document, Mapping) or document.get("kind") not in ("user", "segment"):
        raise OstinatoError(
            f"{place} {short_repr(document)} is neither {{'kind': 'user', 'user_external_id': …}} nor "
            "{'kind': 'segment', 'segment': {…}}"
        )
    if document["kind"] == "user":
        parts = _check_fields(document, ("kind", "user_external_id", "session_id"), place)
        target: dict[str, Any] = {"kind": "user"}
        target["user_external_id"] = _text(parts.get("user_external_id"), f"{place}.user_external_id")
        if parts.get("session_id") is not None:
            target["session_id"] = _text(parts["session_id"], f"{place}.session_id")
        return target
    parts = _check_fields(document, ("kind", "segment", "campaign_id", "options"), place)
    segment = parts.get("segment")
    if not isinstance(segment, Mapping):
        raise OstinatoError(f"{place}.segment {short_repr(segment)} is not an object such as {{'type': 'all'}}")
    check_segment(segment, f"{place}.segment")
    target = {"kind": "segment", "segment": dict(segment)}
    if parts.get("campaign_id") is not None:
        target["campaign_id"] = _text(parts["campaign_id"], f"{place}.campaign_id")
    if parts.get("options") is not None:
        if not isinstance(parts["options"], Mapping):
            raise OstinatoError(f"{place}.options {short_repr(parts['options'])} is not an object")
        read_options(parts["options"], f"{place}.options")
        target["options"] = dict(parts["options"])
    return target


def read_metadata(document: object, place: str) -> dict[str, Any]:
    if document is None:
        return {}
    if not isinstance(document, Mapping) or not all(isinstance(name, str) for name in document):
        raise OstinatoError(f"{place}{show_wrong(document)} is not an object with names")
    for name in document:
        if name in RESERVED:
            raise OstinatoError(f"{place} cannot have {name!r}: Ostinato writes it into every scheduled turn")
    refuse_nul(dict(document), place)
    size = len(to_json(dict(document), place))
    if size > MOST_METADATA:
        raise OstinatoError(f"{place} has {size:,} bytes; at most {MOST_METADATA:,} are taken")
    return dict(document)


def read_definition(
    document: object, zone: str, place: str = "the schedule", *, bootstrap: bool = False
) -> AgentScheduleDefinition:
    """Read a definition. If the document does not set `allow_session_bootstrap`, its value is `bootstrap`. Raises
    OstinatoError at the first mistake. The message names the place of the mistake."""
    parts = _check_fields(document, FIELDS, place)
    kind, expr, run_at = read_trigger(parts.get("trigger"), zone, f"{place}.trigger")
    allowed = parts.get("allow_session_bootstrap")
    if allowed is not None and not isinstance(allowed, bool):
        raise OstinatoError(f"{place}.allow_session_bootstrap {short_repr(allowed)} is neither true nor false")
    during = read_choice(parts.get("on_active_flow") or "skip", f"{place}.on_active_flow", ON_ACTIVE_FLOW)
    input = parts.get("input")
    if input is not None:
        if not isinstance(input, Mapping):
            raise OstinatoError(f"{place}.input{show_wrong(input)} is not an object with names")
        refuse_nul(dict(input), f"{place}.input")
        to_json(dict(input), f"{place}.input")
    missed = parts.get("on_missed")
    return AgentScheduleDefinition(
        _text(parts.get("flow"), f"{place}.flow"),
        kind,
        expr,
        run_at,
        read_target(parts.get("target"), f"{place}.target"),
        bootstrap if allowed is None else allowed,
        None if missed is None else read_on_missed(missed, f"{place}.on_missed"),
        read_metadata(parts.get("metadata"), f"{place}.metadata"),
        None if input is None else dict(input),
        during,
    )


def patched(
    definition: AgentScheduleDefinition, patch: Mapping[str, Any], zone: str, place: str
) -> AgentScheduleDefinition:
    """Return a copy of a definition, with the values of `patch` in place of the old ones. Raises OstinatoError if the
    patch is empty or invalid."""
    _check_fields(patch, FIELDS, place)
    if not patch:
        raise OstinatoError(f"{place}: an update changes nothing; give {', '.join(FIELDS)}")
    return read_definition({**definition.as_json(), **patch}, zone, place)


def read_scheduler(document: object, place: str) -> SchedulerSettings:
    """Read the setting `scheduler` of an agent. Raises OstinatoError if it is invalid."""
    if isinstance(document, SchedulerSettings):
        return document
    parts = _check_fields(document, tuple(field.name for field in fields(SchedulerSettings)), place)
    enabled = read_truth(parts.get("enabled", True), f"{place}.enabled")
    executor = parts.get("executor")
    if executor is not None:
        read_choice(executor, f"{place}.executor", EXECUTORS)
    tz = parts.get("tz")
    if tz is not None:
        check_text(tz, f"{place}.tz")
        zones.zone(tz, f"{place}.tz")
    numbers = {
        name: None if parts.get(name) is None else read_whole(parts[name], f"{place}.{name}", 1, MOST)
        for name in ("poll_interval_ms", "claim_ttl_seconds", "max_concurrent_runs")
    }
    missed = parts.get("default_on_missed")
    return SchedulerSettings(
        enabled,
        tz,
        executor,
        **numbers,
        default_on_missed=OnMissed() if missed is None else read_on_missed(missed, f"{place}.default_on_missed"),
    )
