"""Check the loops of a definition. Check also that an API (`kind: Api`) can end and does not wait."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ostinato.journeys.checks.graph import predecessors, reached_from, successors
from ostinato.journeys.checks.rules import CheckContext, Rule, RuleFinding
from ostinato.journeys.language import Graph, State
from ostinato.journeys.language.states import CallSubjourney, Fail, Parallel, Succeed, Timer, Wait, Webhook
from ostinato.journeys.problems import Severity


def api_does_not_wait(checking: CheckContext) -> Iterator[RuleFinding]:
    if not checking.definition.is_api:
        return
    for graph, id, state in checking.definition.states():
        if isinstance(state, Wait | Webhook | Timer):
            message = f"an Api has no {state.type}: it answers at once"
            yield RuleFinding((*graph.at(id), "type"), message, "use kind: Journey")


def api_ends(checking: CheckContext) -> Iterator[RuleFinding]:
    """Report states of an API from which the end of the graph cannot be reached."""
    if not checking.definition.is_api:
        return
    for graph in checking.definition.graphs():
        if not checking.knows_all((*graph.path, "states")):
            continue
        back, ending = predecessors(graph), set[str]()
        for id, state in graph.states.items():
            if _ends(state):
                _walk(id, back, ending, [])
        for id in reached_from(graph, graph.start) - ending:
            yield RuleFinding(graph.at(id), "from here no succeed and no fail can be reached", key=True)


def _ends(state: State) -> bool:
    return isinstance(state, Succeed | Fail) or (isinstance(state, Parallel) and state.next is None)


def api_loops(checking: CheckContext) -> Iterator[RuleFinding]:
    """If the definition is an API (`kind: Api`), warn about each group of states that can repeat in a loop. A loop is
    only a warning, because it may end."""
    if checking.definition.is_api:
        for graph in checking.definition.graphs():
            for cycle in find_cycles(graph):
                message = f"{', '.join(cycle)} may loop forever"
                yield RuleFinding(graph.at(cycle[0]), message, "make sure that it ends", key=True)


def journey_loops(checking: CheckContext) -> Iterator[RuleFinding]:
    """Warn about loops without a pause, if the journey has no time limit (`spec.execution`). Such a loop may never end.
    A state that waits, a parallel state and a subjourney count as a pause."""
    definition = checking.definition
    if definition.is_api or definition.spec.execution is not None:
        return
    for graph in definition.graphs():
        for cycle in find_cycles(graph):
            if not any(_pauses(graph.states[id]) for id in cycle):
                message = f"{', '.join(cycle)} may loop without a pause"
                hint = "add a timer or a wait, or spec.execution"
                yield RuleFinding(graph.at(cycle[0]), message, hint, key=True, needs=("kind",))


def _pauses(state: State) -> bool:
    return isinstance(state, Wait | Webhook | Timer | Parallel | CallSubjourney)


def find_cycles(graph: Graph) -> list[list[str]]:
    """Return the cycles of a graph, each as a list of state ids in the order of the document. States that can all reach
    each other form one cycle. This is Kosaraju's algorithm, which takes linear time."""
    onward, back = successors(graph), predecessors(graph)
    left: list[str] = []
    seen: set[str] = set()
    for id in graph.states:
        _walk(id, onward, seen, left)
    home: dict[str, str] = {}
    seen = set()
    for id in reversed(left):
        together: list[str] = []
        _walk(id, back, seen, together)
        home |= dict.fromkeys(together, id)
    cycles: dict[str, list[str]] = {}
    for id in graph.states:
        cycles.setdefault(home[id], []).append(id)
    return [cycle for cycle in cycles.values() if len(cycle) > 1 or cycle[0] in onward[cycle[0]]]


def _walk(first: str, ways: Mapping[str, Iterable[str]], seen: set[str], left: list[str]) -> None:
    """Visit `first` and all states that can be reached from it, depth-first. Skip the states in `seen`. `ways` maps
    each state to its next states.

    Add each visited state to `seen` before its next states are visited. Append it to `left` after they have been
    visited (post-order).
    """
    if first in seen:
        return
    seen.add(first)
    way = [(first, iter(ways[first]))]
    while way:
        id, further = way[-1]
        for target in further:
            if target not in seen:
                seen.add(target)
                way.append((target, iter(ways[target])))
                break
        else:
            left.append(id)
            way.pop()


RULES = (
    Rule("api-state", api_does_not_wait),
    Rule("api-endless", api_ends),
    Rule("api-loop", api_loops, Severity.WARNING),
    Rule("graph-loop", journey_loops, Severity.WARNING),
)
