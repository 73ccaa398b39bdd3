"""Run an instance until it waits for a timer or an input, or ends. One such stretch is a segment.

Effects run concurrently, and each result advances the instance. Changes are committed before a task begins, after a
task has ended, and when the instance waits. Expressions between two commits are evaluated again after a crash.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from ostinato.engine.listeners import wait_for_event
from ostinato.journeys.language import Definition
from ostinato.journeys.machine.advance import advance, needed_timers
from ostinato.journeys.machine.decision import (
    Compensate,
    Decision,
    Effect,
    Evaluate,
    Input,
    RunTask,
    TaskEnded,
    TimerDue,
)
from ostinato.journeys.machine.model import Instance
from ostinato.journeys.machine.pending_effects import pending_effects
from ostinato.journeys.runtime.commit import ExtraWrite
from ostinato.journeys.runtime.perform_effects import JourneyRuntime, perform_effect, platform_bindings
from ostinato.journeys.task_kind import Request, TaskProblem, TaskResult
from ostinato.model import Json
from ostinato.when.instants import SECOND

_HELD = 50  # the most decisions between two writes


class InstanceClaimLost(Exception):
    """Raised if this node no longer has the claim on the run."""


@dataclass(slots=True)
class InboxItem:
    """An input that arrives while the instance runs on this node. If several items have the same `once`, only one of
    them is applied.

    The result of `done` is True if the input was applied, and False if it was refused. It is None if another item with
    the same `once` was applied, or if the segment ended before the commit, so that the result is unknown.
    """

    input: Input
    request: Request | None
    extra_writes: ExtraWrite | None
    once: str | None
    done: asyncio.Future[bool | None]

    def answer(self, taken: bool | None) -> None:
        if not self.done.done():
            self.done.set_result(taken)


# Stores a batch. Returns the stored instance, or None if the claim is lost. The second argument says whether the
# instance rests, which means that it waits or has ended.
WriteBatch = Callable[["DecisionBatch", bool], Awaitable["Instance | None"]]


@dataclass(slots=True)
class DecisionBatch:
    """The decisions of a segment that are not stored yet. The next write stores them as one `Change`, with these
    `extra_writes` and this `on_problem`."""

    decisions: list[Decision]
    extra_writes: list[ExtraWrite]
    on_problem: Callable[[TaskProblem], Decision] | None = None


class Segment:
    def __init__(
        self,
        runtime: JourneyRuntime,
        definition: Definition,
        instance: Instance,
        request: Request | None,
        write: WriteBatch,
    ) -> None:
        self._runtime = runtime
        self._definition = definition
        self.instance = instance
        self._effects: tuple[Effect, ...] | None = None  # of the last decision; None if they must be computed
        self._request = request
        self._platform: Mapping[str, Json] | None = None  # the same for all effects of one request
        self._write = write
        self._batch = DecisionBatch([], [])
        self._running: dict[tuple[str, int], asyncio.Task[Input]] = {}
        self._inbox: list[InboxItem] = []
        self._current_item: InboxItem | None = None
        self._once: set[str] = set()
        self._arrived = asyncio.Event()
        self._open = True

    def submit(
        self, input: Input, request: Request | None, perform: ExtraWrite | None = None, once: str | None = None
    ) -> asyncio.Future[bool | None] | None:
        """Queue an input. `perform` makes further writes in the transaction that applies the input. Return a future of
        the result (see `InboxItem`), or None if the segment is closed and the input was not queued."""
        if not self._open:
            return None
        done: asyncio.Future[bool | None] = asyncio.get_running_loop().create_future()
        self._inbox.append(InboxItem(input, request, perform, once, done))
        self._arrived.set()
        return done

    async def run(self, decision: Decision | None = None) -> Instance:
        """Run until the instance waits or ends, and return the instance. `decision` is a decision that is not stored
        yet; the next commit stores it. May raise `InstanceClaimLost`."""
        if decision is not None:
            self._batch.decisions.append(decision)
        try:
            while True:
                await self._apply_arrived()
                wanted = self._wanted_effects()
                if not wanted and not self._inbox:
                    self._open = False
                    await self._save(rests=True)
                    return self.instance
                await self._start_effects(wanted)
                await self._wait()
        finally:
            self._open = False
            for task in self._running.values():
                task.cancel()
            await asyncio.gather(*self._running.values(), return_exceptions=True)
            for item in (self._current_item, *self._inbox):
                if item is not None:
                    item.answer(None)

    async def _apply_arrived(self) -> None:
        """Apply due timers, results of effects and queued inputs."""
        self._arrived.clear()  # what arrives from now on is handled in the next pass
        if set_timers := needed_timers(self.instance):
            now = self._runtime.now()
            due = sorted((at, purpose) for purpose, at in set_timers.items() if at <= now)
            for _, purpose in due:
                self._advance(TimerDue(purpose))
            if due:
                await self._save()
        for key in [key for key, task in self._running.items() if task.done()]:
            await self._effect_done(self._running.pop(key).result())
        for _ in range(len(self._inbox)):
            item = self._current_item = self._inbox.pop(0)
            if item.once is not None and item.once in self._once:
                item.answer(None)
                continue
            accepted = self._advance(item.input)
            if accepted:
                self._request, self._platform = item.request, None
                self._batch.extra_writes = [] if item.extra_writes is None else [item.extra_writes]
                await self._save()
                self._once |= {item.once} if item.once is not None else set()
            item.answer(accepted)
        self._current_item = None

    async def _effect_done(self, answer: Input) -> None:
        if not isinstance(answer, TaskEnded):
            self._advance(answer)
            return
        before, result = self.instance, answer.result
        now = self._runtime.now()
        if isinstance(result, TaskResult) and result.effects:
            await self._save()  # so that `on_problem` replaces only this decision
            self._batch.extra_writes = [one for one in result.effects if callable(one)]
            self._batch.on_problem = lambda problem: advance(
                self._definition, before, [TaskEnded(answer.frame, answer.visit, problem)], now
            )
        if self._advance(answer):
            await self._save()
        self._batch.extra_writes, self._batch.on_problem = [], None

    def _advance(self, input: Input) -> bool:
        decision = advance(self._definition, self.instance, [input], self._runtime.now())
        if decision.refused and decision.instance == self.instance:
            return False
        self.instance, self._effects = decision.instance, decision.effects
        self._batch.decisions.append(decision)
        return not decision.refused

    def _wanted_effects(self) -> dict[tuple[str, int], Evaluate | RunTask]:
        effects = pending_effects(self._definition, self.instance) if self._effects is None else self._effects
        return {(one.frame, one.visit): one for one in effects if not isinstance(one, Compensate)}

    async def _start_effects(self, wanted: dict[tuple[str, int], Evaluate | RunTask]) -> None:
        """Start newly requested effects, and cancel those that are no longer requested."""
        for key in [key for key in self._running if key not in wanted]:
            task = self._running.pop(key)
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        fresh = {key: one for key, one in wanted.items() if key not in self._running}
        if any(isinstance(one, RunTask) for one in fresh.values()) or len(self._batch.decisions) > _HELD:
            await self._save()
        loop = asyncio.get_running_loop()
        for key, effect in fresh.items():
            if self._platform is None:
                self._platform = platform_bindings(self._runtime, self._definition, self.instance, self._request)
            work = perform_effect(self._runtime, self._definition, self.instance, effect, self._request, self._platform)
            self._running[key] = task = loop.create_task(work)
            task.add_done_callback(lambda _: self._arrived.set())

    async def _wait(self) -> None:
        following = min(needed_timers(self.instance).values(), default=None)
        if following is None:
            await self._arrived.wait()
        else:
            await wait_for_event(self._arrived, max(0.0, (following - self._runtime.now()) / SECOND))

    async def _save(self, *, rests: bool = False) -> None:
        if not self._batch.decisions and not rests:
            return
        work, self._batch = self._batch, DecisionBatch([], [])
        written = await self._write(work, rests)
        if written is None:
            raise InstanceClaimLost
        if written is not self.instance:
            self.instance, self._effects = written, None
