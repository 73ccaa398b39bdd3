"""Rules about going round in circles, and about what an API call may hold: it answers at once, so everything in it
comes to an end by itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ostinato.journeys.checks.graph import leads, led_from, reached_from
from ostinato.journeys.checks.rules import Checking, Finding, Rule
from ostinato.journeys.language import Graph, State
from ostinato.journeys.language.states import Call, Fail, Parallel, Succeed, Timer, Wait, Webhook
from ostinato.journeys.problems import Severity


def api_does_not_wait(checking: Checking) -> Iterator[Finding]:
    """An API call does not wait, anywhere in it. That it does not schedule is known to the task kind."""
    if not checking.definition.is_api:
        return
    for graph, id, state in checking.definition.states():
        if isinstance(state, Wait | Webhook | Timer):
            yield Finding(
                (*graph.at(id), "type"), f"an Api has no {state.type}: it answers at once", "use kind: Journey"
            )


def api_ends(checking: Checking) -> Iterator[Finding]:
    """From every state of an API call an end can be reached."""
    if not checking.definition.is_api:
        return
    for graph in checking.definition.graphs():
        if not checking.knows_all((*graph.path, "states")):
            continue
        back, ending = led_from(graph), set[str]()
        for id, state in graph.states.items():
            if _ends(state):
                _walk(id, back, ending, [])
        for id in reached_from(graph, graph.start) - ending:
            yield Finding(graph.at(id), "from here no succeed and no fail can be reached", key=True)


def _ends(state: State) -> bool:
    return isinstance(state, Succeed | Fail) or (isinstance(state, Parallel) and state.next is None)


def api_loops(checking: Checking) -> Iterator[Finding]:
    """A loop in an API call should be bounded, which cannot be seen from here."""
    if checking.definition.is_api:
        for graph in checking.definition.graphs():
            for circle in circles(graph):
                message = f"{', '.join(circle)} may go round for ever"
                yield Finding(graph.at(circle[0]), message, "see that it ends", key=True)


def journey_loops(checking: Checking) -> Iterator[Finding]:
    """A loop that never pauses, in a journey that never times out, is stopped only by the engine."""
    definition = checking.definition
    if definition.is_api or definition.spec.execution is not None:
        return
    for graph in definition.graphs():
        for circle in circles(graph):
            if not any(_pauses(graph.states[id]) for id in circle):
                message = f"{', '.join(circle)} may go round without a pause"
                hint = "add a timer or a wait, or spec.execution"
                yield Finding(graph.at(circle[0]), message, hint, key=True, needs=("kind",))


def _pauses(state: State) -> bool:
    return isinstance(state, Wait | Webhook | Timer | Parallel | Call)


def circles(graph: Graph) -> list[list[str]]:
    """The sets of states that lead to one another, each in the order of the document. In two walks, so that it takes no
    longer than the graph is large: the second goes backwards, from who was left last."""
    onward, back = leads(graph), led_from(graph)
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
    found: dict[str, list[str]] = {}
    for id in graph.states:
        found.setdefault(home[id], []).append(id)
    return [circle for circle in found.values() if len(circle) > 1 or circle[0] in onward[circle[0]]]


def _walk(first: str, ways: Mapping[str, Iterable[str]], seen: set[str], left: list[str]) -> None:
    """Everything that can be reached and was not seen yet, in the order in which it is left."""
    if first in seen:
        return
    seen.add(first)
    way = [(first, iter(ways[first]))]
    while way:
        id, further = way[-1]
        for one in further:
            if one not in seen:
                seen.add(one)
                way.append((one, iter(ways[one])))
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
