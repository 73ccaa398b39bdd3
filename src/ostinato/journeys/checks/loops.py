"""Check the loops of a definition, and the states of APIs (`kind: Api`). An API answers at once, so its states must not
wait."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ostinato.journeys.checks.graph import predecessors, reached_from, successors
from ostinato.journeys.checks.rules import CheckContext, Finding, Rule
from ostinato.journeys.language import Graph, State
from ostinato.journeys.language.states import CallSubjourney, Fail, Parallel, Succeed, Timer, Wait, Webhook
from ostinato.journeys.problems import Severity


def api_does_not_wait(checking: CheckContext) -> Iterator[Finding]:
    """Check that an API has no `wait`, `webhook` or `timer` state."""
    if not checking.definition.is_api:
        return
    for graph, id, state in checking.definition.states():
        if isinstance(state, Wait | Webhook | Timer):
            yield Finding(
                (*graph.at(id), "type"), f"an Api has no {state.type}: it answers at once", "use kind: Journey"
            )


def api_ends(checking: CheckContext) -> Iterator[Finding]:
    """Check that every state of an API can reach a state that ends its graph."""
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
            yield Finding(graph.at(id), "from here no succeed and no fail can be reached", key=True)


def _ends(state: State) -> bool:
    return isinstance(state, Succeed | Fail) or (isinstance(state, Parallel) and state.next is None)


def api_loops(checking: CheckContext) -> Iterator[Finding]:
    """Check that an API has no loop. A loop is only a warning, because it may still end."""
    if checking.definition.is_api:
        for graph in checking.definition.graphs():
            for cycle in find_cycles(graph):
                message = f"{', '.join(cycle)} may loop forever"
                yield Finding(graph.at(cycle[0]), message, "make sure that it ends", key=True)


def journey_loops(checking: CheckContext) -> Iterator[Finding]:
    """Check that in a journey without a time limit, every loop has a state that pauses. A loop without a pause would be
    stopped only by the engine's limit."""
    definition = checking.definition
    if definition.is_api or definition.spec.execution is not None:
        return
    for graph in definition.graphs():
        for cycle in find_cycles(graph):
            if not any(_pauses(graph.states[id]) for id in cycle):
                message = f"{', '.join(cycle)} may loop without a pause"
                hint = "add a timer or a wait, or spec.execution"
                yield Finding(graph.at(cycle[0]), message, hint, key=True, needs=("kind",))


def _pauses(state: State) -> bool:
    return isinstance(state, Wait | Webhook | Timer | Parallel | CallSubjourney)


def find_cycles(graph: Graph) -> list[list[str]]:
    """Return the cycles of a graph, in the order of the document. A cycle is a list of the ids of states that lead to
    one another. This is Kosaraju's algorithm, which takes linear time."""
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
    """Walk depth-first from `first` to all states that are not in `seen`, and add their ids to `seen`. Append each id
    to `left` when the walk leaves the state."""
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
