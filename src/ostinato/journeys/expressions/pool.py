"""The worker processes of one language: requests go to them in batches, each answer leaves as it comes.

A slow expression must cost only itself. So no batch is waited for longer than a slice of time (`slow_after_s`) without
an answer:

- A batch that stalls is taken back, and what it still owes is sent again *apart*: each answer is sent by itself, so
  that it is known which request is under way.
- A request that stalls apart goes on in a *slow* place, up to its own deadline; the others go to another worker. If all
  slow places are taken, its worker is killed and the request waits for one.
- Requests with an expression that has been slow before (*suspects*) wait until nothing else does. Those with an
  expression that has been quick before go first.

If a worker dies, what was answered stays answered and the rest is sent again, apart. A request is blamed if it was
alone under way and how the worker ended says that it was its doing, or if it was alone in two workers that died, the
second of them new. Evaluations are pure, so that doing one again is harmless.
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
from typing import NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

from ostinato.journeys.expressions import frames
from ostinato.journeys.expressions.codes import Code
from ostinato.journeys.expressions.contract import Failure, Value
from ostinato.journeys.expressions.process import LATE, Died, Process, Unavailable
from ostinato.journeys.expressions.settings import ExpressionSettings
from ostinato.model import Json

BATCH = 200
BATCH_BYTES = 4 << 20
_APART = 8  # requests that are sent apart together: few, so that the workers share them
_FOR_OTHERS = 20  # places in a batch that proven expressions leave to others
# Few at a time cost much each, so another worker is put to work only when so many wait, or have waited for so long.
WORTH = 32
WHILE_S = 0.02
_REMEMBERED = 10_000  # expressions, as quick or as slow
Outcome: TypeAlias = Value | Failure


class Request(NamedTuple):
    raw: bytes  # as JSON
    deadline_s: float
    expr: str


class _Lane(Enum):
    QUICK = auto()
    SLOW = auto()
    CHECK = auto()


@dataclass(slots=True, eq=False)
class _Job:
    """A request, and the future that waits for its answer."""

    request: Request
    future: asyncio.Future[Outcome]
    apart: bool = False  # a batch with it stalled or died
    alone: bool = False  # it stalled by itself, or its worker died: it waits for a slow place
    fresh: bool = False  # a worker died over it alone: the next one is new, and the last


class _Known:
    """Which expressions were quick, and which slow, the last time."""

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


class _Line:
    """The requests of one event loop that wait for a worker. Used on that loop's thread only."""

    def __init__(self, known: _Known) -> None:
        self._known = known
        self._proven: deque[_Job] = deque()
        self._unproven: deque[_Job] = deque()
        self._apart: deque[_Job] = deque()
        self._suspects: deque[_Job] = deque()
        self._alone: dict[str, deque[_Job]] = {}  # by expression: they take turns
        self._apart_first = False
        self.draining = dict.fromkeys(_Lane, 0)
        self.later: asyncio.TimerHandle | None = None
        self.tasks: set[asyncio.Task[None]] = set()  # a task that nobody holds may be collected

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
        """How many wait for a quick place, suspects aside."""
        return len(self._proven) + len(self._unproven) + len(self._apart)

    @property
    def suspects(self) -> int:
        return len(self._suspects)

    @property
    def slow(self) -> int:
        """How many wait for a slow place."""
        return len(self._alone) + len(self._suspects)

    def take(self, lane: _Lane) -> list[_Job]:
        return self._take_slow() if lane is _Lane.SLOW else self._take_quick()

    def _take_quick(self) -> list[_Job]:
        """The next batch: in turn one that is sent apart and one that is not. Suspects, one at a time, come last."""
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
        """Move requests whose expression has turned out to be slow since they came."""
        for _ in range(len(queue)):
            job = queue.popleft()
            (self._suspects if self._known.slow(job.request.expr) else queue).append(job)

    def _take_slow(self) -> list[_Job]:
        while self._alone:
            expr, jobs = next(iter(self._alone.items()))
            del self._alone[expr]
            job = jobs.popleft()
            if jobs:
                self._alone[expr] = jobs  # at the end: now it is the others' turn
            if not job.future.done():
                return [job]
        return self._from((self._suspects, 1))

    @staticmethod
    def _from(*queues: tuple[deque[_Job], int]) -> list[_Job]:
        """Take from each queue until the batch is as large as that queue may make it. Requests whose callers went away
        are dropped."""
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
        self._known = _Known()
        self._begin()

    def _begin(self) -> None:
        self._owner = os.getpid()
        self._lock = threading.Lock()
        self._idle: list[Process] = []
        self._busy: set[Process] = set()
        self._most = {_Lane.QUICK: self._settings.workers, _Lane.SLOW: self._settings.slow_workers, _Lane.CHECK: 1}
        self._places = {lane: threading.BoundedSemaphore(most) for lane, most in self._most.items()}
        self._lines: WeakKeyDictionary[asyncio.AbstractEventLoop, _Line] = WeakKeyDictionary()
        self._threads: ThreadPoolExecutor | None = None
        self._closing = 0

    # On an event loop

    def submit(self, asked: Iterable[tuple[Request, asyncio.Future[Outcome]]]) -> None:
        """Answer each future as soon as its own answer is there. One that was cancelled is not evaluated if it has not
        begun. What comes while all workers are busy goes together when one is free."""
        self._after_fork()
        loop = asyncio.get_running_loop()
        with self._lock:
            line = self._lines.setdefault(loop, _Line(self._known))
        line.add(_Job(request, future) for request, future in asked)
        self._wake(line, loop)

    async def evaluate(self, requests: Sequence[Request]) -> list[Outcome]:
        """An answer for each, in order, when all are there."""
        loop = asyncio.get_running_loop()
        asked: list[tuple[Request, asyncio.Future[Outcome]]] = [(one, loop.create_future()) for one in requests]
        self.submit(asked)
        try:
            return [await future for _, future in asked]
        finally:
            for _, future in asked:
                future.cancel()

    def _wake(self, line: _Line, loop: asyncio.AbstractEventLoop) -> None:
        """Put as many workers to work as what waits is worth."""
        if line.slow:
            self._add_drain(line, loop, _Lane.SLOW)
        if line.waiting >= WORTH or (line.draining[_Lane.QUICK] == 0 and line.waiting + line.suspects):
            self._add_drain(line, loop, _Lane.QUICK)
        elif line.waiting and line.later is None:
            line.later = loop.call_later(WHILE_S, self._have_waited, line, loop)

    def _have_waited(self, line: _Line, loop: asyncio.AbstractEventLoop) -> None:
        line.later = None
        if line.waiting:
            self._add_drain(line, loop, _Lane.QUICK)

    def _add_drain(self, line: _Line, loop: asyncio.AbstractEventLoop, lane: _Lane) -> None:
        if line.draining[lane] < self._most[lane]:
            line.draining[lane] += 1
            task = loop.create_task(self._drain(line, loop, lane))
            line.tasks.add(task)
            task.add_done_callback(line.tasks.discard)

    async def _drain(self, line: _Line, loop: asyncio.AbstractEventLoop, lane: _Lane) -> None:
        try:
            while batch := line.take(lane):
                with self._lock:
                    if self._threads is None:
                        most = 4 * sum(self._most.values())  # loops that share the pool may wait for its places
                        self._threads = ThreadPoolExecutor(most, f"expressions-{self._language}")
                    serving = _Serving(self, line, loop, batch, lane, self._closing)
                    served = loop.run_in_executor(self._threads, serving.run)
                await served
                lane = serving.lane
        finally:
            line.draining[lane] -= 1  # in the same step that found nothing waiting: who comes next starts another

    def _take_back(self, line: _Line, loop: asyncio.AbstractEventLoop, jobs: Sequence[_Job], moved: bool) -> None:
        """Let requests wait again; `moved`: one of their batch goes on in a slow place, and leaves its quick one."""
        if moved:
            line.draining[_Lane.QUICK] -= 1
            line.draining[_Lane.SLOW] += 1
        line.add(jobs)
        self._wake(line, loop)

    # From any thread

    def check(self, request: Request) -> Outcome:
        """Have one request checked, whatever happens to workers meanwhile. Blocks."""
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
        """A worker that lives; `fresh`, one that nobody used, so that what happens to it is its user's doing."""
        with self._lock:
            if closing != self._closing:
                raise Unavailable("it was closed")
            if self._idle:
                worker = self._idle.pop()
                if worker.alive and not fresh:
                    self._busy.add(worker)
                    return worker
                worker.kill()
        worker = Process(self._language, self._settings)
        with self._lock:
            if closing == self._closing:
                self._busy.add(worker)
                return worker
        worker.kill()
        raise Unavailable("it was closed")

    def _give_back(self, worker: Process, *, sound: bool, closing: int) -> None:
        """Keep a worker, unless it died, still owes an answer or ran out of memory: that one is not trusted again."""
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


class _Serving:
    """One batch with one worker, in a thread: deliver its answers, and give back to the line what it was not for."""

    def __init__(
        self, pool: Pool, line: _Line, loop: asyncio.AbstractEventLoop, batch: list[_Job], lane: _Lane, closing: int
    ) -> None:
        self._pool = pool
        self._line = line
        self._loop = loop
        self._batch = batch
        self._left = dict(enumerate(batch))  # what is not answered, by its place in the batch, in order
        self._apart = len(batch) == 1 or batch[0].apart
        self._closing = closing
        self._since = 0.0  # the last answer, or when the batch was sent
        self.lane = lane

    def run(self) -> None:
        """Blocks until all of the batch is answered or given back. Raises nothing."""
        self._pool._places[self.lane].acquire()
        try:
            self._serve()
        except Unavailable as problem:
            self._fail_all(str(problem))
        except Exception as problem:  # not of an expression: of the pool itself
            self._fail_all(f"{type(problem).__name__}: {problem}")
        finally:
            self._pool._places[self.lane].release()

    def _serve(self) -> None:
        pool = self._pool
        worker = pool._take(self._batch[0].fresh, self._closing)
        sound = False
        try:
            head = pool._head("evaluate") | {"apart": self._apart}
            longest = max(job.request.deadline_s for job in self._batch)
            worker.send(head, [job.request.raw for job in self._batch], longest)
            sound = self._receive(worker)
        except Died as death:
            self._died(death)
        finally:
            pool._give_back(worker, sound=sound, closing=self._closing)

    def _receive(self, worker: Process) -> bool:
        """Deliver answers until there are all, or the worker stalls. Returns whether the worker can be used again."""
        sound = True
        self._since = time.monotonic()
        while self._left:
            try:
                answers = worker.receive(self._until())
            except frames.Late:
                if not self._go_on_slowly():
                    return False
                sound = len(self._batch) == 1  # otherwise the worker goes on with what others do now
                continue
            before, self._since = self._since, time.monotonic()
            slow = self._since - before > self._pool._settings.slow_after_s
            read = [(answer["at"], _outcome(answer)) for answer in answers]
            sound = sound and all(answer.get("code") != Code.MEMORY for answer in answers)
            pairs = [(self._left.pop(at), outcome) for at, outcome in read if at in self._left]
            for job, _ in pairs:
                self._pool._known.note(job.request.expr, slow=slow)
            self._call(_deliver, pairs)
        return sound

    def _until(self) -> float:
        if self.lane is _Lane.QUICK:
            return self._since + self._pool._settings.slow_after_s
        (job,) = self._left.values()
        return self._since + job.request.deadline_s + self._pool._settings.patience_s

    def _go_on_slowly(self) -> bool:
        """No answer came in time. Returns whether this worker is waited for, in a slow place, with one request."""
        place, job = next(iter(self._left.items()))
        if self.lane is _Lane.SLOW:
            self._died(Died(Code.TIMEOUT, LATE, telling=False))
            return False
        if not self._apart:
            for one in self._left.values():
                one.apart = True
            self._give_back(self._left.values())
            return False
        self._pool._known.note(job.request.expr, slow=True)
        rest = [one for one in self._left.values() if one is not job]
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
        """The worker is gone. Blame the request that was under way, if it is known, or give all back."""
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

    def _call(self, function: Callable[..., None], *given: object) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(function, *given)


def _deliver(pairs: Iterable[tuple[_Job, Outcome]]) -> None:
    for job, outcome in pairs:
        if not job.future.done():
            job.future.set_result(outcome)


def _outcome(answer: dict[str, Json]) -> Outcome:
    return Failure(str(answer["code"]), answer["message"]) if "code" in answer else Value(answer["value"])
