"""Check the branches, subjourneys and transform states of a definition."""

from __future__ import annotations

from collections.abc import Iterator

from ostinato.errors import did_you_mean, list_choices
from ostinato.journeys.checks.rules import CheckContext, Rule, RuleFinding
from ostinato.journeys.language import Definition, Graph
from ostinato.journeys.language.states import CallSubjourney, Parallel, Transform
from ostinato.journeys.problems import Severity


def branches_have_names(checking: CheckContext) -> Iterator[RuleFinding]:
    """Report branches of a parallel state that have the same name."""
    for graph, id, state in checking.definition.states_of(Parallel):
        seen: set[str] = set()
        for n, branch in enumerate(state.parallel.branches):
            if branch.name in seen:
                here = (*graph.at(id), "parallel", "branches", n, "name")
                yield RuleFinding(here, f"another branch is called {branch.name!r}, too", "rename one of them")
            seen.add(branch.name)


def join_goes_somewhere(checking: CheckContext) -> Iterator[RuleFinding]:
    """Warn about a join that has a mapper, but no `resultVar`. The result of such a mapper replaces the whole context,
    which is perhaps not intended."""
    for graph, id, state in checking.definition.states_of(Parallel):
        join = state.parallel.join
        if join.mapper is not None and join.result_var is None:
            here = (*graph.at(id), "parallel", "join")
            yield RuleFinding(here, "the mapper's result replaces the whole context", "add resultVar: …, if not meant")


def subjourney_exists(checking: CheckContext) -> Iterator[RuleFinding]:
    subjourneys = checking.definition.spec.subjourneys
    for graph, id, state in checking.definition.states_of(CallSubjourney):
        ref = state.subjourney.ref
        if ref not in subjourneys:
            hint = did_you_mean(ref, subjourneys) or list_choices(subjourneys)
            here = (*graph.at(id), "subjourney", "ref")
            yield RuleFinding(here, f"there is no subjourney {ref!r}", hint, needs=("spec", "subjourneys"))


def subjourney_ends(checking: CheckContext) -> Iterator[RuleFinding]:
    """Warn about each subjourney that enters itself, directly or indirectly. Such a subjourney may never end."""
    spec = checking.definition.spec
    calls = {name: called_by(graph) for name, graph in spec.subjourneys.items()}
    for name in calls:
        reached: set[str] = set()
        waiting = list(calls[name])
        while waiting:
            called = waiting.pop()
            if called not in reached:
                reached.add(called)
                waiting += calls.get(called, ())
        if name in reached:
            path, hint = ("spec", "subjourneys", name), "make sure that it ends"
            yield RuleFinding(path, "it enters itself, directly or indirectly", hint, key=True)


def called_by(graph: Graph) -> set[str]:
    """Return the names of the subjourneys that a graph and its branches enter."""
    subjourneys: set[str] = set()
    waiting = [graph]
    while waiting:
        for state in waiting.pop().states.values():
            if isinstance(state, CallSubjourney):
                subjourneys.add(state.subjourney.ref)
            elif isinstance(state, Parallel):
                waiting += state.parallel.branches
    return subjourneys


def transform_has_a_place(checking: CheckContext) -> Iterator[RuleFinding]:
    """Report a transform state that writes to a variable, but does not name the variable by `resultVar`."""
    for graph, id, state in checking.definition.states_of(Transform):
        if state.transform.target.kind == "var" and state.transform.result_var is None:
            here = (*graph.at(id), "transform")
            yield RuleFinding(here, "the target var has no 'resultVar'", "name the variable")


def attributes_belong_to_journeys(checking: CheckContext) -> Iterator[RuleFinding]:
    """Report states of an API or of a read guard that set attributes. A call of an API has no attributes, and a guard
    changes nothing."""
    definition = checking.definition
    guard = definition.spec.access.read
    guarding = set(steps_into(definition, guard.guard_ref)) if guard else set()
    for graph, id, state in definition.states_of(Transform):
        if state.transform.target.kind == "attributes":
            here = (*graph.at(id), "transform", "target", "kind")
            if definition.is_api:
                yield RuleFinding(here, "an API call has no attributes", "write them to the context")
            elif any(graph.path[: len(one)] == one for one in guarding):
                yield RuleFinding(here, "a guard changes nothing", "write to the context, which is a copy")


def steps_into(definition: Definition, name: str) -> Iterator[tuple[str | int, ...]]:
    """Yield the path of the subjourney `name`, and of each subjourney that `name` enters, directly or indirectly."""
    waiting, seen = [name], set()
    while waiting:
        subjourney = waiting.pop()
        graph = definition.spec.subjourneys.get(subjourney)
        if graph is not None and subjourney not in seen:
            seen.add(subjourney)
            yield graph.path
            waiting += called_by(graph)


RULES = (
    Rule("parallel-names", branches_have_names),
    Rule("join-result", join_goes_somewhere, Severity.WARNING),
    Rule("subjourney-unknown", subjourney_exists),
    Rule("subjourney-cycle", subjourney_ends, Severity.WARNING),
    Rule("transform-result", transform_has_a_place),
    Rule("transform-attributes", attributes_belong_to_journeys),
)
