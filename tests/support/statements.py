"""The statements and the columns of all tables: those of the store, of ways and of Temporal's wire."""

from __future__ import annotations

from collections.abc import Iterator

from ostinato.flows import store as flows
from ostinato.flows.campaigns import store as campaigns
from ostinato.flows.schedules import rows as agent_schedules
from ostinato.functions import store as functions
from ostinato.journeys import store as journeys
from ostinato.store import columns
from ostinato.store.columns import TableColumns
from ostinato.store.sql import Dialect, Query, queries
from ostinato.temporal_workflow_ids import store as temporal
from ostinato.webhooks import store as webhooks
from ostinato.workflows import store as workflows

_OF_WAYS = (
    (webhooks.statement, webhooks.TABLES),
    (journeys.statement, journeys.TABLES),
    (temporal.statement, temporal.TABLES),
    (workflows.statement, workflows.TABLES),
    (functions.statement, functions.TABLES),
    (flows.statement, flows.TABLES),
    (campaigns.campaign_statement, campaigns.TABLES),
    (agent_schedules.statement, agent_schedules.TABLES),
)


def all_queries(dialect: Dialect) -> dict[str, Query]:
    """The statements by name; no two have the same."""
    parts = [queries(dialect), *(statement.queries(dialect) for statement, _ in _OF_WAYS)]
    merged = {name: query for part in parts for name, query in part.items()}
    assert len(merged) == sum(map(len, parts))
    return merged


def all_tables() -> Iterator[tuple[str, TableColumns]]:
    """The columns of tables, with the names that statements use for them."""
    for tables in (columns.TABLES, *(tables for _, tables in _OF_WAYS)):
        yield from tables.items()
