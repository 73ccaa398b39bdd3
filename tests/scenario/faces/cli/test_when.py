"""`ostinato when`: what it prints, and what it says when the input is wrong."""

from __future__ import annotations

import json
import re
import zoneinfo
from base64 import b64encode
from pathlib import Path

import pytest

from tests.support.commands import run_command

pytestmark = pytest.mark.usefixtures("quick_commands")


def test_when_says_the_words_the_times_and_the_change_of_the_clocks() -> None:
    done = run_command("when", "30 2 * * *", "--tz", "Europe/Berlin", "--after", "2026-03-27T12:00", "--next", "3")
    assert done.returncode == 0, done.stderr
    assert "At 02:30, Europe/Berlin" in done.stdout
    assert "Sun 2026-03-29 03:00:00" in done.stdout
    assert "clocks go forward, 02:00 → 03:00" in done.stdout
    assert "moved" in done.stdout
    assert "28•29•30•" in done.stdout.replace("\n", "").replace(" ", "")


def test_when_between_as_json() -> None:
    done = run_command(
        "when",
        "30 2 * * *",
        "--tz",
        "Europe/Berlin",
        "--between",
        "2026-10-24",
        "2026-10-26T12:00",
        "--dst",
        "wall",
        "--json",
    )
    data = json.loads(done.stdout)
    assert [t["utc"] for t in data["times"]] == [
        "2026-10-24T00:30:00Z",
        "2026-10-25T00:30:00Z",
        "2026-10-25T01:30:00Z",
        "2026-10-26T01:30:00Z",
    ]
    assert [t["note"] for t in data["times"]][1:3] == [
        "this hour comes twice; first pass",
        "this hour comes twice; second pass",
    ]
    assert data["clock_changes"] == [
        {"utc": "2026-10-25T01:00:00Z", "before": "2026-10-25 03:00", "after": "2026-10-25 02:00"}
    ]
    assert data["dst"] == "wall"


def test_the_temporal_dialect_warns() -> None:
    done = run_command("when", "0 9 31 2 *", "--dialect", "temporal")
    assert done.returncode == 0
    assert "can never match" in done.stdout
    assert "no times" in done.stdout


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["0 24 * * *"], "error: hour 24 is out of range 0–23 in '0 24 * * *'; did you mean 0?"),
        (["0 9 * * *", "--tz", "Europe/Berln"], "did you mean 'Europe/Berlin'?"),
        (["0 9 * * *", "--between", "2026-02-01", "2026-01-01"], "ends before it starts"),
        (["0 9 * * *", "--after", "soon"], "--after 'soon' is not a time"),
        (["{}x"], "not JSON"),
        (["[1-5] 9 * * *"], "'[1-5] 9 * * *'"),
        ([""], "the spec is empty"),
    ],
)
def test_wrong_input_is_one_line_and_exit_code_2(args: list[str], message: str) -> None:
    done = run_command("when", *args)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["0 9 * * *", "--between", "2026-01-01", "2026-01-02", "--next", "3"], "leave out --after and --next"),
        (["0 9 * * *", "--between", "2026-01-01", "2026-01-02", "--after", "2026-01-01"], "leave out --after"),
        (['{"cron": "0 9 * * *", "tz": "Asia/Tokyo"}', "--tz", "UTC"], "say it once"),
        (['{"cron": "0 9 * * *", "dialect": "temporal"}', "--dialect", "cron"], "say it once"),
        (['{"cron": "0 9 * * *", "dst": "wall"}', "--dst", "cron"], "say it once"),
    ],
)
def test_what_contradicts_itself_is_refused(args: list[str], message: str) -> None:
    done = run_command("when", *args)
    assert done.returncode == 2
    assert message in done.stderr


def test_brackets_in_what_was_typed_are_only_text() -> None:
    done = run_command("when", "0 9 * * 5#[/]", "--dialect", "temporal", "--next", "1")
    assert done.returncode == 0, done.stderr
    assert "in '0 9 * * 5#[/]' everything after '#' is a comment" in done.stdout.replace("\n", " ")
    done = run_command("when", "[/] [bold] * * *")
    assert done.returncode == 2
    assert "'[/] [bold] * * *'" in done.stderr


def test_a_list_that_was_cut_says_so() -> None:
    args = ["when", "* * * * * *", "--json", "--between", "2026-01-01T00:00:01"]
    cut = json.loads(run_command(*args, "2026-01-02").stdout)
    assert (len(cut["times"]), cut["more"]) == (10_000, True)
    whole = json.loads(run_command(*args, "2026-01-01T02:46:40").stdout)
    assert (len(whole["times"]), whole["more"]) == (10_000, False)


def test_many_clock_changes_between_two_times_are_one_line() -> None:
    args = ["when", "0 0 29 2 *", "--tz", "Europe/Berlin", "--after", "2025-01-01", "--next", "2"]
    assert re.findall(r"── \d+ clock changes", run_command(*args).stdout) == [
        "── 6 clock changes",
        "── 8 clock changes",
    ]
    assert len(json.loads(run_command(*args, "--json").stdout)["clock_changes"]) == 14


def test_a_zone_given_as_data_reads_times_too() -> None:
    data = next(p for p in (Path(d, "Europe/Berlin") for d in zoneinfo.TZPATH) if p.is_file()).read_bytes()
    spec = json.dumps({"cron": "0 9 * * *", "tz_data": b64encode(data).decode()})
    done = run_command("when", spec, "--after", "2026-07-01T09:00", "--next", "1", "--json")
    shown = json.loads(done.stdout)
    assert [t["utc"] for t in shown["times"]] == ["2026-07-02T07:00:00Z"]
    assert shown["words"] == "At 09:00, its own zone data"
