"""Golden stores: what earlier states of Ostinato have left behind."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import asyncpg

STORES = Path(__file__).parents[1] / "golden" / "stores"


async def load(url: str, name: str) -> dict[str, Any]:
    """Put a golden store where nothing is yet, and return what is in it."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
            connection.executescript((STORES / f"{name}.sqlite.sql").read_text(encoding="utf-8"))
    else:
        remote = await asyncpg.connect(url)
        await remote.execute((STORES / f"{name}.postgres.sql").read_text(encoding="utf-8"))
        await remote.close()
    manifest: dict[str, Any] = json.loads((STORES / f"{name}.json").read_text(encoding="utf-8"))
    return manifest
