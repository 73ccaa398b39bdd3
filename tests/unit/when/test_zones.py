"""Zone tables agree with zoneinfo, for every zone, far into the future."""

from __future__ import annotations

import random
import struct
import subprocess
import sys
import zoneinfo
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ostinato import SpecError
from ostinato.when import Spec, cron, read_spec, rules_in_force
from ostinato.when.instants import EPOCH
from ostinato.when.zones import LAST_YEAR, rules_from_data, zone, zone_from_data, zone_names

FIRST, LAST = (int(datetime(y, 1, 1, tzinfo=UTC).timestamp()) for y in (1901, LAST_YEAR))


def offset(tz: zoneinfo.ZoneInfo, second: int) -> int:
    offset_then = (EPOCH + timedelta(seconds=second)).astimezone(tz).utcoffset()
    assert offset_then is not None
    return round(offset_then.total_seconds())


@pytest.mark.parametrize("part", range(8))
def test_offsets_agree_with_zoneinfo(part: int) -> None:
    dice = random.Random(part)
    names = sorted(zone_names())[part::8]
    assert len(names) > 40
    for name in dice.sample(names, 25):
        tz, table = zoneinfo.ZoneInfo(name), zone(name)
        for _ in range(60):
            second = dice.randrange(FIRST, LAST)
            assert table.offset(second) == offset(tz, second), (name, second)
        for change, before, after in dice.sample(table.changes(FIRST, LAST), min(10, len(table.changes(FIRST, LAST)))):
            assert (offset(tz, change - 1), offset(tz, change)) == (before, after), (name, change)


def test_rules_go_on_beyond_2037() -> None:
    time = Spec(crons=("30 2 * * *",), tz="Europe/Berlin").next(datetime(2150, 3, 28, 12, tzinfo=UTC))
    assert time is not None
    assert time.isoformat() == "2150-03-29T03:00:00+02:00"


def test_a_zone_may_be_given_as_bytes() -> None:
    data = berlin()
    zone_of_data, named = zone_from_data(data), zone("Europe/Berlin")
    assert (zone_of_data.starts, zone_of_data.offsets) == (named.starts, named.offsets)
    spec = Spec(crons=("0 9 * * *",), tz_data=data)
    time = spec.next(datetime(2026, 7, 1, tzinfo=UTC))
    assert time is not None
    assert time.astimezone(UTC).hour == 7
    with pytest.raises(SpecError, match="tz_data"):
        Spec(crons=("CRON_TZ=UTC 0 9 * * *",), tz_data=data).check()


def berlin() -> bytes:
    return next(p for p in (Path(d, "Europe/Berlin") for d in zoneinfo.TZPATH) if p.is_file()).read_bytes()


def test_a_cut_or_damaged_zone_file_is_a_spec_error() -> None:
    data, dice = berlin(), random.Random(1)
    damaged = [data[:n] for n in range(1, len(data), 7)]
    for _ in range(600):
        bytes_of_it = bytearray(data)
        for _ in range(dice.randint(1, 3)):
            place = dice.choice([dice.randrange(44), dice.randrange(len(data)), len(data) - dice.randint(1, 30)])
            bytes_of_it[place] = dice.randrange(256)
        damaged.append(bytes(bytes_of_it))
    refused = 0
    for content in damaged:
        try:
            assert Spec(crons=("0 9 * * *",), tz_data=content).describe().endswith("its own zone data")
        except SpecError as problem:
            assert problem.field == "tz_data", problem
            refused += 1
    assert refused > 500


def zone_file(rule: str) -> bytes:
    """A file without listed changes: a closing rule alone."""
    block = b"TZif2" + bytes(15) + struct.pack(">6I", 0, 0, 0, 0, 1, 4) + struct.pack(">iBB", 0, 0, 0) + b"AAA\0"
    return block * 2 + b"\n" + rule.encode() + b"\n"


@pytest.mark.parametrize(
    "rule",
    [
        "AAA0BBB,J100/2,J105/2",
        "AAA0BBB,59,60/3",
        "AAA0BBB,J59/0,J60/0",
        "<-03>3<-02>,M3.5.0/-2,M10.5.0/-1",
        "IST-2IDT,M3.4.4/26,M10.5.0",
        "AAA-9:30BBB-10,M10.1.0,M4.1.0/167",
        "XXX3EDT4,0/0,J365/23",
        "AAA5",
    ],
)
def test_the_changes_of_a_closing_rule_are_found_however_short_its_summer(rule: str) -> None:
    data = zone_file(rule)
    table, tz = zone_from_data(data), rules_from_data(data)
    for year in (1999, 2024, 2025, 2100, 2198):
        first = int(datetime(year, 1, 1, tzinfo=UTC).timestamp())
        for second in range(first, first + 366 * 86_400, 6 * 3600 + 1):
            assert table.offset(second) == offset(tz, second), second
    assert len(table.changes(FIRST, LAST)) in (0, 2 * (LAST_YEAR - 1901))


def test_the_version_in_force_can_be_asked_for() -> None:
    rules = rules_in_force()
    assert rules.version[:4].isdigit()
    assert rules.source


def test_without_system_rules_the_package_serves(tmp_path: Path) -> None:
    script = (
        "from ostinato.when import rules_in_force; from ostinato.when.zones import zone;"
        "print(rules_in_force().source, zone('Europe/Berlin').offset(1782900000))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONTZPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.split() == ["tzdata", "7200"]


def test_an_abbreviation_is_answered_with_a_place() -> None:
    with pytest.raises(SpecError, match="it is an abbreviation; name a place such as 'Europe/Berlin'"):
        cron("0 9 * * *", tz="CEST")


@pytest.mark.parametrize("key", ["zone", "timezone", "time_zone"])
def test_other_names_for_tz_are_refused_with_tz(key: str) -> None:
    with pytest.raises(SpecError, match=f"'{key}' is not part of a spec; did you mean 'tz'?"):
        read_spec({"cron": "0 9 * * *", key: "Europe/Berlin"})
