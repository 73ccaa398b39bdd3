"""Draw the shapes of a picture as SVG. The function `text` escapes the words that it draws, and `svg` escapes the
title. Other arguments are not escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from unicodedata import east_asian_width

from ostinato.drawing.layout import Point

INK, WRITTEN, EDGE = "#212121", "#37474f", "#607d8b"
PAD = 14.0  # the space around boxes
LONGEST = 34  # greatest number of letters in a box
_NARROW, _BROAD = frozenset("fijltrI.,:;'|!/()[] "), frozenset("mwMW@%…")


def svg(width: float, height: float, title: str, defs: str, parts: Sequence[str]) -> str:
    """Return an SVG document. `defs` is the content of the element `<defs>`, for example arrow heads. `parts` are the
    elements of the picture; later elements cover earlier ones."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
            f'height="{height:.0f}" role="img" font-family="system-ui, sans-serif" font-size="12">',
            f"<title>{escape(title)}</title>",
            f"<defs>{defs}</defs>",
            f'<rect width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>',
            *parts,
            "</svg>",
        ]
    )


def text_width(words: str, size: float, bold: bool = False) -> float:
    """Estimate the width of a text in DejaVu, the widest of the fonts that browsers use for `system-ui`."""
    return sum(map(_letter_width, words)) * size * (1.1 if bold else 1.0)


def _letter_width(letter: str) -> float:
    if letter in _NARROW:
        return 0.4
    if letter in _BROAD or east_asian_width(letter) in ("W", "F"):  # the latter are as wide as high
        return 1.02
    return 0.8 if letter.isupper() else 0.65


def cut(text: str, most: int = LONGEST) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def marker(id: str, colour: str) -> str:
    """Return the definition of an arrow head, an SVG `marker` element."""
    return (
        f'<marker id="{id}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" '
        f'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 8 4 0 8z" fill="{colour}"/></marker>'
    )


def rectangle(
    x: float,
    y: float,
    width: float,
    height: float,
    fill: str,
    stroke: str,
    kind: str,
    thick: float = 1.2,
    round: float = 7,
) -> str:
    return (
        f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{round:g}" '
        f'fill="{fill}" stroke="{stroke}" stroke-width="{thick}"/>'
    )


def text(
    x: float,
    y: float,
    words: str,
    size: int,
    weight: str = "400",
    colour: str = INK,
    anchor: str = "start",
    kind: str = "words",
) -> str:
    return (
        f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" font-size="{size}" font-weight="{weight}" fill="{colour}" '
        f'text-anchor="{anchor}">{escape(words)}</text>'
    )


def curve(points: Sequence[Point], across: bool = False) -> str:
    """Return SVG path data for a line of curves through `points`. Each curve leaves one point downwards and reaches the
    next point from above. If `across` is true, each curve leaves one point to the right and reaches the next point from
    the left."""
    (x, y), rest = points[0], points[1:]
    path = f"M{x:.1f} {y:.1f}"
    for tx, ty in rest:
        bend = ((tx - x) if across else (ty - y)) / 2
        if not bend:
            path += f"L{tx:.1f} {ty:.1f}"
        elif across:
            path += f"C{x + bend:.1f} {y:.1f} {tx - bend:.1f} {ty:.1f} {tx:.1f} {ty:.1f}"
        else:
            path += f"C{x:.1f} {y + bend:.1f} {tx:.1f} {ty - bend:.1f} {tx:.1f} {ty:.1f}"
        x, y = tx, ty
    return path
