"""Define `ctx`, with which a running job reads about its run, stores checkpoints and progress, and writes log lines."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping
from datetime import datetime
from typing import Any

import orjson

from ostinato.clock import Clock
from ostinato.errors import OstinatoError
from ostinato.model import Run
from ostinato.when.instants import Micros, optional_datetime, to_datetime

LOG_LINES = 1000
LOG_LINE_LENGTH = 4096  # characters
LARGEST = 1 << 20  # bytes of an input, a result or a checkpoint
_CONTAINERS = (dict, list, tuple)
DEEPEST = 100  # levels of nesting in an input, a result or a checkpoint; the value that contains it adds more levels


def clean(text: str) -> str:
    """Replace characters that a store refuses: NUL and unpaired surrogates."""
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()


def to_json(value: Any, what: str) -> str:
    """Return a value as JSON text. Raises `OstinatoError` if the value is not JSON, too large or nested too deep.
    `what` names the value in the message, such as "the result"."""
    try:
        data = dump_json(value)
    except ValueError as problem:
        raise OstinatoError(f"{what} {problem}") from None
    if len(data) > LARGEST:
        raise OstinatoError(f"{what} is {len(data):,} bytes of JSON; at most {LARGEST:,} are kept")
    return data.decode()


def dump_json(value: Any) -> bytes:
    """Return a value as JSON, in bytes. Raises `ValueError` if the value is not JSON, or is nested too deep. The
    message begins with a verb, as in "is not JSON: …", so that the caller can put the name of the value in front."""
    try:
        data = orjson.dumps(value)
    except (TypeError, ValueError) as problem:
        if deeper_than(value):
            raise ValueError(f"is nested more than {DEEPEST} levels deep") from None
        raise ValueError(f"is not JSON: {problem}") from None
    if b"null" in data and not _finite(value):
        raise ValueError("is not JSON: it holds a number that is NaN or infinite")
    if data.count(b"[") + data.count(b"{") > DEEPEST and deeper_than(value):
        raise ValueError(f"is nested more than {DEEPEST} levels deep")
    return data


def _finite(value: Any) -> bool:
    """Return whether every number in a value is finite. orjson would silently write null for NaN and infinity."""
    left = [value]
    while left:
        part = left.pop()
        if isinstance(part, float) and not math.isfinite(part):
            return False
        if isinstance(part, dict):
            left += part.values()
        elif isinstance(part, list | tuple):
            left += part
    return True


def deeper_than(value: Any, most: int = DEEPEST) -> bool:
    """Return whether lists and objects are nested more than `most` levels deep."""
    level: Iterable[Any] = [value] if isinstance(value, _CONTAINERS) else []
    depth = 0
    while level:
        depth += 1
        if depth > most:
            return True
        below = {}  # by identity: a value that occurs several times is visited once
        for container in level:
            for inner in container.values() if isinstance(container, dict) else container:
                if isinstance(inner, _CONTAINERS):
                    below[id(inner)] = inner
        level = list(below.values())
    return False


class Occurrence:
    """What a run knows about its occurrence. An occurrence is one of the times at which a schedule starts a run. If no
    schedule started the run, `detail` is empty, `coalesced` is 0, and the other properties are None."""

    __slots__ = ()

    @property
    def detail(self) -> Mapping[str, Any]:
        """What is stored about the occurrence, as a dict from names to values. The other properties read their values
        from this dict."""
        return {}

    @property
    def schedule(self) -> str | None:
        """The name of the schedule that started this run. None if no schedule started it."""
        return self.detail.get("schedule")

    @property
    def origin(self) -> str | None:
        """The origin of the occurrence: `auto` for a time of the spec, or the id of a trigger or a backfill."""
        return self.detail.get("origin")

    @property
    def nominal(self) -> datetime | None:
        """The due time that the spec gives, before jitter is added. `due` is this time plus jitter."""
        return optional_datetime(self.detail.get("nominal"))

    @property
    def previous(self) -> datetime | None:
        """The beginning of the run's data window. The window ends at `nominal`, and the run can process the data of
        this window. Usually the window begins at the nominal time of the previous occurrence. If this run replaces
        earlier occurrences, the window begins where the window of the earliest of them would begin."""
        return optional_datetime(self.detail.get("previous"))

    @property
    def coalesced(self) -> int:
        """The number of earlier occurrences that this run replaces. Each of them was too late to get a run of its
        own."""
        return int(self.detail.get("coalesced", 0))

    @property
    def last_result(self) -> Any:
        """The result of the schedule's last successful run before this one, or None if there is no such run."""
        return self.detail.get("last_result")

    @property
    def last_failure(self) -> Any:
        """The latest failure of the schedule, as a dict with `run_id`, `status` and `reason`. None if the schedule has
        not failed since its last success."""
        return self.detail.get("last_failure")


class _Done:
    """An awaitable that completes immediately."""

    def __await__(self) -> Generator[None, None, None]:
        return
        yield


_DONE = _Done()


class _RunContext(Occurrence):
    __slots__ = ("_run", "clock")

    _run: Run
    clock: Clock

    def now(self) -> datetime:
        """Return the engine's time, in UTC."""
        return to_datetime(self.clock.now())

    @property
    def run_id(self) -> str:
        """The id of the run. It is the same for every attempt."""
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
        stored: dict[str, Any] = orjson.loads(self._run.detail) if self._run.detail else {}
        return stored


class Context(_RunContext):
    """The `ctx` argument of an async function. A plain function gets a `SyncContext`, which has the same methods."""

    __slots__ = ("_closed", "_dropped", "_lines", "_save", "last_sign", "saved")

    def __init__(self, run: Run, clock: Clock, save: Callable[[Run, str | None, str | None], Awaitable[None]]) -> None:
        self._run = run
        self.clock = clock
        self._save = save
        self._lines: list[tuple[Micros, str, str]] | None = None  # None until the first: most jobs log nothing
        self._dropped = 0
        self._closed = False
        self.last_sign: Micros = run.started or 0
        self.saved: Any = orjson.loads(run.checkpoint) if run.checkpoint else None

    async def checkpoint(self, value: Any) -> None:
        """Store a value for the next attempt, which finds it in `ctx.saved`. Returns when the value is committed."""
        text = to_json(value, "the checkpoint")
        self.sign()
        await self._save(self._run, text, None)
        self.saved = value

    async def progress(self, done: float, note: str = "") -> None:
        """Store the progress of the run: `done` is the part that is done, from 0 to 1."""
        self.sign()
        await self._save(self._run, None, to_json({"done": done, "note": note}, "the progress"))

    async def heartbeat(self) -> None:
        """Report that the job is alive. A job that declares `heartbeat=…` times out if its reports stop."""
        self.sign()

    def sign(self) -> None:
        self.last_sign = self.clock.now()

    def log(self, message: str, level: str = "info") -> Awaitable[None]:
        """Store a log line with the run. The first 1,000 lines of an attempt are stored, and the first 4,096 characters
        of each line. `await` is not needed."""
        if self._closed:
            return _DONE
        if self._lines is None:
            self._lines = []
        if len(self._lines) >= LOG_LINES:
            self._dropped += 1
        else:
            self._lines.append((self.clock.now(), clean(level), clean(str(message))[:LOG_LINE_LENGTH]))
        return _DONE

    def close(self) -> None:
        """Ignore log lines from now on, because tasks and threads may still write them after the attempt's end."""
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


class SyncContext(_RunContext):
    """The `ctx` argument of a plain function: the methods of `Context`, each of which blocks until it is done."""

    def __init__(self, context: Context, loop: asyncio.AbstractEventLoop) -> None:
        self._run = context._run
        self.clock = context.clock
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
