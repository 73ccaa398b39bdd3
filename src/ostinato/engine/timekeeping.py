"""Keep the same time on all nodes of a store.

On PostgreSQL, all nodes use the server's clock. On SQLite, the time is the sum of the machine's monotonic ticks, which
nobody can set, and an offset. The offset is stored, and all nodes use the stored offset. On a system where processes
cannot compare their ticks, each process keeps a separate offset in memory.

The machine also has a clock that people and programs can set. If this clock is set, the nodes change the offset, so
that the time equals the machine's clock again:

- If the time differs from the machine's clock by at most `SMALL`, the nodes change the offset at once.
- If the time differs by more, the clock may have been set by mistake. The nodes change the offset only after the
  difference has lasted for `PATIENCE`. A wrong step forward would make schedules miss hours. A wrong step back would
  keep expired leases alive.
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
    """An offset between a monotonic clock and the time. The time is the ticks of the clock plus `ahead`. `origin`
    identifies the moment from which the ticks count, such as one boot of the machine."""

    origin: str
    ahead: Micros


def agree(before: Agreement | None, here: Agreement, stood: Micros) -> Agreement:
    """Return the offset that all nodes must use: `before` or `here`. An offset is the difference between a time and the
    ticks of a monotonic clock.

    - `before`: the offset that the nodes have used until now; None if they have not agreed on one yet
    - `here`: the difference between the time of this machine's clock and the machine's ticks
    - `stood`: how long this machine's clock has had the offset `here`

    The rules are:

    - If `before` is None, return `here`.
    - If `before.origin` differs from `here.origin`, return `here`. The origin changes when the machine restarts.
    - If the two offsets are almost equal, return `before`.
    - If the two offsets differ by at most `SMALL`, return `here`.
    - If the two offsets differ by more, return `before` until `stood` reaches `PATIENCE`, and `here` from then on.
    """
    if before is None or before.origin != here.origin:
        return here  # the first node, or the first since the machine restarted
    step = abs(here.ahead - before.ahead)
    if step <= _NOISE or (step > SMALL and stood < PATIENCE):
        return before
    return here


class Timekeeper:
    """Keeps `clock`, the clock of a node, equal to the time that all nodes of `store` share. When the clock changes by
    more than `SMALL`, `stepped` is called. It is not called when the clock is set for the first time."""

    def __init__(self, store: Store, clock: SharedClock, stepped: Callable[[], None]) -> None:
        self._store = store
        self._clock = clock
        self._stepped = stepped
        self._server = False  # the store has its own clock
        self._alone: Agreement | None = None  # used if the ticks cannot be compared with those of other processes
        self._seen: tuple[Micros, Micros] | None = None  # a step that is not followed yet: its offset, and since when

    def beside(self, store: Store, stepped: Callable[[], None]) -> Timekeeper:
        """Return a second timekeeper, which sets the same clock. It is for another event loop: the loop on which
        `store` was opened."""
        keeper = Timekeeper(store, self._clock, stepped)
        keeper._server = self._server
        return keeper

    async def refresh(self) -> None:
        """Set the clock by the clock of the PostgreSQL server, unless this was done in the last two seconds. On SQLite,
        do nothing. Call this before work that depends on the time, because the clock may be wrong after the process was
        suspended."""
        at = self._clock.measured_at
        if self._server and (at is None or not 0 <= self._clock.local.ticks() - at <= _FRESH):
            await self.measure()

    async def measure(self, *, looking: bool = False) -> None:
        """Set the clock to the time that all nodes share. On PostgreSQL, this is the time of the server. If reading it
        took too long, keep the clock as it is, unless this was the first reading. On SQLite, the shared time is the
        ticks of the machine plus a stored offset. If the offset must change, store the new offset for the other nodes,
        unless `looking` is true."""
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
        """Return for how many microseconds the machine's clock has differed from the time that all nodes use. `ahead`
        is the current offset of the machine's clock: its time minus the monotonic ticks. A difference of up to `SMALL`
        is ignored. Return 0 in two cases:

        - At the last measurement, the nodes used the offset of the machine's clock.
        - The machine's clock has been set since the last measurement. The duration is counted from now on.
        """
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
    """In one transaction, choose the offset that all nodes must use, store it if it has changed, and return it. An
    offset is the difference between the time and the ticks of a monotonic clock. `agree` chooses between the stored
    offset and `here`, the offset of this machine's clock. `stood` is how long this machine's clock has had the offset
    `here`."""
    before = yield from look()
    agreed = agree(before, here, stood)
    if agreed != before:
        yield sql("set_meta", [("clock", orjson.dumps(asdict(agreed)).decode())])
    return agreed
