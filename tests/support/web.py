"""The API over ASGI on a real store, for tests: a running app, a client, and tokens of every kind."""

from __future__ import annotations

import asyncio
import inspect
import signal
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from fastapi import FastAPI

from ostinato import Ostinato
from ostinato.engine.http.egress import EgressPolicy
from ostinato.engine.listeners import wait_for_event
from ostinato.faces.http.server import Listening, api, make_server
from ostinato.journeys.settings import JourneySettings
from ostinato.store.sqlite import SqliteStore

BASE = "http://127.0.0.1:8471"
V1 = "/api/v1"


class Api:
    """What a test needs: the app, its ASGI application, and calls to it."""

    def __init__(self, app: Ostinato, application: FastAPI, client: httpx.AsyncClient) -> None:
        self.app = app
        self.application = application
        self.client = client

    async def call(
        self, method: str, path: str, json: Any = None, *, token: str | None = None, **options: Any
    ) -> httpx.Response:
        headers = dict(options.pop("headers", {}))
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        return await self.client.request(method, V1 + path, json=json, headers=headers, **options)

    async def get(self, path: str, **options: Any) -> httpx.Response:
        return await self.call("GET", path, **options)

    async def post(self, path: str, json: Any = None, **options: Any) -> httpx.Response:
        return await self.call("POST", path, {} if json is None else json, **options)

    async def token(self, role: str, namespace: str | None = None, **options: Any) -> str:
        return (await self.app.create_token(role, namespace=namespace, label=f"{role}@{namespace}", **options))[0]


def declare(app: Ostinato) -> Ostinato:
    @app.job()
    async def note(n: int = 0) -> int:
        return n

    @app.job()
    async def wait() -> None:
        await asyncio.Event().wait()

    return app


@asynccontextmanager
async def serving(
    folder: Path,
    *,
    node: bool = True,
    listening: Listening | None = None,
    settings: JourneySettings | None = None,
    egress: EgressPolicy | None = None,
) -> AsyncIterator[Api]:
    """An app with two jobs, running, and its API. Errors of ours come out as answers, never as exceptions."""
    store = SqliteStore(f"{folder}/web.db", durable=False)
    app = declare(Ostinato(store, min_interval=0.001, journey_settings=settings, egress=egress))
    async with app if node else app.connected():
        application = api(app, listening)
        transport = httpx.ASGITransport(application, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url=BASE) as client:
            yield Api(app, application, client)


def run(main: Callable[[Api], Coroutine[Any, Any, None]], folder: Path, **options: Any) -> None:
    """Run a test's body against an API of its own."""

    async def inside() -> None:
        async with asyncio.timeout(60):
            async with serving(folder, **options) as web:
                await main(web)

    asyncio.run(inside())


async def wait_for_news(app: Ostinato, reached: Callable[[], Any], seconds: float = 20) -> None:
    """Return when `reached` is true. It is a function, or a function that is awaited, and is asked whenever there is
    news in the app, and once in a while: not every change is an event."""
    with app.engine.listeners.watching() as news:
        async with asyncio.timeout(seconds):
            while True:
                news.clear()
                answer = reached()
                if await answer if inspect.isawaitable(answer) else answer:
                    return
                await wait_for_event(news, 0.5)


class Live:
    """A real server on a free port of loopback, in a thread with a loop of its own."""

    def __init__(self, store: str, *, node: bool = True, listening: Listening | None = None) -> None:
        self._store = store
        self._node = node
        self._listening = listening or Listening(port=0)
        self._up = threading.Event()
        self._problem: BaseException | None = None
        self._thread = threading.Thread(target=self._main, daemon=True)
        self.url = ""

    def __enter__(self) -> Live:
        self._thread.start()
        assert self._up.wait(30)
        if self._problem is not None:
            raise self._problem
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """As a signal would."""
        if not self._thread.is_alive():
            return
        self._loop.call_soon_threadsafe(self._server.handle_exit, signal.SIGTERM, None)
        self._thread.join(30)
        assert not self._thread.is_alive()

    def call(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(30)

    def _main(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as problem:
            self._problem = problem
            self._up.set()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.app = app = declare(Ostinato(self._store, min_interval=0.001))
        async with app if self._node else app.connected():
            self._server = make_server(api(app, self._listening), self._listening)
            serving = asyncio.create_task(self._server.serve())
            while not self._server.started and not serving.done():
                await asyncio.sleep(0.01)
            port = self._server.servers[0].sockets[0].getsockname()[1]
            self.url = f"http://127.0.0.1:{port}"
            self._up.set()
            await serving


def operations(description: dict[str, Any]) -> list[tuple[str, str, str | None]]:
    """Method, path and declared role of each call."""
    return [
        (method.upper(), path, call.get("x-role"))
        for path, calls in description["paths"].items()
        for method, call in calls.items()
    ]


def described() -> dict[str, Any]:
    description: dict[str, Any] = api(Ostinato("sqlite:///:memory:")).openapi()
    return description
