"""Stop the children of an ended function. The policy of each child says whether to cancel or to terminate the child."""

from __future__ import annotations

from collections.abc import Sequence

from ostinato.engine.claims import DirectClaim
from ostinato.engine.kinds import Kinds
from ostinato.engine.rows import timer_row, whole_run
from ostinato.engine.runs import Ended, after_chains, lock_owners, stop_chain
from ostinato.functions.store import statement
from ostinato.model import Status, Timer
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import Micros

_CHILDREN_AT_ONCE = 100


def stop_children(timers: Sequence[Timer], now: Micros, direct: DirectClaim, kinds: Kinds) -> Operation[list[Row]]:
    """Cancel or terminate the children of ended runs. Return the events that the caller must write. One call stops a
    limited number of children. If there may be more, set the timers again."""
    parents = [(timer.owner,) for timer in timers]
    rows = yield statement("children_to_stop", parents, limit=_CHILDREN_AT_ONCE)
    events: list[Row] = []
    ended: list[Ended] = []
    children = list(map(whole_run, (yield sql("runs_by_ids", [(child,) for _, child, _ in rows])))) if rows else []
    existing = {run.id for run in children}
    owners = yield from lock_owners(children, kinds)
    for _, child, policy in rows:
        if child in existing:
            status = Status.TERMINATED if policy == "terminate" else Status.CANCELLED
            _, more, over = yield from stop_chain(child, status, "its parent ended", now, policy == "terminate", kinds)
            events += more
            ended += over
    if rows:
        yield statement("drop_children", [(parent, child) for parent, child, _ in rows])
    if len(rows) == _CHILDREN_AT_ONCE:
        yield sql("set_timers", [timer_row(timer._replace(due=now)) for timer in timers])
    return events + (yield from after_chains(owners, ended, now, kinds)).events
