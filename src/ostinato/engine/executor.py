"""Execute coroutines as tasks, plain functions in threads, and `process=True` jobs in child processes. A function in a
thread cannot be stopped. If its run is stopped, the function keeps its thread busy, and its late result is refused."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, TypeVar

import orjson

from ostinato.engine.application_errors import application_error
from ostinato.engine.context import Context, SyncContext, clean, to_json
from ostinato.engine.jobs import Handler
from ostinato.engine.subprocess.parent import ChildRaised, ChildStopped, run_in_child
from ostinato.engine.tracebacks import job_traceback
from ostinato.errors import OstinatoError, error_text
from ostinato.model import Run, Status, read_length
from ostinato.when.durations import Length
from ostinato.when.instants import SECOND, Micros

T = TypeVar("T")
_BLOCKED = 1.0  # seconds by which the event loop is late when something has blocked it


class Fatal(OstinatoError):
    """A job raises this error to fail without another attempt."""


class RetryLater(OstinatoError):
    """A job or a step raises this error to be tried again after a certain pause. The delay of the retry policy is not
    used. The pause is a number of seconds, a timedelta, or a text such as `"5m"`. The failed try counts as an
    attempt."""

    def __init__(self, seconds: Length, message: str = "") -> None:
        self.seconds = read_length(seconds, "RetryLater") / SECOND
        super().__init__(message or f"asked to be tried again in {self.seconds:g} s")


PATIENCE = 10.0  # seconds for code that was cancelled at the end of its time to end
INTERRUPTED = "interrupted by a KeyboardInterrupt"
THREAD_NAMES = "ostinato-job"  # prefix of the names of threads that run functions


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of an attempt. `retry` says whether another attempt follows:

    - None: the retry policy decides.
    - False: no other attempt follows.
    - A number: the pause before the next attempt, in microseconds, if the retry policy allows another attempt.
    """

    status: Status
    result: str | None = None
    error: str | None = None
    reason: str | None = None
    retry: Micros | bool | None = None


_DONE = Outcome(Status.SUCCEEDED)


class BodyStop(Exception):
    """The reason why the engine cancels the task of a run. `status` decides what happens to the run:

    - `ready`: the run is handed back, and any node can claim it.
    - `crashed`: this node has lost its claim, and writes nothing about the run.
    - A final status, such as `cancelled`: the run ends with this status and with `reason`.
    """

    def __init__(self, status: Status, reason: str | None) -> None:
        self.status = status
        self.reason = reason


class _JobThreads(ThreadPoolExecutor):
    """A pool of threads. The semaphore `free` counts the free threads. A caller must acquire `free` before it submits a
    call. The pool releases `free` when the call has ended. The pool also releases `free` if the call is cancelled
    before a thread begins it."""

    def __init__(self, threads: int) -> None:
        super().__init__(max_workers=threads, thread_name_prefix=THREAD_NAMES)
        self.free = asyncio.Semaphore(threads)

    def submit(self, function: Callable[..., T], /, *args: Any, **keywords: Any) -> Future[T]:
        loop = asyncio.get_running_loop()

        def release(_: Future[T]) -> None:
            with suppress(RuntimeError):  # the loop may be gone before a late thread
                loop.call_soon_threadsafe(self.free.release)

        future = super().submit(function, *args, **keywords)
        future.add_done_callback(release)
        return future


class Executor:
    def __init__(self, threads: int = 16) -> None:
        # From (run id, claim) to the name of the job, for functions in a thread, even if their run was stopped.
        self.in_thread: dict[tuple[str, int], str] = {}
        self._threads = _JobThreads(threads)

    @property
    def threads_busy(self) -> int:
        """Return how many threads are executing a function, including functions whose run was stopped."""
        return len(self.in_thread)

    async def execute(
        self,
        run: Run,
        handler: Handler,
        context: Context,
        timeout: Micros | None,
        left_behind: Callable[[Outcome], None],
    ) -> Outcome:
        """Call the function of a job once, and return the outcome. If the function raises an exception, the outcome is
        `failed`. If the function takes too long, the outcome is `timed_out`. If SIGINT or SIGTERM ends the child
        process, or if Ctrl-C interrupts an async function, the outcome is `crashed`. Only a `CancelledError` is raised
        to the caller.

        An async function that takes too long is cancelled. If it still runs `PATIENCE` seconds later, `left_behind` is
        called with the outcome. This call goes on until the function ends, and then returns as if nothing had happened.
        """
        task = asyncio.current_task()
        try:
            try:
                arguments = handler.arguments(run.input)
            except OstinatoError as problem:  # another attempt would get the same input
                return replace(self._failed(problem), reason=str(problem)[:500], retry=False)
            if handler.mode == "thread":
                await self._threads.free.acquire()  # the timeout begins when there is a free thread
                context.last_sign = context.clock.now()
            if handler.plain and timeout is None:
                value = await handler.function(**arguments)
            elif timeout is None and handler.heartbeat is None:
                value = await self._call(run, handler, context, arguments)
            else:
                value = await self._call_in_time(run, handler, context, arguments, timeout, left_behind)
            return _DONE if value is None else Outcome(Status.SUCCEEDED, result=to_json(value, "the result"))
        except TimeoutError as problem:
            if isinstance(problem, _OutOfTime):
                late = TimeoutError(problem.reason).with_traceback(problem.__traceback__)
                return Outcome(Status.TIMED_OUT, reason=problem.reason, error=describe_error(late))
            return self._failed(problem)
        except ChildStopped as problem:
            return Outcome(Status.CRASHED, reason=str(problem))
        except asyncio.CancelledError:
            raise
        except KeyboardInterrupt:  # a signal's, or the function's own: nothing tells them apart
            return Outcome(Status.CRASHED, reason=INTERRUPTED)
        except BaseException as problem:  # sys.exit() of a job ends the job, not the node
            if is_closing(problem, task):
                raise
            return self._failed(own_error(problem))

    def _failed(self, problem: BaseException) -> Outcome:
        application = problem.application if isinstance(problem, ChildRaised) else application_error(problem)
        kind = str(
            application.get("type") or (problem.kind if isinstance(problem, ChildRaised) else type(problem).__name__)
        )
        seconds = problem.seconds if isinstance(problem, RetryLater | ChildRaised) else application.get("seconds")
        retry: Micros | bool | None = None
        if isinstance(problem, Fatal) or kind == "Fatal" or application.get("non_retryable"):
            retry = False
        elif seconds is not None:
            retry = int(seconds * SECOND)
        text = clean(str(application.get("message") or error_text(problem)))
        return Outcome(
            Status.FAILED,
            error=describe_error(problem),
            reason=f"{kind}: {text}"[:500] if text else kind,
            retry=retry,
        )

    async def _call(self, run: Run, handler: Handler, context: Context, arguments: dict[str, Any]) -> Any:
        if handler.mode == "async":
            if handler.context is not None:
                arguments[handler.context] = context
            return await handler.function(**arguments)
        if handler.mode == "process":
            return await run_in_child(handler, context, arguments)
        loop = asyncio.get_running_loop()
        if handler.context is not None:
            arguments[handler.context] = SyncContext(context, loop)
        # Copy the context variables, so that log lines and spans of the thread belong to this run.
        return await loop.run_in_executor(self._threads, copy_context().run, self._in_thread, run, handler, arguments)

    def _in_thread(self, run: Run, handler: Handler, arguments: dict[str, Any]) -> Any:
        self.in_thread[run.id, run.claim] = run.name
        try:
            return call_in_thread(handler.function, **arguments)
        finally:
            del self.in_thread[run.id, run.claim]

    async def _call_in_time(
        self,
        run: Run,
        handler: Handler,
        context: Context,
        arguments: dict[str, Any],
        timeout: Micros | None,
        left_behind: Callable[[Outcome], None],
    ) -> Any:
        """Call the function. Raises `_OutOfTime` if the call takes longer than `timeout`, or a heartbeat is late."""
        loop = asyncio.get_running_loop()
        begin = loop.time()
        context.sign()
        scope = asyncio.timeout(None)
        watch: asyncio.TimerHandle | None = None
        reason = ""
        expected = begin  # when `look` should be called next

        def look() -> None:
            nonlocal watch, reason, expected
            blocked = loop.time() - expected > _BLOCKED
            limits = []
            if timeout is not None:
                limits.append((begin + timeout / SECOND, "timeout"))
            if handler.heartbeat is not None:
                silent = (context.last_sign - started) / SECOND
                limits.append((begin + silent + handler.heartbeat / SECOND, "no heartbeat"))
            at, reason = min(limits)
            if blocked and reason == "no heartbeat" and handler.heartbeat is not None:
                # The event loop was blocked, so the function could not send a heartbeat. Its time begins again.
                at = max(at, loop.time() + handler.heartbeat / SECOND)
            if at <= loop.time():
                scope.reschedule(loop.time())
                watch = loop.call_later(PATIENCE, left_behind, Outcome(Status.TIMED_OUT, reason=reason))
            else:
                expected = at
                watch = loop.call_at(at, look)

        started = context.last_sign
        try:
            async with scope:
                look()
                return await self._call(run, handler, context, arguments)
        except TimeoutError as problem:
            if scope.expired():
                raise _OutOfTime(reason).with_traceback(where_stopped(problem)) from None
            raise
        finally:
            if watch is not None:
                watch.cancel()

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


class RaisedInThread(Exception):
    """Carries an exception from a function in a thread to the event loop, if asyncio does not pass it on unchanged."""

    def __init__(self, problem: BaseException) -> None:
        super().__init__()
        self.problem = problem


def call_in_thread(function: Callable[..., T], *arguments: Any, **keywords: Any) -> T:
    """Call a user's function and return its result. Call this in a thread. If the function raises an exception that
    asyncio would not pass on unchanged, raises `RaisedInThread` instead."""
    try:
        return function(*arguments, **keywords)
    except (StopIteration, KeyboardInterrupt, SystemExit, GeneratorExit) as problem:
        raise RaisedInThread(problem) from None


def own_error(problem: BaseException) -> BaseException:
    """Return the exception that a user's function raised, if `problem` is raised instead of it. Python replaces a
    `StopIteration` of a coroutine by a `RuntimeError`."""
    if isinstance(problem, RaisedInThread):
        return problem.problem
    if type(problem) is RuntimeError and isinstance(problem.__cause__, StopIteration):
        return problem.__cause__ if problem.args == ("coroutine raised StopIteration",) else problem
    return problem


def is_closing(problem: BaseException, task: asyncio.Task[Any] | None) -> bool:
    """Return whether `problem` means that Python closes the coroutine of a task, for example at the end of the process.
    Then the coroutine must not await anything. A `GeneratorExit` that a user's code raises in the task does not
    count."""
    if not isinstance(problem, GeneratorExit):
        return False
    return task is None or asyncio.current_task(task.get_loop()) is not task


def is_stopping(problem: BaseException, task: asyncio.Task[Any] | None) -> bool:
    """Return whether `problem` comes from outside: Python closes the coroutine of a task, or the task is cancelled. Any
    other exception was raised by the user's code that the task calls."""
    if isinstance(problem, asyncio.CancelledError):
        return task is not None and task.cancelling() > 0
    return is_closing(problem, task)


class _OutOfTime(TimeoutError):
    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def where_stopped(late: TimeoutError) -> TracebackType | None:
    """Return the traceback of the place where an async function waited when `asyncio.timeout` stopped it."""
    return late.__traceback__ if late.__cause__ is None else late.__cause__.__traceback__


def describe_error(problem: BaseException, ours: str | None = None) -> str:
    """Return an exception as a JSON object with its type, its message, and the end of its traceback. The traceback has
    no frames of the engine. If `ours` is given, it has no frames of files that begin with `ours` either."""
    if isinstance(problem, ChildRaised):
        application, kind, trace = problem.application, problem.kind, problem.trace
    else:
        application, kind, trace = (
            application_error(problem),
            type(problem).__name__,
            clean(job_traceback(problem, ours))[-8000:],
        )
    description = {
        "type": application.get("type", kind),
        "message": clean(str(application.get("message") or error_text(problem)))[:2000],
        "traceback": trace,
    }
    more = {name: application[name] for name in ("details", "non_retryable") if application.get(name)}
    if isinstance(problem, Fatal) or kind == "Fatal":
        more["non_retryable"] = True
    return orjson.dumps({**description, **more}).decode()
