"""Stores as tests open them."""

from __future__ import annotations

from ostinato.store.contract import Store
from ostinato.store.sqlite import SqliteStore


def quick(url: str) -> Store | str:
    """The same store; a file without waiting for the disk."""
    is_file = url.startswith("sqlite")
    return SqliteStore(url.removeprefix("sqlite:///"), inline=True, durable=False) if is_file else url
