"""Evaluate the expressions of one language in a pool of worker processes.

The pool sends requests to a worker in batches. A batch occupies a *place* while a worker evaluates it, and the number
of places is limited. *Quick places* are for most batches. *Slow places* are for single requests that are slow.

A batch is sent in one of two ways:

- *together*: the normal way.
- *apart*: the worker answers the requests one by one, so the pool knows which request is in progress. A batch of one
  request always counts as sent apart.

A slow expression must not delay others. A batch on a quick place *stalls* if no answer arrives for `slow_after_s`:

- If a batch that was sent together stalls, its unanswered requests are sent again, apart.
- If a batch that was sent apart stalls, and a slow place is free, the batch gives its quick place back and occupies the
  slow place. The same worker continues the request in progress, up to that request's deadline. The other unanswered
  requests of the batch are sent again.
- If a batch that was sent apart stalls, and no slow place is free, the worker is killed. The request in progress waits
  for a slow place. The other unanswered requests of the batch are sent again.

The pool remembers which expressions were quick and which were slow. Requests whose expression was quick go first.
Requests whose expression was slow are *suspects*. A suspect uses a slow place. It may use a quick place if no other
request waits for one.

If a worker dies, its unanswered requests are sent again, apart. Evaluations are pure, so repeating one is harmless. If
the batch had been sent apart already, its request in progress may be the cause:

- If the request exceeded its time or memory limit, and so killed the worker, the request fails.
- Otherwise the request gets one more attempt, on a new worker. If the new worker dies, too, the request fails.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple
from weakref import WeakKeyDictionary

from ostinato.journeys.expressions import frames
from ostinato.journeys.expressions.codes import Code
from ostinato.journeys.expressions.contract import EvaluationOutcome, Failure, Value
from ostinato.journeys.expressions.process import LATE, Died, Process, Unavailable
from ostinato.journeys.expressions.settings import ExpressionSettings
from ostinato.model import Json

BATCH = 200
BATCH_BYTES = 4 << 20
_APART = 8  # most requests in a batch that is sent apart: few, so that all workers share them
_FOR_OTHERS = 20  # places in a batch that are left for expressions not yet known to be quick
# Small batches cost much per request. So another worker is used only if this many requests wait, or if requests have
# waited this long.
WORTH = 32
WHILE_S = 0.02
_REMEMBERED = 10_000  # expressions remembered as quick, and as slow


class PoolRequest(NamedTuple):
    raw: bytes  # as JSON
    deadline_s: float
    expr: str


class _Lane(Enum):
    QUICK = auto()
    SLOW = auto()
    CHECK = auto()


@dataclass(slots=True, eq=False)
class _Job:
    request: PoolRequest
    future: asyncio.Future[EvaluationOutcome]
    apart: bool = False  # its batch stalled, or its worker died
    alone: bool = False  # it stalled, or its worker died, while it was in progress apart: it waits for a slow place
    fresh: bool = False  # its worker died while it was in progress apart: it gets one more attempt, on a new worker


class _SpeedHistory:
    """Remembers which expressions were quick the last time, and which were slow."""

    def __init__(self) -> None:
        self._quick: set[int] = set()
        self._slow: set[int] = set()

    def note(self, expr: str, *, slow: bool) -> None:
        to, other = (self._slow, self._quick) if slow else (self._quick, self._slow)
        key = hash(expr)
        if key in to:
            return
        if len(to) >= _REMEMBERED:
            to.clear()
        to.add(key)
        other.discard(key)

    def quick(self, expr: str) -> bool:
        return hash(expr) in self._quick

    def slow(self, expr: str) -> bool:
        return hash(expr) in self._slow


class _RequestQueue:
    """The requests of one event loop that wait for a worker. Only that loop's thread uses the queue."""

    def __init__(self, history: _SpeedHistory) -> None:
        self._known = history
        self._proven: deque[_Job] = deque()
        self._unproven: deque[_Job] = deque()
        self._apart: deque[_Job] = deque()
        self._suspects: deque[_Job] = deque()
        self._alone: dict[str, deque[_Job]] = {}  # by expression; the expressions take turns
        self._apart_first = False
        self.draining = dict.fromkeys(_Lane, 0)
        self.later: asyncio.TimerHandle | None = None
        self.tasks: set[asyncio.Task[None]] = set()  # keeps tasks from being garbage-collected

    def add(self, jobs: Iterable[_Job]) -> None:
        for job in jobs:
            expr = job.request.expr
            if job.alone:
                self._alone.setdefault(expr, deque()).append(job)
            elif self._known.slow(expr):
                self._suspects.append(job)
            elif job.apart:
                self._apart.append(job)
            else:
                (self._proven if self._known.quick(expr) else self._unproven).append(job)

    @property
    def waiting(self) -> int:
        """The number of waiting requests that use a quick place. Suspects are not included: `suspects` counts them. The
        module explains these words."""
        return len(self._proven) + len(self._unproven) + len(self._apart)

    @property
    def suspects(self) -> int:
        return len(self._suspects)

    @property
    def slow(self) -> int:
        """A lower bound of the number of waiting requests that may use a slow place. It is 0 only if there is no such
        request. It is the sum of two counts:

        - the number of suspects
        - the number of different expressions of the requests that must use a slow place, because they stalled or their
          worker died
        """
        return len(self._alone) + len(self._suspects)

    def take(self, lane: _Lane) -> list[_Job]:
        return self._take_slow() if lane is _Lane.SLOW else self._take_quick()

    def _take_quick(self) -> list[_Job]:
        """Return the next batch of requests that are not suspects. If no such request waits, return a batch of one
        suspect. A suspect is a request whose expression was slow before. If no request waits, return an empty list."""
        self._apart_first = not self._apart_first
        for apart in (self._apart_first, not self._apart_first):
            if batch := self._batch_apart() if apart else self._batch_together():
                return batch
        return self._from((self._suspects, 1))

    def _batch_apart(self) -> list[_Job]:
        self._set_suspects_aside(self._apart)
        return self._from((self._apart, _APART))

    def _batch_together(self) -> list[_Job]:
        self._set_suspects_aside(self._proven)
        self._set_suspects_aside(self._unproven)
        proven = BATCH - min(_FOR_OTHERS, len(self._unproven))
        return self._from((self._proven, proven), (self._unproven, BATCH))

    def _set_suspects_aside(self, queue: deque[_Job]) -> None:
        """Move requests from `queue` to the suspects if their expression is now known to be slow."""
        for _ in range(len(queue)):
            job = queue.popleft()
            (self._suspects if self._known.slow(job.request.expr) else queue).append(job)

    def _take_slow(self) -> list[_Job]:
        while self._alone:
            expr, jobs = next(iter(self._alone.items()))
            del self._alone[expr]
            job = jobs.popleft()
            if jobs:
                self._alone[expr] = jobs  # at the end: other expressions go first
            if not job.future.done():
                return [job]
        return self._from((self._suspects, 1))

    @staticmethod
    def _from(*queues: tuple[deque[_Job], int]) -> list[_Job]:
        """Return a batch of requests, and remove them from their queues. `queues` has pairs (queue, limit). Requests
        are taken from each queue in order, until the whole batch has as many requests as the limit of this queue. The
        batch ends before its size would exceed `BATCH_BYTES`, unless its first request alone is larger. Requests whose
        caller no longer waits are dropped."""
        batch: list[_Job] = []
        size = 0
        for queue, most in queues:
            while queue and len(batch) < most:
                job = queue[0]
                if batch and size + len(job.request.raw) > BATCH_BYTES:
                    return batch
                queue.popleft()
                if not job.future.done():
                    batch.append(job)
                    size += len(job.request.raw)
        return batch


class Pool:
    def __init__(self, language: str, settings: ExpressionSettings) -> None:
        self._language = language
        self._settings = settings
        self._known = _SpeedHistory()
        self._begin()

    def _begin(self) -> None:
        self._owner = os.getpid()
        self._lock = threading.Lock()
        self._idle: list[Process] = []
        self._busy: set[Process] = set()
        self._most = {_Lane.QUICK: self._settings.workers, _Lane.SLOW: self._settings.slow_workers, _Lane.CHECK: 1}
        self._places = {lane: threading.BoundedSemaphore(most) for lane, most in self._most.items()}
        self._lines: WeakKeyDictionary[asyncio.AbstractEventLoop, _RequestQueue] = WeakKeyDictionary()
        self._threads: ThreadPoolExecutor | None = None
        self._closing = 0

    # On an event loop

    def submit(self, asked: Iterable[tuple[PoolRequest, asyncio.Future[EvaluationOutcome]]]) -> None:
        """Evaluate requests, and set the result of each future when its answer arrives. Skip cancelled futures."""
        self._after_fork()
        loop = asyncio.get_running_loop()
        with self._lock:
            queue = self._lines.setdefault(loop, _RequestQueue(self._known))
        queue.add(_Job(request, future) for request, future in asked)
        self._wake(queue, loop)

    def _wake(self, queue: _RequestQueue, loop: asyncio.AbstractEventLoop) -> None:
        """Let more workers serve `queue`, within the limits of the pool:

        - If any requests may use a slow place, one more worker serves requests on a slow place.
        - One more worker serves requests on a quick place in two cases: at least `WORTH` requests wait for a quick
          place, or requests wait and no worker serves the queue on a quick place.
        - In other cases, requests that wait for a quick place wait for the busy workers at first. If requests still
          wait after `WHILE_S` seconds, one more worker serves them.
        """
        if queue.slow:
            self._add_drain(queue, loop, _Lane.SLOW)
        if queue.waiting >= WORTH or (queue.draining[_Lane.QUICK] == 0 and queue.waiting + queue.suspects):
            self._add_drain(queue, loop, _Lane.QUICK)
        elif queue.waiting and queue.later is None:
            queue.later = loop.call_later(WHILE_S, self._have_waited, queue, loop)

    def _have_waited(self, queue: _RequestQueue, loop: asyncio.AbstractEventLoop) -> None:
        queue.later = None
        if queue.waiting:
            self._add_drain(queue, loop, _Lane.QUICK)

    def _add_drain(self, queue: _RequestQueue, loop: asyncio.AbstractEventLoop, lane: _Lane) -> None:
        if queue.draining[lane] < self._most[lane]:
            queue.draining[lane] += 1
            task = loop.create_task(self._drain(queue, loop, lane))
            queue.tasks.add(task)
            task.add_done_callback(queue.tasks.discard)

    async def _drain(self, queue: _RequestQueue, loop: asyncio.AbstractEventLoop, lane: _Lane) -> None:
        try:
            while batch := queue.take(lane):
                with self._lock:
                    if self._threads is None:
                        most = 4 * sum(self._most.values())  # event loops that share the pool may wait for its places
                        self._threads = ThreadPoolExecutor(most, f"expressions-{self._language}")
                    serving = _BatchRun(self, queue, loop, batch, lane, self._closing)
                    served = loop.run_in_executor(self._threads, serving.run)
                await served
                lane = serving.lane
        finally:
            queue.draining[lane] -= 1  # no `await` since the queue was empty, so the next request starts another drain

    def _take_back(
        self, queue: _RequestQueue, loop: asyncio.AbstractEventLoop, jobs: Sequence[_Job], moved: bool
    ) -> None:
        """Put the unanswered requests `jobs` of a batch back into `queue`, and let workers serve them. If `moved` is
        true, the worker of the batch has moved to a slow place with one request, which is not in `jobs`. The worker
        then counts as a worker for slow requests."""
        if moved:
            queue.draining[_Lane.QUICK] -= 1
            queue.draining[_Lane.SLOW] += 1
        queue.add(jobs)
        self._wake(queue, loop)

    # From any thread

    def check(self, request: PoolRequest) -> EvaluationOutcome:
        """Check one expression on a worker, and return the outcome. The value of the outcome is None if the expression
        is valid, and otherwise a dict that describes the mistake. The call blocks its thread.

        If the worker dies or does not answer in time, try once more on a new worker, unless the expression is known to
        be the cause. If this fails, too, or if there is no worker, return a `Failure`.
        """
        self._after_fork()
        closing = self._closing
        death: Died | None = None
        with self._places[_Lane.CHECK]:
            for fresh in (False, True):
                try:
                    worker = self._take(fresh, closing)
                except Unavailable as problem:
                    return Failure(Code.UNAVAILABLE, str(problem))
                sound = False
                try:
                    worker.send(self._head("check"), [request.raw], request.deadline_s)
                    (answer,) = worker.receive(time.monotonic() + request.deadline_s + self._settings.patience_s)
                    sound = True
                    return _outcome(answer)
                except frames.Late:
                    death = Died(Code.TIMEOUT, LATE, telling=False)
                except Died as problem:
                    death = problem
                    if death.telling:
                        break
                finally:
                    self._give_back(worker, sound=sound, closing=closing)
        assert death is not None
        return Failure(death.code, death.message)

    def pids(self) -> list[int]:
        with self._lock:
            return [process.pid for process in (*self._idle, *self._busy)]

    @property
    def busy(self) -> int:
        return len(self._busy)

    def close(self) -> None:
        self._after_fork()
        with self._lock:
            self._closing += 1
            idle, self._idle = self._idle, []
            threads, self._threads = self._threads, None
            for process in self._busy:
                process.end()
        for process in idle:
            process.kill()
        if threads is not None:
            threads.shutdown(wait=True)

    def _head(self, kind: str) -> dict[str, Json]:
        return {"kind": kind, "most": self._settings.max_result_bytes}

    def _take(self, fresh: bool, closing: int) -> Process:
        """Return a live worker, and count it as busy. `closing` is the value of the counter `self._closing` when the
        caller began. Each `close` increments the counter.

        - If `fresh` is true, start a new worker. It replaces an idle worker, if there is one.
        - If `fresh` is false, return an idle worker. If no worker is idle, start a new one.
        - If the counter no longer equals `closing`, or the new worker does not start, raise `Unavailable`.
        """
        with self._lock:
            if closing != self._closing:
                raise Unavailable("it was closed")
            while self._idle:
                worker = self._idle.pop()
                if worker.alive and not fresh:
                    self._busy.add(worker)
                    return worker
                worker.kill()
                if fresh:
                    break  # the new worker takes its place
        worker = Process(self._language, self._settings)
        with self._lock:
            if closing == self._closing:
                self._busy.add(worker)
                return worker
        worker.kill()
        raise Unavailable("it was closed")

    def _give_back(self, worker: Process, *, sound: bool, closing: int) -> None:
        """Take back a worker after a batch or a check. `closing` is the value of the counter `self._closing` when the
        batch or check began. Each `close` increments the counter.

        - If `sound` is true, the worker is alive, and the counter still equals `closing`, keep the worker for later
          use.
        - Otherwise kill the worker.
        """
        with self._lock:
            self._busy.discard(worker)
            if sound := sound and worker.alive and closing == self._closing:
                self._idle.append(worker)
        if not sound:
            worker.kill()

    def _after_fork(self) -> None:
        if self._owner != os.getpid():
            for process in (*self._idle, *self._busy):
                process.forget()
            self._begin()


class _BatchRun:
    """Runs one batch on one worker, in a thread. Delivers the answers, and queues the unanswered requests again."""

    def __init__(
        self,
        pool: Pool,
        queue: _RequestQueue,
        loop: asyncio.AbstractEventLoop,
        batch: list[_Job],
        lane: _Lane,
        closing: int,
    ) -> None:
        self._pool = pool
        self._line = queue
        self._loop = loop
        self._batch = batch
        self._left = dict(enumerate(batch))  # unanswered requests by their index in the batch
        self._apart = len(batch) == 1 or batch[0].apart
        self._closing = closing
        self._since = 0.0  # time of the last answer, or of sending
        self.lane = lane

    def run(self) -> None:
        """Block until each request of the batch is answered or queued again. Never raises."""
        self._pool._places[self.lane].acquire()
        try:
            self._serve()
        except Unavailable as problem:
            self._fail_all(str(problem))
        except Exception as problem:  # a fault of the pool, not of an expression
            self._fail_all(f"{type(problem).__name__}: {problem}")
        finally:
            self._pool._places[self.lane].release()

    def _serve(self) -> None:
        pool = self._pool
        worker = pool._take(self._batch[0].fresh, self._closing)
        sound = False
        last: list[tuple[_Job, EvaluationOutcome]] = []
        try:
            head = pool._head("evaluate") | {"apart": self._apart}
            longest = max(job.request.deadline_s for job in self._batch)
            worker.send(head, [job.request.raw for job in self._batch], longest)
            sound, last = self._receive(worker)
        except Died as death:
            self._died(death)
        finally:
            try:
                pool._give_back(worker, sound=sound, closing=self._closing)
            finally:
                self._call(_deliver, last)  # only now, so that the caller's next request finds this worker idle

    def _receive(self, worker: Process) -> tuple[bool, list[tuple[_Job, EvaluationOutcome]]]:
        """Receive the answers of the batch. Return (whether the worker can be used again, answers that the caller must
        deliver).

        - When answers arrive and other requests are still unanswered, deliver these answers at once.
        - When the last answers arrive, return them undelivered.
        - If the worker stalls, call `_go_on_slowly`. If it returns True, keep receiving. If it returns False, return
          (False, []).
        """
        sound = True
        pairs: list[tuple[_Job, EvaluationOutcome]] = []
        self._since = time.monotonic()
        while self._left:
            if pairs:
                self._call(_deliver, pairs)
                pairs = []
            try:
                answers = worker.receive(self._until())
            except frames.Late:
                if not self._go_on_slowly():
                    return False, []
                sound = len(self._batch) == 1  # otherwise other workers repeat the rest of the batch
                continue
            before, self._since = self._since, time.monotonic()
            slow = self._since - before > self._pool._settings.slow_after_s
            read = [(answer["at"], _outcome(answer)) for answer in answers]
            sound = sound and all(answer.get("code") != Code.MEMORY for answer in answers)
            pairs = [(self._left.pop(at), outcome) for at, outcome in read if at in self._left]
            for job, _ in pairs:
                self._pool._known.note(job.request.expr, slow=slow)
        return sound, pairs

    def _until(self) -> float:
        if self.lane is _Lane.QUICK:
            return self._since + self._pool._settings.slow_after_s
        (job,) = self._left.values()
        return self._since + job.request.deadline_s + self._pool._settings.patience_s

    def _go_on_slowly(self) -> bool:
        """Handle a stalled worker, and return whether the caller must keep waiting for this worker. The module explains
        the words.

        - If the batch occupies a slow place, handle it as if the worker had died. Return False.
        - If the batch was sent together, queue its unanswered requests again, to be sent apart. Return False.
        - If the batch was sent apart, and a slow place is free, move the request in progress to the slow place. Queue
          the other unanswered requests again. Return True.
        - If the batch was sent apart, and no slow place is free, queue all unanswered requests again. The request in
          progress then waits for a slow place. Return False.
        """
        place, job = next(iter(self._left.items()))
        if self.lane is _Lane.SLOW:
            self._died(Died(Code.TIMEOUT, LATE, telling=False))
            return False
        if not self._apart:
            for other in self._left.values():
                other.apart = True
            self._give_back(self._left.values())
            return False
        self._pool._known.note(job.request.expr, slow=True)
        rest = [other for other in self._left.values() if other is not job]
        if not self._pool._places[_Lane.SLOW].acquire(blocking=False):
            job.alone = True
            self._give_back([job, *rest])
            return False
        self._pool._places[_Lane.QUICK].release()
        self.lane = _Lane.SLOW
        self._left = {place: job}
        self._give_back(rest, moved=True)
        return True

    def _died(self, death: Died) -> None:
        """Handle the death of the worker: queue the unanswered requests again, to be sent apart. If the batch was
        already sent apart, the request in progress may be the cause of the death:

        - If the request is known to be the cause, or if this was its last attempt, it fails and is not queued again.
        - Otherwise it gets one more attempt, on a new worker.

        Raise `Unavailable` if the pool was closed.
        """
        if self._closing != self._pool._closing:
            raise Unavailable("it was closed")
        jobs = list(self._left.values())
        if self._apart:
            job = jobs[0]
            if death.telling or job.fresh:
                del jobs[0]
                self._call(_deliver, [(job, Failure(death.code, death.message))])
            else:
                job.fresh = job.alone = True
        for job in jobs:
            job.apart = True
        self._give_back(jobs)

    def _fail_all(self, message: str) -> None:
        self._call(_deliver, [(job, Failure(Code.UNAVAILABLE, message)) for job in self._left.values()])

    def _give_back(self, jobs: Iterable[_Job], moved: bool = False) -> None:
        self._call(self._pool._take_back, self._line, self._loop, list(jobs), moved)

    def _call(self, function: Callable[..., None], *arguments: object) -> None:
        with suppress(RuntimeError):  # the loop is closed, so no caller waits
            self._loop.call_soon_threadsafe(function, *arguments)


def _deliver(pairs: Iterable[tuple[_Job, EvaluationOutcome]]) -> None:
    for job, outcome in pairs:
        if not job.future.done():
            job.future.set_result(outcome)


def _outcome(answer: dict[str, Json]) -> EvaluationOutcome:
    return Failure(str(answer["code"]), answer["message"]) if "code" in answer else Value(answer["value"])
