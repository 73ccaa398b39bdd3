"""What a task kind is, and where kinds and expression languages are registered.

A task kind is asked twice. When a definition is loaded, `check` says what is wrong with a state's settings; paths in
its faults begin at the settings. When a run reaches the state, `run` does its work once: it may call out, it changes
nothing but what it returns, and it does not wait for people or time.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from ostinato.errors import did_you_mean
from ostinato.journeys.expressions.contract import Failure, Language, Value
from ostinato.journeys.language import Definition, Expression
from ostinato.journeys.problems import Severity
from ostinato.model import Json
from ostinato.schedules.marked import Path
from ostinato.when.instants import Micros


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a task's settings. `path` begins at the settings. `needs` is a place of the definition that it
    draws on: if that could not be read, nothing is said."""

    code: str
    path: Path
    message: str
    suggestion: str = ""
    severity: Severity = Severity.ERROR
    needs: Path | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """The request that is being handled. It is never stored, and gone when the run next waits. What tasks put into
    `set_cookies`, lines of `Set-Cookie` by the cookie's name, goes with its answer."""

    headers: Mapping[str, str]
    query: Mapping[str, str] = field(default_factory=dict)
    cookies: Mapping[str, str] = field(default_factory=dict)
    passed_on: Mapping[str, str] = field(default_factory=dict)  # headers for outbound calls
    client_cert: bytes | None = None  # DER, as the server's own TLS has seen it
    peer: str | None = None  # the address that the connection comes from
    set_cookies: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a task ended its run, as RFC 9457 says it. `code` is stable; `internal` marks the engine's own fault or its
    configuration, which is told to callers only as an internal error."""

    code: str
    title: str
    detail: str = ""
    type: str = "about:blank"
    status: int | None = None
    internal: bool = False
    more: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Result:
    """The context as it is now. `effects` go into the transaction that moves the run on (a schedule's binding)."""

    context: Mapping[str, Json]
    effects: tuple[object, ...] = ()


Outcome: TypeAlias = Value | Failure  # of an expression


class Evaluate(Protocol):
    def __call__(self, expression: Expression, /, **bindings: Json) -> Awaitable[Outcome]:
        """Evaluate with `context`, `payload` and `platform` bound, and these besides or instead."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskCall:
    """What a task may know and use. `key` is the same however often this logical call is made: it is sent as
    `Idempotency-Key`. `services` are the app's own, by name: `egress`, `cache`, `publisher`."""

    definition: Definition
    settings: Mapping[str, Json]
    context: Mapping[str, Json]
    run_id: str
    state: str
    key: str
    now: Micros
    remaining_s: float | None  # until the run's deadline
    request: Request | None
    evaluate: Evaluate
    secret: Callable[[str], str]  # from `secret://name` to the secret; raises SecretMissing
    services: Mapping[str, Any]


class TaskKind(Protocol):
    """`httpCall:v1` has the name `httpCall` and the major 1."""

    name: str
    major: int

    def check(self, settings: Mapping[str, Json], definition: Definition) -> Iterable[Fault]: ...

    async def run(self, call: TaskCall) -> Result | Problem: ...


class Plugins:
    """The task kinds by (name, major), the expression languages by name."""

    def __init__(self, kinds: Iterable[TaskKind] = (), languages: Iterable[Language] = ()) -> None:
        self.kinds: dict[tuple[str, int], TaskKind] = {}
        self.languages: dict[str, Language] = {}
        for kind in kinds:
            self.add(kind)
        for language in languages:
            self.languages[language.name] = language

    def add(self, kind: TaskKind) -> None:
        key = kind.name, kind.major
        if key in self.kinds:
            raise ValueError(f"the task kind {kind.name}:v{kind.major} is registered twice")
        self.kinds[key] = kind

    def nearest(self, name: str, major: int) -> str:
        """A hint for a kind that is not there."""
        versions = [f"{a}:v{b}" for a, b in self.kinds if a == name]
        if versions:
            return f"there is {', '.join(versions)}"
        names: Sequence[str] = [f"{a}:v{b}" for a, b in self.kinds]
        return did_you_mean(f"{name}:v{major}", names) or f"there are {', '.join(sorted(names)) or 'none'}"
