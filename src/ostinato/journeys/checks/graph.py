"""Rules about where states lead."""

from __future__ import annotations

from collections.abc import Iterator

from ostinato.errors import did_you_mean, there_are
from ostinato.journeys.checks.rules import Checking, Finding, Rule
from ostinato.journeys.interpolation import config_names, wrong_placeholders
from ostinato.journeys.language import Graph, targets
from ostinato.journeys.language.states import Fail, Task
from ostinato.journeys.problems import Severity

LONGEST_ID = 200
_COMPARED = 100_000  # names, for the whole of a report: in a long one not every misspelling is guessed at


def ids(checking: Checking) -> Iterator[Finding]:
    """A state has an id that people can say, and that a step's address can hold."""
    for graph, id, _ in checking.definition.states():
        if id in (".", ".."):
            message = f"{id!r} is no id for a state: in the address of a step it would lead elsewhere"
            yield Finding(graph.at(id), message, "rename the state", key=True)
        elif not id.strip() or len(id) > LONGEST_ID or "\x00" in id:
            hint = f"give it a text of 1 to {LONGEST_ID} characters"
            yield Finding(graph.at(id), "this is no id for a state", hint, key=True)


def start_exists(checking: Checking) -> Iterator[Finding]:
    """`start` names a state of its own graph."""
    for graph in checking.definition.graphs():
        if graph.start not in graph.states:
            hint = did_you_mean(graph.start, graph.states) or there_are(graph.states)
            message, needs = f"start → {graph.start!r} is not a state here", (*graph.path, "states")
            yield Finding((*graph.path, "start"), message, hint, needs=needs)


def target_exists(checking: Checking) -> Iterator[Finding]:
    """Whatever a state leads to is a state of the same graph."""
    elsewhere = {id for graph in checking.definition.graphs() for id in graph.states}
    compared = 0
    for graph, id, state in checking.definition.states():
        for place, target in targets(state):
            if target in graph.states:
                continue
            compared += len(graph.states)
            near = did_you_mean(target, graph.states) if compared <= _COMPARED else ""
            hint = near or there_are(graph.states)
            if target in elsewhere:
                hint = "it belongs to another graph, which cannot be entered in its midst"
            yield Finding((*graph.at(id), *place), f"{place[-1]} → {target!r} is not a state here", hint)


def reachable(checking: Checking) -> Iterator[Finding]:
    """Every state can be reached from its graph's start, or from where a schedule starts it."""
    for graph in checking.definition.graphs():
        if not checking.knows_all((*graph.path, "states")):
            continue
        reached = reached_from(graph, graph.start, *_scheduled_starts(checking, graph))
        for id in graph.states:
            if id not in reached and graph.start in graph.states:
                yield Finding(graph.at(id), "no way leads here", "leave the state out, or lead to it", key=True)


def reached_from(graph: Graph, *starts: str) -> set[str]:
    """The states of this graph that can be reached from these; branches and subjourneys are not looked into."""
    reached: set[str] = set()
    waiting = [id for id in starts if id in graph.states]
    while waiting:
        id = waiting.pop()
        if id not in reached:
            reached.add(id)
            waiting += [target for _, target in targets(graph.states[id]) if target in graph.states]
    return reached


def leads(graph: Graph) -> dict[str, list[str]]:
    """Where each state leads to, in its graph."""
    return {
        id: [target for _, target in targets(state) if target in graph.states] for id, state in graph.states.items()
    }


def led_from(graph: Graph) -> dict[str, list[str]]:
    """From where each state is led to."""
    found: dict[str, list[str]] = {id: [] for id in graph.states}
    for id, further in leads(graph).items():
        for one in further:
            found[one].append(id)
    return found


def _scheduled_starts(checking: Checking, graph: Graph) -> Iterator[str]:
    if graph is checking.definition.spec:
        for _, _, state in checking.definition.states():
            if isinstance(state, Task) and state.plugin[0] == "schedule":
                yield str(state.settings.get("start"))


def reason_placeholders(checking: Checking) -> Iterator[Finding]:
    """What looks like a placeholder in the reason of a `fail` is one."""
    for graph, id, state in checking.definition.states():
        for one in wrong_placeholders(state.reason) if isinstance(state, Fail) else ():
            yield Finding((*graph.at(id), "reason"), f"{one} is not a placeholder", "write ${context.a.b}")
        for name in sorted(config_names(state.reason)) if isinstance(state, Fail) else ():
            message = f"platform.config.{name} has no value in a reason"
            yield Finding((*graph.at(id), "reason"), message, "write ${context.a.b}")


RULES = (
    Rule("graph-id", ids),
    Rule("graph-start", start_exists),
    Rule("graph-target", target_exists),
    Rule("graph-unreachable", reachable, Severity.WARNING),
    Rule("fail-placeholder", reason_placeholders, Severity.WARNING),
)
