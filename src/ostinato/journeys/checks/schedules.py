"""Check that scheduled runs do not wait for an input. The task kind `schedule` has the other checks of schedules."""

from __future__ import annotations

from collections.abc import Iterator

from ostinato.documents import Path
from ostinato.journeys.checks.rules import CheckContext, Rule, RuleFinding
from ostinato.journeys.language import Definition, Graph, targets
from ostinato.journeys.language.states import CallSubjourney, Parallel, Task, Wait, Webhook


def scheduled_runs_do_not_wait(checking: CheckContext) -> Iterator[RuleFinding]:
    definition, undoing = checking.definition, checking.definition.spec.compensation
    hint = "lead scheduled runs around states that wait for an input"
    for _, _, task in definition.states_of(Task):
        if task.plugin != ("schedule", 1):
            continue
        start = str(task.settings.get("start"))
        begins: list[tuple[Graph, str, str]] = [(definition.spec, start, f"a scheduled run from {start!r}")]
        if undoing is not None:
            begins.append((undoing, undoing.start, "the compensation of a scheduled run"))
        for graph, first, what in begins:
            if waiting := sorted(interactive(definition, graph, first)):
                states = f"{', '.join(waiting)}, which {'waits' if len(waiting) == 1 else 'wait'} for an input"
                yield RuleFinding((*task.path, "start"), f"{what} reaches {states}", hint)


def interactive(definition: Definition, graph: Graph, start: str) -> set[str]:
    """Return the ids of the states that wait for an input and can be reached from `start`. States in branches and
    subjourneys are included."""
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


RULES = (Rule("schedule-interactive", scheduled_runs_do_not_wait),)
