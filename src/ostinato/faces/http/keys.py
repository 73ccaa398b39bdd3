"""The header that makes a change happen once, and what it means for a change of several transactions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

from fastapi import Header
from pydantic import BaseModel

from ostinato.app import Ostinato
from ostinato.engine.requests import begin, finish

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


async def done_once(
    app: Ostinato, key: str | None, what: str, shape: type[Answer], work: Callable[[], Awaitable[Answer]]
) -> Answer:
    """Do it and keep the answer under the key; what was answered before is answered again. Each part of the work is
    one that does nothing more when it is done twice, for who comes back after a crash in the midst of it."""
    if key is None:
        return await work()
    now = app.engine.clock.now()
    before = await app.store.run(lambda _: begin(app.namespace, key, what, now))
    if before is not None:
        return shape.model_validate(before)
    answer = await work()
    kept = await app.store.run(lambda _: finish(app.namespace, key, answer.model_dump(mode="json")))
    return shape.model_validate(kept)
