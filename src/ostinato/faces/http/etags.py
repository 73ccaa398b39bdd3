"""Read and write conflict tokens in the headers `If-Match` and `ETag`.

A change with `If-Match` is refused if the object has another conflict token.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ostinato.faces.auth import Refused
from ostinato.faces.http.routing import Header

if TYPE_CHECKING:  # named in signatures; loaded by what serves
    from fastapi import Response

_DIGITS = 18
Match = Annotated[
    str | None,
    Header(
        alias="If-Match",
        description="Make the change only if this is still the ETag; otherwise answer 412. By default, make it anyway.",
    ),
]


def token_of(match: str | None) -> int | None:
    """Return the conflict token in an If-Match header. Returns None if `match` is None, which means that the request
    has no such header, or if `match` is `*`. Raises `Refused` with status 412 if `match` is not an ETag."""
    if match is None or match.strip() == "*":
        return None
    text = match.strip().removeprefix("W/").strip('"')
    if not text.isascii() or not text.isdigit() or len(text) > _DIGITS:
        raise Refused(
            412,
            "conflict token mismatch",
            f'If-Match {match!r} is no ETag; send the ETag of an answer as it came, such as "3"',
        )
    return int(text)


def set_etag(response: Response, token: int) -> None:
    response.headers["ETag"] = f'"{token}"'
