"""Doing a thing once, however often it is asked for: the answer is kept, in the same transaction, under the id that the
caller gave to the request."""

from __future__ import annotations

import hashlib
import secrets
from typing import Any, Generic, TypeVar

import orjson

from ostinato.errors import Conflict
from ostinato.store.contract import Operation, sql
from ostinato.when.instants import Micros

T = TypeVar("T")
# A dataclass may hold what it has worked out since it was made; `_told` says what it means.
_PLAIN = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS


def call_id() -> str:
    """An id for a call that was made without one: it tells its own earlier tries from the calls of others."""
    return secrets.token_hex(16)


def digest(*asked: Any) -> str:
    """What a call asks for, short: so that a request id that comes with something else is noticed."""
    try:
        told = orjson.dumps(asked, default=_told, option=_PLAIN)
    except TypeError:  # it is refused later, by someone who knows what it was to be
        told = repr(asked).encode("utf-8", "replace")
    return hashlib.sha256(told).hexdigest()[:32]


def _told(value: Any) -> Any:
    """The same in every process: no repr that shows an address."""
    return value.to_json() if hasattr(value, "to_json") else getattr(value, "__qualname__", None) or repr(value)


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


def begin(namespace: str, request: str, what: str, now: Micros) -> Operation[Any]:
    """For work of many transactions: the answer, if it was given before; None if there is something left to do."""
    made = yield sql("make_request", [(namespace, request, now, what)])
    rows = [] if made else (yield sql("request", namespace=namespace, id=request))
    if rows and rows[0][0] != what:
        raise Conflict(f"the request id {request!r} was used for another call; take a new one")
    return None if not rows or rows[0][1] is None else orjson.loads(rows[0][1])


def finish(namespace: str, request: str, answer: Any) -> Operation[Any]:
    """Keep the answer, and return the one that is kept: of several callers with the same id the first one's."""
    yield sql("answer_request", namespace=namespace, id=request, answer=orjson.dumps(answer).decode())
    rows = yield sql("request", namespace=namespace, id=request)
    return answer if not rows or rows[0][1] is None else orjson.loads(rows[0][1])


class Unkept(Generic[T]):
    """A call whose answer is not JSON, and so is not kept: done once all the same, however often the store has to try.
    Make one for each call, and an operation of it for each try."""

    def __init__(self, namespace: str, verb: str, now: Micros) -> None:
        self._row = (namespace, call_id(), now, verb)
        self._answers: list[T] = []

    def once(self, work: Operation[T]) -> Operation[T]:
        if not (yield sql("make_request", [self._row])):
            return self._answers[-1]  # of the try before, which was committed and could not say so
        answer = yield from work
        self._answers.append(answer)
        return answer
