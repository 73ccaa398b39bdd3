"""Claim ready runs for a node."""

from __future__ import annotations

import orjson

from ostinato.engine.rows import claimed_run
from ostinato.model import Run
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
