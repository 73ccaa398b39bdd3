"""The in-process executor: coroutines as tasks, plain functions in threads, killable ones in child processes.

It says how a run went; what follows from that is decided elsewhere. A function in a thread cannot be stopped: its
run ends all the same, its late result is refused by the fence, and its thread is counted until it is done.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, replace
from typing import Any

import orjson

from ostinato.engine.application_errors import application_error
from ostinato.engine.child import ChildFailed, ChildStopped, run_in_child
from ostinato.engine.context import Context, SyncContext, clean, to_json
from ostinato.engine.handlers import Handler
from ostinato.engine.tracebacks import job_traceback
from ostinato.errors import OstinatoError
from ostinato.model import Run, Status
from ostinato.when.instants import SECOND, Micros


class Fatal(OstinatoError):
    """Raised by a job: fail now, do not try again."""


class RetryLater(OstinatoError):
    """Raised by a job: try again after this many seconds, whatever the backoff would be."""

    def __init__(self, seconds: float, message: str = "") -> None:
        super().__init__(message or f"asked to be tried again in {seconds} s")
        self.seconds = seconds


THREAD_NAMES = "ostinato-job"  # what the names of threads begin with that run functions


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an attempt went. `retry`: None as the policy says, False never, a number: after so many microseconds."""

    status: Status
    result: str | None = None
    error: str | None = None
    reason: str | None = None
    retry: Micros | bool | None = None


_DONE = Outcome(Status.SUCCEEDED)


class Stop(Exception):
    """Why a task is being cancelled, by us: cancelled by someone, terminated, out of time, or handed back."""

    def __init__(self, status: Status, reason: str | None) -> None:
        self.status = status
        self.reason = reason


class Executor:
    def __init__(self, threads: int = 16) -> None:
        self.in_thread: dict[tuple[str, int], str] = {}  # functions that threads are in, late ones included: run, claim
        self._pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix=THREAD_NAMES)
        self._free = asyncio.Semaphore(threads)

    @property
    def threads_busy(self) -> int:
        """Late ones included."""
        return len(self.in_thread)

    async def execute(self, run: Run, handler: Handler, context: Context, timeout: Micros | None) -> Outcome:
        """Run the function once. Never raises, but for a cancellation of its task."""
        try:
            try:
                given = handler.arguments(run.input)
            except OstinatoError as problem:  # another attempt would get the same input
                return replace(self._failed(problem), reason=str(problem)[:500], retry=False)
            if handler.mode == "thread":
                await self._free.acquire()  # its time begins when there is a thread for it
                context.last_sign = context.clock.now()
            if handler.plain and timeout is None:
                value = await handler.function(**given)
            elif timeout is None and handler.heartbeat is None:
                value = await self._call(run, handler, context, given)
            else:
                value = await self._call_in_time(run, handler, context, given, timeout)
            return _DONE if value is None else Outcome(Status.SUCCEEDED, result=to_json(value, "the result"))
        except TimeoutError as problem:
            if isinstance(problem, _OutOfTime):
                return Outcome(Status.TIMED_OUT, reason=problem.reason, error=describe_error(problem))
            return self._failed(problem)
        except ChildStopped as problem:
            return Outcome(Status.CRASHED, reason=str(problem))
        except (asyncio.CancelledError, KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as problem:  # sys.exit() of a job ends the job, not the node
            return self._failed(problem)

    def _failed(self, problem: BaseException) -> Outcome:
        own = problem.own if isinstance(problem, ChildFailed) else application_error(problem)
        kind = str(own.get("type") or (problem.kind if isinstance(problem, ChildFailed) else type(problem).__name__))
        seconds = problem.seconds if isinstance(problem, RetryLater | ChildFailed) else own.get("seconds")
        retry: Micros | bool | None = None
        if isinstance(problem, Fatal) or kind == "Fatal" or own.get("non_retryable"):
            retry = False
        elif seconds is not None:
            retry = int(seconds * SECOND)
        text = clean(str(own.get("message") or problem))
        return Outcome(
            Status.FAILED,
            error=describe_error(problem),
            reason=f"{kind}: {text}"[:500] if text else kind,
            retry=retry,
        )

    async def _call(self, run: Run, handler: Handler, context: Context, given: dict[str, Any]) -> Any:
        if handler.mode == "async":
            if handler.context is not None:
                given[handler.context] = context
            return await handler.function(**given)
        if handler.mode == "process":
            return await run_in_child(handler, context, given)
        loop = asyncio.get_running_loop()
        if handler.context is not None:
            given[handler.context] = SyncContext(context, loop)
        # The thread belongs to the same run: its context says so, to its log lines and its spans.
        return await loop.run_in_executor(self._pool, copy_context().run, self._in_thread, run, handler, given, loop)

    def _in_thread(self, run: Run, handler: Handler, given: dict[str, Any], loop: asyncio.AbstractEventLoop) -> Any:
        self.in_thread[run.id, run.claim] = run.name
        try:
            return handler.function(**given)
        finally:
            del self.in_thread[run.id, run.claim]
            with suppress(RuntimeError):  # the loop may be gone before a late thread
                loop.call_soon_threadsafe(self._free.release)

    async def _call_in_time(
        self, run: Run, handler: Handler, context: Context, given: dict[str, Any], timeout: Micros | None
    ) -> Any:
        """With a limit on the whole, or on the silence between two signs of life."""
        loop = asyncio.get_running_loop()
        begin = loop.time()
        context.sign()
        scope = asyncio.timeout(None)
        watch: asyncio.TimerHandle | None = None
        reason = ""

        def look() -> None:
            nonlocal watch, reason
            limits = []
            if timeout is not None:
                limits.append((begin + timeout / SECOND, "timeout"))
            if handler.heartbeat is not None:
                silent = (context.last_sign - started) / SECOND
                limits.append((begin + silent + handler.heartbeat / SECOND, "no heartbeat"))
            at, reason = min(limits)
            if at <= loop.time():
                scope.reschedule(loop.time())
            else:
                watch = loop.call_at(at, look)

        started = context.last_sign
        try:
            async with scope:
                look()
                return await self._call(run, handler, context, given)
        except TimeoutError:
            if scope.expired():
                raise _OutOfTime(reason) from None
            raise
        finally:
            if watch is not None:
                watch.cancel()

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


class _OutOfTime(TimeoutError):
    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def describe_error(problem: BaseException) -> str:
    """An exception as JSON: its kind, its words, and the end of its traceback."""
    if isinstance(problem, ChildFailed):
        own, kind, trace = problem.own, problem.kind, problem.trace
    else:
        own, kind, trace = application_error(problem), type(problem).__name__, clean(job_traceback(problem))[-8000:]
    told = {
        "type": own.get("type", kind),
        "message": clean(str(own.get("message") or problem))[:2000],
        "traceback": trace,
    }
    more = {name: own[name] for name in ("details", "non_retryable") if own.get(name)}
    if isinstance(problem, Fatal) or kind == "Fatal":
        more["non_retryable"] = True
    return orjson.dumps({**told, **more}).decode()
