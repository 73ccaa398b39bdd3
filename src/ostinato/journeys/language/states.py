"""The states of a journey, and the graphs they form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias, get_args

from ostinato.documents import Path
from ostinato.journeys.language.shapes import (
    Expression,
    Shape,
    any_text,
    either,
    expression,
    identifier,
    key,
    later,
    list_of,
    map_of,
    mapped,
    mapper,
    of,
    one_of,
    open_object,
    or_mapped,
    seconds,
    text,
)
from ostinato.model import Json

PLACE = re.compile(r"[^.\[\]]+(\.[^.\[\]]+)*")  # names with dots between them
TASK_KIND = re.compile(r"(?P<type>[A-Za-z][A-Za-z0-9]*):v(?P<major>[1-9][0-9]*)")
Schema: TypeAlias = Mapping[str, Json]


def state() -> Shape:
    """Return the shape that reads a state by its `type`. The import is late, because `reader` imports this module."""
    from ostinato.journeys.language.reader import read_state

    return read_state


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """A graph of states. A journey, a subjourney, a branch and a compensation each have one."""

    start: str = key("start", text())
    states: Mapping[str, State] = key("states", map_of(later(state), 1))
    path: Path = field(default=(), compare=False)

    def at(self, id: str) -> Path:
        """Return the path of a state in the document."""
        return (*self.path, "states", id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subjourney(Graph):
    input: Contract | None = key("input", later(lambda: of(Contract)), None)
    output: Contract | None = key("output", later(lambda: of(Contract)), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    schema: Schema = key("schema", open_object)


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch(Graph):
    name: str = key("name", text())


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """The state that runs a task. `settings` are all fields other than `kind`, for the task kind to read."""

    type: ClassVar = "task"
    kind: str
    settings: Mapping[str, Json]
    next: str
    path: Path = field(default=(), compare=False)

    @property
    def plugin(self) -> tuple[str, int]:
        match = TASK_KIND.fullmatch(self.kind)
        assert match
        return match["type"], int(match["major"])


@dataclass(frozen=True, slots=True, kw_only=True)
class When:
    predicate: Expression = key("predicate", expression)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    when: When = key("when", of(When))
    next: str = key("next", text())


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The state that takes the first case whose predicate is true, or else the default."""

    type: ClassVar = "choice"
    choices: tuple[Case, ...] = key("choices", list_of(of(Case), 1))
    default: str | None = key("default", text(), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    kind: str = key("kind", one_of("context", "var", "attributes"), "context")
    path: str = key("path", either(lambda value: value == "", any_text, text(PLACE, "order.id")), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Transformation:
    mapper: Expression = key("mapper", mapper)
    target: Target = key("target", of(Target), Target())
    result_var: str | None = key("resultVar", identifier, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Transform:
    type: ClassVar = "transform"
    transform: Transformation = key("transform", of(Transformation))
    next: str = key("next", text())


@dataclass(frozen=True, slots=True, kw_only=True)
class Projection:
    """A variable of the context that is shown in a status or an outcome."""

    output_var: str = key("outputVar", identifier)
    schema: Schema = key("schema", open_object)


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookInput:
    input: Contract = key("input", of(Contract))
    response: Projection | None = key("response", of(Projection), None)
    timeout_s: int | None = key("timeoutSec", seconds(), None)
    on_timeout: str | None = key("onTimeout", text(), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitInput(WebhookInput):
    channel: str = key("channel", one_of("manual"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    type: ClassVar = "wait"
    wait: WaitInput = key("wait", of(WaitInput))
    next: str = key("next", text())

    @property
    def external(self) -> WebhookInput:
        return self.wait


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    type: ClassVar = "webhook"
    webhook: WebhookInput = key("webhook", of(WebhookInput))
    next: str = key("next", text())

    @property
    def external(self) -> WebhookInput:
        return self.webhook


@dataclass(frozen=True, slots=True, kw_only=True)
class Delay:
    duration: str | Expression | None = key("duration", or_mapped(text()), None)
    until: str | Expression | None = key("until", or_mapped(text()), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timer:
    type: ClassVar = "timer"
    timer: Delay = key("timer", of(Delay))
    next: str = key("next", text())


@dataclass(frozen=True, slots=True, kw_only=True)
class Join:
    strategy: str = key("strategy", one_of("allOf", "anyOf", "firstCompleted"))
    error_policy: str | None = key("errorPolicy", one_of("collectAll", "failFast", "ignoreErrors"), None)
    mapper: Expression | None = key("mapper", mapper, None)
    result_var: str | None = key("resultVar", identifier, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    branches: tuple[Branch, ...] = key("branches", list_of(of(Branch), 1))
    join: Join = key("join", of(Join))


@dataclass(frozen=True, slots=True, kw_only=True)
class Parallel:
    """The state that runs several branches and joins their results. If it has no `next`, the graph ends after the join,
    and succeeds or fails like the branch that decided the join."""

    type: ClassVar = "parallel"
    parallel: Split = key("parallel", of(Split))
    next: str | None = key("next", text(), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class OnFailure:
    behavior: str = key("behavior", one_of("propagate", "capture"), "propagate")


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    ref: str = key("ref", text())
    input: Expression | None = key("input", mapped, None)
    result_var: str | None = key("resultVar", identifier, None)
    result_kind: str = key("resultKind", one_of("output", "outcome"), "output")
    on_failure: OnFailure = key("onFailure", of(OnFailure), OnFailure())


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSubjourney:
    """The state that enters a subjourney, and continues when the subjourney has ended."""

    type: ClassVar = "subjourney"
    subjourney: Invocation = key("subjourney", of(Invocation))
    next: str = key("next", text())


@dataclass(frozen=True, slots=True, kw_only=True)
class Succeed:
    type: ClassVar = "succeed"
    output_var: str | None = key("outputVar", identifier, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fail:
    type: ClassVar = "fail"
    error_code: str = key("errorCode", text())
    reason: str = key("reason", text())


State: TypeAlias = Task | Choice | Transform | Wait | Webhook | Timer | Parallel | CallSubjourney | Succeed | Fail
STATES: tuple[type[State], ...] = get_args(State)


def targets(state: State) -> Iterator[tuple[Path, str]]:
    """Yield (path, id) for each state that may follow `state`. `path` is the place of the id in `state`, for example
    `("choices", 0, "next")`."""
    match state:
        case Choice():
            yield from ((("choices", n, "next"), one.next) for n, one in enumerate(state.choices))
            if state.default is not None:
                yield ("default",), state.default
        case Succeed() | Fail():
            return
        case _:
            if state.next is not None:
                yield ("next",), state.next
    if isinstance(state, Wait | Webhook) and state.external.on_timeout is not None:
        yield (state.type, "onTimeout"), state.external.on_timeout
