"""Start and stop the background tasks of a node. They fire timers, claim and execute runs, and renew the lease."""

from __future__ import annotations

import asyncio
import os
import random
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from ostinato.backoff import backoff
from ostinato.clock import MachineClock, SharedClock
from ostinato.engine import dead_nodes, housekeeping, job_logging, membership, unwritten
from ostinato.engine.active_runs import Bodies
from ostinato.engine.claim_loop import Claimer
from ostinato.engine.claims import NodeLost
from ostinato.engine.executor import BodyStop
from ostinato.engine.jobs import Declaration, Handler
from ostinato.engine.kinds import JOB, Kinds
from ostinato.engine.lease import PATIENCE, LeaseKeeper, run_on_own_loop
from ostinato.engine.listeners import ChainOutcome, Listeners, Waiters, wait_for_event
from ostinato.engine.log import log
from ostinato.engine.rows import whole_run
from ostinato.engine.run_logging import report_ends
from ostinato.engine.runs import End, wake
from ostinato.engine.stalls import LoopWatch, Stall, advice, note
from ostinato.engine.telemetry import Metrics
from ostinato.engine.timekeeping import Timekeeper
from ostinato.engine.timers import PURPOSES, Beat, Fire, Fired, Park
from ostinato.engine.ways import Part, Way
from ostinato.errors import OstinatoError, StoreError
from ostinato.ids import Ids
from ostinato.model import Status
from ostinato.store.contract import Migration, Operation, Store, single, sql
from ostinato.store.migrate import migrate_way
from ostinato.when import rules_in_force
from ostinato.when.instants import SECOND, Micros

_UNPARK = 500  # parked runs to wake in one transaction
_LOG_AGAIN: Micros = 10 * SECOND  # between two log lines about the same error of the store
_LAST_WRITES = 30.0  # seconds that a stopping node waits for a store that is unavailable


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a node. Durations are in microseconds."""

    queues: tuple[str, ...] = ("default",)
    concurrency: int = 100
    threads: int = 16
    lease: Micros = 4 * SECOND
    grace: Micros = 10 * SECOND
    poll: Micros = 2 * SECOND
    keep_runs: Micros = 30 * 86_400 * SECOND
    keep_events: Micros = 30 * 86_400 * SECOND
    name: str = field(default_factory=lambda: f"{socket.gethostname()}-{os.getpid()}")


class Engine:
    def __init__(
        self,
        store: Store,
        clock: MachineClock,
        handlers: Mapping[str, Handler],
        settings: Settings,
        *,
        kinds: Kinds | None = None,
        ids: Ids | None = None,
        dice: random.Random | None = None,
        version: str = "",
    ) -> None:
        self.store = store
        self.clock = SharedClock(clock)
        self._time = Timekeeper(store, self.clock, self._clock_stepped)
        self.handlers = handlers
        self.settings = settings
        self.kinds = kinds or Kinds()
        self.ids = ids or Ids()
        self.metrics = Metrics()
        self.purposes: dict[tuple[str, str], Fire] = {
            **PURPOSES,
            **housekeeping.purposes(settings.keep_runs, settings.keep_events, self.ids.new),
        }
        self.parks: dict[tuple[str, str], Park] = {}
        self.node = ""
        self.waiters = Waiters(store, None if clock.virtual else 0.5)
        self.listeners = Listeners(store, self.clock, lambda: self.node)
        self._version = version
        self.bodies = Bodies(
            store,
            self.clock,
            handlers,
            lambda: self.node,
            threads=settings.threads,
            grace=settings.grace,
            ids=self.ids,
            dice=dice or random.Random(),
            metrics=self.metrics,
            kinds=self.kinds,
            on_written=self.tell_ends,
            on_recovered=self.hint,
            trouble=self.log_trouble,
            lapsed=lambda: self.unrenewed() > settings.lease,
            renewed=self._wait_for_renewal,
        )
        self.claimer = Claimer(
            store,
            self.clock,
            self.bodies,
            lambda: self.node,
            handlers=handlers,
            queues=settings.queues,
            concurrency=settings.concurrency,
            poll=None if clock.virtual else settings.poll / SECOND,
            metrics=self.metrics,
            on_claim=self.listeners.hint,
        )
        self.beat = Beat(
            store,
            self.clock,
            self.purposes,
            self.claimer,
            self.metrics,
            self.bodies.spans,
            parks=self.parks,
            kinds=self.kinds,
            refresh_clock=self._time.refresh,
            fired=self._fired,
        )
        self._attention = asyncio.Event()
        self._loops: list[asyncio.Task[None]] = []
        self._renewed: Micros = 0  # when the lease was last renewed, in ticks of the machine
        self._renewal = asyncio.Event()
        self._troubled: tuple[str, Micros] | None = None  # the error of the store that was logged last, and when
        self._stopping = False
        self._rules_seen: set[str] = set()
        self._joining = asyncio.Lock()
        self._loop_watch: LoopWatch | None = None
        self._stalls: list[Stall] = []  # to be stored
        self._noted: set[str] = set()  # the runs of the stored reports about outcomes that the store refuses
        self.declared: dict[str, Declaration] = {}  # jobs that only other processes have
        self.preparations: list[Callable[[], Awaitable[None]]] = []  # to be awaited before the first beat
        self._migrations: dict[str, Sequence[Migration]] = {}  # by the name of the way
        self.parts: list[tuple[Callable[[], Awaitable[None]], str]] = []  # background loops of the ways, with names

    def add(self, way: Way, part: Part) -> None:
        """Add an extension to this engine: `way` describes the extension, and `part` does its work in this app. Raises
        `OstinatoError` if `part` does not have bodies for exactly the run kinds of `way`, or if a timer of `way` is
        registered already."""
        runtime, bodies = way.loaded_runtime, part.begin(self)
        if bodies.keys() != runtime.kinds.keys():
            raise OstinatoError(f"way {way.name!r} has the kinds {list(runtime.kinds)}, but bodies for {list(bodies)}")
        for key, fire in runtime.timers.items():
            if key in self.purposes:
                raise OstinatoError(f"way {way.name!r} has a timer {key} that is taken")
            self.purposes[key] = fire
        self.parks.update(runtime.parks)
        self.bodies.of_kind.update(bodies)
        self.preparations.append(part.prepare)
        self.parts += [(loop, name) for name, loop in part.loops().items()]
        self._migrations[way.name] = way.loaded_migrations

    @property
    def stopping(self) -> bool:
        """Return whether the node is stopping: it claims no more runs, but runs that it holds may still be running."""
        return self._stopping

    def unrenewed(self) -> Micros:
        """Return the time since the lease was last renewed."""
        return self.clock.local.ticks() - self._renewed

    async def _wait_for_renewal(self) -> None:
        while self.unrenewed() > self.settings.lease:
            self._renewal.clear()
            await self._renewal.wait()

    def find_job(self, name: str) -> Handler | Declaration | None:
        """Return the job with this name: the handler if this process has the job, or else the declaration that another
        process has stored. Returns None if there is neither."""
        return self.handlers.get(name) or self.declared.get(name)

    # Lifecycle

    async def start(self) -> None:
        job_logging.install()
        await self._open_store()
        await self._time.measure()
        await self._join()
        now = self.clock.now()
        await self.store.run(lambda _: housekeeping.first_timers(now))
        await self.read_declared()
        for prepare in self.preparations:
            await prepare()
        self.store.on_change(self.hint)
        self.bodies.ends.start()
        self.bodies.saves.start()
        await self.listeners.start()
        self.beat.at = self.clock.now()
        self._begin_loops()
        if not self.clock.virtual:
            self._loop_watch = LoopWatch(self.bodies.run_of, self._stalls.append)
        log.info("node started", action="node_started", node=self.node, store=self.store.url)

    async def _open_store(self) -> None:
        await self.store.open(self._migrations)
        for way, migrations in self._migrations.items():
            if migrations:
                await migrate_way(self.store, way, migrations)

    def _begin_loops(self) -> None:
        beat, claims, tend, *others = (
            asyncio.create_task(self._forever(part, name))
            for part, name in (
                (self.beat.run, "beat"),
                (self.claimer.run, "claim"),
                (self._tend, "tend"),
                *self.parts,
            )
        )
        self._loops = [beat, claims, asyncio.create_task(self._keep_lease()), tend, *others]

    async def connect(self) -> None:
        """Open the store without joining as a node. The process can start and watch runs, but does not execute them."""
        await self._open_store()
        self.node = self.ids.new(self.clock.now())  # in no table; it only identifies the listeners of this process
        await self._time.measure(looking=True)
        await self.read_declared()
        self.store.on_change(self.hint)
        await self.listeners.start()

    async def stop(self) -> None:
        """Stop the node. First it stops claiming runs and firing timers. Then it waits for bodies, at most for the
        grace period. Finally it hands unfinished runs back, commits all outcomes, and deletes the node's row."""
        if self._stopping:
            return
        self._stopping = True
        try:
            await self._stop()
        except BaseException:  # for example a cancellation: the caller closes the store, so no loop may use it
            for loop in self._loops:
                loop.cancel()
            raise

    async def _stop(self) -> None:
        self.claimer.stop()
        self.beat.stop()
        beat, claims, lease, tend, *others = self._loops
        now = asyncio.get_running_loop().time
        deadline = now() + self.settings.grace / SECOND
        # Wait for transactions in progress: a cancelled one might be committed all the same.
        await asyncio.wait([beat, claims], timeout=deadline - now())
        while (tasks := self.bodies.tasks()) and now() < deadline:
            await asyncio.wait(tasks, timeout=deadline - now())
        await self.bodies.abandon(BodyStop(Status.READY, "handed back"))
        for loop in (beat, claims, tend, *others):
            loop.cancel()
        await asyncio.gather(beat, claims, tend, *others, return_exceptions=True)
        await self._drain()
        lease.cancel()
        await asyncio.gather(lease, return_exceptions=True)
        with suppress(StoreError, TimeoutError):
            async with asyncio.timeout(_LAST_WRITES):
                await self._leave()
        await self.close()
        log.info("node stopped", action="node_stopped", node=self.node)

    async def _leave(self) -> None:
        unwritten, in_thread = dict(self.bodies.begun), dict(self.bodies.executor.in_thread)
        for (run, claim), job in in_thread.items():
            if unwritten.get(run) == claim:
                words = f"job {job!r} is still in its thread after the grace; its run counts as crashed"
                log.warning(f"{words}, and is retried as after a crash", action="thread_left", run=run, job=job)
        while await self.store.run(
            lambda _: membership.leave(self.node, unwritten, in_thread, self.clock.now(), self.ids.new, self.kinds)
        ):
            pass

    async def _drain(self) -> None:
        """Write the remaining outcomes. If this takes longer than `_LAST_WRITES` seconds, for example because the store
        is unavailable, give up. Other nodes then recover the runs later."""
        try:
            async with asyncio.timeout(_LAST_WRITES):
                await self.bodies.saves.drain()
                await self.bodies.ends.drain()
        except TimeoutError:
            log.error(
                "outcomes could not be written before the node stopped",
                action="drain_failed",
                count=self.bodies.ends.uncommitted,
            )

    async def kill(self) -> None:
        """Stop at once, like a crash: write nothing more. For tests."""
        self._stopping = True
        for loop in self._loops:
            loop.cancel()
        await asyncio.gather(*self._loops, return_exceptions=True)
        await self.bodies.abandon(BodyStop(Status.CRASHED, None))
        await self.close()

    async def close(self) -> None:
        if self._loop_watch is not None:
            self._loop_watch.stop()
        await self.bodies.ends.stop()
        await self.bodies.saves.stop()
        await self.listeners.stop()
        await self.waiters.stop()
        self.bodies.executor.close()

    async def _forever(self, part: Callable[[], object], name: str) -> None:
        """Run the loop `part` until the node is stopping. If the loop ends or fails, start it again after a pause. An
        error is logged. The pause grows if the loop ends or fails several times within a few seconds. If other nodes
        have declared this node dead (`NodeLost`), join the store again first."""
        failures = 0
        while True:
            begin = asyncio.get_running_loop().time()
            try:
                await part()  # type: ignore[misc]
                if self._stopping:
                    return
            except asyncio.CancelledError:
                raise
            except NodeLost as lost:
                await self._lost(str(lost))
            except StoreError as trouble:
                self.log_trouble(trouble)
            except Exception:
                log.exception("a part of the engine failed", action="engine_failed", part=name)
            most = self.settings.lease / 10 / SECOND if name == "lease" else 2.0  # the lease must be renewed in time
            failures = 1 if asyncio.get_running_loop().time() - begin > 5 else failures + 1
            await asyncio.sleep(backoff(failures, 0.05, most))

    def log_trouble(self, trouble: Exception) -> None:
        """Log an error of the store. The same error is logged again only after `_LOG_AGAIN`. Otherwise every loop would
        log it several times a second, perhaps to a disk that is full."""
        problem, now = str(trouble), self.clock.local.ticks()
        if self._troubled is not None and self._troubled[0] == problem and now - self._troubled[1] < _LOG_AGAIN:
            return
        self._troubled = problem, now
        log.warning("the store is in trouble", action="store_trouble", problem=problem)

    # Being a node

    async def _join(self) -> None:
        now = self.clock.now()
        self.node = self.ids.new(now)
        self._renewed = self.clock.local.ticks()
        info = membership.NodeInfo(
            self.node,
            self.settings.name,
            now,
            now + self.settings.lease,
            self.settings.queues,
            tuple(sorted(self.handlers)),
            self._version,
            rules_in_force().version,
            (JOB, *self.kinds.runs),
        )
        declared = [(handler.name, handler.declaration.write()) for handler in self.handlers.values()]
        await self.store.run(lambda _: membership.join(info, declared))

    async def read_declared(self) -> None:
        """Read the jobs that other processes have declared in this store into `declared`."""
        rows = await self.store.read(lambda _: single(sql("declared_jobs")))
        self.declared = {name: Declaration.read(name, text) for name, text in rows if name not in self.handlers}

    async def _lost(self, node: str) -> None:
        """Handle the loss of the lease. Other nodes have taken over the runs of this node, so stop all bodies. Then
        join as a new node, unless the engine is stopping."""
        async with self._joining:
            if node != self.node:
                return
            self._log_loss(node)
            await self.bodies.abandon(BodyStop(Status.CRASHED, None))
            self.bodies.begun.clear()
            if not self._stopping:
                await self._join()

    def _log_loss(self, node: str) -> None:
        """Log that other nodes have declared this node dead. If code blocked the event loop, name that code."""
        words, more = "this node was given up for dead", {}
        since = (self.clock.local.ticks() - self._renewed) / SECOND
        stall = None if self._loop_watch is None else self._loop_watch.stall_since(since + 1)
        if stall is not None:
            blocker = stall.blocker or stall.where
            words += f": {blocker} blocked the event loop, so that the lease could not be renewed; {advice(stall)}"
            more = {"job": stall.job or "", "where": stall.where}
        log.warning(words, action="node_lost", node=node, **more)

    async def _keep_lease(self) -> None:
        """Renew the lease in a thread, so that it is renewed even while the node's event loop is blocked. On a virtual
        clock, renew the lease on the node's event loop."""
        keeper = LeaseKeeper(
            self.clock,
            self.settings.lease,
            lambda: self.node,
            on_renewal=self._note_renewal,
            lost=self._lost,
            stopping=lambda: self._stopping,
            blocker=self._blocker,
        )
        if self.clock.virtual:
            await self._forever(lambda: keeper.renew(self.store, self._time), "lease")
        else:
            await run_on_own_loop(lambda: self._forever(lambda: self._renew_beside(keeper), "lease"), "ostinato-lease")

    def _blocker(self) -> str | None:
        """Return what blocked the event loop lately: a job, such as `job 'crunch'`, or a place in the code. Returns
        None if no such block began in the last `2 * PATIENCE`. May be called from another thread."""
        watch = self._loop_watch
        stall = None if watch is None else watch.stall_since(2 * PATIENCE / SECOND)
        if stall is None:
            return None
        return stall.blocker or stall.where

    async def _renew_beside(self, keeper: LeaseKeeper) -> None:
        async with self.store.on_this_loop() as store:
            await keeper.renew(store, self._time.beside(store, lambda: keeper.call_home(self._clock_stepped)))

    async def _tend(self) -> None:
        """Do this work ten times per lease, and whenever `attend` is called:

        - stop bodies whose run must be cancelled or belongs to another node, and begin claimed runs that have not begun
        - wake parked runs whose job this node knows
        - recover runs of dead nodes
        - store reports about a blocked event loop, and about outcomes that the store refuses
        - measure the clock
        - read the declared jobs, if other nodes have new ones
        - set metrics
        """
        while True:
            await self._check_held()
            await self._unpark()
            await self._recover()
            await self._note_stalls()
            await self._note_unwritten()
            await self._time.measure()
            if not self.claimer.leave <= self.declared.keys():
                await self.read_declared()
            self.metrics.running.set(len(self.bodies.running))
            self.metrics.threads.set(self.bodies.executor.threads_busy)
            self.metrics.beat.set((self.clock.now() - self.beat.at) / SECOND)
            await wait_for_event(self._attention, self.settings.lease / 10 / SECOND)
            self._attention.clear()

    async def _note_stalls(self) -> None:
        while self._stalls:
            stall = self._stalls[0]
            now = self.clock.now()
            await self.store.run(lambda _, stall=stall, now=now: note(stall, now))  # type: ignore[misc]
            self._stalls.remove(stall)

    async def _note_unwritten(self) -> None:
        """Store which outcomes the store refuses, and delete the reports about those that were written since."""
        current = dict(self.bodies.unwritten)
        new, old = [current[run] for run in current.keys() - self._noted], self._noted - current.keys()

        def write(_: int) -> Operation[None]:
            yield from unwritten.note(new)
            yield from unwritten.forget(old)

        if new or old:
            await self.store.run(write)
            self._noted = set(current)

    async def _recover(self) -> None:
        """Recover the runs of dead nodes. Each transaction first checks again that the node is dead."""
        await self._time.refresh()
        by = self.node
        for dead in await self.store.read(lambda _: dead_nodes.find_dead(by, self.clock.now())):
            recovered = -1
            while recovered:
                recovered = await self.store.run(
                    lambda _, dead=dead: dead_nodes.recover(dead, by, self.clock.now(), self.ids.new, self.kinds)  # type: ignore[misc]
                )
                if recovered:
                    log.warning("took over runs", action="runs_recovered", count=recovered, node=dead)
                    self.metrics.recovered.inc(recovered)
                    self.hint()

    def _note_renewal(self, pulse: membership.Pulse, ticks: Micros) -> None:
        """Record that the lease was renewed, and which jobs only other nodes can run. `ticks` is when the renewal was
        requested. If the event loop was blocked, that may be long before this call."""
        self._renewed = max(self._renewed, ticks)
        self._renewal.set()
        now = self.clock.now()
        others = {h for n in pulse.nodes if n.id != self.node and n.lease_until >= now for h in n.handlers}
        self.claimer.leave = frozenset(others - set(self.handlers))
        rules = {n.zone_rules for n in pulse.nodes if n.lease_until >= now}
        if len(rules) > 1 and rules != self._rules_seen:
            log.warning("nodes have different zone rules", action="zone_rules_differ", rules=sorted(rules))
        self._rules_seen = rules

    async def _check_held(self) -> None:
        """Compare the runs that this node holds in the store with the bodies that run here. Stop a body if the
        cancellation of its run was requested, or if this node no longer holds the run. Begin a run that this node has
        claimed without noticing, because the reply to the commit was lost."""
        bodies = list(self.bodies.running.values())
        rows = await self.store.read(lambda _: single(sql("held_by_node", node=self.node)))
        held = {id: (claim, cancel_requested, reason) for id, claim, cancel_requested, reason, _ in rows}
        for body in bodies:
            claim, cancel_requested, reason = held.get(body.run.id, (None, None, None))
            if claim != body.run.claim:
                self.bodies.cancel_here(body.run.id, BodyStop(Status.CRASHED, None))
            elif cancel_requested is not None:
                self.bodies.cancel_here(body.run.id, BodyStop(Status.CANCELLED, reason))
        unheard = [id for id, claim, _, _, token in rows if self.claimer.unheard(id, claim, token)]
        if unheard:
            await self._begin_unheard(unheard)

    async def _begin_unheard(self, ids: list[str]) -> None:
        """Begin runs that this node has claimed without noticing, because the reply to the commit was lost."""
        rows = await self.store.read(lambda _: single(sql("runs_by_ids", [(id,) for id in ids])))
        for run in map(whole_run, rows):
            if run.status is Status.ACTIVE and run.node == self.node and self.bodies.begun.get(run.id) != run.claim:
                self.claimer.take([run])

    async def _unpark(self) -> None:
        """Wake parked runs that this node can execute. A run was parked because the node that claimed it did not know
        its job."""
        names = [(name,) for name in self.handlers]
        now = self.clock.now()

        def wake_parked(_: int) -> Operation[None]:
            rows = yield sql("unpark", names, limit=_UNPARK, kinds=self.kinds.names)
            if rows:
                yield from wake([row[0] for row in rows], now)

        any_parked = sql("unpark", names, limit=1, kinds=self.kinds.names)
        if await self.store.read(lambda _: single(any_parked)):
            await self.store.run(wake_parked)
            self.claimer.ready.set()

    # The beat

    def _clock_stepped(self) -> None:
        """Wake the loop that fires timers. Call this after the clock was set, because the loop must then compute again
        how long to wait for the next timer."""
        self.beat.due.set()

    def hint(self) -> None:
        """Wake the loops that look for due timers, ready runs, events and ended runs. Called when the store may have
        changed, for example because of another process."""
        self.nudge()
        self.waiters.hint()

    def attend(self) -> None:
        """Wake the loops that look for due timers, ready runs, events and runs to stop. Called after this process has
        changed the store."""
        self.nudge()
        self._attention.set()

    def nudge(self, *, timers: bool = True) -> None:
        """Wake the loops that look for ready runs and events. If `timers` is true, also wake the loop that fires
        timers."""
        self.claimer.ready.set()
        if timers:
            self.beat.due.set()
        self.listeners.hint()

    async def _fired(self, fired: Fired) -> None:
        """Wake the loops that have work after a batch of timers was fired."""
        if len(fired.claimed) == fired.plain == fired.timers:
            self.listeners.hint()  # every timer started a run, and all of them have begun
            return
        self.hint()
        if fired.plain < fired.timers and self.bodies.running:  # a deadline may have ended runs of this node
            await self._check_held()

    # Writing

    def tell_ends(self, ends: Sequence[End]) -> None:
        """Act on ends of runs, after they were committed. Wake the callers that wait for these runs, and log and count
        the ends. If other runs may now start, also wake the loops that look for ready runs and due timers."""
        following = False
        counts: dict[Status, int] = {}
        for e in ends:
            run = e.run
            status = e.status
            counts[status] = counts.get(status, 0) + 1
            if e.following is not None or not e.finished:
                following = True
            elif run.root_id in self.waiters:
                self.waiters.ended(run.root_id, ChainOutcome(status.value, e.reason, e.result, e.error))
            owned = run.schedule_id is not None or run.parent_id is not None
            if run.serial_key is not None or run.concurrency_key is not None or (e.stirs and owned):
                following = True
        report_ends(ends, self.clock.now())
        for status, count in counts.items():
            self.metrics.ended.labels(status.value).inc(count)
        self.listeners.hint()
        self.bodies.room.set()
        if following:
            self.claimer.ready.set()
            self.beat.due.set()
