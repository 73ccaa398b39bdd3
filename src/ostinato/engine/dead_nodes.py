"""Recognise a dead node by its lease, and recover its runs.

A node counts as dead when its lease has expired. A lease that ends too far in the future counts as expired: the clock
was set back.

After an outage of the store, live nodes have expired leases, too. So a node first renews its own lease for some time,
without a break. Only then does the node declare other nodes dead. `is_gone` in store/sql/nodes.sql states the rule.
"""

from __future__ import annotations

from collections.abc import Callable

from ostinato.engine import crashes
from ostinato.engine.kinds import Kinds
from ostinato.engine.membership import BITE
from ostinato.engine.rows import whole_run
from ostinato.store.contract import Operation, sql
from ostinato.when.instants import Micros


def gone(by: str, now: Micros) -> Operation[list[str]]:
    """Return the ids of the nodes that the node `by` may declare dead. The SQL condition `is_gone` states the rule."""
    rows = yield sql("gone_nodes", by=by, now=now)
    return [row[0] for row in rows]


def recover(node: str, by: str, now: Micros, new_id: Callable[[Micros], str], kinds: Kinds) -> Operation[int]:
    """Recover up to `BITE` runs of a dead node by the rules of their kinds. Returns the number of recovered runs, or 0
    if the node is not dead any more. When the node has no runs left, its row is deleted. Runs of kinds that this
    process does not know are left to other nodes."""
    still = yield sql("gone_node", id=node, by=by, now=now)
    if not still:
        return 0
    rows = yield sql("active_of_node", node=node, limit=BITE, kinds=kinds.names)
    if rows:
        yield from crashes.recover([whole_run(row) for row in rows], node, now, new_id, kinds)
    if len(rows) < BITE:
        yield sql("drop_idle_node", id=node)
    return len(rows)
