"""`Ostinato`: the one object that wires everything. Jobs are declared on it, runs are started through it."""

from __future__ import annotations

import asyncio
import inspect
import logging
import random
import secrets
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from copy import copy
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypedDict, TypeVar, Unpack, cast, overload

import orjson

from ostinato.admission import Admission
from ostinato.clock import MachineClock, SystemClock
from ostinato.engine.commits import Committer
from ostinato.engine.computing import Computing
from ostinato.engine.configure import configured
from ostinato.engine.delivery import webhook_handler
from ostinato.engine.dispatcher import Dispatcher
from ostinato.engine.egress import Egress, EgressPolicy
from ostinato.engine.engine import Engine, Settings
from ostinato.engine.executor import Stop
from ostinato.engine.handlers import Handler, context_parameter, mode_of
from ostinato.engine.http_action import http_handler
from ostinato.engine.kinds import RULES
from ostinato.engine.listeners import Callback, Ended
from ostinato.engine.log import log
from ostinato.engine.requests import digest, once
from ostinato.engine.rows import read_options, write_options
from ostinato.engine.runs import Started, start, stop
from ostinato.engine.scanner import Finding, scan
from ostinato.engine.timers import unpark
from ostinato.errors import (
    Conflict,
    OstinatoError,
    RunCancelled,
    RunFailed,
    did_you_mean,
    missing_attribute,
    read_text,
    there_are,
)
from ostinato.ids import Ids
from ostinato.journeys import firing as journey_timers
from ostinato.journeys.caching import StoreCache
from ostinato.journeys.calls import Journeys
from ostinato.journeys.conductor import Conductor
from ostinato.journeys.evaluating import Evaluator, Tools
from ostinato.journeys.fitting import unfit
from ostinato.journeys.looks import Around as JourneysAround
from ostinato.journeys.moves import KIND as JOURNEY
from ostinato.journeys.plugins import Plugins
from ostinato.journeys.rule import RULE as JOURNEY_RULE
from ostinato.journeys.settings import JourneySettings
from ostinato.journeys.standard import standard_plugins
from ostinato.journeys.tasks.kafka import KafkaPublisher
from ostinato.model import DEFAULT_NAMESPACE, Limit, Retry, Run, Status, Timer, read_length, read_retry
from ostinato.pending import START_ONE, why_not_over
from ostinato.reading import Reading
from ostinato.schedules import keeping
from ostinato.schedules.calls import Schedules
from ostinato.schedules.declaring import Declarations, tell
from ostinato.schedules.define import Doors, ScheduleOptions, SpecLike, define, read_name
from ostinato.schedules.firing import purposes
from ostinato.schedules.holding import park_owner
from ostinato.schedules.looks import Surroundings
from ostinato.schedules.making import Maker
from ostinato.schedules.model import Schedule
from ostinato.schedules.scheduler import recompute_zones
from ostinato.schedules.views import Lateness, Staleness
from ostinato.starting import Starting, StartOptions, check_priority, read_limit, same_place, some_length
from ostinato.store.backup import Progress, backup
from ostinato.store.borrowed import run_borrowed
from ostinato.store.contract import Operation, Store
from ostinato.store.urls import open_url
from ostinato.until_signal import run_until_signal
from ostinato.version import __version__
from ostinato.views import RunInfo
from ostinato.webhooks import Around, Webhooks
from ostinato.when import cron, manual
from ostinato.when.durations import Length
from ostinato.when.instants import SECOND, Micros

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
C = TypeVar("C", bound=Callback)
RULES[JOURNEY] = JOURNEY_RULE
_TO_EXPLAIN = 5.0  # seconds to find out why a run is not over


class JobOptions(TypedDict, total=False):
    """What a job may declare."""

    name: str | None
    retry: Retry | int | Mapping[str, Any] | None
    timeout: Length | None
    heartbeat: Length | None
    concurrency: Limit | int | None
    serial_key: str | None
    serial_hold: Literal["chain", "active"]
    queue: str
    priority: int
    at_most_once: bool
    process: bool


class RunHandle(Generic[T_co]):
    """A run that was started. `new` is false where the id was taken before."""

    __slots__ = ("_app", "id", "new")

    def __init__(self, app: Ostinato, id: str, new: bool) -> None:
        self._app = app
        self.id = id
        self.new = new

    async def result(self, timeout: Length | None = None) -> T_co:
        """What the run returned, when it has; raises `RunFailed` or `RunCancelled` if it did not succeed, and
        `TimeoutError`, with what the run waits for, if it is not over in time.

        Where no node is at work on the store, the log says so: a wait without a `timeout` would then have no end.
        """
        try:
            async with asyncio.timeout(None if timeout is None else read_length(timeout, "timeout") / SECOND):
                ended = await self._app._ended(self.id)
        except TimeoutError:
            raise TimeoutError(f"run {self.id} is not over: {await self._app._why_not_over(self.id)}") from None
        return cast(T_co, _result(self.id, ended))

    async def cancel(self, reason: str = "") -> str:
        """Ask it to stop; returns where it stands after that."""
        return await self._app.cancel(self.id, reason)

    async def info(self) -> RunInfo:
        return await self._app.get(self.id)

    def __repr__(self) -> str:
        return f"<run {self.id}>"


def _result(id: str, ended: Ended) -> Any:
    if ended.status == "succeeded":
        return None if ended.result is None else orjson.loads(ended.result)
    error = None if ended.error is None else orjson.loads(ended.error)
    kind = RunFailed if ended.status in ("failed", "timed_out", "crashed") else RunCancelled
    raise kind(id, ended.status, ended.reason, error)


class Ostinato(Reading, Admission):
    """An app: a store, the jobs it knows, and, while it runs, a node that does them.

    `async with app:` runs a node; `async with app.connected():` only opens the store, to start and watch runs that
    other processes do.
    """

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
        webhook_patience: Length = "1d",
        namespace: str = DEFAULT_NAMESPACE,
        actor: str | None = None,
        name: str | None = None,
        prune_schedules: bool = False,
        journeys: str | Path | Sequence[str | Path] = (),
        journey_plugins: Plugins | None = None,
        journey_settings: JourneySettings | None = None,
        clock: MachineClock | None = None,
        ids: Ids | None = None,
        dice: random.Random | None = None,
    ) -> None:
        if not 1 <= backfill_batch <= 10_000:
            raise OstinatoError(f"backfill_batch {backfill_batch!r} is not from 1 to 10,000")
        if read_length(webhook_patience, "webhook_patience") < SECOND:
            raise OstinatoError(f"webhook_patience {webhook_patience!r} is too short; a second is the least")
        if name is not None and (not isinstance(name, str) or not name.strip() or "\x00" in name):
            raise OstinatoError(f"the app's name {name!r} is not a text")
        read_text(namespace, "the namespace")
        if prune_schedules and name is None:
            raise OstinatoError(
                "prune_schedules needs name=…: without one, this app's schedules cannot be told from those of others"
            )
        given = {"queues": queues, "concurrency": concurrency, "threads": threads, "lease": lease, "grace": grace}
        self.settings = configured(Settings(), {**given, "keep_runs": keep_runs, "keep_events": keep_events})
        self.namespace = namespace
        self.actor = actor
        self._clock = clock or SystemClock()
        self._ids = ids or Ids()
        self._dice = dice
        self._way_out = egress if isinstance(egress, Egress) else Egress(egress)
        self._webhook_patience = read_length(webhook_patience, "webhook_patience")
        self._handlers: dict[str, Handler] = {"http": http_handler(self._way_out)}
        self._listeners: list[tuple[str, Callback, str | None]] = []
        self._backfill_batch = backfill_batch
        self._maker = Maker(lambda job: self.engine.known(job), unfit)
        self._min_interval = read_length(min_interval, "min_interval")
        self._declarations = Declarations(self._name_of, name)
        self._implied: dict[Callable[..., Any], str] = {}  # jobs that are declared by their schedule alone
        self._prune_schedules = prune_schedules
        given_settings = journey_settings or JourneySettings()
        self.journey_plugins = journey_plugins or standard_plugins(given_settings)
        self._journey_sources = (journeys,) if isinstance(journeys, str | Path) else tuple(journeys)
        self._publisher = KafkaPublisher(given_settings.kafka)
        self._journey_tools = Tools(
            plugins=self.journey_plugins,
            evaluator=Evaluator(self.journey_plugins.languages, lambda: self._now() if self._clock.virtual else None),
            settings=given_settings,
            services=self._journey_services,
            now=self._now,
            namespace=namespace,
        )
        self._conductor: Conductor | None = None
        self.computing = Computing()
        self._attach(open_url(store) if isinstance(store, str) else store)
        self._dispatcher: Dispatcher | None = None
        self._engine: Engine | None = None
        self._starts: Committer[tuple[Run, Timer | None], Started] | None = None
        self._is_node = False

    def _attach(self, store: Store) -> None:
        """Let everything here work on this store."""
        self.store = store
        self._handlers["webhook"] = webhook_handler(self._way_out, store, self._webhook_patience)
        self.schedules = Schedules(
            Surroundings(
                store=store,
                now=lambda: self.engine.clock.now(),
                new_id=self._ids.new,
                doors=Doors(self._maker, self._name_of, self._min_interval),
                nudge=lambda: self.engine.attend(),
                namespace=self.namespace,
                actor=self.actor,
                declarations=self._declarations,
                computing=self.computing,
            )
        )
        self.webhooks = Webhooks(
            Around(
                store=store,
                now=lambda: self.engine.clock.now(),
                new_id=self._ids.new,
                nudge=lambda: self.engine.nudge(),
                changed=self._webhooks_changed,
                policy=self._way_out.policy,
                namespace=self.namespace,
                actor=self.actor,
            )
        )

        self.journeys = Journeys(
            JourneysAround(
                store=store,
                engine=lambda: self.engine,
                conductor=self._conducting,
                node=self._taking_node,
                tools=self._journey_tools,
                new_id=self._ids.new,
                namespace=self.namespace,
                actor=self.actor,
                computing=self.computing,
            )
        )

    def _now(self) -> Micros:
        """What time it is to the engine, also while it stops."""
        return self.engine.clock.now() if self._conductor is None else self._conductor.now()

    def _taking_node(self) -> str | None:
        """The node here that may take work, if there is one."""
        return self.engine.node if self._is_node and not self.engine.stopping else None

    def _journey_services(self, namespace: str) -> dict[str, Any]:
        cache = StoreCache(self.store, self._now, namespace)
        return {"egress": self._way_out, "cache": cache, "publisher": self._publisher}

    def _conducting(self) -> Conductor:
        assert self._conductor is not None
        return self._conductor

    def within(self, namespace: str, actor: str | None = None) -> Ostinato:
        """The same running app, acting in another namespace or under another name."""
        if namespace == self.namespace and actor == self.actor:
            return self
        view = copy(self)
        view.namespace, view.actor = namespace, actor
        view.schedules = self.schedules.within(namespace, actor)
        view.webhooks = self.webhooks.within(namespace, actor)
        view.journeys = self.journeys.within(namespace, actor)
        return view

    def configure(self, store: str | None = None, *, egress: EgressPolicy | None = None, **settings: Any) -> None:
        """Override settings before the app starts; the operator's win over the code's. `settings` are queues,
        concurrency, threads, lease, grace, keep_runs, keep_events."""
        if self._engine is not None:
            raise OstinatoError("the app is running; configure it before")
        self.settings = configured(self.settings, settings)
        if egress is not None:
            self._way_out = Egress(egress)
            self._handlers["http"] = http_handler(self._way_out)
        if store is not None or egress is not None:
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
        """Run a node until Ctrl-C or SIGTERM, as `ostinato worker --app` does. The second Ctrl-C ends the
        process at once. Where the script has not configured logging, log lines go to standard error."""
        if not logging.getLogger().handlers:
            logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)-7s %(name)s  %(message)s")
        run_until_signal(self._run_until)

    async def _run_until(self, stopped: asyncio.Event) -> None:
        async with self:
            await stopped.wait()

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[Ostinato]:
        """Open the store without running anything here."""
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
            ids=self._ids,
            dice=self._dice,
            version=__version__,
        )
        engine.listeners.namespace = self.namespace
        engine.purposes.update(purposes(self._maker, self._ids.new, self._backfill_batch))
        engine.parks["schedule", "next"] = park_owner
        engine.purposes.update(keeping.purposes(self.settings.keep_runs))
        engine.purposes.update(journey_timers.purposes())
        engine.preparations.append(self._prepare_schedules)
        engine.preparations.append(self._deploy_journeys)
        conductor = self._conductor = Conductor(engine, self._journey_tools)
        engine.bodies.kinds[JOURNEY] = conductor
        dispatcher = Dispatcher(self.store, engine.clock, engine.listeners, self._ids.new, engine.nudge)
        engine.parts.append((dispatcher.run, "webhooks"))
        self._dispatcher = dispatcher
        for pattern, callback, name in self._listeners:
            engine.listeners.add(pattern, callback, name)
        self._starts = Committer(self._commit_starts, lambda _: None, hopeful=False)
        self._engine = engine
        conductor.start()
        self._is_node = node
        try:
            await (engine.start() if node else engine.connect())
        except BaseException:
            self._engine = None
            await conductor.stop()
            raise
        self._starts.start()

    def _webhooks_changed(self) -> None:
        if self._dispatcher is not None:
            self._dispatcher.changed()

    async def _prepare_schedules(self) -> None:
        """Before the first beat: say what is late, and work out anew what other zone rules said."""
        late = await self.schedules.late()
        if late:
            whole = Lateness(sum(one.late for one in late.values()), sum(one.will_run for one in late.values()))
            log.warning(f"schedules: {whole}", action="schedules_late", schedules=len(late))
            for name, one in list(late.items())[:20]:
                log.warning(f"schedule {name}: {one}", action="schedule_late", schedule=name)
        now = self.engine.clock.now()
        await self.store.run(lambda _: keeping.first_timer(now))
        await recompute_zones(self.store)
        await self._declare_schedules()

    async def _deploy_journeys(self) -> None:
        """Definitions that came with the code, put on record by whichever process is first."""
        if self._journey_sources:
            await self.journeys.deploy(*self._journey_sources)

    async def _declare_schedules(self) -> None:
        """Make the store say what the code declares. What is wrong with the code stops the start; what the store will
        not have does not, for the other schedules and jobs need the node."""
        declarations = self._declarations
        if not declarations.found and declarations.app is None:
            return
        drafts = self.schedules.declared()
        options: dict[str, Any] = {"prune": self._prune_schedules, "leave_taken": True, "origin": declarations.origin}
        try:
            tell(await self.schedules.apply(drafts, **options), declarations.origin)
        except Conflict:
            for one in drafts:
                try:
                    await self.schedules.apply([one], **{**options, "prune": False})
                except Conflict as problem:
                    log.error(str(problem), action="schedule_not_declared", schedule=one.name)

    async def _close(self) -> None:
        """Stop in good order. What still runs here for a while may use the app as before."""
        engine = self._engine
        try:
            if engine is not None and self._is_node:
                await engine.stop()
            starts, self._starts = self._starts, None
            if starts is not None:
                await starts.drain()
                await starts.stop()
            if engine is not None and not self._is_node:
                await engine.disconnect()
        finally:
            self._engine = None
        if self._conductor is not None:
            await self._conductor.stop()
        self._publisher.close()
        for language in self.journey_plugins.languages.values():
            language.close()
        self.computing.close()
        await self.store.close()

    async def _close_after_crash(self) -> None:
        """What is left of an app whose node was killed: nothing is drained, nothing is said."""
        self._engine = None
        self.computing.close()
        if self._starts is not None:
            await self._starts.stop()
            self._starts = None
        if self._conductor is not None:
            await self._conductor.stop()
        await self.store.close()

    # Declaring

    @overload
    def job(self, function: F, /) -> F: ...

    @overload
    def job(self, /, **options: Unpack[JobOptions]) -> Callable[[F], F]: ...

    def job(self, function: Any = None, /, **options: Unpack[JobOptions]) -> Any:
        """Declare a function as a job: `@app.job`, or `@app.job(retry=3, timeout="30s")`. Async functions run as tasks,
        plain ones in threads, and with `process=True` in a child process that can be killed."""
        for option in options:
            if option not in JobOptions.__optional_keys__:
                hint = did_you_mean(option, JobOptions.__optional_keys__) or there_are(
                    sorted(JobOptions.__optional_keys__)
                )
                raise OstinatoError(f"@app.job has no option {option!r}; {hint}")
        if function is None:
            return lambda function: self._declare_job(function, options)
        if not callable(function):
            raise OstinatoError(f"@app.job({function!r}) names no function; write @app.job(name={function!r})")
        return self._declare_job(function, options)

    def _declare_job(self, function: F, options: JobOptions) -> F:
        given = options.get("name")
        name = function.__name__ if given is None else given
        read_text(name, "the job's name")
        queue, priority = options.get("queue", "default"), options.get("priority", 0)
        serial_key = options.get("serial_key")
        read_text(queue, f"job {name!r}: the queue")
        check_priority(priority)
        if serial_key is not None:
            read_text(serial_key, f"job {name!r}: serial_key")
        serial_hold = options.get("serial_hold", "chain")
        if serial_hold not in ("chain", "active"):
            raise OstinatoError(f"serial_hold {serial_hold!r} is unknown; use 'chain' or 'active'")
        handler = Handler(
            name=name,
            function=function,
            mode=mode_of(function, options.get("process", False)),
            retry=read_retry(options.get("retry")),
            timeout=some_length(options.get("timeout"), "timeout"),
            heartbeat=some_length(options.get("heartbeat"), "heartbeat"),
            serial_key=serial_key,
            serial_hold=serial_hold,
            limit=read_limit(options.get("concurrency"), name),
            queue=queue,
            priority=priority,
            at_most_once=options.get("at_most_once", False),
            context=context_parameter(function),
            signature=inspect.signature(function),
        )
        handler.check_key()
        implied = self._implied.pop(function, None)
        if implied is not None:
            del self._handlers[implied]
        known = self._handlers.get(name)
        if known is not None and not same_place(known.function, function):
            raise OstinatoError(f"there are two jobs called {name!r}; give one of them name=…")
        self._handlers[name] = handler
        return function

    def schedule(
        self, spec: SpecLike, *, name: str | None = None, tz: str = "", **given: Unpack[ScheduleOptions]
    ) -> Callable[[F], F]:
        """Declare a schedule over a function: `@app.schedule(cron("0 9 * * 1-5", tz="Europe/Berlin"))`. It is named
        after the job, or `name`; the rest is as for `app.schedules.create`. When a node starts, the store is made to
        say the same. The function is a job, by `@app.job(…)` above or below, or else with a job's defaults. `tz` is for
        a spec that is a plain cron text."""
        if tz and not isinstance(spec, str):
            raise OstinatoError(f"tz {tz!r} belongs into the spec: cron(…, tz={tz!r})")
        when = cron(spec, tz=tz) if isinstance(spec, str) else spec

        def declare(function: F) -> F:
            if self._engine is not None:
                raise OstinatoError("the app is running; use `await app.schedules.upsert(…)` instead of a declaration")
            if not any(handler.function is function for handler in self._handlers.values()):
                self.job(function)
                self._implied[function] = self._name_of(function)
            whole = {"spec": when, **given}
            # A mistake is said here, where it was made, and not when a node starts.
            doors = Doors(Maker(self._handlers.get), self._name_of, self._min_interval)
            draft = Schedule("", read_name(name or self._name_of(function)), manual())
            define(draft, {"action": function, **whole}, doors)
            self._declarations.add(function, name, whole)
            return function

        return declare

    def on(self, pattern: str, *, name: str | None = None) -> Callable[[C], C]:
        """Call a function for events: `@app.on("run:*")`. With a `name` it hears every event at least once, also
        those from before a restart; without, what happens from now on."""

        def listen(callback: C) -> C:
            self._listeners.append((pattern, callback, name))
            if self._engine is not None:
                self._engine.listeners.add(pattern, callback, name)
            return callback

        return listen

    # Starting

    @overload
    async def start(
        self,
        job: Callable[..., Coroutine[Any, Any, T]],
        input: Mapping[str, Any] | None = None,
        *,
        id: str | None = None,
        at: datetime | str | None = None,
        connection: Any = None,
        request_id: str | None = None,
        **options: Unpack[StartOptions],
    ) -> RunHandle[T]: ...

    @overload
    async def start(
        self,
        job: Callable[..., T],
        input: Mapping[str, Any] | None = None,
        *,
        id: str | None = None,
        at: datetime | str | None = None,
        connection: Any = None,
        request_id: str | None = None,
        **options: Unpack[StartOptions],
    ) -> RunHandle[T]: ...

    @overload
    async def start(
        self,
        job: str,
        input: Mapping[str, Any] | None = None,
        *,
        id: str | None = None,
        at: datetime | str | None = None,
        connection: Any = None,
        request_id: str | None = None,
        **options: Unpack[StartOptions],
    ) -> RunHandle[Any]: ...

    async def start(
        self,
        job: str | Callable[..., Any],
        input: Mapping[str, Any] | None = None,
        *,
        id: str | None = None,
        at: datetime | str | None = None,
        connection: Any = None,
        request_id: str | None = None,
        **options: Unpack[StartOptions],
    ) -> RunHandle[Any]:
        """Start a job, now or `at` a moment. With an `id` it is started once, however often this is called; with a
        `request_id` the call is answered as it was the first time, for a day.
        With a `connection` it is part of the transaction there: the run exists exactly if that commits.

        `options`: queue, priority, retry, timeout, deadline, serial_key, concurrency, at_most_once, parent, actor.
        """
        if connection is not None:
            (started,) = await run_borrowed(connection, self.starting(job, input, id=id, at=at, **options))
            return RunHandle(self, started.id, started.new)
        run, deadline = self._prepare(job, input, id, at, options)
        if request_id is not None:
            what = f"start {run.name} {digest(id, at, run.input, options)}"
            return (await self._start_once([(run, deadline)], request_id, what))[0]
        if self._starts is None:
            raise OstinatoError("the app is being closed; start the run before, or from another process")
        started = await self._starts.write((run, deadline))
        return RunHandle(self, started.id, started.new)

    def starting(
        self,
        job: str | Callable[..., Any],
        input: Mapping[str, Any] | None = None,
        *,
        id: str | None = None,
        at: datetime | str | None = None,
        **options: Any,
    ) -> Callable[[], Operation[list[Started]]]:
        """A start to be run within someone else's transaction."""
        run, deadline = self._prepare(job, input, id, at, options)
        now = self.engine.clock.now()
        return lambda: start([run], now, [deadline] if deadline else [], borrowed=True)

    @overload
    async def start_many(
        self,
        job: Callable[..., Coroutine[Any, Any, T]],
        inputs: Sequence[Mapping[str, Any]],
        *,
        ids: Sequence[str] | None = None,
        at: datetime | str | None = None,
        request_id: str | None = None,
        **options: Unpack[StartOptions],
    ) -> list[RunHandle[T]]: ...

    @overload
    async def start_many(
        self,
        job: Callable[..., T],
        inputs: Sequence[Mapping[str, Any]],
        *,
        ids: Sequence[str] | None = None,
        at: datetime | str | None = None,
        request_id: str | None = None,
        **options: Unpack[StartOptions],
    ) -> list[RunHandle[T]]: ...

    @overload
    async def start_many(
        self,
        job: str,
        inputs: Sequence[Mapping[str, Any]],
        *,
        ids: Sequence[str] | None = None,
        at: datetime | str | None = None,
        request_id: str | None = None,
        **options: Unpack[StartOptions],
    ) -> list[RunHandle[Any]]: ...

    async def start_many(
        self,
        job: str | Callable[..., Any],
        inputs: Sequence[Mapping[str, Any]],
        *,
        ids: Sequence[str] | None = None,
        at: datetime | str | None = None,
        request_id: str | None = None,
        **options: Unpack[StartOptions],
    ) -> list[RunHandle[Any]]:
        """Start many runs of one job in as few transactions as may be; with a `request_id` in one, once."""
        if ids is not None and len(ids) != len(inputs):
            raise OstinatoError(f"there are {len(inputs)} inputs and {len(ids)} ids; give one id for each")
        starting, now, new = self._starting(job, at, options), self.engine.clock.now(), self._ids.new
        # All of them are looked at before the first is on record.
        prepared = [starting.run(new(now), given, None if ids is None else ids[n]) for n, given in enumerate(inputs)]
        if request_id is not None:
            asked = digest(ids, at, [run.input for run, _ in prepared], options)
            return await self._start_once(prepared, request_id, f"start_many {len(prepared)} {asked}")
        found: list[RunHandle[Any]] = []
        for begin in range(0, len(prepared), 500):
            started = await self._commit_starts(prepared[begin : begin + 500])
            found += [RunHandle(self, one.id, one.new) for one in started]
        return found

    async def _commit_starts(self, starts: Sequence[tuple[Run, Timer | None]]) -> list[Started]:
        engine = self.engine
        now = engine.clock.now()
        runs = [run for run, _ in starts]
        deadlines = [timer for _, timer in starts if timer is not None]
        started = await self.store.run(lambda _: start(runs, now, deadlines))
        engine.nudge(timers=bool(deadlines) or any(r.due > now or r.concurrency_key is not None for r in runs))
        return started

    async def _start_once(
        self, starts: Sequence[tuple[Run, Timer | None]], request: str, what: str
    ) -> list[RunHandle[Any]]:
        now = self.engine.clock.now()
        runs = [run for run, _ in starts]
        deadlines = [timer for _, timer in starts if timer is not None]

        def work() -> Operation[list[Any]]:
            found: list[Any] = []
            for begin in range(0, len(runs), 500):
                part = runs[begin : begin + 500]
                found += [[one.id, one.new] for one in (yield from start(part, now, deadlines))]
            return found

        answer = await self.store.run(lambda _: once(self.namespace, request, what, now, work()))
        self.engine.nudge()
        return [RunHandle(self, id, new) for id, new in answer]

    async def retry(self, id: str, *, request_id: str | None = None) -> RunHandle[Any]:
        """Do a run that is over once more: another run of the same job, with the same input and options. Its `parent`
        is the run it repeats."""
        before = await self._newest(id)
        if not before.status.over:
            raise Conflict(f"run {id!r} is {before.status.value}; only one that is over can be repeated")
        if before.kind in RULES:
            raise Conflict(f"run {id!r} is a {before.kind}, which is not repeated; start another")
        if before.status in (Status.SKIPPED, Status.MISSED):
            raise Conflict(f"run {id!r} was {before.status.value}: there is nothing to repeat; trigger its schedule")
        now = self.engine.clock.now()
        new = self._ids.new(now)
        own = read_options(before.options)
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
            options=write_options(replace(own, deadline=None)),
            input=before.input,
            actor=self.actor,
        )
        request = request_id or secrets.token_hex(16)
        return (await self._start_once([(run, None)], request, f"retry {before.root_id}"))[0]

    def prepare(
        self,
        job: str | Callable[..., Any],
        input: Mapping[str, Any] | None = None,
        *,
        at: datetime | str | None = None,
        **options: Any,
    ) -> tuple[Run, Timer | None]:
        """A run that is checked and not on record, for a face that has something to write beside it; and the timer of
        its deadline, if it has one."""
        return self._prepare(job, input, None, at, options)

    def _starting(
        self, job: str | Callable[..., Any], at: datetime | str | None, options: Mapping[str, Any]
    ) -> Starting:
        name = job if isinstance(job, str) else self._name_of(job)
        now = self.engine.clock.now()
        return Starting(name, self.engine.known(name), at, options, namespace=self.namespace, actor=self.actor, now=now)

    def _prepare(
        self,
        job: str | Callable[..., Any],
        input: Mapping[str, Any] | None,
        id: str | None,
        at: datetime | str | None,
        options: Mapping[str, Any],
    ) -> tuple[Run, Timer | None]:
        return self._starting(job, at, options).run(self._ids.new(self.engine.clock.now()), input, id)

    def _name_of(self, function: Callable[..., Any]) -> str:
        for handler in self._handlers.values():
            if handler.function is function:
                return handler.name
        raise OstinatoError(f"{function!r} is not a job of this app; declare it with @app.job()")

    # Waiting

    async def _ended(self, id: str) -> Ended:
        """Wait for a chain to end. Warn if it is not over and no node is there to do it."""
        if not self._is_node:
            await self._warn_without_nodes(id)
        return await self.engine.waiters.wait(id)

    async def _warn_without_nodes(self, id: str) -> None:
        now = self.engine.clock.now()
        if any(node.lease_until >= now for node in await self.nodes()):
            return
        run = await self.get(id)
        if not run.over:
            words = f"waiting for a run of job {run.name!r}, and no node is at work on this store; {START_ONE}"
            log.warning(words, action="no_node", run=run.id)

    async def _why_not_over(self, id: str) -> str:
        try:
            async with asyncio.timeout(_TO_EXPLAIN):
                return why_not_over(await self.get(id), await self.nodes(), self.engine.clock.now())
        except (OstinatoError, TimeoutError) as problem:
            return f"where it stands cannot be read: {problem}"

    # Stopping

    async def cancel(self, id: str, reason: str = "", *, request_id: str | None = None) -> str:
        """Cancel a run. One that is running is asked to stop: an async function is cancelled for real."""
        return await self._stop(id, Status.CANCELLED, reason or "cancelled", request_id, force=False)

    async def terminate(self, id: str, reason: str = "", *, request_id: str | None = None) -> str:
        """End a run at once, whatever it is doing; what it still writes is refused."""
        return await self._stop(id, Status.TERMINATED, reason or "terminated", request_id, force=True)

    async def _stop(self, id: str, status: Status, reason: str, request: str | None, *, force: bool) -> str:
        engine = self.engine
        run = await self._newest(id)
        now = engine.clock.now()

        def work() -> Operation[list[Any]]:
            found, changed = yield from stop(run.root_id, status, reason, now, force=force, actor=self.actor)
            return [found.value, changed]

        what = f"{status.value} {run.root_id} {digest(reason)}"
        if request is None:  # it may be done twice: what is stopped stays so
            answer = await self.store.run(lambda _: work())
        else:
            answer = await self._once(request, what, now, work)
        found = Status(answer[0])
        newest = await self._newest(id)
        if found is status and force:
            engine.bodies.cancel_here(newest.id, Stop(Status.CRASHED, None))
        elif found is Status.ACTIVE:
            engine.bodies.cancel_here(newest.id, Stop(status, reason))
        await engine.waiters.look([run.root_id])
        engine.nudge()
        return found.value

    # Health

    async def measure_schedules(self) -> list[Staleness]:
        """How stale each schedule is, also set as gauges of this process's metrics."""
        found = await self.schedules.staleness()
        metrics = self.engine.metrics
        metrics.since_success.clear()
        metrics.overdue.clear()

        def measured(one: Staleness) -> None:
            labels = (one.namespace, one.schedule)
            metrics.overdue.labels(*labels).set(one.overdue)
            if one.since_success is not None:
                metrics.since_success.labels(*labels).set(one.since_success)

        await self.computing.each(self.namespace, map(measured, found))
        return found

    def ready(self) -> bool:
        """Whether this process does its work, and on time."""
        return self.unready() is None

    def unready(self) -> str | None:
        """Why this process does not do its work on time: it is not running, it stops, its beat is late, or its lease
        could not be renewed, because the store is away, full, read-only, or not there any more."""
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

    async def unpark_timers(self) -> int:
        """Let timers that were parked, because firing them failed, be tried again. Returns how many."""
        rows = await self.store.run(lambda _: unpark())
        self.engine.hint()
        return rows

    async def check(self, *, repair: bool = True) -> list[Finding]:
        """Look for what must never be; repair what is safe to repair, and report all of it."""
        now = self.engine.clock.now()
        findings = await self.store.run(lambda _: scan(now, repair, self._ids.new))
        unwritten = self.engine.bodies.ends.unwritable
        if unwritten:
            words = (
                f"{unwritten} outcomes of this node cannot be written, each tried again every half minute: see its log"
            )
            findings.append(Finding("outcome_unwritten", self.engine.node, words, False))
        for finding in findings:
            log.error("an invariant is broken", action="invariant_broken", **finding.as_dict())
        self.engine.hint()
        return findings

    async def backup(self, path: str, progress: Progress | None = None, *, overwrite: bool = False) -> None:
        """Copy the embedded store to a file while it is in use. A file that exists is a `Conflict`; with `overwrite`,
        an older backup is replaced."""
        await backup(self.store, path, progress, overwrite=overwrite)
