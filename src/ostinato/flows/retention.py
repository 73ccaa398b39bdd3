"""Delete old conversations and old campaigns of an agent. The agent's setting `keep` says how long they are kept.
Without this setting, nothing is deleted. Each call of `delete_old` deletes a limited number of rows."""

from __future__ import annotations

from ostinato.flows.campaigns.store import campaign_statement
from ostinato.flows.store import statement
from ostinato.store.contract import Operation
from ostinato.when.instants import Micros

_SESSIONS = 200  # in one transaction
_ROWS = 2000  # recipients, or turns without a session, in one transaction


def delete_old(agent: str, before: Micros) -> Operation[bool]:
    """Delete some of an agent's sessions, turns and campaigns that ended before the time `before`. Return whether there
    may be more to delete."""
    sessions = yield statement("old_sessions", agent=agent, before=before, limit=_SESSIONS)
    if sessions:
        ids = [(row[0],) for row in sessions]
        for what in ("session_messages", "session_outgoing", "session_escalations", "session_turns", "sessions"):
            yield statement(f"drop_{what}", ids)
    turns = yield statement("drop_turns_without_session", agent=agent, before=before, limit=_ROWS)
    campaigns = yield campaign_statement("old_campaign", agent=agent, before=before)
    for (id,) in campaigns:
        dropped = yield campaign_statement("drop_recipients", id=id, limit=_ROWS)
        if len(dropped) < _ROWS:
            yield campaign_statement("drop_campaign", id=id)
    return bool(campaigns) or len(sessions) == _SESSIONS or len(turns) == _ROWS
