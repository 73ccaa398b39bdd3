"""What time it is to all nodes of a store.

A database server has a clock, and it rules. For the processes that share a file the machine's clock does, but it may
be set at any moment, by mistake or to mend one; so they go by an agreement that is in the store: how far the time is
ahead of the machine's ticks, which nobody can set. A small step of the clock is followed at once, by all. A large one
is followed when it has stood for a while: believed at once, it would let the coming hours be missed, or keep the dead
alive for as long as it goes back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass

import orjson

from ostinato.clock import SharedClock
from ostinato.engine.log import log
from ostinato.store.contract import Operation, Store, sql
from ostinato.when.instants import SECOND, Micros

SMALL: Micros = SECOND  # a step that is followed at once
PATIENCE: Micros = 300 * SECOND  # how long a larger one must stand
_NOISE: Micros = 2_000  # between two readings of one clock
_FRESH: Micros = 2 * SECOND  # how old a reading of a server's clock may be when something depends on it
_SLOW: Micros = SECOND  # an answer that takes longer tells nothing about the time


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far the time is ahead of the ticks that are counted from `origin`."""

    origin: str
    ahead: Micros


def agree(before: Agreement | None, here: Agreement, stood: Micros) -> Agreement:
    """What to go by: what was agreed on before, or what this machine's clock says now. `stood`: for how long it has
    said so."""
    if before is None or before.origin != here.origin:
        return here  # the first, or the first since the machine began anew
    step = abs(here.ahead - before.ahead)
    if step <= _NOISE or (step > SMALL and stood < PATIENCE):
        return before
    return here


class Timekeeper:
    """Keeps a node's clock with that of its store. `stepped` is called when it was moved by more than a little."""

    def __init__(self, store: Store, clock: SharedClock, stepped: Callable[[], None]) -> None:
        self._store = store
        self._clock = clock
        self._stepped = stepped
        self._server = False  # the store has a clock of its own
        self._alone: Agreement | None = None  # where ticks cannot be compared with those of others
        self._seen: tuple[Micros, Micros] | None = None  # a step that is not followed yet: to where, since when

    async def refresh(self) -> None:
        """Before something that depends on the time: look at a server's clock, if that was not done just now. A process
        that stood still for a while, or whose ticks were tampered with, does not know how late it is."""
        at = self._clock.measured_at
        if self._server and (at is None or not 0 <= self._clock.local.ticks() - at <= _FRESH):
            await self.measure()

    async def measure(self, *, looking: bool = False) -> None:
        """Look at the time that all go by. `looking`: without a part in what it is."""
        local = self._clock.local
        before = local.ticks()
        shared = await self._store.clock_probe()
        after = local.ticks()
        if shared is None:
            await self._follow(looking)
        elif not self._server or after - before < _SLOW:
            self._server = True
            self._set(shared - (before + after) // 2)

    async def _follow(self, looking: bool) -> None:
        local = self._clock.local
        ahead = local.now() - local.ticks()
        stood = self._stood(ahead)
        if local.origin is None:
            self._alone = agree(self._alone, Agreement("", ahead), stood)
            agreed = self._alone
        else:
            here = Agreement(local.origin, ahead)
            before = await self._store.read(lambda _: look())
            agreed = agree(before, here, stood)
            if agreed != before and not looking:
                agreed = await self._store.run(lambda _: settle(here, stood))
        if abs(agreed.ahead - ahead) <= SMALL:
            self._seen = None
        elif self._seen is None:
            self._seen = ahead, local.ticks()
            _tell(ahead - agreed.ahead)
        self._set(agreed.ahead)

    def _stood(self, ahead: Micros) -> Micros:
        """For how long the clock has been where it is."""
        if self._seen is None:
            return 0
        where, since = self._seen
        if abs(where - ahead) > SMALL:  # it has stepped again
            self._seen = ahead, self._clock.local.ticks()
            return 0
        return self._clock.local.ticks() - since

    def _set(self, ahead: Micros) -> None:
        first = self._clock.measured_at is None
        if abs(self._clock.set(ahead)) > SMALL and not first:
            log.warning("the time was set", action="time_set", now=self._clock.now())
            self._stepped()


def _tell(step: Micros) -> None:
    seconds = step / SECOND
    log.warning(
        f"this machine's clock differs by {seconds:+.1f} s from the time that all go by; if it stands for"
        f" {PATIENCE // SECOND} s, it is followed",
        action="clock_stepped",
        seconds=seconds,
    )


def look() -> Operation[Agreement | None]:
    rows = yield sql("shared_time")
    return Agreement(**orjson.loads(rows[0][0])) if rows else None


def settle(here: Agreement, stood: Micros) -> Operation[Agreement]:
    """Agree on the time with whoever else does, one after the other."""
    before = yield from look()
    agreed = agree(before, here, stood)
    if agreed != before:
        yield sql("set_meta", [("clock", orjson.dumps(asdict(agreed)).decode())])
    return agreed
