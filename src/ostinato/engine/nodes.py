"""Nodes and their leases: joining, renewing, leaving, and taking over from those that are gone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import orjson

from ostinato.engine import outcomes
from ostinato.engine.rows import whole_run
from ostinato.engine.runs import End, end
from ostinato.model import Status
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import Micros

_BITE = 500
# Leases are renewed five times in their length. After this share of one, in per cent, without a renewal, others may
# have been kept from it, too, and may take a little longer to come back. (An outage that ends a lease lasts at least
# four fifths of it.)
_BREAK = 50


@dataclass(frozen=True, slots=True)
class NodeInfo:
    id: str
    name: str
    started: Micros
    lease_until: Micros
    queues: tuple[str, ...]
    handlers: tuple[str, ...]
    version: str
    zone_rules: str


@dataclass(frozen=True, slots=True)
class Pulse:
    """What a heartbeat learns. Not `alive`: the node was given up for dead, and its claims are gone."""

    alive: bool
    nodes: tuple[NodeInfo, ...] = ()
    at: Micros = 0


def join(node: NodeInfo, jobs: Sequence[Row] = ()) -> Operation[None]:
    """Become a node. `jobs` are the names of its jobs and what a start must know about them."""
    if jobs:
        yield sql("declare_jobs", jobs)
    yield sql(
        "add_node",
        id=node.id,
        name=node.name,
        now=node.started,
        lease_until=node.lease_until,
        lease=node.lease_until - node.started,
        queues=orjson.dumps(node.queues).decode(),
        handlers=orjson.dumps(node.handlers).decode(),
        version=node.version,
        zone_rules=node.zone_rules,
    )


def heartbeat(node: str, clock: Callable[[], Micros], lease: Micros) -> Operation[Pulse]:
    """Renew the lease, from the moment of the write on, however long that was waited for; learn who else is there."""
    now = clock()
    lapsed, ahead = now + lease - _BREAK * lease // 100, now + 2 * lease
    renewed = yield sql(
        "renew_lease", id=node, lease_until=now + lease, lease=lease, now=now, lapsed=lapsed, ahead=ahead
    )
    if not renewed:
        return Pulse(False)
    nodes = yield from list_nodes()
    drafts = yield sql("any_drafts")
    if drafts:
        yield sql("move_drafts")
    return Pulse(True, nodes, now)


def list_nodes() -> Operation[tuple[NodeInfo, ...]]:
    rows = yield sql("list_nodes")
    return tuple(
        NodeInfo(id, name, started, until, tuple(orjson.loads(queues)), tuple(orjson.loads(handlers)), version, rules)
        for id, name, started, until, queues, handlers, version, rules in rows
    )


def gone(by: str, now: Micros) -> Operation[list[str]]:
    """Nodes that the node `by` may give up for dead."""
    rows = yield sql("gone_nodes", by=by, now=now)
    return [row[0] for row in rows]


def recover(node: str, by: str, now: Micros, new_id: Callable[[Micros], str]) -> Operation[int]:
    """Take over from a node that is gone: its runs follow their kind's own rule. A bounded bite; returns how many runs
    were recovered, and leaves the node on record until it has none."""
    still = yield sql("gone_node", id=node, by=by, now=now)
    if not still:
        return 0
    rows = yield sql("active_of_node", node=node, limit=_BITE)
    if len(rows) < _BITE:
        yield sql("drop_node", id=node)
    if rows:
        yield from outcomes.recover([whole_run(row) for row in rows], node, now, new_id)
    return len(rows)


def leave(node: str, begun: Mapping[str, int], now: Micros, new_id: Callable[[Micros], str]) -> Operation[int]:
    """Give up what this node still holds, a bite of it, and go when nothing is left; returns how much it was. What has
    never begun (a claim may have been committed while the node was stopping) is handed back. What has `begun` (run,
    claim) and whose outcome could not be written, or which does not heed its cancellation, has crashed: handed back,
    the same attempt would be executed twice."""
    runs = [whole_run(row) for row in (yield sql("active_of_node", node=node, limit=_BITE))]
    if len(runs) < _BITE:
        yield sql("drop_node", id=node)
    crashed = [run for run in runs if begun.get(run.id) == run.claim]
    unbegun = [run for run in runs if begun.get(run.id) != run.claim]
    if crashed:
        yield from outcomes.recover(crashed, node, now, new_id)
    if unbegun:
        yield from end([End(run, Status.READY, finished=False, event="run:handed_back") for run in unbegun], node, now)
    return len(runs) if len(runs) == _BITE else 0
