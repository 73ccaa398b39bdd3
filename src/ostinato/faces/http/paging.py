"""Pages. Each list has a bounded size and a cursor: `next` of one page is `after` or `before` of the next. A page that
has become large ends early: it has a cursor all the same."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Annotated, TypeVar

import orjson
from fastapi import Query, Response
from pydantic import BaseModel

from ostinato.faces.door import Who
from ostinato.faces.http.shapes.common import NO_NUL

T = TypeVar("T")
K = TypeVar("K", int, str)
Limit = Annotated[int, Query(ge=1, le=1000, description="The size of a page.")]
After = Annotated[str | None, Query(max_length=512, pattern=NO_NUL, description="`next` of the page before.")]
Before = Annotated[str | None, Query(max_length=600, pattern=NO_NUL, description="`next` of the page before.")]
AfterNumber = Annotated[int | None, Query(ge=0, le=1 << 62, description="`next` of the page before.")]


STEP = 32  # items that are read at once: each may hold a MiB of input and one of result
LARGEST_PAGE = 4 << 20  # bytes after which a page ends


async def listing(
    who: Who,
    cursor: K | None,
    limit: int,
    fetch: Callable[[K | None, int], Awaitable[Sequence[T]]],
    key: Callable[[T], K],
    show: Callable[[Sequence[T]], Awaitable[Iterable[BaseModel]]],
) -> Response:
    """A page as JSON, `{"items": […], "next": …}`, read a few items at a time and written one by one, with pauses for
    everyone else. `fetch` gives so many items after a cursor, `show` what the caller may see of them."""
    items: list[bytes] = []
    size = count = 0
    following: K | None = None
    while count < limit:
        wanted = min(STEP, limit - count)
        found = await fetch(cursor, wanted)
        count += len(found)
        written = (one.model_dump_json().encode() for one in await show(found))
        some = await who.app.computing.each(who.namespace, written)
        items += some
        size += sum(map(len, some))
        following = cursor = key(found[-1]) if len(found) == wanted else None
        if cursor is None or size > LARGEST_PAGE:
            break
    body = b'{"items":[%s],"next":%s}' % (b",".join(items), orjson.dumps(following))
    return Response(body, media_type="application/json")


def page(found: Iterable[T], key: Callable[[T], K], after: K | None, limit: int) -> tuple[list[T], K | None]:
    """A page of what is few enough to be held whole, in the order of its keys, and the cursor of the next."""
    rest = sorted((one for one in found if after is None or key(one) > after), key=key)
    return rest[:limit], key(rest[limit - 1]) if len(rest) > limit else None
