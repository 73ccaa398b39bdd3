"""Starting an instance and giving one an input: each is one transaction. Where the request is taken by a node, that
node holds the run from then on, so that what came with the request need not be stored."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from ostinato.engine.rows import event_row, insert_row, whole_run
from ostinato.engine.runs import End, after_chains, created, lock_owners
from ostinato.errors import Conflict, NotFound, did_you_mean
from ostinato.journeys.asking import Asked
from ostinato.journeys.language import Definition
from ostinato.journeys.library import Shelf, load
from ostinato.journeys.loading import Loaded, begun, first_of
from ostinato.journeys.machine.advance import advance, begin
from ostinato.journeys.machine.decision import Submitted
from ostinato.journeys.machine.model import ROOT, Frame
from ostinato.journeys.machine.wanting import pending
from ostinato.journeys.moves import KIND, Move, Perform, end_of, end_runs, write
from ostinato.journeys.plugins import Problem
from ostinato.journeys.rows import Kept, read_kept
from ostinato.model import Run, Status
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import Micros


class StepNotActive(Conflict):
    """The journey does not wait for this input: it was given, its time is up, or it is not its turn."""

    def __init__(self, journey: str, step: str, waiting: Collection[str] = ()) -> None:
        """`waiting` are the steps that it does wait for."""
        hint = did_you_mean(step, waiting) or (f"it waits for {', '.join(map(repr, waiting))}" if waiting else "")
        words = f"journey {journey!r} does not wait for an input of step {step!r}"
        super().__init__(f"{words}; {hint}" if hint else words)


class StepAnswered(Conflict):
    """The same key came with another input."""


class Busy(Exception):
    """Someone else has moved the run between the look and the transaction; look again."""


@dataclass(frozen=True, slots=True)
class Begun:
    """An instance that was put on record. Not `new`: its key was taken before, and it is the one that took it. `end`:
    it was over at once, and so is its run."""

    run: Run
    new: bool
    loaded: Loaded | None = None
    end: End | None = None


def new_run(definition: Definition, id: str, namespace: str, actor: str | None, key: str | None, now: Micros) -> Run:
    return Run(
        id=id,
        root_id=id,
        name=definition.name,
        kind=KIND,
        namespace=namespace,
        key=None if key is None else f"{KIND}/{key}",
        status=Status.READY,
        due=now,
        ready_at=now,
        created=now,
        actor=actor,
    )


@dataclass(frozen=True, slots=True)
class Start:
    """An instance to begin. With a `node`, its run is that node's from the beginning."""

    run: Run
    definition: Definition
    asked: Asked
    node: str | None


def start(starts: Sequence[Start], now: Micros) -> Operation[list[Begun]]:
    """New instances, each of which is begun once."""
    runs = [replace(one.run) for one in starts]
    inserted = {row[0] for row in (yield sql("insert_runs", [insert_row(run) for run in runs]))}
    found: dict[str, Begun] = {}
    for one, run in zip(starts, runs, strict=True):
        if run.id not in inserted:
            found[run.id] = yield from _begun_before(one.definition, run)
    fresh = [(one, run) for one, run in zip(starts, runs, strict=True) if run.id in inserted]
    events = [created(run, now) for _, run in fresh]
    events += yield from _taken([(run, one.node) for one, run in fresh], now)
    moves: list[Move] = []
    for one, run in fresh:
        context, tags, attributes = one.asked.context, one.asked.tags, one.asked.attributes
        decided = begin(one.definition, run.id, context, run.created, tags=tags, attributes=attributes)
        move = Move(run, one.definition, None, begun(run, one.definition, decided).kept)
        move.take(decided)
        move.stamp(now)
        moves.append(move)
    if moves:
        events += yield from write(moves, now)
        over = [move for move in moves if _is_done(move)]
        if over:
            events += (yield from end_runs(over, now))[0]
        yield sql("notify")
        yield sql("insert_events", events)
    for move in moves:
        end = end_of(move) if _is_done(move) else None
        found[move.run.id] = Begun(move.run, True, Loaded(move.definition, move.after), end)
    return [found[run.id] for run in runs]


def _is_done(move: Move) -> bool:
    """Whether nothing is left to do for an instance: its run ends with this move, so that the two always agree."""
    return move.instance.over and not pending(move.definition, move.instance)


def _begun_before(definition: Definition, run: Run) -> Operation[Begun]:
    """The one that has taken its key, or an earlier try of this very call."""
    named = [] if run.key is None else (yield sql("runs_by_keys", [(run.namespace, run.key)]))
    if named and named[0][2] != run.id:
        return Begun(Run(id=named[0][2], root_id=named[0][2], name=run.name, namespace=run.namespace), False)
    kept = read_kept((yield sql("journeys_by_ids", [(run.id,)]))[0])
    claimed = (yield sql("runs_by_ids", [(run.id,)]))[0]
    return Begun(whole_run(claimed), True, Loaded(definition, kept))


def _taken(runs: Sequence[tuple[Run, str | None]], now: Micros) -> Operation[list[Row]]:
    """Each the named node's from now on, if it still is one; else it is whoever's claims it first."""
    events: list[Row] = []
    for node in dict.fromkeys(node for _, node in runs if node is not None):
        wanted = {run.id: run for run, of in runs if of == node}
        rows = yield sql("take_runs", [(run.id, run.claim) for run in wanted.values()], node=node, now=now)
        for (id,) in rows:
            run = wanted[id]
            run.status, run.node, run.claim, run.started = Status.ACTIVE, node, run.claim + 1, now
            events.append(event_row(now, run, "run:started", node=node))
    return events


@dataclass(frozen=True, slots=True)
class Looked:
    """An instance as it was seen."""

    run: Run
    kept: Kept
    definition: Definition


def look(id: str, namespace: str, shelf: Shelf | None = None) -> Operation[Looked]:
    rows = yield sql("runs_by_ids", [(id,)])
    if not rows or (run := whole_run(rows[0])).namespace != namespace or run.kind != KIND:
        raise NotFound(f"there is no journey {id!r} in namespace {namespace!r}")
    there = yield sql("journeys_by_ids", [(id,)])
    if not there and run.status.over:
        raise NotFound(f"journey {id!r} never began: {run.reason}")
    if not there:
        return (yield from _to_come(run))
    kept = read_kept(there[0])
    definition = yield from load(namespace, kept.instance.definition, kept.instance.version, shelf)
    return Looked(run, kept, definition)


def _to_come(run: Run) -> Operation[Looked]:
    """One that was put on record by its schedule, or for later, and has not begun: it stands before its first state."""
    loaded = yield from first_of(run, run.created)
    assert loaded.decided is not None
    instance = loaded.kept.instance
    entered = next(one for one in loaded.decided.events if one.name == "journey:state_entered")
    before = Frame(ROOT, instance.root.path, str(entered.data["state"]), 0, instance.context)
    kept = replace(loaded.kept, instance=replace(instance, frames={ROOT: before}), updated=run.created)
    return Looked(run, kept, loaded.definition)


def answer_row(run: str, step: str, key: str, digest: str, *, only: bool = False) -> Perform:
    """Keep a place for the answer to a step, in the transaction that takes its input. `only`: raise `Busy` where
    another call has taken the place."""

    def perform(_: Run, now: Micros) -> Operation[list[Row] | Problem]:
        kept = yield sql("keep_step_answer", run_id=run, step=step, key=key, digest=digest, answer="", at=now)
        if only and not kept:
            raise Busy
        return []

    return perform


def input_taken(run: str, call: str) -> Operation[bool]:
    """Whether an instance has taken the input of this call: for a call that lost the answer to an earlier try."""
    return bool((yield sql("input_taken", subject=run, call=f'%"call":"{call}"%')))


@dataclass(frozen=True, slots=True)
class Taken:
    """An instance that has taken an input. `end`: it is over by that, and so is its run."""

    run: Run
    loaded: Loaded
    end: End | None = None

    def goes_on_at(self, node: str | None, claim: int) -> bool:
        """Whether this node holds the run by the claim of this very input, and is to go on with it."""
        run = self.run
        return node is not None and run.status is Status.ACTIVE and run.node == node and run.claim == claim


def submit(
    seen: Looked,
    given: Submitted,
    keep: Perform | None,
    node: str | None,
    now: Micros,
    actor: str | None = None,
    tries: int = 0,
) -> Operation[Taken]:
    """Give an input to an instance that is not at work here. A node that holds its run loses it; what is under way
    there is done again, under the same key. The events name `actor` as who gave the input.

    Raises `StepNotActive` where the instance does not wait for it, and `Busy` where the run has moved since it was
    `seen`. An earlier try of this call is told from the calls of others by the id of the call alone."""
    owners = yield from lock_owners([seen.run])
    (row,) = yield sql("runs_for_update", [(seen.run.id,)])
    run = whole_run(row)
    run.actor = actor or run.actor
    (there,) = yield sql("journeys_by_ids", [(run.id,)])
    kept = read_kept(there)
    if tries and given.call is not None and (yield from input_taken(run.id, given.call)):
        return Taken(run, Loaded(seen.definition, kept))
    if run.claim != seen.run.claim or run.status.over:
        raise Busy
    decision = advance(seen.definition, kept.instance, [given], now)
    if decision.refused:
        raise StepNotActive(run.id, given.step)
    move = Move(run, seen.definition, kept, kept)
    move.take(decision)
    move.stamp(now)
    if keep is not None:
        move.perform = [keep]
    if _is_done(move):
        events, ended = yield from end_runs([move], now)
        events += yield from write([move], now)
        events += (yield from after_chains(owners, ended, now)).events
    else:
        events = yield from _taken([(run, node)], now)
        if not events:
            yield sql("release_runs", [(run.id, run.claim)], now=now)
        events += yield from write([move], now)
    yield sql("notify")
    yield sql("insert_events", events)
    return Taken(run, Loaded(seen.definition, move.after), end_of(move) if _is_done(move) else None)
