"""Claim runs for a node: runs that are ready, or new runs in the transaction that inserts them.

The second is a fast path, `DirectClaim`: a node that fires a timer also claims the new run. For every occurrence that
the firing node can run, this saves the transaction of a separate claim, and the wait for it. The statement
`insert_taken` must write the same rows and events as `insert_ready` followed by `claim`.
tests/scenario/engine/test_direct_claim.py compares the events of both paths, and claims runs directly on nodes that
stop, die, or lose the answer of a commit.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import orjson

from ostinato.engine.rows import claimed_run
from ostinato.model import Run, Status
from ostinato.store.contract import Operation, Row, alone, sql
from ostinato.when.instants import Micros


class NodeLost(Exception):
    """Raised when this node's lease has expired and other nodes have taken over its runs."""


def claim(
    node: str, token: int, queue: str, limit: int, now: Micros, kinds: str, leave: frozenset[str], tries: int
) -> Operation[list[Run]]:
    """Claim up to `limit` ready runs of a queue for this node, and return them, the most urgent first.

    `kinds` is a JSON list of the kinds of runs to claim. `leave` contains the names of jobs that only other nodes know;
    their runs are not claimed. Raises `NodeLost` if nothing was claimed and the store has no row of this node.

    `token` is unique among the node's claims. `tries` counts the earlier tries of this transaction. If an earlier try
    was committed and its answer was lost, the next try finds the claimed runs by the token.
    """
    rows: list[Row] = []
    if tries:
        taken = yield from taken_before(node, token, now)
        if taken:
            return taken
    if leave:
        names = orjson.dumps(sorted(leave)).decode()
        rows = yield alone(
            "claim_ready_except", node=node, token=token, queue=queue, limit=limit, now=now, kinds=kinds, names=names
        )
    else:
        rows = yield alone("claim_ready", node=node, token=token, queue=queue, limit=limit, now=now, kinds=kinds)
    if not rows and not (yield sql("known_node", id=node)):
        raise NodeLost(node)
    if rows:
        yield sql("started_events", node=node, token=token, now=now)
    return _in_order(rows, node, now)


def taken_before(node: str, token: int, now: Micros) -> Operation[list[Run]]:
    """Return the runs that an earlier try of the same transaction claimed. The list is empty if no earlier try was
    committed."""
    return _in_order((yield sql("claimed_by_token", node=node, token=token)), node, now)


def _in_order(rows: list[Row], node: str, now: Micros) -> list[Run]:
    runs = [claimed_run(row, node, now) for row in rows]
    runs.sort(key=lambda run: (-run.priority, run.due, run.id))
    return runs


# The fast path


class NewRun(NamedTuple):
    """A run that may start now, because it has no serial key, no limit and no deadline. It is a row of the statements
    `insert_ready` and `insert_taken`."""

    id: str
    namespace: str
    kind: str
    name: str
    key: str
    queue: str
    priority: int
    due: Micros
    options: str | None
    input: str | None
    actor: str | None
    schedule_id: str
    detail: str


@dataclass(slots=True)
class DirectClaim:
    """Permission to claim up to `room` runs in a transaction that fires timers. The runs must belong to this node's
    queues and jobs. `token` identifies the claim. `claimed` lists the runs claimed so far. `plain` counts the timers
    that only started a run."""

    node: str
    token: int
    room: int
    queues: Collection[str]
    handlers: Container[str]
    claimed: list[Run] = field(default_factory=list)
    plain: int = 0

    def restart(self) -> DirectClaim:
        """Return the same permission, unused, for another try of the transaction."""
        return replace(self, claimed=[], plain=0)

    def recover(self, now: Micros) -> Operation[None]:
        """Add to `claimed` the runs that an earlier try of the transaction claimed, if that try was committed and its
        answer was lost."""
        self.claimed += yield from taken_before(self.node, self.token, now)

    def insert(self, runs: Sequence[NewRun], now: Micros) -> Operation[list[str]]:
        """Insert runs, and claim those that this node can run, up to the number of free slots. If earlier runs are
        queued, none is claimed. The runs that are not claimed become ready. Returns the ids of the claimed runs, the
        most urgent first."""
        chosen = yield from self._choose(runs)
        claimed: Sequence[NewRun] = chosen
        if chosen:
            written = yield sql("insert_taken", chosen, now=now, node=self.node, token=self.token)
            if written[0][0] < len(chosen):  # an earlier try has inserted some of them
                earlier = {run.id for run in (yield from taken_before(self.node, self.token, now))}
                claimed = [run for run in chosen if run.id in earlier]
            self.claimed += [_active_run(run, self.node, now) for run in claimed]
        if len(chosen) < len(runs):
            ids = {run.id for run in chosen}
            yield sql("insert_ready", [run for run in runs if run.id not in ids], now=now)
        self.plain += len(runs)
        return [run.id for run in claimed]

    def started_event(self, created: Row) -> Row:
        """Return the event `run:started` of a directly claimed run, built from its event `run:created`."""
        at, namespace, _, run_id, data, actor = created
        return (at, namespace, "run:started", run_id, f'{data[:-1]},"node":"{self.node}"}}', actor)

    def is_free(self) -> Operation[bool]:
        """Return whether the node may claim directly: no run is queued, and the node still has its row."""
        return bool((yield sql("may_take", [(queue,) for queue in self.queues], node=self.node)))

    def _choose(self, runs: Sequence[NewRun]) -> Operation[Sequence[NewRun]]:
        if not self.room:
            return ()
        fitting = [run for run in runs if self._can_run(run)]
        if not fitting or not (yield from self.is_free()):
            return ()
        fitting.sort(key=lambda run: -run.priority)  # as a claim does
        return fitting[: self.room - len(self.claimed)]

    def _can_run(self, run: NewRun) -> bool:
        return run.kind == "job" and run.name in self.handlers and run.queue in self.queues


def _active_run(run: NewRun, node: str, now: Micros) -> Run:
    """Return the run as `claim` would return it."""
    id, namespace, kind, name, key, queue, priority, due, options, input, actor, schedule_id, detail = run
    return Run(
        id=id,
        name=name,
        kind=kind,
        namespace=namespace,
        key=key,
        status=Status.ACTIVE,
        queue=queue,
        priority=priority,
        due=due,
        created=now,
        started=now,
        root_id=id,
        node=node,
        claim=1,
        options=options,
        input=input,
        actor=actor,
        schedule_id=schedule_id,
        detail=detail,
    )
