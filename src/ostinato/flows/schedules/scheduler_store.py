"""Let an executor that is not a node handle due occurrences of an agent's schedules.

With `SchedulerStore`, the executor lists due occurrences, claims one and reports its outcome. `SchedulerStore`
implements the store contract of Zupa's RFC on scheduled flows.

Each occurrence is a run. The executor's claim gives the run the status waiting, so that no node claims it: nodes claim
only ready runs. When the executor's claim expires, the run is ready again. A node with the agent's code claims ready
runs in the ordinary way, without this module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

import orjson

from ostinato.engine.context import to_json
from ostinato.engine.limits import let_out
from ostinato.engine.rows import event_row, of_schedule, timer_row, whole_run
from ostinato.engine.runs import Ended, after_chains, lock_owners
from ostinato.engine.ways import Host
from ostinato.errors import Conflict, OstinatoError, check_limit, check_text
from ostinato.flows.model import FlowOutcome
from ostinato.flows.read_values import read_choice
from ostinato.flows.schedules.operations import OCCURRENCE
from ostinato.flows.schedules.rows import StoredSchedule, read_stored, statement
from ostinato.flows.store import write_events
from ostinato.functions.model import KIND as FUNCTION
from ostinato.functions.model import WAKE
from ostinato.model import Run, Status, Timer
from ostinato.schedules.rows import occurrence_key
from ostinato.store.contract import Operation, sql
from ostinato.when.instants import Micros, from_datetime, to_datetime

_DEFAULT = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class DueOccurrence:
    """An occurrence of a schedule that is due and not claimed."""

    schedule_id: str
    scheduled_for: datetime
    definition: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Claim:
    """The result of `SchedulerStore.claim`.

    - `status`: `claimed`, `already_claimed` or `stale`
    - `run_id`: the id of the claimed run
    - `attempt`: the number of the run's attempt, from 1 on
    - `epoch`: a number that distinguishes the claim from later claims of the same run

    `already_claimed` means that the run is not ready, for example because it is claimed or over. `stale` means that the
    schedule is canceled or paused, or that there is no such occurrence.
    """

    status: Literal["claimed", "already_claimed", "stale"]
    run_id: str = ""
    attempt: int = 0
    epoch: int = 0


class SchedulerStore:
    """The due occurrences of one agent's schedules. `await app.agents.schedules(agent).store()` returns it."""

    def __init__(self, host: Host, agent: str, namespace: str, ttl: timedelta | None) -> None:
        self._host = host
        self._agent = agent
        self._namespace = namespace
        self._ttl = ttl or _DEFAULT

    async def due(self, limit: int = 100) -> Sequence[DueOccurrence]:
        """Return occurrences that are due and not claimed, oldest first."""
        check_limit(limit)

        def read(_: int) -> Operation[list[DueOccurrence]]:
            rows = yield statement(
                "due_agent_schedules", namespace=self._namespace, agent=self._agent, name=OCCURRENCE, limit=limit
            )
            return [
                DueOccurrence(id, to_datetime(orjson.loads(detail)["nominal"]), orjson.loads(definition))
                for id, definition, detail in rows
            ]

        return await self._host.store.read(read)

    async def claim(self, schedule_id: str, scheduled_for: datetime, claim_until: datetime | None = None) -> Claim:
        """Claim one occurrence until `claim_until`. By default, the claim lasts for the setting `claim_ttl_seconds`. If
        several callers claim the same occurrence, only one gets the status `claimed`. Raises OstinatoError if
        `claim_until` has passed."""
        check_text(schedule_id, "the schedule's id")
        nominal = from_datetime(scheduled_for)

        def write(now: Micros) -> Operation[Claim]:
            names = {"namespace": self._namespace, "agent": self._agent, "id": schedule_id}
            shown = yield statement("agent_schedule_is", **names)
            if not shown or shown[0][0] not in ("active", "completed"):
                return Claim("stale")
            stored = read_stored((yield statement("agent_schedule", **names))[0])
            run = yield from self._find(stored, nominal)
            if run is None:
                return Claim("stale")
            if run.status is not Status.READY:
                return Claim("already_claimed")
            yield statement("claim_occurrence", id=run.id, now=now)
            yield sql("set_timers", [self._expiry(run, until)])
            if run.concurrency_key is not None:
                yield from let_out([], [run], now)
            yield sql("notify")
            if run.claim == 0:
                yield sql("insert_events", [of_schedule(now, run, "schedule:run_started")])
            return Claim("claimed", run.id, run.number, run.claim + 1)

        now = self._host.engine().clock.now()
        until = now + self._ttl // timedelta(microseconds=1) if claim_until is None else from_datetime(claim_until)
        if until <= now:
            raise OstinatoError(f"claim_until {claim_until} has passed")
        claim: Claim = await self._write(write)
        return claim

    def _find(self, stored: StoredSchedule, nominal: Micros) -> Operation[Run | None]:
        """Lock and return the run of an occurrence, or return None if there is no such run."""
        key = occurrence_key(stored.engine_id, nominal, "auto")
        rows = yield statement("occurrence_by_key", namespace=self._namespace, key=key)
        if not rows:
            return None
        return whole_run((yield sql("runs_for_update", [(rows[0][0],)]))[0])

    def _expiry(self, run: Run, due: Micros) -> Any:
        return timer_row(Timer(FUNCTION, run.id, WAKE, due, run.namespace))

    async def complete_run(self, claim: Claim, outcome: str, metadata: Mapping[str, Any] | None = None) -> None:
        """Report the outcome of a claimed occurrence. `metadata` may have reason, request_id, session_id, delivered and
        expanded_recipients. Raises `Conflict` if the claim has expired or the run is over."""
        read_choice(outcome, "outcome", FlowOutcome)
        result = to_json({**(metadata or {}), "outcome": outcome}, "the metadata")

        def write(now: Micros) -> Operation[None]:
            rows = yield sql("runs_by_ids", [(claim.run_id,)])
            kinds = self._host.engine().kinds
            owners = yield from lock_owners([whole_run(row) for row in rows], kinds)
            run = yield from self._lock_held(claim)
            yield statement("finish_occurrence", id=run.id, result=result, now=now)
            yield sql("drop_timers", [(FUNCTION, run.id)])
            after = yield from after_chains(owners, [Ended(run, Status.SUCCEEDED, None, result)], now, kinds)
            yield from write_events(event_row(now, run, "run:succeeded"), *after.events)

        await self._write(write)

    async def fail_run(self, claim: Claim, reason: str, retry_at: datetime | None = None) -> None:
        """Report that a claimed occurrence failed. If `retry_at` is given, the occurrence is due again at that time.
        Otherwise the occurrence ends with the outcome `failed`. Raises `Conflict` if the claim has expired or the run
        is over."""
        check_text(reason, "the reason")
        if retry_at is None:
            await self.complete_run(claim, "failed", {"reason": reason})
            return

        def write(now: Micros) -> Operation[None]:
            run = yield from self._lock_held(claim)
            yield statement("release_occurrence", id=run.id, reason=reason[:300])
            yield sql("set_timers", [self._expiry(run, max(now, from_datetime(retry_at)))])

        await self._write(write)

    def _lock_held(self, claim: Claim) -> Operation[Run]:
        """Lock and return the run of a claim. Raises `Conflict` if the claim has expired, if the run is over or was
        deleted, or if the status of the claim is not `claimed`."""
        if claim.status != "claimed":
            raise Conflict(f"a claim with the status {claim.status!r} holds no run; only one that is 'claimed' does")
        rows = yield sql("runs_for_update", [(claim.run_id,)])
        run = whole_run(rows[0]) if rows else None
        if run is None or run.status is not Status.WAITING or run.claim != claim.epoch:
            raise Conflict(f"the claim of run {claim.run_id!r} has expired, or the run is over; claim it again")
        return run

    async def _write(self, make: Callable[[Micros], Operation[Any]]) -> Any:
        now = self._host.engine().clock.now()
        written = await self._host.store.run(lambda _: make(now))
        self._host.engine().attend()
        return written
