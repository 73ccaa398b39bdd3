"""The definition of a journey or an API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from ostinato.documents import Path
from ostinato.journeys.language.blocks import (
    Access,
    Api,
    Bindings,
    Compensation,
    Cookies,
    Defaults,
    Errors,
    Execution,
    HttpSurface,
    Lifecycle,
    Metadata,
    NamedOutcome,
    Output,
    Platform,
    Policies,
    RunMetadata,
)
from ostinato.journeys.language.shapes import Expression, expression, key, map_of, of, one_of
from ostinato.journeys.language.states import Contract, Graph, Parallel, State, Subjourney

S = TypeVar("S")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec(Graph):
    subjourneys: Mapping[str, Subjourney] = key("subjourneys", map_of(of(Subjourney)), make=dict)
    apis: Mapping[str, Api] = key("apis", map_of(of(Api)), make=dict)
    input: Contract | None = key("input", of(Contract), None)
    output: Output = key("output", of(Output), Output())
    context: Contract | None = key("context", of(Contract), None)
    defaults: Defaults = key("defaults", of(Defaults), make=Defaults)
    platform: Platform = key("platform", of(Platform), make=Platform)
    execution: Execution | None = key("execution", of(Execution), None)
    compensation: Compensation | None = key("compensation", of(Compensation), None)
    http_surface: HttpSurface = key("httpSurface", of(HttpSurface), HttpSurface())
    lifecycle: Lifecycle | None = key("lifecycle", of(Lifecycle), None)
    metadata: RunMetadata = key("metadata", of(RunMetadata), make=RunMetadata)
    mappers: Mapping[str, Expression] = key("mappers", map_of(expression), make=dict)
    errors: Errors = key("errors", of(Errors), make=Errors)
    policies: Policies = key("policies", of(Policies), make=Policies)
    bindings: Bindings = key("bindings", of(Bindings), make=Bindings)
    outcomes: Mapping[str, NamedOutcome] = key("outcomes", map_of(of(NamedOutcome)), make=dict)
    cookies: Cookies = key("cookies", of(Cookies), Cookies())
    access: Access = key("access", of(Access), Access())


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A parsed definition. `documents` maps each `openApiRef` to the text of its OpenAPI document."""

    api_version: str = key("apiVersion", one_of("v1"))
    kind: str = key("kind", one_of("Journey", "Api"))
    metadata: Metadata = key("metadata", of(Metadata))
    spec: Spec = key("spec", of(Spec))
    documents: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def name(self) -> str:
        return self.metadata.name

    @property
    def version(self) -> str:
        return self.metadata.version

    @property
    def is_api(self) -> bool:
        return self.kind == "Api"

    def graph(self, path: Path) -> Graph:
        """Return the graph at a path of the document. Raise `KeyError` if there is none."""
        graph: Graph = self.spec
        steps = iter(path[1:])
        for step in steps:
            match step:
                case "subjourneys":
                    graph = self.spec.subjourneys[str(next(steps))]
                case "compensation":
                    assert self.spec.compensation is not None
                    graph = self.spec.compensation
                case "states":
                    state = graph.states[str(next(steps))]
                    assert isinstance(state, Parallel)
                    next(steps), next(steps)
                    graph = state.parallel.branches[int(next(steps))]
                case _:
                    raise KeyError(path)
        return graph

    def graphs(self) -> Iterator[Graph]:
        """Yield the graphs of the journey, the subjourneys, the compensation, and all branches."""
        roots: list[Graph | None] = [self.spec, *self.spec.subjourneys.values(), self.spec.compensation]
        waiting = [one for one in roots if one is not None]
        while waiting:
            graph = waiting.pop(0)
            yield graph
            for state in graph.states.values():
                if isinstance(state, Parallel):
                    waiting += state.parallel.branches

    def states(self) -> Iterator[tuple[Graph, str, State]]:
        for graph in self.graphs():
            for id, state in graph.states.items():
                yield graph, id, state

    def states_of(self, kind: type[S]) -> Iterator[tuple[Graph, str, S]]:
        for graph, id, state in self.states():
            if isinstance(state, kind):
                yield graph, id, state
