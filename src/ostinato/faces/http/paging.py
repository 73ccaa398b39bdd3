"""Pages. Each list has a bounded size and a cursor: `next` of one page is `after` or `before` of the next."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, TypeVar

from fastapi import Query

from ostinato.faces.http.shapes.common import NO_NUL

T = TypeVar("T")
K = TypeVar("K", int, str)
Limit = Annotated[int, Query(ge=1, le=1000, description="At most so many.")]
After = Annotated[str | None, Query(max_length=512, pattern=NO_NUL, description="`next` of the page before.")]
Before = Annotated[str | None, Query(max_length=600, pattern=NO_NUL, description="`next` of the page before.")]
AfterNumber = Annotated[int | None, Query(ge=0, le=1 << 62, description="`next` of the page before.")]


def page(found: Iterable[T], key: Callable[[T], K], after: K | None, limit: int) -> tuple[list[T], K | None]:
    """A page of what is few enough to be held whole, in the order of its keys, and the cursor of the next."""
    rest = sorted((one for one in found if after is None or key(one) > after), key=key)
    return rest[:limit], key(rest[limit - 1]) if len(rest) > limit else None
