"""Pages. Each list has a bounded size and a cursor: `next` of one page is `after` or `before` of the next. A page that
has become large ends early: it has a cursor all the same."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from typing import Annotated, TypeVar

import orjson
from fastapi import Query, Response
from pydantic import BaseModel

from ostinato.faces.door import Who
from ostinato.faces.http.shapes.common import NO_NUL, RUN_CURSOR

T = TypeVar("T")
K = TypeVar("K", int, str)
Limit = Annotated[int, Query(ge=1, le=1000, description="The size of a page.")]
After = Annotated[str | None, Query(max_length=512, pattern=NO_NUL, description="`next` of the page before.")]
Before = Annotated[str | None, Query(max_length=600, pattern=NO_NUL, description="`next` of the page before.")]
BeforeRun = Annotated[
    str | None,
    Query(max_length=64, pattern=RUN_CURSOR, description="`next` of the page before."),
]
AfterNumber = Annotated[int | None, Query(ge=0, le=1 << 62, description="`next` of the page before.")]


STEP = 16  # items that are read at once: each may hold a MiB of input and one of result
LARGEST_PAGE = 4 << 20  # bytes after which a page ends


async def listing(
    who: Who,
    cursor: K | None,
    limit: int,
    fetch: Callable[[K | None, int], Awaitable[Sequence[T]]],
    key: Callable[[T], K],
    show: Callable[[T], BaseModel],
    visible: Callable[[Sequence[T]], Awaitable[Sequence[T]]] | None = None,
) -> Response:
    """A page as JSON, `{"items": […], "next": …}`, read a few items at a time and written one by one, with pauses for
    everyone else. `fetch` gives so many items after a cursor, `visible` those of them that the caller may see."""
    items: list[bytes] = []
    size = count = 0
    while count < limit:
        wanted = min(STEP, limit - count)
        found = await fetch(cursor, wanted)
        count += len(found)
        seen = found if visible is None else await visible(found)
        cursor = key(found[-1]) if len(found) == wanted else None
        room = LARGEST_PAGE - size
        written = await who.app.computing.each(who.namespace, _written(seen, show, room))
        items += written
        size += sum(map(len, written))
        if len(written) < len(seen):  # it has become large
            cursor = key(seen[len(written) - 1])
            break
        if cursor is None or size > LARGEST_PAGE:
            break
    body = b'{"items":[%s],"next":%s}' % (b",".join(items), orjson.dumps(cursor))
    return Response(body, media_type="application/json")


def _written(items: Sequence[T], show: Callable[[T], BaseModel], room: int) -> Iterator[bytes]:
    """Each as JSON, until there is no more room; the first in any case."""
    for one in items:
        text = show(one).model_dump_json().encode()
        yield text
        room -= len(text)
        if room < 0:
            return


def page(found: Iterable[T], key: Callable[[T], K], after: K | None, limit: int) -> tuple[list[T], K | None]:
    """A page of what is few enough to be held whole, in the order of its keys, and the cursor of the next."""
    rest = sorted((one for one in found if after is None or key(one) > after), key=key)
    return rest[:limit], key(rest[limit - 1]) if len(rest) > limit else None
