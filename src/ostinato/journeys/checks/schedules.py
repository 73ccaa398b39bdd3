"""Check that a scheduled run reaches no state that waits for an input. The task kind `schedule` makes the other checks
of schedules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ostinato.documents import Path
from ostinato.journeys.checks.rules import CheckContext, Finding, Rule
from ostinato.journeys.language import Definition, Graph, targets
from ostinato.journeys.language.states import CallSubjourney, Parallel, Task, Wait, Webhook


def scheduled_runs_do_not_wait(checking: CheckContext) -> Iterator[Finding]:
    """Check that a scheduled run can reach no state that waits for an input."""
    for path, settings in _schedules(checking):
        definition, start = checking.definition, str(settings.get("start"))
        hint = "lead scheduled runs around states that wait for an input"
        waiting = sorted(interactive(definition, definition.spec, start))
        if waiting:
            yield Finding((*path, "start"), f"a scheduled run from {start!r} reaches {_waiting(waiting)}", hint)
        undoing = definition.spec.compensation
        waiting = [] if undoing is None else sorted(interactive(definition, undoing, undoing.start))
        if waiting:
            yield Finding((*path, "start"), f"the compensation of a scheduled run reaches {_waiting(waiting)}", hint)


def _waiting(states: list[str]) -> str:
    return f"{', '.join(states)}, which {'waits' if len(states) == 1 else 'wait'} for an input"


def interactive(definition: Definition, graph: Graph, start: str) -> set[str]:
    """Return the ids of the states that wait for an input, among all states that can be reached from `start`. The
    states of branches and subjourneys are included."""
    states: set[str] = set()
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
                states.add(id)
            case Parallel():
                waiting += [(one, one.start) for one in state.parallel.branches]
            case CallSubjourney():
                below = definition.spec.subjourneys.get(state.subjourney.ref)
                waiting += [(below, below.start)] if below else []
    return states


def _schedules(checking: CheckContext) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    for _, _, state in checking.definition.states():
        if isinstance(state, Task) and state.plugin == ("schedule", 1):
            yield state.path, state.settings


RULES = (Rule("schedule-interactive", scheduled_runs_do_not_wait),)
