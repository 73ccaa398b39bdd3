"""One node of the clockwork: it fires what is due, claims what is ready, runs it, commits how it went, and keeps
its lease. Every background part is started and stopped here, and nowhere else."""

from __future__ import annotations

import asyncio
import os
import random
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from ostinato.clock import MachineClock, SharedClock
from ostinato.engine import housekeeping, job_logging, nodes, timers
from ostinato.engine.beat import Beat
from ostinato.engine.bodies import Bodies
from ostinato.engine.claimer import Claimer
from ostinato.engine.claims import NodeLost
from ostinato.engine.executor import Stop
from ostinato.engine.handlers import Declaration, Handler
from ostinato.engine.listeners import Ended, Listeners, Waiters, wait_for_event
from ostinato.engine.log import log
from ostinato.engine.reporting import report_ends
from ostinato.engine.rows import whole_run
from ostinato.engine.runs import End, wake
from ostinato.engine.stalls import LoopWatch, Stall, advice, note
from ostinato.engine.telemetry import Metrics
from ostinato.engine.timekeeping import Timekeeper
from ostinato.errors import StoreError
from ostinato.ids import Ids
from ostinato.model import Status
from ostinato.store.contract import Operation, Row, Store, sql
from ostinato.when import rules_in_force
from ostinato.when.instants import SECOND, Micros

_UNPARK = 500
_LAST_WORDS = 30.0  # seconds that a stopping node waits for a store that is away


@dataclass(frozen=True, slots=True)
class Settings:
    """How a node works. Lengths in microseconds."""

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
        ids: Ids | None = None,
        dice: random.Random | None = None,
        version: str = "",
    ) -> None:
        self.store = store
        self.clock = SharedClock(clock)
        self._time = Timekeeper(store, self.clock, self._clock_stepped)
        self.handlers = handlers
        self.settings = settings
        self.ids = ids or Ids()
        self.metrics = Metrics()
        self.purposes: dict[tuple[str, str], timers.Fire] = {
            **timers.PURPOSES,
            **housekeeping.purposes(settings.keep_runs, settings.keep_events, self.ids.new),
        }
        self.parks: dict[tuple[str, str], timers.Park] = {}
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
            told=self.tell_ends,
            trouble=self._trouble,
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
            told=self.listeners.hint,
        )
        self.beat = Beat(
            store,
            self.clock,
            self.purposes,
            self.claimer,
            self.metrics,
            self.bodies.spans,
            parks=self.parks,
            refresh_clock=self._time.refresh,
            fired=self._fired,
        )
        self._attention = asyncio.Event()
        self._loops: list[asyncio.Task[None]] = []
        self._renewed: Micros = 0  # when the lease was, by the machine's ticks
        self._stopping = False
        self._rules_seen: set[str] = set()
        self._joining = asyncio.Lock()
        self._loop_watch: LoopWatch | None = None
        self._stalls: list[Stall] = []  # to be put on record
        self.declared: dict[str, Declaration] = {}  # what other processes have said about jobs that this one lacks
        self.preparations: list[Callable[[], Awaitable[None]]] = []  # to be done before the first beat
        self.parts: list[tuple[Callable[[], Awaitable[None]], str]] = []  # what else goes on while this is a node

    @property
    def stopping(self) -> bool:
        """It takes no more work, though what it has taken may still run."""
        return self._stopping

    def unrenewed(self) -> Micros:
        """For how long the lease has not been renewed."""
        return self.clock.local.ticks() - self._renewed

    def known(self, name: str) -> Handler | Declaration | None:
        """What is known about a job, here or anywhere."""
        return self.handlers.get(name) or self.declared.get(name)

    # Lifecycle

    async def start(self) -> None:
        job_logging.install()
        await self.store.open()
        await self._time.measure()
        await self._join()
        await self._first_timers()
        await self._read_declared()
        for prepare in self.preparations:
            await prepare()
        self.store.on_change(self.hint)
        self.bodies.ends.start()
        self.bodies.saves.start()
        await self.listeners.start()
        self.beat.at = self.clock.now()
        self._begin_loops()
        if not self.clock.virtual:
            self._loop_watch = LoopWatch(self.bodies.job_of, self._stalls.append)
        log.info("node started", action="node_started", node=self.node, store=self.store.url)

    def _begin_loops(self) -> None:
        own = [(self.beat.run, "beat"), (self.claimer.run, "claim"), (self._renew, "lease"), (self._tend, "tend")]
        self._loops = [asyncio.create_task(self._forever(part, name)) for part, name in (*own, *self.parts)]

    async def connect(self) -> None:
        """Open the store without becoming a node: to start and watch, not to work."""
        await self.store.open()
        self.node = self.ids.new(self.clock.now())  # on record nowhere; it tells this process's listeners from others
        await self._time.measure(looking=True)
        await self._read_declared()
        self.store.on_change(self.hint)
        await self.listeners.start()

    async def disconnect(self) -> None:
        await self._close()

    async def stop(self) -> None:
        """Fire and claim no more; let what runs finish for a while, hand back the rest, commit everything, leave."""
        if self._stopping:
            return
        self._stopping = True
        self.claimer.stop()
        self.beat.stop()
        beat, claims, lease, tend, *others = self._loops
        now = asyncio.get_running_loop().time
        deadline = now() + self.settings.grace / SECOND
        # What is on its way is heard out: cancelled, it might be committed all the same.
        await asyncio.wait([beat, claims], timeout=deadline - now())
        while (tasks := self.bodies.tasks()) and now() < deadline:
            await asyncio.wait(tasks, timeout=deadline - now())
        await self.bodies.abandon(Stop(Status.READY, "handed back"))
        for loop in (beat, claims, tend, *others):
            loop.cancel()
        await asyncio.gather(beat, claims, tend, *others, return_exceptions=True)
        await self._drain()
        lease.cancel()
        await asyncio.gather(lease, return_exceptions=True)
        with suppress(StoreError, TimeoutError):
            async with asyncio.timeout(_LAST_WORDS):
                await self._leave()
        await self._close()
        log.info("node stopped", action="node_stopped", node=self.node)

    async def _leave(self) -> None:
        unwritten = dict(self.bodies.begun)
        while await self.store.run(lambda _: nodes.leave(self.node, unwritten, self.clock.now(), self.ids.new)):
            pass

    async def _drain(self) -> None:
        """Write what is left. A store that stays away is not waited for for ever: the lease sees to the rest."""
        try:
            async with asyncio.timeout(_LAST_WORDS):
                await self.bodies.saves.drain()
                await self.bodies.ends.drain()
        except TimeoutError:
            log.error(
                "outcomes could not be written before the end", action="drain_failed", count=len(self.bodies.ends)
            )

    async def kill(self) -> None:
        """Stop as a crash would: nothing is finished, nothing is said. For tests."""
        self._stopping = True
        for loop in self._loops:
            loop.cancel()
        await asyncio.gather(*self._loops, return_exceptions=True)
        await self.bodies.abandon(Stop(Status.CRASHED, None))
        await self._close()

    async def _close(self) -> None:
        if self._loop_watch is not None:
            self._loop_watch.stop()
        await self.bodies.ends.stop()
        await self.bodies.saves.stop()
        await self.listeners.stop()
        await self.waiters.stop()
        self.bodies.executor.close()

    async def _forever(self, part: Callable[[], object], name: str) -> None:
        """Run one part; trouble with the store is waited out, anything else is logged and survived."""
        pause = 0.05
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
                self._trouble(trouble)
            except Exception:
                log.exception("a part of the engine failed", action="engine_failed", part=name)
            most = self.settings.lease / 10 / SECOND if name == "lease" else 2.0  # a lease is not to be late
            pause = 0.05 if asyncio.get_running_loop().time() - begin > 5 else min(most, 2.0, pause * 2)
            await asyncio.sleep(pause)

    def _trouble(self, trouble: Exception) -> None:
        log.warning("the store is in trouble", action="store_trouble", problem=str(trouble))

    # Being a node

    async def _join(self) -> None:
        now = self.clock.now()
        self.node = self.ids.new(now)
        self._renewed = self.clock.local.ticks()
        info = nodes.NodeInfo(
            self.node,
            self.settings.name,
            now,
            now + self.settings.lease,
            self.settings.queues,
            tuple(sorted(self.handlers)),
            self._version,
            rules_in_force().version,
        )
        declared = [(handler.name, handler.declaration.write()) for handler in self.handlers.values()]
        await self.store.run(lambda _: nodes.join(info, declared))

    async def _read_declared(self) -> None:
        def found(_: int) -> Operation[list[Row]]:
            return (yield sql("declared_jobs"))

        rows = await self.store.read(found)
        self.declared = {name: Declaration.read(name, text) for name, text in rows if name not in self.handlers}

    async def _first_timers(self) -> None:
        now = self.clock.now()
        await self.store.run(lambda _: housekeeping.first_timers(now))

    async def _lost(self, node: str) -> None:
        """Others have taken over: what runs here runs for nothing, so stop it and begin anew, once."""
        async with self._joining:
            if node != self.node:
                return
            self._say_lost(node)
            await self.bodies.abandon(Stop(Status.CRASHED, None))
            self.bodies.begun.clear()
            if not self._stopping:
                await self._join()

    def _say_lost(self, node: str) -> None:
        """With what has blocked the loop since the lease was last renewed, if anything is known to have."""
        words, more = "this node was given up for dead", {}
        since = (self.clock.local.ticks() - self._renewed) / SECOND
        stall = None if self._loop_watch is None else self._loop_watch.stall_since(since + 1)
        if stall is not None:
            who = f"job {stall.job!r}" if stall.job is not None else stall.where
            words += f": {who} blocked the event loop, so that the lease could not be renewed; {advice(stall)}"
            more = {"job": stall.job or "", "where": stall.where}
        log.warning(words, action="node_lost", node=node, **more)

    async def _renew(self) -> None:
        """Keep the lease, and do nothing else: whatever is slow must not cost it."""
        lease = self.settings.lease
        while True:
            await self._time.refresh()
            node = self.node
            pulse = await self.store.run(
                lambda _, node=node: nodes.heartbeat(node, self.clock.now, lease)  # type: ignore[misc]
            )
            if not pulse.alive:
                await self._lost(node)
                if self._stopping:
                    return
                continue
            self._renewed = self.clock.local.ticks()
            self._note(pulse)
            if self.clock.now() - pulse.at < lease // 5:  # else the answer took so long that it is time again
                await asyncio.sleep(lease / 5 / SECOND)

    async def _tend(self) -> None:
        """What else a node does every second: stop what is to be stopped, wake what was parked, take over from the
        dead, look at the clock."""
        while True:
            await self._check_held()
            await self._unpark()
            await self._recover()
            await self._note_stalls()
            await self._time.measure()
            if not self.claimer.leave <= self.declared.keys():
                await self._read_declared()
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

    async def _recover(self) -> None:
        """Take over from the dead. Whether one may be given up is for the store to say, at the moment it is done: only
        a node that has itself renewed its lease without a break for as long as a lease knows that others could."""
        await self._time.refresh()
        by = self.node
        for dead in await self.store.read(lambda _: nodes.gone(by, self.clock.now())):
            recovered = -1
            while recovered:
                recovered = await self.store.run(
                    lambda _, dead=dead: nodes.recover(dead, by, self.clock.now(), self.ids.new)  # type: ignore[misc]
                )
                if recovered:
                    log.warning("took over runs", action="runs_recovered", count=recovered, node=dead)
                    self.metrics.recovered.inc(recovered)
                    self.hint()

    def _note(self, pulse: nodes.Pulse) -> None:
        now = self.clock.now()
        others = {h for n in pulse.nodes if n.id != self.node and n.lease_until >= now for h in n.handlers}
        self.claimer.leave = frozenset(others - set(self.handlers))
        rules = {n.zone_rules for n in pulse.nodes if n.lease_until >= now}
        if len(rules) > 1 and rules != self._rules_seen:
            log.warning("nodes have different zone rules", action="zone_rules_differ", rules=sorted(rules))
        self._rules_seen = rules

    async def _check_held(self) -> None:
        """Stop what someone wants stopped and what is no longer ours; begin what we claimed without hearing of it."""
        began = list(self.bodies.running.values())

        def held(_: int) -> Operation[list[Row]]:
            return (yield sql("held_by_node", node=self.node))

        rows = {row[0]: row for row in await self.store.read(held)}
        for one in began:
            row = rows.get(one.run.id)
            if row is None or row[1] != one.run.claim:
                self.bodies.cancel_here(one.run.id, Stop(Status.CRASHED, None))
            elif row[2] is not None:
                self.bodies.cancel_here(one.run.id, Stop(Status.CANCELLED, row[3]))
        unheard = [id for id, claim, _, _, token in rows.values() if self.claimer.unheard(id, claim, token)]
        if unheard:
            await self._begin_unheard(unheard)

    async def _begin_unheard(self, ids: list[str]) -> None:
        def found(_: int) -> Operation[list[Row]]:
            return (yield sql("runs_by_ids", [(id,) for id in ids]))

        for row in await self.store.read(found):
            run = whole_run(row)
            if run.status is Status.ACTIVE and run.node == self.node and self.bodies.begun.get(run.id) != run.claim:
                self.claimer.take([run])

    async def _unpark(self) -> None:
        """Runs that waited for a handler which this node has."""
        names = [(name,) for name in self.handlers]
        now = self.clock.now()

        def parked(_: int) -> Operation[int]:
            rows = yield sql("unpark", names, limit=_UNPARK)
            if rows:
                yield from wake([row[0] for row in rows], now)
            return len(rows)

        def any_parked(_: int) -> Operation[int]:
            return len((yield sql("unpark", names, limit=1)))

        if await self.store.read(any_parked):
            await self.store.run(parked)
            self.claimer.ready.set()

    # The beat

    def _clock_stepped(self) -> None:
        """What the beat waits for may be due sooner or later than it thought."""
        self.beat.due.set()

    def hint(self) -> None:
        """Something may have changed that this node did not do: look at everything."""
        self.nudge()
        self.waiters.hint()

    def attend(self) -> None:
        """Something was changed from this process that may want a run of this node stopped."""
        self.nudge()
        self._attention.set()

    def nudge(self, *, timers: bool = True) -> None:
        """Runs were started from this process, and perhaps timers set."""
        self.claimer.ready.set()
        if timers:
            self.beat.due.set()
        self.listeners.hint()

    async def _fired(self, fired: timers.Fired) -> None:
        """Timers were fired."""
        if len(fired.taken) == fired.plain == fired.timers:
            self.listeners.hint()  # all of it has begun already
            return
        self.hint()
        if fired.plain < fired.timers and self.bodies.running:  # what runs here may have been ended
            await self._check_held()

    # Writing

    def tell_ends(self, ends: Sequence[End]) -> None:
        """These are written: who waits for them is told, and what they make room for is looked at."""
        following = False
        counts: dict[Status, int] = {}
        for e in ends:
            run = e.run
            status = e.status
            counts[status] = counts.get(status, 0) + 1
            if e.following is not None or not e.finished:
                following = True
            elif run.root_id in self.waiters:
                self.waiters.ended(run.root_id, Ended(status.value, e.reason, e.result, e.error))
            if run.serial_key is not None or run.concurrency_key is not None or (e.stirs and run.schedule_id):
                following = True
        report_ends(ends, self.clock.now())
        for status, count in counts.items():
            self.metrics.ended.labels(status.value).inc(count)
        self.listeners.hint()
        self.bodies.room.set()
        if following:
            self.claimer.ready.set()
            self.beat.due.set()
