"""Work on an instance from one pause to the next. What is asked of the outside goes on side by side, as the branches
do; each answer moves the instance. A move is put on record before a task begins and after it has ended, and where the
instance comes to rest; expressions between those are evaluated anew after a crash."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from ostinato.engine.listeners import wait_for_event
from ostinato.journeys.evaluating import Tools, do, platform_of
from ostinato.journeys.language import Definition
from ostinato.journeys.machine.advance import advance, timers
from ostinato.journeys.machine.decision import Compensate, Decision, Effect, Evaluate, Fired, Input, RunTask, TaskEnded
from ostinato.journeys.machine.model import Instance
from ostinato.journeys.machine.wanting import pending
from ostinato.journeys.moves import Perform
from ostinato.journeys.plugins import Problem, Request, Result
from ostinato.model import Json
from ostinato.when.instants import SECOND

_HELD = 50  # moves between two writes


class Refused(Exception):
    """The run is no longer ours: someone else moves it now."""


@dataclass(slots=True)
class Given:
    """An input from outside while the instance is at work here. `once`: of several with the same, one is taken. `done`
    says whether it was taken; None where that is not known: the work ended before it was on record."""

    input: Input
    request: Request | None
    perform: Perform | None
    once: str | None
    done: asyncio.Future[bool | None]

    def answer(self, taken: bool | None) -> None:
        if not self.done.done():
            self.done.set_result(taken)


# Put what was decided on record: the instance as it is there, or None where the run is no longer ours. The second says
# that there is nothing more to do.
Write = Callable[["Work", bool], Awaitable["Instance | None"]]


@dataclass(slots=True)
class Work:
    """What was decided since the last write."""

    decisions: list[Decision]
    perform: list[Perform]
    instead: Callable[[Problem], Decision] | None = None


class Segment:
    def __init__(
        self, tools: Tools, definition: Definition, instance: Instance, request: Request | None, write: Write
    ) -> None:
        self._tools = tools
        self._definition = definition
        self.instance = instance
        self._asked: tuple[Effect, ...] | None = None  # what the last decision asks for
        self._request = request
        self._platform: Mapping[str, Json] | None = None  # the same for all that one request begins
        self._write = write
        self._work = Work([], [])
        self._doing: dict[tuple[str, int], asyncio.Task[Input]] = {}
        self._began: set[tuple[str, int]] = set()
        self._inbox: list[Given] = []
        self._in_hand: Given | None = None
        self._once: set[str] = set()
        self._post = asyncio.Event()
        self._open = True

    def give(
        self, input: Input, request: Request | None, perform: Perform | None = None, once: str | None = None
    ) -> asyncio.Future[bool | None] | None:
        """Another input, with what is to be written together with it; None where it comes too late."""
        if not self._open:
            return None
        done: asyncio.Future[bool | None] = asyncio.get_running_loop().create_future()
        self._inbox.append(Given(input, request, perform, once, done))
        self._post.set()
        return done

    async def go(self, decided: Decision | None = None) -> Instance:
        """Until it rests or is over. `decided`: what has brought it here and is not on record yet."""
        if decided is not None:
            self._work.decisions.append(decided)
        try:
            while True:
                await self._take_what_came()
                wanted = self._wanted()
                if not wanted and not self._inbox:
                    self._open = False
                    await self._save(rests=True)
                    return self.instance
                await self._do(wanted)
                await self._wait()
        finally:
            self._open = False
            for task in self._doing.values():
                task.cancel()
            await asyncio.gather(*self._doing.values(), return_exceptions=True)
            for one in (self._in_hand, *self._inbox):
                if one is not None:
                    one.answer(None)

    async def _take_what_came(self) -> None:
        self._post.clear()  # what comes from now on is looked at the next time
        if set_timers := timers(self.instance):
            now = self._tools.now()
            due = sorted((at, purpose) for purpose, at in set_timers.items() if at <= now)
            for _, purpose in due:
                self._advance(Fired(purpose))
            if due:
                await self._save()
        for key in [key for key, task in self._doing.items() if task.done()]:
            await self._answered(self._doing.pop(key).result())
        for _ in range(len(self._inbox)):
            one = self._in_hand = self._inbox.pop(0)
            if one.once is not None and one.once in self._once:
                one.answer(None)
                continue
            accepted = self._advance(one.input)
            if accepted:
                self._request, self._platform = one.request, None
                self._work.perform = [] if one.perform is None else [one.perform]
                await self._save()
                self._once |= {one.once} if one.once is not None else set()
            one.answer(accepted)
        self._in_hand = None

    async def _answered(self, answer: Input) -> None:
        if not isinstance(answer, TaskEnded):
            self._advance(answer)
            return
        before, result = self.instance, answer.result
        now = self._tools.now()
        if isinstance(result, Result) and result.effects:
            await self._save()  # so that nothing but this is undone, should it not be possible
            self._work.perform = [one for one in result.effects if callable(one)]
            self._work.instead = lambda problem: advance(
                self._definition, before, [TaskEnded(answer.frame, answer.visit, problem)], now
            )
        if self._advance(answer):
            await self._save()
        self._work.perform, self._work.instead = [], None

    def _advance(self, input: Input) -> bool:
        decision = advance(self._definition, self.instance, [input], self._tools.now())
        if decision.refused and decision.instance == self.instance:
            return False
        self.instance, self._asked = decision.instance, decision.effects
        self._work.decisions.append(decision)
        return not decision.refused

    def _wanted(self) -> dict[tuple[str, int], Evaluate | RunTask]:
        effects = pending(self._definition, self.instance) if self._asked is None else self._asked
        return {(one.frame, one.visit): one for one in effects if not isinstance(one, Compensate)}

    async def _do(self, wanted: dict[tuple[str, int], Evaluate | RunTask]) -> None:
        """Begin what is asked for, and stop what is not any more."""
        for key in [key for key in self._doing if key not in wanted]:
            task = self._doing.pop(key)
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        fresh = {key: one for key, one in wanted.items() if key not in self._doing}
        if any(isinstance(one, RunTask) for one in fresh.values()) or len(self._work.decisions) > _HELD:
            await self._save()
        loop = asyncio.get_running_loop()
        for key, effect in fresh.items():
            if self._platform is None:
                self._platform = platform_of(self._tools, self._definition, self.instance, self._request)
            work = do(self._tools, self._definition, self.instance, effect, self._request, self._platform)
            self._doing[key] = task = loop.create_task(work)
            task.add_done_callback(self._came)

    def _came(self, task: asyncio.Task[Input]) -> None:
        self._post.set()

    async def _wait(self) -> None:
        following = min(timers(self.instance).values(), default=None)
        if following is None:
            await self._post.wait()
        else:
            await wait_for_event(self._post, max(0.0, (following - self._tools.now()) / SECOND))

    async def _save(self, *, rests: bool = False) -> None:
        if not self._work.decisions and not rests:
            return
        work, self._work = self._work, Work([], [])
        written = await self._write(work, rests)
        if written is None:
            raise Refused
        if written is not self.instance:
            self.instance, self._asked = written, None
