"""Pictures of workflows: every part is shown, marks are where they belong, and names are text."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from xml.etree import ElementTree

import pytest

from ostinato import every
from ostinato.workflows.declaration import WorkflowCode
from ostinato.workflows.definition import WorkflowDefinition
from ostinato.workflows.drawing import COLOURS, STATUSES, Marks, draw
from ostinato.workflows.views.overview import WorkflowInfo
from tests.support.pictures import SVG, contrast

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


def define(name: str = "Send") -> WorkflowDefinition:
    """A producer, a consumer that publishes, one that publishes to itself, and a topic between each two of them."""
    code = WorkflowCode("inbox")
    emails, rows, digest = (code.topic(topic) for topic in ("emails", "rows", "digest"))

    @code.producer(every("5m"), publishes=[emails])
    async def poll(ctx: Any, state: Any) -> None: ...

    @code.consumer(emails, publishes=[rows], name=name)
    class Send:
        async def prepare(self, ctx: Any, state: Any) -> None: ...

        async def mutate(self, ctx: Any, prepared: Any) -> None: ...

        async def next(self, ctx: Any, prepared: Any, outcome: Any) -> None: ...

    @code.consumer(rows, digest, publishes=[digest])
    class Collect:
        async def prepare(self, ctx: Any, state: Any) -> None: ...

        async def next(self, ctx: Any, prepared: Any, outcome: Any) -> None: ...

    return code.define()


def info(status: str = "Idle", issue: str | None = None, pending: dict[str, int] | None = None) -> WorkflowInfo:
    timing = "Checks every 5 minutes · next in 3 min"
    return WorkflowInfo("inbox", "1", status, issue, (), (), timing, None, pending or {}, None, MOMENT)


def read(picture: str) -> ElementTree.Element:
    return ElementTree.fromstring(picture)


def boxes(tree: ElementTree.Element) -> dict[str, tuple[float, float, float, float]]:
    """The rectangle of each part of the workflow, by its kind and name."""
    rectangles = {}
    for group in tree.iter(f"{SVG}g"):
        rectangle = group.find(f"{SVG}rect[@class='box']")
        if rectangle is not None:
            title = group.findtext(f"{SVG}title") or ""
            sides = [float(rectangle.get(side) or 0) for side in ("x", "y", "width", "height")]
            rectangles[title.partition(":")[0]] = (sides[0], sides[1], sides[0] + sides[2], sides[1] + sides[3])
    return rectangles


def test_every_part_is_shown_and_none_covers_another() -> None:
    tree = read(draw(define(), info(), Marks()))
    parts = boxes(tree)
    assert set(parts) == {
        "producer poll",
        "topic emails",
        "topic rows",
        "topic digest",
        "consumer Send",
        "consumer Collect",
    }
    places = list(parts.values())
    for number, (left, top, right, bottom) in enumerate(places):
        assert 0 < left < right < float(tree.get("width") or 0)
        assert 0 < top < bottom < float(tree.get("height") or 0)
        for x, y, x_end, y_end in places[:number]:
            assert right < x or x_end < left or bottom < y or y_end < top
    assert len(tree.findall(f"{SVG}path[@class='edge']")) == 6
    order = ("producer poll", "topic emails", "consumer Send", "topic rows", "consumer Collect")
    lefts = [parts[name][0] for name in order]
    assert lefts == sorted(lefts)


def test_what_waits_what_runs_and_what_is_wrong_are_marked() -> None:
    quiet = draw(define(), info(), Marks())
    assert ("halo" in quiet, "pending" in quiet) == (False, False)
    running = draw(define(), info("Running", pending={"emails": 1200}), Marks(current="Send"))
    assert 'class="consumer current"' in running
    assert "1,200 pending" in running
    assert "run under way" in running
    blocked = draw(define(), info("Needs attention", "Waiting for you"), Marks("Send", "Send"))
    assert 'class="consumer current blocked"' in blocked
    assert "Waiting for you" in blocked
    assert blocked.count('class="halo"') == 1


def test_names_are_text_and_never_markup() -> None:
    name = '<script>alert("x")</script>'
    picture = draw(define(name), info(issue="<b>&"), Marks(current=name))
    assert "<script" not in picture
    assert read(picture) is not None


@pytest.mark.parametrize(
    ("background", "words"), [(fill, ink) for fill, _, ink in COLOURS.values()] + list(STATUSES.values())
)
def test_words_can_be_read_on_their_background(background: str, words: str) -> None:
    assert contrast(background, words) >= 4.5
