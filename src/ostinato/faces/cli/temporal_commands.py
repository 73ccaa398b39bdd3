"""`ostinato import temporal` and `ostinato export temporal`: schedules from and to a Temporal cluster, through its own
API. What would be done is said first; `--apply` does it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from ostinato.errors import OstinatoError
from ostinato.faces.cli.answers import Answers, table
from ostinato.faces.cli.target import Where, must_exist, or_an_empty_one
from ostinato.store.schema import check_usable

if TYPE_CHECKING:
    from ostinato.app import Ostinato
    from ostinato.faces.temporal.moving import Cluster, Moving

_ADDRESS = Annotated[str, typer.Argument(help="Where the cluster answers: HOST:PORT.", metavar="HOST:PORT")]
_THERE = Annotated[str, typer.Option(help="The namespace there.")]
_MATCH = Annotated[str, typer.Option(help="Only schedules whose id fits, such as 'billing-*'.")]
_APPLY = Annotated[bool, typer.Option("--apply", help="Do it; else it is only said what would be done.")]
_PAUSED = Annotated[bool, typer.Option("--paused", help="Where they come to, they are paused until someone resumes.")]
_TLS = Annotated[bool, typer.Option("--tls", help="Speak TLS.")]
_CA = Annotated[str, typer.Option("--tls-ca", help="PEM file to check the cluster's certificate by.")]
_KEY = Annotated[str, typer.Option("--api-key", help="Sent with every call.", envvar="TEMPORAL_API_KEY")]
_STYLES = {"create": "green", "update": "yellow", "unchanged": "dim", "refuse": "red"}
Planned = Callable[["Cluster", "Ostinato"], Awaitable["Moving"]]


async def import_temporal(
    place: Where,
    out: Answers,
    address: _ADDRESS,
    temporal_namespace: _THERE = "default",
    query: Annotated[str, typer.Option(help="Only schedules that this query of Temporal's finds.")] = "",
    match: _MATCH = "*",
    paused: _PAUSED = False,
    apply_now: _APPLY = False,
    tls: _TLS = False,
    tls_ca: _CA = "",
    api_key: _KEY = "",
) -> None:
    """Import schedules from a Temporal cluster, jitter included."""
    moving = _moving()

    async def planned(cluster: Cluster, app: Ostinato) -> Moving:
        plan: Moving = await moving.plan_import(cluster, app, query=query, match=match, paused=paused)
        return plan

    there = (address, temporal_namespace, tls, tls_ca, api_key)
    await _move(place, out, there, planned, apply_now)


async def export_temporal(
    place: Where,
    out: Answers,
    address: _ADDRESS,
    temporal_namespace: _THERE = "default",
    match: _MATCH = "*",
    paused: _PAUSED = False,
    apply_now: _APPLY = False,
    tls: _TLS = False,
    tls_ca: _CA = "",
    api_key: _KEY = "",
) -> None:
    """Export schedules to a Temporal cluster. What its specs cannot hold stays here, and is named."""
    moving = _moving()

    async def planned(cluster: Cluster, app: Ostinato) -> Moving:
        plan: Moving = await moving.plan_export(app, cluster, match=match, paused=paused)
        return plan

    store = place.only_a_store("export temporal")
    must_exist(store)
    await check_usable(store, create=False)
    there = (address, temporal_namespace, tls, tls_ca, api_key)
    await _move(place, out, there, planned, apply_now)


def _moving() -> Any:
    try:
        from ostinato.faces.temporal import moving
    except ImportError as problem:
        raise OstinatoError(
            f"this needs {problem.name}, which is not installed: pip install 'ostinato[temporal]'"
        ) from None
    return moving


async def _move(
    place: Where, out: Answers, there: tuple[str, str, bool, str, str], planned: Planned, apply_now: bool
) -> None:
    """Plan, show, do. Exit code 1 if something cannot be moved."""
    from ostinato.app import Ostinato

    address, space, tls, ca, key = there
    place.only_a_store("moving schedules from and to a cluster")
    wrong: dict[str, str] = {}
    async with AsyncExitStack() as opened:
        target = opened.enter_context(or_an_empty_one(place, not apply_now, "with --apply"))
        store = target.only_a_store("moving schedules from and to a cluster")
        await check_usable(store, create=apply_now or target is not place)
        app = await opened.enter_async_context(Ostinato(store, namespace=place.namespace or "default").connected())
        certificates = _certificates(ca) if ca else None
        cluster = await _moving().Cluster.reach(address, space, tls=tls, ca=certificates, key=key or None)
        with _moving().answering(address):
            plan = await planned(cluster, app)
        if not out.as_json:
            _show(plan, out)
        if apply_now:
            with out.progress("moved", len(plan.steps)) as tell, _moving().answering(address):
                wrong = await plan.apply(lambda done, of: tell(done))
    if out.as_json:
        steps = [step.as_dict() for step in plan.steps]
        out.json({"done": apply_now, "steps": steps, "notes": plan.notes, "failed": wrong})
    else:
        for name, why in wrong.items():
            out.say(None, Text(f"not {name}: {why}", style="red"))
        hint = "" if apply_now or not plan.changes else "; --apply does it"
        out.say(None, plan.count(done=apply_now) + hint)
    if plan.refused or wrong:
        raise typer.Exit(1)


def _show(plan: Moving, out: Answers) -> None:
    shown = [step for step in plan.steps if step.verb != "unchanged"]
    if shown:
        rows = ((Text(step.verb, style=_STYLES[step.verb]), step.name, step.words) for step in shown)
        out.console.print(table(("", "schedule", ""), rows))
    for note in plan.notes:
        out.say(None, Text(f"note: {note}", style="yellow"))


def _certificates(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as problem:
        raise OstinatoError(f"the certificates {path} cannot be read: {problem.strerror}") from None
