"""Draw a definition as SVG. Texts from the definition are escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from ostinato.documents import Path
from ostinato.drawing.layout import Edge, Layout, Point, lay_out
from ostinato.drawing.svg import EDGE, INK, PAD, WRITTEN, curve, cut, marker, rectangle, svg, text, text_width
from ostinato.journeys.language import Definition, Expression
from ostinato.journeys.language.states import (
    CallSubjourney,
    Choice,
    Fail,
    Graph,
    Parallel,
    State,
    Succeed,
    Task,
    Timer,
    Wait,
    Webhook,
)
from ostinato.journeys.machine.model import Instance, Rest

# By type of state: fill, border and text colour. The contrast of texts is at least 4.5 to 1.
COLOURS = {
    "task": ("#e3f2fd", "#1565c0", "#1256a5"),
    "choice": ("#fff8e1", "#b98000", "#7a5200"),
    "transform": ("#f3e5f5", "#7b1fa2", "#7b1fa2"),
    "wait": ("#fff3e0", "#d35f00", "#9a4300"),
    "webhook": ("#fff3e0", "#d35f00", "#9a4300"),
    "timer": ("#e0f2f1", "#00796b", "#00685c"),
    "parallel": ("#fafafa", "#607d8b", "#455a64"),
    "subjourney": ("#ede7f6", "#4527a0", "#4527a0"),
    "succeed": ("#e8f5e9", "#2e7d32", "#27692b"),
    "fail": ("#ffebee", "#c62828", "#b71c1c"),
}
FAINT = ("#fafafa", "#b0bec5", "#5f6b72")  # colours of a state that the instance has not entered
_TAKEN = "#0d47a1"
_HIGH, _WIDE = 42.0, 92.0  # of a box: height, least width
_HEAD = 24.0  # height of the title of a box that contains boxes
_LABEL = 30  # most characters beside an edge
_SWATCH = 14.0
_BASE = re.compile(r"^(?:https?://|\$\{platform\.config\.[^}]*\})")
_PLACEHOLDER = re.compile(r"\$\{([^}]*)\}")


@dataclass(frozen=True, slots=True)
class _Marks:
    """The states and edges to highlight for one instance. A state is (path of the graph, state id).

    - `entered`: the states that the instance has entered
    - `gone`: the edges that the instance has taken, each as (path of the graph, state id, next state id)
    - `current`: the states that the instance is in
    - `for_instance`: whether there is an instance; if not, nothing is highlighted
    """

    entered: frozenset[tuple[Path, str]] = frozenset()
    gone: frozenset[tuple[Path, str, str]] = frozenset()
    current: frozenset[tuple[Path, str]] = frozenset()
    for_instance: bool = False


@dataclass(slots=True)
class _PlacedGraph:
    graph: Graph
    layout: Layout
    inner: dict[str, list[_PlacedGraph]] = field(default_factory=dict)
    sizes: dict[str, tuple[float, float]] = field(default_factory=dict)


def draw(definition: Definition, instance: Instance | None = None, way: Iterable[Mapping[str, Any]] = ()) -> str:
    """Return the SVG of a definition. If there is an `instance`, highlight its current state and the path that it took.
    The path is computed from `way`, the data of the instance's events `journey:state_entered`."""
    marks = _Marks() if instance is None else _marks(instance, way)
    titles = [(f"{definition.name} {definition.version}", _place_graph(definition.spec))]
    titles += [(f"subjourney {id}", _place_graph(graph)) for id, graph in definition.spec.subjourneys.items()]
    if definition.spec.compensation is not None:
        titles.append(("compensation", _place_graph(definition.spec.compensation)))
    parts: list[str] = []
    sizes = [
        (max(placed.layout.width, text_width(title, 13, bold=True)) + 2 * PAD, placed.layout.height + _HEAD + 2 * PAD)
        for title, placed in titles
    ]
    corners, width, height = _columns(sizes)
    for (title, placed), (w, h), (x, y) in zip(titles, sizes, corners, strict=True):
        parts.append(rectangle(x, y, w, h, "#ffffff", "#cfd8dc", "graph"))
        parts.append(text(x + PAD, y + 18, title, 13, "600"))
        parts += _graph(placed, x + (w - placed.layout.width) / 2, y + _HEAD + PAD, marks)
    legend, width, height = _legend(definition, marks, width, height)
    parts += legend
    words = definition.name if instance is None else f"{definition.name}: {instance.id}, {instance.phase}"
    heads = marker("head", EDGE) + marker("head-taken", _TAKEN)
    return svg(width, height, words, heads, parts)


def _columns(sizes: Sequence[tuple[float, float]]) -> tuple[list[Point], float, float]:
    """Arrange boxes in columns. Return the top left corner of each box, and the total width and height. The first box
    has its own column. A box that would reach below the first box begins a new column."""
    corners: list[Point] = []
    x = y = right = PAD
    height = 0.0
    for number, (w, h) in enumerate(sizes):
        if number and (number == 1 or y + h > PAD + sizes[0][1]):
            x, y = right, PAD
        corners.append((x, y))
        y += h + PAD
        right, height = max(right, x + w + PAD), max(height, y)
    return corners, right, height


def _marks(instance: Instance, way: Iterable[Mapping[str, Any]]) -> _Marks:
    frames: dict[str, dict[int, tuple[Path, str]]] = {}
    for event in way:
        frames.setdefault(str(event["frame"]), {})[int(event["visit"])] = tuple(event["path"]), str(event["state"])
    entered = {place for visits in frames.values() for place in visits.values()}
    gone = set()
    for visits in frames.values():
        for number, (path, state) in visits.items():
            if number + 1 in visits:
                gone.add((path, state, visits[number + 1][1]))
    if instance.over:
        current = {(instance.root.path, instance.root.state)}
    else:
        current = {(frame.path, frame.state) for frame in instance.frames.values() if frame.rest is not Rest.OVER}
    return _Marks(frozenset(entered | current), frozenset(gone), frozenset(current), True)


def _place_graph(graph: Graph) -> _PlacedGraph:
    inner = {
        id: [_place_graph(branch) for branch in state.parallel.branches]
        for id, state in graph.states.items()
        if isinstance(state, Parallel)
    }
    sizes = {id: _size(id, state, inner.get(id, [])) for id, state in graph.states.items()}
    edges = [(id, target) for id, state in graph.states.items() for target, _ in _targets(state) if target in sizes]
    start = graph.start if graph.start in sizes else next(iter(sizes))
    labels = {edge: text_width(cut(words, _LABEL), 10) + 8 for edge, words in _labels(graph).items()}
    return _PlacedGraph(graph, lay_out(sizes, edges, start, labels), inner, sizes)


def _size(id: str, state: State, branches: Sequence[_PlacedGraph]) -> tuple[float, float]:
    own_width = max(_WIDE, text_width(cut(id), 12, bold=True) + 24, text_width(_about(state), 10) + 24)
    if not branches:
        return own_width, _HIGH
    inside = sum(_branch_width(one) + PAD for one in branches) + PAD
    return max(own_width, inside), max(one.layout.height for one in branches) + 2 * _HEAD + 3 * PAD + 10


def _branch_width(branch: _PlacedGraph) -> float:
    return max(branch.layout.width, text_width(getattr(branch.graph, "name", ""), 11, bold=True)) + 2 * PAD


def _graph(drawn: _PlacedGraph, x: float, y: float, marks: _Marks) -> Iterator[str]:
    path, labels = drawn.graph.path, _labels(drawn.graph)
    for id, (bx, by) in drawn.layout.boxes.items():
        if (path, id) in marks.current:  # drawn first, because it would hide arrowheads
            width, height = drawn.sizes[id]
            yield rectangle(x + bx - 5, y + by - 5, width + 10, height + 10, "none", "#ffb300", "halo", 3)
    for (a, b), points in drawn.layout.edges.items():
        yield _edge([(x + px, y + py) for px, py in points], (path, a, b) in marks.gone)
    for id, state in drawn.graph.states.items():
        bx, by = drawn.layout.boxes[id]
        yield from _state(id, state, x + bx, y + by, drawn, marks)
    for edge, (lx, ly) in drawn.layout.labels.items():  # drawn last, over the lines
        words = cut(labels[edge], _LABEL)
        width = text_width(words, 10) + 4
        yield f"<g><title>{escape(labels[edge])}</title>"
        yield (
            f'<rect class="around" x="{x + lx - width / 2:.1f}" y="{y + ly - 7:.1f}" width="{width:.1f}" height="14" '
            f'fill="#ffffff"/>'
        )
        yield text(x + lx, y + ly + 3.5, words, 10, "400", WRITTEN, "middle", "label") + "</g>"


def _state(id: str, state: State, x: float, y: float, drawn: _PlacedGraph, marks: _Marks) -> Iterator[str]:
    place = drawn.graph.path, id
    width, height = drawn.sizes[id]
    current, entered = place in marks.current, place in marks.entered
    names = ["state", state.type, *(["current"] if current else []), *(["entered"] if entered else [])]
    faint = marks.for_instance and not entered
    fill, stroke, words = FAINT if faint else COLOURS[state.type]
    thick = 4.0 if current else 2.5 if entered else 1.2
    yield f'<g class="{" ".join(names)}">'
    yield f"<title>{escape(f'{id}: {_details(state)}')}</title>"
    yield rectangle(x, y, width, height, fill, _TAKEN if entered and not current else stroke, "box", thick)
    if id == drawn.graph.start:
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{INK}"/>'
    yield text(x + width / 2, y + 17, cut(id), 12, "600", words if faint else INK, "middle")
    yield text(x + width / 2, y + 33, _about(state), 10, "400", words, "middle")
    branches = drawn.inner.get(id, [])
    inside = x + (width - sum(_branch_width(one) + PAD for one in branches) + PAD) / 2
    for branch in branches:
        w, top = _branch_width(branch), y + _HEAD + 10 + PAD
        yield rectangle(inside, top, w, height - _HEAD - 10 - 2 * PAD, "#ffffff", "#b0bec5", "branch")
        yield text(inside + PAD, top + 16, getattr(branch.graph, "name", ""), 11, "600", "#455a64")
        yield from _graph(branch, inside + (w - branch.layout.width) / 2, top + _HEAD, marks)
        inside += w + PAD
    yield "</g>"


def _targets(state: State) -> Iterator[tuple[str, str]]:
    """Yield (id, condition) for each state that may follow `state`. The condition is a text, perhaps empty."""
    match state:
        case Choice():
            for case in state.choices:
                yield case.next, _line(case.when.predicate)
            if state.default is not None:
                yield state.default, "else"
        case Succeed() | Fail():
            return
        case _:
            if state.next is not None:
                yield state.next, ""
    if isinstance(state, Wait | Webhook) and state.external.on_timeout is not None:
        yield state.external.on_timeout, f"after {_length(state.external.timeout_s)}"


def _length(seconds: int | None) -> str:
    for unit, name in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds and seconds % unit == 0:
            return f"{seconds // unit} {name}"
    return f"{seconds} s"


def _labels(graph: Graph) -> dict[Edge, str]:
    labels: dict[Edge, list[str]] = {}
    for id, state in graph.states.items():
        for target, words in _targets(state):
            if words:
                labels.setdefault((id, target), []).append(words)
    return {edge: " | ".join(words) for edge, words in labels.items()}


def _words(state: State) -> str:
    match state:
        case Task():
            return _called(state)
        case Timer():
            when = state.timer.duration or state.timer.until
            return f"timer {_line(when) if isinstance(when, Expression) else when}"
        case CallSubjourney():
            return f"subjourney {state.subjourney.ref}"
        case Parallel():
            return f"parallel, {state.parallel.join.strategy}"
        case Fail():
            return f"fail {state.error_code}"
    return state.type


def _about(state: State) -> str:
    return cut(_words(state))


def _called(task: Task) -> str:
    """Return a few words about what a task does, such as `GET /users/{id}`."""
    settings = task.settings
    match task.plugin:
        case ("httpCall", _):
            if isinstance(reference := settings.get("operationRef"), str):
                return f"call {reference}"
            if isinstance(url := settings.get("url"), str):
                return f"{settings.get('method') or 'GET'} {_place(url)}"
        case ("schedule", _):
            if isinstance(start := settings.get("start"), str):
                return f"schedule {start}"
        case ("kafkaPublish", _):
            if isinstance(topic := settings.get("topic"), str):
                return f"publish to {topic}"
    return task.kind


def _place(url: str) -> str:
    """Return a URL in short form: without scheme, query and configured base, and with only the last name of each
    placeholder. For example, `${context.user.id}` becomes `{id}`."""
    place = _BASE.sub("", url).partition("?")[0]
    return _PLACEHOLDER.sub(lambda found: "{" + found[1].rpartition(".")[2] + "}", place) or "/"


def _details(state: State) -> str:
    if isinstance(state, Task):
        where = state.settings.get("url") or state.settings.get("operationRef")
        return f"{state.kind} {where}" if isinstance(where, str) else state.kind
    return _words(state)


def _legend(definition: Definition, marks: _Marks, width: float, height: float) -> tuple[list[str], float, float]:
    """Return the SVG parts of a legend of the used colours and signs, and the picture's new width and height."""
    kinds = dict.fromkeys(state.type for _, _, state in definition.states())
    entries = [(kind, rectangle(0, 0, _SWATCH, _SWATCH, *COLOURS[kind][:2], "swatch")) for kind in kinds]
    middle = _SWATCH / 2
    entries.append(("begins here", f'<circle cx="{middle}" cy="{middle}" r="5" fill="{INK}"/>'))
    if marks.for_instance:
        line = f'<path d="M0 {middle}H{_SWATCH}" stroke="{_TAKEN}" stroke-width="2.6"/>'
        entries += [("way taken", line), ("is here", rectangle(1, 1, 12, 12, "none", "#ffb300", "swatch", 3))]
    widths = [_SWATCH + 6 + text_width(name, 10) + 16 for name, _ in entries]
    width = max(width, max(widths) + 2 * PAD)
    parts, x, y = ['<g class="legend">'], PAD, height
    for (name, sign), needed in zip(entries, widths, strict=True):
        if x + needed > width - PAD + 16 and x > PAD:
            x, y = PAD, y + _SWATCH + 8
        parts.append(f'<g transform="translate({x:.1f} {y:.1f})">{sign}</g>')
        parts.append(text(x + _SWATCH + 6, y + 11, name, 10, "400", WRITTEN))
        x += needed
    return [*parts, "</g>"], width, y + _SWATCH + PAD


def _line(expression: Expression) -> str:
    return " ".join(expression.expr.split())


def _edge(points: Sequence[Point], taken: bool) -> str:
    colour, width = (_TAKEN, 2.6) if taken else (EDGE, 1.3)
    kind, head = ("edge taken", "head-taken") if taken else ("edge", "head")
    return (
        f'<path class="{kind}" d="{curve(points)}" fill="none" stroke="{colour}" stroke-width="{width}" '
        f'marker-end="url(#{head})"/>'
    )
