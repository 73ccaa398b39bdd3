"""Every command, on a store and on a server: the same calls, the same answers, the same exit codes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from ostinato import Ostinato
from ostinato.faces.cli import waiting
from ostinato.faces.cli.main import Later, app
from ostinato.faces.cli.options import RunOptions, ScheduleOptions
from ostinato.faces.cli.output import CommandOutput
from ostinato.faces.cli.session import Session, StoreOrServer, connect
from ostinato.faces.http.shapes.runs import Start
from ostinato.faces.http.shapes.schedules import Definition
from ostinato.store.contract import Operation
from ostinato.webhooks.store import statement
from ostinato.webhooks.subscriptions import read_webhook, webhook_row
from tests.support.commands import Place

HOW_RUNS_ARE_DONE = (
    *("--queue", "slow", "--priority", "7", "--timeout", "30s", "--deadline", "2h", "--serial-key", "acme"),
    *("--retry", '{"attempts": 5, "delay": "2s"}', "--concurrency", '{"key": "mail", "most": 2}', "--at-most-once"),
)


def test_every_option_of_a_run_can_be_given(place: Place) -> None:
    run = place.json("runs", "show", place.json("jobs", "start", "send", *HOW_RUNS_ARE_DONE)["id"])
    assert (run["queue"], run["priority"], run["serial_key"]) == ("slow", 7, "acme")

    place.run("schedules", "create", "a", "0 9 * * *", "send", *HOW_RUNS_ARE_DONE)
    options = place.json("schedules", "show", "a")["options"]
    assert (options["queue"], options["priority"], options["serial_key"]) == ("slow", 7, "acme")
    assert (options["timeout"], options["deadline"], options["at_most_once"]) == ("30s", "2h", True)
    assert (options["retry"]["attempts"], options["retry"]["delay"]) == (5, "2s")
    assert (options["concurrency"]["key"], options["concurrency"]["most"]) == ("mail", 2)

    kept = ("--memo", '["a", 1]', "--attributes", '{"team": "mail"}', "--at-least-once", "--concurrency", "3")
    place.run("schedules", "update", "a", *kept)
    data = place.json("schedules", "show", "a")
    assert (data["memo"], data["attributes"]) == (["a", 1], {"team": "mail"})
    assert (data["options"]["at_most_once"], data["options"]["concurrency"]) == (False, 3)

    both = place.error("schedules", "update", "a", "--catchup", "often", "--timeout", "never", code=2)
    assert both.startswith("error: catchup 'often' is unknown; use ")
    assert "; timeout 'never' is not a duration" in both
    wrong = place.error("jobs", "start", "send", "--retry", "often", code=2)
    assert "--retry 'often' is neither a whole number nor a JSON object" in wrong


# One value for each option, and what a schedule without the option shows.
OPTIONS_AND_DEFAULTS: dict[str, tuple[str, Any]] = {
    "queue": ("slow", None),
    "priority": ("7", None),
    "retry": ("5", None),
    "timeout": ("30s", None),
    "deadline": ("2h", None),
    "serial_key": ("acme", None),
    "concurrency": ("2", None),
    "at_most_once": ("", None),
    "input": ('{"n": 1}', {}),
    "overlap": ("buffer_all", "skip"),
    "catchup": ("1h", {"mode": "latest", "window": None, "most": None, "pace": 100}),
    "keep": ("5", None),
    "remaining": ("3", None),
    "max_buffer": ("4", None),
    "pause_after_failures": ("2", None),
    "tag": ("billing", []),
    "attributes": ('{"team": "mail"}', {}),
    "memo": ('["a"]', None),
    "notes": ("later", ""),
}


def value_of(schedule: dict[str, Any], option: str) -> Any:
    places = (schedule["options"], schedule["policies"], schedule)
    key = "tags" if option == "tag" else option
    return next((place[key] for place in places if key in place), None)


def test_every_option_can_be_put_back_to_its_default(place: Place) -> None:
    assert set(OPTIONS_AND_DEFAULTS) == {one.name for one in fields(ScheduleOptions)}
    flags = {name: f"--{name.replace('_', '-')}" for name in OPTIONS_AND_DEFAULTS}
    arguments = [part for name, (value, _) in OPTIONS_AND_DEFAULTS.items() for part in (flags[name], value) if part]
    place.run("schedules", "create", "a", "0 9 * * *", "send", *arguments)
    for name, (_, default) in OPTIONS_AND_DEFAULTS.items():
        before = place.json("schedules", "show", "a")
        assert value_of(before, name) != default, name
        output = place.text("schedules", "update", "a", "--unset", flags[name].removeprefix("--"))
        assert "nothing is different" not in output, name
        after = place.json("schedules", "show", "a")
        assert value_of(after, name) == default, name
        others = [one for one in OPTIONS_AND_DEFAULTS if one != name]
        assert [value_of(after, one) for one in others] == [value_of(before, one) for one in others]


def test_an_option_that_cannot_be_unset_is_refused(place: Place) -> None:
    place.run("schedules", "create", "a", "0 9 * * *", "send")
    assert "did you mean 'deadline'" in place.error("schedules", "update", "a", "--unset", "deadlin", code=2)
    both = place.error("schedules", "update", "a", "--deadline", "1h", "--unset", "deadline", code=2)
    assert "--deadline is given and unset" in both


def test_the_command_line_has_every_option_that_http_has() -> None:
    schedule = {"tags" if name == "tag" else name for name in (one.name for one in fields(ScheduleOptions))}
    assert schedule == set(Definition.model_fields) - {"spec", "action"}
    assert {one.name for one in fields(RunOptions)} == set(Start.model_fields) - {"input", "id", "at", "parent"}


def test_a_schedule_is_made_shown_changed_and_closed(place: Place) -> None:
    options = ("--tz", "Europe/Berlin", "--tag", "billing", "--input", '{"n": 1}', "--retry", "3", "--overlap", "skip")
    created = place.json("schedules", "create", "report", "0 9 * * 1-5", "send", *options)
    note = "no node knows the job 'send' yet"
    late = {"late": 0, "will_run": 0}
    assert created == {"name": "report", "token": 1, "run": None, "backfill": None, "lateness": late, "note": note}
    data = place.json("schedules", "show", "report")
    assert data["words"] == "At 09:00 on weekdays, Europe/Berlin"
    assert (data["job"], data["input"], data["tags"]) == ("send", {"n": 1}, ["billing"])
    page = place.text("schedules", "show", "report")
    assert "At 09:00 on weekdays, Europe/Berlin" in page
    assert "billing" in page

    assert place.json("schedules", "update", "report", "--spec", "every 15m", "--if-match", "1")["token"] == 2
    assert "update" not in place.error("schedules", "update", "report", "--notes", "x", "--if-match", "1", code=1)
    assert place.json("schedules", "show", "report")["words"] == "Every 15 minutes"
    assert "nothing to change" in place.error("schedules", "update", "report", code=2)

    assert "paused report" in place.text("schedules", "pause", "report", "--note", "holiday")
    data = place.json("schedules", "show", "report")
    assert (data["state"], data["notes"]) == ("paused", "holiday")
    assert "resumed report" in place.text("schedules", "resume", "report")
    assert "'report'" in place.error("schedules", "create", "report", "manual", "send", code=1)
    assert "deleted report" in place.text("schedules", "delete", "report", "--running", "cancel")
    assert "there is no schedule" in place.error("schedules", "show", "report", code=1)


def test_a_schedule_may_be_manual_or_call_a_url_and_its_name_may_hold_a_slash(place: Place) -> None:
    action = '{"http": {"url": "https://example.com/hook", "method": "POST"}}'
    place.run("schedules", "create", "team/hook ä?", "manual", action)
    data = place.json("schedules", "show", "team/hook ä?")
    assert data["job"] == "http"
    assert data["next"] is None
    assert "triggered" in place.text("schedules", "trigger", "team/hook ä?")
    (item,) = place.json("schedules", "history", "team/hook ä?")["items"]
    assert item["origin"].startswith("trigger-")


def test_one_coming_time_is_left_out_or_moved_as_the_wall_of_its_zone_says(place: Place) -> None:
    place.run("schedules", "create", "nightly", "30 2 * * *", "send", "--tz", "Europe/Berlin")
    assert "will skip 2036-01-10T02:30:00+01:00" in place.text("schedules", "skip", "nightly", "2036-01-10T02:30")
    assert "instead of" in place.text("schedules", "move", "nightly", "2036-01-11T02:30", "2036-01-11T04:00")
    times = place.json("schedules", "times", "nightly", "2036-01-10", "2036-01-11")["items"]
    assert times == ["2036-01-10T01:30:00Z", "2036-01-11T01:30:00Z"]
    assert "2036-01-10T02:30:00+01:00" in place.text("schedules", "times", "nightly", "2036-01-10", "2036-01-11")
    assert "a user skipped it" in place.text("explain", "nightly", "2036-01-10T02:30")
    assert "as its spec says" in place.text("schedules", "put-back", "nightly", "2036-01-10T02:30")
    assert place.json("explain", "nightly", "2036-01-10T02:30")["outcome"] == "will_run"
    data = place.json("explain", "nightly", "2036-01-13T02:30")
    assert data["outcome"] == "will_run"
    assert place.json("explain", "nightly", "2036-01-13T02:31")["outcome"] == "no_time"
    assert "is not a time" in place.error("explain", "nightly", "soon", code=2)


def test_many_are_changed_by_what_they_have_in_common(place: Place) -> None:
    for name, tag in (("billing-a", "x"), ("billing-b", "y"), ("mail", "x")):
        place.run("schedules", "create", name, "every 1h", "send", "--tag", tag)
    paused = place.json("schedules", "pause", "--match", "billing-*", "--tag", "x")
    assert paused == {"done": 1, "failed": {}, "notes": {}}
    assert "paused 2 of 2 schedules" in place.text("schedules", "pause", "billing-b", "mail")
    states = {one["name"]: one["state"] for one in place.json("schedules", "list")["items"]}
    assert set(states.values()) == {"paused"}
    assert place.json("schedules", "resume", "--state", "paused")["done"] == 3
    assert place.json("schedules", "trigger", "--job", "send")["done"] == 3
    range_ = ("--first", "2026-01-01T00:00Z", "--last", "2026-01-01T03:00Z")
    assert place.json("schedules", "backfill", "--tag", "x", *range_)["done"] == 2
    data = place.json("schedules", "pause", "mail", "nowhere", code=1)
    assert data["done"] == 1
    assert "there is no schedule 'nowhere'" in data["failed"]["nowhere"]
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
    assert place.json("jobs", "start", "send", "--id", "mail/17") == {**started, "new": False}
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
    assert "not a JSON object" in place.error("jobs", "start", "send", "--input", "[1]", code=2)
    assert "is not JSON" in place.error("jobs", "start", "send", "--input", "{", code=2)


def test_a_webhook_is_made_changed_stopped_and_removed(place: Place) -> None:
    url = "https://hooks.example/in"
    data = place.json("webhooks", "create", url, "--pattern", "run:failed", "--pattern", "schedule:*")
    assert (data["patterns"], data["secrets"]) == (["run:failed", "schedule:*"], [])
    assert url in place.text("webhooks", "list")
    id = data["id"]
    changed = place.json("webhooks", "update", url, "--secret", "secret://key", "--pattern", "*", "--notes", "ours")
    assert (changed["id"], changed["secrets"], changed["patterns"]) == (id, ["secret://key"], ["*"])
    assert place.json("webhooks", "update", id, "--no-secret")["secrets"] == []
    assert place.json("webhooks", "disable", id, "--reason", "moving")["state"] == "disabled"
    assert "moving" in place.text("webhooks", "show", url)
    assert "enable it first" in place.error("webhooks", "replay", id, "0", code=1)
    assert "from the event after 0 on" in place.text("webhooks", "enable", id, "--after", "0")
    assert "gets everything after 0 again" in place.text("webhooks", "replay", id, "0")
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


def test_a_webhook_is_found_by_its_url_among_any_number(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/store.db"
    here = Place({"OSTINATO_STORE": store, "OSTINATO_SERVER": None}, "store")
    first = here.json("webhooks", "create", "https://hooks.example/first")

    async def copy() -> None:
        def insert(_: int) -> Operation[None]:
            (row,) = yield statement("list_webhooks", namespace="default", after="", limit=1)
            webhook = read_webhook(row)
            copies = [
                replace(webhook, id=f"{webhook.id}{n:04}", url=f"https://hooks.example/{n:04}") for n in range(1001)
            ]
            yield statement("insert_webhooks", [webhook_row(copy) for copy in copies])

        async with Ostinato(store).connected() as ostinato:
            await ostinato.store.run(insert)

    asyncio.run(copy())
    assert here.json("webhooks", "show", "https://hooks.example/1000")["id"] == f"{first['id']}1000"
    assert "there is no webhook to https://x.example" in here.error("webhooks", "show", "https://x.example", code=1)


def test_waiting_for_a_backfill_without_a_node_says_so(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place.run("schedules", "create", "hourly", "every 1h", "send")
    range_ = ("--first", "2026-01-01T00:00Z", "--last", "2026-01-02T00:00Z", "--rate", "1")
    begun = place.json("schedules", "backfill", "hourly", *range_)["backfill"]
    shown = asyncio.Event()

    class Drawing(CommandOutput):
        def progress(self, what: str, total: float | None = None) -> Any:
            return nullcontext(lambda *_, **__: shown.set())

    async def wait() -> list[Any]:
        names = ("OSTINATO_STORE", "OSTINATO_SERVER", "OSTINATO_NAMESPACE")
        store, server, namespace = (place.environ.get(name) for name in names)
        where = StoreOrServer(store or "", server, namespace=namespace)
        async with connect(where) as client, asyncio.timeout(20):
            session = Session(client, Drawing(), where)
            ended = asyncio.ensure_future(waiting.wait_for_backfills(session, [("hourly", begun)]))
            await shown.wait()
            await client.schedules.turn_backfill("hourly", begun, "cancel")
            return await ended

    monkeypatch.setattr(waiting, "_LOOK", 0.01)
    assert [backfill["state"] for backfill in asyncio.run(wait())] == ["cancelled"]
    assert "no node is at work there: it waits until one is started" in capsys.readouterr().err


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
    output = place.error("import", "file", str(exported), code=1)
    assert "'nightly' (file:s.yaml); nothing was done" in output
    assert place.json("import", "file", str(exported), "--take")["counts"]["update"] == 1

    file.write_text(FILE.replace("every 1h", "every 1x").replace("0 2 *", "0 25 *"))
    output = place.error("apply", str(file), code=2)
    assert len(output.splitlines()) == 3
    assert f"{file}:3:" in output
    data = place.json("apply", str(file), code=2)
    assert [one["schedule"] for one in data["problems"]] == ["nightly", "hourly"]
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
    place.run("schedules", "create", "weekly", "0 9 * * 1", '{"function": "onboard"}')
    items = place.json("upcoming", "--limit", "5")["items"]
    assert len(items) == 5
    assert items == sorted(items, key=lambda one: one["at"])
    drawn = place.text("upcoming")
    assert "●" in drawn
    assert "hourly" in drawn
    assert "in " in drawn
    assert "function onboard" in drawn
    assert "nothing is late" in place.text("upcoming", "--late")


def test_a_simulation_is_counted_and_drawn(place: Place, tmp_path: Path) -> None:
    place.run("schedules", "create", "hourly", "every 1h", "send", "--overlap", "skip")
    period = ("--first", "2026-03-01T00:00Z", "--last", "2026-03-01T10:00Z")
    data = place.json("simulate", "hourly", *period, "--run-time", "90m")
    assert data["counts"] == {"succeeded": 5, "overlap": 5, "running": 1}
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
    token = place.json("token", "create", "--role", "operator", "--label", "ci", "--expires-in", "90d")
    assert token["token"].startswith("ost_")
    assert token["role"] == "operator"
    listed = {one["id"]: one for one in place.json("token", "list")["items"]}
    assert "token" not in listed[token["id"]]
    place.run("token", "revoke", token["id"])
    listed = {one["id"]: one for one in place.json("token", "list")["items"]}
    assert listed[token["id"]]["revoked"] is not None
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
        output = place.error(*args, code=2)
        assert message in output
        assert len(output.strip().splitlines()) == 1


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
    monkeypatch.setattr("ostinato.faces.cli.session.PATIENCE", 0.3)
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
    def walk(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
        for name, command in getattr(group, "commands", {}).items():
            whole = command.load() if isinstance(command, Later) else command
            assert not isinstance(command, Later) or whole.help.startswith(command.help), name  # as the overview says
            yield from walk(whole, (*path, name))
        if not hasattr(group, "commands"):
            yield path, group

    import typer

    without = {("serve",), ("worker",), ("page",)}
    seen = dict(walk(typer.main.get_command(app)))
    assert len(seen) > 60
    for path, command in seen.items():
        assert command.help, path
        names = {option for parameter in command.params for option in parameter.opts}
        assert path in without or "--json" in names, path
        for parameter in command.params:
            assert getattr(parameter, "help", None), f"{path}: {parameter.opts}"
