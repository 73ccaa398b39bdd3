"""Taking work: a node claims ready runs, and hands back what it cannot do."""

from __future__ import annotations

from collections.abc import Collection, Container
from dataclasses import dataclass, field, replace

import orjson

from ostinato.engine.rows import claimed_run
from ostinato.model import Run
from ostinato.store.contract import Operation, Row, alone, sql
from ostinato.when.instants import Micros


@dataclass(slots=True)
class Hands:
    """What a node that fires may take at once: so many runs of its queues that it can run. What it has taken is on
    record as claimed, by its token, when the firing is. `plain`: timers that did nothing but start something."""

    node: str
    token: int
    room: int
    queues: Collection[str]
    handlers: Container[str]
    taken: list[Run] = field(default_factory=list)
    plain: int = 0

    def anew(self) -> Hands:
        return replace(self, taken=[], plain=0)

    def fit(self, kind: str, name: str, queue: str) -> bool:
        return kind == "job" and name in self.handlers and queue in self.queues

    def free(self) -> Operation[bool]:
        """Whether nobody stands in line before what is fired, and this node is still on record."""
        return bool((yield sql("may_take", [(queue,) for queue in self.queues], node=self.node)))


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
        taken = yield from taken_before(node, token, now)
        if taken:
            return taken
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


def taken_before(node: str, token: int, now: Micros) -> Operation[list[Run]]:
    """What an earlier try took, if it was committed."""
    return _in_order((yield sql("claimed_by_token", node=node, token=token)), node, now)


def _in_order(rows: list[Row], node: str, now: Micros) -> list[Run]:
    runs = [claimed_run(row, node, now) for row in rows]
    runs.sort(key=lambda run: (-run.priority, run.due, run.id))
    return runs
