"""Create the store object for a URL."""

from __future__ import annotations

from ostinato.errors import NotAStore
from ostinato.store.contract import Store
from ostinato.store.sqlite import SqliteStore

_HINT = "write sqlite:///ostinato.db or postgresql://user@host/database"


def open_url(url: str, *, inline: bool = False) -> Store:
    """Return the store for `sqlite:///file.db`, a plain file name, or `postgresql://…`. The store is not connected yet.
    If `inline` is true, the store can be used on virtual time. Raises `NotAStore` for any other URL."""
    scheme, separator, rest = url.partition("://")
    if not separator:
        if not url or "?" in url:
            raise NotAStore(f"the store URL {url!r} names no store; {_HINT}")
        return SqliteStore(url, inline=inline)
    if scheme == "sqlite":
        if not rest.startswith("/") or rest == "/":
            raise NotAStore(f"the store URL {url!r} names no file; write sqlite:///ostinato.db (three slashes)")
        return SqliteStore(rest[1:], inline=inline)
    if scheme in ("postgresql", "postgres"):
        from ostinato.store.postgres import PostgresStore

        return PostgresStore(url, idle=0 if inline else 300)  # in virtual time, 300 s pass at once
    raise NotAStore(f"the store URL {url!r} has an unknown scheme {scheme!r}; {_HINT}")
