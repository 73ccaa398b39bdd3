"""Run the task `schedule:v1`. It creates or renews a binding: a schedule that starts this journey at a given state. One
transaction writes the binding and advances the instance that runs the task."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from ostinato.errors import OstinatoError, did_you_mean, short_json
from ostinato.journeys.bindings import BindingRequest
from ostinato.journeys.expressions.contract import Failure
from ostinato.journeys.language import Definition, Expression
from ostinato.journeys.language.shapes import key, mapped, one_of, or_mapped, text, whole
from ostinato.journeys.settings import JourneySettings
from ostinato.journeys.task_kind import Fault, TaskCall, TaskProblem, TaskResult
from ostinato.journeys.tasks.read_settings import check_settings, read_settings
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


class InvalidSetting(Exception):
    """Raised if the value of a setting cannot be used. `code` and `detail` go into the task's problem."""

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
        return check_settings(ScheduleSettings, settings, lambda found: self._faults(found, definition))

    def _faults(self, settings: ScheduleSettings, definition: Definition) -> Iterator[Fault]:
        if definition.is_api:
            yield Fault("schedule-api", (), "an API cannot schedule runs of itself", "make it a Journey")
        if settings.start not in definition.spec.states:
            hint = did_you_mean(settings.start, definition.spec.states)
            message, needs = f"{settings.start!r} is not a state of the journey itself", ("spec", "states")
            yield Fault("schedule-start", ("start",), message, hint, needs=needs)
        try:
            if isinstance(settings.interval, str):
                self._read_interval(settings.interval)
        except InvalidSetting as wrong:
            yield Fault("schedule-interval", ("interval",), wrong.detail, "write an ISO 8601 duration such as P1D")
        try:
            if isinstance(settings.start_at, str):
                _read_start_at(settings.start_at)
        except InvalidSetting as wrong:
            yield Fault("schedule-start-at", ("startAt",), wrong.detail, "write 2026-12-31T23:59:00Z")

    async def run(self, call: TaskCall) -> TaskResult | TaskProblem:
        settings = read_settings(ScheduleSettings, call.settings)
        try:
            request = BindingRequest(
                id=call.key.replace(":", "-"),
                definition=call.definition,
                start=settings.start,
                start_at=None if settings.start_at is None else _read_start_at(await _value(call, settings.start_at)),
                period=str(self._read_interval(await _value(call, settings.interval))),
                max_runs=_read_max_runs(await _value(call, settings.max_runs)),
                subject=_read_subject(settings.subject, await _value(call, settings.subject)),
                context=_read_context(call, settings.context, await _value(call, settings.context)),
                on_existing=settings.on_existing,
                limits=self.settings.limits,
            )
        except InvalidSetting as wrong:
            return TaskProblem(wrong.code, "The schedule cannot be made", wrong.detail)
        return TaskResult(call.context, (request,))

    def _read_interval(self, value: Json) -> Duration:
        if not isinstance(value, str) or not value.startswith("P"):
            raise InvalidSetting(INTERVAL, f"the interval {short_json(value)} is not an ISO 8601 duration")
        try:
            interval = parse_duration(value, "interval")
        except TooLong as problem:
            raise InvalidSetting(INTERVAL, f"the {problem}") from None
        except OstinatoError:
            raise InvalidSetting(INTERVAL, f"the interval {short_json(value)} is not an ISO 8601 duration") from None
        least = self.settings.limits.min_interval_s
        if interval.months * _MONTH + interval.exact < least * SECOND:
            raise InvalidSetting(
                INTERVAL, f"the interval {short_json(value)} is shorter than {least} s, which is the least"
            )
        return interval


async def _value(call: TaskCall, setting: Json | Expression) -> Json:
    if not isinstance(setting, Expression):
        return setting
    outcome = await call.evaluate(setting)
    if isinstance(outcome, Failure):
        raise InvalidSetting(EXPRESSION, f"{outcome.code}: {outcome.message}")
    return outcome.value


def _read_start_at(value: Json) -> Micros:
    """Return the time of the first run. Raise `InvalidSetting` if the value is not a time. Null is refused, too: it may
    come from a misspelt path, so it must not mean "start at once"."""
    if value is None:
        raise InvalidSetting(
            START_AT, "startAt is null, which is not a time of RFC 3339; to begin at once, leave startAt out"
        )
    try:
        start_at = read_instant(value, "startAt")
    except OutOfCalendar:
        start_at = None
    except OstinatoError:
        raise InvalidSetting(START_AT, f"startAt {short_json(value)} is not a time of RFC 3339") from None
    if start_at is None or not FIRST_MOMENT <= start_at <= LAST_MOMENT:
        raise InvalidSetting(START_AT, f"startAt {short_json(value)} lies outside the years 2 to 9998")
    return start_at


def _read_max_runs(value: Json) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= _MOST_RUNS:
        raise InvalidSetting(MAX_RUNS, f"maxRuns {short_json(value)} is not a whole number from 1 to {_MOST_RUNS:,}")
    return value


def _read_subject(asked: Expression | None, value: Json) -> str | None:
    if asked is None:
        return None
    if not isinstance(value, str) or not 0 < len(value) <= _SUBJECT or "\x00" in value:
        raise InvalidSetting(SUBJECT, f"subjectId is not a text of 1 to {_SUBJECT} characters")
    return value


def _read_context(call: TaskCall, asked: Expression | None, value: Json) -> Mapping[str, Json]:
    if asked is None:
        return call.context
    if not isinstance(value, Mapping):
        raise InvalidSetting(CONTEXT, "the context is not an object")
    return value
