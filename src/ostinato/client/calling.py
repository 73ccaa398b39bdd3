"""Send calls to the API, retry them, and raise their errors. Every call that changes something has an `Idempotency-Key`
header. All tries of a call send the same key, so a retry gets the answer of the first try."""

from __future__ import annotations

import asyncio
import json
import random
import secrets
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import quote

from ostinato.backoff import backoff
from ostinato.errors import Conflict, NotFound, OstinatoError, check_limit

if TYPE_CHECKING:  # loaded when a call is sent: commands on a store send none
    import httpx

Json: TypeAlias = dict[str, Any]
Moment: TypeAlias = datetime | str
_AGAIN = frozenset({429, 502, 503, 504})
_NOT_TAKEN = frozenset({429})  # answers of a server that has certainly not acted
_MAILBOX_FULL = "urn:ostinato:mailbox-is-full"  # the only 429 that is not about wrong tokens
_LONGEST = 5.0  # most seconds between two tries
_PAGE = 500
ALL = 1_000_000  # more items than any list has


class Unreachable(OstinatoError):
    """Raised if the server did not answer, or was unavailable, until the client gave up."""


class Denied(OstinatoError):
    """Raised if the server refuses a call for one of these reasons:

    - The token is missing or wrong.
    - The role of the token does not allow the call.
    - The server does not accept the host name in the URL.
    - There were too many requests.
    """


class ServerFailed(OstinatoError):
    """Raised if the server failed with an internal error. The server's log has the details."""


class Answered(Exception):
    """The status and the body of an error response. It is the `__cause__` of the error that the client raises."""

    def __init__(self, status: int, body: Json) -> None:
        super().__init__(f"HTTP status {status}")
        self.status = status
        self.body = body


class Calling:
    """Sends calls to one server. A failed call is retried for up to `patience` seconds."""

    def __init__(self, server: str, http: httpx.AsyncClient, patience: float) -> None:
        self.server = server
        self.http = http
        self.patience = patience

    async def call(self, method: str, path: str, body: Mapping[str, Any] | None = None, **how: Any) -> Any:
        """Make a call with the arguments of `ask`. Return the JSON of the answer, or None for status 204."""
        response = await self.ask(method, path, body, **how)
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
        """Send a request, and return the response. If the response is an error, raise an exception. The status of the
        response decides which: `NotFound`, `Conflict`, `Denied`, `Unreachable`, `ServerFailed` or `OstinatoError`. If
        there is no response, raise `Unreachable`.

        - `key`: the idempotency key. By default, the client generates a key.
        - `once`: whether the server acts only once on a repeated request. If true, the client retries after every
          failure of the connection, and after a response with status 429, 502, 503 or 504. If false, the client retries
          only if the server has certainly not acted: if no connection was made, or after status 429.
        - `if_match`: a conflict token. The server refuses the call if the object has changed since the token was read.
        - `params`: the query parameters.
        """
        import httpx

        sent_headers = headers_of(method, body, key, if_match, headers)
        request, content = query_of(params), content_of(body)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self.patience
        for failures in count(1):
            pause = wait = backoff(failures, 0.1, _LONGEST)
            try:
                response = await self.http.request(method, path, params=request, content=content, headers=sent_headers)
            except httpx.TransportError as problem:
                unheard = isinstance(problem, httpx.ConnectError | httpx.ConnectTimeout)
                error: OstinatoError = Unreachable(f"{self.server} does not answer: {problem or type(problem)}")
                if not (once or unheard):
                    raise error from problem
            else:
                if response.status_code < 400:
                    return response
                error = error_of(response)
                if response.status_code not in (_AGAIN if once else _NOT_TAKEN):
                    raise error
                with suppress(ValueError):
                    wait = max(pause, float(response.headers.get("retry-after", 0)))
            if loop.time() + wait > deadline:
                raise error
            await asyncio.sleep(wait * random.uniform(0.8, 1.0))
        raise AssertionError

    async def one(self, method: str, path: str, body: Mapping[str, Any] | None = None, **more: Any) -> Json:
        return dict(await self.call(method, path, body, **more))

    async def items(self, path: str, **params: Any) -> list[Json]:
        return list((await self.call("GET", path, **params))["items"])

    async def all(self, path: str) -> list[Any]:
        return await self.pages(path, "after", None, ALL)

    async def pages(self, path: str, cursor: str, begin: Any, limit: int, **filters: Any) -> list[Any]:
        """Read pages until there are `limit` items or no more pages. Return the items. `cursor` is the name of the
        query parameter that says where a page begins, such as "after". `begin` is the value of this parameter for the
        first page."""
        check_limit(limit, ALL)
        items: list[Any] = []
        while len(items) < limit:
            size = min(_PAGE, limit - len(items))
            page = await self.call("GET", path, **{cursor: begin or None, "limit": size, **filters})
            items += page["items"]
            begin = page["next"]
            if begin is None:
                break
        return items


class CallGroup:
    """The calls about one subject, such as `client.schedules`."""

    def __init__(self, calling: Calling) -> None:
        self._calling = calling


def headers_of(
    method: str, body: Any, key: str | None, if_match: int | None, headers: Mapping[str, str] | None
) -> dict[str, str]:
    sent = dict(headers or {})
    if if_match is not None:
        sent["If-Match"] = f'"{if_match}"'
    if method != "GET":
        sent["Idempotency-Key"] = key or secrets.token_hex(16)
    if body is not None:
        sent["Content-Type"] = "application/json"
    return sent


def query_of(params: Mapping[str, Any]) -> Json:
    return {name: time_text(value) for name, value in params.items() if value is not None}


def content_of(body: Any) -> bytes | None:
    return None if body is None else json.dumps(body, default=to_json_text).encode()


def error_of(response: httpx.Response) -> OstinatoError:
    try:
        body = dict(response.json())
        words = str(body["detail"])
    except (ValueError, KeyError, TypeError):
        body = {}
        words = f"the server answered {response.status_code}: {response.text[:200]}"
    return error_by_status(response.status_code, words, body)


def error_by_status(status: int, words: str, body: Json) -> OstinatoError:
    error = (Conflict if body.get("type") == _MAILBOX_FULL else _kind(status))(words)
    error.__cause__ = Answered(status, body)
    return error


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
    """Quote a name as one segment of a URL path. Raises `OstinatoError` if the name is empty or not a str."""
    if not isinstance(name, str) or not name:
        raise OstinatoError(f"{name!r} is not a name or an id")
    return quote(name, safe="") if name.strip(".") else name.replace(".", "%2E")  # `.` and `..` would be other paths


def path_of(root: str, *names: str) -> str:
    """Join names to a path of the API: `path_of("/runs", "a/b")` returns "/runs/a%2Fb"."""
    return "/".join([root, *map(part, names)])


def without_none(**parts: Any) -> Json:
    return {name: value for name, value in parts.items() if value is not None}


def time_text(value: Any) -> Any:
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise OstinatoError(f"the time {value.isoformat()} has no zone; give it one")
        return value.isoformat()
    return value


def to_json_text(value: Any) -> str:
    if isinstance(value, datetime):
        return str(time_text(value))
    raise OstinatoError(f"{value!r} cannot be sent: it is not JSON")
