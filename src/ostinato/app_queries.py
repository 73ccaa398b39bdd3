"""Let an app read runs, logs, events, timers and nodes. Except for nodes, an app reads only what belongs to its
namespace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ostinato.engine.computing import Computing
from ostinato.engine.rows import read_event, whole_run
from ostinato.engine.run_queries import list_runs
from ostinato.errors import NotFound, OstinatoError, check_limit, did_you_mean
from ostinato.model import Event, Run, Status, Timer
from ostinato.run_views import LogLine, RunInfo, run_info
from ostinato.store.contract import Operation, Store, sql
from ostinato.when.instants import to_datetime

if TYPE_CHECKING:
    from ostinato.engine.membership import NodeInfo


class AppQueries:
    store: Store
    namespace: str
    computing: Computing

    async def get(self, id: str) -> RunInfo:
        """Return the newest attempt of a run. `id` is the run's id, or the `id` that its caller gave to `start`. Raises
        `NotFound` if there is no such run."""
        return run_info(await self._newest(id))

    async def attempts(self, id: str) -> list[RunInfo]:
        root = (await self._newest(id)).root_id

        def chain(_: int) -> Operation[list[Any]]:
            return (yield sql("chain", root=root))

        return [run_info(whole_run(row)) for row in await self.store.read(chain)]

    async def runs(
        self,
        *,
        name: str | None = None,
        status: str | None = None,
        parent: str | None = None,
        before: str | None = None,
        limit: int = 100,
        attempts: bool = False,
    ) -> list[RunInfo]:
        """Return runs, newest first. `before` is the `run_id` of the last run on the previous page. With `attempts`,
        the earlier attempts of each run are returned, too. Raises `OstinatoError` if the status is unknown, and
        `LimitError` if the limit is wrong."""
        if status is not None and status not in set(Status):
            hint = did_you_mean(str(status), list(Status)) or f"there are {', '.join(Status)}"
            raise OstinatoError(f"status {status!r} is unknown; {hint}")

        check_limit(limit)
        rows = await self.store.read(
            lambda _: list_runs(
                self.namespace,
                name=name,
                status=status,
                parent=parent,
                before=before,
                attempts=attempts,
                limit=min(limit, 1000),
            )
        )
        return await self.computing.each(self.namespace, (run_info(whole_run(row)) for row in rows))

    async def counts(self) -> dict[str, int]:
        """Return a dict from status to the number of attempts with this status."""

        def count_runs(_: int) -> Operation[list[Any]]:
            return (yield sql("count_runs", namespace=self.namespace))

        return {row[0]: int(row[1]) for row in await self.store.read(count_runs)}

    async def logs(self, id: str) -> list[LogLine]:
        """Return the log lines of all attempts of a run. Raises `NotFound` if there is no such run."""
        log_lines: list[LogLine] = []
        for attempt in await self.attempts(id):

            def lines(_: int, run: str = attempt.run_id) -> Operation[list[Any]]:
                return (yield sql("logs_of", run=run))

            log_lines += [LogLine(to_datetime(at), level, text) for _, at, level, text in await self.store.read(lines)]
        return log_lines

    async def events(
        self, *, after: int = 0, subject: str | None = None, limit: int = 100, newest: bool = False
    ) -> list[Event]:
        """Return events with a sequence number above `after`, in the order of their commits. With a `subject`, return
        only events about this subject. With `newest=True`, return the last events instead. Raises `OstinatoError` if
        `newest` is combined with `after` or `subject`."""
        if newest and (after or subject is not None):
            raise OstinatoError("newest returns the last events; leave out after and subject")
        check_limit(limit)

        def read_events(_: int) -> Operation[list[Any]]:
            if newest:
                return (yield sql("newest_events", namespace=self.namespace, limit=limit))[::-1]
            if subject is not None:
                return (yield sql("events_of", namespace=self.namespace, subject=subject, after=after, limit=limit))
            return (yield sql("namespace_events", namespace=self.namespace, after=after, limit=limit))

        return await self.computing.each(self.namespace, map(read_event, await self.store.read(read_events)))

    async def upcoming(self, limit: int = 100) -> list[Timer]:
        """Return the timers, soonest first."""
        check_limit(limit)

        def due(_: int) -> Operation[list[Any]]:
            return (yield sql("list_timers", namespace=self.namespace, after=0, limit=limit))

        return [Timer(*row) for row in await self.store.read(due)]

    async def last_event(self) -> int:
        """Return the sequence number of the newest event."""

        def last(_: int) -> Operation[int]:
            return int((yield sql("last_event"))[0][0])

        return await self.store.read(last)

    async def nodes(self) -> tuple[NodeInfo, ...]:
        from ostinato.engine.membership import list_nodes

        return await self.store.read(lambda _: list_nodes())

    async def _newest(self, id: str) -> Run:
        def newest(_: int) -> Operation[list[Any]]:
            rows = yield sql("run_of_chain", root=id)
            if rows:
                return rows
            first = yield sql("run_by_key", namespace=self.namespace, key=id)
            if not first:
                return []
            return (yield sql("run_of_chain", root=first[0][0]))

        rows = await self.store.read(newest)
        if not rows:
            raise NotFound(f"there is no run {id!r} in namespace {self.namespace!r}")
        run = whole_run(rows[0])
        if run.namespace != self.namespace:
            raise NotFound(f"there is no run {id!r} in namespace {self.namespace!r}")
        return run
