"""`ostinato serve` runs the engine with the API. `ostinato worker` runs the engine alone.

After a signal, requests and runs in progress have time to finish. A second signal ends the process at once, as a crash
would.
"""

from __future__ import annotations

import asyncio
import gc
import inspect
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, contextmanager
from dataclasses import dataclass, fields
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ostinato.app import Ostinato
from ostinato.engine.log import log
from ostinato.errors import OstinatoError, install_hint
from ostinato.faces.cli import demo as the_demo
from ostinato.faces.cli.completion import log_formats, log_levels
from ostinato.faces.cli.configuration import Configuration, configuration, operator_settings
from ostinato.faces.cli.loading import load_app
from ostinato.faces.cli.logs import configure_logs
from ostinato.faces.cli.named_ways import more_ways
from ostinato.faces.cli.output import counted
from ostinato.faces.cli.session import parameter_options
from ostinato.model import read_length
from ostinato.until_signal import run_until_signal
from ostinato.when.instants import SECOND

if TYPE_CHECKING:  # only what serves pays for loading the faces
    from ostinato.faces.auth import Door
    from ostinato.faces.http.server import Listening
    from ostinato.faces.temporal.server import WireServer

_TO_STOP = 5.0  # seconds beyond the grace that a process needs to stop
_APP = Annotated[str | None, typer.Option("--app", help="Your app, as module:name. [default: one without jobs]")]
_STORE = Annotated[str | None, typer.Option(help="The store. [default: the app's own, else sqlite:///ostinato.db]")]
_CONFIG = Annotated[str | None, typer.Option(help="A TOML file with the same settings. [env: OSTINATO_CONFIG]")]
_RELOAD = Annotated[
    bool, typer.Option("--reload", help="Start again when a Python file of the app's folder changes: for development.")
]


@dataclass(frozen=True)
class NodeFlags:
    """The settings of a node, as flags. A flag that was not given is None."""

    queue: Annotated[list[str] | None, typer.Option(help="A queue to serve; several times for several.")] = None
    concurrency: Annotated[
        int | None, typer.Option(help="How many functions run at once. [default: the app's own, else 100]")
    ] = None
    threads: Annotated[
        int | None, typer.Option(help="Threads for plain functions. [default: the app's own, else 16]")
    ] = None
    lease: Annotated[str | None, typer.Option(help="How long after its last renewal a node counts as dead.")] = None
    grace: Annotated[str | None, typer.Option(help="How long a node that stops waits for what it runs.")] = None
    keep_runs: Annotated[str | None, typer.Option(help="How long runs that are over are kept.")] = None
    keep_events: Annotated[str | None, typer.Option(help="How long events are kept.")] = None
    egress_allow: Annotated[
        list[str] | None, typer.Option(help="A name or network that jobs and webhooks may call though it is private.")
    ] = None
    egress_allow_private: Annotated[
        bool | None,
        typer.Option("--egress-allow-private/--no-egress-allow-private", help="Let them call private addresses."),
    ] = None
    egress_only: Annotated[
        list[str] | None, typer.Option(help="Let them call nothing but these names and networks.")
    ] = None
    egress_deny: Annotated[list[str] | None, typer.Option(help="A name or network that they never call.")] = None
    log_format: Annotated[
        str | None, typer.Option(help="text or json. [default: text]", autocompletion=log_formats)
    ] = None
    log_level: Annotated[
        str | None, typer.Option(help="debug, info, warning, error. [default: info]", autocompletion=log_levels)
    ] = None


def takes_way_settings(function: Callable[..., None]) -> Callable[..., None]:
    """Decorate a command whose parameter `node` is a `NodeFlags`. The decorated command has an option for each field of
    `NodeFlags`, and an option for each setting of an extension (`Way`) that operators can set."""
    declared = inspect.signature(function, eval_str=True).parameters.values()
    options = [
        option
        for parameter in declared
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD
        for option in parameter_options(parameter)
    ]
    for name, setting in operator_settings().items():
        kind: Any = Annotated[list[str] | None if setting.many else str | None, typer.Option(help=setting.help)]
        options.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind))

    @wraps(function)
    def run(**values: Any) -> None:
        node = NodeFlags(**{flag.name: values.pop(flag.name) for flag in fields(NodeFlags)})
        function(node=node, **values)

    run.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    run.__annotations__ = {}
    return run


@takes_way_settings
def serve(
    *,
    store: _STORE = None,
    app: _APP = None,
    host: Annotated[str | None, typer.Option(help="Where to listen. [default: 127.0.0.1]")] = None,
    port: Annotated[int | None, typer.Option(help="0 takes any that is free. [default: 8471]")] = None,
    allow_host: Annotated[list[str] | None, typer.Option(help="A host name that this server answers to.")] = None,
    allow_origin: Annotated[
        list[str] | None, typer.Option(help="An address under which a proxy shows this server: its pages may write.")
    ] = None,
    trusted_proxy: Annotated[
        list[str] | None, typer.Option(help="A proxy, or a network of them, whose X-Forwarded-For is believed.")
    ] = None,
    require_token: Annotated[
        bool | None, typer.Option("--require-token/--no-require-token", help="Ask for a token on loopback, too.")
    ] = None,
    temporal: Annotated[
        str | None, typer.Option(help="Speak Temporal's protocol, too: HOST:PORT, such as 127.0.0.1:7233.")
    ] = None,
    tls_certificate: Annotated[str | None, typer.Option(help="A PEM file: serve HTTPS.")] = None,
    tls_key: Annotated[str | None, typer.Option(help="Its key, a PEM file.")] = None,
    no_engine: Annotated[bool | None, typer.Option("--no-engine/--engine", help="The API only.")] = None,
    linger: Annotated[
        str | None, typer.Option(help="How long to keep answering, as not ready, before closing. [default: 0s]")
    ] = None,
    node: NodeFlags,
    config: _CONFIG = None,
    reload: _RELOAD = False,
    demo: Annotated[bool, typer.Option("--demo", help="Run demo schedules, shown live in the terminal.")] = False,
    demo_seconds: Annotated[
        float, typer.Option(help="End the demo after this many seconds; 0: never.", envvar="OSTINATO_DEMO_SECONDS")
    ] = 0,
    **of_ways: Any,
) -> None:
    """Run the engine and the API in one process."""
    others = ("others", "node", "config", "reload", "demo", "demo_seconds", "of_ways")
    flags = {name: value for name, value in locals().items() if name not in others}
    settings = configuration({**flags, **vars(node), **of_ways}, config)
    if reload:
        if demo:
            raise OstinatoError("--demo brings its own app, which does not change; leave out --reload")
        _reload(settings)
    if demo:
        if settings.app is not None or settings.no_engine:
            raise OstinatoError("--demo brings its own app and its engine; leave out --app and --no-engine")
        run_until_signal(lambda stop: _demonstrate(settings, stop, demo_seconds, any_port=port is None))
        return
    configure_logs(settings.log_format, settings.log_level)
    with _errors_as_lines(settings):
        run_until_signal(lambda stop: _serve(settings, stop))


@takes_way_settings
def worker(
    *,
    store: _STORE = None,
    app: _APP = None,
    node: NodeFlags,
    config: _CONFIG = None,
    reload: _RELOAD = False,
    **of_ways: Any,
) -> None:
    """Run the engine without the API."""
    settings = configuration({"store": store, "app": app, **vars(node), **of_ways}, config)
    if reload:
        _reload(settings)
    configure_logs(settings.log_format, settings.log_level)
    with _errors_as_lines(settings):
        run_until_signal(lambda stop: _work(settings, stop))


def _reload(settings: Configuration) -> None:
    from ostinato.faces.cli.reloading import run_reloading

    grace = settings.settings.get("grace", "10s")
    run_reloading(settings.app, read_length(grace, "grace") / SECOND + settings.linger + _TO_STOP)


def make_app(settings: Configuration) -> Ostinato:
    """Return the app that the settings name, with the settings applied. If they name no app, return an empty app."""
    if settings.app is None:
        return Ostinato(settings.store or "sqlite:///ostinato.db", ways=more_ways(), **settings.settings)
    app = load_app(settings.app)
    app.configure(settings.store, **settings.settings)
    return app


async def _work(settings: Configuration, stop: asyncio.Event) -> None:
    app = make_app(settings)
    async with app:
        _announce(settings, f"Ostinato works on {app.store.url}", "working", store=app.store.url)
        _say_without_jobs(app, settings)
        _settle()
        await stop.wait()
        _say_stopping(app, settings)


async def _serve(settings: Configuration, stop: asyncio.Event) -> None:
    # Report a wrong app or address before anything else is loaded or opened.
    app = make_app(settings)

    def listening(address: str) -> None:
        what = "the API only" if settings.no_engine else "engine and API"
        words = f"Ostinato is listening on {address} ({what}, {app.store.url})"
        _announce(settings, words, "listening", address=address)
        if not settings.no_engine:
            _say_without_jobs(app, settings)

    await _answer(app, settings, stop, listening, engine=not settings.no_engine)


async def _demonstrate(settings: Configuration, stop: asyncio.Event, seconds: float, *, any_port: bool) -> None:
    configure_logs("text", "critical")
    url = settings.store or "sqlite:///ostinato-demo.db"  # not the default store, which may hold a user's data
    before = 0

    with the_demo.services() as services:
        app = the_demo.build(url, services)

        async def beside(address: str) -> None:
            nonlocal before
            before = sum((await app.counts()).values())
            await the_demo.schedule(app, services)
            if seconds:  # counted from here, so that the time of the start is not included
                asyncio.get_running_loop().call_later(seconds, stop.set)
            await the_demo.show(app, stop, address)

        def listening(address: str) -> None:
            typer.echo(f"Ostinato is listening on {address}")

        await _answer(app, settings, stop, listening, any_port=any_port, beside=beside)
    words = f"It found {before} runs of an earlier time and went on." if before else "Run it again: it goes on."
    typer.echo(f"Stopped. Everything is in {url}. {words}")


async def _answer(
    app: Ostinato,
    settings: Configuration,
    stop: asyncio.Event,
    listening: Callable[[str], None],
    *,
    engine: bool = True,
    any_port: bool = False,
    beside: Callable[[str], Coroutine[Any, Any, None]] | None = None,
) -> None:
    """Serve the app until `stop` is set.

    - `listening`: a function that is called with the server's address as soon as the server accepts requests
    - `engine`: if it is false, this process serves only the API, and runs no jobs
    - `any_port`: if it is true and the port is in use, the server listens on a free port
    - `beside`: a coroutine function that is called with the server's address, and runs as a task beside the server
    """
    from ostinato.faces.auth import Door
    from ostinato.faces.http.server import Listening, check_listening, listen, serve

    where = Listening(
        host=settings.host,
        port=settings.port,
        hosts=settings.allow_host,
        origins=settings.allow_origin,
        trusted_proxies=settings.trusted_proxy,
        require_token=settings.require_token,
        tls_certificate=settings.tls_certificate,
        tls_key=settings.tls_key,
    )
    tasks: list[asyncio.Task[None]] = []

    def heard(address: str) -> None:
        listening(address)
        _settle()
        if beside is not None:
            tasks.append(asyncio.create_task(beside(address)))

    beyond = [place for place in (where, wire_place(settings)) if place is not None and not place.loopback]
    if beyond:  # check before a node starts, because a refused address would stop it at once
        async with app.connected():
            for place in beyond:
                await check_listening(app, place)
    entry = Door(app, open_on_loopback=where.open)
    with listen(where, any_port=any_port) as listener:
        wire = _wire(settings, entry)
        opened: AbstractAsyncContextManager[Any] = app if engine else app.connected()
        async with opened, AsyncExitStack() as faces:
            if wire is not None:
                address = await faces.enter_async_context(wire.serving())
                words = f"Ostinato speaks Temporal's protocol on {address}"
                _announce(settings, words, "listening_temporal", address=address)
            leaving = asyncio.create_task(_when_stopping(app, settings, stop)) if beside is None else None
            try:
                await serve(app, where, listener, stop, listening=heard, linger=settings.linger, entry=entry)
            finally:
                if leaving is not None:
                    leaving.cancel()
            await asyncio.gather(*tasks)
            if beside is not None:  # now the picture no longer covers the screen
                _say_stopping(app, settings)


def _settle() -> None:
    """Exclude all existing objects from garbage collection, because they live until the process ends."""
    gc.collect()
    gc.freeze()


def wire_place(settings: Configuration) -> Listening | None:
    """Return the address for Temporal's clients. Returns None if the setting `temporal` is not given. Raises
    `OstinatoError` if the setting is not HOST:PORT."""
    from ostinato.faces.http.server import Listening

    if settings.temporal is None:
        return None
    host, _, port = settings.temporal.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isdigit() or int(port) > 65_535:
        raise OstinatoError(f"temporal {settings.temporal!r} is not HOST:PORT; write 127.0.0.1:7233")
    return Listening(
        host=host,
        port=int(port),
        require_token=settings.require_token,
        tls_certificate=settings.tls_certificate,
        tls_key=settings.tls_key,
    )


def _wire(settings: Configuration, entry: Door) -> WireServer | None:
    where = wire_place(settings)
    if where is None:
        return None
    try:
        from ostinato.faces.temporal.server import WireServer
    except ImportError as problem:
        raise OstinatoError(
            f"Temporal's protocol needs {problem.name}, which is not installed; {install_hint('temporal')}"
        ) from None
    return WireServer(entry.beside(open_on_loopback=where.open), where)


def _say_without_jobs(app: Ostinato, settings: Configuration) -> None:
    if not app.engine.handlers.keys() - app.built_in_jobs:
        name = "" if settings.app is not None else ": name your app with --app module:name"
        functions = sorted({code.name for code in app.functions.codes})
        shown = _list_names("workflow", app.workflows.declared_names) + _list_names("function", functions)
        words = f"It has {shown}no jobs of its own{name}. Jobs wait for a node that knows them."
        _announce(settings, words, "no_jobs")


def _list_names(kind: str, names: Sequence[str]) -> str:
    """Return the part of a sentence that lists `names`, for example "workflows a, b, and ". `kind` is the noun in the
    singular, such as "workflow". Only the first five names are listed, with the number of the others. Returns "" if
    there are no names."""
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"{kind}{'s' * (len(names) > 1)} {', '.join(names[:5])}{more}, and " if names else ""


async def _when_stopping(app: Ostinato, settings: Configuration, stop: asyncio.Event) -> None:
    await stop.wait()
    _say_stopping(app, settings)


def _say_stopping(app: Ostinato, settings: Configuration) -> None:
    running = len(app.engine.bodies.running)
    grace = f"{app.settings.grace / SECOND:g} s"
    runs = counted(running, "run")
    words = f"stopping: waits up to {grace} for {runs}; press Ctrl-C again to stop at once" if running else "stopping"
    _announce(settings, words, "stopping", runs=running)


@contextmanager
def _errors_as_lines(settings: Configuration) -> Iterator[None]:
    """Handle an `OstinatoError` that the `with` block raises. If the log format is JSON, write the error as a log line
    and exit. If it is text, raise the error again."""
    try:
        yield
    except OstinatoError as problem:
        if settings.log_format != "json":
            raise
        from ostinato.faces.cli.main import code_of

        log.critical(str(problem), action="not_started")
        raise typer.Exit(code_of(problem)) from None


def _announce(settings: Configuration, words: str, action: str, **more: str | int) -> None:
    if settings.log_format == "json":
        log.info(words, action=action, **more)
    else:
        typer.echo(words)
