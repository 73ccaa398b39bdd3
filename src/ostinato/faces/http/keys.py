"""The header that makes a change happen once."""

from __future__ import annotations

from typing import Annotated

from fastapi import Header

Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        description="The same key does the same thing once, for a day, and is answered as it was then.",
    ),
]
