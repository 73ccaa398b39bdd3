"""One node's work on instances: it takes claimed runs from pause to pause, and writes the moves of all of them
together. What came with a request is handed from who took it to the work it begins, in memory, and is gone when that
rests."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from ostinato.engine.commits import Committer
from ostinato.engine.engine import Engine
from ostinato.engine.log import log
from ostinato.engine.runs import End, end, lock_owners
from ostinato.journeys.evaluating import Tools
from ostinato.journeys.loading import Loaded, load_instance
from ostinato.journeys.machine.advance import advance
from ostinato.journeys.machine.decision import Stopped
from ostinato.journeys.machine.model import INTERNAL, Instance, Termination
from ostinato.journeys.moves import Move, end_of, write
from ostinato.journeys.plugins import Request
from ostinato.journeys.segments import Refused, Segment, Work
from ostinato.journeys.steps import Begun, Start
from ostinato.journeys.steps import start as begin_all
from ostinato.model import Run
from ostinato.store.contract import Operation, sql
from ostinato.when.instants import Micros


class Conductor:
    def __init__(self, engine: Engine, tools: Tools) -> None:
        self._engine = engine
        self._store = engine.store
        self._tools = tools
        self._moves: Committer[Move, Instance | None] = Committer(self._commit, self._trouble)
        self._starts: Committer[Start, Begun] = Committer(self._start, self._trouble, hopeful=False)
        self._segments: dict[str, Segment] = {}
        self._handed: dict[tuple[str, int], tuple[Loaded, Request | None]] = {}
        self._resting: dict[str, list[asyncio.Future[None]]] = {}

    def now(self) -> Micros:
        return self._engine.clock.now()

    def start(self) -> None:
        self._moves.start()
        self._starts.start()

    async def stop(self) -> None:
        await self._starts.stop()
        await self._moves.stop()

    def at_work(self, run_id: str) -> Segment | None:
        """The work on this instance, if it is done here and now."""
        return self._segments.get(run_id)

    def hand(self, run: Run, loaded: Loaded, request: Request | None) -> None:
        """What the work that is about to begin with this claim need not load, and the request that it is for."""
        self._handed[run.id, run.claim] = loaded, request

    def rest_of(self, run_id: str) -> asyncio.Future[None]:
        """When the instance next rests here, or is no longer ours."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._resting.setdefault(run_id, []).append(future)
        return future

    async def __call__(self, run: Run) -> None:
        loaded, request = self._handed.pop((run.id, run.claim), (None, None))
        segment: Segment | None = None
        try:
            if loaded is None:
                now = self._tools.now()
                loaded = await self._store.read(lambda _: load_instance(run, now, self._tools.shelf))
            writing = _Writing(self._moves, run, loaded)
            segment = Segment(
                self._tools.within(run.namespace), loaded.definition, loaded.kept.instance, request, writing.put
            )
            self._segments[run.id] = segment
            try:
                await segment.go(loaded.decided)
            except Refused:
                raise
            except Exception:
                log.exception("a journey could not go on", action="journey_failed", run=run.id)
                await writing.give_up()
        except Refused:
            log.warning("a journey is moved by someone else", action="journey_refused", run=run.id)
        finally:
            if segment is not None and self._segments.get(run.id) is segment:
                del self._segments[run.id]
            for future in self._resting.pop(run.id, ()):
                if not future.done():
                    future.set_result(None)

    # Writing

    async def begin(self, start: Start) -> Begun:
        """Put an instance on record, together with those that others begin meanwhile."""
        return await self._starts.write(start)

    async def _start(self, starts: Sequence[Start]) -> list[Begun]:
        now = self._engine.clock.now()
        begun = await self._store.run(lambda _: begin_all(starts, now))
        self._engine.tell_ends([one.end for one in begun if one.end is not None])
        return begun

    async def _commit(self, moves: Sequence[Move]) -> list[Instance | None]:
        now = self._engine.clock.now()
        for move in moves:
            if not move.stamped:  # a try that was committed without an answer is known by its stamp
                move.stamp(now)
        refused: set[str] = set()
        holders = {move.run.node or "" for move in moves}
        for node in holders:
            own = moves if len(holders) == 1 else [move for move in moves if (move.run.node or "") == node]
            refused |= await self._store.run(lambda _, own=own, node=node: commit(own, node, now))  # type: ignore[misc]
        taken = [move for move in moves if move.run.id not in refused]
        self._engine.tell_ends([end_of(move) for move in taken if move.rests])
        for move in taken:
            _log_cause(move)
        self._engine.nudge()
        return [None if move.run.id in refused else move.instance for move in moves]

    def _trouble(self, problem: Exception) -> None:
        log.warning("moves of journeys cannot be written", action="journeys_trouble", problem=str(problem))


def _log_cause(move: Move) -> None:
    """An internal error tells its callers nothing: whoever runs the engine finds the cause here, and with the run."""
    ending = move.instance.ending
    if move.ends and ending is not None and ending.kind is Termination.RUNTIME_ERROR:
        log.warning(
            f"journey {move.instance.definition!r} ended with an internal error at {ending.state!r}: {ending.reason}",
            action="journey_internal_error",
            run=move.run.id,
            journey=move.instance.definition,
            state=ending.state,
            **ending.cause,
        )


class _Writing:
    """The moves of one segment, each from what was written before it."""

    def __init__(self, moves: Committer[Move, Instance | None], run: Run, loaded: Loaded) -> None:
        self._moves = moves
        self._run = run
        self._loaded = loaded
        self._before = None if loaded.decided is not None else loaded.kept

    async def put(self, work: Work, rests: bool) -> Instance | None:
        move = self._move(rests)
        for decision in work.decisions:
            move.take(decision)
        move.perform, move.instead = work.perform, work.instead
        written = await self._moves.write(move)
        self._before = move.after
        return written

    async def give_up(self) -> None:
        """What it came to cannot be put on record, or not be worked out: it ends where it was last."""
        move = self._move(True)
        if self._before is None and self._loaded.decided is not None:
            move.take(self._loaded.decided)
        if not move.instance.over:
            given = Stopped(Termination.RUNTIME_ERROR, INTERNAL, "it could not go on")
            move.take(advance(move.definition, move.instance, [given], self._loaded.kept.instance.started))
        if await self._moves.write(move) is None:
            raise Refused

    def _move(self, rests: bool) -> Move:
        return Move(self._run, self._loaded.definition, self._before, self._before or self._loaded.kept, rests=rests)


def commit(moves: Sequence[Move], node: str, now: Micros) -> Operation[set[str]]:
    """Moves of claimed runs, those still fenced to `node` only. Returns the runs whose moves were refused."""
    yield from lock_owners(move.run for move in moves if move.rests)
    rows = {row[0]: row for row in (yield sql("hold_journeys", [(move.run.id,) for move in moves]))}
    refused: set[str] = set()
    todo: list[Move] = []
    for move in moves:
        _, status, holder, claim, updated = rows.get(move.run.id, (None,) * 5)
        if claim == move.run.claim and updated == move.after.updated:
            continue  # an earlier try of this very write
        known = None if move.before is None else move.before.updated
        if claim != move.run.claim or holder != node or status != "active" or updated != known:
            refused.add(move.run.id)
        else:
            todo.append(move)
    if not todo:
        return refused
    again = [move.run for move in todo if move.run.crashes]
    if again:
        yield sql("count_crashes", [(run.id, 0) for run in again])
        for run in again:
            run.crashes = 0
    ends: list[End] = [end_of(move) for move in todo if move.rests]
    if ends:
        yield from end(ends, node, now, also=lambda: write(todo, now))
        return refused
    yield sql("insert_events", (yield from write(todo, now)))
    return refused
