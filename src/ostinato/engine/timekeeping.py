"""Keep the same time on all nodes of a store.

On PostgreSQL, all nodes use the server's clock. On SQLite, the time is the sum of a monotonic clock and an offset. The
offset is stored, and all nodes use it. A monotonic clock cannot be set.

If somebody sets the machine's clock, the offset follows. A change of at most `SMALL` is followed at once. A larger
change may be a mistake, so it is followed only after `PATIENCE`. A wrong step forward would make schedules miss hours.
A wrong step back would keep expired leases alive.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass

import orjson

from ostinato.clock import SharedClock
from ostinato.engine.log import log
from ostinato.store.contract import Operation, Store, sql
from ostinato.when.instants import SECOND, Micros

SMALL: Micros = SECOND  # steps up to this are followed at once
PATIENCE: Micros = 300 * SECOND  # how long a larger step must last before it is followed
_NOISE: Micros = 2_000  # two readings of one clock may differ by this much
_FRESH: Micros = 2 * SECOND  # how old a reading of the server's clock may be when something depends on it
_SLOW: Micros = SECOND  # a reading that takes longer is too inaccurate


@dataclass(frozen=True, slots=True)
class Agreement:
    """An offset that turns the ticks of a monotonic clock into the time. The time is the ticks plus `ahead`. `origin`
    identifies the moment from which the ticks count, such as one boot of the machine."""

    origin: str
    ahead: Micros


def agree(before: Agreement | None, here: Agreement, stood: Micros) -> Agreement:
    """Return the clock offset that all nodes must use: `before` or `here`.

    - `before`: the offset that was used until now, or None.
    - `here`: the present offset of the machine's clock.
    - `stood`: how long the machine's clock has had its present offset.

    If the two offsets differ by more than `SMALL`, return `before` until `stood` reaches `PATIENCE`.
    """
    if before is None or before.origin != here.origin:
        return here  # the first node, or the first since the machine restarted
    step = abs(here.ahead - before.ahead)
    if step <= _NOISE or (step > SMALL and stood < PATIENCE):
        return before
    return here


class Timekeeper:
    """Keeps a node's clock equal to the clock of its store. `stepped` is called when the node's clock was changed by
    more than `SMALL`."""

    def __init__(self, store: Store, clock: SharedClock, stepped: Callable[[], None]) -> None:
        self._store = store
        self._clock = clock
        self._stepped = stepped
        self._server = False  # the store has its own clock
        self._alone: Agreement | None = None  # used if the ticks cannot be compared with those of other processes
        self._seen: tuple[Micros, Micros] | None = None  # a step that is not followed yet: its offset, and since when

    def beside(self, store: Store, stepped: Callable[[], None]) -> Timekeeper:
        """Return a second timekeeper for the same clock, for use in another event loop. `store` must belong to that
        event loop."""
        keeper = Timekeeper(store, self._clock, stepped)
        keeper._server = self._server
        return keeper

    async def refresh(self) -> None:
        """Measure the server's clock, unless it was measured in the last two seconds. Call this before work that
        depends on the time: after a process was suspended, its own time may be wrong."""
        at = self._clock.measured_at
        if self._server and (at is None or not 0 <= self._clock.local.ticks() - at <= _FRESH):
            await self.measure()

    async def measure(self, *, looking: bool = False) -> None:
        """Set the clock to the time that all nodes share. If this changes the shared offset, the new offset is stored.
        With `looking=True`, nothing is stored."""
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
            _log_step(ahead - agreed.ahead)
        self._set(agreed.ahead)

    def _stood(self, ahead: Micros) -> Micros:
        """Return for how long the machine's clock has had this offset."""
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


def _log_step(step: Micros) -> None:
    seconds = step / SECOND
    log.warning(
        f"this machine's clock differs by {seconds:+.1f} s from the time that all nodes use; if it still does in"
        f" {PATIENCE // SECOND} s, they follow it",
        action="clock_stepped",
        seconds=seconds,
    )


def look() -> Operation[Agreement | None]:
    rows = yield sql("shared_time")
    return Agreement(**orjson.loads(rows[0][0])) if rows else None


def settle(here: Agreement, stood: Micros) -> Operation[Agreement]:
    """Decide which offset to use, store it, and return it. This is one transaction, so all nodes use the same
    offset."""
    before = yield from look()
    agreed = agree(before, here, stood)
    if agreed != before:
        yield sql("set_meta", [("clock", orjson.dumps(asdict(agreed)).decode())])
    return agreed
