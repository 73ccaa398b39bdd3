"""Claim ready runs for a node, or new runs in the transaction that inserts them.

New runs are claimed through `DirectClaim` when a node fires a timer, so that they start sooner. The statement
`insert_taken` must write the same rows and events as `insert_ready` followed by `claim`.
tests/scenario/engine/test_direct_claim.py compares the events of both paths.
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
    """Claim up to `limit` ready runs of a queue for this node. Returns the claimed runs, the most urgent first. If
    nothing is claimed and the node's row is gone, raises `NodeLost`.

    `kinds` is a JSON list of the kinds of runs to claim. Runs of the jobs in `leave` are not claimed, because only
    other nodes know these jobs.

    `token` is unique among the node's claims. `tries` counts the earlier tries of this transaction. If an earlier try
    was committed, the runs that it claimed are found by the token and returned.
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
    """A run without a serial key, a limit or a deadline, which may start now. The statements `insert_ready` and
    `insert_taken` insert such runs."""

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
    """Permission for this node to claim new runs in one transaction.

    - `token`: a number that identifies the claim
    - `room`: how many runs may be claimed
    - `queues`: the queues from which runs may be claimed
    - `handlers`: the names of the jobs that this node can run
    - `claimed`: the runs claimed so far
    - `plain`: the number of timers that only started a run
    """

    node: str
    token: int
    room: int
    queues: Collection[str]
    handlers: Container[str]
    claimed: list[Run] = field(default_factory=list)
    plain: int = 0

    def restart(self) -> DirectClaim:
        """Return a copy with nothing claimed, for another try of the transaction."""
        return replace(self, claimed=[], plain=0)

    def recover(self, now: Micros) -> Operation[None]:
        """Add to `claimed` the runs that an earlier try of the transaction has claimed. The earlier try may have been
        committed although its answer was lost."""
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
