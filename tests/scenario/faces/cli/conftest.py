"""Places to run commands at."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.commands import Place
from tests.support.serving import Serving


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings of the machine that runs the tests are not settings of the commands."""
    for name in [name for name in os.environ if name.startswith("OSTINATO_") and "TEST" not in name]:
        monkeypatch.delenv(name)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("server")
    # Without an engine, so that what is started stays where it is, as on a bare store.
    with Serving(folder, "serve", "--no-engine", "--port", "0") as serving:
        yield serving.address


@pytest.fixture(params=["store", "server"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "store":
        here = Place({"OSTINATO_STORE": f"sqlite:///{tmp_path}/store.db", "OSTINATO_SERVER": None}, "store")
        here.run("migrate")
        return here
    namespace = f"n{abs(hash(request.node.name)) % 10**9}"
    here = Place({"OSTINATO_SERVER": request.getfixturevalue("server"), "OSTINATO_STORE": None}, "server")
    here.run("namespaces", "create", namespace)
    here.environ["OSTINATO_NAMESPACE"] = namespace
    return here


@pytest.fixture
def quick_commands(forked_cli: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in forked_cli.items():
        monkeypatch.setenv(name, value)
