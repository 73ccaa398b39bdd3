"""Write and read the page tokens of lists.

A token is valid only for the call, the namespace and the query for which it was written. Every other list refuses the
token, because with it the list would silently skip items.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

from ostinato.faces.temporal.errors import Wrong

_CHECK = 8  # bytes


@dataclass(frozen=True, slots=True)
class Page:
    call: str
    namespace: str
    query: str = ""

    def write(self, cursor: str) -> bytes:
        return self._check(cursor.encode()) + cursor.encode()

    def read(self, token: bytes) -> str:
        """Return the cursor in a token, or "" (the first page) if the token is empty. Raises `Wrong` if the token was
        written for another list."""
        check, cursor = token[:_CHECK], token[_CHECK:]
        if token and check != self._check(cursor):
            raise Wrong("next_page_token", "was not given out for this list and this query")
        return cursor.decode()

    def _check(self, cursor: bytes) -> bytes:
        bound_to = f"{self.call}\0{self.namespace}\0{self.query}\0".encode()
        return blake2b(bound_to + cursor, digest_size=_CHECK).digest()
