"""Find sessions whose run is over, and end them: nobody else finishes their turns.

The run of a session fails if its code does, if it is stopped from outside, or if several nodes in a row have crashed on
it."""

from __future__ import annotations

from ostinato.engine.invariants import LONG, Finding
from ostinato.engine.kinds import Kinds
from ostinato.flows.runner import is_lost
from ostinato.flows.store import read_session, statement
from ostinato.flows.turns import Place, end_session
from ostinato.store.contract import Operation, Rows
from ostinato.when.instants import Micros

FINDINGS = 200  # sessions in one look


def lost_turns() -> Operation[Rows]:
    """Sessions that have turns which nobody will finish: each with one such turn."""
    return (yield statement("lost_turns", limit=FINDINGS))


def scan(now: Micros, repair: bool, kinds: Kinds) -> Operation[list[Finding]]:
    """Find sessions that are open although their run is over. With `repair`, end them; their turns have failed."""
    rows = yield statement("lost_sessions", before=now - LONG, limit=FINDINGS)
    if repair:
        for id, user_id, _ in sorted(rows, key=lambda row: str(row[1])):  # users are locked in one order
            yield statement("lock_agent_user_id", id=user_id)
            session = read_session((yield statement("session_by_id", id=id))[0])
            if session.ended is None and (yield from is_lost(session)):
                place = Place(session.namespace, session.agent, "", now, str)
                yield from end_session(place, session, "lost")
    return [Finding("session_without_run", id, f"is open, but its run {run} is over", repair) for id, _, run in rows]
