"""Pictures of functions: every step is shown in its place, what has not ended is open, and names are text."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from xml.etree import ElementTree

import pytest

from ostinato.functions.drawing import COLOURS, GOING, MOST_ROWS, STATUSES, draw_steps, length
from ostinato.functions.views import FunctionInfo, StepInfo
from ostinato.when.instants import SECOND
from tests.support.pictures import SVG, contrast

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
NOW = int(MOMENT.timestamp()) * SECOND + 100 * SECOND


def at(seconds: float | None) -> datetime | None:
    return None if seconds is None else MOMENT + timedelta(seconds=seconds)


def info(status: Any = "waiting", finished: float | None = None, name: str = "onboard") -> FunctionInfo:
    reason = "a message 'reply'" if status == "waiting" else None
    moment = at(finished)
    return FunctionInfo(
        "run", name, "default", None, status, reason, reason, None, 1, "c", False, 0, 1, None, None, {}, None, None,
        MOMENT, moment,
    )  # fmt: skip


def step(position: str, kind: str, begun: float, finished: float | None = None, **more: Any) -> StepInfo:
    parts = {"name": "", "status": "pending" if finished is None else "done", "attempts": 1, "error": None, **more}
    return StepInfo(
        position, kind, parts["name"], parts["status"], 0, parts["attempts"], None, parts["error"], at(more.get("due")),
        None, None, MOMENT + timedelta(seconds=begun), at(finished),
    )  # fmt: skip


def rows(picture: str) -> list[ElementTree.Element]:
    return [one for one in ElementTree.fromstring(picture).iter(f"{SVG}g") if " " in one.get("class", "")]


def test_every_step_is_a_row_below_the_one_before() -> None:
    steps = [
        step("0", "step", 0, 10, name="create"),
        step("1", "sleep", 10, 60, due=60),
        step("2.0.0", "step", 60, 70, name="score", attempts=3),
        step("2.1.0", "now", 60, 60),
        step("3", "receive", 70, name="reply"),
    ]
    groups = rows(draw_steps(info(), steps, NOW))
    assert [group.get("class") for group in groups] == [
        "step done",
        "sleep done",
        "step done",
        "now done",
        "receive pending",
    ]
    words = [[one.text for one in group.iter(f"{SVG}text")] for group in groups]
    assert words[1][:2] == ["1", "sleep 50 s"]
    assert words[2] == ["2.0.0", "score", "10 s · 3 tries"]
    tops = [float(group.find(f"{SVG}rect").get("y")) for group in groups]  # type: ignore[union-attr, arg-type]
    assert tops == sorted(set(tops))
    bars = [group.find(f"{SVG}rect[@class='bar']") for group in groups[:3]]
    lefts = [float(bar.get("x", "0")) for bar in bars if bar is not None]
    assert lefts == sorted(lefts)
    assert groups[3].find(f"{SVG}path[@class='mark']") is not None
    assert groups[4].find(f"{SVG}path[@class='bar open']") is not None


def test_a_run_that_is_over_has_no_open_bar() -> None:
    picture = draw_steps(info("cancelled", 20), [step("0", "receive", 0, name="never")], NOW)
    assert "open" not in picture
    assert 'class="now"' not in picture


def test_names_and_errors_are_text_and_never_markup() -> None:
    name = '<script>alert("x")</script>'
    error = {"type": "ValueError", "message": "\x1b[31m<b>&"}
    picture = draw_steps(info(name=name), [step("0", "step", 0, 1, name=name, status="failed", error=error)], NOW)
    assert "<script" not in picture
    assert "ValueError: \ufffd[31m<b>&" in "".join(ElementTree.fromstring(picture).itertext())


def test_a_long_history_has_a_bounded_picture() -> None:
    steps = [step(str(number), "step", number, number + 1, name="x" * 200) for number in range(10_000)]
    picture = draw_steps(info("succeeded", 10_000), steps, NOW)
    assert len(rows(picture)) == MOST_ROWS
    assert f"{10_000 - MOST_ROWS:,} earlier steps are not drawn" in picture
    assert len(picture) < 500_000
    assert "no step has begun" in draw_steps(info("ready"), [], NOW)


@pytest.mark.parametrize(
    ("background", "words"),
    [(background, ink) for ink, light in COLOURS.values() for background in (light, "#ffffff")]
    + [*STATUSES.values(), GOING],
)
def test_words_and_bars_can_be_seen_on_their_background(background: str, words: str) -> None:
    assert contrast(background, words) >= 4.5


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0"),
        (0.02, "20 ms"),
        (1.5, "1.5 s"),
        (59.99, "60 s"),
        (90, "1 min 30 s"),
        (7_200, "2 h"),
        (275_000, "3 d 4 h"),
    ],
)
def test_lengths_have_two_units(seconds: float, words: str) -> None:
    assert length(seconds) == words
