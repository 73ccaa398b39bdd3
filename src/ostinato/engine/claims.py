"""Claim runs for a node: ready runs, or new runs in the transaction that inserts them (`DirectClaim`).

The statement `insert_taken` must write the same rows and events as `insert_ready` followed by `claim`.
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
    """Claim up to `limit` ready runs of a queue for this node. Returns the claimed runs, the most urgent first. Raises
    `NodeLost` if nothing is claimed and the store has no row of the node.

    - `token`: a number that is unique among the node's claims
    - `kinds`: a JSON list of the kinds of runs to claim
    - `leave`: the jobs that only other nodes know; their runs are not claimed
    - `tries`: how many tries of this transaction came before. An earlier try may have been committed although its reply
      was lost. If that try claimed runs, return these runs, and claim no others.
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
    """Return the runs that an earlier try of this transaction claimed, the most urgent first. If no earlier try was
    committed, return an empty list. `token` identifies the claim.

    A transaction is tried again if the reply to its commit was lost. In this case, the earlier try may have been
    committed.
    """
    return _in_order((yield sql("claimed_by_token", node=node, token=token)), node, now)


def _in_order(rows: list[Row], node: str, now: Micros) -> list[Run]:
    runs = [claimed_run(row, node, now) for row in rows]
    runs.sort(key=lambda run: (-run.priority, run.due, run.id))
    return runs


# The fast path


class NewRun(NamedTuple):
    """A new run, as a row for the statements `insert_ready` and `insert_taken`. The run may start now. It has no serial
    key, no limit and no deadline."""

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
    """Permission for this node to claim runs in the transaction that inserts them.

    - `token`: a number that identifies the claim
    - `room`: how many runs may be claimed
    - `queues`: the queues of this node; runs in other queues are not claimed
    - `handlers`: the names of the jobs that this node can run
    - `claimed`: the runs claimed so far
    - `plain`: the number of runs that `insert` has inserted so far, claimed or not
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
        """Append to `claimed` the runs that an earlier try of the transaction has claimed. Call this when the
        transaction is tried again, because the earlier try may have been committed although its reply was lost. If no
        earlier try was committed, nothing is appended."""
        self.claimed += yield from taken_before(self.node, self.token, now)

    def insert(self, runs: Sequence[NewRun], now: Micros) -> Operation[list[str]]:
        """Insert new runs, claim some of them for this node, and return the ids of the claimed runs. The other runs
        become ready.

        A run can be claimed if this node has its job, serves its queue, and has a reserved slot left. The most urgent
        runs are claimed first. No run is claimed if ready runs are already waiting in the node's queues, or if the
        store no longer has the node's row.
        """
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
        """Return whether the node may claim new runs directly. It may do so if no ready run is waiting in its queues,
        and if the store still has the node's row."""
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
    """Return the `Run` for a new run that `node` has claimed directly. It has the same fields as a run that `claim`
    returns."""
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
