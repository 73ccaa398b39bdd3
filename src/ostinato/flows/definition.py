"""Declare agents with their flows, tools, commands and hooks."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, Union, get_args, get_origin, overload

import orjson

from ostinato.engine.context import to_json
from ostinato.errors import (
    InputError,
    NotFound,
    OstinatoError,
    check_text,
    describe_exception,
    did_you_mean,
    refuse_nul,
    short_repr,
)
from ostinato.flows.calling import call
from ostinato.flows.campaigns.agent_settings import check_cap, check_defaults, with_defaults
from ostinato.flows.campaigns.options import read_options
from ostinato.flows.model import CLASSIC
from ostinato.flows.models import Model
from ostinato.flows.read_values import read_truth
from ostinato.flows.routers import Detector, SchemaFlow, startable
from ostinato.flows.schedules.definition import SchedulerSettings, read_definition, read_scheduler
from ostinato.flows.transports import Transport
from ostinato.functions.lint import warn_of_undeterministic_calls
from ostinato.model import MOST, Retry, read_length, read_retry
from ostinato.start_checks import read_positive_length
from ostinato.when import zones
from ostinato.when.durations import DAY, Length
from ostinato.when.instants import SECOND, Micros

if TYPE_CHECKING:  # loaded when the first agent is declared
    from pydantic import BaseModel, ValidationError

F = TypeVar("F", bound=Callable[..., Any])
_TOOL_TIMEOUT: Micros = 10 * SECOND
_IDLE, _END = "15m", "1d"


@dataclass(frozen=True)
class Flow:
    """One version of a flow. A flow is an async function whose first parameter is `ctx`.

    If a flow has begun in a session, it continues there in the same version.
    """

    name: str
    version: int
    function: Callable[..., Any]
    description: str
    arguments: type[BaseModel]

    def check(self, input: Mapping[str, Any] | None) -> None:
        """Raise `InputError` if the flow cannot be called with this input."""
        check_arguments(self.arguments, input, f"flow {self.name!r}")


@dataclass(frozen=True)
class Tool:
    """A function that the model and flows may call.

    - `context`: whether the function has a parameter `ctx`, which the model cannot set
    - `at_most_once`: if true, a call that a crash has interrupted is not repeated; if false, it is repeated
    - `refused`: a function to call if the arguments are wrong, or None; its arguments are the context, the tool's name,
      the tool's arguments, and the names of unknown arguments
    """

    name: str
    function: Callable[..., Any]
    description: str
    arguments: type[BaseModel]
    context: bool
    timeout: Micros
    retry: Retry
    at_most_once: bool
    refused: Callable[..., Any] | None = None

    @property
    def schema(self) -> dict[str, Any]:
        """The name, description and JSON schema of the tool, for a model."""
        parameters = self.arguments.model_json_schema()
        parameters.pop("title", None)
        return {"name": self.name, "description": self.description, "parameters": parameters}


@dataclass(frozen=True)
class CommandHandler:
    """The function that a message such as `/help me` calls. `access` is public or admin."""

    name: str
    function: Callable[..., Any]
    access: str


@dataclass(frozen=True)
class SegmentResolver:
    """A function that returns the users of a segment. `arguments` is the pydantic model of the function's parameters,
    which a segment sets with `params`."""

    name: str
    function: Callable[..., Any]
    arguments: type[BaseModel]


@dataclass(frozen=True)
class AgentSettings:
    """The settings of an agent, read from its declaration. Lengths are in microseconds."""

    name: str
    tz: str
    model: Model | None
    transport: Transport
    prompt: str | Callable[..., Any]
    fallback: str | None
    idle: Micros
    end_after: Micros
    keep: Micros | None
    history: int
    rounds: int
    model_retry: Retry
    model_timeout: Micros
    structured: bool
    admins: frozenset[str] | Callable[..., Any]
    queue: str
    campaigns: Mapping[str, Any]
    scheduler: SchedulerSettings = field(default_factory=SchedulerSettings)
    schedules: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    tools: Sequence[Any] = ()


class Agent:
    """An agent of an app. Add flows, tools, commands and hooks with its decorators."""

    def __init__(self, settings: AgentSettings) -> None:
        self.settings = settings
        self._flows: dict[str, dict[int, Flow]] = {}
        self.tools: dict[str, Tool] = {}
        self.commands: dict[str, CommandHandler] = {}
        self.hooks: dict[str, Callable[..., Any]] = {}
        self.route: Callable[..., Any] | Detector | SchemaFlow | None = None
        self.segments: dict[str, SegmentResolver] = {}

    @property
    def name(self) -> str:
        return self.settings.name

    @property
    def schedule_zone(self) -> str:
        return self.settings.scheduler.tz or self.settings.tz

    @property
    def function_name(self) -> str:
        return session_function(self.name)

    @overload
    def flow(
        self, function: F, /, *, name: str | None = None, version: int = 1, description: str | None = None
    ) -> F: ...

    @overload
    def flow(
        self, /, *, name: str | None = None, version: int = 1, description: str | None = None
    ) -> Callable[[F], F]: ...

    def flow(
        self, function: Any = None, /, *, name: str | None = None, version: int = 1, description: str | None = None
    ) -> Any:
        """Declare a flow: `@agent.flow`, or `@agent.flow(name="checkin", version=2)`."""

        def add(function: F) -> F:
            called = name or str(getattr(function, "__name__", ""))
            where = f"flow {called!r} of agent {self.name!r}"
            check_text(called, f"agent {self.name!r}: the flow's name")
            if called == CLASSIC:
                raise OstinatoError(f"{where}: the name is reserved for answers of the model; choose another")
            if not inspect.iscoroutinefunction(function):
                raise OstinatoError(f"{where} is not async; write `async def {called}(ctx, …)`")
            if next(iter(inspect.signature(function).parameters), "") not in ("ctx", "context"):
                raise OstinatoError(f"{where} has no ctx; write `async def {called}(ctx, …)`")
            if not isinstance(version, int) or isinstance(version, bool) or not 1 <= version <= MOST:
                raise OstinatoError(f"{where}: version {short_repr(version)} is not a whole number from 1")
            versions = self._flows.setdefault(called, {})
            if version in versions:
                raise OstinatoError(f"{where}: version {version} is declared twice; give one of them version=…")
            warn_of_undeterministic_calls(function, called)
            versions[version] = Flow(called, version, function, _describe(function, description), _arguments(function))
            return function

        return add if function is None else add(function)

    @overload
    def tool(self, function: F, /) -> F: ...

    @overload
    def tool(
        self,
        /,
        *,
        name: str | None = None,
        description: str | None = None,
        timeout: Length | None = None,
        retry: Retry | int | Mapping[str, Any] | None = None,
        at_most_once: bool = False,
    ) -> Callable[[F], F]: ...

    def tool(
        self,
        function: Any = None,
        /,
        *,
        name: str | None = None,
        description: str | None = None,
        timeout: Length | None = None,
        retry: Retry | int | Mapping[str, Any] | None = None,
        at_most_once: bool = False,
    ) -> Any:
        """Declare a tool. The model sets the arguments of the function. If the function has a parameter `ctx`, it gets
        a `ToolContext`, which contains the user for whom the tool acts."""

        def add(function: F) -> F:
            called = name or str(getattr(function, "__name__", ""))
            check_text(called, f"agent {self.name!r}: the tool's name")
            if called in self.tools:
                raise OstinatoError(f"agent {self.name!r} has two tools called {called!r}; give one of them name=…")
            attempts = read_retry(retry)
            if at_most_once and attempts.attempts > 1:
                raise OstinatoError(f"tool {called!r} is called at most once, so it has no retry")
            self.tools[called] = Tool(
                called,
                function,
                _describe(function, description),
                _arguments(function),
                "ctx" in inspect.signature(function).parameters,
                read_positive_length(timeout, "timeout") or _TOOL_TIMEOUT,
                attempts,
                at_most_once,
            )
            return function

        return add if function is None else add(function)

    @overload
    def command(self, function: F, /) -> F: ...

    @overload
    def command(self, /, *, name: str | None = None, access: str = "public") -> Callable[[F], F]: ...

    def command(self, function: Any = None, /, *, name: str | None = None, access: str = "public") -> Any:
        """Declare a command. A message `/name rest` calls the function with `(ctx, rest)`; the result is the reply."""
        if access not in ("public", "admin"):
            raise OstinatoError(f"access {short_repr(access)} is neither 'public' nor 'admin'")

        def add(function: F) -> F:
            called = name or str(getattr(function, "__name__", ""))
            check_text(called, f"agent {self.name!r}: the command's name")
            if called in self.commands:
                raise OstinatoError(f"agent {self.name!r} has two commands called {called!r}")
            self.commands[called] = CommandHandler(called, function, access)
            return function

        return add if function is None else add(function)

    def _hook(self, name: str, function: F) -> F:
        if name in self.hooks:
            raise OstinatoError(f"agent {self.name!r} has two hooks {name}; call one from the other")
        if not callable(function):
            raise OstinatoError(f"agent {self.name!r}: {name} {short_repr(function)} is no function")
        self.hooks[name] = function
        return function

    def before_llm(self, function: F) -> F:
        """Declare the hook that is called before the router, a flow or the model handles a turn. Commands are handled
        earlier, so the hook is not called for them."""
        return self._hook("before_llm", function)

    def before_response(self, function: F) -> F:
        """Declare the hook that is called with each message before it is sent."""
        return self._hook("before_response", function)

    def on_response(self, function: F) -> F:
        """Declare the hook that is called after a response was sent and stored."""
        return self._hook("on_response", function)

    def router(self, function: F) -> F:
        """Declare the function that chooses a flow for a message. It returns the name of the flow. If it returns None,
        no flow begins, and the model answers the message."""
        self._set_route(function)
        return function

    def _set_route(self, route: Callable[..., Any] | Detector | SchemaFlow) -> None:
        if self.route is not None:
            raise OstinatoError(f"agent {self.name!r} has two routers")
        self.route = route

    def detector(
        self,
        *,
        min_confidence: float = 0.7,
        fallback: str = CLASSIC,
        model: Model | None = None,
        prompt: str | None = None,
    ) -> None:
        """Let `model`, or the agent's own model, choose the flow for a message.

        `fallback` is a flow, or `classic` to let the agent's model answer. The fallback is used if the confidence is
        below `min_confidence`, or if the model's answer names no flow or cannot be read.
        """
        where = f"the detector of agent {self.name!r}"
        if isinstance(min_confidence, bool) or not isinstance(min_confidence, int | float):
            raise OstinatoError(f"{where}: min_confidence {short_repr(min_confidence)} is not a number from 0 to 1")
        if not 0 <= min_confidence <= 1:
            raise OstinatoError(f"{where}: min_confidence {min_confidence!r} is not a number from 0 to 1")
        if model is None and self.settings.model is None:
            raise OstinatoError(f"{where} has no model; give it one, or give the agent one")
        check_text(fallback, f"{where}: the fallback")
        self._set_route(Detector(float(min_confidence), fallback, model, prompt))

    def schema_flow(self, field: str = "flow", *, fallback: str = CLASSIC) -> None:
        """Let the model choose a flow by a field of its structured answer.

        `fallback` is a flow, or `classic` to let the model answer. The fallback is used if the answer names an unknown
        flow or cannot be read.
        """
        where = f"schema_flow of agent {self.name!r}"
        if not self.settings.structured:
            raise OstinatoError(f"{where} reads structured answers; declare the agent with structured=True")
        check_text(field, f"{where}: the field")
        check_text(fallback, f"{where}: the fallback")
        self._set_route(SchemaFlow(field, fallback))

    def check(self) -> None:
        """Raise OstinatoError if the router's fallback is neither `classic` nor a flow that can begin without an input.
        Call this when everything is declared."""
        route = self.route
        if not isinstance(route, Detector | SchemaFlow) or route.fallback == CLASSIC:
            return
        if route.fallback not in startable(self.flows):
            raise OstinatoError(
                f"agent {self.name!r}: the router's fallback {route.fallback!r} is neither 'classic' nor a flow that "
                "begins without an input"
            )

    def segment(self, name: str) -> Callable[[F], F]:
        """Declare a resolver: a function that returns or yields the external ids of users.

        A segment `{"type": "custom_query", "resolver": name, "params": {…}}` uses the resolver. The function is called
        with `ctx` and the segment's `params`.
        """
        check_text(name, f"agent {self.name!r}: the segment's name")

        def add(function: F) -> F:
            where = f"segment {name!r} of agent {self.name!r}"
            if name in self.segments:
                raise OstinatoError(f"{where} is declared twice")
            if next(iter(inspect.signature(function).parameters), "") not in ("ctx", "context"):
                raise OstinatoError(
                    f"{where} has no ctx; write `async def {getattr(function, '__name__', name)}(ctx, …)`"
                )
            self.segments[name] = SegmentResolver(name, function, _arguments(function))
            return function

        return add

    # What the runtime asks for

    @property
    def flows(self) -> Mapping[str, Flow]:
        """The newest version of each flow."""
        return {name: versions[max(versions)] for name, versions in self._flows.items()}

    def find_flow(self, name: str, version: int | None = None) -> Flow:
        """Return a version of a flow, by default the newest. Raises `NotFound` if there is no such flow or version."""
        versions = self._flows.get(name)
        if not versions:
            hint = did_you_mean(name, self._flows) or f"there is {', '.join(self._flows) or 'none'}"
            raise NotFound(f"agent {self.name!r} has no flow {name!r}; {hint}")
        if version is not None and version not in versions:
            raise NotFound(f"agent {self.name!r} has no version {version} of flow {name!r} here; deploy it")
        return versions[max(versions) if version is None else version]

    async def may(self, action: str, actor: str | None, user: str) -> bool:
        """Return whether the setting `admins` allows an actor to do an action. `user` is what the action applies to:
        the external id of a user, the id of an escalation, or an empty text. If `actor` is None, nothing is allowed."""
        admins = self.settings.admins
        if actor is None:
            return False
        if not callable(admins):
            return actor in admins
        try:
            return bool(await call(admins, action, actor, user))
        except (KeyboardInterrupt, SystemExit) as problem:  # each of them would stop the process
            raise RuntimeError(f"admins= of agent {self.name!r} raised {describe_exception(problem)}") from problem

    def declaration(self) -> dict[str, Any]:
        """Return the facts about the agent that other processes need, as a JSON object."""
        settings = self.settings
        return {
            "tz": settings.tz,
            "queue": settings.queue,
            "keep": settings.keep,
            "flows": {
                name: {"version": flow.version, "description": flow.description} for name, flow in self.flows.items()
            },
            "tools": sorted(self.tools),
            "segments": sorted(self.segments),
            "campaigns": dict(settings.campaigns),
            "scheduler": settings.scheduler.as_json(),
            "writes": {
                "model": settings.model is not None,
                "prompt": bool(settings.prompt),
                "hook": "before_llm" in self.hooks,
            },
            "admins": None if callable(settings.admins) else sorted(settings.admins),
        }


def write_declaration(declaration: Mapping[str, Any]) -> str:
    """Return the text that stores the result of `Agent.declaration`. Stores keep the former names of the field `tz`,
    `zone` and `scheduler.timezone`, so that nodes of older versions can read them."""
    stored = {"zone" if name == "tz" else name: value for name, value in declaration.items()}
    scheduler = declaration["scheduler"]
    stored["scheduler"] = {"timezone" if name == "tz" else name: value for name, value in scheduler.items()}
    return orjson.dumps(stored).decode()


def read_declaration(text: str) -> dict[str, Any]:
    """Read a declaration from the text of `write_declaration`."""
    stored = orjson.loads(text)
    scheduler = stored.get("scheduler") or {}
    declaration = {"tz" if name == "zone" else name: value for name, value in stored.items()}
    declaration["scheduler"] = {"tz" if name == "timezone" else name: value for name, value in scheduler.items()}
    return declaration


def session_function(agent: str) -> str:
    """Return the name of the durable function that handles the sessions of an agent."""
    return f"agent/{agent}"


def make_agent(
    name: str,
    *,
    tz: str = "",
    model: Model | None,
    transport: Transport,
    prompt: str | Callable[..., Any] = "",
    fallback: str | None = None,
    idle: Length = _IDLE,
    end_after: Length = _END,
    keep: Length | None = None,
    history: int = 20,
    rounds: int = 8,
    model_retry: Retry | int | Mapping[str, Any] | None = 3,
    model_timeout: Length = "30s",
    structured: bool = False,
    admins: Collection[str] | Callable[..., Any] = (),
    queue: str = "default",
    campaigns: Mapping[str, Any] | None = None,
    scheduler: Mapping[str, Any] | None = None,
    schedules: Mapping[str, Mapping[str, Any]] | None = None,
    tools: Sequence[Any] = (),
) -> Agent:
    """Check a declaration and return the agent. Raises OstinatoError, which names the setting that is invalid."""
    check_text(name, "the agent's name")
    where = f"agent {name!r}"
    if "/" in name or len(name) > 100:
        raise OstinatoError(f"{where}: a name has no slash, and at most 100 characters")
    if tz == "":
        raise OstinatoError(f"{where} has no tz, its time zone; write tz='Europe/Berlin'")
    check_text(tz, f"{where}: tz")
    zones.zone(tz, f"{where}: tz")
    if model is not None and not callable(getattr(model, "complete", None)):
        raise OstinatoError(f"{where}: model {short_repr(model)} has no `complete`; write OpenAIModel(…)")
    if not callable(getattr(transport, "send", None)) or not isinstance(getattr(transport, "idempotent", None), bool):
        raise OstinatoError(
            f"{where}: transport {short_repr(transport)} has no `send` and `idempotent`; write WebhookTransport(…)"
        )
    if isinstance(admins, str):
        raise OstinatoError(f"{where}: admins {admins!r} is one text; write [{admins!r}]")
    if not callable(admins):
        if not isinstance(admins, Collection):
            raise OstinatoError(f"{where}: admins {short_repr(admins)} is neither a list of actors nor a function")
        for actor in admins:
            check_text(actor, f"{where}: admins: an actor")
    if not callable(prompt) and prompt != "":
        if not isinstance(prompt, str):
            raise OstinatoError(f"{where}: prompt {short_repr(prompt)} is neither a text nor a function")
        check_text(prompt, f"{where}: the prompt")
    if fallback is not None:
        check_text(fallback, f"{where}: the fallback")
    read_truth(structured, f"{where}: structured")
    idle_for = read_length(idle, "idle")
    ends_after = read_length(end_after, "end_after")
    if not 0 < idle_for < ends_after <= 366 * DAY:
        raise OstinatoError(f"{where}: idle {idle!r} and end_after {end_after!r} are not 0 < idle < end_after <= 366 d")
    keeps = None if keep is None else read_length(keep, "keep")
    if keeps is not None and not DAY <= keeps <= 3660 * DAY:
        raise OstinatoError(f"{where}: keep {keep!r} is neither None (without a limit) nor a length from 1 d to 3660 d")
    for what, count, most in (("history", history, 1000), ("rounds", rounds, 50)):
        if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= most:
            raise OstinatoError(f"{where}: {what} {short_repr(count)} is not a whole number from 1 to {most}")
    check_text(queue, f"{where}: the queue")
    check_defaults(campaigns or {}, f"{where}: campaigns")
    check_cap(read_options(with_defaults(None, campaigns or {})), keeps, f"{where}: campaigns")
    scheduling = read_scheduler(scheduler or {}, f"{where}: scheduler")
    if schedules is not None and not isinstance(schedules, Mapping):
        raise OstinatoError(f"{where}: schedules {short_repr(schedules)} are not an object of definitions by key")
    for key, document in (schedules or {}).items():
        check_text(key, f"{where}: the key of a schedule")
        read_definition(document, scheduling.tz or tz, f"{where}: schedules[{key!r}]")
    if isinstance(tools, str) or not isinstance(tools, Sequence):
        raise OstinatoError(f"{where}: tools {short_repr(tools)} are not a list; write tools=[schedule_tools(…)]")
    return Agent(
        AgentSettings(
            name=name,
            tz=tz,
            model=model,
            transport=transport,
            prompt=prompt,
            fallback=fallback,
            idle=idle_for,
            end_after=ends_after,
            keep=keeps,
            history=history,
            rounds=rounds,
            model_retry=read_retry(model_retry),
            model_timeout=read_positive_length(model_timeout, "model_timeout") or 30 * SECOND,
            structured=structured,
            admins=admins if callable(admins) else frozenset(admins),
            queue=queue,
            campaigns=orjson.loads(to_json(dict(campaigns or {}), f"{where}: campaigns")),
            scheduler=scheduling,
            schedules=dict(schedules or {}),
            tools=tuple(tools),
        )
    )


def check_arguments(model: type[BaseModel], input: Mapping[str, Any] | None, where: str) -> dict[str, Any]:
    """Check `input` against the pydantic model of a function's parameters. Return the function's arguments. Raises
    `InputError`, which names each wrong or unknown field."""
    from pydantic import ValidationError

    refuse_nul(dict(input or {}), where)
    try:
        checked = model.model_validate(dict(input or {}))
    except ValidationError as problem:
        faults = describe_faults(model, problem)
        places = [f"{'.'.join(map(str, place)) or 'input'}: {words}" for place, words in faults]
        raise InputError(f"{where}: {'; '.join(places)}", faults) from None
    return {name: getattr(checked, name) for name in model.model_fields}


def describe_faults(model: type[BaseModel], problem: ValidationError) -> list[tuple[tuple[str | int, ...], str]]:
    """Convert a pydantic error into pairs: the path of a field, and a text that says what is wrong there. `problem` is
    the error that pydantic raised when it checked an input against `model`."""
    faults: list[tuple[tuple[str | int, ...], str]] = []
    for error in problem.errors():
        if error["type"] != "extra_forbidden":
            faults.append((error["loc"], error["msg"]))
            continue
        names = _names_at(model, error["loc"][:-1])
        unknown = str(error["loc"][-1])
        hint = "" if names is None else did_you_mean(unknown, names) or _names_in_words(names)
        faults.append((error["loc"], f"there is no such argument{'; ' + hint if hint else ''}"))
    return faults


def _names_in_words(names: Sequence[str]) -> str:
    return f"there is {', '.join(names)}" if names else "there are no arguments"


def _names_at(model: type[BaseModel], place: Sequence[Any]) -> list[str] | None:
    """Return the field names of the model that is nested in `model` at the path `place`. If the path is empty, return
    the field names of `model` itself. Return None if no model is known at this path."""
    kinds: list[Any] = [model]
    for part in place:
        kinds = [inner for kind in kinds for inner in _kinds_inside(kind, part)]
    models = [kind for kind in kinds if _is_model(kind)]
    return list(dict.fromkeys(name for one in models for name in one.model_fields)) if models else None


def _kinds_inside(kind: Any, part: str | int) -> list[Any]:
    """Return the types that one part of a value may have. `kind` is the type of the whole value. `part` is one step of
    a path in a pydantic error, and can be:

    - a field of a model
    - an index of a list
    - a key of a dict
    - the name of a model that is a member of a union

    Return [] if no type is known.
    """
    if not _is_model(kind):
        items = get_args(kind)
        if get_origin(kind) is tuple and isinstance(part, int) and Ellipsis not in items:
            items = items[part : part + 1]
        return [inner for item in items for inner in _members(item)]
    if part in kind.model_fields:
        return _members(kind.model_fields[part].annotation)
    return [kind] if part == kind.__name__ else []


def _members(kind: Any) -> list[Any]:
    """Return the members of a union. If `kind` is no union, return it alone."""
    if get_origin(kind) in (Annotated, Union, UnionType):
        return [member for item in get_args(kind) for member in _members(item)]
    return [kind]


def _is_model(kind: Any) -> bool:
    from pydantic import BaseModel

    return isinstance(kind, type) and issubclass(kind, BaseModel)


def undeclared(model: type[BaseModel], input: Mapping[str, Any] | None) -> list[str]:
    """Return the names of fields in `input` that `model` does not have, such as `address.city` for a nested field."""
    from pydantic import ValidationError

    try:
        model.model_validate(dict(input or {}))
    except ValidationError as problem:
        return [".".join(map(str, one["loc"])) for one in problem.errors() if one["type"] == "extra_forbidden"]
    return []


def _arguments(function: Callable[..., Any]) -> type[BaseModel]:
    """Return a pydantic model of a function's parameters, without `ctx`. Raises OstinatoError if a parameter cannot be
    passed by name."""
    from pydantic import ConfigDict, create_model

    fields: dict[str, Any] = {}
    for name, parameter in inspect.signature(function, eval_str=True).parameters.items():
        if name in ("ctx", "context"):
            continue
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise OstinatoError(f"{getattr(function, '__name__', function)!r}: {name!r} cannot be given by name")
        annotation = Any if parameter.annotation is parameter.empty else parameter.annotation
        fields[name] = (annotation, ... if parameter.default is parameter.empty else parameter.default)
    return create_model(getattr(function, "__name__", "input"), __config__=ConfigDict(extra="forbid"), **fields)


def _describe(function: Callable[..., Any], description: str | None) -> str:
    return description if description is not None else (inspect.getdoc(function) or "").strip()


@dataclass(slots=True)
class AgentCodes:
    """The agents that a process has declared, by name."""

    by_name: dict[str, Agent] = field(default_factory=dict)

    def add(self, agent: Agent) -> None:
        if agent.name in self.by_name:
            raise OstinatoError(f"there are two agents called {agent.name!r}")
        self.by_name[agent.name] = agent

    def get(self, name: str) -> Agent | None:
        return self.by_name.get(name)
