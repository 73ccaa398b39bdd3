"""Begin and stop the bodies that run on this node, and commit their outcomes. A body is the code of a claimed run."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from opentelemetry.trace import StatusCode

from ostinato.clock import Clock
from ostinato.engine import job_logging
from ostinato.engine.context import Context, clean
from ostinato.engine.crashes import after_crash, recover
from ostinato.engine.executor import INTERRUPTED, BodyStop, Executor, Outcome, is_closing
from ostinato.engine.group_commit import Committer
from ostinato.engine.http.host_names import looks_up_for
from ostinato.engine.jobs import Handler
from ostinato.engine.kinds import JOB, Body, Kinds
from ostinato.engine.log import log
from ostinato.engine.retries import after_failure
from ostinato.engine.rows import read_options, whole_run
from ostinato.engine.run_logging import report_start
from ostinato.engine.runs import End, end
from ostinato.engine.telemetry import Metrics, Spans
from ostinato.engine.unwritten import Unwritten
from ostinato.errors import OstinatoError, StoreUnavailable, TriggerFailed, describe_exception, error_text
from ostinato.ids import Ids
from ostinato.model import Run, Status
from ostinato.store.contract import Operation, Row, Store, sql
from ostinato.when.instants import SECOND, Micros


class _Task:
    """A claimed run, and the asyncio tasks on this node that execute its code. The code of a run is called its body."""

    __slots__ = ("begun", "helper", "left_behind", "run", "stop", "task")

    def __init__(self, run: Run) -> None:
        self.run = run
        self.task: asyncio.Task[None] | None = None
        self.helper: asyncio.Task[Any] | None = None  # another task in which the body runs a user's code
        self.stop: BodyStop | None = None
        self.begun = False
        self.left_behind = False  # its code goes on, although the end of the run is written or queued

    def cancel(self, why: BodyStop) -> None:
        """Cancel the body. `why` decides what is written about the run. If the body has not begun, it ends as soon as
        it begins."""
        self.stop = why
        # A task that is cancelled before its first step never runs, and nothing would write the end of its run. Such a
        # task finds `stop` at its first step instead.
        if self.begun and self.task is not None:
            self.task.cancel()


class Bodies:
    """The bodies that run on one node. A body is the code of a claimed run.

    - `on_written`: called with the ends of runs, after the commit that stores them
    - `on_recovered`: called after the commit that recovers an interrupted run
    - `trouble`: called with errors of the store
    - `lapsed`: returns whether the lease may have expired, for example while the event loop was blocked
    - `renewed`: waits until the lease is renewed, before a body begins
    """

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
        kinds: Kinds,
        on_written: Callable[[Sequence[End]], None],
        on_recovered: Callable[[], None],
        trouble: Callable[[Exception], None],
        lapsed: Callable[[], bool],
        renewed: Callable[[], Awaitable[None]],
    ) -> None:
        self.of_kind: dict[str, Body] = {}  # the bodies of runs that are not jobs, by kind
        self.kinds = kinds
        self.running: dict[str, _Task] = {}
        self.begun: dict[str, int] = {}  # runs that began here and whose end is not committed: id and claim
        self.unwritten: dict[str, Unwritten] = {}  # outcomes that the store refuses, by the id of the run
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
        self._on_written = on_written
        self._on_recovered = on_recovered
        self._lapsed = lapsed
        self._renewed = renewed
        self.ends: Committer[End, None] = Committer(self._commit_ends, trouble, instead=self._replace_unwritable)
        self.saves: Committer[tuple[Run, str | None, str | None], bool] = Committer(self._commit_saves, trouble)

    def run_of(self, task: asyncio.Task[Any] | None) -> Run | None:
        """Return the run whose body this task executes, or None. Safe to call from another thread."""
        if task is None:
            return None
        return next((one.run for one in list(self.running.values()) if task in (one.task, one.helper)), None)

    def note_helper(self, run_id: str, task: asyncio.Task[Any]) -> None:
        """Record that `task` executes the user's code for a run, in addition to the main task of the run's body. From
        now on, `run_of(task)` returns the run. If the body is not running on this node, do nothing."""
        if run_id in self.running:
            self.running[run_id].helper = task

    def tasks(self) -> list[asyncio.Task[None]]:
        """Return the tasks of the bodies that have not ended, without those that were left behind."""
        return [one.task for one in self.running.values() if one.task is not None and not one.left_behind]

    def hand_back(self, runs: Sequence[Run]) -> None:
        """Hand back claimed runs that have not begun. They become ready again, for any node."""
        for run in runs:
            self.ends.put(_end_as_handed_back(run))

    async def abandon(self, why: BodyStop) -> None:
        """Cancel all bodies, and wait until they have ended, but no longer than the grace period."""
        tasks = self.tasks()
        unfinished = [one for one in self.running.values() if not one.left_behind]
        if why.status is Status.READY and unfinished:
            names = sorted({one.run.name for one in unfinished})
            jobs = ", ".join(map(repr, names[:10]))
            words = f"the grace is over: runs of {jobs} are cancelled and handed to other nodes"
            log.warning(words, action="runs_handed_back", count=len(unfinished))
        for running in list(self.running.values()):
            running.cancel(why)
        if tasks:
            await asyncio.wait(tasks, timeout=self._grace / SECOND)

    def begin(self, run: Run, body: Body | None = None) -> None:
        """Start to execute a claimed run with `body`. If `body` is None, use the body for the run's kind. If this node
        does not know the kind, hand the run back. If the run belongs to a job that this node does not know, park the
        run."""
        self.begun[run.id] = run.claim
        report_start(run)
        body = body or self.of_kind.get(run.kind)
        if body is not None:
            running = self.running[run.id] = _Task(run)
            running.task = asyncio.get_running_loop().create_task(self._body_of_kind(running, body))
            return
        if run.kind != JOB:  # of a kind that this node does not know: it should not have been claimed
            self.hand_back([run])
            return
        handler = self._handlers.get(run.name)
        if handler is None:
            self.ends.put(End(run, Status.WAITING, "no_handler", finished=False, event="run:parked"))
            return
        running = self.running[run.id] = _Task(run)
        running.task = asyncio.get_running_loop().create_task(self._body(running, handler))

    async def _body(self, running: _Task, handler: Handler) -> None:
        """Run the body of a job once, and queue the run's end to be written."""
        run = running.run
        context = Context(run, self._clock, self._save)
        job_logging.current.set(context.log)  # for this task, and for tasks and threads that the job starts
        looks_up_for.set(run.namespace)
        ending: End | None
        running.begun = True
        try:
            if running.stop is not None:
                raise asyncio.CancelledError
            if self._lapsed():
                await self._renewed()
            timeout = handler.timeout if run.options is None else read_options(run.options).timeout or handler.timeout
            leave = partial(self._leave_behind, running, handler, context)
            if self.spans.on:
                outcome = await self._execute_traced(run, handler, context, timeout, leave)
            else:
                outcome = await self.executor.execute(run, handler, context, timeout, leave)
            if running.stop is not None and outcome.status is not Status.SUCCEEDED:
                ending = self._end_of_stopped(run, running.stop)  # it raised its own error when it was cancelled
            else:
                ending = self._decide(run, handler, outcome)
        except asyncio.CancelledError:
            ending = self._end_of_stopped(run, running.stop)
        except Exception as problem:
            log.exception("a run could not be executed", action="execution_failed", run=run.id)
            ending = End(run, Status.FAILED, _reason_not_executed(problem))
        if ending is not None and not running.left_behind:
            if context.has_lines:
                ending.lines = context.lines()
            self.ends.put(ending)
        context.close()
        del self.running[run.id]
        self.room.set()

    def _leave_behind(self, running: _Task, handler: Handler, context: Context, outcome: Outcome) -> None:
        """End an attempt whose code ignores the end of its time. The code goes on and keeps its slot, but the store
        refuses whatever it writes."""
        stop = running.stop
        if stop is not None and stop.status in (Status.READY, Status.CRASHED):
            return  # the node stops, or has lost its claim
        running.left_behind = True
        words = (
            f"job {running.run.name!r} goes on although its time is over; its attempt ends, and its code keeps a slot"
        )
        log.warning(f"{words}: let it pass on CancelledError", action="left_behind", run=running.run.id)
        run = running.run
        ending = self._decide(run, handler, outcome) if stop is None else End(run, stop.status, stop.reason)
        if context.has_lines:
            ending.lines = context.lines()
        self.ends.put(ending)

    async def _body_of_kind(self, running: _Task, body: Body) -> None:
        """Run the body of a run that is not a job. Usually the body itself writes the outcome. If the body raises an
        error, or if the run is to be handed back, queue an `End` to be written instead."""
        run = running.run
        looks_up_for.set(run.namespace)
        ending: End | None = None
        running.begun = True
        try:
            if running.stop is not None:
                raise asyncio.CancelledError
            if self._lapsed():
                await self._renewed()
            with self.spans.of(f"run {run.name}", run_id=run.root_id):
                await body(run)
        except asyncio.CancelledError:
            if running.stop is not None and running.stop.status is Status.READY:
                ending = self._end_of_stopped(run, running.stop)
        except KeyboardInterrupt:
            ending = await self._recover_interrupted(run)
        except (Exception, SystemExit, GeneratorExit) as problem:
            if is_closing(problem, running.task):
                raise
            ending = _end_of_broken(run, problem)
        if ending is not None:
            self.ends.put(ending)
        else:
            self._remove_begun(run)
        if self.running.get(run.id) is running:  # it may have been claimed again meanwhile
            del self.running[run.id]
        self.room.set()

    async def _recover_interrupted(self, run: Run) -> End | None:
        """Recover a run whose body was interrupted by Ctrl-C, by the rule of its kind for crashes. Return None, or the
        end to write if that was not possible."""
        log.warning("a run was interrupted by a KeyboardInterrupt", action="execution_interrupted", run=run.id)
        now, node = self._clock.now(), self._node()

        def recover_held(_: int) -> Operation[None]:
            rows = yield sql("runs_by_ids", [(run.id,)])
            for held in map(whole_run, rows):
                if (held.status, held.node, held.claim) == (Status.ACTIVE, node, run.claim):
                    yield from recover([held], node, now, self._ids.new, self.kinds, INTERRUPTED)

        try:
            await self._store.run(recover_held)
        except (Exception, asyncio.CancelledError):  # if it was committed all the same, this end is refused
            return _end_as_handed_back(run)
        self._on_recovered()
        return None

    def _remove_begun(self, run: Run) -> None:
        if self.begun.get(run.id) == run.claim:
            del self.begun[run.id]

    @asynccontextmanager
    async def taking(self, run_id: str, run_claim: int) -> AsyncIterator[Callable[[Run], None]]:
        """Return an async context manager for a transaction that claims a run for this node. `run_id` is the id of the
        run, and `run_claim` is the number of the claim that the transaction writes.

        The context manager yields a function `begin`. After the commit, but inside the `async with` block, the caller
        must call `begin` with the run. If the caller does not call `begin`, for example because the reply to the commit
        was lost, the node begins the run after the block. For this, the node regularly looks in the store for runs that
        it has claimed, but not begun. It ignores this run until the block ends.
        """
        has_begun = False

        def begin(run: Run) -> None:
            nonlocal has_begun
            has_begun = True
            self.begin(run)

        before = self.begun.get(run_id)
        self.begun[run_id] = run_claim
        try:
            yield begin
        finally:
            # The claim loop may have claimed the run meanwhile; then `begun` is right.
            if not has_begun and run_id not in self.running and self.begun.get(run_id) == run_claim:
                if before is None:
                    del self.begun[run_id]
                else:
                    self.begun[run_id] = before

    async def _execute_traced(
        self,
        run: Run,
        handler: Handler,
        context: Context,
        timeout: Micros | None,
        left_behind: Callable[[Outcome], None],
    ) -> Outcome:
        with self.spans.of(f"run {run.name}", run_id=run.root_id, attempt=run.number) as span:
            outcome = await self.executor.execute(run, handler, context, timeout, left_behind)
            if span is not None and outcome.status is not Status.SUCCEEDED:
                span.set_status(StatusCode.ERROR, outcome.reason)
        return outcome

    def _decide(self, run: Run, handler: Handler, outcome: Outcome) -> End:
        """Return the `End` to write for a run with this outcome. If the run is to be tried again, the `End` contains
        the next attempt. Never raises."""
        if outcome.status is Status.SUCCEEDED:
            return End(run, outcome.status, result=outcome.result)
        try:
            return self._apply_retry(run, handler, outcome)
        except Exception as problem:
            log.exception("a policy could not be applied", action="policy_failed", job=run.name)
            return End(run, Status.FAILED, f"its policy could not be applied: {problem}", error=outcome.error)

    def _apply_retry(self, run: Run, handler: Handler, outcome: Outcome) -> End:
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
        if run.kind in self.of_kind:
            return False
        option = read_options(run.options).at_most_once
        return self._handlers[run.name].at_most_once if option is None else option

    def _end_of_stopped(self, run: Run, why: BodyStop | None) -> End | None:
        """Return the end to write for a run whose body was stopped. Returns None in two cases, in which the caller must
        write nothing:

        - The node has lost its claim on the run.
        - The run was to be handed back, but its function is still running in a thread. The run counts as crashed when
          the node leaves the store.
        """
        if why is None:
            return End(run, Status.CANCELLED, "cancelled from within")
        if why.status is Status.READY and self._at_most_once(run):
            return End(run, Status.FAILED, "stopped with its node, and it must be tried at most once")
        if why.status is Status.READY and (run.id, run.claim) in self.executor.in_thread:
            return None  # a thread cannot be stopped: the run stays in `begun`, and crashes when the node leaves
        if why.status is Status.READY:
            return _end_as_handed_back(run)
        if why.status is Status.CRASHED:  # the claim is lost, and nothing could be written
            self.begun.pop(run.id, None)
            return None
        return End(run, why.status, why.reason)

    def cancel_here(self, run_id: str, why: BodyStop) -> bool:
        """Stop the body of a run. Returns whether the body was running on this node."""
        running = self.running.get(run_id)
        if running is None or running.task is None:
            return False
        # Cancel only once for each status: a second cancellation would interrupt the clean-up of the body.
        if running.stop is None or running.stop.status is not why.status:
            running.cancel(why)
        return True

    # Writing

    async def _commit_ends(self, ends: Sequence[End]) -> list[None]:
        now = self._clock.now()
        begin = asyncio.get_running_loop().time()
        refused: list[End] = []
        holders = {e.run.node or "" for e in ends}
        for node in holders:  # one, except while a lost node joins again under a new id
            held = ends if len(holders) == 1 else [e for e in ends if (e.run.node or "") == node]
            refused += await self._store.run(lambda _, held=held, node=node: end(held, node, now, self.kinds))  # type: ignore[misc]
        self._metrics.commit.observe(asyncio.get_running_loop().time() - begin)
        refused_ids = {e.run.id for e in refused}
        if refused_ids:
            self._metrics.refused.inc(len(refused_ids))
            log.warning("late outcomes were refused", action="writes_refused", count=len(refused_ids))
        for e in ends:
            self._remove_begun(e.run)
            self.unwritten.pop(e.run.id, None)
        self._on_written([e for e in ends if e.run.id not in refused_ids] if refused_ids else ends)
        return [None] * len(ends)

    def _replace_unwritable(self, ending: End, problem: Exception) -> End | None:
        """Return an `End` with the status `failed`, to be written instead of `ending`. The store has refused `ending`
        because of `problem`. If `ending` is already such a replacement, or if a trigger failed, note that the outcome
        is unwritten, and return None: it is tried again."""
        reason, run = clean(f"its outcome could not be stored: {problem}")[:500], ending.run
        replaced = ending.reason is not None and ending.reason.startswith("its outcome could not be stored")
        if replaced or isinstance(problem, TriggerFailed):
            words = clean(str(problem))[:500]
            self.unwritten.setdefault(run.id, Unwritten(run.id, run.node or "", run.claim, self._clock.now(), words))
            return None
        return End(run, Status.FAILED, reason)

    async def _save(self, run: Run, checkpoint: str | None, progress: str | None) -> None:
        if not await self.saves.write((run, checkpoint, progress)):
            raise OstinatoError("nothing is saved: this attempt is over, or another node has taken its run")

    async def _commit_saves(self, saves: Sequence[tuple[Run, str | None, str | None]]) -> list[bool]:
        """Store checkpoints and progress. Return for each whether it was stored. It is not if this node has lost the
        claim."""
        latest: dict[str, Row] = {}
        for run, checkpoint, progress in saves:
            _, _, old_checkpoint, old_progress = latest.get(run.id, (run.id, run.claim, None, None))
            latest[run.id] = (run.id, run.claim, checkpoint or old_checkpoint, progress or old_progress)
        node = self._node()

        def save(_: int) -> Operation[set[str]]:
            rows = yield sql("save_checkpoints", list(latest.values()), node=node)
            return {row[0] for row in rows}

        saved = await self._store.run(save)
        for run, checkpoint, _ in saves:
            if run.id in saved and checkpoint is not None:
                run.checkpoint = checkpoint  # the next attempt begins with it
        for run_id in latest.keys() - saved:  # the claim is lost
            self._metrics.refused.inc()
            self.cancel_here(run_id, BodyStop(Status.CRASHED, None))
        return [run.id in saved for run, _, _ in saves]


def _end_as_handed_back(run: Run) -> End:
    return End(run, Status.READY, finished=False, event="run:handed_back")


def _end_of_broken(run: Run, problem: BaseException) -> End:
    """Return the end to write for a run whose body has raised `problem`. If the store was unavailable, the run is
    handed back: a run must not fail because of an outage."""
    if isinstance(problem, StoreUnavailable):
        words = "a run is handed back, because the store is in trouble"
        log.warning(words, action="execution_interrupted", run=run.id, problem=str(problem))
        return _end_as_handed_back(run)
    if isinstance(problem, OstinatoError):  # its message says all
        log.warning(f"a run could not be executed: {error_text(problem)}", action="execution_failed", run=run.id)
    else:
        log.exception("a run could not be executed", action="execution_failed", run=run.id)
    return End(run, Status.FAILED, _reason_not_executed(problem))


def _reason_not_executed(problem: BaseException) -> str:
    message = error_text(problem) if isinstance(problem, OstinatoError) else describe_exception(problem)
    return clean(f"it could not be executed: {message}")
