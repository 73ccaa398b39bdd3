"""List the tables that store schedules."""

from __future__ import annotations

from ostinato.engine.ways import Table

TABLES = (
    Table("ostinato_schedules", "restrict", "schedules"),
    Table("ostinato_schedule_labels", "cascade"),
    Table("ostinato_backfills", "cascade"),
)
