"""Run a real engine on a real store in a test, on virtual time."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, TypeVar

from ostinato.app import Ostinato, RunHandle
from ostinato.engine.http.egress import Egress
from ostinato.functions.views import StepInfo
from ostinato.model import read_length
from ostinato.run_views import RunInfo
from ostinato.schedules.views import OccurrenceInfo
from ostinato.store.contract import NO_EXTENSIONS, Extensions, Make, Store
from ostinato.store.sqlite import SqliteStore
from ostinato.store.urls import open_url
from ostinato.testing.egress import VirtualTimeEgress
from ostinato.testing.virtual_time import VirtualClock, VirtualLoop
from ostinato.when.instants import SECOND, Micros, format_instant, read_instant, to_datetime

T = TypeVar("T")
_PAGE = 1000  # rows that one query returns
_FOREVER = 100 * 366 * 86_400  # a lease that does not expire within a simulated century


class World:
    """A node in a test. Declare jobs on `world.app`; the node starts with the first call that needs it."""

    def __init__(self, store: Store | str | None = None, *, clock: VirtualClock | None = None, **settings: Any) -> None:
        self.clock = clock or VirtualClock()
        self._folder = tempfile.TemporaryDirectory(prefix="ostinato-") if store is None else None
        if store is None:
            assert self._folder is not None
            store = SqliteStore(str(Path(self._folder.name, "world.db")), inline=True, durable=False)
        elif isinstance(store, str):
            store = open_url(store, inline=True)
        self._store: Store = store if isinstance(store, SqliteStore) else _FrozenTimeStore(store)
        egress = settings.pop("egress", None)
        if not isinstance(egress, Egress):
            egress = Egress(egress)
        if type(egress) is Egress:  # another class belongs to the test, and may wait on the clock
            egress = VirtualTimeEgress(egress)
        self._settings = {"lease": _FOREVER, **settings, "egress": egress}
        self.app = Ostinato(self._store, clock=self.clock, **self._settings)
        self._up = False

    @property
    def now(self) -> datetime:
        return to_datetime(self.clock.now())

    # Running

    async def up(self) -> None:
        """Start the node if it is down. Raises RuntimeError if the event loop does not use this world's clock."""
        self._check_loop()
        if not self._up:
            await self.app.__aenter__()
            self._up = True

    async def down(self) -> None:
        """Stop the node gracefully."""
        if self._up:
            self._up = False
            await self.app.__aexit__()

    async def crash(self) -> None:
        """Stop the node as a crash would: nothing is finished and nothing is written."""
        if self._up:
            self._up = False
            engine = self.app.engine
            await engine.kill()
            await self.app._close_after_crash()

    async def close(self) -> None:
        await self.down()
        await self._store.close()
        if self._folder is not None:
            self._folder.cleanup()

    # Time

    async def advance(self, length: str | int | float) -> None:
        """Let exactly this much virtual time pass. Everything that becomes due in that time happens. Raises ValueError
        if `length` is negative."""
        micros = read_length(length, "length")
        if micros < 0:
            raise ValueError(f"length {length!r} is negative; virtual time only goes forward")
        await self.up()
        await asyncio.sleep(micros / SECOND)
        await self.settle()

    async def advance_to(self, moment: str | datetime) -> None:
        """Let virtual time pass until `moment`. Everything that becomes due until then happens. Raises ValueError if
        `moment` is in the past."""
        instant, now = read_instant(moment, "moment"), self.clock.now()
        if instant < now:
            raise ValueError(
                f"moment {moment} is over: it is {format_instant(now)} already; take this time or a later one"
            )
        await self.up()
        await self._sleep_to(instant)
        await self.settle()

    async def settle(self) -> None:
        """Wait until nothing is left to do at the present virtual time. No virtual time passes."""
        await self._check_loop().settle()

    async def outage(self, first: str | datetime, last: str | datetime) -> None:
        """Stop the node from `first` until `last`, and then start it again."""
        end = read_instant(last, "last")
        if end < read_instant(first, "first"):
            raise ValueError(f"the outage ends at {last}, before it begins at {first}")
        await self.advance_to(first)
        await self.down()
        await self._sleep_to(end)
        await self.up()
        await self.settle()

    def _check_loop(self) -> VirtualLoop:
        """Return the running loop. Raises RuntimeError if the loop does not use this world's clock."""
        loop = asyncio.get_running_loop()
        if isinstance(loop, VirtualLoop) and loop.clock is self.clock:
            return loop
        clock = "uses real time" if not isinstance(loop, VirtualLoop) else "uses another world's clock"
        raise RuntimeError(
            f"a world has its own clock, and this event loop ({type(loop).__name__}) {clock}, so nothing would "
            "ever become due. In pytest, use the fixture `world` in the test itself: Ostinato then runs the test and "
            "its async fixtures on virtual time, whatever plugin is installed; a fixture that creates a "
            "World must be a plain function named `world`. Elsewhere use `ostinato.testing."
            "run_virtual(main(), world.clock)`"
        )

    async def _sleep_to(self, instant: Micros) -> None:
        await asyncio.sleep(max(0, instant - self.clock.now()) / SECOND)

    # Runs

    async def start(
        self, job: str | Callable[..., Any], input: Mapping[str, Any] | None = None, **options: Any
    ) -> RunHandle[Any]:
        await self.up()
        return await self.app.start(job, input, **options)

    async def runs(self, name: str | None = None, **filters: Any) -> list[RunInfo]:
        """Return runs, oldest first. `filters` are those of `app.runs`, apart from `limit`."""
        await self.up()
        runs: list[RunInfo] = []
        before = filters.pop("before", None)
        while page := await self.app.runs(name=name, before=before, limit=_PAGE, **filters):
            runs += page
            before = page[-1].run_id
        return runs[::-1]

    async def outcomes(self, name: str | None = None) -> list[str]:
        """Return the status and reason of a job's runs, oldest first: `["succeeded", "failed: ValueError: no"]`."""
        return [f"{r.status}: {r.reason}" if r.reason else r.status for r in await self.runs(name)]

    async def occurrences(self, schedule: str) -> list[str]:
        """Return status and reason of a schedule's occurrences, oldest first: `["succeeded", "skipped: overlap"]`."""
        await self.up()
        history: list[OccurrenceInfo] = []
        while page := await self.app.schedules.history(
            schedule, before=history[-1].cursor if history else None, limit=_PAGE
        ):
            history += page
        return [f"{one.status}: {one.reason}" if one.reason else one.status for one in reversed(history)]

    async def replay(self, run: str) -> Sequence[StepInfo]:
        """Replay the record of a run with the present code of its function. The replay has no effects. Return the
        operations that the code awaits after the last recorded result. Raises `Changed` if the code does not fit the
        record."""
        return await self.app.functions.replay(run)

    async def expect(self, name: str, *outcomes: str) -> None:
        """Assert the exact outcomes of a job's runs, oldest first. Patterns such as `"failed: *"` are allowed."""
        actual = await self.outcomes(name)
        if len(actual) == len(outcomes) and all(map(fnmatchcase, actual, outcomes)):
            return
        expected_lines = "".join(f"\n  {one}" for one in outcomes) or " none"
        lines = "".join(f"\n  {one}" for one in actual) or " none"
        raise AssertionError(
            f"runs of {name!r} at {self.now:%Y-%m-%d %H:%M:%S}: expected{expected_lines}\nfound{lines}"
        )


class _FrozenTimeStore(Store):
    """Wraps a store that needs real time, such as PostgreSQL. Virtual time stops during each call of the store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.url = store.url

    async def _frozen(self, call: Callable[[], Any]) -> Any:
        loop = asyncio.get_running_loop()
        if not isinstance(loop, VirtualLoop):
            return await call()
        with loop.freeze_time():
            return await call()

    async def open(self, extensions: Extensions = NO_EXTENSIONS) -> None:
        await self._frozen(lambda: self._store.open(extensions))

    async def close(self) -> None:
        await self._frozen(self._store.close)

    async def run(self, make: Make[T]) -> T:
        return await self._frozen(lambda: self._store.run(make))  # type: ignore[no-any-return]

    async def read(self, make: Make[T]) -> T:
        return await self._frozen(lambda: self._store.read(make))  # type: ignore[no-any-return]

    def on_change(self, wake: Callable[[], None]) -> None:
        """Do nothing, because no other process changes this store."""

    async def clock_probe(self) -> Micros | None:
        return None
