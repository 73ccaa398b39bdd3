"""Define the tables of workflows, their statements and their migrations."""

from __future__ import annotations

from importlib import resources

from ostinato.store.columns import table
from ostinato.store.contract import Migration
from ostinato.store.sql import Statements

TABLES = {
    "workflow": table(
        "ostinato_workflow_definitions",
        """id namespace name version:int repairs:int digest definition source state run_id blocked logic_failures:int
        created:int updated:int actor""",
    ),
    "handler": table(
        "ostinato_workflow_handlers",
        "workflow_id name type state next_run:int wake_at:int dirty:int not_before:int last_run:int",
    ),
    "handler_run": table(
        "ostinato_workflow_runs",
        """run_id workflow_id handler type retry_of version:int repairs:int phase status prepared outcome error
        failures:int crashes:int created:int updated:int""",
    ),
    "topic_event": table(
        "ostinato_workflow_events",
        "id workflow_id topic message_id payload status reserved_by created_by attempt:int created:int updated:int",
    ),
    "input": table("ostinato_workflow_inputs", "id workflow_id source type external_id title created:int skipped:int"),
    "mutation": table(
        "ostinato_workflow_mutations",
        """id workflow_id origin_run run_id mutator params key status title result error attempts:int next_at:int
        resolved_by created:int updated:int""",
    ),
}


def _file(name: str) -> str:
    return resources.files("ostinato.workflows").joinpath(name).read_text(encoding="utf-8")


statement = Statements(_file("statements.sql"), TABLES)
MIGRATIONS = (
    Migration(_file("migrations/0001.sqlite.sql"), _file("migrations/0001.postgres.sql")),
    Migration(_file("migrations/0002.sql")),
)
