"""The rule that nobody is waited for on the runs that a journey schedules. What else a schedule may say is known to its
task kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ostinato.journeys.checks.rules import Checking, Finding, Rule
from ostinato.journeys.language import Definition, Graph, targets
from ostinato.journeys.language.states import Call, Parallel, Task, Wait, Webhook
from ostinato.schedules.marked import Path


def nobody_is_waited_for(checking: Checking) -> Iterator[Finding]:
    """Nothing that a scheduled run can reach waits for an input."""
    for path, settings in _schedules(checking):
        definition, start = checking.definition, str(settings.get("start"))
        hint = "lead scheduled runs past what waits for people or systems"
        found = sorted(interactive(definition, definition.spec, start))
        if found:
            yield Finding((*path, "start"), f"a scheduled run from {start!r} reaches {_waiting(found)}", hint)
        undoing = definition.spec.compensation
        found = [] if undoing is None else sorted(interactive(definition, undoing, undoing.start))
        if found:
            yield Finding((*path, "start"), f"the compensation of a scheduled run reaches {_waiting(found)}", hint)


def _waiting(states: list[str]) -> str:
    return f"{', '.join(states)}, which {'waits' if len(states) == 1 else 'wait'} for an input"


def interactive(definition: Definition, graph: Graph, start: str) -> set[str]:
    """The states that wait for an input, of all that can be reached from a state of a graph: by whatever target or
    timeout, in branches, and in subjourneys."""
    found: set[str] = set()
    seen: set[tuple[Path, str]] = set()
    waiting: list[tuple[Graph, str]] = [(graph, start)]
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


RULES = (Rule("schedule-interactive", nobody_is_waited_for),)
