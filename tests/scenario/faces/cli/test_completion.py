"""What the shell is offered: names from the store, and words of options; nothing is made, changed or printed."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import get_args

import pytest
from typer.testing import CliRunner

from ostinato.faces.cli import completion
from ostinato.faces.cli.main import app
from ostinato.faces.options import SCHEDULE_OPTIONS
from ostinato.model import Status
from ostinato.schedules.model import Overlap, State
from ostinato.store.migrate import migrations


def complete(store: str, *words: str) -> list[str]:
    environ = {
        "_OSTINATO_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(["ostinato", *words]),
        "COMP_CWORD": str(len(words)),
        "OSTINATO_STORE": store,
        "OSTINATO_SERVER": None,
    }
    done = CliRunner().invoke(app, [], prog_name="ostinato", env=environ)
    assert done.exit_code == 0, done.output
    assert done.stderr == ""
    return [line for line in done.stdout.splitlines() if line]


def run(store: str, *words: str) -> None:
    done = CliRunner().invoke(app, list(words), env={"OSTINATO_STORE": store, "OSTINATO_SERVER": None})
    assert done.exit_code == 0, done.output


JOURNEY = """\
apiVersion: v1
kind: Journey
metadata: {name: order, version: 1.0.0}
spec:
  start: done
  states:
    done: {type: succeed}
"""


def test_names_and_words_are_completed(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/store.db"
    (tmp_path / "order.journey.yaml").write_text(JOURNEY)
    for name in ("billing-a", "billing-b", "report"):
        run(store, "schedules", "create", name, "every 1h", "work")
    run(store, "journeys", "deploy", str(tmp_path / "order.journey.yaml"))
    assert complete(store, "schedules", "show", "bil") == ["billing-a", "billing-b"]
    assert complete(store, "schedules", "pause", "report", "") == ["billing-a", "billing-b", "report"]
    assert complete(store, "schedules", "show", "[") == []
    assert complete(store, "jobs", "start", "ht") == ["http"]
    assert complete(store, "journeys", "start", "") == ["order"]
    assert complete(store, "schedules", "trigger", "a", "--overlap", "buffer_") == ["buffer_one", "buffer_all"]
    assert complete(store, "functions", "list", "--status", "t") == ["timed_out", "terminated"]
    assert complete(store, "runs", "list", "--status", "t") == ["timed_out", "terminated"]
    assert complete(store, "journeys", "list", "--phase", "s") == ["succeeded"]
    other = f"sqlite:///{tmp_path}/none.db"
    assert complete(other, "schedules", "show", "--store", store, "rep") == ["report"]


@pytest.mark.parametrize(
    "words",
    [("schedules", "show"), ("jobs", "start"), ("journeys", "start"), ("workflows", "show"), ("functions", "start")],
    ids=" ".join,
)
def test_completion_makes_and_changes_nothing_and_says_nothing(words: tuple[str, ...], tmp_path: Path) -> None:
    assert complete(f"sqlite:///{tmp_path}/none.db", *words, "") == []
    assert list(tmp_path.iterdir()) == []
    old = tmp_path / "old.db"
    number, text = migrations("sqlite")[0]
    connection = sqlite3.connect(old)
    connection.executescript(text)
    connection.execute("INSERT INTO ostinato_meta VALUES ('schema', ?)", (str(number),))
    connection.commit()
    connection.close()
    before = old.read_bytes()
    assert complete(f"sqlite:///{old}", *words, "") == []
    assert old.read_bytes() == before
    (tmp_path / "text.db").write_text("no database")
    assert complete(f"sqlite:///{tmp_path}/text.db", *words, "") == []
    assert complete("nonsense://", *words, "") == []


def test_the_words_are_those_of_the_model() -> None:
    assert completion.statuses("") == list(Status)
    (overlap,) = [option for option in SCHEDULE_OPTIONS if option.name == "overlap"]
    assert list(overlap.choices) == list(Overlap)
    assert completion.states("") == [one for one in State if one is not State.CLOSED]
    from ostinato.faces.http.shapes.journeys import Phase

    assert completion.phases("") == [one.lower() for one in get_args(Phase)]
