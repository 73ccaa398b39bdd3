"""Let a node join a store, renew its lease, and leave. If it ends without leaving, `dead_nodes` recovers its runs."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass

import orjson

from ostinato.engine import crashes
from ostinato.engine.kinds import JOB, Kinds
from ostinato.engine.rows import whole_run
from ostinato.engine.runs import End, end
from ostinato.model import Status
from ostinato.store.columns import TABLES, reader
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import Micros

BITE = 500  # runs to recover or hand back in one transaction
# A lease is renewed five times in its length. If a node has not renewed for this percentage of its lease, the renewals
# had a break: the store may have been unavailable for all nodes, and other nodes may need longer to renew. (An outage
# in which a lease expires lasts at least four fifths of the lease.)
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
    kinds: tuple[str, ...] = (JOB,)


@dataclass(frozen=True, slots=True)
class Pulse:
    """The result of a heartbeat. If other nodes have taken over the runs of this node, `alive` is false and `nodes` is
    empty. Otherwise `nodes` has all nodes of the store, and `at` is the time of the renewal."""

    alive: bool
    nodes: tuple[NodeInfo, ...] = ()
    at: Micros = 0


def join(node: NodeInfo, jobs: Sequence[Row] = ()) -> Operation[None]:
    """Insert the row of a new node, and declare its jobs. `jobs` has a row (name, declaration) for each job."""
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
        kinds=orjson.dumps(node.kinds).decode(),
    )


def heartbeat(node: str, clock: Callable[[], Micros], lease: Micros) -> Operation[Pulse]:
    """Renew the lease of a node, and return a `Pulse`. The new lease begins at the time that `clock` returns in this
    transaction. If the lease was renewed, also give sequence numbers to drafts. A draft is an event that a caller has
    committed in its own transaction."""
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
    return tuple(map(_read_node, rows))


def _read_tuple(text: str | None) -> tuple[str, ...]:
    return tuple(orjson.loads(text)) if text else ()


_read_node = reader(NodeInfo, TABLES["node"].columns, queues=_read_tuple, handlers=_read_tuple, kinds=_read_tuple)


def leave(
    node: str,
    begun: Mapping[str, int],
    in_thread: Container[tuple[str, int]],
    now: Micros,
    new_id: Callable[[Micros], str],
    kinds: Kinds,
) -> Operation[int]:
    """Release up to `BITE` runs that `node` holds. Returns `BITE` if the node may hold more runs. Returns 0 if all its
    runs are released. Call this again until it returns 0. The call that returns 0 also deletes the node's row.

    - `begun`: a dict from run id to claim, for runs whose bodies began on this node. Jobs among these runs count as
      crashed. Runs of other kinds are resumed or ended by the rules of their kind. All runs that are not in `begun` are
      handed back, so that another node can claim them.
    - `in_thread`: pairs of (run id, claim), for runs whose function is still running in a thread. The stored reason of
      their crash is `THREAD_LEFT` instead of `NODE_LOST`.
    """
    runs = [whole_run(row) for row in (yield sql("active_of_node", node=node, limit=BITE, kinds=kinds.names))]
    if len(runs) < BITE:
        yield sql("drop_node", id=node)
    crashed = [run for run in runs if begun.get(run.id) == run.claim]
    unbegun = [run for run in runs if begun.get(run.id) != run.claim]
    lost = [run for run in crashed if (run.id, run.claim) not in in_thread]
    if lost:
        yield from crashes.recover(lost, node, now, new_id, kinds)
    left = [run for run in crashed if (run.id, run.claim) in in_thread]
    if left:
        yield from crashes.recover(left, node, now, new_id, kinds, crashes.THREAD_LEFT)
    if unbegun:
        handed_back = [End(run, Status.READY, finished=False, event="run:handed_back") for run in unbegun]
        yield from end(handed_back, node, now, kinds)
    return len(runs) if len(runs) == BITE else 0
