"""Guard HTTP calls with circuit breakers and bulkheads, and compute the pauses between retries. Each node keeps its
breakers and bulkheads in memory."""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field

from ostinato.backoff import backoff
from ostinato.journeys.language.blocks import Backoff, Breaker, Bulkhead, Resilience
from ostinato.when.instants import SECOND, Micros

_BASE_MS = 100
_MOST_MS = 30_000


class CallBlocked(Exception):
    """Raised if a call was not made, because its circuit breaker is open or too many calls are in progress."""


def backoff_seconds(policy: Backoff, attempt: int, chance: Callable[[], float] = random.random) -> float:
    """Return the pause after a failed attempt, in seconds. `attempt` counts from 1. `chance` returns the random number
    for the jitter."""
    base = next((ms for ms in (policy.base_delay_ms, policy.initial_delay_ms) if ms is not None), _BASE_MS)
    most = _MOST_MS if policy.max_delay_ms is None else policy.max_delay_ms
    grows = policy.kind == "exponential" or (policy.kind is None and policy.factor is not None)
    delay = backoff(attempt, base, most, max(1.0, policy.factor or 2.0) if grows else 1.0)
    return delay * (chance() if policy.jitter == "full" else 1) / 1000


def retry_condition(status: int | None) -> str | None:
    """Return the condition of `retryOn` that covers this HTTP status, such as `HTTP_5XX` for 503. Return None if no
    condition covers it. If there was no response, `status` is None, and the condition is `NETWORK_ERROR`."""
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
            raise CallBlocked("the circuit is open: too many of the last calls have failed")
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
class _Slots:
    settings: Bulkhead
    inside: int = 0
    waiting: deque[asyncio.Future[None]] = field(default_factory=deque)

    @asynccontextmanager
    async def hold(self) -> AsyncIterator[None]:
        if self.inside >= self.settings.most:
            if len(self.waiting) >= self.settings.queue:
                raise CallBlocked("too many such calls are under way")
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self.waiting.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():
                    self._pass_on()  # pass its slot to the next
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


class CallGuards:
    """The circuit breakers and bulkheads of a node. Calls share a breaker and a bulkhead if they have the same journey,
    the same policy, and the same origin of the URL."""

    def __init__(self) -> None:
        self._circuits: dict[tuple[str, ...], _Circuit] = {}
        self._slots: dict[tuple[str, ...], _Slots] = {}

    @asynccontextmanager
    async def attempt(
        self, policy: Resilience, key: tuple[str, ...], now: Micros
    ) -> AsyncIterator[Callable[[bool], None]]:
        """Guard one attempt of a call, as a context manager. If too many calls are in progress, wait in the queue of
        the bulkhead. Then yield a function by which the caller reports the outcome: True if the attempt failed, False
        if it succeeded. If the caller reports no outcome, the attempt counts as failed. Raise `CallBlocked` if the
        circuit breaker is open, or if the queue is full."""
        room = None if policy.bulkhead is None else self._slots_for(policy.bulkhead, key)
        async with room.hold() if room is not None else nullcontext():
            circuit = self._circuit_for(policy, key)
            if circuit is None:
                yield lambda failed: None
                return
            circuit.enter(now)
            outcome = [True]
            try:
                yield lambda failed: outcome.__setitem__(0, failed)
            finally:
                circuit.leave(outcome[0], now)

    def _circuit_for(self, policy: Resilience, key: tuple[str, ...]) -> _Circuit | None:
        settings = policy.circuit_breaker
        if settings is None or not settings.enabled:
            return None
        circuit = self._circuits.get(key)
        if circuit is None or circuit.settings != settings:
            circuit = self._circuits[key] = _Circuit(settings)
        return circuit

    def _slots_for(self, settings: Bulkhead, key: tuple[str, ...]) -> _Slots:
        slots = self._slots.get(key)
        if slots is None or slots.settings != settings:
            slots = self._slots[key] = _Slots(settings)
        return slots
