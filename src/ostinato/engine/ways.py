"""Define the class `Way`, of which each extension of the engine is an object.

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
    from ostinato.engine.computing import Computing
    from ostinato.engine.http.egress import Egress
    from ostinato.engine.jobs import Handler
    from ostinato.engine.kinds import Body, RunKind, Scan
    from ostinato.engine.node import Engine
    from ostinato.engine.timers import Fire, Park
    from ostinato.event_names import EventNames
    from ostinato.store.contract import Store
    from ostinato.store.migrate import Migration
    from ostinato.when.instants import Micros

T = TypeVar("T")
Loop: TypeAlias = Callable[[], Awaitable[None]]


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
    """The HTTP status and title of an error. An error may have a method `problem_members`, which returns further
    members of the response body."""

    status: int
    title: str


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of an extension (`Way`). It is a keyword of `Ostinato(…)`. The extension's `Part` finds the value in
    `Host.settings`.

    If `read` is given, operators can set the value, too. They use an option of `ostinato serve` and `worker`, an
    environment variable or the configuration file. `read(raw, place)` converts the raw value. `place` says where the
    raw value was given, for error messages. `read` may be named as `module:name`. With `many`, the option may be given
    several times.
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
        """Return the same object for another namespace or another actor."""
        ...


@dataclass(frozen=True, slots=True)
class Host:
    """The objects that an app provides to an extension (`Way`).

    - `engine`: returns the engine; raises an error while the app is closed
    - `node`: returns the id of the node in this process, or None, if there is no node or the node is stopping
    - `virtual`: whether the app runs on virtual time, in tests
    - `actions`: the action kinds that the extensions provide, by name
    - `way`: gets the name of a `Way` that is listed before this one, and returns the API of that `Way`
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
    """The object that does the work of an extension (`Way`) in one app. A subclass sets `api` and `jobs`, and overrides
    the methods that it needs."""

    api: Api | None = None
    jobs: Sequence[Handler] = ()

    def __init__(self, host: Host) -> None:
        self.host = host

    def take_over(self, before: Part) -> None:
        """Take over the declarations of `before`, the part that this part replaces. Called if the app gets another
        store or other settings before the app runs."""

    def begin(self, engine: Engine) -> Mapping[str, Body]:
        """Prepare for the opening of the store, and return a function for each kind of run. A node calls the function
        with each claimed run of that kind."""
        return {}

    async def prepare(self) -> None:
        """Prepare the data of this `Way`. Called on a node before the node fires timers or claims runs."""

    def loops(self) -> Mapping[str, Loop]:
        """Return a dict of background functions by name. The functions run while the app is a node. A function that
        fails is called again."""
        return {}

    async def close(self) -> None:
        """Release the resources of the part. Called after the engine has stopped."""

    async def abandon(self) -> None:
        """Release the resources of the part, and write nothing. Called instead of `close` if the app could not be
        opened, or if its node was killed."""
        await self.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """The code of an extension (`Way`).

    - `part`: creates the extension's `Part`
    - `kinds`: the extension's kinds of runs, by name
    - `timers`: a dict from (kind, purpose) to the function that fires such timers
    - `parks`: a dict from (kind, purpose) to the function that stores why such a timer failed
    - `actions`: the actions that the extension adds to schedules
    - `scan`: looks for broken invariants that the scans of `kinds` do not cover, or None, if there is nothing to scan
    """

    part: Callable[[Host], Part] = Part
    kinds: Mapping[str, RunKind] = field(default_factory=dict)
    timers: Mapping[tuple[str, str], Fire] = field(default_factory=dict)
    parks: Mapping[tuple[str, str], Park] = field(default_factory=dict)
    actions: Sequence[Action] = ()
    scan: Scan | None = None


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
    def loaded(self) -> Runtime:
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
    """The extensions (`Way`) of one app. The constructor raises `OstinatoError` if two of them have the same name, or
    use the same name for a setting, a table, a command and so on."""

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
        return self._merged("kind of run", lambda way: way.loaded.kinds)

    @cached_property
    def scans(self) -> list[Scan]:
        return [way.loaded.scan for way in self._all if way.loaded.scan is not None]

    @cached_property
    def timers(self) -> dict[tuple[str, str], Fire]:
        return self._merged("timer", lambda way: way.loaded.timers)

    @cached_property
    def parks(self) -> dict[tuple[str, str], Park]:
        return self._merged("timer", lambda way: way.loaded.parks)

    @cached_property
    def actions(self) -> dict[str, Action]:
        return self._merged("action", lambda way: {action.name: action for action in way.loaded.actions})

    def problem_of(self, error: BaseException) -> Problem | None:
        """Return the HTTP status and title that an extension (`Way`) has registered for the class of an error, or for
        its nearest base class. Returns None if no extension has registered them."""
        for kind in type(error).__mro__:
            problem = self.problems.get(f"{kind.__module__}:{kind.__qualname__}")
            if problem is not None:
                return problem
        return None
