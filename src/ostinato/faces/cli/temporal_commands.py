"""`ostinato import temporal` and `ostinato export temporal`: copy schedules from and to a Temporal cluster."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from ostinato.errors import OstinatoError, install_hint
from ostinato.faces.cli.named_ways import more_ways
from ostinato.faces.cli.output import CommandOutput, table
from ostinato.faces.cli.session import StoreOrServer, or_empty_store, require_existing
from ostinato.store.schema_version import check_usable

if TYPE_CHECKING:
    from ostinato.app import Ostinato
    from ostinato.faces.temporal.import_export import Cluster, TransferPlan

_STYLES = {"create": "green", "update": "yellow", "unchanged": "dim", "refuse": "red"}
Planned = Callable[["Cluster", "Ostinato"], Awaitable["TransferPlan"]]
Match = Annotated[str, typer.Option(help="Only schedules whose id fits, such as 'billing-*'.")]
Paused = Annotated[bool, typer.Option("--paused", help="Leave the copies paused until someone resumes them.")]
Apply = Annotated[bool, typer.Option("--apply", help="Do it; without this, only show what would be done.")]
Address = Annotated[str, typer.Argument(help="Where the cluster answers: HOST:PORT.", metavar="HOST:PORT")]


@dataclass(frozen=True, slots=True)
class ClusterAccess:
    """The namespace in the cluster, and the credentials for the cluster."""

    temporal_namespace: Annotated[str, typer.Option(help="The namespace there.")] = "default"
    tls: Annotated[bool, typer.Option("--tls", help="Use TLS.")] = False
    tls_ca: Annotated[str, typer.Option("--tls-ca", help="PEM file to check the cluster's certificate by.")] = ""
    api_key: Annotated[str, typer.Option("--api-key", help="Sent with every call.", envvar="TEMPORAL_API_KEY")] = ""


async def import_temporal(
    place: StoreOrServer,
    out: CommandOutput,
    address: Address,
    access: ClusterAccess,
    query: Annotated[str, typer.Option(help="Only schedules that this query of Temporal's finds.")] = "",
    match: Match = "*",
    paused: Paused = False,
    apply_now: Apply = False,
) -> None:
    """Import schedules from a Temporal cluster, with the same jitter. Without --apply, only show the plan."""
    plan = partial(_import_export().plan_import, query=query, match=match, paused=paused)
    await _move(place, out, address, access, plan, apply_now)


async def export_temporal(
    place: StoreOrServer,
    out: CommandOutput,
    address: Address,
    access: ClusterAccess,
    match: Match = "*",
    paused: Paused = False,
    apply_now: Apply = False,
) -> None:
    """Export schedules to a Temporal cluster. Without --apply, only show the plan. Schedules that Temporal cannot
    express are listed and not exported."""
    plan = _import_export().plan_export
    store = place.require_store("export temporal")
    require_existing(store)
    await check_usable(store, create=False)
    await _move(
        place, out, address, access, lambda cluster, app: plan(app, cluster, match=match, paused=paused), apply_now
    )


def _import_export() -> Any:
    try:
        from ostinato.faces.temporal import import_export
    except ImportError as problem:
        raise OstinatoError(f"this needs {problem.name}, which is not installed; {install_hint('temporal')}") from None
    return import_export


async def _move(
    place: StoreOrServer, out: CommandOutput, address: str, access: ClusterAccess, planned: Planned, apply_now: bool
) -> None:
    """Print a plan for copying schedules from or to a Temporal cluster. `planned` makes the plan. If `apply_now` is
    true, also make the changes in the plan. Exit with code 1 if a schedule cannot be copied, or if copying a schedule
    has failed."""
    from ostinato.app import Ostinato

    place.require_store("moving schedules from and to a cluster")
    wrong: dict[str, str] = {}
    async with AsyncExitStack() as opened:
        target = opened.enter_context(or_empty_store(place, not apply_now, "with --apply"))
        store = target.require_store("moving schedules from and to a cluster")
        await check_usable(store, create=apply_now or target is not place)
        app = Ostinato(store, namespace=place.namespace or "default", ways=more_ways())
        await opened.enter_async_context(app.connected())
        certificates = _certificates(access.tls_ca) if access.tls_ca else None
        cluster = await _import_export().Cluster.connect(
            address, access.temporal_namespace, tls=access.tls, ca=certificates, key=access.api_key or None
        )
        with _import_export().cluster_errors(address):
            plan = await planned(cluster, app)
        if not out.as_json:
            _show(plan, out)
        if apply_now:
            with out.progress("moved", len(plan.steps)) as tell, _import_export().cluster_errors(address):
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


def _show(plan: TransferPlan, out: CommandOutput) -> None:
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
