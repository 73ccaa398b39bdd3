"""Commands that work on a store load no web framework, whatever they do."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ostinato.faces.cli.main import Later, commands
from tests.support.serving import clean_environment

JOURNEY = """\
apiVersion: v1
kind: Journey
metadata: {name: order, version: 1.0.0}
spec:
  start: done
  states:
    done: {type: succeed}
"""
FILE = "schedules:\n  nightly: {spec: '0 2 * * *', action: report}\n"
# All in one process, one after the other: each is named when it has loaded what it should not.
LINES = [
    "namespaces create other",
    "token create --role reader",
    "schedules create a 'every 1h' work",
    "schedules update a --notes x",
    "schedules pause a",
    "schedules resume a",
    "schedules trigger a",
    "schedules skip a {next}",
    "schedules put-back a {next}",
    "schedules move a {next} {moved}",
    "schedules backfill a --first 2026-01-01 --last 2026-01-01T02:00",
    "backfills list a",
    "jobs start work --id one",
    "runs cancel one",
    "runs retry one",
    "runs terminate one",
    "runs list",
    "apply schedules.yaml --dry-run",
    "apply schedules.yaml",
    "export file",
    "schedules delete nightly",
    "schedules pause --match '*'",
    "simulate a --first 2026-01-01 --last 2026-01-02",
    "webhooks create http://hooks.example/in",
    "webhooks list",
    "workflows list",
    "functions list",
    "functions drain",
    "agents list",
    "journeys deploy order.journey.yaml",
    "journeys start order --async --key k",
    "journeys list",
    "journeys bindings",
    "runs list",
    "schedules show a",
    "schedules history a",
    "events",
    "upcoming",
    "doctor",
    "nodes",
    "namespaces delete other",
]
SCRIPT = """
import json, shlex, sys
from datetime import UTC, datetime, timedelta
from typer.testing import CliRunner
from ostinato.faces.cli.main import app

hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
times = {"next": hour + timedelta(hours=2), "moved": hour + timedelta(hours=2, minutes=5)}
found = {}
for line in json.loads(sys.argv[1]):
    words = shlex.split(line.format(**{name: at.isoformat() for name, at in times.items()}))
    done = CliRunner().invoke(app, words)
    found[line] = [done.exit_code, done.output, sorted({"fastapi", "starlette", "uvicorn"} & set(sys.modules))]
print(json.dumps(found))
"""


def test_no_command_on_a_store_loads_a_web_framework(tmp_path: Path) -> None:
    (tmp_path / "schedules.yaml").write_text(FILE)
    (tmp_path / "order.journey.yaml").write_text(JOURNEY)
    environ = clean_environment(OSTINATO_STORE=f"sqlite:///{tmp_path}/store.db")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(LINES)],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    for line, (code, output, loaded) in json.loads(done.stdout.splitlines()[-1]).items():
        assert code == 0, f"{line}: {output}"
        assert loaded == [], line


def test_looking_at_a_store_loads_no_pydantic(tmp_path: Path) -> None:
    environ = clean_environment(OSTINATO_STORE=f"sqlite:///{tmp_path}/store.db")
    code = (
        "import sys; from ostinato.faces.cli.main import app; app(sys.argv[1:], standalone_mode=False); "
        "print('pydantic' in sys.modules)"
    )
    for words in (["migrate"], ["schedules", "list", "--limit", "3", "--tag", "x"]):
        done = subprocess.run(
            [sys.executable, "-c", code, *words], env=environ, capture_output=True, text=True, timeout=60
        )
        assert done.stdout.splitlines()[-1:] == ["False"], done.stdout + done.stderr


@pytest.mark.parametrize("name", sorted(commands()))
def test_a_group_makes_only_the_command_that_is_called(name: str) -> None:
    """One command of a group is the same whether it is made alone or with the others."""
    whole = Later(name, *commands()[name]).load()
    for inner, command in getattr(whole, "commands", {}).items():
        alone = Later(name, *commands()[name]).load([inner])
        assert list(alone.commands) == [inner]
        assert [one.name for one in alone.commands[inner].params] == [one.name for one in command.params]
