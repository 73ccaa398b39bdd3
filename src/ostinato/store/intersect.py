"""Read a page of a list to which several filters apply, by intersecting the keys of their indexes.

A source reads the keys of one index in order, from a start key. Keys that cannot be in all sources are skipped, so a
filter with few matches shortens all reads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

from ostinato.store.contract import Operation, Statement

T = TypeVar("T")
# Called with (start, skip, limit). Returns the statement for up to `limit` keys of an index from `start` on, without
# the key `skip`.
RowSource: TypeAlias = Callable[[str, str, int], Statement]
# Returns the values for these keys, in order. It may leave out keys that do not match or do not exist any more.
Fetch: TypeAlias = Callable[[list[str]], Operation[list[T]]]
_PAGE = 200


def intersect_keys(
    sources: Sequence[RowSource], start: str, skip: str, limit: int, *, down: bool = False
) -> Operation[list[str]]:
    """Return up to `limit` keys that all sources have. The keys begin at `start` and ascend; if `down` is true, they
    descend. The key `skip` is left out. If the result has fewer than `limit` keys, there are no more."""
    if len(sources) == 1:
        return [row[0] for row in (yield sources[0](start, skip, limit))]
    further, nearer = (min, max) if down else (max, min)
    common: list[str] = []
    while True:
        pages: list[list[str]] = []
        for source in sources:
            page = [row[0] for row in (yield source(start, skip, _PAGE))]
            if not page:
                return common
            start = further(start, page[0])
            pages.append(page)
        common += sorted(set(pages[0]).intersection(*pages[1:]), reverse=down)
        ends = [page[-1] for page in pages if len(page) == _PAGE]
        if len(common) >= limit or not ends:
            return common[:limit]
        # Every source was read up to this key. Each source has a next key; a common key cannot come before the
        # furthest of these.
        start = skip = nearer(ends)
        for page in pages:
            beyond = (key for key in page if key != skip and further(key, skip) == key)
            start = further(start, next(beyond, start))


def intersect_rows(
    sources: Sequence[RowSource], fetch: Fetch[T], start: str, skip: str, limit: int, *, down: bool = False
) -> Operation[list[T]]:
    """Call `fetch` with the keys that every source has, and return up to `limit` of the values that `fetch` returns. If
    the result has fewer than `limit` values, there are no more. The other arguments are those of `intersect_keys`."""
    values: list[T] = []
    size = limit
    while True:
        keys = yield from intersect_keys(sources, start, skip, size, down=down)
        if keys:
            values += yield from fetch(keys)
        if len(keys) < size or len(values) >= limit:
            return values[:limit]
        start = skip = keys[-1]
        size = max(limit - len(values), _PAGE)
