"""Crontabs: every line becomes a schedule, or has a reason why it does not."""

from __future__ import annotations

from typing import Any

import pytest

from ostinato import FileError, cron, parse_schedules
from ostinato.schedules.declared.crontab import read_crontab
from ostinato.schedules.declared.files import write_document


def line(text: str, **options: Any) -> tuple[Any, Any]:
    (entry,) = read_crontab(text, **options).lines
    return entry.spec, entry.input


@pytest.mark.parametrize(
    ("text", "spec", "input"),
    [
        ("0 2 * * 7 /bin/backup", {"cron": ["0 2 * * 7"]}, {"command": "/bin/backup"}),
        (
            "  */5\t*  *  jan-mar mon  run  this # all of it ",
            {"cron": ["*/5 * * jan-mar mon"]},
            {"command": "run  this # all of it"},
        ),
        ("@daily clean", {"cron": ["@daily"]}, {"command": "clean"}),
        ("-0 2 * * * quiet", {"cron": ["0 2 * * *"]}, {"command": "quiet"}),
        (r"0 2 * * * date +\%F", {"cron": ["0 2 * * *"]}, {"command": "date +%F"}),
        (
            r"0 2 * * * mail x%Dear x,%100\% yours",
            {"cron": ["0 2 * * *"]},
            {"command": "mail x", "stdin": "Dear x,\n100% yours\n"},
        ),
        ("0 2 * * * FOO=bar run", {"cron": ["0 2 * * *"]}, {"command": "FOO=bar run"}),
        ("CRON_TZ=Europe/Berlin\n0 2 * * * x", {"cron": ["0 2 * * *"], "tz": "Europe/Berlin"}, {"command": "x"}),
        ("TZ='Europe/Berlin'\n0 2 * * * x", {"cron": ["0 2 * * *"], "tz": "Europe/Berlin"}, {"command": "x"}),
        ("RANDOM_DELAY=5\n0 2 * * * x", {"cron": ["0 2 * * *"], "jitter": "5m"}, {"command": "x"}),
        (
            '# note\n\nPATH = "/usr/bin:/bin"\n0 2 * * * x',
            {"cron": ["0 2 * * *"]},
            {"command": "x", "env": {"PATH": "/usr/bin:/bin"}},
        ),
        ("MAILTO=me\n0 2 * * * x", {"cron": ["0 2 * * *"]}, {"command": "x"}),
    ],
)
def test_a_line_is_read_as_cron_reads_it(text: str, spec: Any, input: Any) -> None:
    assert line(text) == (spec, input)


def test_the_lines_of_a_system_crontab_name_the_user() -> None:
    assert line("17 * * * * root run-parts /etc/cron.hourly", system=True) == (
        {"cron": ["17 * * * *"]},
        {"command": "run-parts /etc/cron.hourly", "user": "root"},
    )
    assert line("@daily root x", system=True, tz="Asia/Tokyo")[0] == {"cron": ["@daily"], "tz": "Asia/Tokyo"}


def test_a_zone_and_the_environment_hold_from_their_line_on() -> None:
    tab = read_crontab("0 1 * * * a\nCRON_TZ=Asia/Tokyo\nA=1\n0 2 * * * b\nCRON_TZ=Europe/Berlin\n0 3 * * * c\n")
    assert [one.spec.get("tz") for one in tab.lines] == [None, "Asia/Tokyo", "Europe/Berlin"]
    assert [one.input.get("env") for one in tab.lines] == [None, {"A": "1"}, {"A": "1"}]


def test_what_is_read_otherwise_is_said() -> None:
    tab = read_crontab("MAILTO=me\nTZ=Asia/Tokyo\nPATH=/bin\n@reboot start\n0 1 * * * a\n", "tab")
    assert tab.notes == [
        "line 1: MAILTO is passed over: nothing is mailed. What a run returns or raises is on record",
        "line 2: TZ=Asia/Tokyo is taken for the zone of what follows; some crons read only CRON_TZ",
        "line 3: PATH goes with the commands after it, as env in their input",
    ]
    assert [str(one) for one in tab.left_out] == [
        "tab:4:1  @reboot is no time: a store outlives the machine. Start the job where your program starts"
    ]
    (note,) = read_crontab("0 1 * * * a").notes
    assert note.startswith("no zone is given, so times are read in UTC")
    assert read_crontab("0 1 * * * a", tz="UTC").notes == []


def test_every_line_that_cannot_be_read_is_told() -> None:
    text = (
        "0 25 * * * a\n  0 2 * *\n0 2 * * *\n@dayly x\nCRON_TZ=Mars/Here\nRANDOM_DELAY=x\n0 2 * * * %x\n0 2 * * * ok\n"
    )
    with pytest.raises(FileError) as refused:
        read_crontab(text, "tab")
    assert [str(one) for one in refused.value.problems] == [
        "tab:1:1  hour 25 is out of range 0–23 in '0 25 * * *'",
        "tab:2:3  '0 2 * *' ends before the times; a line is 'minute hour day month weekday command'",
        "tab:3:1  '0 2 * * *' ends before its command; a line is 'minute hour day month weekday command'",
        "tab:4:1  '@dayly' is not a shorthand; did you mean '@daily'?",
        "tab:5:9  CRON_TZ: tz 'Mars/Here' is not a time zone; use a name such as 'Europe/Berlin'",
        "tab:6:14  RANDOM_DELAY 'x' is not a number of minutes",
        "tab:7:11  '0 2 * * * %x' has nothing before its '%' to run",
    ]


def test_names_come_from_the_commands_and_stay() -> None:
    first = read_crontab(
        "0 1 * * * cd /srv && /usr/bin/backup.sh --full > log 2>&1\n"
        "0 2 * * * LANG=C ./clean tmp | tee x\n"
        "0 3 * * * ping a\n"
        "0 4 * * * ping a\n"
        "0 5 * * * :\n"
    )
    names = list(first.entries())
    assert names[:2] == ["backup.sh-full", "clean-tmp"]
    assert names[4] == "line"
    assert all(name.startswith("ping-a-") for name in names[2:4])
    # Another order is another file with the same names.
    again = read_crontab("0 4 * * * ping a\n0 2 * * * LANG=C ./clean tmp | tee x\n0 3 * * * ping a\n")
    assert set(again.entries()) == {*names[1:4]}
    twice = list(read_crontab("0 4 * * * ping a\n0 4 * * * ping a\n").entries())
    assert twice == [names[3], f"{names[3]}-2"]


def test_the_file_runs_as_cron_would() -> None:
    tab = read_crontab("0 2 * * * /bin/backup\n@hourly report --x\n", tz="Europe/Berlin")
    entries = tab.entries("sh", {"/bin/back*": "backup"})
    assert [one["action"]["job"] for one in entries.values()] == ["backup", "sh"]
    document = parse_schedules(write_document(entries), "crontab")
    backup = document.entries["backup"]
    assert backup["spec"] == cron("0 2 * * *", tz="Europe/Berlin")
    assert (backup["overlap"], backup["catchup"]) == ("allow_all", "skip")
