"""Lay out the boxes and edges of a graph in rows from top to bottom. Where possible, a box is below the boxes that lead
to it. An edge crosses a row in its own column, never behind a box. Labels are between two rows and do not overlap."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

Edge = tuple[str, str]
Point = tuple[float, float]
_GAP_X, _GAP_Y = 30.0, 56.0
_THIN = 14.0  # the width of an edge that passes through a row
_SWEEPS = 12
_PORT = 22.0  # the greatest distance between two edges at one side of a box
_SLOT = 17.0  # the height of a label
_END = 10.0  # how far a label that is beside its line reaches over the line
_LOOP = 22.0  # the width of an edge from a box to itself


@dataclass(frozen=True, slots=True)
class Layout:
    """The upper left corner of each box, the points of each edge, the centre of each label, and the total size."""

    boxes: Mapping[str, Point]
    edges: Mapping[Edge, Sequence[Point]]
    labels: Mapping[Edge, Point]
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class _Chain:
    """An edge, cut at each row that it crosses. `parts` are, from top to bottom, the edge's upper box, a placeholder in
    each row between, and the lower box."""

    edge: Edge
    turned: bool  # the edge leads upwards, against the chain
    parts: Sequence[str]


def lay_out(
    sizes: Mapping[str, tuple[float, float]],
    edges: Iterable[Edge],
    start: str,
    labels: Mapping[Edge, float] | None = None,
) -> Layout:
    """Place the boxes and edges of a graph. `sizes` maps each box to its (width, height). `start` is the box at which
    the graph begins. `labels` maps an edge to the width of its label."""
    wanted = list(dict.fromkeys(edges))
    forward = _without_circles(sizes, wanted, start)
    ranks = _ranks(sizes, [edge for edge in forward.values() if edge[0] != edge[1]])
    rows, chains, widths = _rows(sizes, forward, ranks)
    links = [(a, b) for chain in chains.values() for a, b in pairwise(chain)]
    _order(rows, links)
    looped = {box: (labels or {}).get((box, other)) for box, other in wanted if box == other}
    rooms = widths | {box: widths[box] + 2 * (_LOOP + width) for box, width in looped.items() if width is not None}
    centres = _spread(rows, links, rooms)
    rank_of = {box: number for number, row in enumerate(rows) for box in row}
    chain_list = [_Chain(edge, forward[edge] != edge, chains[edge]) for edge in wanted if edge[0] != edge[1]]
    lower, upper = _ports(chain_list, centres, widths)
    lines = _lines(chain_list, labels or {}, lower, upper, rank_of)
    slots = [_slots(lines.get(rank, [])) for rank in range(len(rows))]
    tops, bottoms, height = _bands(rows, sizes, [max((slot for _, slot in row.values()), default=0) for row in slots])
    boxes = {box: (centres[box] - sizes[box][0] / 2, tops[rank_of[box]]) for box in sizes}
    routes: dict[Edge, list[Point]] = {
        (box, other): _loop(boxes[box], sizes[box]) for box, other in wanted if box == other
    }
    for chain in chain_list:
        points: list[Point] = []
        for part, following in pairwise(chain.parts):
            rank = rank_of[part]
            x = lower[chain.edge, part]
            begin = tops[rank] + sizes[part][1] if part in sizes else tops[rank]
            points += [(x, begin), (x, bottoms[rank]), (upper[chain.edge, following], tops[rank_of[following]])]
        points = [point for point, following in pairwise(points) if point != following] + points[-1:]
        routes[chain.edge] = points[::-1] if chain.turned else points
    places = {
        edge: (x, bottoms[rank] + _slot_y(slot, tops[rank + 1] - bottoms[rank]))
        for rank, some in enumerate(slots)
        for edge, (x, slot) in some.items()
    }
    for box, width in looped.items():
        if width is not None:
            places[box, box] = boxes[box][0] + sizes[box][0] + _LOOP + width / 2, boxes[box][1] + sizes[box][1] / 2
    return _move_to_origin(sizes, boxes, routes, places, labels or {}, height)


def _move_to_origin(
    sizes: Mapping[str, tuple[float, float]],
    boxes: dict[str, Point],
    routes: dict[Edge, list[Point]],
    places: dict[Edge, Point],
    labels: Mapping[Edge, float],
    height: float,
) -> Layout:
    """Move all boxes, edges and labels sideways, so that the left end of the picture is at x = 0. Return the new
    layout."""
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
    """Choose where each edge touches its boxes. Return two dicts from (edge, box) to an x: `lower` for the edges at the
    bottom of a box, and `upper` for the edges at its top. The edges at one side of a box are in the order of the boxes
    at their other ends, so that they do not cross."""
    lower: dict[tuple[Edge, str], float] = {}
    upper: dict[tuple[Edge, str], float] = {}
    below: dict[str, list[tuple[float, int, Edge]]] = {}
    above: dict[str, list[tuple[float, int, Edge]]] = {}
    for number, chain in enumerate(chains):
        for box, other in pairwise(chain.parts):
            below.setdefault(box, []).append((centres[other], number, chain.edge))
            above.setdefault(other, []).append((centres[box], number, chain.edge))
    for ends, ports in ((below, lower), (above, upper)):
        for box, some in ends.items():
            step = min(_PORT, (widths[box] - 24) / max(1, len(some) - 1)) if len(some) > 1 else 0.0
            for place, (_, _, edge) in enumerate(sorted(some)):
                ports[edge, box] = centres[box] + step * (place - (len(some) - 1) / 2)
    return lower, upper


@dataclass(frozen=True, slots=True)
class _Line:
    """The part of an edge in the gap between two rows. `above` is the x of its upper end, and `below` is the x of its
    lower end. `width` is the width of the edge's label, or None if there is no label in this gap."""

    edge: Edge
    above: float
    below: float
    width: float | None

    def at(self, share: float) -> float:
        """Return the x of the line at the height `share` in the gap, from 0 (top) to 1 (bottom)."""
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
    """Divide edges into lines. A line is the part of an edge in the gap between two rows. Returns a dict from the rank
    of a row to the lines in the gap below that row.

    - `labels`: the width of each edge's label. The label belongs to the line at which the edge begins.
    - `lower`, `upper`: the x where an edge touches the bottom (`lower`) or the top (`upper`) of a box, by (edge, box)
    - `rank_of`: the rank of each box's row, from 0 at the top
    """
    lines: dict[int, list[_Line]] = {}
    for chain in chains:
        pairs = list(pairwise(chain.parts))
        for upper_box, lower_box in pairs:
            first = (upper_box, lower_box) == (pairs[-1] if chain.turned else pairs[0])
            width = labels.get(chain.edge) if first else None
            line = _Line(chain.edge, lower[chain.edge, upper_box], upper[chain.edge, lower_box], width)
            lines.setdefault(rank_of[upper_box], []).append(line)
    return lines


def _slots(lines: Sequence[_Line]) -> dict[Edge, tuple[float, int]]:
    """Place the labels in the gap between two rows. Returns a dict from edge to the (x, slot) of its label.

    Slots are horizontal strips of the gap, numbered from 1, top to bottom. Labels that would overlap get different
    slots. There are as few slots as possible, or up to two more if the labels then cover fewer lines of other edges.
    """
    labels = sorted((line for line in lines if line.width is not None), key=lambda line: line.at(0.5))
    if not labels:
        return {}
    best: tuple[int, dict[Edge, tuple[float, int]]] | None = None
    spare = 2
    for count in range(1, len(labels) + 1):
        placed = _place_labels(labels, lines, count)
        if placed is not None and (best is None or placed[0] < best[0]):
            best = placed
        if best is not None:
            spare -= 1
            if best[0] == 0 or spare < 0:
                break
    return best[1] if best else {label.edge: (label.at(0.5), number) for number, label in enumerate(labels, 1)}


def _place_labels(
    labels: Sequence[_Line], lines: Sequence[_Line], count: int
) -> tuple[int, dict[Edge, tuple[float, int]]] | None:
    """Try to place `labels` in `count` slots. Return (covered, places): `covered` counts how often a label covers the
    line of another edge, and `places` maps each edge to the (x, slot) of its label. Return None if a label fits into no
    slot, or if the last slot stays empty."""
    places: dict[Edge, tuple[float, int]] = {}
    ends = dict.fromkeys(range(1, count + 1), float("-inf"))
    crossed = 0
    for label in labels:
        half = (label.width or 0) / 2
        free: list[tuple[int, float, float, int, float]] = []
        for slot, end in ends.items():
            share = _slot_y(slot, _gap(count)) / _gap(count)
            for aside in (0.0, -max(0.0, half - _END), max(0.0, half - _END)):
                x = label.at(share) + aside
                if x - half >= end + 8:
                    over = sum(abs(line.at(share) - x) < half + 3 for line in lines if line is not label)
                    free.append((over, abs(aside), end, slot, x))
        if not free:
            return None
        over, _, _, slot, x = min(free)
        crossed += over
        ends[slot] = x + half
        places[label.edge] = x, slot
    return (crossed, places) if max(slot for _, slot in places.values()) == count else None


def _gap(slots: int) -> float:
    return _GAP_Y + _SLOT * max(0, slots - 1)


def _slot_y(slot: int, gap: float) -> float:
    """Return the y of the centre of a slot, measured from the top of its gap. A gap is the space between two rows. A
    slot is a horizontal strip of the gap, for labels. `slot` is the number of the strip, from 1 at the top. `gap` is
    the height of the gap."""
    count = max(1, round((gap - _GAP_Y) / _SLOT) + 1)
    return gap / 2 + _SLOT * (slot - (count + 1) / 2)


def _without_circles(sizes: Mapping[str, object], edges: Sequence[Edge], start: str) -> dict[Edge, Edge]:
    """Turn some edges around, so that the edges form no cycle. Return a dict from each edge to the edge to lay out. An
    edge that closes a cycle is mapped to the same edge in the opposite direction. Every other edge is mapped to
    itself."""
    after: dict[str, list[str]] = {box: [] for box in sizes}
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
            box, rest = stack[-1]
            other = next(rest, None)
            if other is None:
                stack.pop()
                above.discard(box)
                done.add(box)
            elif other in above:
                turned.add((box, other))
            elif other not in done:
                above.add(other)
                stack.append((other, iter(after[other])))
    return {edge: (edge[1], edge[0]) if edge in turned else edge for edge in edges}


def _ranks(sizes: Mapping[str, object], edges: Sequence[Edge]) -> dict[str, int]:
    """Map each box to the length of the longest path that leads to it."""
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
    for box, rank in ranks.items():
        rows[rank].append(box)
    widths = {box: width for box, (width, _) in sizes.items()}
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
    """Sort the boxes of each row by the mean position of the boxes linked to them, so that few edges cross."""
    above, below = _neighbours(links)
    for sweep in range(_SWEEPS):
        hang = above if sweep % 2 == 0 else below
        for row in rows if sweep % 2 == 0 else reversed(rows):
            place = {one: float(number) for row_ in rows for number, one in enumerate(row_)}

            def middle(box: str, hang: dict[str, list[str]] = hang, place: dict[str, float] = place) -> float:
                places = [place[other] for other in hang.get(box, [])]
                return sum(places) / len(places) if places else place[box]

            row.sort(key=middle)


def _spread(rows: Sequence[Sequence[str]], links: Sequence[Edge], widths: Mapping[str, float]) -> dict[str, float]:
    """Return the x of each box's centre. A box is near its neighbours in other rows, and does not overlap other boxes
    of its row."""
    above, below = _neighbours(links)
    centres: dict[str, float] = {}
    for row in rows:
        offsets = _offsets(row, widths)
        for box, offset in zip(row, offsets, strict=True):
            centres[box] = offset - offsets[-1] / 2
    for sweep in range(2 * _SWEEPS):
        down = sweep % 2 == 0
        both = sweep >= _SWEEPS  # first one direction at a time, then the mean of all neighbours
        for row in rows if down else reversed(rows):
            hang = [
                [
                    centres[other]
                    for other in (
                        *(above.get(box, ()) if both or down else ()),
                        *(below.get(box, ()) if both or not down else ()),
                    )
                ]
                for box in row
            ]
            wished = [sum(found) / len(found) if found else centres[box] for box, found in zip(row, hang, strict=True)]
            centres.update(zip(row, _apart(wished, _offsets(row, widths)), strict=True))
    return centres


def _offsets(row: Sequence[str], widths: Mapping[str, float]) -> list[float]:
    """Return the distance of each box's centre from the centre of the first box, when the boxes of the row are as close
    together as allowed."""
    offsets = [0.0]
    for a, b in pairwise(row):
        offsets.append(offsets[-1] + widths[a] / 2 + _GAP_X + widths[b] / 2)
    return offsets


def _apart(wished: Sequence[float], offsets: Sequence[float]) -> list[float]:
    """Return the x of each box of a row, as near as possible to the x in `wished`. `offsets` is what `_offsets` returns
    for the row. Boxes that would be too close to each other are placed side by side, and move as one block."""
    blocks: list[tuple[float, int]] = []
    for wish, offset in zip(wished, offsets, strict=True):
        total, count = wish - offset, 1
        while blocks and blocks[-1][0] / blocks[-1][1] > total / count:
            before, several = blocks.pop()
            total, count = total + before, count + several
        blocks.append((total, count))
    flat = [total / count for total, count in blocks for _ in range(count)]
    return [place + offset for place, offset in zip(flat, offsets, strict=True)]


def _bands(
    rows: Sequence[Sequence[str]], sizes: Mapping[str, tuple[float, float]], slots: Sequence[int]
) -> tuple[list[float], list[float], float]:
    """Return (the y of each row's top, the y of each row's bottom, the total height). Labels are in the gap below a
    row, in horizontal strips that are called slots. For each row, `slots` has the number of these strips."""
    tops, bottoms, y = [], [], 0.0
    for row, count in zip(rows, slots, strict=True):
        tops.append(y)
        bottoms.append(y + max((sizes[box][1] for box in row if box in sizes), default=0.0))
        y = bottoms[-1] + _gap(count)
    return tops, bottoms, bottoms[-1]


def _loop(corner: Point, size: tuple[float, float]) -> list[Point]:
    """Return the points of an edge that leads from a box to itself, on the right side of the box."""
    x, y = corner[0] + size[0], corner[1] + size[1] / 2
    return [(x, y - 8), (x + _LOOP - 4, y - 8), (x + _LOOP - 4, y + 8), (x, y + 8)]
