"""Make a change only once for each request id. The answer is stored under the id, in the same transaction as the
change."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import orjson

from ostinato.errors import Conflict
from ostinato.store.contract import Operation, Store, sql
from ostinato.when.instants import Micros

T = TypeVar("T")
# A dataclass may hold derived values; `_as_json` leaves them out.
_PLAIN = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS


def call_id() -> str:
    """Return a request id for a call that has none. If the transaction of the call is committed but its answer is lost,
    the retry finds the commit by this id."""
    return secrets.token_hex(16)


def digest(*asked: Any) -> str:
    """Return a short digest of a call's arguments. If two calls have the same request id and different digests, the id
    was used again for another call."""
    try:
        written = orjson.dumps(asked, default=_as_json, option=_PLAIN)
    except TypeError:  # the call refuses it later, with a better error
        written = repr(asked).encode("utf-8", "replace")
    return hashlib.sha256(written).hexdigest()[:32]


def _as_json(value: Any) -> Any:
    """Return a value in a form that is the same in every process. A function is written as its name, because its repr
    contains its address in memory."""
    return value.to_json() if hasattr(value, "to_json") else getattr(value, "__qualname__", None) or repr(value)


async def run_once(
    store: Store, namespace: str, request: str | None, what: str, now: Micros, work: Callable[[], Operation[T]]
) -> T:
    """Make a change in one transaction, and return its answer. The change is made only once, even if the store retries
    the transaction. If several calls have the same id in `request`, only the first makes the change. The others get its
    answer.

    `work` is called for each try of the transaction, and returns a new operation. The answer must be JSON. Raises
    `Conflict` if the request id was used for another call; `what` identifies the call.
    """
    id = request or call_id()
    return await store.run(lambda _: once(namespace, id, what, now, work()))


def once(namespace: str, request: str, what: str, now: Micros, work: Operation[T]) -> Operation[T]:
    """Do the work and store its answer, which must be JSON. If the same request was done before, return its stored
    answer instead. Raises `Conflict` if the request id was used for another call; `what` identifies the call."""
    if (yield from _enter(namespace, request, what, now)):
        answer = yield from work
        yield sql("answer_request", namespace=namespace, id=request, answer=orjson.dumps(answer).decode())
        return answer
    answer = yield from find_answer(namespace, request, what)
    return answer


def begin(namespace: str, request: str, what: str, now: Micros) -> Operation[Any]:
    """Begin a request that takes several transactions. Returns the stored answer, or None if the work is still to be
    done. Raises `Conflict` if the request id was used for another call."""
    if (yield from _enter(namespace, request, what, now)):
        return None
    return (yield from find_answer(namespace, request, what))


def finish(namespace: str, request: str, what: str, answer: Any) -> Operation[Any]:
    """End a request that takes several transactions: store the answer, unless one is stored already. Returns the stored
    answer. Raises `Conflict` if the request id was used for another call."""
    yield sql("answer_request", namespace=namespace, id=request, answer=orjson.dumps(answer).decode())
    stored = yield from find_answer(namespace, request, what)
    return answer if stored is None else stored


class Unkept(Generic[T]):
    """A call that takes effect only once, even if the store retries its transaction.

    Create one object for each call. In each try of the transaction, execute `once` with a new operation. If an earlier
    try was committed, `once` only returns the earlier answer. The answer is not stored, so it need not be JSON.
    """

    def __init__(self, namespace: str, verb: str, now: Micros) -> None:
        self._request = (namespace, call_id(), verb, now)
        self._answers: list[T] = []

    def once(self, work: Operation[T]) -> Operation[T]:
        if not (yield from _enter(*self._request)):
            return self._answers[-1]  # the try before was committed, although the answer of its commit was lost
        answer = yield from work
        self._answers.append(answer)
        return answer


def _enter(namespace: str, request: str, what: str, now: Micros) -> Operation[bool]:
    """Record a request. Returns whether it is new."""
    return bool((yield sql("make_request", [(namespace, request, now, what)])))


def find_answer(namespace: str, request: str, what: str) -> Operation[Any]:
    """Return the answer of a request, or None if it has none. Raises `Conflict` if the request id was used for another
    call."""
    rows = yield sql("request", namespace=namespace, id=request)
    if rows and rows[0][0] != what:
        raise Conflict(f"the request id {request!r} was used for another call; take a new one")
    return None if not rows or rows[0][1] is None else orjson.loads(rows[0][1])
