"""What a running function can know and say: its run, what it saved before, progress, log lines, signs of life."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Generator, Mapping
from datetime import datetime
from typing import Any

import orjson

from ostinato.clock import Clock
from ostinato.errors import OstinatoError
from ostinato.model import Run
from ostinato.when.instants import Micros, to_datetime

LOG_LINES = 1000
LOG_BYTES = 4096
LARGEST = 1 << 20  # bytes of an input, a result or a checkpoint
DEEPEST = 100  # levels of one: it is written again within others, and must not be too deep for that


def clean(text: str) -> str:
    """A text that every store takes: no NUL, no half of a surrogate pair."""
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()


def to_json(value: Any, what: str) -> str:
    """JSON for the store; what cannot be JSON, or is too large or too deep, is refused with its reason."""
    try:
        data = written(value)
    except ValueError as problem:
        raise OstinatoError(f"{what} {problem}") from None
    if len(data) > LARGEST:
        raise OstinatoError(f"{what} is {len(data):,} bytes of JSON; at most {LARGEST:,} are kept")
    return data.decode()


def written(value: Any) -> bytes:
    """JSON of what comes in, by whatever door. Raises `ValueError` with why it cannot be kept: "is not JSON: …"."""
    try:
        data = orjson.dumps(value)
    except (TypeError, ValueError) as problem:
        if deeper_than(value):
            raise ValueError(f"is nested more than {DEEPEST} levels deep") from None
        raise ValueError(f"is not JSON: {problem}") from None
    if b"null" in data and not _finite(value):
        raise ValueError("is not JSON: it holds a number that is none, NaN or infinite")
    if data.count(b"[") + data.count(b"{") > DEEPEST and deeper_than(value):
        raise ValueError(f"is nested more than {DEEPEST} levels deep")
    return data


def _finite(value: Any) -> bool:
    """Whether every number in it is one. What writes JSON would make null of another without a word."""
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, float) and not math.isfinite(one):
            return False
        if isinstance(one, dict):
            left += one.values()
        elif isinstance(one, list | tuple):
            left += one
    return True


def deeper_than(value: Any, most: int = DEEPEST) -> bool:
    """Whether lists and objects stand within each other more than so many levels deep."""
    level, depth = [value], 0
    while level := list({id(one): one for one in level if isinstance(one, dict | list | tuple)}.values()):
        depth += 1
        if depth > most:
            return True
        level = [inner for one in level for inner in (one.values() if isinstance(one, dict) else one)]
    return False


def _moment(instant: Micros | None) -> datetime | None:
    return None if instant is None else to_datetime(instant)


class Occurrence:
    """What a run of a schedule can know about its due time; nothing of it for a run that nobody scheduled."""

    __slots__ = ()

    @property
    def detail(self) -> Mapping[str, Any]:
        """All of it, as it is stored."""
        return {}

    @property
    def schedule(self) -> str | None:
        """The name of the schedule that started this run, if one did."""
        return self.detail.get("schedule")

    @property
    def origin(self) -> str | None:
        """What of the schedule brought it: `auto`, or the id of a trigger or a backfill."""
        return self.detail.get("origin")

    @property
    def nominal(self) -> datetime | None:
        """The time of the spec that this run is for; `due` is that time with its jitter."""
        return _moment(self.detail.get("nominal"))

    @property
    def previous(self) -> datetime | None:
        """The nominal time before: `previous` to `nominal` is the run's data window. Where it stands for others that
        came too late, the window begins before the first of them."""
        return _moment(self.detail.get("previous"))

    @property
    def coalesced(self) -> int:
        """How many earlier times, which came too late, this run stands for."""
        return int(self.detail.get("coalesced", 0))

    @property
    def last_result(self) -> Any:
        """What the schedule's last successful run before this one returned."""
        return self.detail.get("last_result")

    @property
    def last_failure(self) -> Any:
        """How the schedule's last run before this one failed, if none has succeeded since."""
        return self.detail.get("last_failure")


class _Done:
    """An awaitable that is done."""

    def __await__(self) -> Generator[None, None, None]:
        return
        yield


_DONE = _Done()


class Context(Occurrence):
    """Handed to a function that has a parameter `ctx`. Its methods work in async functions; in plain ones,
    which run in a thread, the same names block until it is done."""

    __slots__ = ("_closed", "_dropped", "_lines", "_run", "_save", "clock", "last_sign", "saved")

    def __init__(self, run: Run, clock: Clock, save: Callable[[Run, str | None, str | None], Awaitable[None]]) -> None:
        self._run = run
        self.clock = clock
        self._save = save
        self._lines: list[tuple[Micros, str, str]] | None = None  # most bodies say nothing
        self._dropped = 0
        self._closed = False
        self.last_sign: Micros = run.started or 0
        self.saved: Any = orjson.loads(run.checkpoint) if run.checkpoint else None

    def now(self) -> datetime:
        """The engine's time, in UTC."""
        return to_datetime(self.clock.now())

    @property
    def run_id(self) -> str:
        """The id of the chain: the same for every attempt."""
        return self._run.root_id

    @property
    def attempt(self) -> int:
        return self._run.number

    @property
    def name(self) -> str:
        return self._run.name

    @property
    def due(self) -> datetime:
        """When this run was due, in UTC."""
        return to_datetime(self._run.due)

    @property
    def namespace(self) -> str:
        return self._run.namespace

    @property
    def detail(self) -> Mapping[str, Any]:
        found: dict[str, Any] = orjson.loads(self._run.detail) if self._run.detail else {}
        return found

    async def checkpoint(self, value: Any) -> None:
        """Keep a value; when this returns it is durable, and the next attempt finds it in `ctx.saved`."""
        text = to_json(value, "the checkpoint")
        self.sign()
        await self._save(self._run, text, None)
        self.saved = value

    async def progress(self, done: float, note: str = "") -> None:
        """How far it is, from 0 to 1."""
        self.sign()
        await self._save(self._run, None, to_json({"done": done, "note": note}, "the progress"))

    async def heartbeat(self) -> None:
        """A sign of life, for jobs that declare `heartbeat=…`."""
        self.sign()

    def sign(self) -> None:
        self.last_sign = self.clock.now()

    def log(self, message: str, level: str = "info") -> Awaitable[None]:
        """Keep a line with the run: the first thousand, each up to 4 KiB. There is nothing to wait for; `await` is
        allowed, because the other methods need it."""
        if self._closed:
            return _DONE
        if self._lines is None:
            self._lines = []
        if len(self._lines) >= LOG_LINES:
            self._dropped += 1
        else:
            self._lines.append((self.clock.now(), clean(level), clean(str(message))[:LOG_BYTES]))
        return _DONE

    def close(self) -> None:
        """The attempt is over: what something that it began still logs is not kept."""
        self._closed = True

    @property
    def has_lines(self) -> bool:
        return bool(self._lines)

    def lines(self) -> list[tuple[str, int, Micros, str, str]]:
        rows = [(self._run.id, n, at, level, text) for n, (at, level, text) in enumerate(self._lines or ())]
        if self._dropped:
            at = self.clock.now()
            rows.append((self._run.id, LOG_LINES, at, "warning", f"{self._dropped} more lines were not kept"))
        return rows


class SyncContext(Occurrence):
    """What a plain function sees as `ctx`: the same names as `Context`, each call blocking until it is done."""

    def __init__(self, context: Context, loop: asyncio.AbstractEventLoop) -> None:
        self._context = context
        self._loop = loop

    def checkpoint(self, value: Any) -> None:
        asyncio.run_coroutine_threadsafe(self._context.checkpoint(value), self._loop).result()

    def progress(self, done: float, note: str = "") -> None:
        asyncio.run_coroutine_threadsafe(self._context.progress(done, note), self._loop).result()

    def heartbeat(self) -> None:
        asyncio.run_coroutine_threadsafe(self._context.heartbeat(), self._loop).result()

    def log(self, message: str, level: str = "info") -> None:
        self._context.log(message, level)

    @property
    def saved(self) -> Any:
        return self._context.saved

    @property
    def run_id(self) -> str:
        """The id of the chain: the same for every attempt."""
        return self._context.run_id

    @property
    def attempt(self) -> int:
        return self._context.attempt

    @property
    def name(self) -> str:
        return self._context.name

    @property
    def due(self) -> datetime:
        """When this run was due, in UTC."""
        return self._context.due

    @property
    def namespace(self) -> str:
        return self._context.namespace

    @property
    def detail(self) -> Mapping[str, Any]:
        return self._context.detail

    def now(self) -> datetime:
        """The engine's time, in UTC."""
        return self._context.now()
