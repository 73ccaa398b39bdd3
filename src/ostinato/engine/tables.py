"""List the engine's own tables. When a namespace is deleted, delete its rows from the tables.

A namespace that still has rows in certain tables, for example runs, cannot be deleted. The events of a deleted
namespace are kept.
"""

from __future__ import annotations

from collections.abc import Iterable

from ostinato.engine.ways import Table
from ostinato.store.contract import Operation
from ostinato.store.sql import Statements

TABLES = (
    Table("ostinato_runs", "restrict", "runs"),
    Table("ostinato_timers", "cascade"),
    Table("ostinato_serials", "cascade"),
    Table("ostinato_limits", "cascade"),
    Table("ostinato_requests", "cascade"),
    Table("ostinato_tokens", "cascade"),
    Table("ostinato_namespaces"),
    Table("ostinato_jobs"),
    Table("ostinato_nodes"),
    Table("ostinato_logs"),
    Table("ostinato_events"),  # the history stays
    Table("ostinato_drafts"),
    Table("ostinato_cursors"),
    Table("ostinato_meta"),
)


class NamespaceTables:
    """Checks whether a namespace can be deleted, and deletes its rows. `tables` are the tables of the engine and of the
    extensions (`Way`)."""

    def __init__(self, tables: Iterable[Table]) -> None:
        tables = list(tables)
        self._restrict = [table for table in tables if table.namespace == "restrict"]
        self._cascade = [table for table in tables if table.namespace == "cascade"]
        first = [
            f"-- first_of_{table.name}: any row.\nSELECT 1 FROM {table.name} WHERE namespace = :namespace LIMIT 1"
            for table in self._restrict
        ]
        drop = [
            f"-- drop_{table.name}: all rows.\nDELETE FROM {table.name} WHERE namespace = :namespace"
            for table in self._cascade
        ]
        self._statement = Statements("\n\n".join(first + drop))

    def left(self, namespace: str) -> Operation[list[str]]:
        """Return what `namespace` still has that prevents its deletion, for example `["runs"]`. The list is empty if
        the namespace can be deleted."""
        words = []
        for table in self._restrict:
            if (yield self._statement(f"first_of_{table.name}", namespace=namespace)):
                words.append(table.words or table.name)
        return words

    def drop(self, namespace: str) -> Operation[None]:
        """Delete the rows of `namespace` from each table that is declared with `Table(…, "cascade")`. Rows in other
        tables stay."""
        for table in self._cascade:
            yield self._statement(f"drop_{table.name}", namespace=namespace)
