"""Pictures of journeys: every state once, nothing over anything else, the way taken and the current state marked."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ostinato.journeys.documents import read_document
from ostinato.journeys.drawing import draw
from ostinato.journeys.drawing.layout import layered
from ostinato.journeys.language import Definition, read
from ostinato.journeys.language.states import targets
from ostinato.journeys.machine.advance import advance, begin
from ostinato.journeys.machine.decision import Submitted
from tests.unit.journeys.examples import journey

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.journey.yaml"))
SVG = "{http://www.w3.org/2000/svg}"


def definition(file: Path) -> Definition:
    found, problems = read(read_document(file.read_text(encoding="utf-8"), str(file)))
    assert found is not None, problems
    return found


def boxes(picture: str, kind: str) -> list[tuple[float, float, float, float]]:
    root = ElementTree.fromstring(picture)
    return [
        (float(one.attrib["x"]), float(one.attrib["y"]), float(one.attrib["width"]), float(one.attrib["height"]))
        for one in root.iter(f"{SVG}rect")
        if one.get("class") == kind
    ]


def apart(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    (ax, ay, aw, ah), (bx, by, bw, bh) = one, other
    return ax + aw <= bx or bx + bw <= ax or ay + ah <= by or by + bh <= ay


def within(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    (ax, ay, aw, ah), (bx, by, bw, bh) = one, other
    return bx <= ax and by <= ay and ax + aw <= bx + bw and ay + ah <= by + bh


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
def test_boxes_stand_apart_or_within_one_another(file: Path) -> None:
    found = definition(file)
    picture = draw(found)
    states = boxes(picture, "box")
    assert len(states) == sum(1 for _ in found.states())
    every = states + boxes(picture, "branch") + boxes(picture, "graph")
    for number, one in enumerate(every):
        for other in every[number + 1 :]:
            assert apart(one, other) or within(one, other) or within(other, one), (one, other)
    wanted = {(graph.path, id, target) for graph, id, state in found.states() for _, target in targets(state)}
    assert len(re.findall(r'class="edge', picture)) == len(wanted)


NAMES = [f"s{n}" for n in range(12)]


@given(st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=40))
def test_any_graph_has_its_boxes_apart_and_its_edges_from_box_to_box(edges: list[tuple[str, str]]) -> None:
    sizes = {name: (60.0 + 7 * number, 30.0 + number) for number, name in enumerate(NAMES)}
    found = layered(sizes, edges, NAMES[0])
    places = [(*found.boxes[name], *sizes[name]) for name in NAMES]
    whole = (-0.001, -0.001, found.width + 0.002, found.height + 0.002)
    for number, one in enumerate(places):
        assert within(one, whole)
        assert all(apart(one, other) for other in places[number + 1 :])
    assert set(found.edges) == set(edges)
    for (a, b), points in found.edges.items():
        for name, (x, y) in ((a, points[0]), (b, points[-1])):
            bx, by = found.boxes[name]
            assert bx - 0.001 <= x <= bx + sizes[name][0] + 0.001
            assert by - 0.001 <= y <= by + sizes[name][1] + 0.001


def test_an_instance_shows_its_way_and_where_it_is() -> None:
    found = journey(
        """
        ask: {type: wait, wait: {channel: manual, input: {schema: {type: object}}}, next: rest}
        rest: {type: timer, timer: {duration: P1D}, next: done}
        done: {type: succeed}
        other: {type: succeed}
        """,
        start="ask",
    )
    first = begin(found, "j1", {}, 0)
    second = advance(found, first.instance, [Submitted("ask", {})], 1)
    way = [fact.data for fact in (*first.events, *second.events) if fact.name == "journey:state_entered"]
    root = ElementTree.fromstring(draw(found, second.instance, way))
    marks = {
        (one.findtext(f"{SVG}title") or "").partition(":")[0]: set((one.get("class") or "").split())
        for one in root.iter(f"{SVG}g")
    }
    assert {name for name, kinds in marks.items() if "current" in kinds} == {"rest"}
    assert {name for name, kinds in marks.items() if "entered" in kinds} == {"ask", "rest"}
    assert len([one for one in root.iter(f"{SVG}path") if one.get("class") == "edge taken"]) == 1


def test_what_a_definition_says_is_shown_and_never_markup() -> None:
    found = journey(
        """
        '<script>alert(1)</script>':
          type: choice
          choices: [{when: {predicate: {lang: jq, expr: '.a < "</text><script>"'}}, next: b}]
          default: b
        b: {type: fail, errorCode: '"><x>', reason: r}
        """,
        start="'<script>alert(1)</script>'",
    )
    root = ElementTree.fromstring(draw(found))
    assert {one.tag.removeprefix(SVG) for one in root.iter()} == {
        "svg", "title", "defs", "marker", "path", "rect", "text", "g", "circle",
    }  # fmt: skip
