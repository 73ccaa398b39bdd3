"""Draw a workflow as SVG: producers, topics and consumers from left to right. Mark running and blocked handlers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape

from ostinato.drawing.layout import Point, lay_out
from ostinato.drawing.svg import EDGE, INK, PAD, WRITTEN, curve, cut, marker, rectangle, svg, text, text_width
from ostinato.workflows.definition import ProducerDefinition, WorkflowDefinition
from ostinato.workflows.views.overview import IDLE, NEEDS_ATTENTION, RUNNING, STOPPED, WorkflowInfo

# For each kind of box: fill, outline, and the second line. Words have a contrast of at least 4.5 to 1.
COLOURS = {
    "producer": ("#e3f2fd", "#1565c0", "#1256a5"),
    "topic": ("#f5f7f8", "#78909c", "#455a64"),
    "consumer": ("#f3e5f5", "#7b1fa2", "#7b1fa2"),
}
STATUSES = {
    RUNNING: ("#e8f5e9", "#27692b"),
    IDLE: ("#eceff1", "#455a64"),
    NEEDS_ATTENTION: ("#ffebee", "#b71c1c"),
    STOPPED: ("#ede7f6", "#4527a0"),
}
_CURRENT, _BLOCKED, _WAITING = "#ffb300", "#c62828", "#bf5600"
_HEIGHT, _LEAST = 46.0, 96.0  # of a box: height, least width
_SWATCH = 14.0
_LONGEST_LINE = 96  # letters of the lines above the graph


@dataclass(frozen=True, slots=True)
class Marks:
    """The handlers to mark in a drawing. `current` is the handler that is running. `blocked` is the handler whose run
    blocks the workflow. Each is None if there is no such handler."""

    current: str | None = None
    blocked: str | None = None


@dataclass(frozen=True, slots=True)
class _Box:
    """A producer, a topic or a consumer. `waiting` counts the pending events of a topic."""

    kind: str
    name: str
    words: str
    waiting: int = 0

    @property
    def size(self) -> tuple[float, float]:
        width = max(text_width(cut(self.name), 12, bold=True), text_width(cut(self.words), 10))
        return max(_LEAST, width + (40 if self.kind == "topic" else 26)), _HEIGHT


def draw(definition: WorkflowDefinition, info: WorkflowInfo, marks: Marks) -> str:
    """Return an SVG document of a workflow and its state."""
    boxes = dict(_boxes(definition, info.pending))
    sizes = {key: box.size for key, box in boxes.items()}
    edges = list(_edges(definition))
    # The layout goes from top to bottom; with width and height exchanged it goes from left to right.
    layout = lay_out({key: (height, width) for key, (width, height) in sizes.items()}, edges, next(iter(boxes)))
    parts, graph_top, header_width = _header(info)
    left, top = 2 * PAD, graph_top + PAD
    width = max(layout.height + 4 * PAD, header_width)
    height = top + layout.width + 2 * PAD
    parts.append(rectangle(PAD, graph_top - PAD, width - 2 * PAD, height - graph_top, "#ffffff", "#cfd8dc", "graph"))
    corners = {key: (left + y, top + x) for key, (x, y) in layout.boxes.items()}
    for key, (x, y) in corners.items():
        parts += _halo(boxes[key], x, y, marks)
    for points in layout.edges.values():
        parts.append(_edge([(left + y, top + x) for x, y in points]))
    for key, (x, y) in corners.items():
        parts += _box(boxes[key], x, y, marks)
    legend, height = _legend(boxes, marks, width, height)
    title = f"{info.name} {info.version}: {info.status}"
    return svg(width, height, title, marker("head", EDGE), [*parts, *legend])


def _boxes(definition: WorkflowDefinition, pending: Mapping[str, int]) -> Iterator[tuple[str, _Box]]:
    for producer in definition.producers:
        yield f"handler {producer.name}", _Box("producer", producer.name, producer.schedule.describe())
    for topic in definition.topics:
        waiting = pending.get(topic, 0)
        yield f"topic {topic}", _Box("topic", topic, f"{waiting:,} pending" if waiting else "nothing waits", waiting)
    for consumer in definition.consumers:
        phases = ["prepare", *(["mutate"] if consumer.mutates else []), *(["next"] if consumer.emits else [])]
        yield f"handler {consumer.name}", _Box("consumer", consumer.name, " → ".join(phases))


def _edges(definition: WorkflowDefinition) -> Iterator[tuple[str, str]]:
    for handler in definition.handlers.values():
        for topic in handler.publishes:
            yield f"handler {handler.name}", f"topic {topic}"
        if not isinstance(handler, ProducerDefinition):
            for topic in handler.subscribes:
                yield f"topic {topic}", f"handler {handler.name}"


def _header(info: WorkflowInfo) -> tuple[list[str], float, float]:
    """Return the lines above the graph, their height and their width."""
    name, fill_and_ink = cut(info.name), STATUSES[info.status]
    fill, ink = fill_and_ink
    x = PAD + text_width(name, 16, bold=True) + 10
    version = f"version {info.version}"
    chip = x + text_width(version, 11) + 12
    chip_width = text_width(info.status, 11, bold=True) + 20
    parts = [
        text(PAD, 30, name, 16, "600"),
        text(x, 30, version, 11, "400", WRITTEN),
        f'<rect class="status" x="{chip:.1f}" y="16" width="{chip_width:.1f}" height="20" rx="10" fill="{fill}"/>',
        text(chip + chip_width / 2, 30, info.status, 11, "600", ink, "middle"),
    ]
    lines = [(info.timing, WRITTEN)]
    if info.issue is not None:
        lines.append((info.issue, STATUSES[NEEDS_ATTENTION][1]))
    y, widest = 36.0, chip + chip_width
    for words, colour in lines:
        y += 18
        short = cut(words, _LONGEST_LINE)
        parts.append(f"<g><title>{escape(words)}</title>{text(PAD, y, short, 12, '400', colour)}</g>")
        widest = max(widest, PAD + text_width(short, 12))
    return parts, y + 14 + PAD, widest + PAD


def _halo(box: _Box, x: float, y: float, marks: Marks) -> Iterator[str]:
    """Yield a coloured frame around the running handler and the blocked handler. Draw it before the arrows."""
    if box.kind == "topic" or box.name not in (marks.current, marks.blocked):
        return
    width, height = box.size
    colour = _BLOCKED if box.name == marks.blocked else _CURRENT
    yield rectangle(x - 5, y - 5, width + 10, height + 10, "none", colour, "halo", 3)


def _box(box: _Box, x: float, y: float, marks: Marks) -> Iterator[str]:
    width, height = box.size
    fill, outline, ink = COLOURS[box.kind]
    names = [box.kind]
    if box.kind != "topic":
        names += [name for name in ("current", "blocked") if getattr(marks, name) == box.name]
    yield f'<g class="{" ".join(names)}"><title>{escape(f"{box.kind} {box.name}: {box.words}")}</title>'
    if box.kind == "topic":
        yield rectangle(x, y, width, height, fill, outline, "box", round=height / 2)
    else:
        yield rectangle(x, y, width, height, fill, outline, "box")
    yield text(x + width / 2, y + 20, cut(box.name), 12, "600", INK, "middle")
    words = (cut(box.words), 10, "600" if box.waiting else "400", _WAITING if box.waiting else ink)
    yield text(x + width / 2, y + 36, *words, "middle")
    yield "</g>"


def _edge(points: list[Point]) -> str:
    path = curve(points, across=True)
    return f'<path class="edge" d="{path}" fill="none" stroke="{EDGE}" stroke-width="1.3" marker-end="url(#head)"/>'


def _legend(boxes: Mapping[str, _Box], marks: Marks, width: float, height: float) -> tuple[list[str], float]:
    """Return the legend of the colours and signs in use, and the new height of the picture."""
    kinds = dict.fromkeys(box.kind for box in boxes.values())
    entries = [(kind, rectangle(0, 0, _SWATCH, _SWATCH, *COLOURS[kind][:2], "swatch")) for kind in kinds]
    if marks.current is not None and marks.current != marks.blocked:
        entries.append(("run under way", rectangle(1, 1, 12, 12, "none", _CURRENT, "swatch", 3)))
    if marks.blocked is not None:
        entries.append(("blocks the workflow", rectangle(1, 1, 12, 12, "none", _BLOCKED, "swatch", 3)))
    parts, x, y = ['<g class="legend">'], PAD, height + PAD
    for name, sign in entries:
        needed = _SWATCH + 6 + text_width(name, 10) + 16
        if x + needed > width - PAD + 16 and x > PAD:
            x, y = PAD, y + _SWATCH + 8
        parts.append(f'<g transform="translate({x:.1f} {y:.1f})">{sign}</g>')
        parts.append(text(x + _SWATCH + 6, y + 11, name, 10, "400", WRITTEN))
        x += needed
    return [*parts, "</g>"], y + _SWATCH + PAD
