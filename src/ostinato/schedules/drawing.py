"""Draw a simulation as an SVG timeline. It shows which occurrences ran and how long, and why the others did not run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, tzinfo
from html import escape
from operator import itemgetter

from ostinato.schedules.simulate import Simulated, Simulation
from ostinato.when.instants import SECOND, from_datetime, to_datetime

_WIDTH, _LEFT, _RIGHT, _TOP = 1000, 20, 20, 46
_LANE, _BAR, _LANES = 18, 12, 12
_DRAWN = 2_000
_NEVER = datetime.max.replace(tzinfo=UTC)
_COLOURS = {
    "succeeded": "#2e7d32",
    "running": "#0277bd",
    "cancelled": "#ef6c00",
    "terminated": "#ad1457",
    "waiting": "#f9a825",
    "skipped": "#9e9e9e",
    "missed": "#c62828",
}
_STEPS = [n * SECOND for n in (1, 5, 15, 60, 300, 900, 3600, 3 * 3600, 6 * 3600, 86_400, 7 * 86_400, 30 * 86_400)]


def timeline(simulation: Simulation, zone: tzinfo, title: str = "") -> str:
    """Return an SVG document of a simulation. Each bar and each mark has a tooltip."""
    drawn = simulation.occurrences[:_DRAWN]
    lanes = _lanes(drawn)
    height = _TOP + (max(lanes.values(), default=0) + 2) * _LANE + 40
    first, last = from_datetime(simulation.first), from_datetime(simulation.last)
    scale = (_WIDTH - _LEFT - _RIGHT) / max(1, last - first)

    def x(at: datetime) -> float:
        return round(_LEFT + (min(max(from_datetime(at), first), last) - first) * scale, 1)

    def moment(at: datetime) -> str:
        return at.astimezone(zone).strftime("%Y-%m-%d %H:%M:%S")

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" '
        f'font-family="system-ui, sans-serif" font-size="11">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="{_LEFT}" y="16" font-size="13" fill="#212121">{escape(title)}</text>',
    ]
    bottom = height - 30
    for spans, colour, words in ((simulation.outages, "#ffcdd2", "outage"), (simulation.pauses, "#e3f2fd", "paused")):
        for begin, end in spans:
            width = f"{max(1, x(end) - x(begin)):.1f}"
            parts.append(
                f'<rect x="{x(begin)}" y="{_TOP - 8}" width="{width}" height="{bottom - _TOP + 8}" '
                f'fill="{colour}"><title>{words} {moment(begin)} to {moment(end)}</title></rect>'
            )
    parts += _axis(simulation, zone, x, bottom)
    for occurrence in drawn:
        words = f"{moment(occurrence.nominal)}: {occurrence.outcome}"
        if occurrence.reason:
            words += f", {occurrence.reason.value}"
        if occurrence.blocked_by is not None:
            words += f", in the way: {moment(occurrence.blocked_by)}"
        if occurrence.stands_for:
            words += f", represents {occurrence.stands_for} earlier"
        colour = _COLOURS[occurrence.outcome]
        if occurrence.started is None:
            y = bottom - 10
            parts.append(
                f'<circle cx="{x(occurrence.actual)}" cy="{y}" r="3" fill="{colour}">'
                f"<title>{escape(words)}</title></circle>"
            )
            continue
        end = occurrence.ended if occurrence.ended is not None else simulation.last
        y = _TOP + lanes[id(occurrence)] * _LANE
        width = f"{max(2, x(end) - x(occurrence.started)):.1f}"
        parts.append(
            f'<rect x="{x(occurrence.started)}" y="{y}" width="{width}" height="{_BAR}" rx="2" '
            f'fill="{colour}"><title>{escape(words)}</title></rect>'
        )
    parts += _legend(simulation, height)
    return "\n".join([*parts, "</svg>"])


def _lanes(occurrences: tuple[Simulated, ...]) -> dict[int, int]:
    """Return a dict from `id(occurrence)` to lane number, for the occurrences that started. Bars that overlap get
    different lanes. If no lane is free, they share the last lane."""
    free: list[datetime] = []
    lanes: dict[int, int] = {}
    began = [(one.started, number, one) for number, one in enumerate(occurrences) if one.started is not None]
    for start, _, occurrence in sorted(began, key=itemgetter(0, 1)):
        end = occurrence.ended if occurrence.ended is not None else _NEVER
        lane = next((n for n, until in enumerate(free) if until <= start), len(free))
        if lane >= _LANES:
            lane = _LANES - 1
        elif lane == len(free):
            free.append(end)
        free[lane] = end
        lanes[id(occurrence)] = lane
    return lanes


def _axis(simulation: Simulation, zone: tzinfo, x: Callable[[datetime], float], bottom: int) -> list[str]:
    first, last = from_datetime(simulation.first), from_datetime(simulation.last)
    length = last - first
    step = next((s for s in _STEPS if length / s <= 12), _STEPS[-1])
    parts = []
    at = -(-first // step) * step
    style = "%H:%M:%S" if step < 60 * SECOND else "%H:%M" if step < 86_400 * SECOND else "%m-%d"
    while at <= last:
        tick = to_datetime(at)
        parts.append(f'<line x1="{x(tick)}" x2="{x(tick)}" y1="{_TOP - 8}" y2="{bottom}" stroke="#e0e0e0"/>')
        shown = tick.astimezone(zone).strftime(style)
        parts.append(f'<text x="{x(tick)}" y="{_TOP - 14}" text-anchor="middle" fill="#616161">{shown}</text>')
        at += step
    return parts


def _legend(simulation: Simulation, height: int) -> list[str]:
    parts, at = [], _LEFT
    counts = Counter(o.outcome for o in simulation.occurrences)
    for outcome, colour in _COLOURS.items():
        if outcome in counts:
            parts.append(f'<rect x="{at}" y="{height - 20}" width="10" height="10" fill="{colour}"/>')
            parts.append(f'<text x="{at + 14}" y="{height - 11}" fill="#424242">{outcome} {counts[outcome]}</text>')
            at += 110
    return parts
