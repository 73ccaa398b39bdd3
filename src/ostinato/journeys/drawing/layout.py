"""Where the boxes of a graph go: in layers, from top to bottom, so that what leads to a box stands above it where that
can be. An edge over several layers has a place in each of them, so that it passes between the boxes. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

Edge = tuple[str, str]
Point = tuple[float, float]
_GAP_X, _GAP_Y = 30.0, 64.0
_THIN = 14.0  # the room of an edge that passes through a layer
_SWEEPS = 12


@dataclass(frozen=True, slots=True)
class Layout:
    """The upper left corner of each box, the points of each edge from its first box to its second, and the whole."""

    boxes: Mapping[str, Point]
    edges: Mapping[Edge, Sequence[Point]]
    width: float
    height: float


def layered(sizes: Mapping[str, tuple[float, float]], edges: Iterable[Edge], start: str) -> Layout:
    wanted = list(dict.fromkeys(edges))
    forward = _without_circles(sizes, wanted, start)
    ranks = _ranks(sizes, [edge for edge in forward.values() if edge[0] != edge[1]])
    rows, chains, widths = _rows(sizes, forward, ranks)
    links = [(a, b) for chain in chains.values() for a, b in pairwise(chain)]
    _order(rows, links)
    centres = _spread(rows, links, widths)
    tops, height = _tops(rows, sizes)
    rank_of = {one: number for number, row in enumerate(rows) for one in row}
    boxes = {one: (centres[one] - sizes[one][0] / 2, tops[rank_of[one]]) for one in sizes}
    routes: dict[Edge, list[Point]] = {}
    for edge in wanted:
        if edge[0] == edge[1]:
            routes[edge] = _loop(boxes[edge[0]], sizes[edge[0]])
            continue
        chain = chains[edge]
        points: list[Point] = []
        for number, one in enumerate(chain):
            top = tops[rank_of[one]]
            tall = sizes[one][1] if one in sizes else _tallest(rows[rank_of[one]], sizes)
            points += [(centres[one], top)] if number else []
            points += [(centres[one], top + tall)] if number < len(chain) - 1 else []
        routes[edge] = points if forward[edge] == edge else points[::-1]
    left = min(x for x, _ in boxes.values())
    for points in routes.values():
        left = min(left, *(x for x, _ in points))
    boxes = {one: (x - left, y) for one, (x, y) in boxes.items()}
    routes = {edge: [(x - left, y) for x, y in points] for edge, points in routes.items()}
    right = max([x + sizes[one][0] for one, (x, _) in boxes.items()] + [x for r in routes.values() for x, _ in r])
    return Layout(boxes, routes, right, height)


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
    for sweep in range(_SWEEPS):
        for row in rows if sweep % 2 == 0 else reversed(rows):
            hang = [
                [centres[other] for other in (above.get(one, []) if sweep % 2 == 0 else below.get(one, []))]
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


def _tops(rows: Sequence[Sequence[str]], sizes: Mapping[str, tuple[float, float]]) -> tuple[list[float], float]:
    tops, y = [], 0.0
    for row in rows:
        tops.append(y)
        y += _tallest(row, sizes) + _GAP_Y
    return tops, y - _GAP_Y


def _loop(corner: Point, size: tuple[float, float]) -> list[Point]:
    """From a box to itself: out on its right side and back."""
    x, y = corner[0] + size[0], corner[1] + size[1] / 2
    return [(x, y - 8), (x + 18, y - 8), (x + 18, y + 8), (x, y + 8)]
