"""Where the boxes of a graph go: in rows, from top to bottom, so that what leads to a box stands above it where it can.
Pure.

Within a row, an edge is a vertical line with room of its own; between two rows it is a curve. So no edge runs behind a
box. Edges leave and reach a box side by side, so that two between the same boxes are two lines. What is written at an
edge has a place on it, between the rows, apart from what is written at others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

Edge = tuple[str, str]
Point = tuple[float, float]
_GAP_X, _GAP_Y = 30.0, 56.0
_THIN = 14.0  # the room of an edge that passes through a row
_SWEEPS = 12
_PORT = 22.0  # between two edges at one side of a box, at most
_SLOT = 17.0  # the height of a label


@dataclass(frozen=True, slots=True)
class Layout:
    """The upper left corner of each box, the points of each edge from its first box to its second, the middle of each
    label, and the whole."""

    boxes: Mapping[str, Point]
    edges: Mapping[Edge, Sequence[Point]]
    labels: Mapping[Edge, Point]
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class _Chain:
    """An edge, from row to row downwards: the boxes at its ends, and what stands for it in the rows between."""

    edge: Edge
    turned: bool  # it leads upwards
    parts: Sequence[str]


def layered(
    sizes: Mapping[str, tuple[float, float]],
    edges: Iterable[Edge],
    start: str,
    labels: Mapping[Edge, float] | None = None,
) -> Layout:
    """`labels`: how wide what is written at an edge is."""
    wanted = list(dict.fromkeys(edges))
    forward = _without_circles(sizes, wanted, start)
    ranks = _ranks(sizes, [edge for edge in forward.values() if edge[0] != edge[1]])
    rows, chains, widths = _rows(sizes, forward, ranks)
    links = [(a, b) for chain in chains.values() for a, b in pairwise(chain)]
    _order(rows, links)
    centres = _spread(rows, links, widths)
    rank_of = {one: number for number, row in enumerate(rows) for one in row}
    there = [_Chain(edge, forward[edge] != edge, chains[edge]) for edge in wanted if edge[0] != edge[1]]
    lower, upper = _ports(there, centres, widths)
    lines = _lines(there, labels or {}, lower, upper, rank_of)
    slots = [_slots(lines.get(rank, [])) for rank in range(len(rows))]
    tops, bottoms, height = _bands(rows, sizes, [max((slot for _, slot in one.values()), default=0) for one in slots])
    boxes = {one: (centres[one] - sizes[one][0] / 2, tops[rank_of[one]]) for one in sizes}
    routes: dict[Edge, list[Point]] = {
        (one, other): _loop(boxes[one], sizes[one]) for one, other in wanted if one == other
    }
    for chain in there:
        points: list[Point] = []
        for part, following in pairwise(chain.parts):
            rank = rank_of[part]
            x = lower[chain.edge, part]
            begin = tops[rank] + sizes[part][1] if part in sizes else tops[rank]
            points += [(x, begin), (x, bottoms[rank]), (upper[chain.edge, following], tops[rank_of[following]])]
        points = [one for one, following in pairwise(points) if one != following] + points[-1:]
        routes[chain.edge] = points[::-1] if chain.turned else points
    places = {
        edge: (x, bottoms[rank] + _slot_y(slot, tops[rank + 1] - bottoms[rank]))
        for rank, some in enumerate(slots)
        for edge, (x, slot) in some.items()
    }
    return _moved(sizes, boxes, routes, places, labels or {}, height)


def _moved(
    sizes: Mapping[str, tuple[float, float]],
    boxes: dict[str, Point],
    routes: dict[Edge, list[Point]],
    places: dict[Edge, Point],
    labels: Mapping[Edge, float],
    height: float,
) -> Layout:
    """Everything moved so far that the leftmost of it is at 0."""
    left = [x for x, _ in boxes.values()] + [x for points in routes.values() for x, _ in points]
    left += [x - labels[edge] / 2 for edge, (x, _) in places.items()]
    right = [x + sizes[one][0] for one, (x, _) in boxes.items()] + [x for r in routes.values() for x, _ in r]
    right += [x + labels[edge] / 2 for edge, (x, _) in places.items()]
    away = min(left)
    return Layout(
        {one: (x - away, y) for one, (x, y) in boxes.items()},
        {edge: [(x - away, y) for x, y in points] for edge, points in routes.items()},
        {edge: (x - away, y) for edge, (x, y) in places.items()},
        max(right) - away,
        height,
    )


def _ports(
    chains: Sequence[_Chain], centres: Mapping[str, float], widths: Mapping[str, float]
) -> tuple[dict[tuple[Edge, str], float], dict[tuple[Edge, str], float]]:
    """Where each edge leaves what is above, and where it reaches what is below: side by side, in the order of where
    they come from and go to, so that they do not cross."""
    lower: dict[tuple[Edge, str], float] = {}
    upper: dict[tuple[Edge, str], float] = {}
    below: dict[str, list[tuple[float, int, Edge]]] = {}
    above: dict[str, list[tuple[float, int, Edge]]] = {}
    for number, chain in enumerate(chains):
        for one, other in pairwise(chain.parts):
            below.setdefault(one, []).append((centres[other], number, chain.edge))
            above.setdefault(other, []).append((centres[one], number, chain.edge))
    for ends, found in ((below, lower), (above, upper)):
        for one, some in ends.items():
            step = min(_PORT, (widths[one] - 24) / max(1, len(some) - 1)) if len(some) > 1 else 0.0
            for place, (_, _, edge) in enumerate(sorted(some)):
                found[edge, one] = centres[one] + step * (place - (len(some) - 1) / 2)
    return lower, upper


@dataclass(frozen=True, slots=True)
class _Line:
    """A part of an edge, in the gap between two rows; `width`: of what is written at it, if something is."""

    edge: Edge
    above: float
    below: float
    width: float | None

    def at(self, share: float) -> float:
        """Where the line is sideways, so far down in the gap."""
        low, high = 0.0, 1.0
        for _ in range(20):
            t = (low + high) / 2
            low, high = (t, high) if 1.5 * t - 1.5 * t * t + t**3 < share else (low, t)
        t = (low + high) / 2
        return self.above + (self.below - self.above) * (3 * t * t - 2 * t**3)


def _lines(
    chains: Sequence[_Chain],
    labels: Mapping[Edge, float],
    lower: Mapping[tuple[Edge, str], float],
    upper: Mapping[tuple[Edge, str], float],
    rank_of: Mapping[str, int],
) -> dict[int, list[_Line]]:
    """What is in the gap below each row. What is written at an edge stands beside the box that it leaves."""
    found: dict[int, list[_Line]] = {}
    for chain in chains:
        pairs = list(pairwise(chain.parts))
        for one, other in pairs:
            first = (one, other) == (pairs[-1] if chain.turned else pairs[0])
            width = labels.get(chain.edge) if first else None
            line = _Line(chain.edge, lower[chain.edge, one], upper[chain.edge, other], width)
            found.setdefault(rank_of[one], []).append(line)
    return found


def _slots(lines: Sequence[_Line]) -> dict[Edge, tuple[float, int]]:
    """A place for each label, sideways, and its slot, counted from 1: as few slots, one below the other, as keep them
    apart. Where there is a choice, over as few lines of others as possible."""
    labels = sorted((line for line in lines if line.width is not None), key=lambda line: line.at(0.5))
    for count in range(1, len(labels) + 1):
        found: dict[Edge, tuple[float, int]] = {}
        ends = dict.fromkeys(range(1, count + 1), float("-inf"))
        for label in labels:
            half = (label.width or 0) / 2
            free: list[tuple[int, float, int, float]] = []
            for slot, end in ends.items():
                share = _slot_y(slot, _gap(count)) / _gap(count)
                x = label.at(share)
                if x - half >= end + 8:
                    over = sum(abs(line.at(share) - x) < half + 3 for line in lines if line is not label)
                    free.append((over, end, slot, x))
            if free:
                _, _, slot, x = min(free)
                ends[slot] = x + half
                found[label.edge] = x, slot
        if len(found) == len(labels):
            return found
    return {label.edge: (label.at(0.5), number) for number, label in enumerate(labels, 1)}


def _gap(slots: int) -> float:
    return _GAP_Y + _SLOT * max(0, slots - 1)


def _slot_y(slot: int, gap: float) -> float:
    """The middle of a slot, in a gap that may have more of them."""
    count = max(1, round((gap - _GAP_Y) / _SLOT) + 1)
    return gap / 2 + _SLOT * (slot - (count + 1) / 2)


def _without_circles(sizes: Mapping[str, object], edges: Sequence[Edge], start: str) -> dict[Edge, Edge]:
    """Each edge, turned round where it leads back to where the way comes from."""
    after: dict[str, list[str]] = {one: [] for one in sizes}
    for a, b in edges:
        after[a].append(b)
    done: set[str] = set()
    turned: set[Edge] = set()
    for root in [start, *sizes]:
        if root in done:
            continue
        above = {root}
        stack = [(root, iter(after[root]))]
        while stack:
            one, rest = stack[-1]
            other = next(rest, None)
            if other is None:
                stack.pop()
                above.discard(one)
                done.add(one)
            elif other in above:
                turned.add((one, other))
            elif other not in done:
                above.add(other)
                stack.append((other, iter(after[other])))
    return {edge: (edge[1], edge[0]) if edge in turned else edge for edge in edges}


def _ranks(sizes: Mapping[str, object], edges: Sequence[Edge]) -> dict[str, int]:
    """The longest way to each box."""
    ranks = dict.fromkeys(sizes, 0)
    for _ in sizes:
        changed = False
        for a, b in edges:
            if ranks[b] <= ranks[a]:
                ranks[b] = ranks[a] + 1
                changed = True
        if not changed:
            break
    return ranks


def _rows(
    sizes: Mapping[str, tuple[float, float]], forward: Mapping[Edge, Edge], ranks: Mapping[str, int]
) -> tuple[list[list[str]], dict[Edge, list[str]], dict[str, float]]:
    rows: list[list[str]] = [[] for _ in range(max(ranks.values()) + 1)]
    for one, rank in ranks.items():
        rows[rank].append(one)
    widths = {one: width for one, (width, _) in sizes.items()}
    chains: dict[Edge, list[str]] = {}
    for number, (edge, (a, b)) in enumerate(forward.items()):
        chain = [a]
        for rank in range(ranks[a] + 1, ranks[b]):
            passing = f"\x00{number}:{rank}"
            rows[rank].append(passing)
            widths[passing] = _THIN
            chain.append(passing)
        chains[edge] = [*chain, b] if a != b else [a]
    return rows, chains, widths


def _neighbours(links: Sequence[Edge]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    above: dict[str, list[str]] = {}
    below: dict[str, list[str]] = {}
    for a, b in links:
        below.setdefault(a, []).append(b)
        above.setdefault(b, []).append(a)
    return above, below


def _order(rows: list[list[str]], links: Sequence[Edge]) -> None:
    """Each row by the middle of what its boxes hang on, down and up again and again, so that few edges cross."""
    above, below = _neighbours(links)
    for sweep in range(_SWEEPS):
        hang = above if sweep % 2 == 0 else below
        for row in rows if sweep % 2 == 0 else reversed(rows):
            place = {one: float(number) for row_ in rows for number, one in enumerate(row_)}

            def middle(one: str, hang: dict[str, list[str]] = hang, place: dict[str, float] = place) -> float:
                found = [place[other] for other in hang.get(one, [])]
                return sum(found) / len(found) if found else place[one]

            row.sort(key=middle)


def _spread(rows: Sequence[Sequence[str]], links: Sequence[Edge], widths: Mapping[str, float]) -> dict[str, float]:
    """The middle of each box: as near to what it hangs on as its row allows, and nothing over anything else."""
    above, below = _neighbours(links)
    centres: dict[str, float] = {}
    for row in rows:
        offsets = _offsets(row, widths)
        for one, offset in zip(row, offsets, strict=True):
            centres[one] = offset - offsets[-1] / 2
    for sweep in range(2 * _SWEEPS):
        down = sweep % 2 == 0
        both = sweep >= _SWEEPS  # first in one direction each, then in the middle between all that it hangs on
        for row in rows if down else reversed(rows):
            hang = [
                [
                    centres[other]
                    for other in (
                        *(above.get(one, ()) if both or down else ()),
                        *(below.get(one, ()) if both or not down else ()),
                    )
                ]
                for one in row
            ]
            wished = [sum(found) / len(found) if found else centres[one] for one, found in zip(row, hang, strict=True)]
            centres.update(zip(row, _apart(wished, _offsets(row, widths)), strict=True))
    return centres


def _offsets(row: Sequence[str], widths: Mapping[str, float]) -> list[float]:
    """How far each must be from the first, at the least."""
    found = [0.0]
    for a, b in pairwise(row):
        found.append(found[-1] + widths[a] / 2 + _GAP_X + widths[b] / 2)
    return found


def _apart(wished: Sequence[float], offsets: Sequence[float]) -> list[float]:
    """The places nearest to those wished that are far enough apart: what would come too near moves as one block."""
    blocks: list[tuple[float, int]] = []
    for wish, offset in zip(wished, offsets, strict=True):
        total, count = wish - offset, 1
        while blocks and blocks[-1][0] / blocks[-1][1] > total / count:
            before, several = blocks.pop()
            total, count = total + before, count + several
        blocks.append((total, count))
    flat = [total / count for total, count in blocks for _ in range(count)]
    return [place + offset for place, offset in zip(flat, offsets, strict=True)]


def _tallest(row: Sequence[str], sizes: Mapping[str, tuple[float, float]]) -> float:
    return max((sizes[one][1] for one in row if one in sizes), default=0.0)


def _bands(
    rows: Sequence[Sequence[str]], sizes: Mapping[str, tuple[float, float]], slots: Sequence[int]
) -> tuple[list[float], list[float], float]:
    """The top and the bottom of each row, with room between them for what is written there; and the bottom of all."""
    tops, bottoms, y = [], [], 0.0
    for row, count in zip(rows, slots, strict=True):
        tops.append(y)
        bottoms.append(y + _tallest(row, sizes))
        y = bottoms[-1] + _gap(count)
    return tops, bottoms, bottoms[-1]


def _loop(corner: Point, size: tuple[float, float]) -> list[Point]:
    """From a box to itself: out on its right side and back."""
    x, y = corner[0] + size[0], corner[1] + size[1] / 2
    return [(x, y - 8), (x + 18, y - 8), (x + 18, y + 8), (x, y + 8)]
