"""Turn functions into commands that work on a store or on a server, through the same client.

On a store, `store_reads` answers most reads. The API's own functions answer all other calls, in this process.
"""

from __future__ import annotations

import asyncio
import inspect
import json
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
from ostinato.client.calling import Calling, content_of, error_by_status, headers_of, query_of, without_none
from ostinato.errors import OstinatoError, StoreUnavailable
from ostinato.faces.cli.output import CommandOutput

DEFAULT_STORE = "sqlite:///ostinato.db"
PATIENCE = 10.0  # seconds to retry while a server does not answer
_POLL = 0.3  # seconds between two reads of a store whose events are followed


@dataclass(frozen=True, slots=True)
class StoreOrServer:
    """The store or the server that a command works on. If `server` is given, the store is not used."""

    store: str
    server: str | None = None
    token: str | None = None
    namespace: str | None = None
    ca: str | None = None

    def require_store(self, command: str) -> str:
        """Return the URL of the store. Raises `OstinatoError` if the place is a server."""
        if self.server is not None:
            raise OstinatoError(f"{command} works on the store itself; run it where the store is, with --store")
        return self.store


def read_place(
    store: str | None, server: str | None, token: str | None, namespace: str | None, ca: str | None = None
) -> StoreOrServer:
    """Return the place that the options name. An option that is None is read from its environment variable, for example
    `OSTINATO_TOKEN`. But if `store` is given, `OSTINATO_SERVER` is ignored. Raises `OstinatoError` if both `store` and
    `server` are given."""
    if store is not None and server is not None:
        raise OstinatoError("--store and --server are two places; name one")
    if store is None:
        server = server or os.environ.get("OSTINATO_SERVER") or None
    return StoreOrServer(
        store=store or os.environ.get("OSTINATO_STORE") or DEFAULT_STORE,
        server=server,
        token=token or os.environ.get("OSTINATO_TOKEN") or None,
        namespace=namespace or os.environ.get("OSTINATO_NAMESPACE") or None,
        ca=ca or os.environ.get("OSTINATO_CA") or None,
    )


def certificates(place: StoreOrServer) -> Any:
    """Return the value of httpx's option `verify`. The value has the certificates that the user named. If the user
    named none, the value is True, and httpx uses the certificates of the system.

    Raises `OstinatoError` if the certificates cannot be read.
    """
    if place.ca is None:
        return True
    try:
        return ssl.create_default_context(cafile=place.ca)
    except OSError as problem:
        raise OstinatoError(f"the certificates {place.ca} cannot be read: {problem}") from None


@asynccontextmanager
async def connect(place: StoreOrServer, *, create: bool = False) -> AsyncIterator[Client]:
    """Open a client for `place`. If `place` is a store and `create` is true, create a missing store, and migrate a
    store with an older schema. If `create` is false, such a store is an error."""
    if place.server is not None:
        async with Client(
            place.server, token=place.token, namespace=place.namespace, patience=PATIENCE, verify=certificates(place)
        ) as client:
            yield client
        return
    from ostinato.store.schema_version import check_usable

    if not create:
        require_existing(place.store)
    await check_usable(place.store, create=create)
    async with AsyncExitStack() as opened:
        yield _StoreClient(place, opened, create)


def require_existing(store: str) -> None:
    """Raise `StoreUnavailable` if the store's file is missing. Opening a mistyped name would create a store."""
    if not store_exists(store):
        raise StoreUnavailable(
            f"there is no store {store}; name one with --store or OSTINATO_STORE, or a server with --server"
        )


def store_exists(store: str) -> bool:
    """Return whether the file of a SQLite store exists. For any other store, return True, because only opening the
    store shows whether it exists."""
    path = store.removeprefix("sqlite:///")
    return "://" in path or Path(path).exists()


class _StoreCalls(Calling):
    """Answers calls from a store, in this process. The module `store_reads` answers most reads, and the functions of
    the HTTP API answer all other calls."""

    def __init__(self, place: StoreOrServer, opened: AsyncExitStack, create: bool) -> None:
        self.server = place.store
        self.patience = 0.0
        self._create = create
        self._place = place
        self._opened = opened
        self._reader: Any = None
        self._direct: Any = None

    async def call(self, method: str, path: str, body: Mapping[str, Any] | None = None, **how: Any) -> Any:
        if method == "GET" and self._direct is None:
            from ostinato.faces.cli.store_reads import NeedsApi, StoreReader, answer_for

            match = answer_for(path)
            if match is not None:
                if self._reader is None:
                    self._reader = StoreReader(self._place.store, self._place.namespace)
                    self._opened.push_async_callback(self._reader.close)
                    await self._reader.open()
                answer, names = match
                with suppress(NeedsApi):
                    return await answer(self._reader, *names, **without_none(**how))
        return await super().call(method, path, body, **how)

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
    ) -> Any:
        from ostinato.faces.http.in_process import Failed

        if self._direct is None:
            self._direct = await self._open()
        sent = headers_of(method, body, key, if_match, headers)
        try:
            answer = await self._direct.ask(method, path, content_of(body), query_of(params), sent)
        except Failed as problem:
            fault = problem.fault
            error = error_by_status(fault.status, fault.body["detail"], fault.body)
            raise error from error.__cause__
        return _Response(answer.status, answer.body)

    async def _open(self) -> Any:
        from ostinato.app import Ostinato
        from ostinato.faces.cli.configuration import command_egress
        from ostinato.faces.cli.named_ways import more_ways, newest_schemas
        from ostinato.faces.http.in_process import Direct
        from ostinato.store.schema_version import check_usable

        await check_usable(self.server, create=self._create, ways=newest_schemas())  # opening the app would migrate it
        app = Ostinato(self._place.store, ways=more_ways(), egress=command_egress())
        app.computing.alone = True
        await self._opened.enter_async_context(app.connected())
        return Direct(app, self._place.namespace)


@dataclass(frozen=True, slots=True)
class _Response:
    """A small replacement for httpx's `Response`. It has only the attributes and methods that `Calling` uses."""

    status_code: int
    content: bytes

    @property
    def text(self) -> str:
        return self.content.decode()

    def json(self) -> Any:
        return json.loads(self.content)


class _StoreClient(Client):
    """The client of a store in this process. It has no stream of events, so `follow` polls."""

    def __init__(self, place: StoreOrServer, opened: AsyncExitStack, create: bool = False) -> None:
        self.server = place.store
        self._use(_StoreCalls(place, opened, create))

    async def follow(
        self, *, pattern: str = "*", subject: str | None = None, after: int | None = None
    ) -> AsyncIterator[Json]:
        from fnmatch import fnmatchcase

        if after is None:
            newest = await self.events(newest=True, limit=1)
            after = int(newest[-1]["seq"]) if newest else 0
        while True:
            for event in await self.events(after=after, subject=subject, limit=500):
                after = int(event["seq"])
                if fnmatchcase(event["name"], pattern):
                    yield event
            await asyncio.sleep(_POLL)


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
    """The first argument of a command. It has a client, the output, and the place to which the client is connected."""

    client: Client
    out: CommandOutput
    place: StoreOrServer


Command = Callable[..., Awaitable[None]]


@contextmanager
def or_empty_store(place: StoreOrServer, only_a_plan: bool, otherwise: str) -> Iterator[StoreOrServer]:
    """Yield the place that a command works on.

    - If `only_a_plan` is true and the store of `place` does not exist, print a note, and yield a copy of `place` with
      an empty temporary store. The text `otherwise`, for example "with --apply", tells the user in the note how to
      create the store.
    - In all other cases, yield `place`.
    """
    if not only_a_plan or place.server is not None or store_exists(place.store):
        yield place
        return
    typer.echo(f"note: there is no store {place.store} yet; {otherwise} it is created", err=True)
    with empty_store(place) as empty:
        yield empty


@contextmanager
def empty_store(place: StoreOrServer) -> Iterator[StoreOrServer]:
    """Yield a copy of `place` with an empty temporary store. The store is removed afterwards."""
    with TemporaryDirectory() as folder:
        yield replace(place, store=f"sqlite:///{folder}/empty.db")


def command_group(help: str) -> typer.Typer:
    return typer.Typer(help=help, no_args_is_help=True, rich_markup_mode=None)


def command(group: typer.Typer, name: str | None = None, *, creates: bool = False) -> Callable[[Command], Command]:
    """Return a decorator that adds an async function `(session, …)` to `group` as a command. If `creates` is true, the
    command may create a missing store."""

    async def run(function: Command, place: StoreOrServer, out: CommandOutput, options: dict[str, Any]) -> None:
        async with connect(place, create=creates) as client:
            await function(Session(client, out, place), **options)

    return lambda function: _register(group, name, function, run, skip=1)


def place_command(group: typer.Typer, name: str | None = None) -> Callable[[Command], Command]:
    """Return a decorator that adds an async function `(place, out, …)` to `group` as a command. If the function needs a
    client, it must connect to `place` itself."""

    async def run(function: Command, place: StoreOrServer, out: CommandOutput, options: dict[str, Any]) -> None:
        await function(place, out, **options)

    return lambda function: _register(group, name, function, run, skip=2)


def _register(group: typer.Typer, name: str | None, function: Command, run: Any, *, skip: int) -> Command:
    """Add `function` to `group` as a command, and return `function`. When the user calls the command, `run` calls
    `function`.

    The command has the options that every command has, such as --store. It also has one option or argument for each
    parameter of `function`, with two exceptions:

    - The first `skip` parameters have no option. `run` passes the arguments for them, for example the session.
    - A parameter whose type is a dataclass has an option or argument for each field of the dataclass.
    """
    parameters = list(inspect.signature(function, eval_str=True).parameters.values())[skip:]
    groups: dict[str, Any] = {one.name: one.annotation for one in parameters if is_dataclass(one.annotation)}

    def start(*, as_json: bool, **options: Any) -> None:
        shared = [options.pop(name) for name in _SHARED]
        for group_name, kind in groups.items():
            options[group_name] = kind(**{part.name: options.pop(part.name) for part in fields(kind)})
        run_quietly(run(function, read_place(*shared), CommandOutput(as_json), options))

    keyword = inspect.Parameter.KEYWORD_ONLY
    taken = [part.replace(kind=keyword) for one in parameters for part in parameter_options(one)]
    names = {one.name for one in taken}
    shared = [
        inspect.Parameter(name, keyword, default=None, annotation=annotation)
        for name, annotation in _SHARED.items()
        if name not in names
    ]
    last = inspect.Parameter("as_json", keyword, default=False, annotation=_JSON)
    start.__signature__ = inspect.Signature([*taken, *shared, last])  # type: ignore[attr-defined]
    start.__annotations__ = {}
    start.__doc__ = function.__doc__
    start.__name__ = function.__name__
    group.command(name or function.__name__.replace("_", "-"))(start)
    return function


def parameter_options(parameter: inspect.Parameter) -> list[inspect.Parameter]:
    """If the type of `parameter` is a dataclass, return a parameter for each field. Otherwise return `[parameter]`."""
    if not is_dataclass(parameter.annotation):
        return [parameter]
    hints = get_type_hints(parameter.annotation, include_extras=True)
    return [
        inspect.Parameter(part.name, parameter.kind, default=part.default, annotation=hints[part.name])
        for part in fields(parameter.annotation)
    ]


def run_quietly(work: Any) -> None:
    """Run a coroutine without log lines, because a command prints its own answer. Ctrl-C exits with code 130."""
    logger = logging.getLogger("ostinato")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        asyncio.run(work)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    finally:
        logger.setLevel(before)
