"""What several indexes have in common, a page at a time: how a list with more than one filter is read.

Each source is a statement that gives the keys of one index in order, from a place on. The sources are read in turn, and
each begins where the others can still agree: so a filter that few pass makes all of them short, whichever it is, and no
statement is needed for each combination of filters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

from ostinato.store.contract import Operation, Statement

T = TypeVar("T")
# Up to :limit keys of an index from :start on, without :skip.
Source: TypeAlias = Callable[[str, str, int], Statement]
# What belongs to these keys, in their order; what does not fit after all, or is gone by now, is left out.
Fetch: TypeAlias = Callable[[list[str]], Operation[list[T]]]
_PAGE = 200


def crossing(
    sources: Sequence[Source], start: str, skip: str, limit: int, *, down: bool = False
) -> Operation[list[str]]:
    """The first keys from `start` on, without `skip`, that every source has. `down`: from the highest to the lowest.
    Fewer than `limit` of them are the last."""
    if len(sources) == 1:
        return [row[0] for row in (yield sources[0](start, skip, limit))]
    further, nearer = (min, max) if down else (max, min)
    found: list[str] = []
    while True:
        pages: list[list[str]] = []
        for source in sources:
            page = [row[0] for row in (yield source(start, skip, _PAGE))]
            if not page:
                return found
            start = further(start, page[0])
            pages.append(page)
        found += sorted(set(pages[0]).intersection(*pages[1:]), reverse=down)
        ends = [page[-1] for page in pages if len(page) == _PAGE]
        if len(found) >= limit or not ends:
            return found[:limit]
        # Up to here every source was read; where each goes on beyond it, the furthest is the first they can share.
        start = skip = nearer(ends)
        for page in pages:
            beyond = (key for key in page if key != skip and further(key, skip) == key)
            start = further(start, next(beyond, start))


def crossed(
    sources: Sequence[Source], fetch: Fetch[T], start: str, skip: str, limit: int, *, down: bool = False
) -> Operation[list[T]]:
    """What belongs to the keys that every source has. Fewer than `limit` are the last, however many were left out."""
    found: list[T] = []
    size = limit
    while True:
        keys = yield from crossing(sources, start, skip, size, down=down)
        if keys:
            found += yield from fetch(keys)
        if len(keys) < size or len(found) >= limit:
            return found[:limit]
        start = skip = keys[-1]
        size = max(limit - len(found), _PAGE)
