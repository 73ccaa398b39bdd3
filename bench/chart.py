"""Curves over powers of ten: as text for the terminal, as SVG for a page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

_WIDE, _HIGH, _EDGE = 560, 300, 50
_COLOURS = ("#2a6fbb", "#b5542a", "#3b8f5a")


def text_chart(xs: Sequence[int], curves: Mapping[str, Sequence[float]], width: int = 40) -> list[str]:
    most = max(max(ys) for ys in curves.values())
    lines = []
    for name, ys in curves.items():
        for x, y in zip(xs, ys, strict=True):
            lines.append(f"{name:10} {x:>9,} {'█' * max(1, round(y / most * width)):{width}} {y:6.1f}")
        lines.append(f"{'':10} {'':9} from first to last: {ys[-1] / ys[0]:.2f} times")
    return lines


def svg(xs: Sequence[int], curves: Mapping[str, Sequence[float]]) -> str:
    most = max(max(ys) for ys in curves.values()) * 1.1
    first, last = math.log10(xs[0]), math.log10(xs[-1])

    def place(x: float, y: float) -> tuple[float, float]:
        across = (math.log10(x) - first) / (last - first)
        return _EDGE + across * (_WIDE - 2 * _EDGE), _HIGH - _EDGE - y / most * (_HIGH - 2 * _EDGE)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDE} {_HIGH}"'
        ' font-family="sans-serif" font-size="11">',
        f'<text x="{_EDGE}" y="20">µs for each run, by finished runs in the table</text>',
        f'<path d="M{_EDGE} {_EDGE}V{_HIGH - _EDGE}H{_WIDE - _EDGE}" fill="none" stroke="#888"/>',
    ]
    for x in xs:
        at, below = place(x, 0)
        parts.append(f'<text x="{at:.0f}" y="{below + 18:.0f}" text-anchor="middle">{x:,}</text>')
    for colour, (name, ys) in zip(_COLOURS, curves.items(), strict=False):
        points = [place(x, y) for x, y in zip(xs, ys, strict=True)]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for (across, down), value in zip(points, ys, strict=True):
            label = f'x="{across:.1f}" y="{down - 6:.1f}" fill="{colour}" text-anchor="middle"'
            parts.append(f"<text {label}>{value:.0f}</text>")
        across, down = points[-1]
        parts.append(f'<text x="{across:.1f}" y="{down + 16:.1f}" fill="{colour}" text-anchor="end">{name}</text>')
    return "\n".join([*parts, "</svg>\n"])
