"""A few worker processes of one language. Whatever an expression does to its worker, it does to itself alone.

A batch goes to one worker. If the worker dies, what was answered stays answered and the rest is asked again one by one,
so that the one at fault is known; the others are done as if nothing had happened.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from weakref import WeakKeyDictionary

from ostinato.journeys.expressions.codes import Code
from ostinato.journeys.expressions.process import Died, Process, Unavailable
from ostinato.journeys.expressions.settings import ExpressionSettings
from ostinato.model import Json

BATCH = 200
BATCH_BYTES = 4 << 20
# Few at a time cost much each, so another worker is put to work only when so many wait, or have waited for so long.
WORTH = 32
WHILE_S = 0.02
Answer = dict[str, Json]
Request = tuple[bytes, float]  # as JSON, and its deadline in seconds


class _Line:
    """The requests of one event loop that wait for a worker, and who takes them there."""

    def __init__(self) -> None:
        self.waiting: deque[tuple[Request, asyncio.Future[Answer]]] = deque()
        self.draining = 0
        self.later: asyncio.TimerHandle | None = None
        self.tasks: set[asyncio.Task[None]] = set()  # a task that nobody holds may be collected

    def take(self) -> list[tuple[Request, asyncio.Future[Answer]]]:
        """As many as one batch holds; whoever asked and went away is left out."""
        batch: list[tuple[Request, asyncio.Future[Answer]]] = []
        size = 0
        while self.waiting and len(batch) < BATCH:
            request, future = self.waiting[0]
            if batch and size + len(request[0]) > BATCH_BYTES:
                break
            self.waiting.popleft()
            if not future.done():
                batch.append((request, future))
                size += len(request[0])
        return batch


class Pool:
    def __init__(self, language: str, settings: ExpressionSettings) -> None:
        self._language = language
        self._settings = settings
        self._begin()

    def _begin(self) -> None:
        self._owner = os.getpid()
        self._lock = threading.Lock()
        self._idle: list[Process] = []
        self._busy: set[Process] = set()
        self._places = threading.BoundedSemaphore(self._settings.workers)
        self._lines: WeakKeyDictionary[asyncio.AbstractEventLoop, _Line] = WeakKeyDictionary()
        self._threads: ThreadPoolExecutor | None = None
        self._closing = 0

    async def evaluate(self, requests: Sequence[Request]) -> list[Answer]:
        """An answer for each, in order. What comes while all workers are busy goes together when one is free."""
        self._after_fork()
        loop = asyncio.get_running_loop()
        with self._lock:
            line = self._lines.setdefault(loop, _Line())
        asked: list[tuple[Request, asyncio.Future[Answer]]] = [(one, loop.create_future()) for one in requests]
        line.waiting.extend(asked)
        if line.draining == 0 or len(line.waiting) >= WORTH:
            self._add_worker(line, loop)
        elif line.later is None:
            line.later = loop.call_later(WHILE_S, self._have_waited, line, loop)
        try:
            return [await future for _, future in asked]
        finally:
            for _, future in asked:
                future.cancel()  # who went away wants no answer

    def _have_waited(self, line: _Line, loop: asyncio.AbstractEventLoop) -> None:
        line.later = None
        if line.waiting:
            self._add_worker(line, loop)

    def _add_worker(self, line: _Line, loop: asyncio.AbstractEventLoop) -> None:
        if line.draining < self._settings.workers:
            line.draining += 1
            task = loop.create_task(self._drain(line))
            line.tasks.add(task)
            task.add_done_callback(line.tasks.discard)

    async def _drain(self, line: _Line) -> None:
        loop = asyncio.get_running_loop()
        try:
            while batch := line.take():
                with self._lock:
                    closing = self._closing
                    if self._threads is None:
                        self._threads = ThreadPoolExecutor(self._settings.workers, f"expressions-{self._language}")
                    threads = self._threads
                    given = [request for request, _ in batch]
                    settled = loop.run_in_executor(threads, self.settle, given, "evaluate", closing)
                try:
                    answers = await settled
                except Exception as problem:  # not of an expression: of the pool itself
                    answers = [_failed(Code.UNAVAILABLE, f"{type(problem).__name__}: {problem}")] * len(batch)
                for (_, future), answer in zip(batch, answers, strict=True):
                    if not future.done():
                        future.set_result(answer)
        finally:
            line.draining -= 1  # in the same step that found nothing waiting: who comes next starts another

    def settle(self, requests: Sequence[Request], kind: str, closing: int | None = None) -> list[Answer]:
        """Have a batch answered, whatever happens to workers meanwhile. Blocks."""
        self._after_fork()
        closing = self._closing if closing is None else closing
        answers: dict[int, Answer] = {}
        places = range(len(requests))
        with self._places:
            try:
                self._ask(requests, places, answers, kind, closing)
                for place in places:
                    for fresh in (False, True):  # those that are left, each alone, and once more in a worker of its own
                        if place not in answers:
                            death = self._ask(requests, [place], answers, kind, closing, fresh=fresh)
                            if death and fresh:
                                answers[place] = _failed(death.code, death.message)
            except Unavailable as problem:
                answers = {place: _failed(Code.UNAVAILABLE, str(problem)) for place in places} | answers
        return [answers[place] for place in places]

    def _ask(
        self,
        requests: Sequence[Request],
        places: Sequence[int],
        answers: dict[int, Answer],
        kind: str,
        closing: int,
        fresh: bool = False,
    ) -> Died | None:
        """Ask one worker. If it dies over one that is known, that one has its answer; the others may be asked again."""
        if closing != self._closing:
            raise Unavailable("it was closed")
        worker = self._take(fresh)
        known = len(places) == 1
        longest = max(requests[place][1] for place in places)
        sound = False
        try:
            head = {"kind": kind, "most": self._settings.max_result_bytes}
            seconds = longest if known else 2 * longest  # an answer may wait for the next to go with it
            for answer in worker.ask(head, [requests[place][0] for place in places], seconds):
                answers[places[answer["at"]]] = answer
            sound = all(answers[place].get("code") != Code.MEMORY for place in places)
        except Died as death:
            if known and death.telling and closing == self._closing:
                answers[next(place for place in places if place not in answers)] = _failed(death.code, death.message)
            return death
        finally:
            self._give_back(worker, sound=sound, closing=closing)
        return None

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

    def _take(self, fresh: bool) -> Process:
        """A worker that lives; `fresh`, one that nobody used, so that what happens to it is its user's doing."""
        with self._lock:
            if self._idle:
                worker = self._idle.pop()
                if worker.alive and not fresh:
                    self._busy.add(worker)
                    return worker
                worker.kill()
        worker = Process(self._language, self._settings)
        with self._lock:
            self._busy.add(worker)
        return worker

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


def _failed(code: Code, message: str) -> Answer:
    return {"code": code, "message": message}
