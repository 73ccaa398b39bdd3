"""Pictures of journeys: every state once, nothing over anything else, the way taken and the current state marked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ostinato.drawing.layout import Point, lay_out
from ostinato.drawing.svg import text_width
from ostinato.journeys.documents import read_document
from ostinato.journeys.drawing import draw
from ostinato.journeys.drawing.picture import COLOURS, FAINT
from ostinato.journeys.language import Definition, read
from ostinato.journeys.language.states import targets
from ostinato.journeys.machine.advance import advance, begin
from ostinato.journeys.machine.decision import Submitted
from tests.support.journey_documents import journey

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.journey.yaml"))
SVG = "{http://www.w3.org/2000/svg}"


def definition(file: Path) -> Definition:
    read_definition, problems = read(read_document(file.read_text(encoding="utf-8"), str(file)))
    assert read_definition is not None, problems
    return read_definition


def boxes(picture: str, kind: str) -> list[tuple[float, float, float, float]]:
    root = ElementTree.fromstring(picture)
    return [
        (
            float(element.attrib["x"]),
            float(element.attrib["y"]),
            float(element.attrib["width"]),
            float(element.attrib["height"]),
        )
        for element in root.iter(f"{SVG}rect")
        if element.get("class") == kind
    ]


def apart(left: tuple[float, ...], other: tuple[float, ...]) -> bool:
    (ax, ay, aw, ah), (bx, by, bw, bh) = left, other
    return ax + aw <= bx or bx + bw <= ax or ay + ah <= by or by + bh <= ay


def within(inner: tuple[float, ...], other: tuple[float, ...]) -> bool:
    (ax, ay, aw, ah), (bx, by, bw, bh) = inner, other
    return bx <= ax and by <= ay and ax + aw <= bx + bw and ay + ah <= by + bh


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
def test_boxes_stand_apart_or_within_one_another(file: Path) -> None:
    drawn = definition(file)
    picture = draw(drawn)
    states = boxes(picture, "box")
    assert len(states) == sum(1 for _ in drawn.states())
    every = states + boxes(picture, "branch") + boxes(picture, "graph")
    for number, box in enumerate(every):
        for other in every[number + 1 :]:
            assert apart(box, other) or within(box, other) or within(other, box), (box, other)
    wanted = {(graph.path, id, target) for graph, id, state in drawn.states() for _, target in targets(state)}
    assert len(re.findall(r'class="edge', picture)) == len(wanted)


NAMES = [f"s{n}" for n in range(12)]


@given(st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=40))
def test_any_graph_has_its_boxes_apart_and_its_edges_from_box_to_box(edges: list[tuple[str, str]]) -> None:
    sizes = {name: (60.0 + 7 * number, 30.0 + number) for number, name in enumerate(NAMES)}
    layout = lay_out(sizes, edges, NAMES[0])
    places = [(*layout.boxes[name], *sizes[name]) for name in NAMES]
    whole = (-0.001, -0.001, layout.width + 0.002, layout.height + 0.002)
    for number, place in enumerate(places):
        assert within(place, whole)
        assert all(apart(place, other) for other in places[number + 1 :])
    assert set(layout.edges) == set(edges)
    for (a, b), points in layout.edges.items():
        for name, (x, y) in ((a, points[0]), (b, points[-1])):
            bx, by = layout.boxes[name]
            assert bx - 0.001 <= x <= bx + sizes[name][0] + 0.001
            assert by - 0.001 <= y <= by + sizes[name][1] + 0.001


def _on(points: Sequence[Point]) -> Iterator[Point]:
    """Places on an edge as it is drawn: curves that leave and come vertically."""
    for (x, y), (tx, ty) in pairwise(points):
        for step in range(21):
            t = step / 20
            yield x + (tx - x) * (3 * t * t - 2 * t**3), y + (ty - y) * (1.5 * t - 1.5 * t * t + t**3)


@given(
    st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=30),
    st.lists(st.integers(20, 200), min_size=30, max_size=30),
)
def test_no_edge_runs_behind_a_box_and_what_is_written_stands_apart(
    edges: list[tuple[str, str]], lengths: list[int]
) -> None:
    sizes = {name: (60.0 + 7 * number, 200.0 if number % 4 == 3 else 30.0) for number, name in enumerate(NAMES)}
    labels = {edge: float(width) for edge, width in zip(edges, lengths, strict=False)}
    layout = lay_out(sizes, edges, NAMES[0], labels)
    places = {name: (*layout.boxes[name], *sizes[name]) for name in NAMES}
    for edge, points in layout.edges.items():
        for x, y in _on(points):
            for name, (bx, by, width, height) in places.items():
                inside = bx + 0.01 < x < bx + width - 0.01 and by + 0.01 < y < by + height - 0.01
                assert not inside, (edge, name)
    written = [(x - labels[edge] / 2, y - 7, labels[edge], 14.0) for edge, (x, y) in layout.labels.items()]
    assert set(layout.labels) == set(labels)
    for number, label in enumerate(written):
        assert all(apart(label, other) for other in (*written[number + 1 :], *places.values()))
        assert label[0] >= -0.001
        assert label[0] + label[2] <= layout.width + 0.001


def test_a_loop_of_two_is_two_lines() -> None:
    layout = lay_out({"a": (90.0, 40.0), "b": (90.0, 40.0)}, [("a", "b"), ("b", "a")], "a")
    first, back = ({x for x, _ in layout.edges[edge]} for edge in (("a", "b"), ("b", "a")))
    assert first.isdisjoint(back)
    assert layout.edges["b", "a"][0][1] > layout.edges["b", "a"][-1][1]


def test_what_is_written_at_one_line_of_a_loop_of_two_does_not_lie_on_the_other() -> None:
    layout = lay_out({"a": (90.0, 40.0), "b": (90.0, 40.0)}, [("a", "b"), ("b", "a")], "a", {("b", "a"): 120.0})
    x, y = layout.labels["b", "a"]
    assert abs(x - min(_on(layout.edges["b", "a"]), key=lambda place: abs(place[1] - y))[0]) <= 60, "it is on its line"
    assert all(abs(px - x) > 60 for px, py in _on(layout.edges["a", "b"]) if abs(py - y) < 7)


def test_a_choice_that_leads_back_to_itself_says_when() -> None:
    again = "{when: {predicate: {lang: jq, expr: .context.more}}, next: a}"
    drawn = journey(f"a: {{type: choice, choices: [{again}], default: b}}\nb: {{type: succeed}}")
    picture = draw(drawn)
    words = [one for one in ElementTree.fromstring(picture).iter(f"{SVG}text") if one.get("class") == "label"]
    assert {one.text for one in words} == {".context.more", "else"}
    around = [*boxes(picture, "box"), *boxes(picture, "around")]
    for number, box in enumerate(around):
        assert all(apart(box, other) for other in around[number + 1 :])


def test_what_is_cut_short_is_whole_where_the_pointer_rests() -> None:
    long = "context.customer.address.country == 'Liechtenstein' and context.amount > 1000"
    drawn = journey(
        f"""
        a:
          type: choice
          choices: [{{when: {{predicate: {{lang: plain, expr: "{long}"}}}}, next: {"b" * 60}}}]
          default: c
        {"b" * 60}: {{type: fail, errorCode: {"E" * 60}, reason: r}}
        c: {{type: timer, timer: {{duration: {{mapper: {{lang: plain, expr: "{long}"}}}}}}, next: a}}
        """
    )
    root = ElementTree.fromstring(draw(drawn))
    assert all(len(one.text or "") <= 40 for one in root.iter(f"{SVG}text"))
    titles = {one.text for one in root.iter(f"{SVG}title")}
    assert {long, f"{'b' * 60}: fail {'E' * 60}", f"c: timer {long}"} <= titles


def test_graphs_stand_below_one_another_where_the_journey_is_tall() -> None:
    chain = "\n".join(f"s{n}: {{type: timer, timer: {{duration: P1D}}, next: s{n + 1}}}" for n in range(6))
    small = "{start: x, states: {x: {type: succeed}}}"
    spec = f"subjourneys: {{one: {small}, two: {small}, three: {small}}}"
    drawn = journey(f"{chain}\ns6: {{type: succeed}}", start="s0", spec=spec)
    picture = draw(drawn)
    main, *others = boxes(picture, "graph")
    assert len({x for x, _, _, _ in others}) == 1
    assert all(x >= main[0] + main[2] and y + height <= main[1] + main[3] for x, y, _, height in others)


def _light(colour: str) -> float:
    def linear(value: int) -> float:
        share = value / 255
        return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(int(colour[at : at + 2], 16)) for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(colour: str, other: str) -> float:
    dark, light = sorted((_light(colour), _light(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("kind", [*COLOURS, "faint"])
def test_words_can_be_read_and_boxes_be_seen(kind: str) -> None:
    fill, stroke, words = COLOURS.get(kind, FAINT)
    assert _contrast(fill, words) >= 4.5
    assert kind == "faint" or _contrast("#ffffff", stroke) >= 3


@pytest.mark.parametrize("way", [False, True], ids=["definition", "instance"])
@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
def test_every_word_of_a_picture_has_its_contrast(file: Path, way: bool) -> None:
    """Against what is drawn below its beginning or its middle, whichever is its anchor."""
    drawn = definition(file)
    root = ElementTree.fromstring(draw(drawn, begin(drawn, "j1", {}, 0).instance) if way else draw(drawn))
    below: list[tuple[float, float, float, float, str]] = []
    seen = 0
    for element in root.iter():
        attributes = element.attrib
        if element.tag == f"{SVG}rect" and attributes["fill"] != "none" and attributes.get("class") != "swatch":
            place = [float(attributes.get(name, 0)) for name in ("x", "y", "width", "height")]
            below.append((place[0], place[1], place[2], place[3], attributes["fill"]))
        elif element.tag == f"{SVG}text":
            x, y = float(attributes["x"]), float(attributes["y"])
            paper = next(fill for bx, by, w, h, fill in reversed(below) if bx <= x <= bx + w and by <= y <= by + h)
            assert _contrast(attributes["fill"], paper) >= 4.5, (element.text, attributes["fill"], paper)
            seen += 1
    assert seen > 10


def test_calls_show_what_they_call_and_a_legend_what_colours_mean() -> None:
    (file,) = (one for one in EXAMPLES if one.name.startswith("credit"))
    root = ElementTree.fromstring(draw(definition(file)))
    words = [one.text for one in root.iter(f"{SVG}text")]
    assert "GET /scores/{applicant}" in words
    assert "after 2 d" in words
    (legend,) = (one for one in root.iter(f"{SVG}g") if one.get("class") == "legend")
    named = [one.text for one in legend.iter(f"{SVG}text")]
    assert named == ["parallel", "choice", "wait", "transform", "succeed", "fail", "task", "begins here"]


@pytest.mark.parametrize(
    ("task", "words"),
    [
        (
            "{kind: 'httpCall:v1', method: POST, url: 'https://pay.example/a/${context.id}?x=1'}",
            "POST pay.example/a/{id}",
        ),
        ("{kind: 'httpCall:v1', method: POST, url: '${platform.config.base}'}", "POST /"),
        ("{kind: 'httpCall:v1', operationRef: billing.charge}", "call billing.charge"),
        ("{kind: 'schedule:v1', start: pay, interval: P1D}", "schedule pay"),
        ("{kind: 'kafkaPublish:v1', topic: orders}", "publish to orders"),
        ("{kind: 'own:v2'}", "own:v2"),
    ],
)
def test_what_a_task_does_is_written_in_its_box(task: str, words: str) -> None:
    drawn = journey(f"a: {{type: task, task: {task}, next: b}}\nb: {{type: succeed}}")
    assert words in [one.text for one in ElementTree.fromstring(draw(drawn)).iter(f"{SVG}text")]


def test_an_instance_shows_its_way_and_where_it_is() -> None:
    drawn = journey(
        """
        ask: {type: wait, wait: {channel: manual, input: {schema: {type: object}}}, next: rest}
        rest: {type: timer, timer: {duration: P1D}, next: done}
        done: {type: succeed}
        other: {type: succeed}
        """,
        start="ask",
    )
    first = begin(drawn, "j1", {}, 0)
    second = advance(drawn, first.instance, [Submitted("ask", {})], 1)
    way = [fact.data for fact in (*first.events, *second.events) if fact.name == "journey:state_entered"]
    root = ElementTree.fromstring(draw(drawn, second.instance, way))
    marks = {
        (element.findtext(f"{SVG}title") or "").partition(":")[0]: set((element.get("class") or "").split())
        for element in root.iter(f"{SVG}g")
    }
    assert {name for name, kinds in marks.items() if "current" in kinds} == {"rest"}
    assert {name for name, kinds in marks.items() if "entered" in kinds} == {"ask", "rest"}
    assert len([one for one in root.iter(f"{SVG}path") if one.get("class") == "edge taken"]) == 1


def test_what_a_definition_says_is_shown_and_never_markup() -> None:
    drawn = journey(
        """
        '<script>alert(1)</script>':
          type: choice
          choices: [{when: {predicate: {lang: jq, expr: '.a < "</text><script>"'}}, next: b}]
          default: b
        b: {type: fail, errorCode: '"><x>', reason: r}
        """,
        start="'<script>alert(1)</script>'",
    )
    root = ElementTree.fromstring(draw(drawn))
    assert {one.tag.removeprefix(SVG) for one in root.iter()} == {
        "svg", "title", "defs", "marker", "path", "rect", "text", "g", "circle",
    }  # fmt: skip


def test_letters_that_are_as_wide_as_high_get_their_room() -> None:
    assert text_width("顧客の住所", 10) >= 50
    assert text_width("😀", 10) >= 10
    assert text_width("address", 10) < 50
