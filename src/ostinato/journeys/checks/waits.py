"""Check the states that wait for an input or for a time."""

from __future__ import annotations

from collections.abc import Iterator

from ostinato.errors import SpecError, short_json
from ostinato.journeys.checks.rules import CheckContext, Rule, RuleFinding
from ostinato.journeys.language import Definition, Graph, targets
from ostinato.journeys.language.states import CallSubjourney, Parallel, Timer, Wait, Webhook
from ostinato.journeys.problems import Severity
from ostinato.when.durations import DAY, TooLong, parse_duration
from ostinato.when.instants import SECOND, OutOfCalendar, read_instant

RESERVED = "cancel"


def timeout_has_a_way(checking: CheckContext) -> Iterator[RuleFinding]:
    """Report `timeoutSec` without `onTimeout`, and `onTimeout` without `timeoutSec`."""
    for graph, id, state in checking.definition.states():
        if isinstance(state, Wait | Webhook):
            external, here = state.external, (*graph.at(id), state.type)
            if external.timeout_s is not None and external.on_timeout is None:
                yield RuleFinding(
                    (*here, "timeoutSec"), "it may time out, and 'onTimeout' is missing", "add onTimeout: …"
                )
            if external.on_timeout is not None and external.timeout_s is None:
                yield RuleFinding(
                    (*here, "onTimeout"), "it never times out: 'timeoutSec' is missing", "add timeoutSec: …"
                )


def step_is_not_cancel(checking: CheckContext) -> Iterator[RuleFinding]:
    """Report steps named `cancel`. The name is reserved for the step that cancels a journey."""
    for graph, id, state in checking.definition.states():
        if isinstance(state, Wait | Webhook) and id == RESERVED:
            yield RuleFinding(graph.at(id), "'cancel' is the step that cancels a journey", "rename the state", key=True)


def steps_have_different_ids(checking: CheckContext) -> Iterator[RuleFinding]:
    """Report steps that have the same id and can wait at the same time."""
    for graph, id, state in checking.definition.states_of(Parallel):
        seen: dict[str, str] = {}
        for n, branch in enumerate(state.parallel.branches):
            here = (*graph.at(id), "parallel", "branches", n)
            for step in sorted(steps_in(checking.definition, branch)):
                if step in seen:
                    message = f"{step!r} waits in the branch {seen[step]!r} at the same time"
                    yield RuleFinding(here, message, "give each step an id of its own")
                seen.setdefault(step, branch.name)


def steps_in(definition: Definition, graph: Graph) -> set[str]:
    """Return the ids of the states that wait for an input in a graph, its branches and its subjourneys."""
    steps: set[str] = set()
    waiting, entered = [graph], set()
    while waiting:
        for id, state in waiting.pop().states.items():
            match state:
                case Wait() | Webhook():
                    steps.add(id)
                case Parallel():
                    waiting += state.parallel.branches
                case CallSubjourney() if state.subjourney.ref not in entered:
                    entered.add(state.subjourney.ref)
                    below = definition.spec.subjourneys.get(state.subjourney.ref)
                    waiting += [below] if below else []
    return steps


def one_time(checking: CheckContext) -> Iterator[RuleFinding]:
    """Report timers that do not have exactly one of `duration` and `until`."""
    for graph, id, state in checking.definition.states_of(Timer):
        if (state.timer.duration is None) == (state.timer.until is None):
            both = "both 'duration' and 'until'" if state.timer.until is not None else "neither 'duration' nor 'until'"
            yield RuleFinding((*graph.at(id), "timer"), f"it has {both}", "one of the two says when it fires")


def literal_time(checking: CheckContext) -> Iterator[RuleFinding]:
    """Report invalid times and durations that are written as literals."""
    for graph, id, state in checking.definition.states_of(Timer):
        here = (*graph.at(id), "timer")
        duration, until = state.timer.duration, state.timer.until
        if isinstance(duration, str) and (wrong := wrong_duration(duration)):
            hint = "write something like PT5M or P3D"
            yield RuleFinding((*here, "duration"), f"{short_json(duration)} is {wrong}", hint)
        if isinstance(until, str) and (wrong := wrong_instant(until)):
            hint = "write something like 2026-12-31T23:59:00Z"
            yield RuleFinding((*here, "until"), f"{short_json(until)} is {wrong}", hint)


def timer_in_bounds(checking: CheckContext) -> Iterator[RuleFinding]:
    """Report literal durations that exceed the configured limit. A month counts as 28 days."""
    most = checking.settings.limits.longest_timer_s
    for graph, id, state in checking.definition.states_of(Timer):
        length = state.timer.duration
        if most is None or not isinstance(length, str) or wrong_duration(length):
            continue
        duration = parse_duration(length)
        if duration.months * 28 * DAY + duration.exact > most * SECOND:
            here = (*graph.at(id), "timer", "duration")
            yield RuleFinding(here, f"a timer may be at most {most:,} s long", "write a shorter one, or several")


def timer_first(checking: CheckContext) -> Iterator[RuleFinding]:
    """If a journey starts synchronously, warn about timers that it can reach before it waits for an input. The caller
    of the start would have to wait for such a timer."""
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
            message = "a synchronous start waits at this timer"
            hint = "write lifecycle: {startMode: async}"
            yield RuleFinding(spec.at(id), message, hint, key=True, needs=("kind",))
        elif not isinstance(state, Wait | Webhook):
            waiting += [target for _, target in targets(state)]


def wrong_duration(text: str) -> str | None:
    """Return what is wrong with a duration, or None if it is valid."""
    try:
        parse_duration(text)
    except TooLong:
        if text.startswith("P"):
            return "longer than 10,000 years, a month counted as 31 days"
    except SpecError:
        pass
    else:
        if text.startswith("P"):
            return None
    return "not an ISO 8601 duration"


def wrong_instant(text: str) -> str | None:
    """Return what is wrong with a time, or None if it is valid."""
    try:
        read_instant(text, "time")
    except OutOfCalendar:
        return "not within the years 1 to 9999 in UTC"
    except SpecError:
        return "not a time of RFC 3339"
    return None if "T" in text.upper() else "not a time of RFC 3339"


RULES = (
    Rule("external-timeout", timeout_has_a_way),
    Rule("step-cancel", step_is_not_cancel),
    Rule("step-twice", steps_have_different_ids),
    Rule("timer-one", one_time),
    Rule("timer-literal", literal_time),
    Rule("timer-limit", timer_in_bounds),
    Rule("timer-first", timer_first, Severity.WARNING),
)
