"""Draw the steps of a run as an SVG timeline: each operation is a row with a bar from its beginning to its end."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from html import escape
from typing import Any

from ostinato.drawing.svg import PAD, WRITTEN, cut, rectangle, svg, text, text_width
from ostinato.functions.views import FunctionInfo, StepInfo
from ostinato.when.instants import Micros, to_datetime

MOST_ROWS = 200  # the newest; a history may have thousands
# For each status of an operation: the colour of its bar and words, and the fill of the bar of a wait. On white and on
# that fill, the colour has a contrast of at least 4.5 to 1.
COLOURS = {
    "done": ("#27692b", "#e8f5e9"),
    "pending": ("#1256a5", "#e3f2fd"),
    "begun": ("#1256a5", "#e3f2fd"),
    "failed": ("#b71c1c", "#ffebee"),
    "timed_out": ("#9a4300", "#fff3e0"),
    "cancelled": ("#6a1b9a", "#f3e5f5"),
}
_OTHER = ("#455a64", "#eceff1")
# The same for runs: the fill of the chip, and its words.
STATUSES = {
    "succeeded": ("#e8f5e9", "#27692b"),
    "failed": ("#ffebee", "#b71c1c"),
    "timed_out": ("#ffebee", "#b71c1c"),
    "crashed": ("#ffebee", "#b71c1c"),
    "cancelled": ("#ede7f6", "#4527a0"),
    "terminated": ("#ede7f6", "#4527a0"),
}
GOING = ("#e3f2fd", "#0d47a1")  # the chip of a run that is not over
_WAITS = ("sleep", "receive", "child")  # light bars: nothing is executed
_VALUES = ("now", "random", "uuid", "version", "start")  # marks: they take no time
_NAMES, _BARS, _AFTER = 300.0, 620.0, 84.0  # widths: of the names, of the bars, of the lengths beside them
_WIDTH = PAD + _NAMES + _BARS + _AFTER + PAD
_ROW, _BAR, _INDENT, _DEEPEST = 22.0, 12.0, 14.0, 6
_TICKS = 6  # at most
_UNITS = ((86_400.0, "d"), (3_600.0, "h"), (60.0, "min"), (1.0, "s"), (0.001, "ms"))
_NICE = [
    number * unit
    for unit, numbers in (
        (0.001, (1, 2, 5, 10, 20, 50, 100, 200, 500)),
        (1.0, (1, 2, 5, 10, 15, 30)),
        (60.0, (1, 2, 5, 10, 15, 30)),
        (3_600.0, (1, 2, 3, 6, 12)),
        (86_400.0, (1, 2, 5, 7, 14, 30, 60, 90, 180, 365, 730, 1_825, 3_650)),
    )
    for number in numbers
]
_NOT_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")  # messages of errors may hold them
_LONGEST_LINE = 120  # letters of a line above the rows


@dataclass(frozen=True, slots=True)
class _Axis:
    """The time axis of the bars. A bar of an unfinished operation ends at `now`."""

    first: datetime
    seconds: float
    now: datetime

    def x(self, moment: datetime) -> float:
        share = (moment - self.first).total_seconds() / self.seconds
        return PAD + _NAMES + _BARS * min(max(share, 0.0), 1.0)


def draw_steps(info: FunctionInfo, steps: Sequence[StepInfo], now: Micros) -> str:
    """Return an SVG timeline of a run. Only the newest `MOST_ROWS` operations are drawn."""
    rows = steps[-MOST_ROWS:]
    axis = _axis(info, rows, to_datetime(now))
    parts, top = _header(info, len(steps) - len(rows))
    bottom = top + max(1, len(rows)) * _ROW
    parts += _grid(axis, top, bottom)
    if not info.over:
        x, y = axis.x(axis.now), top - 5
        parts.append(f'<line class="now" x1="{x:.1f}" x2="{x:.1f}" y1="{y:.1f}" y2="{bottom:.1f}" stroke="#1256a5"/>')
    if not rows:
        parts.append(text(PAD, top + 15, "no step has begun", 11, "400", WRITTEN))
    for number, step in enumerate(rows):
        parts += _row(step, axis, top + number * _ROW, info.over)
    legend, height = _legend(rows, bottom)
    picture = svg(_WIDTH, height, f"{info.name} {info.id}: {info.status}", "", [*parts, *legend])
    return _NOT_XML.sub("\ufffd", picture)


def _axis(info: FunctionInfo, rows: Sequence[StepInfo], now: datetime) -> _Axis:
    """Return the time axis, from the first drawn operation to the end of the run, or to `now` if it has not ended."""
    moments = [moment for step in rows for moment in (step.begun, step.finished) if moment is not None]
    first = min(moments, default=info.created)
    last = max([*moments, info.finished if info.finished is not None else now, first])
    return _Axis(first, max((last - first).total_seconds(), 0.001), last)


def _header(info: FunctionInfo, left_out: int) -> tuple[list[str], float]:
    """Return the SVG parts above the rows, and the y coordinate of the first row."""
    name = cut(info.name, 48)
    fill, ink = STATUSES.get(info.status, GOING)
    chip = PAD + text_width(name, 16, bold=True) + 10
    chip_width = text_width(info.status, 11, bold=True) + 20
    parts = [
        text(PAD, 30, name, 16, "600"),
        f'<rect class="status" x="{chip:.1f}" y="16" width="{chip_width:.1f}" height="20" rx="10" fill="{fill}"/>',
        text(chip + chip_width / 2, 30, info.status, 11, "600", ink, "middle"),
    ]
    lines = [_facts(info)]
    if info.reason and info.status != "succeeded":
        lines.append(f"waits for {info.reason}" if info.waits_for else info.reason)
    if left_out:
        lines.append(f"{left_out:,} earlier steps are not drawn; these are the newest {MOST_ROWS}")
    y = 34.0
    for words in lines:
        y += 18
        parts.append(
            f"<g><title>{escape(words)}</title>{text(PAD, y, cut(words, _LONGEST_LINE), 12, '400', WRITTEN)}</g>"
        )
    return parts, y + 42


def _facts(info: FunctionInfo) -> str:
    words = [f"run {info.id}", f"started {_moment(info.created)}"]
    if info.finished is not None:
        words.append(f"took {length((info.finished - info.created).total_seconds())}")
    if info.version is not None:
        words.append(f"version {info.version}{', pinned' if info.pinned else ''}")
    if info.generation:
        words.append(f"history {info.generation + 1}")
    return " · ".join(words)


def _grid(axis: _Axis, top: float, bottom: float) -> Iterator[str]:
    """Yield the vertical lines of the axis, each with the time since the axis began."""
    step = next((nice for nice in _NICE if axis.seconds / nice <= _TICKS), _NICE[-1] * 10)
    yield text(PAD, top - 10, f"since {_moment(axis.first)}", 10, "400", WRITTEN)
    number = 0
    while number * step <= axis.seconds and number <= _TICKS:
        x = axis.x(axis.first + timedelta(seconds=number * step))
        yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top - 5:.1f}" y2="{bottom:.1f}" stroke="#dfe4e7"/>'
        yield text(x, top - 10, length(number * step) if number else "0", 10, "400", WRITTEN, "middle")
        number += 1


def _row(step: StepInfo, axis: _Axis, top: float, over: bool) -> Iterator[str]:
    middle = top + _ROW / 2
    indent = _INDENT * min(step.position.count(".") // 2, _DEEPEST)
    yield f'<g class="{step.kind} {step.status}"><title>{escape(_tooltip(step))}</title>'
    yield (
        f'<rect x="{PAD:g}" y="{top:.1f}" width="{_WIDTH - 2 * PAD:.1f}" height="{_ROW:.0f}" fill="none" '
        'pointer-events="all"/>'  # the tooltip is shown over the whole row
    )
    position = cut(step.position, 12)
    yield text(PAD + indent, middle + 4, position, 10, "400", WRITTEN)
    name_at = PAD + indent + max(22.0, text_width(position, 10) + 8)
    yield text(name_at, middle + 4, _fitting(label(step), PAD + _NAMES - 10 - name_at), 12)
    yield from _bar(step, axis, middle, over)
    yield "</g>"


def _bar(step: StepInfo, axis: _Axis, middle: float, over: bool) -> Iterator[str]:
    colour, light = COLOURS.get(step.status, _OTHER)
    fill = light if step.kind in _WAITS else colour
    begin = axis.x(step.begun)
    if step.kind in _VALUES:
        yield f'<path class="mark" d="M{begin:.1f} {middle - 5:.1f}l5 5-5 5-5-5z" fill="{colour}"/>'
        return
    end = axis.x(step.finished if step.finished is not None else axis.now)
    width, top = max(2.5, end - begin), middle - _BAR / 2
    if step.finished is None and not over:
        path = f"M{begin:.1f} {top:.1f}h{width:.1f}l7 {_BAR / 2:.1f}l-7 {_BAR / 2:.1f}h-{width:.1f}z"
        yield f'<path class="bar open" d="{path}" fill="{fill}" stroke="{colour}" stroke-width="1.2"/>'
        words = _open_words(step)
        width += 7
    else:
        yield rectangle(begin, top, width, _BAR, fill, colour, "bar", 1, 2)
        words = "" if step.finished is None else length((step.finished - step.begun).total_seconds())
    if step.attempts > 1:
        words = f"{words} · {step.attempts} tries" if words else f"{step.attempts} tries"
    yield from _beside(words, begin, begin + width, middle + 4, colour)


def _beside(words: str, begin: float, end: float, y: float, colour: str) -> Iterator[str]:
    """Yield `words` to the right of a bar, or to its left if the right side has no room. Yield nothing if neither side
    has room."""
    if not words:
        return
    if end + 6 + text_width(words, 10) <= _WIDTH - PAD / 2:
        yield text(end + 6, y, words, 10, "400", colour)
    elif begin - 6 - text_width(words, 10) >= PAD + _NAMES:
        yield text(begin - 6, y, words, 10, "400", colour, "end")


def _open_words(step: StepInfo) -> str:
    """Return what an unfinished operation waits for."""
    if step.due is None:
        return "waiting" if step.kind in _WAITS else "running"
    return f"{'until' if step.kind in _WAITS else 'again'} {step.due:%m-%d %H:%M}"


def _tooltip(step: StepInfo) -> str:
    words = [f"{step.position} {label(step)}: {step.status.replace('_', ' ')}", f"began {_moment(step.begun)}"]
    if step.finished is not None:
        words.append(f"took {length((step.finished - step.begun).total_seconds())}")
    elif step.due is not None:
        words.append(f"due {_moment(step.due)}")
    if step.attempts > 1:
        words.append(f"{step.attempts} attempts")
    if step.child_id is not None:
        words.append(f"run {step.child_id}")
    if step.error is not None:
        words.append(cut(error_words(step.error), 300))
    return "\n".join(words)


def label(step: StepInfo) -> str:
    """Describe an operation: a step by its name, a sleep by its length (`sleep 3 h`), others by kind and name."""
    if step.kind == "step":
        return step.name
    if step.kind == "sleep" and step.due is not None:
        return f"sleep {length((step.due - step.begun).total_seconds())}"
    return f"{step.kind} {step.name}".rstrip()


def error_words(error: Any) -> str:
    """Return the type and the message of a recorded error. For a failed child, describe the child's own error."""
    if not isinstance(error, dict):
        return str(error)
    inner = error.get("error")
    if isinstance(inner, dict):
        return error_words(inner)
    parts = (error.get("type"), error.get("message") or error.get("reason"), error.get("status"))
    return ": ".join([str(part) for part in parts if part][:2]) or "an error"


def length(seconds: float) -> str:
    """Return a length of time in its one or two largest units: `3 d 4 h`, `1.5 s`, `20 ms`."""
    if seconds < 0.001:
        return "0"
    number, (unit, name) = next((number, unit) for number, unit in enumerate(_UNITS) if seconds >= unit[0])
    if unit <= 1:
        return f"{seconds / unit:.3g} {name}"
    smaller, smaller_name = _UNITS[number + 1]
    whole, rest = divmod(round(seconds / smaller), round(unit / smaller))
    return f"{whole} {name} {rest} {smaller_name}" if rest else f"{whole} {name}"


def _fitting(words: str, width: float) -> str:
    most = len(words)
    while most > 1 and text_width(cut(words, most), 12) > width:
        most -= 1
    return cut(words, most)


def _legend(rows: Sequence[StepInfo], bottom: float) -> tuple[list[str], float]:
    """Return the legend of the colours in use, and the height of the picture."""
    parts, x, y = ['<g class="legend">'], PAD, bottom + PAD
    entries = [
        (status.replace("_", " "), rectangle(0, 0, 14, _BAR, colour, colour, "swatch", 1, 2))
        for status, (colour, _) in COLOURS.items()
        if any(step.status == status for step in rows)
    ]
    if any(step.kind in _WAITS for step in rows):
        entries.append(("waits", rectangle(0, 0, 14, _BAR, _OTHER[1], _OTHER[0], "swatch", 1, 2)))
    if any(step.kind in _VALUES for step in rows):
        entries.append(("recorded at once", f'<path d="M7 1l5 5-5 5-5-5z" fill="{COLOURS["done"][0]}"/>'))
    for name, sign in entries:
        parts.append(f'<g transform="translate({x:.1f} {y:.1f})">{sign}</g>')
        parts.append(text(x + 20, y + 10, name, 10, "400", WRITTEN))
        x += 36 + text_width(name, 10)
    return [*parts, "</g>"], y + (_BAR + PAD if entries else 0)


def _moment(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S}Z"
