"""Trying again, and not trying at all: backoff, circuit breakers and bulkheads. Breakers and bulkheads are this node's
own and live in its memory: each node finds out for itself."""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field

from ostinato.journeys.language.blocks import Backoff, Breaker, Bulkhead, Resilience
from ostinato.when.instants import SECOND, Micros

_BASE_MS = 100
_MOST_MS = 30_000


class NotMade(Exception):
    """A call that was not made: its circuit is open, or too many others are under way."""


def pause(backoff: Backoff, attempt: int, chance: Callable[[], float] = random.random) -> float:
    """Seconds to wait after an attempt, counted from 1, that failed."""
    base = next((one for one in (backoff.base_delay_ms, backoff.initial_delay_ms) if one is not None), _BASE_MS)
    most = _MOST_MS if backoff.max_delay_ms is None else backoff.max_delay_ms
    grows = backoff.kind == "exponential" or (backoff.kind is None and backoff.factor is not None)
    growth = max(1.0, backoff.factor or 2.0) ** min(attempt - 1, 64) if grows else 1.0
    delay = min(base * growth, most)
    return delay * (chance() if backoff.jitter == "full" else 1) / 1000


def condition(status: int | None) -> str | None:
    """What a policy calls an answer, or with None its absence; None where there is nothing to try again."""
    if status is None:
        return "NETWORK_ERROR"
    return "HTTP_5XX" if status >= 500 else "HTTP_429" if status == 429 else None


@dataclass(slots=True)
class _Circuit:
    settings: Breaker
    failed: deque[bool] = field(default_factory=deque)  # of the last calls, oldest first
    opened: Micros | None = None
    probing: bool = False

    def enter(self, now: Micros) -> None:
        if self.opened is None:
            return
        if self.probing or now - self.opened < self.settings.open_s * SECOND:
            raise NotMade("the circuit is open: too many of the last calls have failed")
        self.probing = True

    def leave(self, failed: bool, now: Micros) -> None:
        if self.probing:  # one call decides
            self.probing = False
            self.opened = now if failed else None
            self.failed.clear()
            return
        self.failed.append(failed)
        if len(self.failed) > self.settings.window:
            self.failed.popleft()
        full = len(self.failed) == self.settings.window
        if full and sum(self.failed) / self.settings.window >= self.settings.failure_rate:
            self.opened = now


@dataclass(slots=True)
class _Room:
    settings: Bulkhead
    inside: int = 0
    waiting: deque[asyncio.Future[None]] = field(default_factory=deque)

    @asynccontextmanager
    async def entered(self) -> AsyncIterator[None]:
        if self.inside >= self.settings.most:
            if len(self.waiting) >= self.settings.queue:
                raise NotMade("too many such calls are under way")
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self.waiting.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():
                    self._pass_on()  # its turn had come, and goes to the next
                else:
                    self.waiting.remove(turn)
                raise
        else:
            self.inside += 1
        try:
            yield
        finally:
            self._pass_on()

    def _pass_on(self) -> None:
        while self.waiting:
            turn = self.waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self.inside -= 1


class Guards:
    """The breakers and bulkheads of a node, by the journey's name, its policy and the origin that is called."""

    def __init__(self) -> None:
        self._circuits: dict[tuple[str, ...], _Circuit] = {}
        self._rooms: dict[tuple[str, ...], _Room] = {}

    @asynccontextmanager
    async def around(
        self, policy: Resilience, key: tuple[str, ...], now: Micros
    ) -> AsyncIterator[Callable[[bool], None]]:
        """Around one attempt. What is yielded is told whether it failed; one that is not told of has failed."""
        room = None if policy.bulkhead is None else self._room(policy.bulkhead, key)
        async with room.entered() if room is not None else nullcontext():
            circuit = self._circuit(policy, key)
            if circuit is None:
                yield lambda failed: None
                return
            circuit.enter(now)
            outcome = [True]
            try:
                yield lambda failed: outcome.__setitem__(0, failed)
            finally:
                circuit.leave(outcome[0], now)

    def _circuit(self, policy: Resilience, key: tuple[str, ...]) -> _Circuit | None:
        settings = policy.circuit_breaker
        if settings is None or not settings.enabled:
            return None
        found = self._circuits.get(key)
        if found is None or found.settings != settings:
            found = self._circuits[key] = _Circuit(settings)
        return found

    def _room(self, settings: Bulkhead, key: tuple[str, ...]) -> _Room:
        found = self._rooms.get(key)
        if found is None or found.settings != settings:
            found = self._rooms[key] = _Room(settings)
        return found
