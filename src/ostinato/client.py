"""A client for a server: the calls of the HTTP API as Python calls, each done once however often it must be tried.

What goes in is checked by the server; what comes out is the API's own JSON, as dicts and lists. Every call that
changes something carries an `Idempotency-Key` that is made once for the call, so a try whose answer was lost is
answered as the first one was. It depends on httpx and on nothing else of Ostinato but its errors.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import random
import secrets
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from types import TracebackType
from typing import Any, Self, TypeAlias, TypeVar
from urllib.parse import quote

import httpx

from ostinato.errors import Conflict, NotFound, OstinatoError

T = TypeVar("T")
Json: TypeAlias = dict[str, Any]
Moment: TypeAlias = datetime | str
DEFAULT_SERVER = "http://127.0.0.1:8471"
_AGAIN = frozenset({429, 502, 503, 504})
_LONGEST = 5.0  # seconds between two tries
_PAGE = 500
_SILENCE = 60.0  # seconds without a sign of life before a stream is taken up anew
# A name on this machine is never reached through a proxy.
_DIRECT: dict[str, None] = {f"all://{name}": None for name in ("localhost", "127.0.0.1", "[::1]")}


class Unreachable(OstinatoError):
    """The server did not answer, or answered that it cannot for now, for as long as the client was willing to try."""


class Denied(OstinatoError):
    """The token is missing or wrong, or its role does not allow this."""


class ServerFailed(OstinatoError):
    """The server made a mistake; its log says which."""


class Client:
    """`async with Client("http://127.0.0.1:8471", token=…) as client:`.

    `patience` is how long, in seconds, a call is tried again while the server is away or asks to wait. `verify` is as
    httpx takes it: an `ssl.SSLContext` for a certificate authority of your own.
    """

    def __init__(
        self,
        server: str = DEFAULT_SERVER,
        *,
        token: str | None = None,
        namespace: str | None = None,
        patience: float = 30.0,
        timeout: float = 30.0,
        verify: Any = True,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        if not server.startswith(("http://", "https://")):
            raise OstinatoError(f"the server {server!r} is not a URL; write {DEFAULT_SERVER}")
        self.server = server.rstrip("/")
        self.schedules = Schedules(self)
        self._patience = patience
        self._http = httpx.AsyncClient(
            base_url=f"{self.server}/api/v1",
            headers={} if token is None else {"Authorization": f"Bearer {token}"},
            params={} if namespace is None else {"namespace": namespace},
            timeout=timeout,
            verify=verify,
            transport=transport,
            mounts=_DIRECT,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    # One call

    async def call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        key: str | None = None,
        once: bool = True,
        if_match: int | None = None,
        **params: Any,
    ) -> Any:
        """Any call of the API. `key` is its idempotency key, made here unless given; without `once` it is a call that
        cannot be repeated, and is tried again only where it certainly was not heard."""
        response = await self.ask(method, path, body, key=key, once=once, if_match=if_match, **params)
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
        **params: Any,
    ) -> httpx.Response:
        """The same, with the answer as it came."""
        headers = {} if if_match is None else {"If-Match": f'"{if_match}"'}
        if method != "GET":
            headers["Idempotency-Key"] = key or secrets.token_hex(16)
        request = {name: _said(value) for name, value in params.items() if value is not None}
        content = None if body is None else json.dumps(body, default=_written).encode()
        if content is not None:
            headers["Content-Type"] = "application/json"
        loop = asyncio.get_running_loop()
        deadline, pause = loop.time() + self._patience, 0.1
        while True:
            wait = pause
            try:
                response = await self._http.request(method, path, params=request, content=content, headers=headers)
            except httpx.TransportError as problem:
                unheard = isinstance(problem, httpx.ConnectError | httpx.ConnectTimeout)
                trouble: OstinatoError = Unreachable(f"{self.server} does not answer: {problem or type(problem)}")
                if not (once or unheard):
                    raise trouble from problem
            else:
                if response.status_code < 400:
                    return response
                trouble = _error(response)
                if response.status_code not in _AGAIN:
                    raise trouble
                with suppress(ValueError):
                    wait = max(pause, float(response.headers.get("retry-after", 0)))
            if loop.time() + wait > deadline:
                raise trouble
            await asyncio.sleep(wait * random.uniform(0.8, 1.0))
            pause = min(pause * 2, _LONGEST)

    # Runs and jobs

    async def runs(
        self,
        *,
        name: str | None = None,
        status: str | None = None,
        parent: str | None = None,
        attempts: bool = False,
        before: str | None = None,
        limit: int = 100,
    ) -> list[Json]:
        """Runs, newest first."""
        filters = {"name": name, "status": status, "parent": parent, "attempts": attempts or None}
        return await self._pages("/runs", "before", before, limit, **filters)

    async def run(self, id: str) -> Json:
        return await self._one("GET", f"/runs/{_part(id)}")

    async def attempts(self, id: str) -> list[Json]:
        return await self._items(f"/runs/{_part(id)}/attempts")

    async def log(self, id: str) -> list[Json]:
        return list(await self.call("GET", f"/runs/{_part(id)}/log"))

    async def cancel(self, id: str, reason: str = "") -> str:
        """Ask a run to stop; returns where it stands after that."""
        return str((await self._one("POST", f"/runs/{_part(id)}/cancel", {"reason": reason}))["status"])

    async def terminate(self, id: str, reason: str = "") -> str:
        return str((await self._one("POST", f"/runs/{_part(id)}/terminate", {"reason": reason}))["status"])

    async def retry(self, id: str, *, key: str | None = None) -> Json:
        """Do a run that is over once more; the answer has the new run's id."""
        return await self._one("POST", f"/runs/{_part(id)}/retry", key=key)

    async def jobs(self) -> list[Json]:
        return await self._items("/jobs")

    async def start(
        self,
        job: str,
        input: Mapping[str, Any] | None = None,
        *,
        id: str | None = None,
        at: Moment | None = None,
        key: str | None = None,
        **options: Any,
    ) -> Json:
        """Start a job, now or `at` a moment. `options` as in `Ostinato.start`."""
        body = _given(input=dict(input or {}), id=id, at=at, **options)
        return await self._one("POST", f"/jobs/{_part(job)}/start", body, key=key)

    async def start_many(
        self, job: str, inputs: Sequence[Mapping[str, Any]], *, key: str | None = None, **options: Any
    ) -> list[Json]:
        body = _given(inputs=[dict(one) for one in inputs], **options)
        return list((await self._one("POST", f"/jobs/{_part(job)}/start-many", body, key=key))["items"])

    # Events

    async def events(
        self, *, after: int = 0, subject: str | None = None, limit: int = 100, newest: bool = False
    ) -> list[Json]:
        """Facts in the order of their commits, after a number; with `newest` the last ones."""
        if newest:
            return await self._items("/events", newest=True, limit=min(limit, 1000))
        return await self._pages("/events", "after", after, limit, subject=subject)

    async def follow(
        self, *, pattern: str = "*", subject: str | None = None, after: int | None = None
    ) -> AsyncIterator[Json]:
        """Facts as they happen, for ever. A stream that breaks off is taken up where it was; nothing is missed."""
        loop = asyncio.get_running_loop()
        if after is None:  # asked for, not left to the stream: one that breaks off before the first fact loses nothing
            found = await self.events(newest=True, limit=1)
            after = int(found[-1]["seq"]) if found else 0
        heard = loop.time()
        while True:
            try:
                async for event in self._stream(pattern, subject, after):
                    after = event["seq"]
                    yield event
                heard = loop.time()  # it ended in good order: the server stops, and another may take its place
            except (httpx.TransportError, Unreachable) as problem:
                if loop.time() - heard > self._patience:
                    raise Unreachable(f"{self.server} does not answer: {problem or type(problem)}") from problem
            await asyncio.sleep(0.5)

    async def _stream(self, pattern: str, subject: str | None, after: int) -> AsyncIterator[Json]:
        asked = _given(pattern=pattern, subject=subject, after=after)
        timeout = httpx.Timeout(30.0, read=_SILENCE)
        async with self._http.stream("GET", "/events/stream", params=asked, timeout=timeout) as answer:
            if answer.status_code >= 400:
                await answer.aread()
                raise _error(answer)
            async for line in answer.aiter_lines():
                if line.startswith("data:"):
                    yield json.loads(line[5:])

    # Namespaces, tokens, nodes

    async def namespaces(self) -> list[Json]:
        return await self._items("/namespaces")

    async def create_namespace(self, name: str, notes: str = "") -> Json:
        return await self._one("POST", "/namespaces", {"name": name, "notes": notes})

    async def delete_namespace(self, name: str) -> None:
        await self.call("DELETE", f"/namespaces/{_part(name)}")

    async def tokens(self) -> list[Json]:
        return await self._items("/tokens")

    async def create_token(
        self, role: str = "reader", *, namespace: str | None = None, label: str = "", expires_in: str | None = None
    ) -> Json:
        """Make a token, shown in this one answer. It is not tried again where the answer may have been lost."""
        body = _given(role=role, namespace=namespace, label=label, expires_in=expires_in)
        return dict(await self.call("POST", "/tokens", body, once=False))

    async def revoke_token(self, id: str) -> None:
        await self.call("DELETE", f"/tokens/{_part(id)}")

    async def nodes(self) -> list[Json]:
        return await self._items("/nodes")

    async def diagnose(self, *, repair: bool = False) -> Json:
        """What is the matter with the store and its nodes, and what to do."""
        return await self._one("POST", "/diagnosis", {"repair": repair})

    async def ready(self) -> Json:
        """Whether the server does its work on time, and what is the matter where it does not."""
        response = await self._http.get("/health/ready")
        return dict(response.json())

    # Inside

    async def _one(self, method: str, path: str, body: Mapping[str, Any] | None = None, **more: Any) -> Json:
        return dict(await self.call(method, path, body, **more))

    async def _items(self, path: str, **params: Any) -> list[Json]:
        return list((await self.call("GET", path, **params))["items"])

    async def _pages(self, path: str, cursor: str, begin: Any, limit: int, **filters: Any) -> list[Json]:
        found: list[Json] = []
        while len(found) < limit:
            size = min(_PAGE, limit - len(found))
            page = await self.call("GET", path, **{cursor: begin or None, "limit": size, **filters})
            found += page["items"]
            begin = page["next"]
            if begin is None:
                break
        return found


class Schedules:
    """`client.schedules`: the calls of `app.schedules`. Changes take `if_match`, the token that they depend on, and
    `key`, the idempotency key, where the caller would rather make it."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def find(
        self,
        *,
        match: str = "*",
        tag: str | None = None,
        state: str | None = None,
        job: str | None = None,
        after: str = "",
        limit: int = 100,
    ) -> list[Json]:
        filters = {"match": match, "tag": tag, "state": state, "job": job}
        return await self._client._pages("/schedules", "after", after, limit, **filters)

    async def get(self, name: str, *, recent: int = 10) -> Json:
        return await self._client._one("GET", _path(name), recent=recent)

    async def create(
        self,
        name: str,
        spec: str | Json | None = None,
        action: str | Json | None = None,
        *,
        paused: bool = False,
        trigger: bool = False,
        key: str | None = None,
        **given: Any,
    ) -> Json:
        body = _given(name=name, spec=spec, action=action, paused=paused, trigger=trigger, **given)
        return await self._client._one("POST", "/schedules", body, key=key)

    async def put(self, name: str, *, key: str | None = None, **given: Any) -> Json:
        """Create it, or make it as given; `done` in the answer says which."""
        return await self._client._one("PUT", _path(name), given, key=key)

    async def update(self, name: str, **given: Any) -> Json:
        """Change what is given, leave the rest."""
        how = {part: given.pop(part, None) for part in ("key", "if_match")}
        return await self._client._one("PATCH", _path(name), given, **how)

    async def pause(self, name: str, note: str = "", **how: Any) -> Json:
        return await self._client._one("POST", _path(name, "pause"), {"note": note}, **how)

    async def resume(self, name: str, note: str = "", *, catchup: Any = None, **how: Any) -> Json:
        return await self._client._one("POST", _path(name, "resume"), _given(note=note, catchup=catchup), **how)

    async def trigger(
        self, name: str, *, input: Mapping[str, Any] | None = None, overlap: str | None = None, **how: Any
    ) -> Json:
        return await self._client._one("POST", _path(name, "trigger"), _given(input=input, overlap=overlap), **how)

    async def backfill(
        self,
        name: str,
        first: Moment,
        last: Moment,
        *,
        overlap: str | None = None,
        input: Mapping[str, Any] | None = None,
        rate: float | None = None,
        **how: Any,
    ) -> Json:
        body = _given(first=first, last=last, overlap=overlap, input=input, rate=rate)
        return await self._client._one("POST", _path(name, "backfills"), body, **how)

    async def backfills(self, name: str) -> list[Json]:
        return await self._client._items(_path(name, "backfills"))

    async def turn_backfill(self, name: str, id: str, to: str, reason: str = "") -> Json:
        """`to`: pause, resume or cancel."""
        body = {"reason": reason} if to == "cancel" else None
        return await self._client._one("POST", f"{_path(name, 'backfills')}/{_part(id)}/{to}", body)

    async def skip(self, name: str, at: Moment, **how: Any) -> Json:
        return await self._client._one("POST", _path(name, "skip"), {"at": at}, **how)

    async def move(self, name: str, at: Moment, to: Moment, **how: Any) -> Json:
        return await self._client._one("POST", _path(name, "move"), {"at": at, "to": to}, **how)

    async def put_back(self, name: str, at: Moment, **how: Any) -> Json:
        """Take back a skip or a move."""
        return await self._client._one("POST", _path(name, "put-back"), {"at": at}, **how)

    async def delete(self, name: str, *, running: str = "leave", **how: Any) -> Json:
        return await self._client._one("DELETE", _path(name), running=running, **how)

    async def history(
        self, name: str, *, first: Moment | None = None, last: Moment | None = None, limit: int = 100
    ) -> list[Json]:
        return await self._client._items(_path(name, "history"), first=first, last=last, limit=limit)

    async def times(self, name: str, first: Moment, last: Moment, *, limit: int = 1000) -> list[str]:
        path = _path(name, "times")
        return list((await self._client.call("GET", path, first=first, last=last, limit=limit))["items"])

    async def explain(self, name: str, at: Moment) -> Json:
        return await self._client._one("GET", _path(name, "explain"), at=at)

    async def upcoming(self, limit: int = 50) -> list[Json]:
        return await self._client._items("/upcoming", limit=limit)

    async def simulate(self, first: Moment, last: Moment, **given: Any) -> Json:
        """`schedule` or `draft`; run_time, outages, pauses, seed."""
        return await self._client._one("POST", "/simulate", _given(first=first, last=last, **given))

    async def draw(self, first: Moment, last: Moment, **given: Any) -> str:
        """The same as an SVG picture."""
        body = _given(first=first, last=last, **given)
        return (await self._client.ask("POST", "/simulate.svg", body)).text


class SyncClient:
    """The same calls for code that does not await: `with SyncClient(…) as client: client.schedules.pause("report")`.
    A loop of its own runs in a thread; `follow` gives a plain iterator."""

    def __init__(self, server: str = DEFAULT_SERVER, **options: Any) -> None:
        self._client = Client(server, **options)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        loop = self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=loop.run_forever, name="ostinato-client", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, _: TracebackType | None) -> None:
        self._wait(self._client.__aexit__())
        loop, thread = self._loop, self._thread
        self._loop = self._thread = None
        assert loop is not None
        assert thread is not None
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

    @property
    def schedules(self) -> Any:
        return _Sync(self._client.schedules, self._wait)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return getattr(_Sync(self._client, self._wait), name)  # type: ignore[no-any-return]

    def _wait(self, coroutine: Coroutine[Any, Any, T]) -> T:
        if self._loop is None:
            coroutine.close()
            raise OstinatoError("the client is not open; use `with SyncClient(…) as client:`")
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()


class _Sync:
    """The calls of an object, each waited for."""

    def __init__(self, of: Any, wait: Callable[[Coroutine[Any, Any, Any]], Any]) -> None:
        self._of = of
        self._wait = wait

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._of, name)

        def call(*given: Any, **named: Any) -> Any:
            made = found(*given, **named)
            return self._each(made) if inspect.isasyncgen(made) else self._wait(made)

        return call

    def _each(self, made: Any) -> Any:
        while True:
            try:
                yield self._wait(anext(made))
            except StopAsyncIteration:
                return


def _error(response: httpx.Response) -> OstinatoError:
    """A problem as the error that `app` would have raised."""
    try:
        found = response.json()
        words = str(found["detail"])
    except (ValueError, KeyError, TypeError):
        words = f"the server answered {response.status_code}: {response.text[:200]}"
    match response.status_code:
        case 404:
            return NotFound(words)
        case 409 | 412:
            return Conflict(words)
        case 401 | 403 | 421 | 429:
            return Denied(words)
        case 502 | 503 | 504:
            return Unreachable(words)
        case code if code >= 500:
            return ServerFailed(words)
        case _:
            return OstinatoError(words)


def _part(name: str) -> str:
    """A name as one part of a path, slashes included."""
    return quote(name, safe="")


def _path(name: str, *more: str) -> str:
    return "/".join(["/schedules", _part(name), *more])


def _given(**parts: Any) -> Json:
    return {name: value for name, value in parts.items() if value is not None}


def _said(value: Any) -> Any:
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise OstinatoError(f"the time {value.isoformat()} has no zone; give it one")
        return value.isoformat()
    return value


def _written(value: Any) -> str:
    if isinstance(value, datetime):
        return str(_said(value))
    raise OstinatoError(f"{value!r} cannot be sent: it is not JSON")
