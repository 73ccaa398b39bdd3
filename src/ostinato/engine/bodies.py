"""What runs on this node: bodies from their beginning to the moment their outcome is committed."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from opentelemetry.trace import StatusCode

from ostinato.clock import Clock
from ostinato.engine import job_logging
from ostinato.engine.commits import Committer
from ostinato.engine.context import Context, clean
from ostinato.engine.executor import Executor, Outcome, Stop
from ostinato.engine.handlers import Handler
from ostinato.engine.kinds import Body
from ostinato.engine.log import log
from ostinato.engine.outcomes import after_crash, after_failure
from ostinato.engine.reporting import report_start
from ostinato.engine.rows import read_options
from ostinato.engine.runs import End, end
from ostinato.engine.telemetry import Metrics, Spans
from ostinato.errors import OstinatoError
from ostinato.ids import Ids
from ostinato.model import Run, Status
from ostinato.store.contract import Operation, Row, Store, sql
from ostinato.when.instants import SECOND, Micros


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


class Bodies:
    """`told` is called with ends that are written; `trouble` with what is wrong with the store."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        handlers: Mapping[str, Handler],
        node: Callable[[], str],
        *,
        threads: int,
        grace: Micros,
        ids: Ids,
        dice: random.Random,
        metrics: Metrics,
        told: Callable[[Sequence[End]], None],
        trouble: Callable[[Exception], None],
    ) -> None:
        self.kinds: dict[str, Body] = {}  # what is done with claimed runs that are no jobs
        self.running: dict[str, _Task] = {}
        self.begun: dict[str, int] = {}  # what this node began and has not committed the end of: run, claim
        self.room = asyncio.Event()
        self.spans = Spans()
        self.executor = Executor(threads)
        self._store = store
        self._clock = clock
        self._handlers = handlers
        self._node = node
        self._grace = grace
        self._ids = ids
        self._dice = dice
        self._metrics = metrics
        self._told = told
        self.ends: Committer[End, None] = Committer(self._commit_ends, trouble, instead=self._unwritable)
        self.saves: Committer[tuple[Run, str | None, str | None], None] = Committer(self._commit_saves, trouble)

    def job_of(self, task: asyncio.Task[Any] | None) -> str | None:
        """The job whose body a task is. Safe to call from another thread."""
        return next((one.run.name for one in list(self.running.values()) if one.task is task is not None), None)

    def tasks(self) -> list[asyncio.Task[None]]:
        return [one.task for one in self.running.values() if one.task is not None]

    def hand_back(self, runs: Sequence[Run]) -> None:
        """Runs that were claimed and are not begun: others may take them."""
        for run in runs:
            self.ends.put(_handed_back(run))

    async def abandon(self, why: Stop) -> None:
        """Stop every body that runs here."""
        tasks = self.tasks()
        for one in list(self.running.values()):
            one.cancel(why)
        if tasks:  # a body that swallows its cancellation is not waited for for ever
            await asyncio.wait(tasks, timeout=self._grace / SECOND)

    def begin(self, run: Run) -> None:
        self.begun[run.id] = run.claim
        report_start(run)
        if run.kind in self.kinds:
            running = self.running[run.id] = _Task(run)
            running.task = asyncio.get_running_loop().create_task(self._body_of_kind(running, self.kinds[run.kind]))
            return
        handler = self._handlers.get(run.name)
        if handler is None:
            self.ends.put(End(run, Status.WAITING, "no_handler", finished=False, event="run:parked"))
            return
        running = self.running[run.id] = _Task(run)
        running.task = asyncio.get_running_loop().create_task(self._body(running, handler))

    async def _body(self, running: _Task, handler: Handler) -> None:
        """One body, from its beginning to the outcome that is put to be written; nothing may come in between."""
        run = running.run
        context = Context(run, self._clock, self._save)
        job_logging.current.set(context.log)  # of this task, and of whatever the job itself begins
        ending: End | None
        running.begun = True
        try:
            if running.stop is not None:
                raise asyncio.CancelledError
            timeout = handler.timeout if run.options is None else read_options(run.options).timeout or handler.timeout
            if self.spans.on:
                outcome = await self._execute_traced(run, handler, context, timeout)
            else:
                outcome = await self.executor.execute(run, handler, context, timeout)
            if running.stop is not None and outcome.status is not Status.SUCCEEDED:
                ending = self._stopped(run, running.stop)  # it answered its cancellation in words of its own
            else:
                ending = self._decide(run, handler, outcome)
        except asyncio.CancelledError:
            ending = self._stopped(run, running.stop)
        except Exception as problem:
            log.exception("a run could not be executed", action="execution_failed", run=run.id)
            ending = End(run, Status.FAILED, _unexecuted(problem))
        if ending is not None:
            if context.has_lines:
                ending.lines = context.lines()
            self.ends.put(ending)
        context.close()
        del self.running[run.id]
        self.room.set()

    async def _body_of_kind(self, running: _Task, body: Body) -> None:
        """The same for a run of another kind, which puts on record itself what becomes of it."""
        run = running.run
        ending: End | None = None
        running.begun = True
        try:
            if running.stop is not None:
                raise asyncio.CancelledError
            with self.spans.of(f"run {run.name}", run_id=run.root_id):
                await body(run)
        except asyncio.CancelledError:
            if running.stop is not None and running.stop.status is Status.READY:
                ending = self._stopped(run, running.stop)
        except Exception as problem:
            log.exception("a run could not be executed", action="execution_failed", run=run.id)
            ending = End(run, Status.FAILED, _unexecuted(problem))
        if ending is not None:
            self.ends.put(ending)
        else:
            self._let_go(run)
        if self.running.get(run.id) is running:  # it may have been claimed again meanwhile
            del self.running[run.id]
        self.room.set()

    def _let_go(self, run: Run) -> None:
        if self.begun.get(run.id) == run.claim:
            del self.begun[run.id]

    @asynccontextmanager
    async def taking(self, run_id: str, run_claim: int) -> AsyncIterator[Callable[[Run], None]]:
        """Within it a run is claimed for this node by a transaction of its own, and begun by calling what is given. A
        claim whose fate is unknown is found by the next heartbeat."""
        taken = False

        def begin(run: Run) -> None:
            nonlocal taken
            taken = True
            self.begin(run)

        before = self.begun.get(run_id)
        self.begun[run_id] = run_claim
        try:
            yield begin
        finally:
            # Unless it was claimed here meanwhile, in the way that every run is.
            if not taken and run_id not in self.running and self.begun.get(run_id) == run_claim:
                if before is None:
                    del self.begun[run_id]
                else:
                    self.begun[run_id] = before

    async def _execute_traced(self, run: Run, handler: Handler, context: Context, timeout: Micros | None) -> Outcome:
        with self.spans.of(f"run {run.name}", run_id=run.root_id, attempt=run.number) as span:
            outcome = await self.executor.execute(run, handler, context, timeout)
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
            status = Status.FAILED if outcome.status is Status.CRASHED else outcome.status
            return End(run, status, outcome.reason, error=outcome.error)
        now = self._clock.now()
        if outcome.status is Status.CRASHED:
            return after_crash(run, self._ids.new(now), now, outcome.reason or "")
        ending = after_failure(
            run, outcome.status, outcome.reason, outcome.error, retry, self._ids.new(now), self._dice.random(), now
        )
        if outcome.retry is not None and ending.following is not None:
            ending.following.due = now + int(outcome.retry)
        return ending

    def _at_most_once(self, run: Run) -> bool:
        if run.kind in self.kinds:
            return False
        own = read_options(run.options).at_most_once
        return self._handlers[run.name].at_most_once if own is None else own

    def _stopped(self, run: Run, why: Stop | None) -> End | None:
        """What to write for a body that was stopped: nothing, where the claim is gone anyway."""
        if why is None:
            return End(run, Status.CANCELLED, "cancelled from within")
        if why.status is Status.READY and self._at_most_once(run):
            return End(run, Status.FAILED, "stopped with its node, and it must be tried at most once")
        if why.status is Status.READY and (run.id, run.claim) in self.executor.in_thread:
            return None  # nothing can stop it: it stays begun, so that a node which leaves leaves it as crashed
        if why.status is Status.READY:
            return _handed_back(run)
        if why.status is Status.CRASHED:
            self.begun.pop(run.id, None)
            return None
        return End(run, why.status, why.reason)

    def cancel_here(self, run_id: str, why: Stop) -> bool:
        """Stop a body that runs on this node."""
        running = self.running.get(run_id)
        if running is None or running.task is None:
            return False
        if (
            running.stop is None or running.stop.status is not why.status
        ):  # once; its cleaning up is not to be disturbed
            running.cancel(why)
        return True

    # Writing

    async def _commit_ends(self, ends: Sequence[End]) -> list[None]:
        now = self._clock.now()
        begin = asyncio.get_running_loop().time()
        refused: list[End] = []
        holders = {e.run.node or "" for e in ends}
        for node in holders:  # one, but while a node begins anew
            own = ends if len(holders) == 1 else [e for e in ends if (e.run.node or "") == node]
            refused += await self._store.run(lambda _, own=own, node=node: end(own, node, now))  # type: ignore[misc]
        self._metrics.commit.observe(asyncio.get_running_loop().time() - begin)
        lost = {e.run.id for e in refused}
        if lost:
            self._metrics.refused.inc(len(lost))
            log.warning("late outcomes were refused", action="writes_refused", count=len(lost))
        for e in ends:
            self._let_go(e.run)
        self._told([e for e in ends if e.run.id not in lost] if lost else ends)
        return [None] * len(ends)

    def _unwritable(self, ending: End, problem: Exception) -> End | None:
        """An outcome that the store will not take is written as what it is: a failure to write it."""
        reason = clean(f"its outcome could not be stored: {problem}")[:500]
        if ending.reason is not None and ending.reason.startswith("its outcome could not be stored"):
            return None
        return End(ending.run, Status.FAILED, reason)

    async def _save(self, run: Run, checkpoint: str | None, progress: str | None) -> None:
        await self.saves.write((run, checkpoint, progress))

    async def _commit_saves(self, saves: Sequence[tuple[Run, str | None, str | None]]) -> list[None]:
        latest: dict[str, Row] = {}
        for run, checkpoint, progress in saves:
            before = latest.get(run.id, (run.id, run.claim, None, None))
            latest[run.id] = (run.id, run.claim, checkpoint or before[2], progress or before[3])
        node = self._node()

        def save(_: int) -> Operation[set[str]]:
            rows = yield sql("save_checkpoints", list(latest.values()), node=node)
            return {row[0] for row in rows}

        saved = await self._store.run(save)
        for run, checkpoint, _ in saves:
            if run.id in saved and checkpoint is not None:
                run.checkpoint = checkpoint  # the next attempt begins with it
        for run_id in latest.keys() - saved:
            self._metrics.refused.inc()
            self.cancel_here(run_id, Stop(Status.CRASHED, None))
        return [None] * len(saves)


def _handed_back(run: Run) -> End:
    return End(run, Status.READY, finished=False, event="run:handed_back")


def _unexecuted(problem: Exception) -> str:
    """What is wrong in people's words is told in them; what should not be, as it is."""
    told = str(problem) if isinstance(problem, OstinatoError) else repr(problem)
    return clean(f"it could not be executed: {told}")
