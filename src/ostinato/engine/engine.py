"""One node of the clockwork: it fires what is due, claims what is ready, runs it, commits how it went, and keeps
its lease. Every background part is started and stopped here, and nowhere else."""

from __future__ import annotations

import asyncio
import os
import random
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from opentelemetry.trace import StatusCode

from ostinato.clock import Clock, SharedClock
from ostinato.engine import housekeeping, nodes, timers
from ostinato.engine.claims import NodeLost, claim
from ostinato.engine.commits import Committer
from ostinato.engine.context import Context, clean
from ostinato.engine.executor import Executor, Outcome, Stop
from ostinato.engine.handlers import Declaration, Handler
from ostinato.engine.kinds import Body
from ostinato.engine.listeners import Ended, Listeners, Waiters, wait_for_event
from ostinato.engine.outcomes import after_failure
from ostinato.engine.rows import read_options, whole_run
from ostinato.engine.runs import End, end, wake
from ostinato.engine.telemetry import Metrics, Spans, log
from ostinato.errors import StoreError, StoreUnavailable
from ostinato.ids import Ids
from ostinato.model import Run, Status
from ostinato.store.contract import Operation, Row, Store, sql
from ostinato.when import rules_in_force
from ostinato.when.instants import SECOND, Micros

_CLAIM = 100  # runs in one claim: fewer cost more each
_FIRE = 500
_SLICE: Micros = 5 * SECOND  # the longest sleep, so that a suspend or a step of the clock is noticed
_LAST_WORDS = 30.0  # seconds that a stopping node waits for a store that is away
_ELSEWHERE: Micros = 5_000  # before another look at timers that another node is about to fire
_BACKLOG = 5_000  # outcomes waiting for the store before no more work is claimed


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


class _Task:
    """A body that is running here."""

    __slots__ = ("begun", "run", "stop", "task")

    def __init__(self, run: Run) -> None:
        self.run = run
        self.task: asyncio.Task[None] | None = None
        self.stop: Stop | None = None
        self.begun = False

    def cancel(self, why: Stop) -> None:
        """A task that is cancelled before its first step never takes it, and nobody would write its end: then the
        word is left for it to find."""
        self.stop = why
        if self.begun and self.task is not None:
            self.task.cancel()


class Engine:
    def __init__(
        self,
        store: Store,
        clock: Clock,
        handlers: Mapping[str, Handler],
        settings: Settings,
        *,
        ids: Ids | None = None,
        dice: random.Random | None = None,
        version: str = "",
    ) -> None:
        self.store = store
        self.clock = SharedClock(clock)
        self.handlers = handlers
        self.settings = settings
        self.ids = ids or Ids()
        self.metrics = Metrics()
        self.purposes: dict[tuple[str, str], timers.Fire] = {
            **timers.PURPOSES,
            **housekeeping.purposes(settings.keep_runs, settings.keep_events, self.ids.new),
        }
        self.node = ""
        self.waiters = Waiters(store, None if clock.virtual else 0.5)
        self.listeners = Listeners(store, self.clock, lambda: self.node)
        self._dice = dice or random.Random()
        self._version = version
        self._spans = Spans()
        self._executor = Executor(settings.threads)
        self._ends: Committer[End, None] = Committer(self._commit_ends, self._trouble, instead=self._unwritable)
        self._saves: Committer[tuple[Run, str | None, str | None], None] = Committer(self._commit_saves, self._trouble)
        self._running: dict[str, _Task] = {}
        self._ready = asyncio.Event()
        self._due = asyncio.Event()
        self._room = asyncio.Event()
        self._attention = asyncio.Event()
        self._loops: list[asyncio.Task[None]] = []
        self._token = 0
        self._claiming = -1  # the token of the claim that is under way, if one is
        self._begun: dict[str, int] = {}  # what this node began and has not committed the end of: run, claim
        self._alive_since: Micros = 0
        self._leave: frozenset[str] = frozenset()
        self._processed: Micros = 0
        self._stopping = False
        self._rules_seen: set[str] = set()
        self._joining = asyncio.Lock()
        self._pulse_seen = nodes.Pulse(True)
        self.beat_at: Micros = 0
        self.declared: dict[str, Declaration] = {}  # what other processes have said about jobs that this one lacks
        self.preparations: list[Callable[[], Awaitable[None]]] = []  # to be done before the first beat
        self.kinds: dict[str, Body] = {}  # what is done with claimed runs that are no jobs
        self.parts: list[tuple[Callable[[], Awaitable[None]], str]] = []  # what else goes on while this is a node

    def known(self, name: str) -> Handler | Declaration | None:
        """What is known about a job, here or anywhere."""
        return self.handlers.get(name) or self.declared.get(name)

    # Lifecycle

    async def start(self) -> None:
        await self.store.open()
        await self._measure_clock()
        await self._join()
        await self._first_timers()
        await self._read_declared()
        for prepare in self.preparations:
            await prepare()
        self.store.on_change(self.hint)
        self._ends.start()
        self._saves.start()
        await self.listeners.start()
        self.beat_at = self.clock.now()
        self._begin_loops()
        log.info("node started", action="node_started", node=self.node, store=self.store.url)

    def _begin_loops(self) -> None:
        own = [(self._beat, "beat"), (self._claims, "claim"), (self._renew, "lease"), (self._tend, "tend")]
        self._loops = [asyncio.create_task(self._forever(part, name)) for part, name in (*own, *self.parts)]

    async def connect(self) -> None:
        """Open the store without becoming a node: to start and watch, not to work."""
        await self.store.open()
        self.node = self.ids.new(self.clock.now())  # on record nowhere; it tells this process's listeners from others
        await self._measure_clock()
        await self._read_declared()
        self.store.on_change(self.hint)
        await self.listeners.start()

    async def disconnect(self) -> None:
        await self._close()

    async def stop(self) -> None:
        """Claim no more; let what runs finish for a while, hand back the rest, commit everything, leave."""
        if self._stopping:
            return
        self._stopping = True
        self._ready.set()
        self._room.set()
        grace = self.settings.grace / SECOND
        beat, claims, lease, tend, *others = self._loops
        # A claim that is on its way is heard out: cancelled, it might be committed all the same.
        await asyncio.wait([claims], timeout=grace)
        tasks = [t.task for t in self._running.values() if t.task is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=grace)
        await self._abandon(Stop(Status.READY, "handed back"))
        for loop in (beat, claims, tend, *others):
            loop.cancel()
        await asyncio.gather(beat, claims, tend, *others, return_exceptions=True)
        await self._drain()
        lease.cancel()
        await asyncio.gather(lease, return_exceptions=True)
        with suppress(StoreError, TimeoutError):
            async with asyncio.timeout(_LAST_WORDS):
                await self.store.run(lambda _: nodes.leave(self.node, self.clock.now()))
        await self._close()
        log.info("node stopped", action="node_stopped", node=self.node)

    async def _drain(self) -> None:
        """Write what is left. A store that stays away is not waited for for ever: the lease sees to the rest."""
        try:
            async with asyncio.timeout(_LAST_WORDS):
                await self._saves.drain()
                await self._ends.drain()
        except TimeoutError:
            log.error("outcomes could not be written before the end", action="drain_failed", count=len(self._ends))

    async def kill(self) -> None:
        """Stop as a crash would: nothing is finished, nothing is said. For tests."""
        self._stopping = True
        for loop in self._loops:
            loop.cancel()
        await asyncio.gather(*self._loops, return_exceptions=True)
        await self._abandon(Stop(Status.CRASHED, None))
        await self._close()

    async def _close(self) -> None:
        await self._ends.stop()
        await self._saves.stop()
        await self.listeners.stop()
        await self.waiters.stop()
        self._executor.close()

    async def _abandon(self, why: Stop) -> None:
        """Stop every body that runs here."""
        tasks = []
        for one in list(self._running.values()):
            one.cancel(why)
            if one.task is not None:
                tasks.append(one.task)
        if tasks:  # a body that swallows its cancellation is not waited for for ever
            await asyncio.wait(tasks, timeout=self.settings.grace / SECOND)

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
            pause = 0.05 if asyncio.get_running_loop().time() - begin > 5 else min(2.0, pause * 2)
            await asyncio.sleep(pause)

    def _trouble(self, trouble: Exception) -> None:
        log.warning("the store is in trouble", action="store_trouble", problem=str(trouble))

    # Being a node

    async def _join(self) -> None:
        now = self.clock.now()
        self.node = self.ids.new(now)
        self._alive_since = now
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
            if self._stopping or node != self.node:
                return
            log.warning("this node was given up for dead", action="node_lost", node=node)
            await self._abandon(Stop(Status.CRASHED, None))
            self._begun.clear()
            await self._join()

    async def _renew(self) -> None:
        """Keep the lease, and do nothing else: whatever is slow must not cost it."""
        lease = self.settings.lease
        last = self.clock.now()
        while True:
            now, node = self.clock.now(), self.node
            if now - last > lease:  # this process, or the store, was away; so may the others have been
                self._alive_since = now
            self._pulse_seen = await self.store.run(
                lambda _, node=node, now=now: nodes.heartbeat(node, now + lease)  # type: ignore[misc]
            )
            last = now
            if not self._pulse_seen.alive:
                await self._lost(node)
                continue
            self._note(self._pulse_seen)
            await asyncio.sleep(lease / 5 / SECOND)

    async def _tend(self) -> None:
        """What else a node does every second: stop what is to be stopped, wake what was parked, take over from the
        dead, look at the clock."""
        while True:
            await self._check_held()
            await self._unpark()
            await self._recover()
            await self._measure_clock()
            if not self._leave <= self.declared.keys():
                await self._read_declared()
            self.metrics.running.set(len(self._running))
            self.metrics.threads.set(self._executor.threads_busy)
            self.metrics.beat.set((self.clock.now() - self.beat_at) / SECOND)
            await wait_for_event(self._attention, self.settings.lease / 10 / SECOND)
            self._attention.clear()

    async def _recover(self) -> None:
        """Only a node that has itself been there for as long as a lease may give up others."""
        now = self.clock.now()
        if now - self._alive_since < self.settings.lease:
            return
        for dead in await self.store.read(lambda _: nodes.expired(now)):
            recovered = -1
            while recovered:
                recovered = await self.store.run(
                    lambda _, dead=dead: nodes.recover(dead, now, self.ids.new)  # type: ignore[misc]
                )
                if recovered:
                    log.warning("took over runs", action="runs_recovered", count=recovered, node=dead)
                    self.metrics.recovered.inc(recovered)
                    self.hint()

    def _note(self, pulse: nodes.Pulse) -> None:
        now = self.clock.now()
        others = {h for n in pulse.nodes if n.id != self.node and n.lease_until >= now for h in n.handlers}
        self._leave = frozenset(others - set(self.handlers))
        rules = {n.zone_rules for n in pulse.nodes if n.lease_until >= now}
        if len(rules) > 1 and rules != self._rules_seen:
            log.warning("nodes have different zone rules", action="zone_rules_differ", rules=sorted(rules))
        self._rules_seen = rules

    async def _check_held(self) -> None:
        """Stop what someone wants stopped and what is no longer ours; begin what we claimed without hearing of it."""
        began = list(self._running.values())

        def held(_: int) -> Operation[list[Row]]:
            return (yield sql("held_by_node", node=self.node))

        rows = {row[0]: row for row in await self.store.read(held)}
        for one in began:
            row = rows.get(one.run.id)
            if row is None or row[1] != one.run.claim:
                self.cancel_here(one.run.id, Stop(Status.CRASHED, None))
            elif row[2] is not None:
                self.cancel_here(one.run.id, Stop(Status.CANCELLED, row[3]))
        unheard = [id for id, claim, _, _, token in rows.values() if self._unheard(id, claim, token)]
        if unheard:
            await self._begin_unheard(unheard)

    def _unheard(self, run_id: str, run_claim: int, token: int) -> bool:
        """A claim that was committed though its answer was lost. One that is under way is not that."""
        return self._begun.get(run_id) != run_claim and token != self._claiming

    async def _begin_unheard(self, ids: list[str]) -> None:
        def found(_: int) -> Operation[list[Row]]:
            return (yield sql("runs_by_ids", [(id,) for id in ids]))

        for row in await self.store.read(found):
            run = whole_run(row)
            if run.status is Status.ACTIVE and run.node == self.node and self._begun.get(run.id) != run.claim:
                self._begin(run)

    async def _unpark(self) -> None:
        """Runs that waited for a handler which this node has."""
        names = [(name,) for name in self.handlers]
        now = self.clock.now()

        def parked(_: int) -> Operation[int]:
            rows = yield sql("unpark", names, limit=_FIRE)
            if rows:
                yield from wake([row[0] for row in rows], now)
            return len(rows)

        def any_parked(_: int) -> Operation[int]:
            return len((yield sql("unpark", names, limit=1)))

        if await self.store.read(any_parked):
            await self.store.run(parked)
            self._ready.set()

    async def _measure_clock(self) -> None:
        if self.clock.virtual:
            return
        before = self.clock.local.now()
        shared = await self.store.clock_probe()
        after = self.clock.local.now()
        if shared is not None and after - before < SECOND:  # a slow answer tells nothing about the time
            self.clock.measured(before, shared, after)

    # The beat

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
        self._ready.set()
        if timers:
            self._due.set()
        self.listeners.hint()

    async def _beat(self) -> None:
        while True:
            self._due.clear()
            due = await self._next_due()
            now = self._now_or_later()
            if due is None or due > now:
                await self._sleep_until(due)
                now = self._now_or_later()
                if due is None or due > now or self._due.is_set():
                    continue
            fired = await self._fire(now, due)
            if fired:
                self.hint()
                if self._running:  # a deadline may have ended what runs here
                    await self._check_held()
            else:
                await self._sleep_until(now + _ELSEWHERE)

    def _now_or_later(self) -> Micros:
        """Never behind what was already processed, should the clock step back."""
        self.beat_at = self.clock.now()
        self._processed = max(self._processed, self.beat_at)
        return self._processed

    async def _fire(self, now: Micros, begin: Micros) -> int:
        try:
            with self._spans.of("beat", lag_ms=(now - begin) // 1000):
                fired = await self.store.run(lambda _: timers.fire(now, _FIRE, self.purposes))
        except StoreUnavailable:
            raise
        except Exception:
            fired = await self._fire_one_by_one(now)
        self.metrics.fired.inc(fired)
        self.metrics.lag.observe(max(0, now - begin) / SECOND)
        return fired

    async def _fire_one_by_one(self, now: Micros) -> int:
        """One of a batch is poison: find it, park it with its reason, let the others go."""
        for count in range(_FIRE):
            try:
                if not await self.store.run(lambda _: timers.fire(now, 1, self.purposes)):
                    return count
            except timers.TimerFailed as problem:
                log.error("a timer failed", action="timer_parked", problem=str(problem))
                self.metrics.parked.inc()
                parked, reason = problem.timer, str(problem)
                await self.store.run(lambda _: timers.park(parked, reason))  # noqa: B023
        return _FIRE

    async def _next_due(self) -> Micros | None:
        def due(_: int) -> Operation[Micros | None]:
            rows = yield sql("next_due")
            return int(rows[0][0]) if rows else None

        return await self.store.read(due)

    async def _sleep_until(self, due: Micros | None) -> None:
        wait = None if due is None else max(0, due - self.clock.now())
        if not self.clock.virtual:
            wait = _SLICE if wait is None else min(wait, _SLICE)
        await wait_for_event(self._due, None if wait is None else wait / SECOND)

    # Claiming and running

    async def _claims(self) -> None:
        turn = 0
        # Half of what there is room for: while those bodies run, the store looks for the other half.
        most = max(_CLAIM, self.settings.concurrency // 2)
        while not self._stopping:
            self._ready.clear()
            room = self.settings.concurrency - len(self._running)
            if room <= 0 or len(self._ends) > _BACKLOG:
                self._room.clear()
                await self._room.wait()  # a body has ended, or outcomes were written
                continue
            got = 0
            queues = self.settings.queues
            for step in range(len(queues)):
                if room - got <= 0 or self._stopping:
                    break
                runs = await self._claim(queues[(turn + step) % len(queues)], min(room - got, most))
                got += len(runs)
                for run in runs:
                    self._begin(run)
            turn += 1
            if got == 0 and not self._stopping:
                await wait_for_event(self._ready, None if self.clock.virtual else self.settings.poll / SECOND)

    async def _claim(self, queue: str, limit: int) -> list[Run]:
        self._token += 1
        token, now, node, leave = self._token, self.clock.now(), self.node, self._leave
        self._claiming = token
        try:
            with self._spans.of("claim", queue=queue):
                runs = await self.store.run(lambda tries: claim(node, token, queue, limit, now, leave, tries))
        finally:
            self._claiming = -1
        if runs:
            self.metrics.claimed.inc(len(runs))
            self.listeners.hint()
        return runs

    def _begin(self, run: Run) -> None:
        self._begun[run.id] = run.claim
        if run.kind in self.kinds:
            running = self._running[run.id] = _Task(run)
            running.task = asyncio.get_running_loop().create_task(self._body_of_kind(running, self.kinds[run.kind]))
            return
        handler = self.handlers.get(run.name)
        if handler is None:
            self._ends.put(End(run, Status.WAITING, "no_handler", finished=False, event="run:parked"))
            return
        running = self._running[run.id] = _Task(run)
        running.task = asyncio.get_running_loop().create_task(self._body(running, handler))

    async def _body(self, running: _Task, handler: Handler) -> None:
        """One body, from its beginning to the outcome that is put to be written; nothing may come in between."""
        run = running.run
        context = Context(run, self.clock, self._save)
        ending: End | None
        running.begun = True
        try:
            if running.stop is not None:
                raise asyncio.CancelledError
            timeout = handler.timeout if run.options is None else read_options(run.options).timeout or handler.timeout
            if self._spans.on:
                outcome = await self._execute_traced(run, handler, context, timeout)
            else:
                outcome = await self._executor.execute(run, handler, context, timeout)
            if running.stop is not None and outcome.status is not Status.SUCCEEDED:
                ending = self._stopped(run, running.stop)  # it answered its cancellation in words of its own
            else:
                ending = self._decide(run, handler, outcome)
        except asyncio.CancelledError:
            ending = self._stopped(run, running.stop)
        except Exception as problem:
            log.exception("a run could not be executed", action="execution_failed", run=run.id)
            ending = End(run, Status.FAILED, clean(f"it could not be executed: {problem!r}"))
        if ending is not None:
            if context.has_lines:
                ending.lines = context.lines()
            self._ends.put(ending)
        del self._running[run.id]
        self._room.set()

    async def _body_of_kind(self, running: _Task, body: Body) -> None:
        """The same for a run of another kind, which puts on record itself what becomes of it."""
        run = running.run
        ending: End | None = None
        running.begun = True
        try:
            if running.stop is not None:
                raise asyncio.CancelledError
            with self._spans.of(f"run {run.name}", run_id=run.root_id):
                await body(run)
        except asyncio.CancelledError:
            if running.stop is not None and running.stop.status is Status.READY:
                ending = self._stopped(run, running.stop)
        except Exception as problem:
            log.exception("a run could not be executed", action="execution_failed", run=run.id)
            ending = End(run, Status.FAILED, clean(f"it could not be executed: {problem!r}"))
        if ending is not None:
            self._ends.put(ending)
        else:
            self._let_go(run)
        if self._running.get(run.id) is running:  # it may have been claimed again meanwhile
            del self._running[run.id]
        self._room.set()

    def _let_go(self, run: Run) -> None:
        if self._begun.get(run.id) == run.claim:
            del self._begun[run.id]

    @asynccontextmanager
    async def taking(self, run_id: str, run_claim: int) -> AsyncIterator[Callable[[Run], None]]:
        """Within it a run is claimed for this node by a transaction of its own, and begun by calling what is given. A
        claim whose fate is unknown is found by the next heartbeat."""
        taken = False

        def begin(run: Run) -> None:
            nonlocal taken
            taken = True
            self._begin(run)

        before = self._begun.get(run_id)
        self._begun[run_id] = run_claim
        try:
            yield begin
        finally:
            # Unless it was claimed here meanwhile, in the way that every run is.
            if not taken and run_id not in self._running and self._begun.get(run_id) == run_claim:
                if before is None:
                    del self._begun[run_id]
                else:
                    self._begun[run_id] = before

    async def _execute_traced(self, run: Run, handler: Handler, context: Context, timeout: Micros | None) -> Outcome:
        with self._spans.of(f"run {run.name}", run_id=run.root_id, attempt=run.number) as span:
            outcome = await self._executor.execute(run, handler, context, timeout)
            if span is not None and outcome.status is not Status.SUCCEEDED:
                span.set_status(StatusCode.ERROR, outcome.reason)
        return outcome

    def _decide(self, run: Run, handler: Handler, outcome: Outcome) -> End:
        """What follows from an outcome; a policy that cannot be applied fails the run, and says so."""
        if outcome.status is Status.SUCCEEDED:
            return End(run, outcome.status, result=outcome.result)
        try:
            return self._follow(run, handler, outcome)
        except Exception as problem:
            log.exception("a policy could not be applied", action="policy_failed", job=run.name)
            return End(run, Status.FAILED, f"its policy could not be applied: {problem}", error=outcome.error)

    def _follow(self, run: Run, handler: Handler, outcome: Outcome) -> End:
        options = read_options(run.options)
        retry = options.retry or handler.retry
        if self._at_most_once(run) or outcome.retry is False:
            return End(run, outcome.status, outcome.reason, error=outcome.error)
        now = self.clock.now()
        ending = after_failure(
            run, outcome.status, outcome.reason, outcome.error, retry, self.ids.new(now), self._dice.random(), now
        )
        if outcome.retry is not None and ending.following is not None:
            ending.following.due = now + int(outcome.retry)
        return ending

    def _at_most_once(self, run: Run) -> bool:
        if run.kind in self.kinds:
            return False
        own = read_options(run.options).at_most_once
        return self.handlers[run.name].at_most_once if own is None else own

    def _stopped(self, run: Run, why: Stop | None) -> End | None:
        """What to write for a body that was stopped: nothing, where the claim is gone anyway."""
        if why is None:
            return End(run, Status.CANCELLED, "cancelled from within")
        if why.status is Status.READY and self._at_most_once(run):
            return End(run, Status.FAILED, "stopped with its node, and it must be tried at most once")
        if why.status is Status.READY:
            return End(run, Status.READY, None, finished=False, event="run:handed_back")
        if why.status is Status.CRASHED:
            self._begun.pop(run.id, None)
            return None
        return End(run, why.status, why.reason)

    def cancel_here(self, run_id: str, why: Stop) -> bool:
        """Stop a body that runs on this node."""
        running = self._running.get(run_id)
        if running is None or running.task is None:
            return False
        if (
            running.stop is None or running.stop.status is not why.status
        ):  # once; its cleaning up is not to be disturbed
            running.cancel(why)
        return True

    # Writing

    async def _commit_ends(self, ends: Sequence[End]) -> list[None]:
        now = self.clock.now()
        begin = asyncio.get_running_loop().time()
        refused: list[End] = []
        holders = {e.run.node or "" for e in ends}
        for node in holders:  # one, but while a node begins anew
            own = ends if len(holders) == 1 else [e for e in ends if (e.run.node or "") == node]
            refused += await self.store.run(lambda _, own=own, node=node: end(own, node, now))  # type: ignore[misc]
        self.metrics.commit.observe(asyncio.get_running_loop().time() - begin)
        lost = {e.run.id for e in refused}
        if lost:
            self.metrics.refused.inc(len(lost))
            log.warning("late outcomes were refused", action="writes_refused", count=len(lost))
        for e in ends:
            self._let_go(e.run)
        self.tell_ends([e for e in ends if e.run.id not in lost] if lost else ends)
        return [None] * len(ends)

    def tell_ends(self, ends: Sequence[End]) -> None:
        """These are written: who waits for them is told, and what they make room for is looked at."""
        following = False
        counts: dict[str, int] = {}
        for e in ends:
            run = e.run
            status = e.status.value
            counts[status] = counts.get(status, 0) + 1
            if e.following is not None or not e.finished:
                following = True
            elif run.root_id in self.waiters:
                self.waiters.ended(run.root_id, Ended(status, e.reason, e.result, e.error))
            if run.serial_key is not None or run.concurrency_key is not None or run.schedule_id is not None:
                following = True
        for status, count in counts.items():
            self.metrics.ended.labels(status).inc(count)
        self.listeners.hint()
        self._room.set()
        if following:
            self._ready.set()
            self._due.set()

    def _unwritable(self, ending: End, problem: Exception) -> End | None:
        """An outcome that the store will not take is written as what it is: a failure to write it."""
        reason = clean(f"its outcome could not be stored: {problem}")[:500]
        if ending.reason is not None and ending.reason.startswith("its outcome could not be stored"):
            return None
        return End(ending.run, Status.FAILED, reason)

    async def _save(self, run: Run, checkpoint: str | None, progress: str | None) -> None:
        await self._saves.write((run, checkpoint, progress))

    async def _commit_saves(self, saves: Sequence[tuple[Run, str | None, str | None]]) -> list[None]:
        latest: dict[str, Row] = {}
        for run, checkpoint, progress in saves:
            before = latest.get(run.id, (run.id, run.claim, None, None))
            latest[run.id] = (run.id, run.claim, checkpoint or before[2], progress or before[3])
        node = self.node

        def save(_: int) -> Operation[set[str]]:
            rows = yield sql("save_checkpoints", list(latest.values()), node=node)
            return {row[0] for row in rows}

        saved = await self.store.run(save)
        for run, checkpoint, _ in saves:
            if run.id in saved and checkpoint is not None:
                run.checkpoint = checkpoint  # the next attempt begins with it
        for run_id in latest.keys() - saved:
            self.metrics.refused.inc()
            self.cancel_here(run_id, Stop(Status.CRASHED, None))
        return [None] * len(saves)

    # Health

    def late_by(self) -> Micros:
        """How long the beat has not come round, over what it may sleep."""
        return max(0, self.clock.now() - self.beat_at - _SLICE) if self.beat_at else 0
