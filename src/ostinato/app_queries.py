"""Let an app read runs, logs, events, timers and nodes. An app reads only its own namespace, with two exceptions:
`nodes` and `last_event` read the whole store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ostinato.engine.computing import Computing
from ostinato.engine.rows import read_event, whole_run
from ostinato.engine.run_queries import list_runs
from ostinato.errors import NotFound, OstinatoError, check_limit, did_you_mean
from ostinato.model import Event, Run, Status, StatusName, Timer
from ostinato.run_views import LogLine, RunInfo, run_info
from ostinato.store.contract import Operation, Row, Store, single, sql
from ostinato.when.instants import to_datetime

if TYPE_CHECKING:
    from ostinato.engine.membership import NodeInfo


class AppQueries:
    store: Store
    namespace: str
    computing: Computing

    async def get(self, id: str) -> RunInfo:
        """Return the newest attempt of a run. `id` is the run's own id, or the `id` that was passed to `start`. Raises
        `NotFound` if there is no such run."""
        return run_info(await self._newest(id))

    async def attempts(self, id: str) -> list[RunInfo]:
        root = (await self._newest(id)).root_id
        rows = await self.store.read(lambda _: single(sql("chain", root=root)))
        return [run_info(whole_run(row)) for row in rows]

    async def runs(
        self,
        *,
        name: str | None = None,
        status: StatusName | None = None,
        parent: str | None = None,
        before: str | None = None,
        limit: int = 100,
        attempts: bool = False,
    ) -> list[RunInfo]:
        """Return at most `limit` runs, newest first. By default, returns only the newest attempt of each run. If
        `attempts` is true, returns all attempts. To read the next page, pass the `run_id` of the last run as `before`.
        Raises `OstinatoError` for an unknown status, and `LimitError` for a wrong limit."""
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
                limit=limit,
            )
        )
        return await self.computing.each(self.namespace, (run_info(whole_run(row)) for row in rows))

    async def counts(self, *, attempts: bool = True) -> dict[str, int]:
        """Return a dict from status to the number of attempts with this status. If `attempts` is false, count runs: of
        the attempts of one run, only the newest one."""
        count = sql("count_runs", namespace=self.namespace, superseded=int(attempts))
        rows = await self.store.read(lambda _: single(count))
        return {status: int(count) for status, count in rows}

    async def logs(self, id: str) -> list[LogLine]:
        """Return the log lines of all attempts of a run. Raises `NotFound` if there is no such run."""
        log_lines: list[LogLine] = []
        for attempt in await self.attempts(id):
            lines = sql("logs_of", run=attempt.run_id)
            rows = await self.store.read(lambda _, lines=lines: single(lines))  # type: ignore[misc]
            log_lines += [LogLine(to_datetime(at), level, text) for _, at, level, text in rows]
        return log_lines

    async def events(
        self, *, after: int = 0, subject: str | None = None, limit: int = 100, newest: bool = False
    ) -> list[Event]:
        """Return at most `limit` events, in the order of their commits:

        - If `newest` is false, return the first events after the sequence number `after`. If `subject` is given, return
          only events about this subject.
        - If `newest` is true, return the last events of the namespace. Raises `OstinatoError` if `after` or `subject`
          is given, too.
        """
        if newest and (after or subject is not None):
            raise OstinatoError("newest returns the last events; leave out after and subject")
        check_limit(limit)
        if newest:
            statement = sql("newest_events", namespace=self.namespace, limit=limit)
        elif subject is not None:
            statement = sql("events_of", namespace=self.namespace, subject=subject, after=after, limit=limit)
        else:
            statement = sql("namespace_events", namespace=self.namespace, after=after, limit=limit)
        rows = await self.store.read(lambda _: single(statement))
        return await self.computing.each(self.namespace, map(read_event, rows[::-1] if newest else rows))

    async def upcoming(self, limit: int = 100) -> list[Timer]:
        """Return up to `limit` timers, the soonest first. Timers that are parked because firing them has failed are
        left out."""
        check_limit(limit)
        timers = sql("list_timers", namespace=self.namespace, after=0, limit=limit)
        return [Timer(*row) for row in await self.store.read(lambda _: single(timers))]

    async def last_event(self) -> int:
        """Return the sequence number of the newest event of the store, in any namespace. Returns 0 if there are no
        events."""
        ((seq,),) = await self.store.read(lambda _: single(sql("last_event")))
        return int(seq)

    async def nodes(self) -> tuple[NodeInfo, ...]:
        from ostinato.engine.membership import list_nodes

        return await self.store.read(lambda _: list_nodes())

    async def _newest(self, id: str) -> Run:
        def newest(_: int) -> Operation[list[Row]]:
            rows = yield sql("run_of_chain", root=id)
            if rows:
                return rows
            first = yield sql("run_by_key", namespace=self.namespace, key=id)
            return (yield sql("run_of_chain", root=first[0][0])) if first else []

        run = next(map(whole_run, await self.store.read(newest)), None)
        if run is None or run.namespace != self.namespace:
            raise NotFound(f"there is no run {id!r} in namespace {self.namespace!r}")
        return run
