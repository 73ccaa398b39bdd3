"""Check the graph of states. For example, every target must exist, and every state must be reachable."""

from __future__ import annotations

from collections.abc import Iterator

from ostinato.errors import did_you_mean, is_text, list_choices
from ostinato.journeys.checks.rules import CheckContext, Rule, RuleFinding
from ostinato.journeys.language import Graph, targets
from ostinato.journeys.language.interpolation import config_names, wrong_placeholders
from ostinato.journeys.language.states import Fail, Task
from ostinato.journeys.problems import Severity

LONGEST_ID = 200
_COMPARED = 100_000  # most names to compare in one check; after that, misspellings get no suggestion


def ids(checking: CheckContext) -> Iterator[RuleFinding]:
    """Report each state whose id is not valid. These ids are not valid:

    - an id that is blank, too long, or contains a NUL character
    - `.` and `..`; the id is a part of the step's URL, and these two would change the path of the URL
    """
    for graph, id, _ in checking.definition.states():
        if id in (".", ".."):
            message = f"{id!r} is not a valid id for a state: it would change the URL of a step"
            yield RuleFinding(graph.at(id), message, "rename the state", key=True)
        elif not id.strip() or len(id) > LONGEST_ID or "\x00" in id:
            hint = f"give it a text of 1 to {LONGEST_ID} characters"
            yield RuleFinding(graph.at(id), "this is not a valid id for a state", hint, key=True)


def start_exists(checking: CheckContext) -> Iterator[RuleFinding]:
    for graph in checking.definition.graphs():
        if graph.start not in graph.states:
            hint = did_you_mean(graph.start, graph.states) or list_choices(graph.states)
            message, needs = f"start → {graph.start!r} is not a state here", (*graph.path, "states")
            yield RuleFinding((*graph.path, "start"), message, hint, needs=needs)


def target_exists(checking: CheckContext) -> Iterator[RuleFinding]:
    elsewhere = {id for graph in checking.definition.graphs() for id in graph.states}
    compared = 0
    for graph, id, state in checking.definition.states():
        for place, target in targets(state):
            if target in graph.states:
                continue
            compared += len(graph.states)
            near = did_you_mean(target, graph.states) if compared <= _COMPARED else ""
            hint = near or list_choices(graph.states)
            if target in elsewhere:
                hint = "it belongs to another graph, which can only be entered at its start"
            yield RuleFinding((*graph.at(id), *place), f"{place[-1]} → {target!r} is not a state here", hint)


def reachable(checking: CheckContext) -> Iterator[RuleFinding]:
    """Warn about states that can be reached neither from the start of their graph nor from a scheduled start."""
    for graph in checking.definition.graphs():
        if not checking.knows_all((*graph.path, "states")):
            continue
        reached = reached_from(graph, graph.start, *_scheduled_starts(checking, graph))
        for id in graph.states:
            if id not in reached and graph.start in graph.states:
                yield RuleFinding(graph.at(id), "no state leads here", "remove the state, or lead to it", key=True)


def reached_from(graph: Graph, *starts: str) -> set[str]:
    """Return the ids of the states that can be reached from `starts` within this graph, and the `starts` themselves.
    Branches and subjourneys are not entered."""
    reached: set[str] = set()
    waiting = [id for id in starts if id in graph.states]
    while waiting:
        id = waiting.pop()
        if id not in reached:
            reached.add(id)
            waiting += [target for _, target in targets(graph.states[id]) if target in graph.states]
    return reached


def successors(graph: Graph) -> dict[str, list[str]]:
    """Map the id of each state to the ids of the states that it leads to within the graph."""
    return {
        id: [target for _, target in targets(state) if target in graph.states] for id, state in graph.states.items()
    }


def predecessors(graph: Graph) -> dict[str, list[str]]:
    """Map the id of each state to the ids of the states that lead to it."""
    before: dict[str, list[str]] = {id: [] for id in graph.states}
    for id, further in successors(graph).items():
        for target in further:
            before[target].append(id)
    return before


def _scheduled_starts(checking: CheckContext, graph: Graph) -> Iterator[str]:
    if graph is checking.definition.spec:
        for _, _, state in checking.definition.states_of(Task):
            if state.plugin[0] == "schedule":
                yield str(state.settings.get("start"))


def reason_placeholders(checking: CheckContext) -> Iterator[RuleFinding]:
    """Check the placeholders of `fail` states. In a `reason`, warn about placeholders that are invalid or use
    `platform.config`. In an `errorCode`, warn about any placeholder."""
    for graph, id, state in checking.definition.states_of(Fail):
        if "${" in state.error_code:
            message = "an error code has no placeholders: it is the same for every run"
            yield RuleFinding((*graph.at(id), "errorCode"), message, "put the value into 'reason'")
        for placeholder in wrong_placeholders(state.reason):
            yield RuleFinding((*graph.at(id), "reason"), f"{placeholder} is not a placeholder", "write ${context.a.b}")
        for name in sorted(config_names(state.reason)):
            message = f"platform.config.{name} has no value in a reason"
            yield RuleFinding((*graph.at(id), "reason"), message, "write ${context.a.b}")


def error_codes(checking: CheckContext) -> Iterator[RuleFinding]:
    """Report error codes of `fail` states that cannot be stored."""
    for graph, id, state in checking.definition.states_of(Fail):
        if not is_text(state.error_code):
            yield RuleFinding((*graph.at(id), "errorCode"), "the code has a character that cannot be stored")


RULES = (
    Rule("graph-id", ids),
    Rule("graph-start", start_exists),
    Rule("graph-target", target_exists),
    Rule("graph-unreachable", reachable, Severity.WARNING),
    Rule("fail-code", error_codes),
    Rule("fail-placeholder", reason_placeholders, Severity.WARNING),
)
