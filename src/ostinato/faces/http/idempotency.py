"""Make a change only once for each value of the header Idempotency-Key. The change may consist of several
transactions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

from pydantic import BaseModel

from ostinato.app import Ostinato
from ostinato.engine.idempotency import begin, digest, finish
from ostinato.faces.http.routing import Header

Answer = TypeVar("Answer", bound=BaseModel)

Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        description="For a day, a repeated request with the same key is not executed again; it gets the first answer.",
    ),
]


async def answer_once(
    app: Ostinato, key: str | None, what: str, shape: type[Answer], work: Callable[[], Awaitable[object]]
) -> Answer:
    """Do `work`, store its result under `key`, and return the result as an object of the class `shape`. `what`
    describes the request. Raises `Conflict` if `key` was used for another request.

    - If a result is already stored under `key`, return that result without doing `work`.
    - If `key` is None, always do `work`, and store nothing.

    If the process crashes before the result is stored, a retry does `work` again. So each part of `work` must be
    idempotent.
    """
    if key is None:
        return shape.model_validate(await work())
    now = app.engine.clock.now()
    before = await app.store.run(lambda _: begin(app.namespace, key, what, now))
    if before is not None:
        return shape.model_validate(before)
    answer = shape.model_validate(await work())
    kept = await app.store.run(lambda _: finish(app.namespace, key, what, answer.model_dump(mode="json")))
    return shape.model_validate(kept)


def change_id(verb: str, key: str | None) -> str | None:
    """Return the request id of one change that an HTTP call makes. The id is made from `verb`, the name of the change,
    and `key`, the call's Idempotency-Key. If `key` is None, return None.

    The caller passes the id to the function that makes the change. That function stores the id in the same transaction
    as the change. So, if the HTTP call is repeated after a crash, the change is not repeated.
    """
    return None if key is None else digest(verb, key)
