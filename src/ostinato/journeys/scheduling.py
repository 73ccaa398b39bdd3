"""`schedule:v1`: a task that schedules runs of its own journey from a state on. It works out what is wanted; the
binding itself is made in the transaction that moves the run on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from ostinato.errors import OstinatoError, did_you_mean
from ostinato.errors import shown_json as shown
from ostinato.journeys.bindings import Wanted
from ostinato.journeys.expressions.contract import Failure
from ostinato.journeys.language import Definition, Expression
from ostinato.journeys.language.shapes import key, mapped, one_of, or_mapped, text, whole
from ostinato.journeys.plugins import Fault, Problem, Result, TaskCall
from ostinato.journeys.settings import JourneySettings
from ostinato.journeys.tasks.reading import faults_in, settings_of
from ostinato.model import Json
from ostinato.when import Duration, parse_duration
from ostinato.when.durations import DAY, TooLong
from ostinato.when.instants import FIRST_MOMENT, LAST_MOMENT, SECOND, Micros, OutOfCalendar, read_instant

INTERVAL = "SCHEDULE_INVALID_INTERVAL"
START_AT = "SCHEDULE_INVALID_START_AT"
MAX_RUNS = "SCHEDULE_INVALID_MAX_RUNS"
SUBJECT = "SCHEDULE_INVALID_SUBJECT"
CONTEXT = "SCHEDULE_INVALID_CONTEXT"
EXPRESSION = "SCHEDULE_EXPRESSION_FAILED"
_SUBJECT = 256
_MOST_RUNS = 1_000_000_000
_MONTH = 28 * DAY  # the shortest


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleSettings:
    start: str = key("start", text())
    start_at: str | Expression | None = key("startAt", or_mapped(text()), None)
    interval: str | Expression = key("interval", or_mapped(text()))
    max_runs: int | Expression = key("maxRuns", or_mapped(whole(1, _MOST_RUNS)))
    subject: Expression | None = key("subjectId", mapped, None)
    context: Expression | None = key("context", mapped, None)
    on_existing: str = key("onExisting", one_of("fail", "upsert", "addAnother"), "fail")


class Wrong(Exception):
    """A value that cannot be what it is to be."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail


@dataclass(slots=True)
class ScheduleTask:
    settings: JourneySettings = field(default_factory=JourneySettings)
    name: str = "schedule"
    major: int = 1

    def check(self, settings: Mapping[str, Json], definition: Definition) -> Iterable[Fault]:
        return faults_in(ScheduleSettings, settings, lambda found: self._faults(found, definition))

    def _faults(self, found: ScheduleSettings, definition: Definition) -> Iterator[Fault]:
        if definition.is_api:
            yield Fault("schedule-api", (), "an API cannot schedule runs of itself", "make it a Journey")
        if found.start not in definition.spec.states:
            hint = did_you_mean(found.start, definition.spec.states)
            message, needs = f"{found.start!r} is not a state of the journey itself", ("spec", "states")
            yield Fault("schedule-start", ("start",), message, hint, needs=needs)
        try:
            if isinstance(found.interval, str):
                self._interval(found.interval)
        except Wrong as wrong:
            yield Fault("schedule-interval", ("interval",), wrong.detail, "write an ISO 8601 duration such as P1D")
        try:
            if isinstance(found.start_at, str):
                _moment(found.start_at)
        except Wrong as wrong:
            yield Fault("schedule-start-at", ("startAt",), wrong.detail, "write 2026-12-31T23:59:00Z")

    async def run(self, call: TaskCall) -> Result | Problem:
        settings = settings_of(ScheduleSettings, call.settings)
        try:
            wanted = Wanted(
                id=call.key.replace(":", "-"),
                definition=call.definition,
                start=settings.start,
                start_at=None if settings.start_at is None else _moment(await _value(call, settings.start_at)),
                period=str(self._interval(await _value(call, settings.interval))),
                max_runs=_count(await _value(call, settings.max_runs)),
                subject=_subject(settings.subject, await _value(call, settings.subject)),
                context=_context(call, settings.context, await _value(call, settings.context)),
                on_existing=settings.on_existing,
                limits=self.settings.limits,
            )
        except Wrong as wrong:
            return Problem(wrong.code, "The schedule cannot be made", wrong.detail)
        return Result(call.context, (wanted,))

    def _interval(self, value: Json) -> Duration:
        if not isinstance(value, str) or not value.startswith("P"):
            raise Wrong(INTERVAL, f"the interval {shown(value)} is not an ISO 8601 duration")
        try:
            found = parse_duration(value, "interval")
        except TooLong as problem:
            raise Wrong(INTERVAL, f"the {problem}") from None
        except OstinatoError:
            raise Wrong(INTERVAL, f"the interval {shown(value)} is not an ISO 8601 duration") from None
        least = self.settings.limits.min_interval_s
        if found.months * _MONTH + found.exact < least * SECOND:
            raise Wrong(INTERVAL, f"the interval {shown(value)} is shorter than {least} s, which is the least")
        return found


async def _value(call: TaskCall, given: Json | Expression) -> Json:
    if not isinstance(given, Expression):
        return given
    found = await call.evaluate(given)
    if isinstance(found, Failure):
        raise Wrong(EXPRESSION, f"{found.code}: {found.message}")
    return found.value


def _moment(value: Json) -> Micros:
    """A value that is missing is no time: a misspelt path must not start payments now."""
    if value is None:
        raise Wrong(START_AT, "startAt is null, which is not a time of RFC 3339; to begin at once, leave startAt out")
    try:
        found = read_instant(value, "startAt")
    except OutOfCalendar:
        found = None
    except OstinatoError:
        raise Wrong(START_AT, f"startAt {shown(value)} is not a time of RFC 3339") from None
    if found is None or not FIRST_MOMENT <= found <= LAST_MOMENT:
        raise Wrong(START_AT, f"startAt {shown(value)} lies outside the years 2 to 9998")
    return found


def _count(value: Json) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= _MOST_RUNS:
        raise Wrong(MAX_RUNS, f"maxRuns {shown(value)} is not a whole number from 1 to {_MOST_RUNS:,}")
    return value


def _subject(asked: Expression | None, value: Json) -> str | None:
    if asked is None:
        return None
    if not isinstance(value, str) or not 0 < len(value) <= _SUBJECT or "\x00" in value:
        raise Wrong(SUBJECT, f"subjectId is not a text of 1 to {_SUBJECT} characters")
    return value


def _context(call: TaskCall, asked: Expression | None, value: Json) -> Mapping[str, Json]:
    if asked is None:
        return call.context
    if not isinstance(value, Mapping):
        raise Wrong(CONTEXT, "the context is not an object")
    return value
