"""From a definition to its SVG. What a definition says is text to be shown, never markup."""

from __future__ import annotations

import re
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

# Of a kind of state: what fills its box, what is around it, and the words in it. Words have a contrast of 4.5 to 1.
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
FAINT = ("#fafafa", "#b0bec5", "#5f6b72")  # of a state that an instance has not entered
_EDGE, _TAKEN, _INK, _WRITTEN = "#607d8b", "#0d47a1", "#212121", "#37474f"
_HIGH, _WIDE = 42.0, 92.0  # of a box: its height, its least width
_PAD, _HEAD = 14.0, 24.0  # within a box of boxes: around them, and for its title
_LONGEST, _LABEL = 34, 30  # letters in a box, and beside an edge
_SWATCH = 14.0
_NARROW, _BROAD = frozenset("fijltrI.,:;'|!/()[] "), frozenset("mwMW@%…")
_BASE = re.compile(r"^(?:https?://|\$\{platform\.config\.[^}]*\})")
_PLACEHOLDER = re.compile(r"\$\{([^}]*)\}")


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
        w, h = max(one.layout.width, wide(title, 13, bold=True)) + 2 * _PAD, one.layout.height + _HEAD + 2 * _PAD
        parts.append(_rectangle(x, _PAD, w, h, "#ffffff", "#cfd8dc", "graph"))
        parts.append(_text(x + _PAD, _PAD + 18, title, 13, "600"))
        parts += _graph(one, x + (w - one.layout.width) / 2, _PAD + _HEAD + _PAD, marks)
        x += w + _PAD
        width, height = x, max(height, h)
    height += 2 * _PAD
    legend, width, height = _legend(definition, marks, width, height)
    parts += legend
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
    labels = {edge: wide(words, 10) + 8 for edge, words in _labels(graph).items()}
    return _Drawn(graph, layered(sizes, edges, start, labels), inner, sizes)


def _size(id: str, state: State, branches: Sequence[_Drawn]) -> tuple[float, float]:
    own = max(_WIDE, wide(_cut(id), 12, bold=True) + 24, wide(_about(state), 10) + 24)
    if not branches:
        return own, _HIGH
    inside = sum(_branch_width(one) + _PAD for one in branches) + _PAD
    return max(own, inside), max(one.layout.height for one in branches) + 2 * _HEAD + 3 * _PAD + 10


def _branch_width(branch: _Drawn) -> float:
    return max(branch.layout.width, wide(getattr(branch.graph, "name", ""), 11, bold=True)) + 2 * _PAD


def _graph(drawn: _Drawn, x: float, y: float, marks: _Marks) -> Iterator[str]:
    path, labels = drawn.graph.path, _labels(drawn.graph)
    for id, (bx, by) in drawn.layout.boxes.items():
        if (path, id) in marks.current:  # below the edges, whose heads it would hide
            width, height = drawn.sizes[id]
            yield _rectangle(x + bx - 5, y + by - 5, width + 10, height + 10, "none", "#ffb300", "halo", 3)
    for (a, b), points in drawn.layout.edges.items():
        yield _edge([(x + px, y + py) for px, py in points], (path, a, b) in marks.gone)
    for id, state in drawn.graph.states.items():
        bx, by = drawn.layout.boxes[id]
        yield from _state(id, state, x + bx, y + by, drawn, marks)
    for edge, (lx, ly) in drawn.layout.labels.items():  # over the lines, which it interrupts
        width = wide(labels[edge], 10) + 4
        yield (
            f'<rect class="around" x="{x + lx - width / 2:.1f}" y="{y + ly - 7:.1f}" width="{width:.1f}" height="14" '
            f'fill="#ffffff"/>'
        )
        yield _text(x + lx, y + ly + 3.5, labels[edge], 10, "400", _WRITTEN, "middle", "label")


def _state(id: str, state: State, x: float, y: float, drawn: _Drawn, marks: _Marks) -> Iterator[str]:
    place = drawn.graph.path, id
    width, height = drawn.sizes[id]
    current, entered = place in marks.current, place in marks.entered
    names = ["state", state.type, *(["current"] if current else []), *(["entered"] if entered else [])]
    faint = marks.known and not entered
    fill, stroke, words = FAINT if faint else COLOURS[state.type]
    thick = 4.0 if current else 2.5 if entered else 1.2
    yield f'<g class="{" ".join(names)}">'
    yield f"<title>{escape(f'{id}: {_details(state)}')}</title>"
    yield _rectangle(x, y, width, height, fill, _TAKEN if entered and not current else stroke, "box", thick)
    if id == drawn.graph.start:
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{_INK}"/>'
    yield _text(x + width / 2, y + 17, _cut(id), 12, "600", words if faint else _INK, "middle")
    yield _text(x + width / 2, y + 33, _about(state), 10, "400", words, "middle")
    branches = drawn.inner.get(id, [])
    inside = x + (width - sum(_branch_width(one) + _PAD for one in branches) + _PAD) / 2
    for branch in drawn.inner.get(id, []):
        w, top = _branch_width(branch), y + _HEAD + 10 + _PAD
        yield _rectangle(inside, top, w, height - _HEAD - 10 - 2 * _PAD, "#ffffff", "#b0bec5", "branch")
        yield _text(inside + _PAD, top + 16, getattr(branch.graph, "name", ""), 11, "600", "#455a64")
        yield from _graph(branch, inside + (w - branch.layout.width) / 2, top + _HEAD, marks)
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
        yield state.external.on_timeout, f"after {_length(state.external.timeout_s)}"


def _length(seconds: int | None) -> str:
    for unit, name in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds and seconds % unit == 0:
            return f"{seconds // unit} {name}"
    return f"{seconds} s"


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
            words = _called(state)
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


def _called(task: Task) -> str:
    """What a task does, as far as its settings tell."""
    given = task.settings
    match task.plugin:
        case ("httpCall", _):
            if isinstance(reference := given.get("operationRef"), str):
                return f"call {reference}"
            if isinstance(url := given.get("url"), str):
                return f"{given.get('method') or 'GET'} {_place(url)}"
        case ("schedule", _):
            if isinstance(start := given.get("start"), str):
                return f"schedule {start}"
        case ("kafkaPublish", _):
            if isinstance(topic := given.get("topic"), str):
                return f"publish to {topic}"
    return task.kind


def _place(url: str) -> str:
    """A URL as one reads it: without its scheme, its query, and the base that configuration gives."""
    place = _BASE.sub("", url).partition("?")[0]
    return _PLACEHOLDER.sub(lambda found: "{" + found[1].rpartition(".")[2] + "}", place) or "/"


def _details(state: State) -> str:
    if isinstance(state, Task):
        where = state.settings.get("url") or state.settings.get("operationRef")
        return f"{state.kind} {where}" if isinstance(where, str) else state.kind
    return state.type


def _legend(definition: Definition, marks: _Marks, width: float, height: float) -> tuple[list[str], float, float]:
    """What the colours and signs mean, of those that are there, below the graphs; and how large the picture is now."""
    kinds = dict.fromkeys(state.type for _, _, state in definition.states())
    entries = [(kind, _rectangle(0, 0, _SWATCH, _SWATCH, *COLOURS[kind][:2], "swatch")) for kind in kinds]
    middle = _SWATCH / 2
    entries.append(("begins here", f'<circle cx="{middle}" cy="{middle}" r="5" fill="{_INK}"/>'))
    if marks.known:
        line = f'<path d="M0 {middle}H{_SWATCH}" stroke="{_TAKEN}" stroke-width="2.6"/>'
        entries += [("way taken", line), ("is here", _rectangle(1, 1, 12, 12, "none", "#ffb300", "swatch", 3))]
    widths = [_SWATCH + 6 + wide(name, 10) + 16 for name, _ in entries]
    width = max(width, max(widths) + 2 * _PAD)
    parts, x, y = ['<g class="legend">'], _PAD, height
    for (name, sign), needed in zip(entries, widths, strict=True):
        if x + needed > width - _PAD + 16 and x > _PAD:
            x, y = _PAD, y + _SWATCH + 8
        parts.append(f'<g transform="translate({x:.1f} {y:.1f})">{sign}</g>')
        parts.append(_text(x + _SWATCH + 6, y + 11, name, 10, "400", _WRITTEN))
        x += needed
    return [*parts, "</g>"], width, y + _SWATCH + _PAD


def wide(words: str, size: float, bold: bool = False) -> float:
    """How wide words are, at most, in the fonts that browsers take for `system-ui`; the widest of them is DejaVu."""
    letters = sum(0.4 if one in _NARROW else 1.02 if one in _BROAD else 0.8 if one.isupper() else 0.65 for one in words)
    return letters * size * (1.1 if bold else 1.0)


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
    return (
        f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" font-size="{size}" font-weight="{weight}" fill="{colour}" '
        f'text-anchor="{anchor}">{escape(words)}</text>'
    )
