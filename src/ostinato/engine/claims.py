"""Taking work: a node claims ready runs, and hands back what it cannot do."""

from __future__ import annotations

import orjson

from ostinato.engine.rows import claimed_run
from ostinato.model import Run
from ostinato.store.contract import Operation, Row, alone, sql
from ostinato.when.instants import Micros


class NodeLost(Exception):
    """This node was given up for dead: its lease ran out, and others have taken its work."""


def claim(
    node: str, token: int, queue: str, limit: int, now: Micros, leave: frozenset[str], tries: int
) -> Operation[list[Run]]:
    """Up to `limit` ready runs of a queue, stamped with this node. `leave` are names that only others know.

    The token tells this claim from every other of the node: where an earlier try may have been committed without
    anyone knowing, what it took is found again instead of being lost."""
    rows: list[Row] = []
    if tries:
        rows = yield sql("claimed_by_token", node=node, token=token)
        if rows:
            return _in_order(rows, node, now)
    if leave:
        names = orjson.dumps(sorted(leave)).decode()
        rows = yield alone("claim_ready_except", node=node, token=token, queue=queue, limit=limit, now=now, names=names)
    else:
        rows = yield alone("claim_ready", node=node, token=token, queue=queue, limit=limit, now=now)
    if not rows and not (yield sql("known_node", id=node)):
        raise NodeLost(node)
    if rows:
        yield sql("started_events", node=node, token=token, now=now)
    return _in_order(rows, node, now)


def _in_order(rows: list[Row], node: str, now: Micros) -> list[Run]:
    runs = [claimed_run(row, node, now) for row in rows]
    runs.sort(key=lambda run: (-run.priority, run.due, run.id))
    return runs
