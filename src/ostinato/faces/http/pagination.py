"""Write lists in HTTP answers as pages.

A page has at most `limit` items, and ends early if the items are large. To get the next page, pass the cursor in `next`
as `after` or `before`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from typing import Annotated, TypeVar

import orjson
from pydantic import BaseModel

from ostinato.faces.auth import Who
from ostinato.faces.http.routing import HttpAnswer, Query
from ostinato.faces.http.shapes.common import NO_NUL, RUN_CURSOR
from ostinato.faces.http.validation_errors import LARGEST_LIMIT

T = TypeVar("T")
K = TypeVar("K", int, str)
Limit = Annotated[int, Query(ge=1, le=LARGEST_LIMIT, description="The size of a page.")]
After = Annotated[str | None, Query(max_length=512, pattern=NO_NUL, description="`next` of the page before.")]
Before = Annotated[str | None, Query(max_length=600, pattern=NO_NUL, description="`next` of the page before.")]
BeforeRun = Annotated[str | None, Query(max_length=64, pattern=RUN_CURSOR, description="`next` of the page before.")]
AfterNumber = Annotated[int | None, Query(ge=0, le=1 << 62, description="`next` of the page before.")]


STEP = 16  # items that are read at once: each may hold a MiB of input and one of result
LARGEST_PAGE = 4 << 20  # bytes after which a page ends


async def list_after(
    who: Who,
    after: str | None,
    limit: int,
    fetch: Callable[..., Awaitable[Sequence[T]]],
    key: Callable[[T], str],
    show: Callable[[T], BaseModel],
    visible: Callable[[Sequence[T]], Awaitable[Sequence[T]]] | None = None,
) -> HttpAnswer:
    """Return the page after the cursor `after`, in the same form as `listing`. `fetch` is called with the keywords
    `after` ("" for the first page) and `limit`. The other arguments are those of `listing`."""
    return await listing(who, after, limit, lambda after, n: fetch(after=after or "", limit=n), key, show, visible)


async def list_before(
    who: Who,
    before: str | None,
    limit: int,
    fetch: Callable[..., Awaitable[Sequence[T]]],
    key: Callable[[T], str],
    show: Callable[[T], BaseModel],
    visible: Callable[[Sequence[T]], Awaitable[Sequence[T]]] | None = None,
) -> HttpAnswer:
    """Return the page before the cursor `before`, in the same form as `listing`. `fetch` is called with the keywords
    `before` (None for the first page) and `limit`. The other arguments are those of `listing`."""
    return await listing(who, before, limit, lambda before, n: fetch(before=before, limit=n), key, show, visible)


async def listing(
    who: Who,
    cursor: K | None,
    limit: int,
    fetch: Callable[[K | None, int], Awaitable[Sequence[T]]],
    key: Callable[[T], K],
    show: Callable[[T], BaseModel],
    visible: Callable[[Sequence[T]], Awaitable[Sequence[T]]] | None = None,
) -> HttpAnswer:
    """Return a page as JSON, `{"items": […], "next": …}`.

    - `fetch`: gets a cursor and a number, and returns at most that number of items after the cursor
    - `key`: returns the cursor of an item
    - `show`: returns the model that is written for an item
    - `visible`: returns those of the given items that the caller may see; None means that the caller may see all

    Items are read a few at a time and written one by one, so that other requests are handled in between.
    """
    items: list[bytes] = []
    size = count = 0
    while count < limit:
        wanted = min(STEP, limit - count)
        fetched = await fetch(cursor, wanted)
        count += len(fetched)
        visible_items = fetched if visible is None else await visible(fetched)
        cursor = key(fetched[-1]) if len(fetched) == wanted else None
        room = LARGEST_PAGE - size
        written = await who.app.computing.each(who.namespace, _write_items(visible_items, show, room))
        items += written
        size += sum(map(len, written))
        if len(written) < len(visible_items):  # the page has become too large
            cursor = key(visible_items[len(written) - 1])
            break
        if cursor is None or size > LARGEST_PAGE:
            break
    return HttpAnswer(b'{"items":[%s],"next":%s}' % (b",".join(items), orjson.dumps(cursor)))


def _write_items(items: Sequence[T], show: Callable[[T], BaseModel], room: int) -> Iterator[bytes]:
    """Yield items as JSON until their size exceeds `room`. The first item is always written."""
    for item in items:
        text = show(item).model_dump_json().encode()
        yield text
        room -= len(text)
        if room < 0:
            return


def page(items: Iterable[T], key: Callable[[T], K], after: K | None, limit: int) -> tuple[list[T], K | None]:
    """Return a page of a short list, and the cursor of the next page. The page has the first `limit` items whose key is
    greater than `after`, ordered by key. The cursor is the key of the last item on the page, or None if no items
    follow."""
    rest = sorted((one for one in items if after is None or key(one) > after), key=key)
    return rest[:limit], key(rest[limit - 1]) if len(rest) > limit else None


def numbered_page(items: Sequence[T], after: int | None, limit: int) -> tuple[Sequence[T], int | None]:
    """Return a page of a short list, and the cursor of the next page. The page leaves out the first `after` items, and
    has at most `limit` items. The cursor is the number of items up to the end of the page, or None if no items
    follow."""
    end = (after or 0) + limit
    return items[end - limit : end], end if len(items) > end else None
