"""Define the class `Ostinato`, the app. Users declare jobs and schedules on an app, and start runs through it."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from copy import copy
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar, Unpack, cast, overload

import orjson

from ostinato.app_access import AppAccess
from ostinato.app_queries import AppQueries
from ostinato.clock import MachineClock, SystemClock
from ostinato.declare_job import JobOptions, check_names, make_handler
from ostinato.engine.computing import Computing
from ostinato.engine.executor import BodyStop
from ostinato.engine.group_commit import Committer
from ostinato.engine.http.egress import Egress, EgressPolicy
from ostinato.engine.http.job import http_handler
from ostinato.engine.idempotency import check_request_id, digest, once, run_once
from ostinato.engine.invariants import Finding, scan
from ostinato.engine.jobs import Handler
from ostinato.engine.kinds import JOB, Kinds
from ostinato.engine.listeners import Callback, ChainOutcome
from ostinato.engine.log import log
from ostinato.engine.node import Engine, Settings
from ostinato.engine.rows import read_options, write_options
from ostinato.engine.runs import Started, start, stop
from ostinato.engine.settings import change_settings
from ostinato.engine.tables import NamespaceTables
from ostinato.engine.timers import unpark
from ostinato.engine.ways import Host, Part, Way
from ostinato.errors import (
    Conflict,
    InputError,
    OstinatoError,
    RunCancelled,
    RunFailed,
    check_text,
    did_you_mean,
    list_choices,
    missing_attribute,
    short_repr,
)
from ostinato.event_names import EventNames
from ostinato.ids import Ids
from ostinato.model import DEFAULT_NAMESPACE, Run, Status, Timer, read_length
from ostinato.run_views import RunInfo
from ostinato.schedules.actions import Maker
from ostinato.schedules.api.at_start import prepare
from ostinato.schedules.api.changes import Schedules
from ostinato.schedules.api.queries import ScheduleApiContext
from ostinato.schedules.declared.decorators import Declarations
from ostinato.schedules.lateness import Staleness
from ostinato.schedules.model import Schedule
from ostinato.schedules.operations import retention
from ostinato.schedules.operations.fire import purposes
from ostinato.schedules.operations.park import park_owner
from ostinato.schedules.operations.run_ended import conclude
from ostinato.schedules.validation import DefinitionChecks, ScheduleOptions, SpecLike, define, read_name
from ostinato.start_checks import RunBuilder, StartCall, StartManyCall, StartOptions, is_same_function
from ostinato.store.backup import Progress, backup
from ostinato.store.caller_transaction import run_in_caller_transaction
from ostinato.store.contract import Operation, Store
from ostinato.store.urls import open_url
from ostinato.until_signal import run_until_signal
from ostinato.version import __version__
from ostinato.ways import WaySettings, action_kinds, all_ways, companions, owned_tables
from ostinato.when import Spec, manual
from ostinato.when.durations import Length
from ostinato.when.instants import SECOND
from ostinato.when.spec_text import parse_spec_text
from ostinato.why_unfinished import has_nodes, warn_without_nodes, why_not_over

if TYPE_CHECKING:
    from ostinato.flows.api import Agents
    from ostinato.flows.definition import Agent
    from ostinato.flows.models import Model
    from ostinato.flows.transports import Transport
    from ostinato.functions.api import Functions
    from ostinato.journeys.api.changes import Journeys
    from ostinato.webhooks.api import Webhooks
    from ostinato.workflows.api import Workflows
    from ostinato.workflows.declaration import WorkflowCode

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
C = TypeVar("C", bound=Callback)
Input: TypeAlias = Mapping[str, Any]


class RunHandle(Generic[T_co]):
    """A handle for a started run. It can wait for the run's result, read the run, and cancel the run. `new` is true if
    the call of `start` created the run, and false if a run with the same id existed already."""

    __slots__ = ("_app", "id", "new")

    def __init__(self, app: Ostinato, id: str, new: bool) -> None:
        self._app = app
        self.id = id
        self.new = new

    async def result(self, timeout: Length | None = None) -> T_co:
        """Wait for the end of the run, and return its result. Logs a warning if no node runs on the store. Raises
        `RunFailed` or `RunCancelled` if the run did not succeed, and `TimeoutError` if it has not ended in time. The
        message of `TimeoutError` says what the run waits for."""
        try:
            async with asyncio.timeout(None if timeout is None else read_length(timeout, "timeout") / SECOND):
                ended = await self._app._ended(self.id)
        except TimeoutError:
            raise TimeoutError(f"run {self.id} is not over: {await self._app._why_not_over(self.id)}") from None
        return cast(T_co, _result(self.id, ended))

    async def cancel(self, reason: str = "") -> str:
        """Cancel the run, and return the status of the run afterwards. The status is still `active` if a node is
        executing the run, because this node must stop the function first."""
        return await self._app.cancel(self.id, reason)

    async def info(self) -> RunInfo:
        return await self._app.get(self.id)

    def __repr__(self) -> str:
        return f"<run {self.id}>"


def _result(id: str, ended: ChainOutcome) -> Any:
    if ended.status == "succeeded":
        return None if ended.result is None else orjson.loads(ended.result)
    error = None if ended.error is None else orjson.loads(ended.error)
    kind = RunFailed if ended.status in ("failed", "timed_out", "crashed") else RunCancelled
    raise kind(id, ended.status, ended.reason, error)


def _describe_start(run: Run, id: str | None, at: datetime | str | None, options: Mapping[str, Any]) -> str:
    """Return a text that identifies a call of `start`: the name of the job, and a digest of the arguments. `run` is the
    run that the call has prepared. A later call with the same `request_id` is refused if its text is different."""
    return f"start {run.name} {digest(id, at, run.input, options)}"


def _prepare_nth(
    starting: RunBuilder, id: str, input: Mapping[str, Any], name: str | None, number: int
) -> tuple[Run, Timer | None]:
    """Build the run for one input of `start_many`; `number` is the index of the input. Raises `OstinatoError` if the
    input is wrong. The message begins with the index, such as `inputs[3]: …`."""
    try:
        return starting.run(id, input, name)
    except InputError as problem:
        words, place = f"inputs[{number}]: {problem}", ("inputs", number)
        raise InputError(words, problem.faults, argument=place, secret=problem.secret) from None
    except OstinatoError as problem:
        raise OstinatoError(f"inputs[{number}]: {problem}") from None


class Ostinato(AppQueries, AppAccess):
    """An app: a store, the declared jobs, and, while the app runs, a node that executes them.

    `async with app:` runs a node. `async with app.connected():` only opens the store, to start and watch runs that
    other processes execute. `ways` are further extensions of the engine (objects of the class `Way`). `settings` are
    the settings of all extensions.
    """

    webhooks: Webhooks
    journeys: Journeys
    workflows: Workflows
    functions: Functions
    agents: Agents

    def __init__(
        self,
        store: str | Store = "sqlite:///ostinato.db",
        *,
        queues: str | Sequence[str] = ("default",),
        concurrency: int = 100,
        threads: int = 16,
        min_interval: Length = "1s",
        backfill_batch: int = 50,
        lease: Length = "4s",
        grace: Length = "10s",
        keep_runs: Length = "30d",
        keep_events: Length = "30d",
        egress: EgressPolicy | Egress | None = None,
        namespace: str = DEFAULT_NAMESPACE,
        actor: str | None = None,
        name: str | None = None,
        prune_schedules: bool = False,
        ways: Sequence[Way] = (),
        clock: MachineClock | None = None,
        ids: Ids | None = None,
        dice: random.Random | None = None,
        **settings: Unpack[WaySettings],
    ) -> None:
        if not isinstance(store, str) and not hasattr(store, "read"):
            raise OstinatoError(
                f"the store {short_repr(store)} is no URL; write 'sqlite:///jobs.db' or 'postgresql://…'"
            )
        if not 1 <= backfill_batch <= 10_000:
            raise OstinatoError(f"backfill_batch {backfill_batch!r} is not from 1 to 10,000")
        if name is not None and (not isinstance(name, str) or not name.strip() or "\x00" in name):
            raise OstinatoError(f"the app's name {name!r} is not a text")
        check_text(namespace, "the namespace")
        if prune_schedules and name is None:
            raise OstinatoError(
                "prune_schedules needs name=…: without one, nothing says which schedules are this app's"
            )
        values = {"queues": queues, "concurrency": concurrency, "threads": threads, "lease": lease, "grace": grace}
        self.settings = change_settings(Settings(), {**values, "keep_runs": keep_runs, "keep_events": keep_events})
        self.namespace = namespace
        self.actor = actor
        self._clock = clock or SystemClock()
        self._ids = ids or Ids()
        self._dice = dice
        self._way_out = egress if isinstance(egress, Egress) else Egress(egress)
        self._handlers: dict[str, Handler] = {"http": http_handler(self._way_out)}
        self._listeners: list[tuple[str, Callback, str | None]] = []
        self._backfill_batch = backfill_batch
        self.ways = all_ways(ways)
        for way in ways:
            if hasattr(type(self), way.name) or not way.name.isidentifier():
                raise OstinatoError(f"a way cannot be called {way.name!r}: it is an attribute of the app; rename it")
            for setting in way.settings:
                if setting.name in (self.__init__.__kwdefaults__ or {}):  # type: ignore[misc]
                    raise OstinatoError(f"way {way.name!r}: the setting {setting.name!r} is the app's own; rename it")
        self._companions = companions()
        forget_runs = [companion.forget_runs for companion in self._companions.values()]
        run_ended = partial(conclude, companions=self._companions)
        kinds = Kinds(self.ways.kinds, run_ended, forget_runs, self.ways.scans)
        self.action_kinds = action_kinds(self.ways)
        self.event_names = EventNames(self.ways.events)
        self._maker = Maker(lambda job: self.engine.find_job(job), self.action_kinds, kinds, self._companions)
        self._namespace_tables = NamespaceTables(table for _, table in owned_tables(self.ways))
        self._way_settings: dict[str, Any] = {}
        self._set_ways(settings)
        self._min_interval = read_length(min_interval, "min_interval")
        self._declarations = Declarations(self._name_of, name)
        self._implied: dict[Callable[..., Any], str] = {}  # jobs that are declared by their schedule alone
        self._prune_schedules = prune_schedules
        self.computing = Computing()
        self._parts: dict[str, Part] = {}
        self._attach(open_url(store) if isinstance(store, str) else store)
        self._engine: Engine | None = None
        self._starts: Committer[tuple[Run, Timer | None], Started] | None = None
        self._is_node = False

    def _attach(self, store: Store) -> None:
        """Connect the app to `store`. Creates the API for schedules, and a `Part` for each extension (`Way`)."""
        self.store = store
        self.schedules = Schedules(
            ScheduleApiContext(
                store=store,
                now=lambda: self.engine.clock.now(),
                new_id=self._ids.new,
                checks=DefinitionChecks(self._maker, self._name_of, self._min_interval),
                nudge=lambda: self.engine.attend(),
                namespace=self.namespace,
                actor=self.actor,
                declarations=self._declarations,
                computing=self.computing,
            )
        )
        before = self._parts
        self._parts = {}
        for way in self.ways:
            part = self._parts[way.name] = way.loaded_runtime.part(self._host(way))
            if way.name in before:
                part.take_over(before[way.name])
            self._handlers |= {job.name: job for job in part.jobs}
            if part.api is not None:
                setattr(self, way.name, part.api)

    def _host(self, way: Way) -> Host:
        return Host(
            store=self.store,
            engine=lambda: self.engine,
            node=self._taking_node,
            new_id=self._ids.new,
            egress=self._way_out,
            computing=self.computing,
            event_names=self.event_names,
            virtual=self._clock.virtual,
            namespace=self.namespace,
            actor=self.actor,
            settings={one.name: self._way_settings[one.name] for one in way.settings if one.name in self._way_settings},
            actions=self.action_kinds,
            way=lambda name: self._parts[name].api,
        )

    def _set_ways(self, settings: Mapping[str, Any]) -> None:
        for name in settings:
            if name not in self.ways.settings:
                names = ["store", *(self.__init__.__kwdefaults__ or {}), *sorted(self.ways.settings)]  # type: ignore[misc]
                raise TypeError(
                    f"Ostinato(…) has no setting {name!r}; {did_you_mean(name, names) or list_choices(names)}"
                )
        self._way_settings |= settings

    @property
    def built_in_jobs(self) -> set[str]:
        """The names of the jobs that the user did not declare: `http`, and the jobs of the extensions (`Way`)."""
        return {"http", *(job.name for part in self._parts.values() for job in part.jobs)}

    def _taking_node(self) -> str | None:
        """Return the id of the node in this process. Return None if this process has no node, or if the node is
        stopping."""
        return self.engine.node if self._is_node and not self.engine.stopping else None

    def within(self, namespace: str, actor: str | None = None) -> Ostinato:
        """Return a view of this running app for `namespace` and `actor`. The view shares the store, the engine and the
        jobs with this app. If the app already has this namespace and this actor, returns the app itself."""
        if namespace == self.namespace and actor == self.actor:
            return self
        view = copy(self)
        view.namespace, view.actor = namespace, actor
        view.schedules = self.schedules.within(namespace, actor)
        for name, part in self._parts.items():
            if part.api is not None:
                setattr(view, name, getattr(self, name).within(namespace, actor))
        return view

    def configure(self, store: str | None = None, *, egress: EgressPolicy | None = None, **settings: Any) -> None:
        """Change the settings of an app that has not started. Settings that are not given stay as they are. `settings`
        may contain queues, concurrency, threads, lease, grace, keep_runs, keep_events, and the settings of extensions.
        Raises `OstinatoError` if the app is running or a value is wrong."""
        if self._engine is not None:
            raise OstinatoError("the app is running; configure it before")
        of_ways = {name: settings.pop(name) for name in self.ways.settings if name in settings}
        self.settings = change_settings(self.settings, settings)
        self._set_ways(of_ways)
        if egress is not None:
            self._way_out = Egress(egress)
            self._handlers["http"] = http_handler(self._way_out)
        if store is not None or egress is not None or of_ways:
            self._attach(self.store if store is None else open_url(store))

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise missing_attribute(self, "the app", name)

    # Lifecycle

    @property
    def engine(self) -> Engine:
        if self._engine is None:
            raise OstinatoError("the app is not running; use `async with app:` or `async with app.connected():`")
        return self._engine

    async def __aenter__(self) -> Ostinato:
        await self._open(node=True)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._close()

    def run(self) -> None:
        """Run a node until Ctrl-C or SIGTERM. A second signal ends the process at once. Logs to standard error, unless
        the script has configured logging."""
        if not logging.getLogger().handlers:
            logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)-7s %(name)s  %(message)s")
        run_until_signal(self._run_until)

    async def _run_until(self, stopped: asyncio.Event) -> None:
        async with self:
            await stopped.wait()

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[Ostinato]:
        """Open the store without running a node in this process. The store is closed at the end of the `async with`
        block."""
        await self._open(node=False)
        try:
            yield self
        finally:
            await self._close()

    async def _open(self, *, node: bool) -> None:
        if self._engine is not None:
            raise OstinatoError("the app is running already")
        self.computing.open()
        engine = Engine(
            self.store,
            self._clock,
            self._handlers,
            self.settings,
            kinds=self._maker.run_kinds,
            ids=self._ids,
            dice=self._dice,
            version=__version__,
        )
        engine.listeners.namespace = self.namespace
        maker = Maker(engine.find_job, self.action_kinds, self._maker.run_kinds, self._companions)
        engine.purposes.update(purposes(maker, self._ids.new, self._backfill_batch))
        engine.parks["schedule", "next"] = park_owner
        engine.purposes.update(retention.purposes(self.settings.keep_runs, self.action_kinds, self._companions))
        engine.preparations.append(self._prepare_schedules)
        for pattern, callback, name in self._listeners:
            engine.listeners.add(pattern, callback, name)
        self._starts = Committer(self._commit_starts, lambda _: None, retry=False)
        self._engine = engine
        self._is_node = node
        try:
            for way in self.ways:
                engine.add(way, self._parts[way.name])
            await (engine.start() if node else engine.connect())
        except BaseException:
            self._engine = None
            try:
                for part in self._parts.values():
                    await part.abandon()
            finally:
                await self.store.close()
            raise
        self._starts.start()

    async def _prepare_schedules(self) -> None:
        now, prune = self.engine.clock.now(), self._prune_schedules
        await prepare(self.schedules, self._declarations, self.store, now, prune=prune)

    async def _close(self) -> None:
        """Stop the node, and then close the store. If stopping the node fails, close the store nevertheless."""
        try:
            await self._stop_working()
        finally:
            await self.store.close()

    async def _stop_working(self) -> None:
        engine = self._engine
        try:
            if engine is not None and self._is_node:
                await engine.stop()
            starts, self._starts = self._starts, None
            if starts is not None:
                await starts.drain()
                await starts.stop()
            if engine is not None and not self._is_node:
                await engine.close()
        finally:
            self._engine = None
        for part in self._parts.values():
            await part.close()
        self.computing.close()

    async def _close_after_crash(self) -> None:
        """Close an app after its node was killed. Does not wait for runs, and writes no log lines."""
        self._engine = None
        self.computing.close()
        if self._starts is not None:
            await self._starts.stop()
            self._starts = None
        for part in self._parts.values():
            await part.abandon()
        await self.store.close()

    # Declaring

    def workflow(
        self, name: str, *, version: int | None = None, policy: Mapping[str, Any] | None = None
    ) -> WorkflowCode:
        """Declare a workflow. It is deployed when a node starts."""
        return self.workflows.declare(name, version=version, policy=policy)

    def agent(
        self, name: str, *, tz: str = "", model: Model | None = None, transport: Transport, **options: Any
    ) -> Agent:
        """Declare an agent that has conversations with people. `tz` is its time zone, such as `"Europe/Berlin"`; an
        agent without one is refused. The possible `options` are prompt, fallback, idle, end_after, history, rounds,
        model_retry, model_timeout, structured, admins, queue, campaigns, schedules, scheduler and tools."""
        return self.agents.declare(name, tz=tz, model=model, transport=transport, **options)

    @overload
    def function(self, function: F, /) -> F: ...

    @overload
    def function(
        self, /, *, name: str | None = None, version: int = 1, pinned: bool = False, **options: Any
    ) -> Callable[[F], F]: ...

    def function(self, function: Any = None, /, **options: Any) -> Any:
        """Declare a durable function: `@app.function`, or `@app.function(version=2, pinned=True)`. The results of its
        finished steps are stored, so these steps are not executed again after a crash."""

        def declare(function: F) -> F:
            name = options.get("name") or getattr(function, "__name__", "")
            if name in self._handlers:
                raise OstinatoError(f"there is a job called {name!r}; give the function name=…")
            return self.functions.declare(**options)(function)

        if function is None:
            return declare
        return declare(function) if callable(function) else self.functions.declare(function)

    @overload
    def job(self, function: F, /) -> F: ...

    @overload
    def job(self, /, **options: Unpack[JobOptions]) -> Callable[[F], F]: ...

    def job(self, function: Any = None, /, **options: Unpack[JobOptions]) -> Any:
        """Declare a function as a job: `@app.job`, or `@app.job(retry=3, timeout="30s")`. An async function runs as a
        task, and a plain function runs in a thread. With `process=True` the function runs in a child process, which can
        be killed. Raises `OstinatoError` if an option is wrong or another job has the same name."""
        check_names(options)
        if function is None:
            return lambda function: self._declare_job(function, options)
        if not callable(function):
            raise OstinatoError(f"@app.job({function!r}) names no function; write @app.job(name={function!r})")
        return self._declare_job(function, options)

    def _declare_job(self, function: F, options: JobOptions) -> F:
        handler = make_handler(function, options)
        name = handler.name
        if name in self.functions.codes:
            raise OstinatoError(f"there is a function called {name!r}; give the job name=…")
        if name in self.action_kinds:
            raise OstinatoError(f"a job cannot be called {name!r}, which is a kind of action; give it another name")
        implied = self._implied.pop(function, None)
        if implied is not None:
            del self._handlers[implied]
        declared = self._handlers.get(name)
        if declared is not None and not is_same_function(declared.function, function):
            raise OstinatoError(f"there are two jobs called {name!r}; give one of them name=…")
        self._handlers[name] = handler
        return function

    def schedule(
        self, spec: SpecLike, *, name: str | None = None, input: Input | None = None, **options: Unpack[ScheduleOptions]
    ) -> Callable[[F], F]:
        """Declare a schedule for a function: `@app.schedule(cron("0 9 * * 1-5", tz="Europe/Berlin"))`.

        The function becomes a job with default options, unless it is declared with `@app.job(…)`, above or below this
        decorator. The schedule's name is `name`, or the name of the job. The options are those of
        `app.schedules.create`, such as `tz`, the zone of a spec that is written as text. When a node starts, it creates
        or updates the schedule in the store. Raises `OstinatoError` if the spec or an option is wrong.
        """
        if not isinstance(spec, str | Spec | Mapping):
            raise OstinatoError(
                f"@app.schedule needs a spec, not {short_repr(spec)}: write @app.schedule('every 15m'), or "
                "@app.schedule(cron('0 9 * * 1-5', tz='Europe/Berlin'))"
            )
        if isinstance(spec, str):
            spec = parse_spec_text(spec, tz=options.pop("tz", None) or "")

        def declare(function: F) -> F:
            if self._engine is not None:
                raise OstinatoError("the app is running; use `await app.schedules.upsert(…)` instead of a declaration")
            if not any(handler.function is function for handler in self._handlers.values()):
                self.job(function)
                self._implied[function] = self._name_of(function)
            whole = {"spec": spec, "input": input, **options}
            # Check the schedule now, so that a mistake raises an error here and not when a node starts.
            checks = DefinitionChecks(Maker(self._handlers.get, self.action_kinds), self._name_of, self._min_interval)
            draft = Schedule("", read_name(name or self._name_of(function)), manual())
            define(draft, {"action": function, **whole}, checks)
            self._declarations.add(function, name, whole)
            return function

        return declare

    def on(self, pattern: str, *, name: str | None = None) -> Callable[[C], C]:
        """Call a function for each event whose name matches the pattern: `@app.on("run:*")`.

        With a `name`, the function is called at least once for every event since this name was first registered. That
        includes events that happened while this app was not running. Without a `name`, the function is called only for
        events that happen while this app is running.
        """

        def listen(callback: C) -> C:
            self._listeners.append((pattern, callback, name))
            if self._engine is not None:
                self._engine.listeners.add(pattern, callback, name)
            return callback

        return listen

    # Starting

    @overload
    async def start(
        self, job: Callable[..., Coroutine[Any, Any, T]], input: Input | None = None, **how: Unpack[StartCall]
    ) -> RunHandle[T]: ...

    @overload
    async def start(
        self, job: Callable[..., T], input: Input | None = None, **how: Unpack[StartCall]
    ) -> RunHandle[T]: ...

    @overload
    async def start(self, job: str, input: Input | None = None, **how: Unpack[StartCall]) -> RunHandle[Any]: ...

    async def start(
        self,
        job: str | Callable[..., Any],
        input: Input | None = None,
        *,
        id: str | None = None,
        at: datetime | str | None = None,
        connection: Any = None,
        request_id: str | None = None,
        **options: Unpack[StartOptions],
    ) -> RunHandle[Any]:
        """Start a run of a job, now or at the time `at`. Returns a handle for the run.

        - `id`: an id of your choice. Calls with the same `id` start only one run.
        - `request_id`: an id of this call. For a day, a call with the same `request_id` starts nothing, and returns the
          answer of the first call.
        - `connection`: a database connection with an open transaction. The run and the `request_id` are inserted in
          this transaction, so they exist only if the transaction is committed.

        The possible `options` are queue, priority, retry, timeout, deadline, serial_key, concurrency, at_most_once,
        parent and actor. Raises `OstinatoError` if the input or an option is wrong, or if `job` is a function that is
        not declared as a job.
        """
        if connection is not None:
            starting = self.starting(job, input, id=id, at=at, request_id=request_id, **options)
            started = await run_in_caller_transaction(connection, starting)
            return RunHandle(self, started.id, started.new)
        run, deadline = self.prepare(job, input, id=id, at=at, **options)
        if request_id is not None:
            what = _describe_start(run, id, at, options)
            return (await self._start_once([(run, deadline)], request_id, what))[0]
        if self._starts is None:
            raise OstinatoError("the app is being closed; start the run before, or from another process")
        started = await self._starts.write((run, deadline))
        return RunHandle(self, started.id, started.new)

    def starting(
        self,
        job: str | Callable[..., Any],
        input: Input | None = None,
        *,
        id: str | None = None,
        at: datetime | str | None = None,
        request_id: str | None = None,
        **options: Any,
    ) -> Callable[[], Operation[Started]]:
        """Check the arguments of a start, as `prepare` does. Returns a function that has no parameters and returns a
        new operation. The caller executes this operation in a transaction, and the operation starts the run there.

        If the caller tries the transaction again, it must call the function again, because an operation can be executed
        only once. The operation raises `Conflict` if the `request_id` was used for another call.
        """
        check_request_id(request_id)
        run, deadline = self.prepare(job, input, id=id, at=at, **options)
        now = self.engine.clock.now()

        deadlines = [deadline] if deadline else []

        def insert() -> Operation[list[Any]]:
            # The answer has the form of that of `_start_once`, because a call without a connection may repeat this one.
            return [list(started) for started in (yield from start([run], now, deadlines, borrowed=True))]

        def insert_once() -> Operation[Started]:
            if request_id is None:
                (answer,) = yield from insert()
            else:
                what = _describe_start(run, id, at, options)
                (answer,) = yield from once(self.namespace, request_id, what, now, insert())
            return Started(*answer)

        return insert_once

    @overload
    async def start_many(
        self, job: Callable[..., Coroutine[Any, Any, T]], inputs: Sequence[Input], **how: Unpack[StartManyCall]
    ) -> list[RunHandle[T]]: ...

    @overload
    async def start_many(
        self, job: Callable[..., T], inputs: Sequence[Input], **how: Unpack[StartManyCall]
    ) -> list[RunHandle[T]]: ...

    @overload
    async def start_many(
        self, job: str, inputs: Sequence[Input], **how: Unpack[StartManyCall]
    ) -> list[RunHandle[Any]]: ...

    async def start_many(
        self,
        job: str | Callable[..., Any],
        inputs: Sequence[Input],
        *,
        ids: Sequence[str] | None = None,
        at: datetime | str | None = None,
        request_id: str | None = None,
        **options: Unpack[StartOptions],
    ) -> list[RunHandle[Any]]:
        """Start many runs of one job, up to 500 in each transaction. Returns a handle for each run, in the order of
        `inputs`. If an input is wrong, raises `OstinatoError` and starts no run. With a `request_id`, one transaction
        starts all runs, and for a day, a call with the same `request_id` starts nothing and returns the answer of the
        first call."""
        if ids is not None and len(ids) != len(inputs):
            raise OstinatoError(f"there are {len(inputs)} inputs and {len(ids)} ids; give one id for each")
        starting, now, new = self._starting(job, at, options), self.engine.clock.now(), self._ids.new
        # Check all inputs before the first run is stored.
        prepared = [
            _prepare_nth(starting, new(now), input, None if ids is None else ids[n], n)
            for n, input in enumerate(inputs)
        ]
        if request_id is not None:
            asked = digest(ids, at, [run.input for run, _ in prepared], options)
            return await self._start_once(prepared, request_id, f"start_many {len(prepared)} {asked}")
        handles: list[RunHandle[Any]] = []
        for begin in range(0, len(prepared), 500):
            started = await self._commit_starts(prepared[begin : begin + 500])
            handles += [RunHandle(self, run.id, run.new) for run in started]
        return handles

    async def _commit_starts(self, starts: Sequence[tuple[Run, Timer | None]]) -> list[Started]:
        engine = self.engine
        now = engine.clock.now()
        runs = [run for run, _ in starts]
        deadlines = [timer for _, timer in starts if timer is not None]
        started = await self.store.run(lambda _: start(runs, now, deadlines))
        engine.nudge(timers=bool(deadlines) or any(r.due > now or r.concurrency_key is not None for r in runs))
        return started

    async def _start_once(
        self, starts: Sequence[tuple[Run, Timer | None]], request: str | None, what: str
    ) -> list[RunHandle[Any]]:
        now = self.engine.clock.now()
        runs = [run for run, _ in starts]
        deadlines = [timer for _, timer in starts if timer is not None]

        def work() -> Operation[list[Any]]:
            answers: list[Any] = []
            for begin in range(0, len(runs), 500):
                part = runs[begin : begin + 500]
                answers += [[started.id, started.new] for started in (yield from start(part, now, deadlines))]
            return answers

        answer = await run_once(self.store, self.namespace, request, what, now, work)
        self.engine.nudge()
        return [RunHandle(self, id, new) for id, new in answer]

    async def retry(self, id: str, *, request_id: str | None = None) -> RunHandle[Any]:
        """Start a copy of a run that has ended: a new run with the same job, input and options, but no deadline. The
        ended run is its `parent`. Raises `Conflict` if the run has not ended or cannot be repeated."""
        before = await self._newest(id)
        if not before.status.over:
            raise Conflict(f"run {id!r} is {before.status.value}; only one that is over can be repeated")
        if before.kind != JOB:
            raise Conflict(f"run {id!r} is a {before.kind}, which is not repeated; start another")
        if before.status in (Status.SKIPPED, Status.MISSED):
            raise Conflict(f"run {id!r} was {before.status.value}: there is nothing to repeat; trigger its schedule")
        now = self.engine.clock.now()
        new = self._ids.new(now)
        options = read_options(before.options)
        run = Run(
            id=new,
            root_id=new,
            name=before.name,
            kind=before.kind,
            namespace=before.namespace,
            queue=before.queue,
            priority=before.priority,
            due=now,
            created=now,
            parent_id=before.root_id,
            serial_key=before.serial_key,
            serial_hold=before.serial_hold,
            concurrency_key=before.concurrency_key,
            options=write_options(replace(options, deadline=None)),
            input=before.input,
            actor=self.actor,
        )
        return (await self._start_once([(run, None)], request_id, f"retry {before.root_id}"))[0]

    def prepare(
        self,
        job: str | Callable[..., Any],
        input: Input | None = None,
        *,
        id: str | None = None,
        at: datetime | str | None = None,
        **options: Any,
    ) -> tuple[Run, Timer | None]:
        """Check the arguments of a start, and build the run without storing it. Returns (the run, the timer of its
        deadline). The timer is None if the run has no deadline."""
        return self._starting(job, at, options).run(self._ids.new(self.engine.clock.now()), input, id)

    def _starting(
        self, job: str | Callable[..., Any], at: datetime | str | None, options: Mapping[str, Any]
    ) -> RunBuilder:
        name = job if isinstance(job, str) else self._name_of(job)
        check_text(name, "the job's name")
        if name in self.functions.codes:
            raise OstinatoError(f"{name!r} is a function; start it by app.functions.start({name!r}, …)")
        now = self.engine.clock.now()
        handler = self.engine.find_job(name)
        where = {"namespace": self.namespace, "actor": self.actor}
        return RunBuilder(name, handler, at, options, **where, now=now, called=True)  # type: ignore[arg-type]

    def _name_of(self, function: Callable[..., Any]) -> str:
        for handler in self._handlers.values():
            if handler.function is function:
                return handler.name
        raise OstinatoError(f"{function!r} is not a job of this app; declare it with @app.job()")

    # Waiting

    async def _ended(self, id: str) -> ChainOutcome:
        """Wait for the end of a run, and return how it ended. Logs a warning if no node is running on the store."""
        now = self.engine.clock.now()
        if not self._is_node and not await has_nodes(self.store, now) and not (run := await self.get(id)).over:
            await warn_without_nodes(self.store, now, f"a run of job {run.name!r}", run.id)
        return await self.engine.waiters.wait(id)

    async def _why_not_over(self, id: str) -> str:
        return await why_not_over(self.store, self.engine.clock.now(), self.get(id))

    # Stopping

    async def cancel(self, id: str, reason: str = "", *, request_id: str | None = None) -> str:
        """Cancel a run, and return the status of the run afterwards. If a node is executing the run, the status is
        still `active`: this call only asks the node to stop the function. The node cancels the task of an async
        function, but it cannot stop a function in a thread."""
        return await self._stop(id, Status.CANCELLED, reason or "cancelled", request_id, force=False)

    async def terminate(self, id: str, reason: str = "", *, request_id: str | None = None) -> str:
        """End a run at once, even if it is active, and return the status of the run afterwards. A function that is
        still running may continue, but its result is refused. A run that has already ended is not changed."""
        return await self._stop(id, Status.TERMINATED, reason or "terminated", request_id, force=True)

    async def _stop(self, id: str, status: Status, reason: str, request: str | None, *, force: bool) -> str:
        engine = self.engine
        run = await self._newest(id)
        now = engine.clock.now()

        def work() -> Operation[list[Any]]:
            status_after, changed = yield from stop(
                run.root_id, status, reason, now, engine.kinds, force=force, actor=self.actor
            )
            return [status_after.value, changed]

        what = f"{status.value} {run.root_id} {digest(reason)}"
        if request is None:  # stopping a run twice is harmless, so no request id is needed
            answer = await self.store.run(lambda _: work())
        else:
            answer = await self._once(request, what, now, work)
        status_after = Status(answer[0])
        newest = await self._newest(id)
        if status_after is status and force:
            engine.bodies.cancel_here(newest.id, BodyStop(Status.CRASHED, None))
        elif status_after is Status.ACTIVE and newest.kind == JOB:  # another kind has left its run active on purpose
            engine.bodies.cancel_here(newest.id, BodyStop(status, reason))
        await engine.waiters.look([run.root_id])
        engine.nudge()
        return status_after.value

    # Health

    async def measure_schedules(self) -> list[Staleness]:
        """Return for each schedule how late it is, and how long ago it last succeeded. Also sets the Prometheus metrics
        of these two values."""
        staleness = await self.schedules.staleness()
        metrics = self.engine.metrics
        metrics.since_success.clear()
        metrics.overdue.clear()

        def set_gauges(schedule: Staleness) -> None:
            labels = (schedule.namespace, schedule.schedule)
            metrics.overdue.labels(*labels).set(schedule.overdue)
            if schedule.since_success is not None:
                metrics.since_success.labels(*labels).set(schedule.since_success)

        await self.computing.each(self.namespace, map(set_gauges, staleness))
        return staleness

    def ready(self) -> bool:
        """Return whether this process is ready for work. If it is not ready, `unready` returns the reason."""
        return self.unready() is None

    def unready(self) -> str | None:
        """Return the reason why this process is not ready, or None if it is ready. There are four possible reasons:

        - The app is not running.
        - The node is stopping.
        - The node has not renewed its lease for longer than the lease lasts.
        - The loop that fires timers is late.

        A process that is only connected to the store has no node, so it is ready.
        """
        engine = self._engine
        if engine is None:
            return "not running"
        if not self._is_node:
            return None
        if engine.stopping:
            return "stopping"
        if engine.unrenewed() > self.settings.lease:
            return f"the store has not taken this node's lease for {engine.unrenewed() // SECOND} s"
        return "the beat is late" if engine.beat.late_by() else None

    def lateness(self) -> timedelta:
        """Return how late this node fires timers: zero if all is well, or if this process has no running node. It grows
        while the store does not answer or the event loop is blocked."""
        late = self._engine.beat.late_by() if self._engine is not None and self._is_node else 0
        return timedelta(microseconds=late)

    async def unpark_timers(self) -> int:
        """Let all parked timers fire again, and return the number of these timers. A timer is parked if firing it
        failed."""
        rows = await self.store.run(lambda _: unpark())
        self.engine.hint()
        return rows

    async def check(self, *, repair: bool = True) -> list[Finding]:
        """Look for broken invariants. Log each problem as an error, and return all problems. If `repair` is true, also
        repair the problems that can be repaired safely."""
        now = self.engine.clock.now()
        findings = await self.store.run(lambda _: scan(now, repair, self._ids.new, self.engine.kinds))
        for finding in findings:
            log.error("an invariant is broken", action="invariant_broken", **finding.as_dict())
        self.engine.hint()
        return findings

    async def backup(self, path: str, progress: Progress | None = None, *, overwrite: bool = False) -> None:
        """Copy the SQLite store to the file `path`. The store may be in use meanwhile. Raises `Conflict` if the file
        exists, unless `overwrite` is true and the file is an older backup. Raises `StoreError` if the store is not
        SQLite or cannot be copied."""
        await backup(self.store, path, progress, overwrite=overwrite)
