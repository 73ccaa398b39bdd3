"""One call of the API: how it is sent, when it is tried again, and what its errors are.

Every call that changes something carries an `Idempotency-Key` that is made once for the call, so a try whose answer
was lost is answered as the first one was.
"""

from __future__ import annotations

import asyncio
import json
import random
import secrets
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import quote

from ostinato.errors import Conflict, NotFound, OstinatoError

if TYPE_CHECKING:  # loaded when a call is sent: a command that looks at a store sends none
    import httpx

Json: TypeAlias = dict[str, Any]
Moment: TypeAlias = datetime | str
_AGAIN = frozenset({429, 502, 503, 504})
_LONGEST = 5.0  # seconds between two tries
_PAGE = 500


class Unreachable(OstinatoError):
    """The server did not answer, or answered that it cannot for now, for as long as the client was willing to try."""


class Denied(OstinatoError):
    """The token is missing or wrong, or its role does not allow this."""


class ServerFailed(OstinatoError):
    """The server made a mistake; its log says which."""


class Answered(Exception):
    """What the server said, whole: the cause of an error that came from it."""

    def __init__(self, status: int, body: Json) -> None:
        super().__init__(f"HTTP status {status}")
        self.status = status
        self.body = body


class Calling:
    """Calls to one server, each tried again for up to `patience` seconds."""

    def __init__(self, server: str, http: httpx.AsyncClient, patience: float) -> None:
        self.server = server
        self.http = http
        self.patience = patience

    async def call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        key: str | None = None,
        once: bool = True,
        if_match: int | None = None,
        headers: Mapping[str, str] | None = None,
        **params: Any,
    ) -> Any:
        """Any call of the API. `key` is its idempotency key, made here unless given; without `once` it is a call that
        cannot be repeated, and is tried again only where it certainly was not heard."""
        response = await self.ask(method, path, body, key=key, once=once, if_match=if_match, headers=headers, **params)
        return None if response.status_code == 204 else response.json()

    async def ask(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        key: str | None = None,
        once: bool = True,
        if_match: int | None = None,
        headers: Mapping[str, str] | None = None,
        **params: Any,
    ) -> httpx.Response:
        """The same, with the answer as it came."""
        import httpx

        told = dict(headers or {}) if if_match is None else {**(headers or {}), "If-Match": f'"{if_match}"'}
        if method != "GET":
            told["Idempotency-Key"] = key or secrets.token_hex(16)
        request = {name: said(value) for name, value in params.items() if value is not None}
        content = None if body is None else json.dumps(body, default=written).encode()
        if content is not None:
            told["Content-Type"] = "application/json"
        loop = asyncio.get_running_loop()
        deadline, pause = loop.time() + self.patience, 0.1
        while True:
            wait = pause
            try:
                response = await self.http.request(method, path, params=request, content=content, headers=told)
            except httpx.TransportError as problem:
                unheard = isinstance(problem, httpx.ConnectError | httpx.ConnectTimeout)
                trouble: OstinatoError = Unreachable(f"{self.server} does not answer: {problem or type(problem)}")
                if not (once or unheard):
                    raise trouble from problem
            else:
                if response.status_code < 400:
                    return response
                trouble = error_of(response)
                if response.status_code not in _AGAIN:
                    raise trouble
                with suppress(ValueError):
                    wait = max(pause, float(response.headers.get("retry-after", 0)))
            if loop.time() + wait > deadline:
                raise trouble
            await asyncio.sleep(wait * random.uniform(0.8, 1.0))
            pause = min(pause * 2, _LONGEST)

    async def one(self, method: str, path: str, body: Mapping[str, Any] | None = None, **more: Any) -> Json:
        return dict(await self.call(method, path, body, **more))

    async def items(self, path: str, **params: Any) -> list[Json]:
        return list((await self.call("GET", path, **params))["items"])

    async def pages(self, path: str, cursor: str, begin: Any, limit: int, **filters: Any) -> list[Any]:
        """Items of page after page, until there are enough of them."""
        found: list[Any] = []
        while len(found) < limit:
            size = min(_PAGE, limit - len(found))
            page = await self.call("GET", path, **{cursor: begin or None, "limit": size, **filters})
            found += page["items"]
            begin = page["next"]
            if begin is None:
                break
        return found


def error_of(response: httpx.Response) -> OstinatoError:
    """A problem as the error that `app` would have raised."""
    try:
        body = dict(response.json())
        words = str(body["detail"])
    except (ValueError, KeyError, TypeError):
        body = {}
        words = f"the server answered {response.status_code}: {response.text[:200]}"
    made = _kind(response.status_code)(words)
    made.__cause__ = Answered(response.status_code, body)
    return made


def _kind(status: int) -> type[OstinatoError]:
    match status:
        case 404:
            return NotFound
        case 409 | 412:
            return Conflict
        case 401 | 403 | 421 | 429:
            return Denied
        case 502 | 503 | 504:
            return Unreachable
        case code if code >= 500:
            return ServerFailed
        case _:
            return OstinatoError


def part(name: str) -> str:
    """A name as one part of a path, slashes included."""
    return quote(name, safe="")


def without_none(**parts: Any) -> Json:
    return {name: value for name, value in parts.items() if value is not None}


def said(value: Any) -> Any:
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise OstinatoError(f"the time {value.isoformat()} has no zone; give it one")
        return value.isoformat()
    return value


def written(value: Any) -> str:
    if isinstance(value, datetime):
        return str(said(value))
    raise OstinatoError(f"{value!r} cannot be sent: it is not JSON")
