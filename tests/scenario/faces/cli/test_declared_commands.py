"""`ostinato apply`, `export` and `import crontab`: what they say, what they do, and how they end."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from ostinato import Ostinato
from tests.support.commands import run_command
from tests.support.journey_parts import AGAIN

pytestmark = pytest.mark.usefixtures("quick_commands")
Run = Callable[..., subprocess.CompletedProcess[str]]
FILE = """\
schedules:
  nightly:
    spec: {cron: ["0 2 * * *"], tz: Europe/Berlin}
    action: {job: report, input: {kind: nightly}}
    overlap: buffer_one
  hourly:
    spec: every 1h
    action: report
"""


@pytest.fixture
def run(tmp_path: Path) -> Run:
    (tmp_path / "s.yaml").write_text(FILE)

    return partial(run_command, folder=tmp_path)


STORE = ("--store", "sqlite:///s.db")


def names(folder: Path) -> list[str]:
    async def list_names() -> list[str]:
        async with Ostinato(f"sqlite:///{folder}/s.db").connected() as app:
            return [one.name for one in await app.schedules.list()]

    return asyncio.run(list_names())


def test_a_dash_is_standard_output(run: Run, tmp_path: Path) -> None:
    run("apply", "s.yaml", *STORE)
    for args in (("-",), ("-o", "-"), ()):
        done = run("export", "file", *args, *STORE)
        assert (done.returncode, done.stdout.splitlines()[0]) == (0, "schedules:"), done.stderr
    assert not (tmp_path / "-").exists()


def test_a_file_is_applied_changed_pruned_and_exported(run: Run, tmp_path: Path) -> None:
    done = run("apply", "s.yaml", *STORE)
    assert done.returncode == 0, done.stderr
    assert "+  nightly" in done.stdout
    assert "note: no node has declared the job 'report' yet" in done.stdout
    assert "2 created" in done.stdout

    (tmp_path / "s.yaml").write_text(FILE.replace("0 2 *", "30 3 *").split("  hourly")[0])
    done = run("apply", "s.yaml", *STORE, "--dry-run", "--prune")
    assert done.returncode == 0
    assert "~  nightly" in done.stdout
    assert "-  hourly" in done.stdout
    assert "1 to update, 1 to prune" in done.stdout
    assert names(tmp_path) == ["hourly", "nightly"]

    done = run("apply", "s.yaml", *STORE, "--prune", "--json")
    data = json.loads(done.stdout)
    assert (data["done"], data["pruned"]) == (True, True)
    assert data["counts"] == {"create": 0, "update": 1, "unchanged": 0, "missing": 1, "taken": 0}
    (step,) = [one for one in data["steps"] if one["verb"] == "update"]
    assert step["changes"] == [{"field": "spec.cron", "old": ["0 2 * * *"], "new": ["30 3 * * *"]}]
    assert len(step["before"]) == len(step["after"]) == 3
    assert names(tmp_path) == ["nightly"]

    exported = run("export", "file", *STORE, "-o", "out.yaml")
    assert exported.returncode == 0, exported.stderr
    assert run("apply", "out.yaml", "--store", "sqlite:///other.db").returncode == 0
    assert run("export", "file", "--store", "sqlite:///other.db").stdout == (tmp_path / "out.yaml").read_text()
    assert list(json.loads(run("export", "file", *STORE, "--json").stdout)["schedules"]) == ["nightly"]


def test_what_a_file_cannot_declare_is_left_out_with_a_note(run: Run, tmp_path: Path) -> None:
    async def make_binding() -> str:
        async with Ostinato(f"sqlite:///{tmp_path}/s.db") as app:
            await app.journeys.deploy(AGAIN)
            await app.journeys.start("again", wait=100)
            (binding,) = await app.journeys.bindings()
            return binding.schedule

    binding = asyncio.run(make_binding())
    run("apply", "s.yaml", *STORE)
    reason = "a file cannot declare it; only a journey can make it"
    exported = run("export", "file", *STORE, "-o", "out.yaml")
    assert exported.stderr.splitlines() == [f"left out: {binding}: {reason}", "wrote 2 schedules to out.yaml"]
    assert (tmp_path / "out.yaml").read_text().startswith(f"x-left-out:\n  {binding}: {reason}\nschedules:\n")
    exported = run("export", "file", *STORE, "--json")
    assert (json.loads(exported.stdout)["x-left-out"], exported.stderr) == ({binding: reason}, "")
    assert "2 created" in run("apply", "out.yaml", "--store", "sqlite:///other.db").stdout


def test_mistakes_are_two_and_say_where(run: Run, tmp_path: Path) -> None:
    wrong = FILE.replace("buffer_one", "bufer_one").replace("Europe/Berlin", "Europe/Berln")
    done = run("apply", "-", *STORE, stdin=wrong)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "error: stdin:3:37  schedule 'nightly': spec: tz 'Europe/Berln' is not a time zone; "
        "did you mean 'Europe/Berlin'?",
        "error: stdin:5:14  schedule 'nightly': overlap 'bufer_one' is unknown; did you mean 'buffer_one'?",
        "2 mistakes; nothing was done",
    ]
    data = json.loads(run("apply", "-", *STORE, "--json", stdin=wrong).stdout)
    assert [(one["line"], one["column"], one["schedule"]) for one in data["problems"]] == [
        (3, 37, "nightly"),
        (5, 14, "nightly"),
    ]
    assert not (tmp_path / "s.db").exists()
    for args, code, words in [
        (("apply", "none.yaml", *STORE), 2, "none.yaml cannot be read: No such file"),
        (("apply", "s.yaml", "--store", "mysql://x"), 2, "unknown scheme"),
        (("apply", "s.yaml", *STORE, "--dry-run"), 0, "there is no store sqlite:///s.db yet"),
        (("export", "file", *STORE), 3, "there is no store"),
        (("export", "file", "a.yaml", "-o", "b.yaml", *STORE), 2, "give one of them"),
    ]:
        done = run(*args)
        assert (done.returncode, words in done.stderr) == (code, True), done.stderr
    assert not (tmp_path / "s.db").exists()


def test_what_another_file_declares_ends_with_one(run: Run, tmp_path: Path) -> None:
    assert run("apply", "s.yaml", *STORE).returncode == 0
    (tmp_path / "t.yaml").write_text(FILE.replace("0 2 *", "0 3 *"))
    done = run("apply", "t.yaml", *STORE)
    assert (done.returncode, done.stdout) == (1, "")
    assert "'nightly' (file:s.yaml); nothing was done" in done.stderr
    done = run("apply", "t.yaml", *STORE, "--dry-run")
    assert (done.returncode, "!  nightly" in done.stdout) == (1, True)
    assert run("apply", "t.yaml", *STORE, "--take").returncode == 0
    assert run("apply", "t.yaml", *STORE, "--name", "t.yaml", "--json").returncode == 0


CRONTAB = """\
MAILTO=me
CRON_TZ=Europe/Berlin
0 2 * * * /usr/bin/backup.sh --full
@reboot /usr/bin/start
"""


def test_a_crontab_becomes_a_file_or_is_applied(run: Run, tmp_path: Path) -> None:
    (tmp_path / "tab").write_text(CRONTAB)
    done = run("import", "crontab", "tab", "-o", "cron.yaml")
    assert done.returncode == 1  # a line was left out
    assert "left out: tab:4:1  @reboot" in done.stderr
    assert "note: line 1: MAILTO is passed over" in done.stderr
    assert "note: the job 'shell' is yours to declare" in done.stderr
    assert run("apply", "cron.yaml", *STORE).returncode == 0
    assert names(tmp_path) == ["backup.sh-full"]

    (tmp_path / "tab").write_text(CRONTAB.split("@reboot")[0])
    (tmp_path / "jobs.yaml").write_text("'*backup*': backup\n")
    data = json.loads(run("import", "crontab", "tab", "--jobs", "jobs.yaml", "--json").stdout)
    assert data["document"]["schedules"]["backup.sh-full"]["action"]["job"] == "backup"
    assert data["left_out"] == []
    done = run("import", "crontab", "tab", "--job", "sh", "--apply", *STORE, "--take", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["counts"]["update"] == 1

    done = run("import", "crontab", "-", stdin="0 25 * * * x\n")
    assert done.returncode == 2
    assert done.stderr.startswith("error: stdin:1:1  hour 25 is out of range")
    done = run("import", "crontab", "-", "--system", stdin="0 2 * * * root x\n")
    assert "user: root" in done.stdout
