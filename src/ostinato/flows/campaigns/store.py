"""Define the tables of campaigns, their SQL statements, and the conversion of rows into records."""

from __future__ import annotations

from importlib import resources

from ostinato.errors import NotFound
from ostinato.flows.campaigns.model import CampaignRecord, RecipientRecord
from ostinato.flows.store import TABLES as AGENT_TABLES
from ostinato.store.columns import reader, table, writer
from ostinato.store.contract import Operation
from ostinato.store.sql import Statements

TABLES = {
    "campaign": table(
        "ostinato_agent_campaigns",
        """id namespace agent occurrence campaign_id schedule_id scheduled_for:int definition status reason total:int
        as_of:int arrival:int created:int resolved:int finished:int outcome counts actor resolution
        tallies sent_id""",
    ),
    "recipient": table(
        "ostinato_agent_recipients",
        """campaign_id external_id namespace user_id status due:int variant outcome reason turn_id session_id
        started:int finished:int delivered:int""",
    ),
}
read_campaign = reader(CampaignRecord, TABLES["campaign"].columns)
campaign_row = writer(TABLES["campaign"].columns)
RECIPIENT_COLUMNS = TABLES["recipient"].columns
read_recipient = reader(RecipientRecord, RECIPIENT_COLUMNS)
recipient_row = writer(RECIPIENT_COLUMNS)

campaign_statement = Statements(
    resources.files("ostinato.flows.campaigns").joinpath("statements.sql").read_text(encoding="utf-8"),
    {**AGENT_TABLES, **TABLES},
)


def lock_campaign(campaign_id: str) -> Operation[CampaignRecord]:
    """Lock a campaign until the transaction ends, and return it. Raises `NotFound` if there is no such campaign."""
    rows = yield campaign_statement("lock_campaign", id=campaign_id)
    if not rows:
        raise NotFound(f"there is no campaign {campaign_id!r}")
    return read_campaign(rows[0])
