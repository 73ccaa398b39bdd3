"""The command line: what it prints, and what it says when the input is wrong."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys
import time
import zoneinfo
from base64 import b64encode
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from ostinato import Spec, cron, every
from ostinato.faces.cli.page import State, render
from ostinato.faces.cli.pictures import distance, shown_times, times_table
from ostinato.when import Interval
from ostinato.when.instants import SECOND, Micros, read_instant

OSTINATO = str(Path(sys.executable).with_name("ostinato"))


def run(*args: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run([OSTINATO, *args], input=stdin, capture_output=True, text=True, timeout=60)


def test_when_says_the_words_the_times_and_the_change_of_the_clocks() -> None:
    done = run("when", "30 2 * * *", "--tz", "Europe/Berlin", "--after", "2026-03-27T12:00", "--next", "3")
    assert done.returncode == 0, done.stderr
    assert "At 02:30, Europe/Berlin" in done.stdout
    assert "Sun 2026-03-29 03:00:00" in done.stdout
    assert "clocks go forward, 02:00 → 03:00" in done.stdout
    assert "moved" in done.stdout
    assert "28•29•30•" in done.stdout.replace("\n", "").replace(" ", "")


def test_when_between_as_json() -> None:
    done = run(
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
    found = json.loads(done.stdout)
    assert [t["utc"] for t in found["times"]] == [
        "2026-10-24T00:30:00Z",
        "2026-10-25T00:30:00Z",
        "2026-10-25T01:30:00Z",
        "2026-10-26T01:30:00Z",
    ]
    assert [t["note"] for t in found["times"]][1:3] == [
        "this hour comes twice; first pass",
        "this hour comes twice; second pass",
    ]
    assert found["clock_changes"] == [
        {"utc": "2026-10-25T01:00:00Z", "before": "2026-10-25 03:00", "after": "2026-10-25 02:00"}
    ]
    assert found["dst"] == "wall"


def test_the_temporal_dialect_warns() -> None:
    done = run("when", "0 9 31 2 *", "--dialect", "temporal")
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
    done = run("when", *args)
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
    done = run("when", *args)
    assert done.returncode == 2
    assert message in done.stderr


def test_brackets_in_what_was_typed_are_only_text() -> None:
    done = run("when", "0 9 * * 5#[/]", "--dialect", "temporal", "--next", "1")
    assert done.returncode == 0, done.stderr
    assert "in '0 9 * * 5#[/]' everything after '#' is a comment" in done.stdout.replace("\n", " ")
    done = run("when", "[/] [bold] * * *")
    assert done.returncode == 2
    assert "'[/] [bold] * * *'" in done.stderr


def test_a_list_that_was_cut_says_so() -> None:
    args = ["when", "* * * * * *", "--json", "--between", "2026-01-01T00:00:01"]
    cut = json.loads(run(*args, "2026-01-02").stdout)
    assert (len(cut["times"]), cut["more"]) == (10_000, True)
    whole = json.loads(run(*args, "2026-01-01T02:46:40").stdout)
    assert (len(whole["times"]), whole["more"]) == (10_000, False)


def test_many_clock_changes_between_two_times_are_one_line() -> None:
    args = ["when", "0 0 29 2 *", "--tz", "Europe/Berlin", "--after", "2025-01-01", "--next", "2"]
    assert re.findall(r"── \d+ clock changes", run(*args).stdout) == ["── 6 clock changes", "── 8 clock changes"]
    assert len(json.loads(run(*args, "--json").stdout)["clock_changes"]) == 14


def test_a_zone_given_as_data_reads_times_too() -> None:
    data = next(p for p in (Path(d, "Europe/Berlin") for d in zoneinfo.TZPATH) if p.is_file()).read_bytes()
    spec = json.dumps({"cron": "0 9 * * *", "tz_data": b64encode(data).decode()})
    done = run("when", spec, "--after", "2026-07-01T09:00", "--next", "1", "--json")
    found = json.loads(done.stdout)
    assert [t["utc"] for t in found["times"]] == ["2026-07-02T07:00:00Z"]
    assert found["words"] == "At 09:00, its own zone data"


def at(text: str) -> Micros:
    return read_instant(text, "test")


def test_only_what_reads_the_wall_gets_a_note() -> None:
    autumn = [at("2026-10-25T00:30:00Z"), at("2026-10-25T01:30:00Z")]
    interval = Spec(intervals=(Interval(1800 * SECOND),), tz="Europe/Berlin")
    assert [t.note for t in shown_times(interval, autumn)] == ["", ""]
    both = cron("30 2 * * *", tz="Europe/Berlin") | interval
    assert [t.note for t in shown_times(both, autumn)] == ["this hour comes twice; runs the first time only", ""]
    stopwatch = every("PT1H", anchor="2026-10-25T00:30Z", tz="Europe/Berlin")
    assert [t.note for t in shown_times(stopwatch, autumn)] == ["", ""]


def test_fractions_of_a_second_count_and_are_shown() -> None:
    spec = every("P1D", anchor="2026-10-24T02:30:00.25", tz="Europe/Berlin", dst="wall")
    autumn = [at("2026-10-25T00:30:00.25Z"), at("2026-10-25T01:30:00.25Z")]
    assert list(spec.compiled.between(autumn[0], autumn[1])) == autumn
    assert [t.note.partition("; ")[2] for t in shown_times(spec, autumn)] == ["first pass", "second pass"]
    console = Console(width=100, file=StringIO())
    console.print(times_table(spec, autumn[0], autumn[1], shown_times(spec, autumn)))
    assert "Sun 2026-10-25 02:30:00.25" in console.file.getvalue()  # type: ignore[attr-defined]


def test_a_command_waits_for_nothing_that_it_does_not_need() -> None:
    """The overview needs no engine, no store and no HTTP; `when` needs the algebra of time alone."""
    heavy = ["asyncpg", "fastapi", "httpx", "ostinato.app", "ostinato.client", "ruamel.yaml", "uvicorn"]
    look = "import sys; from ostinato.faces.cli.main import app\ntry: app()\nexcept SystemExit: pass\n"
    for args in (["--help"], ["when", "0 9 * * *"], ["version"]):
        told = f"sys.exit(' '.join(one for one in {heavy} if one in sys.modules) or 0)"
        done = subprocess.run([sys.executable, "-c", look + told, *args], capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, ""), args


def test_everything_that_is_offered_is_there() -> None:
    import ostinato

    assert set(ostinato.__all__) <= set(dir(ostinato))
    for name in ostinato.__all__:
        assert getattr(ostinato, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        ostinato.nothing  # noqa: B018


def test_version_names_the_zone_rules() -> None:
    assert re.match(r"ostinato \d+\.\d+\.\d+, time-zone rules \d{4}", run("version").stdout)
    assert set(json.loads(run("version", "--json").stdout)) == {"version", "zone_rules", "zone_source"}


def test_the_page_answers_each_line_where_there_is_no_terminal() -> None:
    done = run("page", "0 12 LW * *", stdin="every 90m\nnonsense\n")
    assert "the last weekday of the month" in done.stdout
    assert "Every 1 hour and 30 minutes" in done.stdout
    assert "'nonsense' has 1 field" in done.stdout


def test_the_page_lives_in_a_terminal_and_leaves_on_escape() -> None:
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [OSTINATO, "page", "0 9 * * 1-5"],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100", "LINES": "45"},
    )
    os.close(follower)
    try:
        assert "on weekdays" in read_until(leader, "on weekdays")
        os.write(leader, b"\x15*/5 * * * *")
        assert "Every 5 minutes" in read_until(leader, "Every 5 minutes")
        os.write(leader, b"\x1b")
        read_until(leader, "\x00never", process)
        assert process.wait(timeout=30) == 0
    finally:
        process.kill()
        os.close(leader)


def read_until(descriptor: int, wanted: str, process: subprocess.Popen[bytes] | None = None) -> str:
    """What the terminal shows until the words come, for half a minute at the most."""
    text, deadline = "", time.monotonic() + 30
    while wanted not in text and time.monotonic() < deadline:
        if process is not None and process.poll() is not None:
            break
        ready, _, _ = select.select([descriptor], [], [], 0.2)
        if ready:
            try:
                text += os.read(descriptor, 65536).decode(errors="replace")
            except OSError:
                break
    return text


class Stopped:
    virtual = True

    def now(self) -> Micros:
        return read_instant("2026-03-27T12:00:00Z", "now")


def test_keys_change_what_is_typed() -> None:
    state = State("0 9 * * *", "UTC")
    assert state.press("\x7f").spec == "0 9 * * "
    assert state.press("\x15").spec == ""
    assert state.press("\t").press("x").zone == "UTCx"
    assert state.press("\x1b[B").spec != state.spec
    assert state.press("\x1b[A") == state


def test_a_page_shows_an_error_instead_of_failing() -> None:
    console = Console(width=100, file=StringIO())
    console.print(render(State("0 99 * * *", "UTC"), Stopped()))
    assert "hour 99 is out of range" in console.file.getvalue()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("seconds", "words"), [(0, "0 s"), (59, "59 s"), (61, "1 m 1 s"), (3600, "1 h 0 m"), (90_000, "1 d 1 h")]
)
def test_distances(seconds: int, words: str) -> None:
    assert distance(seconds * SECOND) == words
