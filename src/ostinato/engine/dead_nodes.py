"""Recognise a dead node by its expired lease, and recover its runs. `is_gone` in store/sql/nodes.sql states the rule.

After an outage of the store, the leases of live nodes have expired, too. So a node may declare other nodes dead only
after it has renewed its own lease for some time without a break.
"""

from __future__ import annotations

from collections.abc import Callable

from ostinato.engine import crashes
from ostinato.engine.kinds import Kinds
from ostinato.engine.membership import BITE
from ostinato.engine.rows import whole_run
from ostinato.store.contract import Operation, sql
from ostinato.when.instants import Micros


def find_dead(by: str, now: Micros) -> Operation[list[str]]:
    """Return the ids of the nodes that the node `by` may declare dead."""
    rows = yield sql("gone_nodes", by=by, now=now)
    return [row[0] for row in rows]


def recover(node: str, by: str, now: Micros, new_id: Callable[[Micros], str], kinds: Kinds) -> Operation[int]:
    """Recover up to `BITE` runs of the dead node `node`, and return the number of these runs. `by` is the node that
    recovers them. Runs of kinds that this process does not know are left to other nodes. If `node` holds no runs after
    that, the row of `node` is deleted.

    Does nothing and returns 0 in two cases:

    - `by` may not declare `node` dead.
    - Another node is recovering the runs of `node` at the same time.
    """
    still = yield sql("gone_node", id=node, by=by, now=now)
    if not still:
        return 0
    rows = yield sql("active_of_node", node=node, limit=BITE, kinds=kinds.names)
    if rows:
        yield from crashes.recover([whole_run(row) for row in rows], node, now, new_id, kinds)
    if len(rows) < BITE:
        yield sql("drop_idle_node", id=node)
    return len(rows)
