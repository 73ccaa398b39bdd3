"""Rules about what waits: for people, for other systems, for time."""

from __future__ import annotations

from collections.abc import Iterator

from ostinato.errors import SpecError
from ostinato.errors import shown_json as shown
from ostinato.journeys.checks.rules import Checking, Finding, Rule
from ostinato.journeys.language import targets
from ostinato.journeys.language.states import Timer, Wait, Webhook
from ostinato.journeys.problems import Severity
from ostinato.when.durations import DAY, TooLong, parse_duration
from ostinato.when.instants import SECOND, Micros, OutOfCalendar, read_instant

EXTERNAL = (Wait, Webhook)
RESERVED = "cancel"


def timeout_has_a_way(checking: Checking) -> Iterator[Finding]:
    """A timeout and where it leads stand together."""
    for graph, id, state in checking.definition.states():
        if isinstance(state, Wait | Webhook):
            external, here = state.external, (*graph.at(id), state.type)
            if external.timeout_s is not None and external.on_timeout is None:
                yield Finding((*here, "timeoutSec"), "it may time out, and 'onTimeout' is missing", "add onTimeout: …")
            if external.on_timeout is not None and external.timeout_s is None:
                yield Finding((*here, "onTimeout"), "it never times out: 'timeoutSec' is missing", "add timeoutSec: …")


def step_is_not_cancel(checking: Checking) -> Iterator[Finding]:
    """`cancel` is the step that every journey has."""
    for graph, id, state in checking.definition.states():
        if isinstance(state, Wait | Webhook) and id == RESERVED:
            yield Finding(graph.at(id), "'cancel' is the step that cancels a journey", "rename the state", key=True)


def one_time(checking: Checking) -> Iterator[Finding]:
    """A timer has a duration or a time, and not both."""
    for graph, id, state in checking.definition.states():
        if isinstance(state, Timer) and (state.timer.duration is None) == (state.timer.until is None):
            both = "both 'duration' and 'until'" if state.timer.until is not None else "neither 'duration' nor 'until'"
            yield Finding((*graph.at(id), "timer"), f"it has {both}", "one of the two says when it fires")


def literal_time(checking: Checking) -> Iterator[Finding]:
    """A time that is written out can be read."""
    for graph, id, state in checking.definition.states():
        if isinstance(state, Timer):
            here = (*graph.at(id), "timer")
            if isinstance(state.timer.duration, str) and not is_duration(state.timer.duration):
                long = "longer than 10,000 years, a month counted as 31 days"
                how = long if is_too_long(state.timer.duration) else "not an ISO 8601 duration"
                message = f"{shown(state.timer.duration)} is {how}"
                yield Finding((*here, "duration"), message, "write something like PT5M or P3D")
            if isinstance(state.timer.until, str) and not is_instant(state.timer.until):
                beyond = "not within the years 1 to 9999 in UTC"
                how = beyond if is_out_of_calendar(state.timer.until) else "not a time of RFC 3339"
                message = f"{shown(state.timer.until)} is {how}"
                yield Finding((*here, "until"), message, "write something like 2026-12-31T23:59:00Z")


def timer_in_bounds(checking: Checking) -> Iterator[Finding]:
    """A length that is written out is not longer than this engine allows; a month is taken as 28 days."""
    most = checking.settings.limits.longest_timer_s
    for graph, id, state in checking.definition.states():
        length = state.timer.duration if isinstance(state, Timer) else None
        if most is None or not isinstance(length, str) or not is_duration(length):
            continue
        if shortest(length) > most * SECOND:
            here = (*graph.at(id), "timer", "duration")
            yield Finding(here, f"a timer is at most {most:,} s long here", "write a shorter one, or several")


def timer_first(checking: Checking) -> Iterator[Finding]:
    """Who starts a journey and waits for its answer should not wait for a timer."""
    definition = checking.definition
    lifecycle = definition.spec.lifecycle
    if definition.is_api or (lifecycle is not None and lifecycle.start_mode not in (None, "sync")):
        return
    spec = definition.spec
    seen: set[str] = set()
    waiting = [spec.start]
    while waiting:
        id = waiting.pop()
        state = spec.states.get(id)
        if state is None or id in seen:
            continue
        seen.add(id)
        if isinstance(state, Timer):
            message = "a synchronous start stands still at this timer"
            hint = "write lifecycle: {startMode: async}"
            yield Finding(spec.at(id), message, hint, key=True, needs=("kind",))
        elif not isinstance(state, EXTERNAL):
            waiting += [target for _, target in targets(state)]


def is_duration(text: str) -> bool:
    try:
        parse_duration(text)
    except SpecError:
        return False
    return text.startswith("P")


def is_too_long(text: str) -> bool:
    try:
        parse_duration(text)
    except TooLong:
        return text.startswith("P")
    except SpecError:
        return False
    return False


def shortest(duration: str) -> Micros:
    """How long a duration is at least."""
    length = parse_duration(duration)
    return length.months * 28 * DAY + length.exact


def is_instant(text: str) -> bool:
    try:
        read_instant(text, "time")
    except SpecError:
        return False
    return "T" in text.upper()


def is_out_of_calendar(text: str) -> bool:
    try:
        read_instant(text, "time")
    except OutOfCalendar:
        return True
    except SpecError:
        return False
    return False


RULES = (
    Rule("external-timeout", timeout_has_a_way),
    Rule("step-cancel", step_is_not_cancel),
    Rule("timer-one", one_time),
    Rule("timer-literal", literal_time),
    Rule("timer-limit", timer_in_bounds),
    Rule("timer-first", timer_first, Severity.WARNING),
)
