"""Declaring jobs: names, options, and near misses."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ostinato import Ostinato, OstinatoError
from ostinato.engine.jobs import fill
from ostinato.start_checks import read_limit


async def work(a: int = 1) -> None: ...


@pytest.mark.parametrize(
    "options",
    [
        {"priority": "high"},
        {"queue": 5},
        {"queue": ""},
        {"name": ""},
        {"name": 5},
        {"serial_key": "{b}"},
        {"serial_key": 5},
    ],
)
def test_options_of_a_job(options: dict[str, Any]) -> None:
    app = Ostinato("sqlite:///never-opened.db")
    with pytest.raises(OstinatoError, match=next(iter(options))):
        app.job(**options)(work)


@pytest.fixture
def app() -> Any:
    return Ostinato("sqlite:///:memory:")


def test_the_decorator_needs_no_parentheses(app: Ostinato) -> None:
    @app.job
    async def plain() -> None: ...

    @app.job()
    async def called() -> None: ...

    assert app._name_of(plain) == "plain"
    assert app._name_of(called) == "called"


def test_braces_in_the_name_of_a_job_are_no_template() -> None:
    limit = read_limit(3, "mail {0}")
    assert limit is not None
    assert fill(limit.key, {}, "the concurrency key") == "job:mail (0)"


ONE = """
from tests.unit.engine.test_jobs import APP as app

@app.job
async def send(to: str) -> None: ...
"""
MOVED = ONE.replace("@app.job", "import asyncio\n\n\n@app.job")
TWO = (
    ONE
    + """

@app.job(retry=3)
async def send(to: str, text: str) -> None: ...
"""
)
SCHEDULED = """
from tests.unit.engine.test_jobs import APP as app

@app.schedule("0 9 * * *")
async def send() -> None: ...

@app.schedule("0 10 * * *")
async def send() -> None: ...
"""
APP = Ostinato("sqlite:///:memory:")


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(sys.modules[__name__], "APP", Ostinato("sqlite:///:memory:"))
    yield tmp_path / "jobs_of_a_user.py"
    sys.modules.pop("jobs_of_a_user", None)


def load(file: Path, text: str) -> ModuleType:
    file.write_text(text)
    importlib.invalidate_caches()
    loaded = sys.modules.get("jobs_of_a_user")
    return importlib.import_module("jobs_of_a_user") if loaded is None else importlib.reload(loaded)


@pytest.mark.parametrize("text", [TWO, SCHEDULED])
def test_two_functions_of_one_name_in_one_file_are_refused(module: Path, text: str) -> None:
    with pytest.raises(OstinatoError, match=r"there are two jobs called 'send'; give one of them name=…"):
        load(module, text)


def test_a_module_that_is_reloaded_replaces_its_own(module: Path) -> None:
    load(module, ONE)
    again = load(module, ONE)
    assert APP._handlers["send"].function is again.send
    moved = load(module, MOVED)  # on another line now
    assert APP._handlers["send"].function is moved.send


def test_a_second_function_that_an_edit_adds_is_refused(module: Path) -> None:
    load(module, ONE)
    with pytest.raises(OstinatoError, match="there are two jobs called 'send'"):
        load(module, TWO)
