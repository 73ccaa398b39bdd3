"""From a definition to its SVG. What a definition says is text to be shown, never markup."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from ostinato.journeys.drawing.layout import Edge, Layout, Point, layered
from ostinato.journeys.language import Definition, Expression
from ostinato.journeys.language.states import (
    Call,
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
from ostinato.schedules.marked import Path

_COLOURS = {
    "task": ("#e3f2fd", "#1565c0"),
    "choice": ("#fff8e1", "#f9a825"),
    "transform": ("#f3e5f5", "#7b1fa2"),
    "wait": ("#fff3e0", "#ef6c00"),
    "webhook": ("#fff3e0", "#ef6c00"),
    "timer": ("#e0f2f1", "#00796b"),
    "parallel": ("#fafafa", "#607d8b"),
    "subjourney": ("#ede7f6", "#4527a0"),
    "succeed": ("#e8f5e9", "#2e7d32"),
    "fail": ("#ffebee", "#c62828"),
}
_EDGE, _TAKEN, _INK = "#90a4ae", "#0d47a1", "#212121"
_HIGH, _WIDE, _LETTER = 42.0, 92.0, 6.7  # of a box: its height, its least width, a letter's
_PAD, _HEAD = 14.0, 24.0  # within a box of boxes: around them, and for its title
_LONGEST, _LABEL = 34, 26  # letters in a box, and beside an edge


@dataclass(frozen=True, slots=True)
class _Marks:
    """What is known of an instance: states entered, edges gone, states it is in; each with its graph's path."""

    entered: frozenset[tuple[Path, str]] = frozenset()
    gone: frozenset[tuple[Path, str, str]] = frozenset()
    current: frozenset[tuple[Path, str]] = frozenset()
    known: bool = False


@dataclass(slots=True)
class _Drawn:
    """A graph that has its places: how large it is, and how to draw it at a point."""

    graph: Graph
    layout: Layout
    inner: dict[str, list[_Drawn]] = field(default_factory=dict)
    sizes: dict[str, tuple[float, float]] = field(default_factory=dict)


def draw(definition: Definition, instance: Instance | None = None, way: Iterable[Mapping[str, Any]] = ()) -> str:
    """`way`: the states that the instance has entered, as its events tell them."""
    marks = _Marks() if instance is None else _marks(instance, way)
    titles = [(f"{definition.name} {definition.version}", _arranged(definition.spec))]
    titles += [(f"subjourney {id}", _arranged(one)) for id, one in definition.spec.subjourneys.items()]
    if definition.spec.compensation is not None:
        titles.append(("compensation", _arranged(definition.spec.compensation)))
    parts: list[str] = []
    x = width = _PAD
    height = 0.0
    for title, one in titles:
        w, h = max(one.layout.width, len(title) * _LETTER) + 2 * _PAD, one.layout.height + _HEAD + 2 * _PAD
        parts.append(_rectangle(x, _PAD, w, h, "#ffffff", "#cfd8dc", "graph"))
        parts.append(_text(x + _PAD, _PAD + 18, title, 13, "600"))
        parts += _graph(one, x + _PAD, _PAD + _HEAD + _PAD, marks)
        x += w + _PAD
        width, height = x, max(height, h)
    height += 2 * _PAD
    words = definition.name if instance is None else f"{definition.name}: {instance.id}, {instance.phase}"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
            f'height="{height:.0f}" role="img" font-family="system-ui, sans-serif" font-size="12">',
            f"<title>{escape(words)}</title>",
            f"<defs>{_marker('head', _EDGE)}{_marker('head-taken', _TAKEN)}</defs>",
            f'<rect width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>',
            *parts,
            "</svg>",
        ]
    )


def _marks(instance: Instance, way: Iterable[Mapping[str, Any]]) -> _Marks:
    frames: dict[str, dict[int, tuple[Path, str]]] = {}
    for one in way:
        frames.setdefault(str(one["frame"]), {})[int(one["visit"])] = tuple(one["path"]), str(one["state"])
    entered = {place for visits in frames.values() for place in visits.values()}
    gone = set()
    for visits in frames.values():
        for number, (path, state) in visits.items():
            if number + 1 in visits:
                gone.add((path, state, visits[number + 1][1]))
    if instance.over:
        current = {(instance.root.path, instance.root.state)}
    else:
        current = {(one.path, one.state) for one in instance.frames.values() if one.rest is not Rest.OVER}
    return _Marks(frozenset(entered | current), frozenset(gone), frozenset(current), True)


def _arranged(graph: Graph) -> _Drawn:
    inner = {
        id: [_arranged(branch) for branch in state.parallel.branches]
        for id, state in graph.states.items()
        if isinstance(state, Parallel)
    }
    sizes = {id: _size(id, state, inner.get(id, [])) for id, state in graph.states.items()}
    edges = [(id, target) for id, state in graph.states.items() for target, _ in _targets(state) if target in sizes]
    start = graph.start if graph.start in sizes else next(iter(sizes))
    return _Drawn(graph, layered(sizes, edges, start), inner, sizes)


def _size(id: str, state: State, branches: Sequence[_Drawn]) -> tuple[float, float]:
    own = max(_WIDE, _LETTER * max(len(_cut(id)), len(_about(state))) + 22)
    if not branches:
        return own, _HIGH
    inside = sum(_branch_width(one) + _PAD for one in branches) + _PAD
    return max(own, inside), max(one.layout.height for one in branches) + 2 * _HEAD + 3 * _PAD + 10


def _branch_width(branch: _Drawn) -> float:
    return max(branch.layout.width, len(getattr(branch.graph, "name", "")) * _LETTER) + 2 * _PAD


def _graph(drawn: _Drawn, x: float, y: float, marks: _Marks) -> Iterator[str]:
    path, labels = drawn.graph.path, _labels(drawn.graph)
    for (a, b), points in drawn.layout.edges.items():
        yield _edge([(x + px, y + py) for px, py in points], (path, a, b) in marks.gone)
    for id, state in drawn.graph.states.items():
        bx, by = drawn.layout.boxes[id]
        yield from _state(id, state, x + bx, y + by, drawn, marks)
    for (a, b), words in labels.items():  # over everything, so that they can be read; neighbours at different heights
        if (a, b) in drawn.layout.edges:
            others = [one for one in labels if one[0] == a]
            (fx, fy), (tx, ty) = drawn.layout.edges[a, b][:2]
            share = 0.4 + 0.4 * others.index((a, b)) / max(1, len(others) - 1)
            place = (x + fx + (tx - fx) * 0.6, y + fy + (ty - fy) * share + 3)
            yield _text(*place, words, 10, "400", "#ffffff", "middle", "around")
            yield _text(*place, words, 10, "400", "#455a64", "middle", "label")


def _state(id: str, state: State, x: float, y: float, drawn: _Drawn, marks: _Marks) -> Iterator[str]:
    place = drawn.graph.path, id
    width, height = drawn.sizes[id]
    fill, stroke = _COLOURS[state.type]
    current, entered = place in marks.current, place in marks.entered
    names = ["state", state.type, *(["current"] if current else []), *(["entered"] if entered else [])]
    faint = marks.known and not entered
    thick = 4.0 if current else 2.5 if entered else 1.2
    yield f'<g class="{" ".join(names)}"{" opacity=" + chr(34) + "0.55" + chr(34) if faint else ""}>'
    yield f"<title>{escape(f'{id}: {state.type}')}</title>"
    if current:
        yield _rectangle(x - 5, y - 5, width + 10, height + 10, "none", "#ffb300", "halo", 3)
    yield _rectangle(x, y, width, height, fill, _TAKEN if entered and not current else stroke, "box", thick)
    if id == drawn.graph.start:
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{_INK}"/>'
    yield _text(x + width / 2, y + 17, _cut(id), 12, "600", _INK, "middle")
    yield _text(x + width / 2, y + 33, _about(state), 10, "400", stroke, "middle")
    inside = x + _PAD
    for branch in drawn.inner.get(id, []):
        w, top = _branch_width(branch), y + _HEAD + 10 + _PAD
        yield _rectangle(inside, top, w, height - _HEAD - 10 - 2 * _PAD, "#ffffff", "#b0bec5", "branch")
        yield _text(inside + _PAD, top + 16, getattr(branch.graph, "name", ""), 11, "600", "#546e7a")
        yield from _graph(branch, inside + _PAD, top + _HEAD, marks)
        inside += w + _PAD
    yield "</g>"


def _targets(state: State) -> Iterator[tuple[str, str]]:
    """Where a state may lead, and under which condition."""
    match state:
        case Choice():
            for one in state.choices:
                yield one.next, _short(one.when.predicate)
            if state.default is not None:
                yield state.default, "else"
        case Succeed() | Fail():
            return
        case _:
            if state.next is not None:
                yield state.next, ""
    if isinstance(state, Wait | Webhook) and state.external.on_timeout is not None:
        yield state.external.on_timeout, f"after {state.external.timeout_s} s"


def _labels(graph: Graph) -> dict[Edge, str]:
    found: dict[Edge, list[str]] = {}
    for id, state in graph.states.items():
        for target, words in _targets(state):
            if words:
                found.setdefault((id, target), []).append(words)
    return {edge: _cut(" | ".join(words), _LABEL) for edge, words in found.items()}


def _about(state: State) -> str:
    match state:
        case Task():
            words = state.kind
        case Timer():
            given = state.timer.duration or state.timer.until
            words = f"timer {_short(given) if isinstance(given, Expression) else given}"
        case Call():
            words = f"subjourney {state.subjourney.ref}"
        case Parallel():
            words = f"parallel, {state.parallel.join.strategy}"
        case Fail():
            words = f"fail {state.error_code}"
        case _:
            words = state.type
    return _cut(words)


def _short(expression: Expression) -> str:
    return _cut(" ".join(expression.expr.split()))


def _cut(text: str, most: int = _LONGEST) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _marker(id: str, colour: str) -> str:
    return (
        f'<marker id="{id}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" '
        f'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 8 4 0 8z" fill="{colour}"/></marker>'
    )


def _edge(points: Sequence[Point], taken: bool) -> str:
    """Curves that leave a box downwards and come to one from above."""
    (x, y), rest = points[0], points[1:]
    d = f"M{x:.1f} {y:.1f}"
    for tx, ty in rest:
        bend = (ty - y) / 2
        d += f"C{x:.1f} {y + bend:.1f} {tx:.1f} {ty - bend:.1f} {tx:.1f} {ty:.1f}" if bend else f"L{tx:.1f} {ty:.1f}"
        x, y = tx, ty
    colour, width = (_TAKEN, 2.6) if taken else (_EDGE, 1.3)
    kind, head = ("edge taken", "head-taken") if taken else ("edge", "head")
    return (
        f'<path class="{kind}" d="{d}" fill="none" stroke="{colour}" stroke-width="{width}" marker-end="url(#{head})"/>'
    )


def _rectangle(
    x: float, y: float, width: float, height: float, fill: str, stroke: str, kind: str, thick: float = 1.2
) -> str:
    return (
        f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="7" '
        f'fill="{fill}" stroke="{stroke}" stroke-width="{thick}"/>'
    )


def _text(
    x: float,
    y: float,
    words: str,
    size: int,
    weight: str = "400",
    colour: str = _INK,
    anchor: str = "start",
    kind: str = "words",
) -> str:
    around = ' stroke="#ffffff" stroke-width="3" aria-hidden="true"' if kind == "around" else ""
    return (
        f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" font-size="{size}" font-weight="{weight}" fill="{colour}" '
        f'text-anchor="{anchor}"{around}>{escape(words)}</text>'
    )
