"""Run the coroutine of a function, and replay its record. This module uses no clock, no store and no event loop.

The driver resumes the code until every branch waits for an operation. Then the driver delivers one outcome, and lets
the code run until it waits again. A replay delivers the recorded outcomes in the order of `seq`. So it takes the same
path as the first run, even if several operations of the first run were executed at the same time.

If the code asks for an operation that differs from the recorded one, the run fails as `changed`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

import orjson

from ostinato.errors import OstinatoError, describe_exception
from ostinato.functions.errors import (
    Cancelled,
    Changed,
    ChildFailed,
    CodeMissing,
    FunctionError,
    NotDurable,
    ReceiveTimedOut,
    StepFailed,
    StepInterrupted,
)
from ostinato.functions.model import StepKind, StepRecord, StepStatus
from ostinato.functions.operation import GATHER, FunctionOperation, calling_place
from ostinato.model import MOST

INTERRUPTED = "interrupted"


class Evicted(GeneratorExit):
    """Raised in a coroutine that is dropped from memory. The coroutine's run continues later, from its record."""


class Overrun(BaseException):
    """Raised instead of a `TooLarge` if the code has caught `TooLarge` many times and has continued. `except Exception`
    does not catch an `Overrun`, so the code cannot continue again. `problem` is the `TooLarge` with which the coroutine
    then ends."""

    def __init__(self, problem: FunctionError) -> None:
        self.problem = problem


class ContinueAs(BaseException):
    """Raised by `ctx.continue_as`: begin again with a new input and an empty history."""

    def __init__(self, input: str | None) -> None:
        self.input = input


class ReplayBranch:
    """A coroutine of the function: its body, or one argument of a gather. `asked` counts the branch's operations."""

    __slots__ = ("asked", "coroutine", "gather", "index", "prefix")

    def __init__(
        self, coroutine: Coroutine[Any, Any, Any], prefix: str = "", gather: Gather | None = None, index: int = 0
    ) -> None:
        self.coroutine = coroutine
        self.prefix = prefix
        self.gather = gather
        self.index = index
        self.asked = 0

    def next_position(self) -> str:
        position = f"{self.prefix}{self.asked}"
        self.asked += 1
        return position


class Gather:
    """A gather in progress. When all branches have ended, the gather returns their results. If a branch has failed, the
    gather raises the first failure instead. If a branch was cancelled, the gather raises the cancellation."""

    __slots__ = ("left", "operation", "problem", "results")

    def __init__(self, operation: FunctionOperation, count: int) -> None:
        self.operation = operation
        self.results: list[Any] = [None] * count
        self.left = count
        self.problem: BaseException | None = None


class Driver:
    """One run of a function in memory.

    - `records`: the recorded operations, by position
    - `pending`: the operations that the code waits for, by position, in the order in which the code began to wait
    - `unwritten`: records of values such as `ctx.now()` that are not written to the store yet
    - `unawaited`: operations that the code has created but not awaited yet

    Once `over` is true, the function has ended with `result` or `problem`.
    """

    def __init__(self, run_id: str, records: Mapping[str, StepRecord]) -> None:
        self.run_id = run_id
        self.records = dict(records)
        self.pending: dict[str, FunctionOperation] = {}
        self.unwritten: list[StepRecord] = []
        self.unawaited: dict[str, FunctionOperation] = {}
        self.asked = 0  # operations and values that the code has asked for
        self.current: ReplayBranch | None = None
        self.over = False
        self.result: Any = None
        self.problem: BaseException | None = None
        order = sorted(
            (record for record in self.records.values() if record.seq is not None), key=lambda record: record.seq or 0
        )
        self._replay = deque(order)
        self.seq = (order[-1].seq or 0) + 1 if order else 1
        # Records of `ctx.version` are not expected to be asked for: code drops such a call when no old run needs it.
        self._unasked = {position for position, record in self.records.items() if record.kind != StepKind.VERSION}
        self._changed: Changed | None = None
        self._runnable: deque[tuple[ReplayBranch, BaseException | None]] = deque()  # with what to raise in the branch
        self._branches: list[ReplayBranch] = []
        self._closing = False

    @property
    def replaying(self) -> bool:
        """Whether the record has operations or outcomes that the code has not reached yet."""
        return bool(self._unasked or self._replay)

    # What `ctx` calls

    def ask(self, kind: str, name: str) -> FunctionOperation:
        """Create an operation at the next position of the running branch."""
        operation = FunctionOperation(self, kind, name, self._asking(kind).next_position())
        self.asked += kind != GATHER
        record = self.records.get(operation.position)
        if record is not None and (record.kind, record.name) != (kind, name):
            operation.place = calling_place()  # `Changed` will name it
        self.unawaited[operation.position] = operation
        return operation

    def local(self, kind: StepKind, make: Callable[[str], Any], now: int) -> Any:
        """Return a value that the code does not await, for example the time for `ctx.now()`. If a value is recorded at
        the next position, return the recorded value. Otherwise record and return `make(position)`."""
        position = self._asking(kind).next_position()
        self.asked += 1
        record = self._recorded(position, kind, "")
        if record is None:
            record = self._record_value(position, kind, "", orjson.dumps(make(position)).decode(), now)
        return orjson.loads(record.result or "null")

    def version(self, name: str, version: int, now: int) -> int:
        """Return the number that `ctx.version` returns to the code.

        - If a number is recorded for `name`, return it.
        - If the run is being replayed, return 1, because the run has passed this place with the old code.
        - Otherwise record `version` and return it.
        """
        self._asking(StepKind.VERSION)
        position = f"version:{name}"
        record = self._recorded(position, StepKind.VERSION, name)
        if record is not None:
            return int(orjson.loads(record.result or "1"))
        if self.replaying:
            return 1
        self._record_value(position, StepKind.VERSION, name, str(version), now)
        return version

    def _record_value(self, position: str, kind: StepKind, name: str, result: str, now: int) -> StepRecord:
        record = StepRecord(
            self.run_id, position, kind, name, status=StepStatus.DONE, result=result, begun=now, finished=now
        )
        self.records[position] = record
        self.unwritten.append(record)
        return record

    def _asking(self, kind: str) -> ReplayBranch:
        if self._closing:
            raise Evicted
        if self.current is None:
            raise OstinatoError(f"ctx.{kind} is called outside of its function; a step gets values as arguments")
        return self.current

    # What the node calls

    def begin(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        self._add(ReplayBranch(coroutine))

    def advance(self) -> None:
        """Run the code until it ends, or until every branch waits for an operation without an outcome. Deliver recorded
        outcomes on the way. Raises `Changed` if the code does not fit the record."""
        self._run()
        while not self.over and self._replay:
            record = self._replay[0]
            operation = self.pending.get(record.position)
            if operation is None:
                raise self._not_asked(record)
            self._replay.popleft()
            self.deliver(operation, record)
            self._run()
        # Here all recorded outcomes are delivered. Code that fits the record has now asked for all its operations,
        # including those that still wait.
        if self._unasked and not isinstance(self.problem, ContinueAs | CodeMissing):
            unasked = [self.records[position] for position in self._unasked]
            raise self._not_asked(min(unasked, key=lambda record: (record.begun, record.seq or MOST, record.position)))

    def settle(self, operation: FunctionOperation, record: StepRecord) -> None:
        """Give `record` the next `seq`, and add it to the records."""
        record.seq = self.seq
        self.seq += 1
        self.records[record.position] = record

    def deliver(self, operation: FunctionOperation, record: StepRecord) -> None:
        """Pass an outcome to the code that waits for it. `advance` then resumes the code."""
        del self.pending[operation.position]
        operation.record = record
        operation.settled = True
        try:
            operation.result = read_outcome(operation, record)
        except (FunctionError, Cancelled) as problem:
            operation.problem = problem
        self._resume(operation)

    def close(self) -> None:
        """Drop the code from memory. The code's `finally` blocks run, but operations of `ctx` in them do nothing."""
        self._closing = True
        for branch in reversed(self._branches):
            _close(branch.coroutine)
        self._branches.clear()
        self.pending.clear()

    # Running

    def _add(self, branch: ReplayBranch) -> None:
        self._branches.append(branch)
        self._runnable.append((branch, None))

    def _resume(self, operation: FunctionOperation) -> None:
        assert operation.branch is not None
        self._runnable.append((operation.branch, None))

    def _run(self) -> None:
        while self._runnable and not self.over:
            branch, problem = self._runnable.popleft()
            self.current = branch
            try:
                asked = branch.coroutine.send(None) if problem is None else branch.coroutine.throw(problem)
            except StopIteration as stop:
                self._finish(branch, stop.value, None)
            except (KeyboardInterrupt, SystemExit) as raised:
                self._finish(branch, None, FunctionError(f"the function raised {raised!r}"))
            except Overrun as overrun:
                self._finish(branch, None, overrun.problem)
            except BaseException as raised:
                self._finish(branch, None, raised)
            else:
                self._wait(branch, asked)
            finally:
                self.current = None
            if self._changed is not None:  # whatever the code has made of it
                raise self._changed

    def _wait(self, branch: ReplayBranch, asked: Any) -> None:
        if not isinstance(asked, FunctionOperation) or asked.driver is not self:
            words = (
                f"the function waits for {asked!r}, which is not recorded, so it could not go on after a restart; "
                "do it in a step, `await ctx.step(function, …)`, or use ctx.sleep, ctx.gather, ctx.receive"
            )
            self._runnable.append((branch, NotDurable(words)))
            return
        asked.branch = branch
        self.unawaited.pop(asked.position, None)
        if asked.kind == GATHER:
            self._gather(asked)
            return
        asked.record = self._recorded(asked.position, asked.kind, asked.name, asked.place)
        self.pending[asked.position] = asked

    def _gather(self, operation: FunctionOperation) -> None:
        gather = Gather(operation, len(operation.arguments))
        if not operation.arguments:
            operation.settled, operation.result = True, []
            self._resume(operation)
        for index, awaitable in enumerate(operation.arguments):
            coroutine = awaitable if isinstance(awaitable, Coroutine) else _await(awaitable)
            self._add(ReplayBranch(coroutine, f"{operation.position}.{index}.", gather, index))

    def _finish(self, branch: ReplayBranch, result: Any, problem: BaseException | None) -> None:
        self._branches.remove(branch)
        gather = branch.gather
        if gather is None or isinstance(problem, ContinueAs | CodeMissing):
            self.over, self.result, self.problem = True, result, problem
            return
        gather.results[branch.index] = result
        if gather.problem is None or (isinstance(problem, Cancelled) and not isinstance(gather.problem, Cancelled)):
            gather.problem = problem  # the first one; a failure does not hide that the run is cancelled
        gather.left -= 1
        if not gather.left:
            operation = gather.operation
            operation.settled, operation.result, operation.problem = True, gather.results, gather.problem
            self._resume(operation)

    # Comparing with the record

    def _recorded(self, position: str, kind: str, name: str, place: str = "") -> StepRecord | None:
        record = self.records.get(position)
        if record is None:
            return None
        self._unasked.discard(position)
        if (record.kind, record.name) != (kind, name):
            expected, actual = _words(record.kind, record.name), _words(kind, name)
            place = place or calling_place()
            self._changed = Changed(
                f"{place}: the code asks for {actual} at position {position}, where the record has {expected}; "
                "let old runs take the old branch by ctx.version(…)",
                position=position,
                expected=expected,
                actual=actual,
                place=place,
            )
            raise self._changed
        return record

    def _not_asked(self, record: StepRecord) -> Changed:
        expected = _words(record.kind, record.name)
        if not self.over:
            actual = f"it waits for {', '.join(str(operation) for operation in self.pending.values())}"
            frame = getattr(self._branches[0].coroutine, "cr_frame", None) if self._branches else None
            place = "" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"
        elif self.problem is None:
            actual, place = "the function ended", ""
        else:
            actual = f"the function raised {describe_exception(self.problem)}"
            place = _raising_place(self.problem)
        return Changed(
            f"{place + ': ' if place else ''}the record has {expected} at position {record.position}, which the code "
            f"does not ask for; {actual}. Let old runs take the old branch by ctx.version(…)",
            position=record.position,
            expected=expected,
            actual=actual,
            place=place,
        )


def read_outcome(operation: FunctionOperation, record: StepRecord) -> Any:
    """Return the result of a recorded operation, or raise its error."""
    match record.status:
        case StepStatus.CANCELLED:
            raise Cancelled(*([] if record.error is None else [orjson.loads(record.error)["reason"]]))
        case StepStatus.TIMED_OUT if operation.has_default:
            return operation.default
        case StepStatus.TIMED_OUT:
            raise ReceiveTimedOut(f"no message {record.name!r} came in time")
        case StepStatus.FAILED:
            error = orjson.loads(record.error or "{}")
            if record.kind == StepKind.START:
                raise ChildFailed("", record.name, "not started", error.get("message"), error)
            if record.kind == StepKind.CHILD:
                raise ChildFailed(
                    record.child_id or "", record.name, error.get("status", ""), error.get("reason"), error.get("error")
                )
            raise (StepInterrupted if error.get("type") == INTERRUPTED else StepFailed)(record.name, error)
    if record.kind == StepKind.START:
        return operation.options["handle"](record.child_id, record.name)
    return None if record.result is None else orjson.loads(record.result)


def _words(kind: str, name: str) -> str:
    return f"{kind} {name!r}" if name else str(kind)


def _raising_place(problem: BaseException) -> str:
    trace = problem.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "" if trace is None else f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"


async def _await(awaitable: Any) -> Any:
    return await awaitable


def _close(coroutine: Coroutine[Any, Any, Any]) -> None:
    try:
        coroutine.close()
    except BaseException:  # code that does not let itself be dropped; nothing of what it does is recorded
        return
