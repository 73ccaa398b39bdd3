"""Rules about `schedule:v1`: what is said of it, and that nobody is waited for on the runs that it starts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ostinato.errors import did_you_mean, shown
from ostinato.journeys.checks.external import is_duration, is_instant
from ostinato.journeys.checks.rules import Checking, Finding, Rule
from ostinato.journeys.language import Definition, Graph, targets
from ostinato.journeys.language.states import Call, Parallel, Task, Wait, Webhook
from ostinato.schedules.marked import Path
from ostinato.when.durations import parse_duration
from ostinato.when.instants import SECOND

FIELDS = ("start", "startAt", "interval", "maxRuns", "subjectId", "context", "onExisting")
EXISTING = ("fail", "upsert", "addAnother")
_MONTH = 28 * 24 * 3600 * SECOND


def fields(checking: Checking) -> Iterator[Finding]:
    """It has its own fields, and no others."""
    for path, settings in _schedules(checking):
        for name in settings:
            if name not in FIELDS:
                hint = did_you_mean(name, FIELDS) or f"there are {', '.join(FIELDS)}"
                yield Finding((*path, name), f"{shown(name)} is not known in a schedule", hint, key=True)


def start(checking: Checking) -> Iterator[Finding]:
    """`start` is a state of the journey itself."""
    known = checking.definition.spec.states
    for path, settings in _schedules(checking):
        given = settings.get("start")
        if given is None:
            yield Finding(path, "'start' is missing", "name the state that the runs begin at")
        elif not isinstance(given, str) or given not in known:
            hint = did_you_mean(str(given), known) or f"there are {', '.join(known)}"
            yield Finding((*path, "start"), f"start → {shown(given)} is not a state of the journey", hint)


def interval(checking: Checking) -> Iterator[Finding]:
    """`interval` is an ISO 8601 duration."""
    for path, settings in _schedules(checking):
        given = settings.get("interval")
        if given is None:
            yield Finding(path, "'interval' is missing", "write something like P1M")
        elif not _mapped(given) and not (isinstance(given, str) and is_duration(given)):
            message = f"the interval {shown(given)} is not an ISO 8601 duration"
            yield Finding((*path, "interval"), message, "write something like P1M or PT1H")


def shortest(checking: Checking) -> Iterator[Finding]:
    """An interval is not shorter than the engine allows."""
    least = checking.settings.limits.min_interval_s
    for path, settings in _schedules(checking):
        given = settings.get("interval")
        if isinstance(given, str) and is_duration(given):
            length = parse_duration(given)
            if length.months * _MONTH + length.exact < least * SECOND:
                yield Finding((*path, "interval"), f"the interval {given} is too short", f"at least {least} s go by")


def max_runs(checking: Checking) -> Iterator[Finding]:
    """`maxRuns` is a positive number."""
    for path, settings in _schedules(checking):
        given = settings.get("maxRuns")
        if given is None:
            yield Finding(path, "'maxRuns' is missing", "say how often it runs")
        elif not _mapped(given) and (not isinstance(given, int) or isinstance(given, bool) or given < 1):
            yield Finding((*path, "maxRuns"), f"maxRuns {shown(given)} is not a positive number")


def start_at(checking: Checking) -> Iterator[Finding]:
    """`startAt` is a time of RFC 3339."""
    for path, settings in _schedules(checking):
        given = settings.get("startAt")
        if given is not None and not _mapped(given) and not (isinstance(given, str) and is_instant(given)):
            message = f"startAt {shown(given)} is not a time of RFC 3339"
            yield Finding((*path, "startAt"), message, "write something like 2026-12-31T09:00:00Z")


def mappers(checking: Checking) -> Iterator[Finding]:
    """`subjectId` and `context` are computed."""
    for path, settings in _schedules(checking):
        for name in ("subjectId", "context"):
            if name in settings and not _mapped(settings[name]):
                hint = f"write {name}: {{mapper: {{lang: dataweave, expr: …}}}}"
                yield Finding((*path, name), f"{name} is a mapper, not {shown(settings[name])}", hint)


def existing(checking: Checking) -> Iterator[Finding]:
    """`onExisting` is one of three words."""
    for path, settings in _schedules(checking):
        given = settings.get("onExisting", "fail")
        if given not in EXISTING:
            hint = did_you_mean(str(given), EXISTING) or f"there are {', '.join(EXISTING)}"
            yield Finding((*path, "onExisting"), f"onExisting {shown(given)} is not known", hint)


def nobody_is_waited_for(checking: Checking) -> Iterator[Finding]:
    """Nothing that a scheduled run can reach waits for an input."""
    for path, settings in _schedules(checking):
        found = sorted(interactive(checking.definition, str(settings.get("start"))))
        if found:
            message = (
                f"a scheduled run from {settings.get('start')!r} reaches {', '.join(found)}, which wait for an input"
            )
            yield Finding((*path, "start"), message, "lead scheduled runs past what waits for people or systems")


def interactive(definition: Definition, start: str) -> set[str]:
    """The states that wait for an input, of all that can be reached from a state of the journey: by whatever target or
    timeout, in branches, and in subjourneys."""
    found: set[str] = set()
    seen: set[tuple[Path, str]] = set()
    waiting: list[tuple[Graph, str]] = [(definition.spec, start)]
    while waiting:
        graph, id = waiting.pop()
        state = graph.states.get(id)
        if state is None or (graph.path, id) in seen:
            continue
        seen.add((graph.path, id))
        waiting += [(graph, target) for _, target in targets(state)]
        match state:
            case Wait() | Webhook():
                found.add(id)
            case Parallel():
                waiting += [(one, one.start) for one in state.parallel.branches]
            case Call():
                below = definition.spec.subjourneys.get(state.subjourney.ref)
                waiting += [(below, below.start)] if below else []
    return found


def _schedules(checking: Checking) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    for _, _, state in checking.definition.states():
        if isinstance(state, Task) and state.plugin == ("schedule", 1):
            yield state.path, state.settings


def _mapped(value: Any) -> bool:
    inner = value.get("mapper") if isinstance(value, Mapping) and value.keys() == {"mapper"} else None
    return isinstance(inner, Mapping) and all(isinstance(inner.get(name), str) for name in ("lang", "expr"))


RULES = (
    Rule("schedule-field", fields),
    Rule("schedule-start", start),
    Rule("schedule-interval", interval),
    Rule("schedule-interval-short", shortest),
    Rule("schedule-max-runs", max_runs),
    Rule("schedule-start-at", start_at),
    Rule("schedule-mapper", mappers),
    Rule("schedule-existing", existing),
    Rule("schedule-interactive", nobody_is_waited_for),
)
