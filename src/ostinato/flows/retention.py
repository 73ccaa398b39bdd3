"""Delete old conversations and campaigns of an agent that has the setting `keep`, a bounded number at a time."""

from __future__ import annotations

from ostinato.flows.campaigns.store import campaign_statement
from ostinato.flows.store import statement
from ostinato.store.contract import Operation
from ostinato.when.instants import Micros

_SESSIONS = 200  # in one transaction
_ROWS = 2000  # recipients, or turns without a session, in one transaction


def delete_old(agent: str, before: Micros) -> Operation[bool]:
    """Delete one batch of an agent's old rows, and return whether more may be left.

    Sessions and campaigns are old if they ended before the time `before`. Sessions are deleted with their turns and
    messages. Campaigns are deleted with their recipients. Old turns without a session are deleted, too.
    """
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
