"""Find sessions and campaigns that are open although their run is over, and end them.

If such a session or campaign stayed open, its turns would never get an outcome. A run is over early if its code fails,
if it is stopped from outside, or if several nodes in a row crash while running it.
"""

from __future__ import annotations

from collections.abc import Callable

from ostinato.engine.invariants import LONG, Finding
from ostinato.engine.kinds import Kinds
from ostinato.flows.campaigns.changes import end_lost_campaign
from ostinato.flows.campaigns.store import campaign_statement
from ostinato.flows.store import statement
from ostinato.flows.turns import TransactionContext, end_if_lost
from ostinato.store.contract import Operation, Rows
from ostinato.when.instants import Micros

FINDINGS = 200  # most rows that one query returns


def end_lost_sessions(rows: Rows, now: Micros, new_id: Callable[[Micros], str]) -> Operation[None]:
    """End the sessions in `rows` whose run is over. Each row is a session id, a user id and a run id. Lock the user of
    a session before ending the session."""
    for id, user_id, _ in sorted(rows, key=lambda row: str(row[1])):  # users are locked in one order
        yield from end_if_lost(id, user_id, now, new_id)


def lost_campaigns(before: Micros) -> Operation[Rows]:
    """Return the open campaigns whose run ended before the time `before` or was deleted. Each row is a campaign's id,
    namespace and agent, and the status of its run."""
    return (yield campaign_statement("lost_campaigns", before=before, limit=FINDINGS))


def scan(now: Micros, repair: bool, kinds: Kinds) -> Operation[list[Finding]]:
    """Return a finding for each session and campaign that is open although its run ended more than `LONG` ago or was
    deleted. Return at most `FINDINGS` findings for sessions, and as many for campaigns.

    If `repair` is true, end these sessions, and take one step to end each of these campaigns:

    - If the campaign is over after this step, mark its finding as repaired.
    - Otherwise the campaign now has the status `stopping`, and its finding is not marked as repaired. The next call
      with `repair` takes the next step.
    """
    rows = yield statement("lost_sessions", before=now - LONG, limit=FINDINGS)
    if repair:
        yield from end_lost_sessions(rows, now, str)
    findings = [
        Finding("session_without_run", id, f"is open, but its run {run} is over", repair) for id, _, run in rows
    ]
    for id, namespace, agent, status in (yield from lost_campaigns(now - LONG)):
        place = TransactionContext(namespace, agent, "", now, str)
        over = repair and (yield from end_lost_campaign(place, id, status)) == "over"
        findings.append(Finding("campaign_without_run", id, f"is not over, but its run is {status}", over))
    return findings
