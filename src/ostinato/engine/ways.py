"""Define the class `Way`. An extension of the engine is an object of this class.

`ostinato.ways` lists the extensions that come with Ostinato; `Ostinato(ways=[…])` adds more. The code of an extension,
its `Runtime`, is imported only when an app is created. `docs/how-to/write-a-way.md` shows how to write a `Way`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

from ostinato.errors import OstinatoError

if TYPE_CHECKING:  # what only an app loads
    from ostinato.engine.checks import Check
    from ostinato.engine.computing import Computing
    from ostinato.engine.http.egress import Egress
    from ostinato.engine.jobs import Handler
    from ostinato.engine.kinds import Body, RunKind, Scan
    from ostinato.engine.node import Engine
    from ostinato.engine.timers import Fire, Park
    from ostinato.event_names import EventNames
    from ostinato.store.contract import Migration, Operation, Store
    from ostinato.when.instants import Micros

T = TypeVar("T")
Loop: TypeAlias = Callable[[], Awaitable[None]]
LookAtStore: TypeAlias = "Callable[[Micros], Operation[Check]]"  # the argument is the present time


class Table(NamedTuple):
    """A table of the engine or of an extension (`Way`).

    - `namespace="restrict"`: a namespace with rows in this table cannot be deleted.
    - `namespace="cascade"`: when a namespace is deleted, its rows in this table are deleted, too.
    - `namespace=None`: deleting a namespace does not change this table.
    - `words`: what error messages call the rows, such as "runs".
    """

    name: str
    namespace: Literal["restrict", "cascade"] | None = None
    words: str = ""


class Command(NamedTuple):
    """A command of the command line, or a group of commands. `place` is where its code is, as `module:name`."""

    place: str
    help: str


class Problem(NamedTuple):
    """The HTTP status and the title of the response to an error. If the error has a method `problem_members`, the
    method returns a dict of more fields for the response body."""

    status: int
    title: str


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of an extension (`Way`). Its value is a keyword argument of `Ostinato(…)`. The extension finds the
    value in `Host.settings`.

    If `read` is not None, an operator can also set the value, with an option of the command line, an environment
    variable or the configuration file. `read(raw, place)` converts what the operator wrote, and returns the value.
    `raw` is what the operator wrote. `place` says where it is written, for error messages. `read` is a function, or a
    text `module:name` that names a function. If `many` is true, the option of the command line may be repeated.
    """

    name: str
    help: str = ""
    read: str | Callable[[Any, str], Any] | None = None
    many: bool = False


class Action(Protocol):
    """A kind of action that schedules can start. Implement it with `schedules.actions.ActionKind`."""

    @property
    def name(self) -> str: ...


class Api(Protocol):
    """The API of an extension (`Way`). It is an attribute of the app, with the name of the `Way`."""

    def within(self, namespace: str, actor: str | None) -> Any:
        """Return the same API for another namespace or another actor."""
        ...


@dataclass(frozen=True, slots=True)
class Host:
    """The objects that an app provides to an extension (`Way`).

    - `engine`: returns the engine; raises an error while the app is closed
    - `node`: returns the id of the node in this process, or None if there is no node or the node is stopping
    - `virtual`: whether the app runs on virtual time, in tests
    - `actions`: the kinds of actions that all extensions of the app provide, by name
    - `way`: takes the name of a `Way` that is listed before this one, and returns the API of that `Way`
    """

    store: Store
    engine: Callable[[], Engine]
    node: Callable[[], str | None]
    new_id: Callable[[Micros], str]
    egress: Egress
    computing: Computing
    event_names: EventNames
    virtual: bool
    namespace: str
    actor: str | None
    settings: Mapping[str, Any]
    actions: Mapping[str, Action] = field(default_factory=dict)
    way: Callable[[str], Any] = lambda name: None


class Part:
    """The object that does the work of an extension (`Way`) in one app. A subclass overrides what it needs."""

    api: Api | None = None
    jobs: Sequence[Handler] = ()

    def __init__(self, host: Host) -> None:
        self.host = host

    def take_over(self, before: Part) -> None:
        """Copy what users have declared with the part `before`, for example functions. Called by `app.configure`, which
        replaces `before` by this part."""

    def begin(self, engine: Engine) -> Mapping[str, Body]:
        """Prepare the part before `engine` opens the store. Returns a dict from a kind of run to the function that
        executes such runs."""
        return {}

    async def prepare(self) -> None:
        """Prepare what the extension (`Way`) needs in the store, for example definitions. Called when a node starts,
        before the node fires timers or claims runs."""

    def loops(self) -> Mapping[str, Loop]:
        """Return a dict from a name to a background function, which runs while the app is a node. If the function ends
        or fails, it is called again."""
        return {}

    async def close(self) -> None:
        """Release the resources of the part. Called after the engine has stopped."""

    async def abandon(self) -> None:
        """Release the resources, and write nothing. Called instead of `close` after a failed start or a crash."""
        await self.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """The code of an extension (`Way`).

    - `part`: creates the extension's `Part`
    - `kinds`: the extension's kinds of runs, by name
    - `timers`: a dict from (kind, purpose) to the function that fires such timers
    - `parks`: a dict from (kind, purpose) to a function that is called if such a timer fails; it stores the reason with
      the owner of the timer, and returns whether it did
    - `actions`: the actions that the extension adds to schedules
    - `scan`: looks for broken invariants, in addition to the scans of `kinds`; None if there is nothing else to scan
    - `checks`: what `ostinato doctor` checks for the extension; each reads the store, and returns its result
    """

    part: Callable[[Host], Part] = Part
    kinds: Mapping[str, RunKind] = field(default_factory=dict)
    timers: Mapping[tuple[str, str], Fire] = field(default_factory=dict)
    parks: Mapping[tuple[str, str], Park] = field(default_factory=dict)
    actions: Sequence[Action] = ()
    scan: Scan | None = None
    checks: Sequence[LookAtStore] = ()


@dataclass(frozen=True, kw_only=True)
class Way:
    """An extension of the engine, with its own run kinds, timers, actions, tables, routes or commands.

    - `runtime`: the extension's code, or a text `module:NAME` that says where the code is
    - `migrations`: the migrations of the tables, or a text `module:NAME` that says where the migrations are
    - `events`: a dict from a subject of events to its verbs, such as `{"order": "created deleted"}`
    - `routers`: a dict from the first segment of a path to an HTTP router
    - `commands`: a dict from a name to a command of the command line
    - `problems`: a dict from an error class to an HTTP status and a title

    Routers, commands and error classes are written as `module:name`. Routers and commands are imported when they are
    needed.
    """

    name: str
    runtime: str | Runtime
    tables: tuple[Table, ...] = ()
    migrations: str | tuple[Migration, ...] = ()
    settings: tuple[Setting, ...] = ()
    events: Mapping[str, str] = field(default_factory=dict)
    routers: Mapping[str, str] = field(default_factory=dict)
    commands: Mapping[str, Command] = field(default_factory=dict)
    problems: Mapping[str, Problem] = field(default_factory=dict)

    @cached_property
    def loaded_runtime(self) -> Runtime:
        runtime: Runtime = load(self.runtime)
        return runtime

    @property
    def loaded_migrations(self) -> tuple[Migration, ...]:
        migrations: tuple[Migration, ...] = load(self.migrations)
        return migrations


def load(named: Any) -> Any:
    """Import and return the object with the name `module:name`. A value that is not a text is returned unchanged."""
    if not isinstance(named, str):
        return named
    module, _, name = named.partition(":")
    return getattr(import_module(module), name)


class Ways:
    """The extensions (`Way`) of one app, and what they define. For example, `settings` maps the name of a setting to
    the setting, and `tables` maps the name of a table to the table. Raises `OstinatoError` if two extensions use the
    same name, for example for a table."""

    def __init__(self, ways: Iterable[Way]) -> None:
        self._all = tuple(ways)
        self._merged("way", lambda way: {way.name: way})
        self.settings = self._merged("setting", lambda way: {one.name: one for one in way.settings})
        self.tables = self._merged("table", lambda way: {table.name: table for table in way.tables})
        self.events = self._merged("subject of events", lambda way: way.events)
        self.routers = self._merged("path", lambda way: way.routers)
        self.commands = self._merged("command", lambda way: way.commands)
        self.problems = self._merged("problem", lambda way: way.problems)

    def __iter__(self) -> Iterator[Way]:
        return iter(self._all)

    def _merged(self, what: str, part: Callable[[Way], Mapping[Any, T]]) -> dict[Any, T]:
        merged: dict[Any, T] = {}
        for way in self._all:
            for key, value in part(way).items():
                if key in merged:
                    raise OstinatoError(f"two ways have a {what} called {key!r}; rename that of {way.name!r}")
                merged[key] = value
        return merged

    @cached_property
    def kinds(self) -> dict[str, RunKind]:
        return self._merged("kind of run", lambda way: way.loaded_runtime.kinds)

    @cached_property
    def scans(self) -> list[Scan]:
        return [way.loaded_runtime.scan for way in self._all if way.loaded_runtime.scan is not None]

    @cached_property
    def checks(self) -> list[LookAtStore]:
        return [check for way in self._all for check in way.loaded_runtime.checks]

    @cached_property
    def timers(self) -> dict[tuple[str, str], Fire]:
        return self._merged("timer", lambda way: way.loaded_runtime.timers)

    @cached_property
    def parks(self) -> dict[tuple[str, str], Park]:
        return self._merged("timer", lambda way: way.loaded_runtime.parks)

    @cached_property
    def actions(self) -> dict[str, Action]:
        return self._merged("action", lambda way: {action.name: action for action in way.loaded_runtime.actions})

    def problem_of(self, error: BaseException) -> Problem | None:
        """Return the HTTP status and title that are registered for the class of an error, or for its nearest base
        class. Returns None if neither the class nor any base class is registered."""
        for kind in type(error).__mro__:
            problem = self.problems.get(f"{kind.__module__}:{kind.__qualname__}")
            if problem is not None:
                return problem
        return None
