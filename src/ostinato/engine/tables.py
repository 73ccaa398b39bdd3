"""List the engine's own tables, and delete the rows of a namespace. The deletion includes the tables of extensions
(`Way`). Some rows, such as runs, prevent the deletion. Events are kept."""

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
    """The tables whose rows belong to namespaces."""

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
        """Return the kinds of rows, such as "runs", that prevent the deletion of `namespace`. If nothing prevents the
        deletion, the list is empty."""
        words = []
        for table in self._restrict:
            if (yield self._statement(f"first_of_{table.name}", namespace=namespace)):
                words.append(table.words or table.name)
        return words

    def drop(self, namespace: str) -> Operation[None]:
        """Delete the rows of a namespace from the tables with `namespace="cascade"`."""
        for table in self._cascade:
            yield self._statement(f"drop_{table.name}", namespace=namespace)
