"""Execute the claimed runs of durable functions. A write has an effect only while this node holds the claim.

When a step ends, the code gets the outcome at once, and continues until it needs another step. The outcome is written
before that other step begins.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from asyncio.tasks import _enter_task, _leave_task
from collections import OrderedDict, deque
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from ostinato.engine import job_logging
from ostinato.engine.application_errors import application_error
from ostinato.engine.context import clean, to_json
from ostinato.engine.executor import (
    PATIENCE,
    THREAD_NAMES,
    Fatal,
    RetryLater,
    call_in_thread,
    describe_error,
    own_error,
    where_stopped,
)
from ostinato.engine.group_commit import Committer
from ostinato.engine.idempotency import digest
from ostinato.engine.listeners import wait_for_event
from ostinato.engine.log import log
from ostinato.engine.node import Engine
from ostinato.engine.outages import read_patiently
from ostinato.engine.rows import timer_row
from ostinato.engine.run_logging import traceback_in
from ostinato.engine.runs import End, end, wake_timer
from ostinato.errors import OstinatoError, describe_exception
from ostinato.functions.context import FunctionContext, ReadChild, due_of
from ostinato.functions.definition import FunctionCode, FunctionCodes, StepFunction, as_function
from ostinato.functions.errors import Cancelled, Changed, CodeMissing, TooLarge
from ostinato.functions.model import (
    CANCEL_GRACE,
    DEEPEST,
    NO_CODE,
    FunctionRecord,
    Message,
    StepKind,
    StepRecord,
    StepStatus,
)
from ostinato.functions.operation import FunctionOperation
from ostinato.functions.operations import Child, Wanted, Write, WriteResult, write
from ostinato.functions.replay import INTERRUPTED, ContinueAs, Driver
from ostinato.functions.store import read_function, read_message, read_step, statement, step_row
from ostinato.model import Run, Status
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import SECOND, Micros

_ELSEWHERE: Micros = 5 * SECOND  # after which a run whose code this node lacks may be claimed again
_HERE = f"{Path(__file__).parent}/"  # frames of this folder are no part of the user's code
_LOOK = 0.25  # seconds between two looks for messages and cancellations of runs that are at work


class FunctionClaimLost(Exception):
    """Raised if this node no longer holds the run: another node has taken it over, or a user has ended it."""


class Settings(NamedTuple):
    """Limits of functions in one app. `cached` is the number of parked runs whose code stays in memory."""

    most_steps: int
    cached: int


class FunctionBody:
    """Executes claimed runs of functions. Some parked runs stay in memory, and continue without a replay."""

    def __init__(self, engine: Engine, codes: FunctionCodes, read_child: ReadChild, settings: Settings) -> None:
        self.engine = engine
        self.codes = codes
        self.read_child = read_child
        self.settings = settings
        self.threads = ThreadPoolExecutor(engine.settings.threads, thread_name_prefix=THREAD_NAMES)
        self._live: dict[str, LiveRun] = {}
        self._parked: OrderedDict[str, LiveRun] = OrderedDict()  # a bounded cache: their code need not be replayed
        self._writes: Committer[Write, WriteResult] = Committer(self._commit, self._trouble)
        self._executing = asyncio.Event()  # a run may be executing a step

    def start(self) -> None:
        self._writes.start()

    async def stop(self) -> None:
        await self._writes.stop()
        for parked in self._parked.values():
            parked.driver.close()
        self._parked.clear()
        self.threads.shutdown(wait=False, cancel_futures=True)

    def now(self) -> Micros:
        return self.engine.clock.now()

    async def __call__(self, run: Run) -> None:
        live = self._from_cache(run)
        if live is None:
            live = await self._load(run)
        if live is None:
            return
        self._live[run.id] = live
        parked = False
        try:
            parked = await live.go()
        except FunctionClaimLost:
            log.warning("a run of a function was taken over", action="function_run_refused", run=run.id)
        finally:
            if self._live.get(run.id) is live:
                del self._live[run.id]
            live.drop_tasks()
            if not parked:
                live.driver.close()
        if parked:
            self._cache(live)

    def _from_cache(self, run: Run) -> LiveRun | None:
        """Return a claimed run from the cache of parked runs. Return None if the run is not in the cache, or if another
        node has claimed it since it parked here."""
        parked = self._parked.pop(run.id, None)
        if parked is None:
            return None
        if run.claim != parked.run.claim + 1:
            parked.driver.close()
            return None
        parked.claimed_again(run)
        return parked

    def _cache(self, live: LiveRun) -> None:
        self._parked[live.run.id] = live
        while len(self._parked) > self.settings.cached:
            _, oldest = self._parked.popitem(last=False)
            oldest.driver.close()

    async def _load(self, run: Run) -> LiveRun | None:
        """Load a claimed run. If this node lacks the run's code, leave the run to other nodes, and return None."""
        function: FunctionRecord | None = None
        steps: list[StepRecord] = []
        depth = 0
        if run.claim > 1 or run.parent_id is not None:
            function, steps, depth = await read_patiently(self.engine.store, lambda _: load(run))
        if function is None:
            code = self.codes.newest(run.name)
        else:
            code = self.codes.to_go_on(run.name, function.version, function.pinned)
        if code is None:
            by_version = function is not None and (function.pinned or run.name in self.codes)
            version = f"version {function.version}" if function is not None and by_version else ""
            await self.leave_to_others(run, version)
            return None
        if function is None:
            now = self.now()
            function = FunctionRecord(
                run.id,
                run.namespace,
                run.name,
                code.version,
                code.digest,
                code.pinned,
                depth=depth,
                created=now,
                updated=now,
            )
            return LiveRun(self, run, code, function, {}, new=True)
        return LiveRun(self, run, code, function, {step.position: step for step in steps})

    async def leave_to_others(self, run: Run, missing: str) -> None:
        """Release the claim on a run whose code this node lacks. After a moment, a node that has the code can claim the
        run. `missing` names the part of the code that this node lacks, such as `"version 2"`. If this node lacks the
        whole function, `missing` is empty."""
        words = f"{NO_CODE}{run.name!r}{', ' if missing else ''}{missing}"
        now = self.now()
        waiting = End(run, Status.WAITING, words, finished=False, event="run:waiting")

        def leave(_: int) -> Operation[None]:
            yield from end([replace(waiting)], run.node or "", now, self.engine.kinds)
            yield sql("set_timers", [timer_row(wake_timer(run, now + _ELSEWHERE))])

        log.warning(words, action="function_code_missing", run=run.id)
        await self.engine.store.run(leave)
        self.engine.nudge()

    # Writing

    async def write(self, written: Write) -> WriteResult:
        answer = await self._writes.write(written)
        if answer is WriteResult.REFUSED:
            raise FunctionClaimLost
        return answer

    async def _commit(self, writes: Sequence[Write]) -> list[WriteResult]:
        now = self.now()
        answers: dict[int, WriteResult] = {}
        leaves = False
        for node in {one.run.node or "" for one in writes}:
            held = [one for one in writes if (one.run.node or "") == node]
            written = await self.engine.store.run(
                lambda _, held=held, node=node: write(held, node, now, self.engine.kinds)  # type: ignore[misc]
            )
            answers.update((id(one), answer) for one, answer in zip(held, written, strict=True))
            leaves = leaves or any(one.parks is not None or one.end is not None or one.children for one in held)
        if leaves:
            self.engine.nudge()
        return [answers[id(one)] for one in writes]

    def _trouble(self, problem: Exception) -> None:
        log.warning("steps of functions cannot be written", action="functions_trouble", problem=str(problem))

    # News for runs that are at work

    def poke(self, run_id: str) -> None:
        """If this node works on the run, let the run look for messages, ended children and a cancellation."""
        live = self._live.get(run_id)
        if live is not None:
            live.look_again()

    def watch(self) -> None:
        """Wake `look_for_news`. Call this when a run has begun to execute a step."""
        self._executing.set()

    async def look_for_news(self) -> None:
        """Look for messages, ended children and cancellations of runs that are executing steps, and notify the runs.
        Stop a run that this node no longer holds."""
        await self._executing.wait()
        while self._live:
            await asyncio.sleep(_LOOK)
            working = [live for live in self._live.values() if live.tasks]
            if not working:
                break
            claims = [(live, live.run.claim) for live in working]
            wanted = {live.run.id: live.list_wanted() for live in working}  # here: the store may read in another thread
            news, states = await self.engine.store.read(lambda _, wanted=wanted: find_news(wanted))  # type: ignore[misc]
            for id in news:
                self.poke(id)
            for live, claim in claims:
                at_work = self._live.get(live.run.id) is live and live.run.claim == claim and live.tasks
                if at_work and states.get(live.run.id) != [Status.ACTIVE.value, live.run.node or "", claim]:
                    live.refuse()
        self._executing.clear()


def load(run: Run) -> Operation[tuple[FunctionRecord | None, list[StepRecord], int]]:
    """Return (record, steps, depth) of a run.

    - If the run has a record, return the record, its steps, and 0. The caller reads the depth from the record.
    - If the run has no record yet, return None, an empty list, and the depth: the number of the run's ancestors (its
      parent function, the parent's parent, and so on).
    """
    rows = yield statement("functions_by_ids", [(run.id,)])
    if rows:
        steps = yield statement("steps_of", run=run.id)
        return read_function(rows[0]), [read_step(row) for row in steps], 0
    parents = (yield statement("functions_by_ids", [(run.parent_id,)])) if run.parent_id is not None else []
    return None, [], read_function(parents[0]).depth + 1 if parents else 0


def find_news(wanted: Mapping[str, Wanted]) -> Operation[tuple[set[str], dict[str, list[Any]]]]:
    """Look for news of runs. `wanted` is a dict from run id to what the run waits for. Return two values:

    - the ids of the runs that have a new message, an ended child or a requested cancellation
    - a dict from run id to `[status, node, claim]`, for all runs; it shows whether a run was terminated or claimed by
      another node
    """
    ids = [(id,) for id in wanted]
    states = {id: state for id, *state in (yield sql("states_of", ids))}
    news = {row[0] for row in (yield statement("cancels_of", ids))}
    names = [(id, name) for id, waits in wanted.items() for name in waits.names]
    if names:
        news |= {row[0] for row in (yield statement("waiting_messages", names))}
    parents = {child: id for id, waits in wanted.items() for child in waits.children}
    if parents:
        news |= {parents[row[0]] for row in (yield sql("chains_ended", [(child,) for child in parents]))}
    return news, states


class LiveRun:
    """A run of a function in the memory of this process. A node works on the run, or the run is parked in the cache."""

    def __init__(
        self,
        body: FunctionBody,
        run: Run,
        code: FunctionCode,
        function: FunctionRecord,
        steps: dict[str, StepRecord],
        *,
        new: bool = False,
    ) -> None:
        self._body = body
        self.run = run
        self._code = code
        self.function = function
        self.tasks: dict[str, asyncio.Task[None]] = {}  # steps that are being executed, by position
        self._ended: deque[tuple[FunctionOperation, StepRecord]] = deque()  # steps that have ended, in that order
        self._unwritten: dict[str, StepRecord] = {}
        self._taken: list[tuple[str, str]] = []
        self._children: list[Child] = []
        self._mail: dict[str, deque[Message]] = {}
        self._children_ended: dict[str, Row] = {}
        self._stirred = asyncio.Event()
        self._refused = False
        self._look = not new  # there may be news that this process has not read
        self._in_threads = 0
        self._counting = threading.Lock()
        self._grace: Micros | None = None
        self._open(steps)
        self._ctx.changed = new

    def _open(self, steps: dict[str, StepRecord]) -> None:
        body, self.driver = self._body, Driver(self.run.id, steps)
        self._ctx = FunctionContext(
            self.run, self.function, self.driver, body.engine.clock, body.read_child, body.settings.most_steps
        )
        self._begun = False

    def claimed_again(self, run: Run) -> None:
        self.run = run
        self._look = True

    def look_again(self) -> None:
        self._look = True
        self._stirred.set()

    def refuse(self) -> None:
        """Stop working on the run, because this node no longer holds it."""
        self._refused = True
        self._stirred.set()

    # Going on

    async def go(self) -> bool:
        """Work on the run until it leaves this node. Return True if the run parked. Return False if the run ended, was
        handed back or was left to other nodes. Raises `FunctionClaimLost` if this node no longer holds the run."""
        if not self._begun and not await self._begin():
            return False
        while True:
            try:
                self._drive()
            except Changed as problem:
                await self._end_failed("changed", problem)
                return False
            if self.driver.over:
                if isinstance(self.driver.problem, ContinueAs):
                    if not await self._continue(self.driver.problem.input):
                        return False
                    continue
                if isinstance(self.driver.problem, CodeMissing):
                    await self._body.leave_to_others(self.run, str(self.driver.problem))
                    return False
                await self._finish()
                return False
            if self._look:
                await self._read_news()
            if await self._settle():
                continue
            operations = self._to_execute()
            if operations and not self._body.engine.stopping:
                await self._execute_all(operations)
            elif operations and not self.tasks:
                await self._write(end=End(self.run, Status.READY, finished=False, event="run:handed_back"))
                return False
            if self._ended:
                continue
            if not self.tasks:
                if await self._park():
                    return True
                continue
            await self._wait()

    async def _begin(self) -> bool:
        """Call the function, and return True. If the function cannot be called, end the run as failed, and return
        False."""
        self._begun = True
        if self.function.depth > DEEPEST:
            words = f"it is a child of {DEEPEST} functions below one another, which is the most"
            await self._end_failed("too_deep", TooLarge(words))
            return False
        handler = self._code.handler
        text = self.function.input if self.function.generation else self.run.input
        try:
            arguments = handler.arguments(text)
        except OstinatoError as problem:
            as_function(problem)
            await self._end_failed(str(problem)[:500], problem)
            return False
        arguments[handler.context or "ctx"] = self._ctx
        self.driver.begin(handler.function(**arguments))
        return True

    async def _settle(self) -> bool:
        """Deliver to the code all outcomes that are available. If a cancellation was requested and the code does not
        know of it yet, deliver the cancellation instead (see `_cancel`). Return whether anything was delivered."""
        if self.function.cancel is not None and self.function.cancelled is None:
            return await self._cancel()
        now = self._body.now()
        settled = False
        while self._ended:
            operation, record = self._ended.popleft()
            if self.driver.pending.get(operation.position) is operation:
                settled = True
                if not self._deliver(operation, record):
                    return True
        for operation in list(self.driver.pending.values()):
            outcome = self._outcome(operation, now)
            if outcome is not None:
                settled = True
                if not self._deliver(operation, outcome):
                    return True
        return settled

    def _drive(self) -> None:
        """Run the code until it waits. Meanwhile asyncio does not see the node's task as the current task. Otherwise an
        `asyncio.timeout` in the code could cancel the node's task."""
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        kept = job_logging.current.set(self._log)  # which ignores what is only replayed
        _leave_task(loop, task)
        try:
            self.driver.advance()
        finally:
            _enter_task(loop, task)
            job_logging.current.reset(kept)

    def _deliver(self, operation: FunctionOperation, record: StepRecord) -> bool:
        """Pass an outcome to the code, and resume the code until it waits or ends. Return False if the function had
        already ended, or if the code does not fit the record. If this returns False, the caller must deliver no more
        outcomes, and must return to `go`."""
        self.driver.settle(operation, record)
        self._unwritten[record.position] = record
        self.driver.deliver(operation, record)
        if self.driver.over:
            return False
        try:
            self._drive()
        except Changed:
            return False
        return True

    def _outcome(self, operation: FunctionOperation, now: Micros) -> StepRecord | None:
        """Return the outcome of `operation`, or None if it is not known yet.

        For a step, return None, because `_execute` reports the outcomes of steps. There is one exception: an
        `at_most_once` step that was interrupted has failed, and this failure is returned.
        """
        if operation.position not in self.driver.pending or operation.position in self.tasks:
            return None
        record = operation.record
        if operation.kind == StepKind.STEP:
            if record is not None and record.status is StepStatus.BEGUN:
                words = "it was interrupted, and must be tried at most once"
                return _over(record, now, StepStatus.FAILED, error=_dump({"type": INTERRUPTED, "message": words}))
            return None
        if record is None:
            record = operation.record = self._new_record(operation, now)
        match operation.kind:
            case StepKind.START:
                return self._start_child(operation, record, now)
            case StepKind.SLEEP:
                return _over(record, now) if record.due is not None and record.due <= now else None
            case StepKind.CHILD:
                return self._child_outcome(record, now)
            case _:
                return self._received(record, now)

    def _new_record(self, operation: FunctionOperation, now: Micros) -> StepRecord:
        kind = StepKind(operation.kind)
        record = StepRecord(self.run.id, operation.position, kind, operation.name, begun=now)
        if kind is StepKind.STEP:
            record.digest = digest(operation.arguments, operation.keywords)
        elif operation.waits:
            record.due = due_of(operation, now)
            record.child_id = operation.child_id
        self._unwritten[record.position] = record
        self.driver.records[record.position] = record
        return record

    def _received(self, record: StepRecord, now: Micros) -> StepRecord | None:
        """Return the outcome of a `receive`: a message that came in time, or `TIMED_OUT`. Return None if the `receive`
        still waits."""
        mail = self._mail.get(record.name)
        if mail and (record.due is None or mail[0].sent <= record.due or now < record.due):
            message = mail.popleft()
            self._taken.append((message.id, record.position))
            return _over(record, now, result=message.payload)
        if record.due is not None and record.due <= now:
            return _over(record, now, StepStatus.TIMED_OUT)
        return None

    def _child_outcome(self, record: StepRecord, now: Micros) -> StepRecord | None:
        ended = self._children_ended.pop(record.child_id or "", None)
        if ended is None:
            return None
        _, status, reason, result, error, _ = ended
        if status == Status.SUCCEEDED.value:
            return _over(record, now, result=result)
        problem = {"status": status, "reason": reason, "error": None if error is None else orjson.loads(error)}
        return _over(record, now, StepStatus.FAILED, error=_dump(problem))

    def _start_child(self, operation: FunctionOperation, record: StepRecord, now: Micros) -> StepRecord:
        make = operation.options["make"]
        key = f"function/{self.run.id}/{self.function.generation}/{record.position}"
        try:
            if isinstance(make, OstinatoError):
                raise make
            run, deadline = make.run(now, self.run, key)
        except OstinatoError as problem:
            return _over(record, now, StepStatus.FAILED, error=describe_error(problem, _HERE))
        self._children.append(Child(run, deadline, operation.options["policy"]))
        record.child_id = run.id
        return _over(record, now)

    # News

    async def _read_news(self) -> None:
        """Read the messages and ended children that the run waits for, and whether its cancellation is requested."""
        self._look = False
        wanted = self.list_wanted()
        mail, children, function = await read_patiently(
            self._body.engine.store, lambda _: read_news(wanted, self.run.id)
        )
        taken = {id for id, _ in self._taken}
        self._mail = {}
        for message in map(read_message, mail):
            if message.id not in taken:
                self._mail.setdefault(message.name, deque()).append(message)
        self._children_ended |= {row[0]: row for row in children}
        if function is not None:
            self.function.cancel, self.function.reason = function.cancel, function.reason

    def list_wanted(self) -> Wanted:
        """Return what the run waits for: messages, children and a time. Steps in progress are left out."""
        names: list[str] = []
        children: list[str] = []
        due: Micros | None = None
        for position, operation in self.driver.pending.items():
            record = operation.record
            if position in self.tasks:
                continue
            if operation.kind == StepKind.RECEIVE:
                names.append(operation.name)
            elif operation.kind == StepKind.CHILD and operation.child_id is not None:
                children.append(operation.child_id)
            if record is not None and record.due is not None:
                due = record.due if due is None else min(due, record.due)
        return Wanted(names, children, due)

    async def _cancel(self) -> bool:
        """Stop the steps in progress. Then raise `Cancelled` in the code, at every operation that the code waits for. A
        step that has succeeded by then keeps its result. Always return True."""
        await self._stop_tasks()
        now = self._body.now()
        self.function.cancelled, self._ctx.changed = now, True
        self._grace = now + CANCEL_GRACE
        done = [(operation, record) for operation, record in self._ended if record.status is StepStatus.DONE]
        self._ended.clear()
        for operation, record in done:
            if self.driver.pending.get(operation.position) is operation and not self._deliver(operation, record):
                return True
        error = _dump({"reason": self.function.reason or "cancelled"})
        for operation in list(self.driver.pending.values()):
            record = operation.record or self._new_record(operation, now)
            if not self._deliver(operation, _over(record, now, StepStatus.CANCELLED, error=error)):
                break
        return True

    async def _stop_tasks(self) -> None:
        stopping = list(self.tasks.values())
        self.drop_tasks()
        if stopping:
            await asyncio.wait(stopping, timeout=CANCEL_GRACE / SECOND)

    # Executing steps

    def _to_execute(self) -> list[FunctionOperation]:
        """Return the steps to execute now. A step that failed is left out until its next attempt is due."""
        now = self._body.now()
        return [
            operation
            for operation in self.driver.pending.values()
            if operation.kind == StepKind.STEP
            and operation.position not in self.tasks
            and (operation.record is None or operation.record.due is None or operation.record.due <= now)
        ]

    async def _execute_all(self, operations: Sequence[FunctionOperation]) -> None:
        """Begin to execute steps. Before that, write everything that the steps may depend on."""
        now = self._body.now()
        for operation in operations:
            step = operation.step
            assert step is not None
            record = operation.record or self._new_record(operation, now)
            operation.record = record
            record.attempts += 1
            record.due = None
            if step.at_most_once:
                record.status = StepStatus.BEGUN
                self._unwritten[record.position] = record
            else:
                self._unwritten.pop(record.position, None)  # it is written when it has ended
        if self._has_news_to_write:
            await self._write()
        for operation in operations:
            assert operation.record is not None
            task = begin_task(self._execute(operation, operation.record))
            if not task.done():
                self.tasks[operation.position] = task
        if self.tasks:
            self._body.watch()

    async def _execute(self, operation: FunctionOperation, record: StepRecord) -> None:
        """Call the function of a step once, and keep its outcome for `_settle`. If the function still runs `PATIENCE`
        seconds after the end of its time, the step has failed, and whatever the function does later is ignored."""
        step = operation.step
        assert step is not None
        job_logging.current.set(self._log)
        seconds = None if step.timeout is None else step.timeout / SECOND
        limit, patience, left_behind = asyncio.timeout(seconds), None, False
        task = asyncio.current_task()

        def leave_behind() -> None:
            nonlocal left_behind
            if self.tasks.get(operation.position) is not task:
                return  # it was stopped before
            left_behind = True
            words = f"it took longer than its timeout of {seconds or 0:g} s, and goes on"
            self._failed(operation, record, step, TimeoutError(words))
            self.tasks.pop(operation.position, None)
            self._stirred.set()

        if seconds is not None:
            patience = asyncio.get_running_loop().call_later(seconds + PATIENCE, leave_behind)
        try:
            async with limit:
                value = await self._call(step, operation)
        except BaseException as problem:
            if left_behind:
                return
            if isinstance(problem, asyncio.CancelledError) and task is not None and task.cancelling():
                raise  # it was stopped; one that raises this by itself has failed
            if isinstance(problem, TimeoutError) and limit.expired():
                words = f"it took longer than its timeout of {seconds or 0:g} s"
                problem = TimeoutError(words).with_traceback(where_stopped(problem))
            self._failed(operation, record, step, own_error(problem))
        else:
            if left_behind:
                return
            self._succeeded(operation, record, step, value)
        finally:
            if patience is not None:
                patience.cancel()
        if self.tasks.get(operation.position) is task:  # after it was stopped, another step may be there
            del self.tasks[operation.position]
        self._stirred.set()

    def _succeeded(
        self, operation: FunctionOperation, record: StepRecord, step: StepFunction[..., Any], value: Any
    ) -> None:
        try:
            result = None if value is None else to_json(value, f"the result of step {step.name!r}")
        except OstinatoError as problem:  # it has taken effect, and would return the same again
            self._failed(operation, record, step, problem, final=True)
        else:
            self._ended.append((operation, _over(record, self._body.now(), result=result)))

    async def _call(self, step: StepFunction[..., Any], operation: FunctionOperation) -> Any:
        if step.is_async:
            return await step.function(*operation.arguments, **operation.keywords)
        loop = asyncio.get_running_loop()
        registry, key = self._body.engine.bodies.executor.in_thread, (self.run.id, self.run.claim)

        def call() -> Any:
            with self._counting:
                self._in_threads += 1
                registry[key] = self.run.name
            try:
                return call_in_thread(step.function, *operation.arguments, **operation.keywords)
            finally:
                with self._counting:
                    self._in_threads -= 1
                    if not self._in_threads:
                        registry.pop(key, None)

        value = await loop.run_in_executor(self._body.threads, copy_context().run, call)
        return await value if asyncio.iscoroutine(value) else value

    def _failed(
        self,
        operation: FunctionOperation,
        record: StepRecord,
        step: StepFunction[..., Any],
        problem: BaseException,
        *,
        final: bool = False,
    ) -> None:
        """Handle the exception of a step. If the step is tried again, record the time of the next attempt. Otherwise
        keep the failure for `_settle`. If `final` is true, the step is not tried again."""
        now = self._body.now()
        error = describe_error(problem, _HERE)
        reason = clean(describe_exception(problem))[:500]
        final = (
            final
            or record.attempts >= step.retry.attempts
            or isinstance(problem, Fatal)
            or bool(application_error(problem).get("non_retryable"))
        )
        if final:
            words = f"step {step.name!r} of function {self.run.name!r} failed: {reason}; not tried again"
            log.warning(words, action="step_failed", run=self.run.id, traceback=traceback_in(error))
            self._log(f"step {step.name!r} failed: {reason}", "warning")
            self._ended.append((operation, _over(record, now, StepStatus.FAILED, error=error)))
            return
        chance = int(record.digest or "0", 16) % 1000 / 1000
        pause = (
            int(problem.seconds * SECOND)
            if isinstance(problem, RetryLater)
            else step.retry.backoff(record.attempts, chance)
        )
        record.status, record.error, record.due = StepStatus.PENDING, error, now + pause
        self._unwritten[record.position] = record
        words = f"step {step.name!r} failed: {reason}; tried again in {pause / SECOND:g} s"
        log.warning(words, action="step_failed", run=self.run.id, traceback=traceback_in(error))
        self._log(words, "warning")

    def _log(self, message: str, level: str = "info") -> Any:
        self._ctx.log(message, level)

    async def _wait(self) -> None:
        """Write unwritten changes, and wait until the run can continue. Raises `FunctionClaimLost` if this node no
        longer holds the run.

        The run can continue if a step has ended, or if a timer is due. It can also continue if the store may have a
        message, an ended child or a request to cancel for the run.
        """
        if self._has_news_to_write:
            await self._write()
        if self._ended or self._look:
            return
        due = self.list_wanted().due
        seconds = None if due is None else max(0.0, (due - self._body.now()) / SECOND)
        await wait_for_event(self._stirred, seconds)
        self._stirred.clear()
        if self._refused:
            raise FunctionClaimLost

    def drop_tasks(self) -> None:
        """Cancel the steps in progress, without waiting for them."""
        for task in self.tasks.values():
            task.cancel()
        self.tasks.clear()

    # Writing

    @property
    def _has_news_to_write(self) -> bool:
        return bool(self._unwritten or self.driver.unwritten or self._children or self._taken or self._ctx.changed)

    async def _write(self, **more: Any) -> WriteResult:
        """Write everything that is not written yet. `more` are further fields of the `Write`. Raises
        `FunctionClaimLost` if this node no longer holds the run."""
        steps = [*self.driver.unwritten, *self._unwritten.values()]
        for record in self._unwritten.values():
            self.driver.records[record.position] = record
        function = None
        if self._ctx.changed or more:
            self.function.steps = len(self.driver.records)
            self.function.updated = max(self._body.now(), self.function.updated + 1)
            function = replace(self.function)
        everything = Write(
            self.run,
            [step_row(step) for step in steps],  # as they are now: a record changes with its next attempt
            function,
            list(self._taken),
            list(self._children),
            list(self._ctx.lines),
            grace=self._grace,
            **more,
        )
        self.driver.unwritten.clear()
        self._unwritten.clear()
        self._taken.clear()
        self._children.clear()
        self._ctx.lines.clear()
        self._ctx.changed = False
        self._grace = None
        answer = await self._body.write(everything)
        if steps:
            self.run.crashes = 0
        return answer

    async def _park(self) -> bool:
        """Release the claim, and let the run wait for messages, ends of children, or a time. Return whether the run was
        parked. It is not parked if something that it waits for has already come."""
        for operation in self.driver.pending.values():
            if operation.record is None:
                operation.record = self._new_record(operation, self._body.now())
        answer = await self._write(parks=self.list_wanted())
        if answer is WriteResult.ARRIVED:
            self._look = True
            return False
        return True

    async def _finish(self) -> None:
        problem = self.driver.problem
        for operation in self.driver.unawaited.values():
            self._log(f"{operation} was asked for and never awaited, so it did not happen", "warning")
        if isinstance(problem, Cancelled):
            await self._end(End(self.run, Status.CANCELLED, self.function.reason or "cancelled"))
        elif problem is not None:
            reason = clean(describe_exception(problem))[:500]
            await self._end_failed(reason, problem)
        else:
            try:
                value = self.driver.result
                result = None if value is None else to_json(value, "the result")
            except OstinatoError as refused:
                await self._end_failed(str(refused), refused)
                return
            await self._end(End(self.run, Status.SUCCEEDED, result=result))

    async def _end_failed(self, reason: str, problem: BaseException) -> None:
        error = orjson.loads(describe_error(problem, _HERE))
        if isinstance(problem, Changed):
            error |= {"expected": problem.expected, "actual": problem.actual, "position": problem.position}
            error["place"] = problem.place
        await self._end(End(self.run, Status.FAILED, reason, error=_dump(error)))

    async def _end(self, ending: End) -> None:
        await self._write(end=ending)
        self._body.engine.tell_ends([ending])

    async def _continue(self, input: str | None) -> bool:
        """Begin the function again, with an empty history and a new input, and return True. If the function cannot be
        called with this input, end the run as failed, and return False."""
        await self._stop_tasks()
        self._ended.clear()
        self.driver.close()
        self._unwritten.clear()
        self.driver.unwritten.clear()
        self.function.generation += 1
        self.function.input = input
        self._ctx.changed = True
        lines, ctx = self._ctx.lines, self._ctx
        self._open({})
        self._ctx.lines, self._ctx.changed = lines, ctx.changed
        await self._write(continues=True)
        return await self._begin()


def begin_task(coroutine: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    """Run a coroutine as a task. From Python 3.12 on, the task begins at once, and may already have ended."""
    if sys.version_info >= (3, 12):
        return asyncio.Task(coroutine, loop=asyncio.get_running_loop(), eager_start=True)
    return asyncio.create_task(coroutine)


def read_news(wanted: Wanted, run_id: str) -> Operation[tuple[list[Row], list[Row], FunctionRecord | None]]:
    """Return the messages that a run waits for, its children that have ended, and its record. The record says whether a
    cancellation was requested. If the run has no record yet, return None instead of the record."""
    names = [(run_id, name) for name in dict.fromkeys(wanted.names)]
    mail = (yield statement("waiting_messages", names)) if names else []
    children = (yield sql("chains_ended", [(child,) for child in wanted.children])) if wanted.children else []
    rows = yield statement("functions_by_ids", [(run_id,)])
    return mail, children, read_function(rows[0]) if rows else None


def _over(
    record: StepRecord,
    now: Micros,
    status: StepStatus = StepStatus.DONE,
    *,
    result: str | None = None,
    error: str | None = None,
) -> StepRecord:
    record.status, record.result, record.error, record.finished = status, result, error, now
    return record


def _dump(value: Any) -> str:
    return orjson.dumps(value).decode()
