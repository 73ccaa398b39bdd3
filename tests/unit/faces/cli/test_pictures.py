"""Times as tables and texts."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from ostinato import Spec, cron, every
from ostinato.faces.cli.pictures import distance, shown_times, times_table
from ostinato.when import Interval
from ostinato.when.instants import SECOND, Micros, read_instant


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


@pytest.mark.parametrize(
    ("seconds", "words"), [(0, "0 s"), (59, "59 s"), (61, "1 m 1 s"), (3600, "1 h 0 m"), (90_000, "1 d 1 h")]
)
def test_distances(seconds: int, words: str) -> None:
    assert distance(seconds * SECOND) == words
