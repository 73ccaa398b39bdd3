"""Define the table of webhooks and its statements."""

from __future__ import annotations

from importlib import resources

from ostinato.store.columns import table
from ostinato.store.sql import Statements

TABLES = {
    "webhook": table(
        "ostinato_webhooks",
        """id namespace url patterns secrets notes state reason seq:int replays:int failing:int failing_seq:int
        succeeded:int created:int updated:int actor""",
    ),
}
statement = Statements(
    resources.files("ostinato.webhooks").joinpath("statements.sql").read_text(encoding="utf-8"), TABLES
)
