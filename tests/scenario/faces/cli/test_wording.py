"""What commands print can be given to the next command. Mistakes are explained in the words of the command line."""

from __future__ import annotations

import asyncio
import json
import re
from datetime import datetime
from pathlib import Path

import pytest

from ostinato import Ostinato
from ostinato.faces.cli.main import commands
from tests.support.commands import Place

MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d)")


@pytest.fixture
def store(tmp_path: Path) -> Place:
    place = Place({"OSTINATO_STORE": f"sqlite:///{tmp_path}/store.db", "OSTINATO_SERVER": None}, "store")
    place.run("migrate")
    return place


def test_a_time_that_is_shown_can_be_pasted_back(store: Place) -> None:
    store.run("schedules", "create", "charge", "0 3 * * *", "send", "--tz", "Europe/Berlin")
    shown = MOMENT.findall(store.text("schedules", "show", "charge"))
    listed = MOMENT.findall(store.text("schedules", "list"))
    assert listed == shown[:1]
    assert "T03:00:00+0" in listed[0]
    assert store.json("explain", "charge", listed[0])["outcome"] == "will_run"
    assert listed[0] in store.text("explain", "charge", listed[0])
    assert listed[0] in store.text("schedules", "skip", "charge", listed[0])
    assert listed[0] in store.text("schedules", "put-back", "charge", listed[0])
    coming = MOMENT.findall(store.text("schedules", "times", "charge", listed[0], shown[2]))
    assert coming == shown[:3]


def test_a_zone_that_a_cron_line_names_is_the_schedules(store: Place) -> None:
    store.run("schedules", "create", "charge", "CRON_TZ=Asia/Tokyo 0 3 * * *", "send")
    (shown,) = MOMENT.findall(store.text("schedules", "list"))
    assert shown.endswith("T03:00:00+09:00")
    assert store.json("explain", "charge", shown)["outcome"] == "will_run"


def test_the_last_day_of_a_period_is_in_it(store: Place) -> None:
    store.run("schedules", "create", "report", "0 9 * * 1-5", "send", "--tz", "America/New_York")
    items = store.json("schedules", "times", "report", "2026-03-02", "2026-03-06")["items"]
    assert len(items) == 5
    store.run("schedules", "backfill", "report", "--first", "2026-03-02", "--last", "2026-03-06")
    (filled,) = store.json("backfills", "list", "report")["items"]
    assert filled["total"] == 5
    between = store.json("when", "0 9 * * *", "--between", "2026-03-02", "2026-03-06")
    assert len(between["times"]) == 5
    played = store.json("simulate", "report", "--first", "2026-03-02", "--last", "2026-03-06")
    assert len(played["items"]) == 5


def test_an_update_keeps_the_zone_and_says_what_changed(store: Place) -> None:
    created = store.text("schedules", "create", "report", "0 9 * * 1-5", "send", "--tz", "Europe/Berlin")
    assert "when: At 09:00 on weekdays, Europe/Berlin" in created
    assert len(MOMENT.findall(created)) == 3
    output = store.text("schedules", "update", "report", "--spec", "30 9 * * 1-5")
    assert "when: At 09:00 on weekdays, Europe/Berlin → At 09:30 on weekdays, Europe/Berlin" in output
    assert "T09:30:00+0" in output
    output = store.text("schedules", "update", "report", "--tz", "Asia/Tokyo")
    assert "At 09:30 on weekdays, Asia/Tokyo" in output
    output = store.text(
        "schedules", "update", "report", "--spec", "0 8 * * *", "--tz", "UTC", "--overlap", "buffer_one"
    )
    assert "At 08:00, UTC" in output
    assert "overlap: skip → buffer_one" in output
    output = store.text("schedules", "update", "report", "--spec", '{"cron": "0 7 * * *", "tz": "Europe/Paris"}')
    assert "At 07:00, Europe/Paris" in output
    store.run("schedules", "update", "report", "--spec", "CRON_TZ=Europe/Paris 0 6 * * *")
    output = store.text("schedules", "update", "report", "--tz", "Asia/Tokyo")
    assert "At 06:00, Europe/Paris → At 06:00, Asia/Tokyo" in output
    assert "nothing is different" in store.text("schedules", "update", "report", "--overlap", "buffer_one")
    assert "declared" not in output


def test_an_update_of_what_a_file_declares_says_that_it_will_be_put_back(store: Place, tmp_path: Path) -> None:
    file = tmp_path / "schedules.yaml"
    file.write_text("schedules:\n  nightly:\n    spec: 0 2 * * *\n    action: send\n")
    store.run("apply", str(file))
    said = store.run("schedules", "update", "nightly", "--notes", "later", "--spec", "0 3 * * *").stderr
    assert re.search(r"note: it is declared in file:.*the next `apply` of that file puts it back", said)
    assert "declared" not in store.run("schedules", "update", "nightly", "--spec", "0 3 * * *").stderr


def test_an_update_of_what_code_declares_says_that_a_node_puts_it_back(store: Place, tmp_path: Path) -> None:
    async def declare() -> None:
        app = Ostinato(store.environ["OSTINATO_STORE"] or "")
        app.schedule("0 2 * * *", name="nightly")(nothing)
        async with app:
            pass

    async def nothing() -> None: ...

    asyncio.run(declare())
    said = store.run("schedules", "update", "nightly", "--spec", "0 3 * * *").stderr
    assert "note: it is declared in code; the next start of a node with that code puts it back" in said


def test_deleting_what_a_file_declares_says_that_it_comes_back(place: Place, tmp_path: Path) -> None:
    file = tmp_path / "schedules.yaml"
    entries = "".join(f"  {name}:\n    spec: 0 2 * * *\n    action: send\n" for name in "abc")
    file.write_text(f"schedules:\n{entries}")
    place.run("apply", str(file))
    place.run("schedules", "create", "own", "0 9 * * *", "send")
    note = r"it is declared in file:.*; the next `apply` of that file creates it again"
    assert re.search(f"note: {note}", place.run("schedules", "delete", "a").stderr)
    many = place.run("schedules", "delete", "b", "c", "own", "--yes", "--json")
    notes = json.loads(many.stdout)["notes"]
    assert list(notes) == ["b", "c"]
    assert re.fullmatch(note, notes["b"])
    assert re.search(f"note: b: {note}", many.stderr)


def test_the_time_of_one_that_was_moved_names_it(store: Place) -> None:
    store.run("schedules", "create", "berlin", "0 3 * * *", "send", "--tz", "Europe/Berlin")
    (at, *_) = MOMENT.findall(store.text("schedules", "list"))
    to = at.replace("T03:00", "T04:30")
    store.run("schedules", "move", "berlin", at, to)
    assert MOMENT.findall(store.text("schedules", "list")) == [to]
    explained = store.json("explain", "berlin", to)
    assert explained["outcome"] == "will_run"
    assert datetime.fromisoformat(explained["nominal"]) == datetime.fromisoformat(at)
    store.run("schedules", "put-back", "berlin", to)
    assert MOMENT.findall(store.text("schedules", "list")) == [at]
    wrong = store.error("schedules", "skip", "berlin", to, code=2)
    assert f"{to} is not a coming time of schedule 'berlin'; its next one is {at}" in wrong
    range_ = ("--first", "2026-01-02T00:00", "--last", "2026-01-01T00:00")
    wrong = store.error("schedules", "backfill", "berlin", *range_, code=2)
    assert "a backfill from 2026-01-02T00:00:00+01:00 cannot end at 2026-01-01T00:00:00+01:00" in wrong
    created = re.search(r"created +(\S+)", store.text("schedules", "show", "berlin"))
    assert created is not None
    assert created[1].endswith("Z")


def test_a_step_that_leads_nowhere_is_noted(store: Place) -> None:
    output = store.text("schedules", "create", "often", "*/90 * * * *", "send")
    assert "*/90" in output
    assert "write 'every 90m'" in output
    assert store.json("when", "*/61 * * * *")["warnings"]
    assert store.json("when", "*/30 * * * *")["warnings"] == []


def test_a_job_that_nobody_knows_is_noted(place: Place) -> None:
    output = place.run("schedules", "create", "b", "0 9 * * *", "chrge").stderr
    assert "note: no node knows the job 'chrge' yet" in output
    assert "no node knows" in place.run("schedules", "update", "b", "--job", "chrg").stderr


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("schedules", "create", "x", "0 9 * * *", "send", "--overlap", "skipp"), "overlap 'skipp' is unknown; did"),
        (("schedules", "create", "x", "0 9 * * *", "--job", "send"), "Give it as the argument JOB."),
        (("schedules", "delete", "x", "--running", "foo"), "error: running 'foo' is unknown; there are leave, cancel"),
        (("journeys", "list", "--phase", "foo"), "error: phase 'foo' is unknown; there are running, succeeded, failed"),
        (("runs", "list", "--status", "faild"), "error: status 'faild' is unknown; did you mean 'failed'?"),
        (("token", "create", "--role", "amin"), "did you mean 'admin'?"),
        (("namespaces", "create", "-x"), "No such option"),
        (("namespaces", "create", "a b"), "letters"),
        (("webhooks", "create", "https://a.example/x", "--pattern", "run:faild"), "did you mean 'run:failed'?"),
        (("schedules", "create", "x", "@every 5m", "send"), "write every 5m"),
        (("schedules", "create", "x", "0 9 * * *", "send", "--tz", "CEST"), "'Europe/Berlin'"),
        (("schedules", "remove", "x"), "Did you mean 'delete'?"),
        (("schedules", "create", "x", "--cron", "0 9 * * *"), "Give it as the argument SPEC."),
        (("schedules", "list", "--timezone", "UTC"), "No such option: --timezone"),
    ],
)
def test_a_mistake_is_told_in_the_words_of_the_command_line(place: Place, args: tuple[str, ...], words: str) -> None:
    output = place.error(*args, code=2)
    assert words in output
    for other in ("body.", "query.", "upsert", "every('5m'), or"):
        assert other not in output


@pytest.mark.parametrize("input", ['{"password": hunter2}', '["hunter2"]', '"hunter2"'])
def test_a_wrong_input_is_not_repeated(place: Place, input: str) -> None:
    output = place.error("jobs", "run", "send", "--input", input, code=2)
    assert "--input is" in output
    assert "hunter2" not in output


def test_what_people_guess_works(store: Place) -> None:
    store.run("schedules", "create", "charge", "0 3 * * *", "send")
    assert store.text("--version").startswith("ostinato ")
    assert "Usage" in store.text("schedules", "create", "-h")
    assert store.json("schedules", "explain", "charge", "2036-01-01T03:00Z")["outcome"] == "will_run"
    started = json.loads(store.text("jobs", "run", "send", "-o", "json"))
    assert "logged nothing" in store.text("runs", "logs", started["id"])
    assert store.text("tokens", "list") == store.text("token", "list")


def test_no_help_is_cut_off(store: Place) -> None:
    groups = [[], *([name] for name in commands())]
    for group in groups:
        output = store.run(*group, "--help").stdout
        listed = output.partition("Commands:")[2]
        assert "..." not in listed, f"{group}: {listed}"
        # A terminal of 80 columns leaves 78 for help; the tests' runner has two more.
        assert max(map(len, listed.splitlines()), default=0) <= 78, f"{group}: {listed}"


def test_a_run_that_was_asked_to_stop_is_said_to_be(store: Place) -> None:
    from ostinato.faces.cli.run_commands import error_text

    trace = "Traceback (most recent call last):\n  File …\nValueError: no"
    assert error_text({"type": "ValueError", "message": "no", "traceback": trace}) == f"\n{trace}"
    assert error_text({"code": "X"}) == '{"code": "X"}'


def test_a_plan_needs_no_store(tmp_path: Path) -> None:
    absent = Place({"OSTINATO_STORE": f"sqlite:///{tmp_path}/none.db", "OSTINATO_SERVER": None}, "store")
    file = tmp_path / "schedules.yaml"
    file.write_text("schedules:\n  nightly:\n    spec: 0 2 * * *\n    action: send\n")
    done = absent.run("apply", str(file), "--dry-run")
    assert "1 to create" in done.stdout
    assert "there is no store" in done.stderr
    assert not (tmp_path / "none.db").exists()
    absent.run("apply", str(file))
    assert "wrote 1 schedule to" in absent.run("export", "file", str(tmp_path / "out.yaml")).stderr


def test_a_phase_is_taken_as_it_is_shown(store: Place) -> None:
    for phase in ("running", "RUNNING", "Failed"):
        assert "no journeys" in store.text("journeys", "list", "--phase", phase)


def test_a_line_of_time_has_few_marks_for_each_schedule(store: Place) -> None:
    store.run("schedules", "create", "daily", "0 3 * * *", "send")
    assert store.text("upcoming").count("●") == 12
    assert len(store.json("upcoming")["items"]) == 50


def test_every_mistake_of_a_state_is_told(store: Place, tmp_path: Path) -> None:
    file = tmp_path / "a.journey.yaml"
    file.write_text(
        "apiVersion: v1\nkind: Journey\nmetadata: {name: a, version: 1.0.0}\nspec:\n  start: ask\n  states:\n"
        "    ask: {type: wiat, wait: {channel: manual, input: {schema: {}}, timeoutSec: -5}, next: don}\n"
        "    done: {type: succeed}\n"
    )
    output = store.text("journeys", "check", str(file), code=2)
    assert "did you mean 'wait'" in output.lower()
    assert "'don'" in output
    assert "timeoutSec" in output
    assert "1 definition, " in output


def test_what_is_the_same_at_many_places_is_said_once() -> None:
    from ostinato.faces.cli.journey_commands import _problem_lines

    said = {"file": "a", "column": 1, "state": None, "severity": "error", "suggestion": "install it"}
    many = [{**said, "line": line, "code": "lang", "message": "there is no language x"} for line in range(45)]
    several = [{**said, "line": line, "code": "lang", "message": "there is no language y"} for line in range(3)]
    few = [{**said, "line": line, "code": "next", "message": "there is no state"} for line in range(2)]
    lines = [line for line, _ in _problem_lines([*many, *several, *few])]
    assert len(lines) == 6
    assert lines[1] == "  the same at 44 other places of 1 file"
    assert lines[3] == "  the same at 2 other places of 1 file"


def test_commands_on_a_store_read_the_settings_of_outbound_http_as_servers_do(store: Place, tmp_path: Path) -> None:
    local = ("webhooks", "create", "http://127.0.0.1:9/x")
    assert "with the setting egress_allow" in store.error(*local, code=2)
    file = tmp_path / "ostinato.toml"
    others = 'tls_certificate = "here.pem"\njourney_settings = "gone.toml"\nof_another_app = 1\n'  # of no concern here
    file.write_text(f'{others}egress_allow = ["127.0.0.1"]\n')
    for setting in ({"OSTINATO_EGRESS_ALLOW": "127.0.0.0/8"}, {"OSTINATO_CONFIG": str(file)}):
        allowed = Place({**store.environ, "OSTINATO_PORT": "tcp://10.0.0.1", **setting}, "store")
        assert allowed.json(*local)["url"] == "http://127.0.0.1:9/x"


def test_a_frequent_schedule_hides_no_other(place: Place) -> None:
    place.run("schedules", "create", "often", "every 1s", "send")
    place.run("schedules", "create", "yearly", "0 0 1 1 *", "send")
    text = place.text("upcoming")
    (yearly,) = [line for line in text.splitlines() if line.startswith("yearly")]
    assert "●" not in yearly
    assert re.search(r"in \d+ d", yearly)
    assert re.search(r"\d\d:\d\d:\d\dZ", text.splitlines()[0])
    assert {one["schedule"] for one in place.json("upcoming", "--limit", "20")["items"]} == {"often"}


@pytest.mark.parametrize(
    "action",
    ["{http: {url: nonsense}}", "{http: {}}", "{http: {url: 'https://a.example', frobnicate: 1}}", "webhook", "''"],
)
def test_a_wrong_file_creates_no_store(tmp_path: Path, action: str) -> None:
    here = Place({"OSTINATO_STORE": f"sqlite:///{tmp_path}/none.db", "OSTINATO_SERVER": None}, "store")
    file = tmp_path / "schedules.yaml"
    file.write_text(f"schedules:\n  nightly:\n    spec: 0 2 * * *\n    action: {action}\n")
    for command in (("apply",), ("import", "file")):
        assert f"{file}:4:" in here.error(*command, str(file), code=2)
        assert [one.name for one in tmp_path.iterdir()] == [file.name]
