"""Check the headers and the size of every HTTP request before a route handles it.

The checks prevent writes by pages of other sites, and reads by DNS rebinding. If a request has a body, the token of the
caller is checked, too, before the body is read. If the body is signed, the caller needs no token.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import unquote, unquote_to_bytes, urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ostinato.errors import OstinatoError
from ostinato.faces.http.authentication import authenticate
from ostinato.faces.http.bodies import SLASH, is_signed, most_of, too_large
from ostinato.faces.http.error_responses import of_error, problem

MOST_HELD = 64 << 20  # bytes of all requests that are being read or answered
_SAFE = ("GET", "HEAD", "OPTIONS")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def host_of(value: str) -> str:
    """Return the host in a Host header, without the port. Return "" if the header is not valid."""
    try:
        return (urlsplit(f"//{value}").hostname or "").lower()
    except ValueError:
        return ""


def _netloc(origin: str) -> str:
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""


def segments(raw: bytes) -> str:
    """Return the path `raw` with its escapes decoded. An escaped slash becomes the placeholder `SLASH`, so that the
    router sees `team%2Freport` as one segment. After the routing, `SLASH` is turned into a slash."""
    return "/".join(unquote(part).replace("/", SLASH) for part in raw.decode("ascii", "replace").split("/"))


class Guard:
    """ASGI middleware that makes the checks of this module.

    `hosts` are the names of this server: a request whose Host header has another name is refused. If `hosts` is empty,
    every name is accepted. A server with empty `hosts` requires a token from every caller.
    """

    def __init__(self, app: ASGIApp, hosts: Sequence[str] = _LOOPBACK, origins: Sequence[str] = ()) -> None:
        self._app = app
        self._hosts = frozenset(hosts)
        self._origins = frozenset(origins)
        self._held = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        path = scope["path"].removeprefix("/api/v1")
        most = most_of(path)
        refusal = self._refusal(scope["method"], headers, most)
        if refusal is not None:
            await problem(*refusal)(scope, receive, send)
            return
        if _has_body(headers) and not is_signed(path):
            try:
                await authenticate(HTTPConnection(scope))
            except OstinatoError as refused:
                await of_error(refused, scope["app"])(scope, receive, send)
                return
        raw = scope.get("raw_path")
        if raw and b"%" in raw and not _is_utf8(raw):
            await problem(400, "bad request", "the path is not UTF-8 when its escapes are decoded")(
                scope, receive, send
            )
            return
        if raw and b"%2" in raw:
            scope = {**scope, "path": segments(raw)}
        read = 0

        async def bounded() -> Message:
            nonlocal read
            message = await receive()
            size = len(message.get("body", b""))
            read += size
            self._held += size
            # An HTTPException: FastAPI would report any other error as a body that cannot be parsed.
            if read > most:
                status, _, words = _too_large(most)
                raise HTTPException(status, words)
            if self._held > MOST_HELD:
                raise HTTPException(503, "too many large requests at once; try again", {"Retry-After": "1"})
            return message

        try:
            await self._app(scope, bounded, send)
        finally:
            self._held -= read

    def _refusal(self, method: str, headers: Headers, most: int) -> tuple[int, str, str] | None:
        host, *others = headers.getlist("host") or [""]
        if others:
            return 400, "bad request", "there is more than one Host header"
        if self._hosts and host_of(host) not in self._hosts:
            names = ", ".join(sorted(self._hosts))
            return 421, "wrong host", f"this server does not answer to the name {host!r}; it is {names}"
        length = headers.get("content-length") or "0"
        if not length.isascii() or not length.isdigit():
            return 400, "bad request", "Content-Length is not a number"
        if len(length) > 15 or int(length) > most:
            return _too_large(most)
        if method in _SAFE:
            return None
        origin = headers.get("origin")
        if origin is not None and origin not in self._origins and _netloc(origin) != host:
            return 403, "wrong origin", f"a page of {origin} may not write here"
        if headers.get("sec-fetch-site") == "cross-site":
            return 403, "wrong origin", "a page of another site may not write here"
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if _has_body(headers) and kind != "application/json":
            return 415, "unsupported media type", f"the body is {kind or 'of no type'}; send application/json"
        return None


def _is_utf8(raw: bytes) -> bool:
    try:
        unquote_to_bytes(raw).decode()
    except UnicodeDecodeError:
        return False
    return True


def _has_body(headers: Headers) -> bool:
    return headers.get("content-length", "0") != "0" or "transfer-encoding" in headers


def _too_large(most: int) -> tuple[int, str, str]:
    return 413, "too large", too_large(most)
