"""Stores that fail on purpose, and what must hold however they fail."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from ostinato.app import Ostinato
from ostinato.clock import Clock
from ostinato.errors import StoreUnavailable
from ostinato.store.contract import NO_EXTENSIONS, Extensions, Make, Operation, Rows, Statement, Store
from ostinato.when.instants import Micros

T = TypeVar("T")


class Dropped(Exception):
    """The connection was lost here, and the process with it."""


def _cut_off(operation: Operation[T], at: int, problem: Exception) -> Operation[T]:
    """The operation, whose connection is lost in the middle of its n-th statement; never for 0. As in the real stores
    it hears of it, and as there it does not matter what it makes of it."""
    rows: Rows | None = None
    while True:
        try:
            statement = next(operation) if rows is None else operation.send(rows)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        at -= 1
        if at == 0:
            with suppress(Exception):
                operation.throw(problem)
            operation.close()
            raise problem
        rows = yield statement


class FaultyStore(Store):
    """Passes operations on, and sometimes breaks, by chance: before the transaction (`lost`), after its commit, so that
    the caller hears of an error though it happened (`ambiguous`), or in the middle of it (`cut`). Like PostgresStore it
    tries again by itself. `trouble` keeps everybody waiting (`away`, as a server that is down), or only writers
    (`locked`, as a file that another process has locked), or refuses what is written (`full`, as a disk). With a
    `server` it has a clock of its own, as a database has."""

    def __init__(
        self,
        store: Store,
        dice: random.Random,
        lost: float = 0.0,
        ambiguous: float = 0.0,
        cut: float = 0.0,
        server: Clock | None = None,
    ) -> None:
        self._store = store
        self._dice = dice
        self.lost = lost
        self.ambiguous = ambiguous
        self.cut = cut
        self.trouble: Literal["", "away", "locked", "full"] = ""
        self._server = server
        self.faults = 0
        self.url = store.url

    async def open(self, extensions: Extensions = NO_EXTENSIONS) -> None:
        await self._store.open(extensions)

    async def close(self) -> None:
        await self._store.close()

    async def run(self, make: Make[T]) -> T:
        tries, cut = 0, Dropped()
        while True:
            await self._wait("away", "locked")
            if self.trouble == "full":
                raise StoreUnavailable("the disk is full")
            chance = self._dice.random()
            if chance < self.lost:
                self.faults += 1
                if self._dice.random() < 0.3:
                    raise StoreUnavailable("away for now")
                tries += 1
                continue
            at = self._dice.randrange(1, 6) if chance < self.lost + self.cut else 0
            try:
                result = await self._store.run(
                    lambda _, tries=tries, at=at: _cut_off(make(tries), at, cut)  # type: ignore[misc]
                )
            except Dropped as problem:
                if problem is not cut:  # another store's, around this one
                    raise
                self.faults += 1
                tries += 1
                continue
            if chance < self.lost + self.cut + self.ambiguous:
                self.faults += 1
                tries += 1
                continue  # it was applied; the caller does not know, and tries again
            return result

    async def read(self, make: Make[T]) -> T:
        await self._wait("away")
        return await self._store.read(make)

    async def _wait(self, *kinds: str) -> None:
        while self.trouble in kinds:
            await asyncio.sleep(0.1)

    def on_change(self, wake: Callable[[], None]) -> None:
        self._store.on_change(wake)

    async def clock_probe(self) -> Micros | None:
        await self._wait("away")
        return None if self._server is None else self._server.now()


class HesitantStore(Store):
    """Lets others go first, now and then: before a transaction, before a read, and before the answer to either. On a
    store that works in line nothing would ever come between two steps of one caller."""

    def __init__(self, store: Store, dice: random.Random) -> None:
        self._store = store
        self._dice = dice
        self.url = store.url

    async def _hesitate(self) -> None:
        for _ in range(self._dice.choice((0, 0, 1, 3))):
            await asyncio.sleep(0)

    async def open(self, extensions: Extensions = NO_EXTENSIONS) -> None:
        await self._store.open(extensions)

    async def close(self) -> None:
        await self._store.close()

    async def run(self, make: Make[T]) -> T:
        await self._hesitate()
        result = await self._store.run(make)
        await self._hesitate()
        return result

    async def read(self, make: Make[T]) -> T:
        await self._hesitate()
        result = await self._store.read(make)
        await self._hesitate()
        return result

    def on_change(self, wake: Callable[[], None]) -> None:
        self._store.on_change(wake)

    async def clock_probe(self) -> Micros | None:
        return None


class SharedStore(FaultyStore):
    """One store for several apps of a process, or for one after the other: opening and closing it is not theirs."""

    def __init__(self, store: Store, server: Clock | None = None) -> None:
        super().__init__(store, random.Random(0), server=server)

    async def open(self, extensions: Extensions = NO_EXTENSIONS) -> None: ...

    async def close(self) -> None: ...


class ForgetfulStore(Store):
    """Commits every transaction, loses the answer, and tries again, as a store does whose connection broke there."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.url = store.url

    async def open(self, extensions: Extensions = NO_EXTENSIONS) -> None:
        await self._store.open(extensions)

    async def close(self) -> None:
        await self._store.close()

    async def run(self, make: Make[T]) -> T:
        await self._store.run(make)
        return await self._store.run(lambda tries: make(tries + 1))

    async def read(self, make: Make[T]) -> T:
        return await self._store.read(make)

    def on_change(self, wake: Callable[[], None]) -> None:
        self._store.on_change(wake)

    async def clock_probe(self) -> Micros | None:
        return None


When = Literal["before the statement", "before the transaction", "after the commit"]


@dataclass(frozen=True)
class CrashPoint:
    """Before a statement or a transaction, or after a transaction: the n-th of them, from 1."""

    number: int
    when: When


class DroppingStore(Store):
    """Breaks for good at a point. Statements in `uncounted` are no points, nor are transactions of these alone."""

    def __init__(self, store: Store, point: CrashPoint, uncounted: frozenset[str] = frozenset()) -> None:
        self._store = store
        self._uncounted = uncounted
        self.point = point
        self.points = 0  # of this kind, that were met
        self.broken = False
        self.url = store.url

    async def open(self, extensions: Extensions = NO_EXTENSIONS) -> None:
        await self._store.open(extensions)

    async def close(self) -> None:
        await self._store.close()

    async def run(self, make: Make[T]) -> T:
        if self.broken:
            raise Dropped
        when = self.point.when
        begun = False

        def counted(tries: int) -> Operation[T]:
            nonlocal begun
            operation = make(tries)
            rows: Rows | None = None
            while True:
                try:
                    statement: Statement = next(operation) if rows is None else operation.send(rows)
                except StopIteration as done:
                    return done.value  # type: ignore[no-any-return]
                if statement.name not in self._uncounted:
                    if when == "before the statement" or (when == "before the transaction" and not begun):
                        self._pass_point()
                    begun = True
                rows = yield statement

        result = await self._store.run(counted)
        if begun and when == "after the commit":
            self._pass_point()
        return result

    def _pass_point(self) -> None:
        self.points += 1
        if self.points == self.point.number:
            self.broken = True
            raise Dropped

    async def read(self, make: Make[T]) -> T:
        if self.broken:
            raise Dropped
        return await self._store.read(make)

    def on_change(self, wake: Callable[[], None]) -> None: ...

    async def clock_probe(self) -> Micros | None:
        return None


class Ledger:
    """What the bodies did, outside of every store: which attempt of which run began, which ended, and which bodies
    of one key were there at once."""

    def __init__(self) -> None:
        self.began: list[tuple[str, int]] = []
        self.ended: list[tuple[str, int]] = []
        self.inside: dict[str, list[tuple[str, int]]] = {}
        self.overlaps: list[tuple[str, list[tuple[str, int]]]] = []

    def begin(self, ctx: Any, key: str | None = None) -> None:
        self.began.append((ctx.run_id, ctx.attempt))
        if key is not None:
            inside = self.inside.setdefault(key, [])
            inside.append((ctx.run_id, ctx.attempt))
            if len(inside) > 1:
                self.overlaps.append((key, list(inside)))

    def leave(self, ctx: Any, key: str) -> None:
        self.inside[key].remove((ctx.run_id, ctx.attempt))

    def end(self, ctx: Any) -> None:
        self.ended.append((ctx.run_id, ctx.attempt))


async def check_invariants(app: Ostinato, ledger: Ledger) -> None:
    """What must hold when everything is quiet, whatever happened on the way."""
    runs = await app.runs(limit=1000, attempts=True)
    events = await app.events(limit=100_000)
    handed_back = Counter((e.subject, e.data["attempt"]) for e in events if e.name == "run:handed_back")
    by_root: dict[str, list[Any]] = {}
    for run in runs:
        by_root.setdefault(run.id, []).append(run)
    for root, attempts in by_root.items():
        attempts.sort(key=lambda a: a.attempt)
        assert [a.attempt for a in attempts] == list(range(1, len(attempts) + 1)), root
        assert all(a.over for a in attempts), [(a.attempt, a.status, a.reason) for a in attempts]
        assert all(a.status in ("crashed", "failed", "timed_out") for a in attempts[:-1]), root
        # No attempt's body is executed twice: another execution is another attempt, with a crash on record between,
        # or it was handed back, which is on record, too.
        begun = Counter(n for r, n in ledger.began if r == root)
        assert all(count <= 1 + handed_back[root, n] for n, count in begun.items()), (root, begun, handed_back)
    assert len(ledger.ended) == len(set(ledger.ended))
    # Two bodies of one key at once only where the first was given up for dead and does not know it yet.
    given_up = {
        (a.id, a.attempt)
        for attempts in by_root.values()
        for a in attempts
        if a.status == "crashed" or a.reason in ("crash_loop", "deadline")
    }
    for key, inside in ledger.overlaps:
        assert any(one in given_up for one in inside), (key, inside)
    assert [e.seq for e in events] == sorted({e.seq for e in events})
    created = [e.subject for e in events if e.name == "run:created"]
    ran = sorted(root for root, attempts in by_root.items() if attempts[0].status not in ("skipped", "missed"))
    assert sorted(set(created) & set(ran)) == ran
    assert len(created) == len(set(created))
    assert set(created) <= set(by_root)
    finals = [
        e
        for e in events
        if e.name in ("run:succeeded", "run:failed", "run:cancelled", "run:terminated", "run:timed_out")
    ]
    assert sorted(e.subject for e in finals) == ran
    assert await app.check(repair=False) == []
