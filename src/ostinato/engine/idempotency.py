"""Make a change only once for each request id. The answer to the request is stored under its id, in the same
transaction as the change."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import orjson

from ostinato.errors import ArgumentError, Conflict, is_text, short_repr
from ostinato.store.contract import Operation, Store, sql
from ostinato.when.instants import Micros

T = TypeVar("T")
_LONGEST = 1000  # characters of a request id
# A dataclass may hold derived values; `_as_json` leaves them out.
_PLAIN = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS


def call_id() -> str:
    """Return a new request id for a call that has none. If the reply to a commit is lost, the retry sees by this id
    that the change was already made."""
    return secrets.token_hex(16)


def check_request_id(request: object) -> None:
    """Raise `ArgumentError` if a request id is neither None nor a text of 1 to 1,000 characters."""
    if request is not None and (not is_text(request) or len(str(request)) > _LONGEST):
        raise ArgumentError(
            f"request_id {short_repr(request)} is not a text of 1 to {_LONGEST:,} characters", "request_id"
        )


def digest(*asked: Any) -> str:
    """Return a short digest of a call's arguments. All calls with one request id must have the same digest."""
    try:
        written = orjson.dumps(asked, default=_as_json, option=_PLAIN)
    except TypeError:  # the call refuses it later, with a better error
        written = repr(asked).encode("utf-8", "replace")
    return hashlib.sha256(written).hexdigest()[:32]


def _as_json(value: Any) -> Any:
    """Return a JSON value for `value`, which is not JSON. Equal values give the same result in every process. For
    example, a function is represented by its name, because its repr contains a memory address."""
    return value.to_json() if hasattr(value, "to_json") else getattr(value, "__qualname__", None) or repr(value)


async def run_once(
    store: Store, namespace: str, request: str | None, what: str, now: Micros, work: Callable[[], Operation[T]]
) -> T:
    """Make a change in one transaction, and return its answer. If several calls have the same id in `request`, only the
    first call makes the change, and the others return the answer of the first. If `request` is None, the change is
    always made.

    - `what`: a text that identifies the call. Calls with the same request id must have the same text.
    - `work`: returns an operation that makes the change and returns the answer, which must be JSON. `work` is called
      for each try of the transaction, and must return a new operation each time.

    Raises `Conflict` if the request id was used for another call. Raises `ArgumentError` if the request id is not a
    text of 1 to 1,000 characters.
    """
    check_request_id(request)
    id = call_id() if request is None else request
    return await store.run(lambda _: once(namespace, id, what, now, work()))


def once(namespace: str, request: str, what: str, now: Micros, work: Operation[T]) -> Operation[T]:
    """Execute `work` and store its answer, which must be JSON. If this request was made before, return the stored
    answer instead. `what` identifies the call. Raises `Conflict` if the request id was used for another call."""
    if (yield from _enter(namespace, request, what, now)):
        answer = yield from work
        yield sql("answer_request", namespace=namespace, id=request, answer=orjson.dumps(answer).decode())
        return answer
    answer = yield from find_answer(namespace, request, what)
    return answer


def begin(namespace: str, request: str, what: str, now: Micros) -> Operation[Any]:
    """Begin a request that takes several transactions. Returns the stored answer, or None if there is no answer yet and
    the work must be done. Raises `Conflict` if the request id was used for another call."""
    if (yield from _enter(namespace, request, what, now)):
        return None
    return (yield from find_answer(namespace, request, what))


def finish(namespace: str, request: str, what: str, answer: Any) -> Operation[Any]:
    """End a request that takes several transactions. If no answer is stored yet, stores `answer`. Returns the stored
    answer. Raises `Conflict` if the request id was used for another call."""
    yield sql("answer_request", namespace=namespace, id=request, answer=orjson.dumps(answer).decode())
    stored = yield from find_answer(namespace, request, what)
    return answer if stored is None else stored


class Unkept(Generic[T]):
    """A change that is made only once, even if the store retries its transaction. Unlike with `run_once`, the answer is
    kept only in memory, so it need not be JSON.

    Create one object for each change. In each try of the transaction, execute `once` with a new operation `work`. If an
    earlier try was committed, `once` does not execute `work`, and returns the answer of the earlier try.
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
    """Record a request, with the text `what` that identifies the call. Returns False if the request id was recorded
    before."""
    return bool((yield sql("make_request", [(namespace, request, now, what)])))


def find_answer(namespace: str, request: str, what: str) -> Operation[Any]:
    """Return the stored answer of a request, or None if no answer is stored. Raises `Conflict` if the request id was
    used for another call."""
    rows = yield sql("request", namespace=namespace, id=request)
    if rows and rows[0][0] != what:
        raise Conflict(f"the request id {request!r} was used for another call; take a new one")
    return None if not rows or rows[0][1] is None else orjson.loads(rows[0][1])
