"""Define the tables for Temporal's protocol and their statements. The package `faces.temporal` uses them, too."""

from __future__ import annotations

from importlib import resources

from ostinato.store.columns import table
from ostinato.store.sql import Statements

TABLES = {
    "form": table(
        "ostinato_forms", "schedule_id namespace workflow_id keep:int action action_said about about_said updated:int"
    ),
    "temporal_execution": table("ostinato_temporal_executions", "run_id namespace workflow_id request_id action"),
    "search_attribute": table("ostinato_search_attributes", "namespace name type"),
}
statement = Statements(
    resources.files("ostinato.temporal_workflow_ids").joinpath("statements.sql").read_text(encoding="utf-8"), TABLES
)
