"""Find sessions and campaigns that are open although their run is over, and end them.

Otherwise their turns would never get an outcome. A run is over early if its code fails or if it is stopped from
outside. It also fails if several nodes in a row have crashed while running it.
"""

from __future__ import annotations

from collections.abc import Callable

from ostinato.engine.invariants import LONG, Finding
from ostinato.engine.kinds import Kinds
from ostinato.flows.campaigns.changes import end_lost_campaign
from ostinato.flows.campaigns.store import campaign_statement
from ostinato.flows.store import statement
from ostinato.flows.turns import Place, end_if_lost
from ostinato.store.contract import Operation, Rows
from ostinato.when.instants import Micros

FINDINGS = 200  # most rows that one query returns


def lost_turns() -> Operation[Rows]:
    """Find sessions that have unfinished turns although their run is over or was deleted. Return one row for each
    session: its id, and the id of its newest unfinished turn."""
    return (yield statement("lost_turns", limit=FINDINGS))


def newly_lost_sessions(since: Micros) -> Operation[Rows]:
    """Return rows of sessions that are open although their run has ended since a time: session id, user id, run id."""
    return (yield statement("newly_lost_sessions", since=since, limit=FINDINGS))


def end_lost_sessions(rows: Rows, now: Micros, new_id: Callable[[Micros], str]) -> Operation[None]:
    """End each session in `rows` whose run is over. A row is a session id, a user id and a run id. This locks the
    users."""
    for id, user_id, _ in sorted(rows, key=lambda row: str(row[1])):  # users are locked in one order
        yield from end_if_lost(id, user_id, now, new_id)


def lost_campaigns(before: Micros) -> Operation[Rows]:
    """Find open campaigns whose run ended before a time or was deleted. Return rows of the campaign's id, namespace and
    agent, and the status of the run."""
    return (yield campaign_statement("lost_campaigns", before=before, limit=FINDINGS))


def scan(now: Micros, repair: bool, kinds: Kinds) -> Operation[list[Finding]]:
    """Return a finding for each session and campaign that is open although its run is over. With `repair`, end them;
    unfinished turns of these sessions fail."""
    rows = yield statement("lost_sessions", before=now - LONG, limit=FINDINGS)
    if repair:
        yield from end_lost_sessions(rows, now, str)
    findings = [
        Finding("session_without_run", id, f"is open, but its run {run} is over", repair) for id, _, run in rows
    ]
    for id, namespace, agent, status in (yield from lost_campaigns(now - LONG)):
        if repair:
            yield from end_lost_campaign(Place(namespace, agent, "", now, str), id, lost_reason(status))
        findings.append(Finding("campaign_without_run", id, f"is not over, but its run is {status}", repair))
    return findings


def lost_reason(status: str) -> str:
    """Return the reason for stopping a campaign after its run has ended. `status` is the status of the run."""
    return f"run_{status}"
