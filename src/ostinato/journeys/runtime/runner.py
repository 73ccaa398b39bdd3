"""Run claimed instances on this node until they wait or end. Changes of several instances are committed together.

A segment (`run_instance.Segment`) runs one instance. A request that started or continued the instance is passed to the
segment in memory. The request is never stored, so it is gone once the instance waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from ostinato.engine.group_commit import Committer
from ostinato.engine.kinds import Kinds
from ostinato.engine.log import log
from ostinato.engine.node import Engine
from ostinato.engine.outages import read_patiently
from ostinato.engine.runs import End, end, lock_owners
from ostinato.journeys.machine.advance import advance
from ostinato.journeys.machine.decision import Stopped
from ostinato.journeys.machine.model import INTERNAL, Instance, Termination
from ostinato.journeys.runtime.commit import InstanceChange, run_end, write_changes
from ostinato.journeys.runtime.load import LoadedInstance, load_instance
from ostinato.journeys.runtime.perform_effects import JourneyRuntime
from ostinato.journeys.runtime.run_instance import DecisionBatch, InstanceClaimLost, Segment
from ostinato.journeys.runtime.start import InstanceChanged, PendingStart, start_instances
from ostinato.journeys.store import statement
from ostinato.journeys.task_kind import Request
from ostinato.model import Run
from ostinato.store.contract import Operation, sql
from ostinato.when.instants import Micros


class JourneyRunner:
    def __init__(self, engine: Engine, runtime: JourneyRuntime) -> None:
        self._engine = engine
        self._store = engine.store
        self._runtime = runtime
        self._changes: Committer[InstanceChange, Instance | None] = Committer(self._commit, self._engine.log_trouble)
        self._starts: Committer[PendingStart, InstanceChanged] = Committer(
            self._start, self._engine.log_trouble, retry=False
        )
        self._segments: dict[str, Segment] = {}
        self._handed: dict[tuple[str, int], tuple[LoadedInstance, Request | None]] = {}
        self._resting: dict[str, list[asyncio.Future[None]]] = {}

    def now(self) -> Micros:
        return self._engine.clock.now()

    def start(self) -> None:
        self._changes.start()
        self._starts.start()

    async def stop(self) -> None:
        await self._starts.stop()
        await self._changes.stop()

    def active_segment(self, run_id: str) -> Segment | None:
        """Return the `Segment` that runs the instance on this node. Return None if this node does not run the
        instance."""
        return self._segments.get(run_id)

    def hand_over(self, run: Run, loaded: LoadedInstance, request: Request | None) -> None:
        """Keep the loaded instance and the request in memory, until the engine passes `run` to this runner."""
        self._handed[run.id, run.claim] = loaded, request

    def rest_future(self, run_id: str) -> asyncio.Future[None]:
        """Return a future that is done when the instance next waits or ends here, or when this node loses the claim."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._resting.setdefault(run_id, []).append(future)
        return future

    async def __call__(self, run: Run) -> None:
        loaded, request = self._handed.pop((run.id, run.claim), (None, None))
        segment: Segment | None = None
        try:
            if loaded is None:
                runtime = self._runtime
                loaded = await read_patiently(
                    self._store, lambda _: load_instance(run, runtime.now(), runtime.definitions)
                )
            writer = _ChangeWriter(self._changes, run, loaded)
            segment = Segment(
                self._runtime.within(run.namespace), loaded.definition, loaded.record.instance, request, writer.put
            )
            self._segments[run.id] = segment
            try:
                await segment.run(loaded.decision)
            except InstanceClaimLost:
                raise
            except Exception:
                log.exception("a journey could not go on", action="journey_failed", run=run.id)
                await writer.give_up()
        except InstanceClaimLost:
            log.warning("a journey is moved by someone else", action="journey_refused", run=run.id)
        finally:
            if segment is not None and self._segments.get(run.id) is segment:
                del self._segments[run.id]
            for future in self._resting.pop(run.id, ()):
                if not future.done():
                    future.set_result(None)

    # Writing

    async def start_instance(self, start: PendingStart) -> InstanceChanged:
        """Store a new instance, and return the result (see `start_instances`). Instances that are started at the same
        time are stored in one transaction."""
        return await self._starts.write(start)

    async def _start(self, starts: Sequence[PendingStart]) -> list[InstanceChanged]:
        now = self._engine.clock.now()
        started = await self._store.run(lambda _: start_instances(starts, now, self._engine.kinds))
        self._engine.tell_ends([one.end for one in started if one.end is not None])
        return started

    async def _commit(self, changes: Sequence[InstanceChange]) -> list[Instance | None]:
        now = self._engine.clock.now()
        for change in changes:
            if not change.stamped:  # a retry keeps its stamp, by which an earlier commit is recognized
                change.stamp(now)
        refused: set[str] = set()
        kinds = self._engine.kinds
        holders = {change.run.node or "" for change in changes}
        for node in holders:
            of_node = [change for change in changes if (change.run.node or "") == node]
            refused |= await self._store.run(
                lambda _, of_node=of_node, node=node: commit_changes(of_node, node, now, kinds)  # type: ignore[misc]
            )
        taken = [change for change in changes if change.run.id not in refused]
        self._engine.tell_ends([run_end(change) for change in taken if change.rests])
        for change in taken:
            _log_cause(change)
        self._engine.nudge()
        return [None if change.run.id in refused else change.instance for change in changes]


def _log_cause(change: InstanceChange) -> None:
    ending = change.instance.ending
    if change.ends and ending is not None and ending.kind is Termination.RUNTIME_ERROR:
        log.warning(
            f"journey {change.instance.definition!r} ended with an internal error at {ending.state!r}: {ending.reason}",
            action="journey_internal_error",
            run=change.run.id,
            journey=change.instance.definition,
            state=ending.state,
            **ending.cause,
        )


class _ChangeWriter:
    """Writes the changes of one segment. Each change starts from the result of the previous one."""

    def __init__(self, changes: Committer[InstanceChange, Instance | None], run: Run, loaded: LoadedInstance) -> None:
        self._changes = changes
        self._run = run
        self._loaded = loaded
        self._before = None if loaded.decision is not None else loaded.record

    async def put(self, batch: DecisionBatch, rests: bool) -> Instance | None:
        change = self._new_change(rests)
        for decision in batch.decisions:
            change.add(decision)
        change.extra_writes, change.on_problem = batch.extra_writes, batch.on_problem
        written = await self._changes.write(change)
        self._before = change.after
        return written

    async def give_up(self) -> None:
        """End the instance with an internal error, because its next state could not be computed or stored. The instance
        ends in its last stored state. Raise `InstanceClaimLost` if this node no longer holds the run."""
        change = self._new_change(True)
        if self._before is None and self._loaded.decision is not None:
            change.add(self._loaded.decision)
        if not change.instance.over:
            stopped = Stopped(Termination.RUNTIME_ERROR, INTERNAL, "it could not continue")
            change.add(advance(change.definition, change.instance, [stopped], self._loaded.record.instance.started))
        if await self._changes.write(change) is None:
            raise InstanceClaimLost

    def _new_change(self, rests: bool) -> InstanceChange:
        before, loaded = self._before, self._loaded
        return InstanceChange(self._run, loaded.definition, before, before or loaded.record, rests=rests)


def commit_changes(changes: Sequence[InstanceChange], node: str, now: Micros, kinds: Kinds) -> Operation[set[str]]:
    """Commit the changes of runs that `node` still has claimed. Return the ids of the runs whose changes were refused.
    A change is refused if `node` has lost the claim on the run, or if the stored instance has changed since the change
    was made. A change that an earlier attempt has already committed is skipped."""
    yield from lock_owners([change.run for change in changes if change.rests], kinds)
    rows = {row[0]: row for row in (yield statement("hold_journeys", [(change.run.id,) for change in changes]))}
    refused: set[str] = set()
    todo: list[InstanceChange] = []
    for change in changes:
        _, status, holder, claim, updated = rows.get(change.run.id, (None,) * 5)
        if claim == change.run.claim and updated == change.after.updated:
            continue  # an earlier attempt of this write has committed
        expected = None if change.before is None else change.before.updated
        if claim != change.run.claim or holder != node or status != "active" or updated != expected:
            refused.add(change.run.id)
        else:
            todo.append(change)
    if not todo:
        return refused
    again = [change.run for change in todo if change.run.crashes]
    if again:
        yield sql("count_crashes", [(run.id, 0) for run in again])
        for run in again:
            run.crashes = 0
    ends: list[End] = [run_end(change) for change in todo if change.rests]
    if ends:
        yield from end(ends, node, now, kinds, also=lambda: write_changes(todo, now, kinds))
        return refused
    yield sql("insert_events", (yield from write_changes(todo, now, kinds)))
    return refused
