"""What a command works on: a store, or a server. Both are reached through the one client, so a command is written once,
and what it prints as JSON is the API's answer either way. On a store, most looks are answered by `looking`, which loads
no web framework; everything else by the API itself, run inside this process with nothing listening."""

from __future__ import annotations

import asyncio
import inspect
import logging
import os
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, get_type_hints

import typer

from ostinato.client import Client, Json
from ostinato.client.calling import Calling, without_none
from ostinato.errors import OstinatoError, StoreUnavailable
from ostinato.faces.cli.answers import Answers

DEFAULT_STORE = "sqlite:///ostinato.db"
PATIENCE = 10.0  # seconds that a server which is away is waited for
_LOOK = 0.3  # seconds between two looks at a store that is followed


@dataclass(frozen=True, slots=True)
class Where:
    """A server, or else a store."""

    store: str
    server: str | None = None
    token: str | None = None
    namespace: str | None = None
    ca: str | None = None

    def only_a_store(self, what: str) -> str:
        if self.server is not None:
            raise OstinatoError(f"{what} works on the store itself; run it where the store is, with --store")
        return self.store


def where(
    store: str | None, server: str | None, token: str | None, namespace: str | None, ca: str | None = None
) -> Where:
    """What is asked for by options goes over what the environment says."""
    if store is not None and server is not None:
        raise OstinatoError("--store and --server are two places; name one")
    if store is None:
        server = server or os.environ.get("OSTINATO_SERVER") or None
    return Where(
        store=store or os.environ.get("OSTINATO_STORE") or DEFAULT_STORE,
        server=server,
        token=token or os.environ.get("OSTINATO_TOKEN") or None,
        namespace=namespace or os.environ.get("OSTINATO_NAMESPACE") or None,
        ca=ca or os.environ.get("OSTINATO_CA") or None,
    )


@asynccontextmanager
async def reach(place: Where, *, create: bool = False) -> AsyncIterator[Client]:
    """A client for the place. Only what puts something into a store (`create`) makes one, or brings an older one up to
    date; nothing but a node or `migrate` makes tables in a database of somebody else's."""
    if place.server is not None:
        verify: Any = True
        if place.ca is not None:
            try:
                verify = ssl.create_default_context(cafile=place.ca)
            except OSError as problem:
                raise OstinatoError(f"the certificates {place.ca} cannot be read: {problem}") from None
        async with Client(
            place.server, token=place.token, namespace=place.namespace, patience=PATIENCE, verify=verify
        ) as client:
            yield client
        return
    from ostinato.store.schema import check_usable

    if not create:
        must_exist(place.store)
    await check_usable(place.store, create=create)
    async with AsyncExitStack() as opened:
        yield _StoreClient(place, opened)


def must_exist(store: str) -> None:
    """Refuse a store that is a file and is not there, so that a slip of the hand makes no empty one."""
    if not is_there(store):
        raise StoreUnavailable(
            f"there is no store {store}; name one with --store or OSTINATO_STORE, or a server with --server"
        )


def is_there(store: str) -> bool:
    """Whether a store that is a file exists; of others that is found out by opening them."""
    path = store.removeprefix("sqlite:///")
    return "://" in path or Path(path).exists()


class _OnStore(Calling):
    """Calls on a store in this process: looks by `looking`, the rest by the API, each loaded when it is needed."""

    def __init__(self, place: Where, opened: AsyncExitStack) -> None:
        self.server = place.store
        self.patience = 0.0
        self._place = place
        self._opened = opened
        self._looking: Any = None
        self._api_is_up = False

    async def call(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, *, key: str | None = None, **more: Any
    ) -> Any:
        if method == "GET" and not self._api_is_up:
            from ostinato.faces.cli.looking import AskTheApi, Looking, answer_for

            found = answer_for(path)
            if found is not None:
                if self._looking is None:
                    self._looking = Looking(self._place.store, self._place.namespace)
                    self._opened.push_async_callback(self._looking.close)
                    await self._looking.open()
                answer, names = found
                with suppress(AskTheApi):
                    return await answer(self._looking, *names, **without_none(**more))
        return await super().call(method, path, body, key=key, **more)

    async def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None, **more: Any) -> Any:
        if not self._api_is_up:
            await self._run_api()
        return await super().ask(method, path, body, **more)

    async def _run_api(self) -> None:
        import httpx

        from ostinato.app import Ostinato
        from ostinato.faces.http.server import api

        made = Ostinato(self._place.store)
        made.computing.alone = True
        app = await self._opened.enter_async_context(made.connected())
        named = {} if self._place.namespace is None else {"namespace": self._place.namespace}
        self.http = await self._opened.enter_async_context(
            httpx.AsyncClient(
                base_url="http://localhost/api/v1",
                params=named,
                timeout=600,
                transport=httpx.ASGITransport(api(app, inside=True)),
            )
        )
        self._api_is_up = True


class _StoreClient(Client):
    """The client of a store in this process: nothing is streamed through it, so it looks again and again."""

    def __init__(self, place: Where, opened: AsyncExitStack) -> None:
        self.server = place.store
        self._use(_OnStore(place, opened))

    async def follow(
        self, *, pattern: str = "*", subject: str | None = None, after: int | None = None
    ) -> AsyncIterator[Json]:
        from fnmatch import fnmatchcase

        if after is None:
            found = await self.events(newest=True, limit=1)
            after = int(found[-1]["seq"]) if found else 0
        while True:
            for event in await self.events(after=after, subject=subject, limit=500):
                after = int(event["seq"])
                if fnmatchcase(event["name"], pattern):
                    yield event
            await asyncio.sleep(_LOOK)


# The options that every command has, after its own.

_STORE = Annotated[str | None, typer.Option(help="A store. [env: OSTINATO_STORE] [default: sqlite:///ostinato.db]")]
_SERVER = Annotated[str | None, typer.Option(help="A server instead, as http://…. [env: OSTINATO_SERVER]")]
_TOKEN = Annotated[str | None, typer.Option(help="For the server. [env: OSTINATO_TOKEN]")]
_NAMESPACE = Annotated[str | None, typer.Option(help="[env: OSTINATO_NAMESPACE] [default: the token's, or default]")]
_CA = Annotated[str | None, typer.Option(help="PEM file to check the server's certificate by. [env: OSTINATO_CA]")]
_JSON = Annotated[bool, typer.Option("--json", help="Answer in JSON.")]
_SHARED = {"store": _STORE, "server": _SERVER, "token": _TOKEN, "namespace": _NAMESPACE, "ca": _CA}


@dataclass(frozen=True, slots=True)
class Session:
    """What a command is given: whom to ask, and how to answer."""

    client: Client
    out: Answers
    place: Where


Command = Callable[..., Awaitable[None]]


@contextmanager
def or_an_empty_one(place: Where, only_a_plan: bool, otherwise: str) -> Iterator[Where]:
    """The same place, or, for a plan on a store that is not there yet, an empty store for the moment."""
    if not only_a_plan or place.server is not None or is_there(place.store):
        yield place
        return
    typer.echo(f"note: there is no store {place.store} yet; {otherwise} it is created", err=True)
    with TemporaryDirectory() as folder:
        yield replace(place, store=f"sqlite:///{folder}/empty.db")


def command(group: typer.Typer, name: str | None = None, *, creates: bool = False) -> Callable[[Command], Command]:
    """Make an async function `(session, …)` a command with the options that say where."""

    def register(function: Command) -> Command:
        def run(*, store: Any, server: Any, token: Any, namespace: Any, ca: Any, as_json: bool, **given: Any) -> None:
            place = where(store, server, token, namespace, ca)

            async def work() -> None:
                async with reach(place, create=creates) as client:
                    await function(Session(client, Answers(as_json), place), **_gathered(function, given))

            quietly(work())

        _like(run, function)
        group.command(name or function.__name__.replace("_", "-"))(run)
        return function

    return register


def place_command(group: typer.Typer, name: str | None = None) -> Callable[[Command], Command]:
    """The same for what has something to do before it opens the place, or instead: `(place, out, …)`."""

    def register(function: Command) -> Command:
        def run(*, store: Any, server: Any, token: Any, namespace: Any, ca: Any, as_json: bool, **given: Any) -> None:
            quietly(function(where(store, server, token, namespace, ca), Answers(as_json), **given))

        _like(run, function, skip=2)
        group.command(name or function.__name__.replace("_", "-"))(run)
        return function

    return register


def quietly(work: Any) -> None:
    """Run it. The log belongs to what serves; a command says what it has to say itself."""
    logger = logging.getLogger("ostinato")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        asyncio.run(work)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    finally:
        logger.setLevel(before)


def _like(run: Callable[..., None], function: Command, skip: int = 1) -> None:
    """Give it the function's own parameters, without the first, and those that every command has. A parameter that is
    a dataclass stands for options that several commands share: one for each of its fields."""
    own = [part for one in _parameters(function)[skip:] for part in _spread(one)]
    kind = inspect.Parameter.KEYWORD_ONLY
    taken = {one.name for one in own}
    shared = [
        inspect.Parameter(name, kind, default=None, annotation=annotation)
        for name, annotation in _SHARED.items()
        if name not in taken
    ]
    last = inspect.Parameter("as_json", kind, default=False, annotation=_JSON)
    own = [one.replace(kind=kind) for one in own]
    run.__signature__ = inspect.Signature([*own, *shared, last])  # type: ignore[attr-defined]
    run.__annotations__ = {}
    run.__doc__ = function.__doc__
    run.__name__ = function.__name__


def _parameters(function: Command) -> list[inspect.Parameter]:
    return list(inspect.signature(function, eval_str=True).parameters.values())


def _spread(one: inspect.Parameter) -> list[inspect.Parameter]:
    if not is_dataclass(one.annotation):
        return [one]
    hints = get_type_hints(one.annotation, include_extras=True)
    return [
        inspect.Parameter(part.name, one.kind, default=part.default, annotation=hints[part.name])
        for part in fields(one.annotation)
    ]


def _gathered(function: Command, given: dict[str, Any]) -> dict[str, Any]:
    """What was given, with the options that belong together in one again."""
    for one in _parameters(function)[1:]:
        if is_dataclass(one.annotation):
            made: Any = one.annotation
            given[one.name] = made(**{part.name: given.pop(part.name) for part in fields(made)})
    return given
