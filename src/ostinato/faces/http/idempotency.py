"""Make a change only once for each value of the header Idempotency-Key.

The change may consist of several transactions.
"""

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
        description="The same key does the same thing once, for a day, and is answered as it was then.",
    ),
]


async def answer_once(
    app: Ostinato, key: str | None, what: str, shape: type[Answer], work: Callable[[], Awaitable[Answer]]
) -> Answer:
    """Do `work` once for each `key`, and return its answer. A repeated call returns the stored answer.

    If the process crashes before the answer is stored, a retry does the work again. So each part of the work must be
    idempotent.
    """
    if key is None:
        return await work()
    now = app.engine.clock.now()
    before = await app.store.run(lambda _: begin(app.namespace, key, what, now))
    if before is not None:
        return shape.model_validate(before)
    answer = await work()
    kept = await app.store.run(lambda _: finish(app.namespace, key, what, answer.model_dump(mode="json")))
    return shape.model_validate(kept)


def change_id(verb: str, key: str | None) -> str | None:
    """Return the request id for a change within `answer_once`, or None if `key` is None.

    The change stores the request id in its own transaction. So a retry after a crash does not make the change again.
    """
    return None if key is None else digest(verb, key)
