"""Define `TaskKind`, the interface of a task kind. The class `Plugins` registers task kinds and expression languages.

When a definition is loaded, the method `check` finds faults in a state's settings. The method `run` is called once per
attempt, must not wait long, and affects the instance only by its result.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ostinato.documents import Path
from ostinato.errors import did_you_mean
from ostinato.journeys.expressions.contract import EvaluationOutcome, Language
from ostinato.journeys.language import Definition, Expression
from ostinato.journeys.problems import Severity
from ostinato.model import Json
from ostinato.when.instants import Micros


@dataclass(frozen=True, slots=True)
class Fault:
    """A mistake in a task's settings. `path` is the place of the mistake, relative to the settings. `needs` is the path
    of another part of the definition, or None. The fault is not reported if that part could not be read."""

    code: str
    path: Path
    message: str
    suggestion: str = ""
    severity: Severity = Severity.ERROR
    needs: Path | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """The HTTP request that is being handled. It is never stored, and is dropped when the instance next waits.
    `set_cookies` maps cookie names to `Set-Cookie` lines for the response."""

    headers: Mapping[str, str]
    query: Mapping[str, str] = field(default_factory=dict)
    cookies: Mapping[str, str] = field(default_factory=dict)
    passed_on: Mapping[str, str] = field(default_factory=dict)  # headers for outbound calls
    client_cert: bytes | None = None  # DER, from the server's own TLS
    peer: str | None = None  # the address of the connection
    set_cookies: dict[str, str] = field(default_factory=dict)

    def header(self, name: str) -> str | None:
        """Return the value of a header, or None if the request does not have it. Names are case-insensitive."""
        wanted = name.lower()
        return next((value for key, value in self.headers.items() if key.lower() == wanted), None)


@dataclass(frozen=True, slots=True)
class TaskProblem:
    """The problem that a task returns to fail its run. `title`, `detail`, `type` and `status` are fields of RFC 9457.

    - `code`: identifies the kind of problem, and does not change between versions
    - `internal`: true for a fault of the engine or its configuration; if true, callers see only `title` and a general
      code
    - `more`: further fields of the problem
    """

    code: str
    title: str
    detail: str = ""
    type: str = "about:blank"
    status: int | None = None
    internal: bool = False
    more: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TaskResult:
    """The result of a task. `context` is the new context. `effects` are writes (`runtime.commit.ExtraWrite`) for the
    transaction that advances the instance."""

    context: Mapping[str, Json]
    effects: tuple[object, ...] = ()


class EvaluateExpression(Protocol):
    def __call__(self, expression: Expression, /, **bindings: Json) -> Awaitable[EvaluationOutcome]:
        """Evaluate an expression. The expression sees the variables `context`, `payload` and `platform`, and the
        variables in `bindings`. If `bindings` has a variable with one of these three names, the expression sees the
        variable in `bindings`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskCall:
    """The values and services that a task may use. `key` is the same for every attempt of this call, and is sent as
    `Idempotency-Key`. `services` holds `egress`, `cache` and `publisher`."""

    definition: Definition
    settings: Mapping[str, Json]
    context: Mapping[str, Json]
    run_id: str
    state: str
    key: str
    now: Micros
    remaining_s: float | None  # until the run's deadline
    request: Request | None
    evaluate: EvaluateExpression
    secret: Callable[[str], str]  # resolves `secret://name`; raises SecretMissing
    services: Mapping[str, Any]


class TaskKind(Protocol):
    """A kind of task. For example, `httpCall:v1` has the name `httpCall` and the major version 1."""

    name: str
    major: int

    def check(self, settings: Mapping[str, Json], definition: Definition) -> Iterable[Fault]: ...

    async def run(self, call: TaskCall) -> TaskResult | TaskProblem: ...


class Plugins:
    """Task kinds by (name, major version), and expression languages by name."""

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

    def suggest_kind(self, name: str, major: int) -> str:
        """Return a hint for an unknown kind: similar kinds, or all kinds."""
        versions = [f"{a}:v{b}" for a, b in self.kinds if a == name]
        if versions:
            return f"there is {', '.join(versions)}"
        names: Sequence[str] = [f"{a}:v{b}" for a, b in self.kinds]
        return did_you_mean(f"{name}:v{major}", names) or f"there are {', '.join(sorted(names)) or 'none'}"
