"""Every command, on a store and on a server: the same calls, the same answers, the same exit codes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ostinato.faces.cli.main import Later, app
from tests.serving import Serving

for variable in [name for name in os.environ if name.startswith("OSTINATO_") and "TEST" not in name]:
    del os.environ[variable]


@dataclass
class Place:
    """A place to run commands at. `text` is what a person sees, `json` what a program does."""

    environ: dict[str, str | None]
    kind: str

    def run(self, *args: str, code: int = 0, input: str | None = None) -> Any:
        env = {**self.environ, "COLUMNS": None}  # a terminal of the tests would fold what is shown
        done = CliRunner().invoke(app, list(args), env=env, input=input, catch_exceptions=False)
        assert done.exit_code == code, f"{args}: {done.exit_code}\n{done.output}"
        return done

    def text(self, *args: str, code: int = 0) -> str:
        return str(self.run(*args, code=code).stdout)

    def json(self, *args: str, code: int = 0) -> Any:
        return json.loads(self.run(*args, "--json", code=code).stdout)

    def error(self, *args: str, code: int) -> str:
        return str(self.run(*args, code=code).stderr)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("server")
    # Without an engine, so that what is started stays where it is, as on a bare store.
    with Serving(folder, "serve", "--no-engine", "--port", "0") as serving:
        yield serving.address


@pytest.fixture(params=["store", "server"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "store":
        made = Place({"OSTINATO_STORE": f"sqlite:///{tmp_path}/store.db", "OSTINATO_SERVER": None}, "store")
        made.run("migrate")
        return made
    namespace = f"n{abs(hash(request.node.name)) % 10**9}"
    made = Place({"OSTINATO_SERVER": request.getfixturevalue("server"), "OSTINATO_STORE": None}, "server")
    made.run("namespaces", "create", namespace)
    made.environ["OSTINATO_NAMESPACE"] = namespace
    return made


def test_a_schedule_is_made_shown_changed_and_closed(place: Place) -> None:
    given = ("--tz", "Europe/Berlin", "--tag", "billing", "--input", '{"n": 1}', "--retry", "3", "--overlap", "skip")
    made = place.json("schedules", "create", "report", "0 9 * * 1-5", "send", *given)
    assert made == {"name": "report", "token": 1, "run": None, "backfill": None, "lateness": {"late": 0, "will_run": 0}}
    found = place.json("schedules", "show", "report")
    assert found["words"] == "At 09:00 on weekdays, Europe/Berlin"
    assert (found["job"], found["input"], found["tags"]) == ("send", {"n": 1}, ["billing"])
    page = place.text("schedules", "show", "report")
    assert "At 09:00 on weekdays, Europe/Berlin" in page
    assert "billing" in page

    assert place.json("schedules", "update", "report", "--spec", "every 15m", "--if-match", "1")["token"] == 2
    assert "update" not in place.error("schedules", "update", "report", "--notes", "x", "--if-match", "1", code=1)
    assert place.json("schedules", "show", "report")["words"] == "Every 15 minutes"
    assert "nothing to change" in place.error("schedules", "update", "report", code=2)

    assert "paused report" in place.text("schedules", "pause", "report", "--note", "holiday")
    found = place.json("schedules", "show", "report")
    assert (found["state"], found["notes"]) == ("paused", "holiday")
    assert "resumed report" in place.text("schedules", "resume", "report")
    assert "'report'" in place.error("schedules", "create", "report", "manual", "send", code=1)
    assert "deleted report" in place.text("schedules", "delete", "report", "--running", "cancel")
    assert "there is no schedule" in place.error("schedules", "show", "report", code=1)


def test_a_schedule_may_be_manual_or_call_a_url_and_its_name_may_hold_a_slash(place: Place) -> None:
    action = '{"http": {"url": "https://example.com/hook", "method": "POST"}}'
    place.run("schedules", "create", "team/hook ä?", "manual", action)
    found = place.json("schedules", "show", "team/hook ä?")
    assert found["job"] == "http"
    assert found["next"] is None
    assert "triggered" in place.text("schedules", "trigger", "team/hook ä?")
    (one,) = place.json("schedules", "history", "team/hook ä?")["items"]
    assert one["origin"].startswith("trigger-")


def test_one_coming_time_is_left_out_or_moved_as_the_wall_of_its_zone_says(place: Place) -> None:
    place.run("schedules", "create", "nightly", "30 2 * * *", "send", "--tz", "Europe/Berlin")
    assert "will skip 2036-01-10T02:30:00+01:00" in place.text("schedules", "skip", "nightly", "2036-01-10T02:30")
    assert "instead of" in place.text("schedules", "move", "nightly", "2036-01-11T02:30", "2036-01-11T04:00")
    times = place.json("schedules", "times", "nightly", "2036-01-10", "2036-01-11")["items"]
    assert times == ["2036-01-10T01:30:00Z", "2036-01-11T01:30:00Z"]
    assert "2036-01-10T02:30:00+01:00" in place.text("schedules", "times", "nightly", "2036-01-10", "2036-01-11")
    assert "left out" in place.text("explain", "nightly", "2036-01-10T02:30")
    assert "as its spec says" in place.text("schedules", "put-back", "nightly", "2036-01-10T02:30")
    assert place.json("explain", "nightly", "2036-01-10T02:30")["outcome"] == "will_run"
    found = place.json("explain", "nightly", "2036-01-13T02:30")
    assert found["outcome"] == "will_run"
    assert place.json("explain", "nightly", "2036-01-13T02:31")["outcome"] == "no_time"
    assert "is not a time" in place.error("explain", "nightly", "soon", code=2)


def test_many_are_changed_by_what_they_have_in_common(place: Place) -> None:
    for name, tag in (("billing-a", "x"), ("billing-b", "y"), ("mail", "x")):
        place.run("schedules", "create", name, "every 1h", "send", "--tag", tag)
    assert place.json("schedules", "pause", "--match", "billing-*", "--tag", "x") == {"done": 1, "failed": {}}
    assert "paused 2 of 2 schedules" in place.text("schedules", "pause", "billing-b", "mail")
    states = {one["name"]: one["state"] for one in place.json("schedules", "list")["items"]}
    assert set(states.values()) == {"paused"}
    assert place.json("schedules", "resume", "--state", "paused")["done"] == 3
    assert place.json("schedules", "trigger", "--job", "send")["done"] == 3
    range_ = ("--first", "2026-01-01T00:00Z", "--last", "2026-01-01T03:00Z")
    assert place.json("schedules", "backfill", "--tag", "x", *range_)["done"] == 2
    found = place.json("schedules", "pause", "mail", "nowhere", code=1)
    assert found["done"] == 1
    assert "there is no schedule 'nowhere'" in found["failed"]["nowhere"]
    assert "say which" in place.error("schedules", "pause", code=2)
    assert "not both" in place.error("schedules", "pause", "mail", "--tag", "x", code=2)
    place.run("schedules", "delete", "--match", "billing-*", code=1, input="n\n")
    assert len(place.json("schedules", "list")["items"]) == 3
    assert place.json("schedules", "delete", "--match", "billing-*", "--yes")["done"] == 2
    assert [one["name"] for one in place.json("schedules", "list")["items"]] == ["mail"]


def test_a_near_miss_is_answered_with_what_may_be_meant(place: Place) -> None:
    place.run("schedules", "create", "report", "every 1h", "send")
    for args in (("show",), ("pause",), ("trigger",), ("history",), ("update", "--notes", "x")):
        verb, *more = args
        assert "did you mean 'report'?" in place.error("schedules", verb, "reprot", *more, code=1)
    assert "Did you mean 'schedules'?" in place.error("shedules", code=2)
    assert "Did you mean 'trigger'?" in place.error("schedules", "triger", code=2)


def test_runs_are_started_looked_at_stopped_and_repeated(place: Place) -> None:
    started = place.json("jobs", "start", "send", "--input", '{"to": "ada"}', "--id", "mail/17", "--retry", "2")
    assert started["new"] is True
    assert place.json("jobs", "start", "send", "--id", "mail/17") == {"id": started["id"], "new": False}
    assert place.json("runs", "show", "mail/17")["input"] == {"to": "ada"}
    assert "mail/17" in place.text("runs", "show", started["id"])
    place.run("jobs", "start", "other", "--at", "2036-01-01T09:00")
    assert [one["name"] for one in place.json("runs", "list")["items"]] == ["other", "send"]
    assert [one["name"] for one in place.json("runs", "list", "--status", "ready")["items"]] == ["send"]
    assert "send" in place.text("runs", "list", "--name", "send")
    assert "only one that is over can be repeated" in place.error("runs", "retry", "mail/17", code=1)
    assert place.json("runs", "cancel", "mail/17", "--reason", "enough") == {"status": "cancelled"}
    assert place.json("runs", "show", "mail/17")["reason"] == "enough"
    again = place.json("runs", "retry", "mail/17")
    assert again["new"] is True
    assert "terminated" in place.text("runs", "terminate", again["id"])
    assert len(place.json("runs", "attempts", again["id"])["items"]) == 1
    assert place.json("runs", "log", again["id"]) == {"items": []}
    assert "there is no run 'nothing'" in place.error("runs", "show", "nothing", code=1)
    place.error("runs", "list", "--status", "odd", code=2)
    assert "is not a JSON object" in place.error("jobs", "start", "send", "--input", "[1]", code=2)
    assert "is not JSON" in place.error("jobs", "start", "send", "--input", "{", code=2)


def test_a_webhook_is_made_changed_stopped_and_removed(place: Place) -> None:
    url = "https://hooks.example/in"
    made = place.json("webhooks", "create", url, "--pattern", "run:failed", "--pattern", "schedule:*")
    assert (made["patterns"], made["secrets"]) == (["run:failed", "schedule:*"], [])
    assert url in place.text("webhooks", "list")
    id = made["id"]
    changed = place.json("webhooks", "update", url, "--secret", "secret://key", "--pattern", "*", "--notes", "ours")
    assert (changed["id"], changed["secrets"], changed["patterns"]) == (id, ["secret://key"], ["*"])
    assert place.json("webhooks", "update", id, "--no-secret")["secrets"] == []
    assert place.json("webhooks", "disable", id, "--reason", "moving")["state"] == "disabled"
    assert "moving" in place.text("webhooks", "show", url)
    assert "enable it first" in place.error("webhooks", "replay", id, "0", code=1)
    assert "from the event after 0 on" in place.text("webhooks", "enable", id, "--after", "0")
    assert "once more" in place.text("webhooks", "replay", id, "0")
    assert place.json("webhooks", "deliveries", id) == {"items": []}
    assert "nothing was sent there" in place.text("webhooks", "deliveries", id)
    assert place.json("webhooks", "show", id)["recent"] == []
    assert "did you mean 'https://hooks.example/in'?" in place.error("webhooks", "show", f"{url}n", code=1)
    assert "nothing to change" in place.error("webhooks", "update", id, code=2)
    assert "never called" in place.error("webhooks", "create", "http://169.254.169.254/", code=2)
    assert "never the secret itself" in place.error("webhooks", "create", url, "--secret", "hunter2", code=2)
    again = place.json("webhooks", "create", url)
    assert again["id"] in place.error("webhooks", "delete", url, code=2)
    assert place.json("webhooks", "delete", id) == {"id": id, "deleted": True}
    assert [one["id"] for one in place.json("webhooks", "list")["items"]] == [again["id"]]
    assert "there is no webhook" in place.error("webhooks", "show", id, code=1)


def test_a_backfill_is_paused_resumed_and_cancelled(place: Place) -> None:
    place.run("schedules", "create", "hourly", "every 1h", "send")
    assert "has no backfill that is not done" in place.error("backfills", "pause", "hourly", code=1)
    range_ = ("--first", "2026-01-01T00:00Z", "--last", "2026-01-02T00:00Z")
    begun = place.json("schedules", "backfill", "hourly", *range_, "--rate", "1")["backfill"]
    paused = place.json("backfills", "pause", "hourly")
    assert (paused["id"], paused["state"], paused["total"]) == (begun, "paused", 25)
    assert "resumed" in place.text("backfills", "resume", "hourly", begun)
    second = place.json("schedules", "backfill", "hourly", *range_)["backfill"]
    assert "2 backfills; name one" in place.error("backfills", "cancel", "hourly", code=1)
    stopped = place.json("backfills", "cancel", "hourly", second, "--reason", "enough")
    assert (stopped["state"], stopped["reason"]) == ("cancelled", "enough")
    listed = place.json("backfills", "list", "hourly")["items"]
    assert [(one["id"], one["state"]) for one in listed] == [(second, "cancelled"), (begun, "running")]
    assert [one["id"] for one in place.json("backfills", "list", "hourly", "--limit", "1")["items"]] == [second]
    assert place.json("backfills", "wait", "hourly", second, code=1)["state"] == "cancelled"
    assert "enough" in place.text("backfills", "list", "hourly")
    assert "did you mean 'hourly'?" in place.error("backfills", "list", "hourl", code=1)


FILE = """\
schedules:
  nightly:
    spec: {cron: ["0 2 * * *"], tz: Europe/Berlin}
    action: {job: report, input: {kind: nightly}}
  hourly: {spec: every 1h, action: report}
"""


def test_a_file_is_planned_applied_pruned_and_exported(place: Place, tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(FILE)
    assert "2 to create" in place.text("apply", str(file), "--dry-run")
    assert place.json("schedules", "list")["items"] == []
    done = place.json("apply", str(file))
    assert (done["done"], done["counts"]["create"]) == (True, 2)
    assert done["steps"][0]["words"] == "Every hour → report"
    exported = tmp_path / "out.yaml"
    place.run("export", "file", str(exported))
    assert "tz: Europe/Berlin" in exported.read_text()
    assert list(place.json("export", "file", "--match", "h*")["schedules"]) == ["hourly"]
    file.write_text(FILE.replace("0 2 *", "30 3 *").split("  hourly")[0])
    assert "~  nightly" in place.text("apply", str(file), "--dry-run", "--prune")
    assert "no longer declared; goes on unless pruned" in place.text("apply", str(file))
    assert "1 unchanged, 1 pruned" in place.text("apply", str(file), "--prune")
    assert [one["name"] for one in place.json("schedules", "list")["items"]] == ["nightly"]
    told = place.error("import", "file", str(exported), code=1)
    assert "'nightly' (file:s.yaml); nothing was done" in told
    assert place.json("import", "file", str(exported), "--take")["counts"]["update"] == 1

    file.write_text(FILE.replace("every 1h", "every 1x").replace("0 2 *", "0 25 *"))
    told = place.error("apply", str(file), code=2)
    assert len(told.splitlines()) == 3
    assert f"{file}:3:" in told
    found = place.json("apply", str(file), code=2)
    assert [one["schedule"] for one in found["problems"]] == ["nightly", "hourly"]
    crontab = tmp_path / "tab"
    crontab.write_text("0 2 * * * /usr/bin/backup\n")
    assert place.json("import", "crontab", str(crontab), "--apply")["counts"]["create"] == 1


def test_events_are_told_the_newest_last(place: Place) -> None:
    place.run("schedules", "create", "a", "every 1h", "send")
    place.run("schedules", "pause", "a")
    place.run("jobs", "start", "send")
    names = [one["name"] for one in place.json("events")["items"]]
    assert names[-3:] == ["schedule:created", "schedule:paused", "run:created"]
    only = place.json("events", "--pattern", "schedule:*")["items"]
    assert [one["name"] for one in only] == ["schedule:created", "schedule:paused"]
    after = place.json("events", "--after", str(only[0]["seq"]), "--pattern", "schedule:*")["items"]
    assert [one["name"] for one in after] == ["schedule:paused"]
    about = place.json("events", "--subject", only[0]["subject"])["items"]
    assert about == only
    assert "schedule:paused" in place.text("events")


def test_what_is_to_come_is_drawn(place: Place) -> None:
    assert "nothing is to come" in place.text("upcoming")
    place.run("schedules", "create", "hourly", "every 1h", "send")
    place.run("schedules", "create", "daily", "0 9 * * *", "send")
    found = place.json("upcoming", "--limit", "5")["items"]
    assert len(found) == 5
    assert found == sorted(found, key=lambda one: one["at"])
    drawn = place.text("upcoming")
    assert "●" in drawn
    assert "hourly" in drawn
    assert "in " in drawn
    assert "nothing is late" in place.text("upcoming", "--late")


def test_a_simulation_is_counted_and_drawn(place: Place, tmp_path: Path) -> None:
    place.run("schedules", "create", "hourly", "every 1h", "send", "--overlap", "skip")
    period = ("--first", "2026-03-01T00:00Z", "--last", "2026-03-01T10:00Z")
    found = place.json("simulate", "hourly", *period, "--run-time", "90m")
    assert found["counts"] == {"succeeded": 5, "overlap": 5, "running": 1}
    picture = tmp_path / "out.svg"
    draft = ("--spec", "0 9 * * *", "--tz", "Europe/Berlin", "--catchup", "all", "--overlap", "allow_all")
    outage = ("--outage", "2026-03-02T08:00/2026-03-04T10:00", "--run-time", "5m", "--run-time", "10m")
    span = ("--first", "2026-03-01", "--last", "2026-03-07")
    text = place.text("simulate", *draft, *span, *outage, "--svg", str(picture))
    assert "7 times" in text
    assert picture.read_text().startswith("<svg")
    assert "one of them" in place.error("simulate", *span, code=2)
    assert "is not a stretch" in place.error("simulate", "hourly", *span, "--pause", "2026", code=2)


def test_tokens_and_namespaces_come_and_go(place: Place) -> None:
    made = place.json("token", "create", "--role", "operator", "--label", "ci", "--expires-in", "90d")
    assert made["token"].startswith("ost_")
    assert made["role"] == "operator"
    listed = {one["id"]: one for one in place.json("token", "list")["items"]}
    assert "token" not in listed[made["id"]]
    place.run("token", "revoke", made["id"])
    listed = {one["id"]: one for one in place.json("token", "list")["items"]}
    assert listed[made["id"]]["revoked"] is not None
    assert "there is no token" in place.error("token", "revoke", "nothing", code=1)
    done = place.run("token", "create")
    assert done.stdout.startswith("ost_")  # alone on standard output, for scripts
    assert "shown this once" in done.stderr

    name = f"team-{place.kind}"
    place.run("namespaces", "create", name, "--notes", "ours")
    assert name in place.text("namespaces", "list")
    place.run("schedules", "create", "here", "every 1h", "send", "--namespace", name)
    assert [one["name"] for one in place.json("schedules", "list", "--namespace", name)["items"]] == ["here"]
    assert "still has schedules" in place.error("namespaces", "delete", name, code=1)
    place.run("namespaces", "create", f"{name}-2")
    place.run("namespaces", "delete", f"{name}-2")
    assert "there is no namespace" in place.error("schedules", "list", "--namespace", "nowhere", code=1)


def test_nodes_and_jobs_are_listed(place: Place) -> None:
    assert "no node is working" in place.text("nodes")
    assert place.json("nodes") == {"items": []}
    assert [one["name"] for one in place.json("jobs", "list")["items"]] == ["http", "webhook"]


def test_a_mistake_is_one_line_and_its_own_exit_code(place: Place) -> None:
    for args, message in (
        (("schedules", "create", "x", "0 24 * * *", "send"), "hour 24 is out of range"),
        (("schedules", "create", "x", "every 1h", "send", "--overlap", "sometimes"), "overlap"),
        (("schedules", "create", "x", "every 1h", "send", "--tz", "Europe/Berln"), "did you mean 'Europe/Berlin'?"),
        (("schedules", "create", "..", "every 1h", "send"), "cannot be called"),
        (("schedules", "create", "x", "every 1h", "send", "--catchup", "soon"), "catchup"),
        (("token", "create", "--role", "king"), "role"),
    ):
        told = place.error(*args, code=2)
        assert message in told
        assert len(told.strip().splitlines()) == 1


# Where commands go


def test_a_store_that_is_not_there_is_not_made_by_looking(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/nothing.db"
    here = Place({"OSTINATO_STORE": url}, "store")
    for args in (("schedules", "list"), ("runs", "list"), ("events",), ("backup", "x.db"), ("migrate", "--check")):
        assert "there is no store" in here.error(*args, code=3)
    assert list(tmp_path.iterdir()) == []
    here.run("schedules", "create", "first", "every 1h", "send")
    assert (tmp_path / "nothing.db").exists()


def test_a_server_that_is_away_is_exit_code_3(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ostinato.faces.cli.target.PATIENCE", 0.3)
    away = Place({"OSTINATO_SERVER": "http://127.0.0.1:9"}, "server")
    assert "does not answer" in away.error("nodes", code=3)


def test_options_go_over_the_environment_and_two_places_are_refused(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    here = Place({"OSTINATO_SERVER": "http://127.0.0.1:9", "OSTINATO_STORE": "sqlite:///elsewhere.db"}, "store")
    here.run("migrate", "--store", url)
    assert here.json("schedules", "list", "--store", url) == {"items": []}
    assert "name one" in here.error("nodes", "--store", url, "--server", "http://127.0.0.1:9", code=2)


def test_what_works_on_the_store_itself_says_so() -> None:
    away = Place({"OSTINATO_SERVER": "http://127.0.0.1:9"}, "server")
    for args in (("backup", "x.db"), ("restore", "x.db"), ("migrate",)):
        assert "works on the store itself" in away.error(*args, code=2)


def test_a_backup_is_made_and_put_back(tmp_path: Path) -> None:
    here = Place({"OSTINATO_STORE": f"sqlite:///{tmp_path}/a.db"}, "store")
    here.run("schedules", "create", "kept", "every 1h", "send")
    copy = str(tmp_path / "copy.db")
    assert here.json("backup", copy)["file"] == copy
    here.run("schedules", "delete", "kept")
    assert "needs --overwrite" in here.error("restore", copy, code=1)
    here.run("restore", copy, "--overwrite")
    assert [one["name"] for one in here.json("schedules", "list")["items"]] == ["kept"]
    assert "there is no backup" in here.error("restore", str(tmp_path / "no.db"), "--overwrite", code=3)


def test_migrate_says_what_it_did(tmp_path: Path) -> None:
    here = Place({"OSTINATO_STORE": f"sqlite:///{tmp_path}/a.db"}, "store")
    first = here.json("migrate")
    assert first["before"] == 0
    assert here.json("migrate") == {"before": first["schema"], "schema": first["schema"]}
    assert here.run("migrate", "--check").exit_code == 0


def test_every_command_has_json_and_says_what_it_is_for() -> None:
    def walk(found: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
        for name, one in getattr(found, "commands", {}).items():
            whole = one.load() if isinstance(one, Later) else one
            assert not isinstance(one, Later) or whole.help.startswith(one.help), name  # as the overview says
            yield from walk(whole, (*path, name))
        if not hasattr(found, "commands"):
            yield path, found

    import typer

    without = {("serve",), ("worker",), ("page",)}
    seen = dict(walk(typer.main.get_command(app)))
    assert len(seen) > 60
    for path, one in seen.items():
        assert one.help, path
        names = {option for parameter in one.params for option in parameter.opts}
        assert path in without or "--json" in names, path
