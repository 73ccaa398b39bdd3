"""Tokens of pages. Each says which call gave it out and in which namespace; any other is refused, because a token that
is taken for a cursor of something else answers with a part of the list."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

from ostinato.faces.temporal.errors import Wrong

_CHECK = 8  # bytes


@dataclass(frozen=True, slots=True)
class Page:
    call: str
    namespace: str

    def write(self, cursor: str) -> bytes:
        return self._check(cursor.encode()) + cursor.encode()

    def read(self, token: bytes) -> str:
        """The cursor of a token that was given out for this call; empty for the first page."""
        check, cursor = token[:_CHECK], token[_CHECK:]
        if token and check != self._check(cursor):
            raise Wrong("next_page_token", "is not one that was given out here")
        return cursor.decode()

    def _check(self, cursor: bytes) -> bytes:
        about = f"{self.call}\0{self.namespace}\0".encode()
        return blake2b(about + cursor, digest_size=_CHECK).digest()
