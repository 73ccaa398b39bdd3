"""Doing a thing once, however often it is asked for: the answer is kept, in the same transaction, under the id that the
caller gave to the request."""

from __future__ import annotations

from typing import Any, TypeVar

import orjson

from ostinato.errors import Conflict
from ostinato.store.contract import Operation, sql
from ostinato.when.instants import Micros

T = TypeVar("T")


def once(namespace: str, request: str, what: str, now: Micros, work: Operation[T]) -> Operation[T]:
    """Do it, unless the same request was done before: then the answer of that time comes back. `what` tells one call
    from another, so that an id used twice by mistake is noticed. Answers are JSON."""
    made = yield sql("make_request", [(namespace, request, now, what)])
    if not made:
        rows = yield sql("request", namespace=namespace, id=request)
        if rows and rows[0][0] != what:
            raise Conflict(f"the request id {request!r} was used for another call; take a new one")
        found: Any = None if not rows or rows[0][1] is None else orjson.loads(rows[0][1])
        return found  # type: ignore[no-any-return]
    answer = yield from work
    yield sql("answer_request", namespace=namespace, id=request, answer=orjson.dumps(answer).decode())
    return answer
