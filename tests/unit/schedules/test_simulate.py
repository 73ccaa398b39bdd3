"""Simulations: the same decisions, played through a period."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from datetime import UTC, timedelta

import pytest

from ostinato import OstinatoError, cron, every
from ostinato.schedules.drawing import timeline
from ostinato.schedules.model import CatchUp, Overlap, Policies, Reason, Schedule
from ostinato.schedules.simulate import Simulation, simulate
from ostinato.when.instants import SECOND, Micros, read_instant, to_datetime

MINUTE = 60 * SECOND
HOUR = 60 * MINUTE


def at(text: str) -> Micros:
    return read_instant(text, "test")


DAY = at("2026-03-01T00:00Z"), at("2026-03-01T23:59:59Z")


def played(overlap: Overlap, run_time: Micros, **rest: object) -> Simulation:
    hourly = Schedule("id", "hourly", every("1h"), Policies(overlap=overlap, catchup=CatchUp("all")))
    return simulate(hourly, *DAY, run_time=run_time, **rest)  # type: ignore[arg-type]


def test_short_runs_all_succeed() -> None:
    assert played(Overlap.SKIP, 5 * MINUTE).counts() == {"succeeded": 24}


@pytest.mark.parametrize(
    ("overlap", "counts"),
    [
        (Overlap.SKIP, {"succeeded": 12, "overlap": 12}),
        (Overlap.BUFFER_ONE, {"succeeded": 15, "running": 1, "waiting": 1, "overlap": 7}),
        (Overlap.BUFFER_ALL, {"succeeded": 15, "running": 1, "waiting": 8}),
        (Overlap.CANCEL_OTHER, {"cancelled": 23, "running": 1}),
        (Overlap.TERMINATE_OTHER, {"terminated": 23, "running": 1}),
        (Overlap.ALLOW_ALL, {"succeeded": 23, "running": 1}),
    ],
)
def test_long_runs_follow_the_overlap_policy(overlap: Overlap, counts: dict[str, int]) -> None:
    assert played(overlap, 90 * MINUTE).counts() == counts


def test_what_was_in_the_way_is_known() -> None:
    occurrence = played(Overlap.SKIP, 90 * MINUTE).occurrences[1]
    assert (occurrence.reason, occurrence.blocked_by) == (Reason.OVERLAP, to_datetime(at("2026-03-01T00:00Z")))


@pytest.mark.parametrize(
    ("catchup", "counts"),
    [
        (CatchUp("latest"), {"succeeded": 22, "coalesced": 2}),
        (CatchUp("skip"), {"succeeded": 21, "catchup_window": 3}),
        (CatchUp("all"), {"succeeded": 24}),
        (CatchUp("all", window=2 * HOUR), {"succeeded": 23, "catchup_window": 1}),
        (CatchUp("all", most=1), {"succeeded": 22, "catchup_window": 2}),
    ],
)
def test_an_outage_follows_the_catchup_policy(catchup: CatchUp, counts: dict[str, int]) -> None:
    hourly = Schedule("id", "hourly", every("1h"), Policies(overlap=Overlap.BUFFER_ALL, catchup=catchup))
    down = (at("2026-03-01T04:30Z"), at("2026-03-01T07:45Z"))
    simulation = simulate(hourly, *DAY, run_time=MINUTE, outages=[down])
    assert simulation.counts() == counts
    late = [o for o in simulation.occurrences if o.started is not None and o.started - o.actual > timedelta(seconds=10)]
    assert all(o.started is not None and o.started >= to_datetime(down[1]) for o in late)


def test_a_pause_leaves_its_reasons_and_nothing_runs_after_it_that_was_due_in_it() -> None:
    pause = (at("2026-03-01T04:30Z"), at("2026-03-01T07:45Z"))
    assert played(Overlap.SKIP, MINUTE, pauses=[pause]).counts() == {"succeeded": 21, "paused": 3}


def test_actions_run_out() -> None:
    three = Schedule("id", "three", every("1h"), remaining=3)
    assert simulate(three, *DAY, run_time=MINUTE).counts() == {"succeeded": 3}


def test_a_run_that_an_outage_meets_is_tried_again_after_it() -> None:
    daily = Schedule("id", "daily", cron("0 4 * * *"))
    (occurrence,) = simulate(
        daily, *DAY, run_time=HOUR, outages=[(at("2026-03-01T04:30Z"), at("2026-03-01T08:00Z"))]
    ).occurrences
    assert occurrence.ended == to_datetime(at("2026-03-01T09:00Z"))


def test_the_same_seed_plays_the_same() -> None:
    lengths = [MINUTE, 30 * MINUTE, 100 * MINUTE]
    first, two, other = (
        simulate(Schedule("id", "s", every("1h")), *DAY, run_time=lengths, seed=seed) for seed in (1, 1, 2)
    )
    assert first == two
    assert first != other


def test_the_timeline_is_a_picture_with_every_occurrence_in_it() -> None:
    simulation = played(
        Overlap.SKIP,
        90 * MINUTE,
        outages=[(at("2026-03-01T10:00Z"), at("2026-03-01T12:30Z"))],
        pauses=[(at("2026-03-01T18:00Z"), at("2026-03-01T20:00Z"))],
    )
    picture = timeline(simulation, UTC, "hourly <&> slow")
    root = ElementTree.fromstring(picture)
    titles = [e.text or "" for e in root.iter("{http://www.w3.org/2000/svg}title")]
    assert titles[0] == "hourly <&> slow"
    assert sum(t.startswith("2026-03-01") for t in titles) == len(simulation.occurrences) == 24
    assert any("in the way" in t for t in titles)
    assert any(t.startswith("outage") for t in titles)


def test_wrong_input_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ostinato.schedules.simulate.MOST", 1_000)
    hourly = Schedule("id", "hourly", every("1h"))
    with pytest.raises(OstinatoError, match="cannot end"):
        simulate(hourly, DAY[1], DAY[0])
    with pytest.raises(OstinatoError, match="no lengths"):
        simulate(hourly, *DAY, run_time=[])
    with pytest.raises(OstinatoError, match="shorter"):
        simulate(Schedule("id", "fast", every("1s")), DAY[0], DAY[0] + 100 * 24 * HOUR)
