"""`--app module:name`: the app that is meant, or words that help."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ostinato import Ostinato
from ostinato.errors import OstinatoError
from ostinato.faces.cli.loading import load_app

SOURCE = """
from ostinato import Ostinato

app = Ostinato("sqlite:///of-the-app.db")
other = 7

async def make(): ...

def build(): ...

class holder:
    inner = app
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "myjobs.py").write_text(SOURCE)
    (tmp_path / "broken.py").write_text("import nowhere_to_be_found\n")
    (tmp_path / "raising.py").write_text("1 / 0\n")
    (tmp_path / "wrong.py").write_text("from ostinato import Ostinato\napp = Ostinato(threads=0)\n")
    runs = "\nimport asyncio\nasync def main() -> None: ...\nasyncio.run(main())\n"
    (tmp_path / "running.py").write_text(f"{SOURCE}{runs}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    for name in ("myjobs", "broken", "raising", "wrong", "running"):
        sys.modules.pop(name, None)


@pytest.mark.usefixtures("here")
def test_an_app_is_found_by_its_name() -> None:
    assert isinstance(load_app("myjobs:app"), Ostinato)
    assert load_app("myjobs:holder.inner").store.url == "sqlite:///of-the-app.db"


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("myjobs", "does not name an app; write --app module:name"),
        ("myjobs.py:app", "does not name an app"),
        ("dir/myjobs:app", "does not name an app"),
        (":app", "does not name an app"),
        ("myjbos:app", "there is no module 'myjbos', installed or in"),
        ("myjbos:app", "did you mean 'myjobs'?"),
        ("myjobs.deeper:app", "myjobs"),
        ("broken:app", "needs 'nowhere_to_be_found', which is not installed"),
        ("raising:app", "cannot be imported: ZeroDivisionError: division by zero"),
        ("wrong:app", "the module wrong: threads 0 is not a whole number from 1"),
        ("myjobs:ap", "has no 'ap'; did you mean 'app'?"),
        ("myjobs:nothing", "has no 'nothing'; it has app"),
        ("myjobs:make", "is async"),
        ("myjobs:build", "is a function; name the Ostinato itself"),
        ("myjobs:other", "is of the type int, not an Ostinato"),
    ],
)
def test_anything_else_is_refused_with_words_that_help(text: str, message: str) -> None:
    with pytest.raises(OstinatoError) as raised:
        load_app(text)
    assert message in str(raised.value)


@pytest.mark.usefixtures("here")
@pytest.mark.filterwarnings("error")  # such as: coroutine 'main' was never awaited
def test_a_module_that_runs_a_loop_when_it_is_imported_is_told_of_the_guard() -> None:
    async def load() -> None:
        load_app("running:app")

    with pytest.raises(OstinatoError) as raised:
        asyncio.run(load())
    assert "the module running runs asyncio code while it is imported: asyncio.run() cannot be" in str(raised.value)
    assert 'Put the call under `if __name__ == "__main__":`, or into another file' in str(raised.value)


def test_what_an_operator_says_goes_over_the_code() -> None:
    app = Ostinato("sqlite:///of-the-app.db", concurrency=5)
    app.configure("sqlite:///other.db", queues=["mail"], grace="1s")
    assert app.store.url == "sqlite:///other.db"
    assert app.settings.queues == ("mail",)
    assert app.settings.concurrency == 5
    assert app.settings.grace == 1_000_000
    with pytest.raises(OstinatoError, match="no setting 'queue'"):
        app.configure(queue=["a"])
    with pytest.raises(OstinatoError, match="lease '1ms' is too short"):
        app.configure(lease="1ms")
