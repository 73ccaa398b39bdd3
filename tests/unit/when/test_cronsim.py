"""The cron dialect agrees with cronsim, which is itself proved against Debian's cron.

Known differences, each excepted by name below:
- six fields: cronsim turns its daylight-saving rule off there; a second of its own does not change what a
  user wants in spring, so ours stays on. Compared under the wall rule instead.
- a start within a repeated hour: cronsim forgets which of the two it was, and answers with the past.
- a range of one value with a step: cronsim reads '5-5/7' as '5/7', which runs to the end of the field.
- shifts that are not whole hours (Lord_Howe), and gaps at midnight (Havana, Beirut, …): cronsim's own steps
  jump over readings that exist once. The brute-force oracle covers those zones.
"""

from __future__ import annotations

import os
import random
import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from cronsim import CronSim, CronSimError

from ostinato import SpecError
from ostinato.when import Spec
from ostinato.when.instants import SECOND, from_datetime
from tests.unit.when import oracle

ZONES = (
    "UTC America/New_York Europe/Berlin Europe/London America/Los_Angeles Australia/Sydney Asia/Tokyo "
    "America/Sao_Paulo Asia/Kolkata Europe/Istanbul Pacific/Auckland Africa/Casablanca"
).split()


def expression(dice: random.Random, seconds: bool) -> str:
    text = oracle.random_text(dice, specials=False, seconds=seconds)
    day = dice.choice([text.day, text.day, "L", "LW"])
    weekday = dice.choice(
        [text.weekday, text.weekday, f"{dice.randint(0, 6)}#{dice.randint(1, 5)}", f"{dice.randint(0, 6)}L"]
    )
    five = f"{text.minute} {text.hour} {day} {text.month} {weekday}"
    return f"{text.second} {five}" if seconds else five


def in_repeated_hour(moment: datetime) -> bool:
    return moment.replace(fold=0).utcoffset() != moment.replace(fold=1).utcoffset()


def compare(dice: random.Random, zone: str, seconds: bool, steps: int) -> bool:
    text = expression(dice, seconds)
    start = datetime(2000, 1, 1, tzinfo=UTC) + timedelta(seconds=dice.randrange(60 * 365 * 86_400))
    local = start.astimezone(ZoneInfo(zone))
    if in_repeated_hour(local) or re.search(r"\b(\d+)-\1/", text):
        return False
    try:
        theirs = CronSim(text, local if zone != "UTC" else start)
    except CronSimError:
        theirs = None
    try:
        ours = Spec(crons=(text,), tz=zone, dst="wall" if seconds else "cron").compiled
    except SpecError:
        ours = None
    if ours is None or theirs is None:
        assert ours is None or list(zip(range(1), ours.times(0), strict=False)), text
        return False
    at = from_datetime(start)
    for _ in range(steps):
        try:
            expected = next(theirs)
        except StopIteration:
            return True
        time = ours.next(at)
        assert time == from_datetime(expected), f"{text!r} {zone} after {at // SECOND}"
        at = time
    return True


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("seconds", [False, True], ids=["five", "six"])
def test_sequences_agree(zone: str, seconds: bool) -> None:
    dice = random.Random(f"{zone} {seconds}")
    compared = sum(compare(dice, zone, seconds, steps=20) for _ in range(60))
    assert compared > 20


@pytest.mark.soak
@pytest.mark.parametrize("worker", range(2))
def test_many_sequences_agree(worker: int) -> None:
    dice = random.Random(f"soak {worker}")
    for _ in range(int(os.environ.get("OSTINATO_SOAK_SEQUENCES", "20000"))):
        compare(dice, dice.choice(ZONES), dice.random() < 0.3, steps=20)


def test_six_fields_keep_the_cron_rule_where_cronsim_drops_it() -> None:
    start = datetime(2026, 3, 28, 12, tzinfo=ZoneInfo("Europe/Berlin"))
    theirs = next(CronSim("0 30 2 * * *", start))
    ours = Spec(crons=("0 30 2 * * *",), tz="Europe/Berlin").next(start)
    assert theirs.isoformat() == "2026-03-30T02:30:00+02:00"
    assert ours is not None
    assert ours.isoformat() == "2026-03-29T03:00:00+02:00"


def test_a_start_in_the_second_pass_of_a_repeated_hour_never_answers_with_the_past() -> None:
    start = datetime(2026, 10, 25, 2, 15, tzinfo=ZoneInfo("Europe/Berlin"), fold=1)
    assert next(CronSim("30 2 * * *", start)).astimezone(UTC) < start.astimezone(UTC)
    ours = Spec(crons=("30 2 * * *",), tz="Europe/Berlin").next(start)
    assert ours is not None
    assert ours.isoformat() == "2026-10-26T02:30:00+01:00"
