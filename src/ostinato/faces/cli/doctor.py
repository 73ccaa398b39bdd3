"""`ostinato doctor`: check the store and the server, and print a remedy for each problem."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from ostinato.client import Json
from ostinato.errors import StoreError
from ostinato.faces.cli.output import COLOURS, CommandOutput
from ostinato.faces.cli.session import StoreOrServer, connect

_MARKS = {"ok": "✓", "notice": "!", "wrong": "✗"}


async def doctor(
    place: StoreOrServer,
    out: CommandOutput,
    repair: Annotated[bool, typer.Option("--repair", help="Repair what is safe to repair.")] = False,
) -> None:
    """Check the store and the server, and say what to do. Exit code 1 if something is wrong."""
    checks = [] if place.server is not None else await _store(place.store)
    if place.server is not None:
        async with connect(place) as client:
            checks.append(_ready(await client.ready()))
            checks += (await client.diagnose(repair=repair))["items"]
    elif all(one["state"] == "ok" for one in checks):
        from ostinato.app import Ostinato
        from ostinato.doctor import diagnose
        from ostinato.faces.cli.named_ways import more_ways

        async with Ostinato(place.store, ways=more_ways()).connected() as app:
            checks += [asdict(one) for one in await diagnose(app, repair=repair)]
    ok = all(one["state"] != "wrong" for one in checks)
    out.draw({"ok": ok, "items": checks}, lambda _: _page(checks, ok))
    if not ok:
        raise typer.Exit(1)


async def _store(url: str) -> list[Json]:
    """Check the store without opening it, because opening would migrate it. Return the results of the checks."""
    from ostinato.faces.cli.named_ways import newest_schemas
    from ostinato.store.schema_version import read_version

    try:
        schema = await read_version(url, ways=newest_schemas())
    except StoreError as problem:
        remedy = "name a store with --store or OSTINATO_STORE; see docs/how-to/back-up-and-restore.md to restore one"
        return [_check("store", "wrong", str(problem), remedy)]
    checks = [_check("store", "ok", f"{schema.url} answers and is intact")]
    words = f"{schema.current}, and this Ostinato knows {schema.newest}"
    if schema.newer:
        remedy = "the store was made by a newer Ostinato: upgrade this one"
        return [*checks, _check("schema", "wrong", words, remedy)]
    if schema.foreign:
        remedy = "name Ostinato's store; to keep its tables beside the others, `ostinato migrate` makes them"
        return [*checks, _check("schema", "wrong", "there are tables, and none of them is Ostinato's", remedy)]
    if schema.pending:
        remedy = "`ostinato migrate` brings it up to date; so does the next node that starts. Then look again"
        return [*checks, _check("schema", "notice", f"it {schema.older}", remedy)]
    return [*checks, _check("schema", "ok", str(schema.current))]


def _ready(health: Json) -> Json:
    if health["status"] == "ok":
        return _check("server", "ok", f"ready, version {health['version']}")
    return _check("server", "wrong", f"not ready: {health['detail']}", "look at its log; it may be stopping")


def _check(name: str, state: str, words: str, remedy: str = "") -> Json:
    return {"name": name, "state": state, "words": words, "remedy": remedy}


def _page(checks: list[Json], ok: bool) -> RenderableType:
    lines: list[RenderableType] = []
    for check in checks:
        name = check["name"].replace("_", " ")
        lines.append(Text.assemble((_MARKS[check["state"]], COLOURS[check["state"]]), f" {name}: {check['words']}"))
        if check["remedy"]:
            lines.append(Text(f"  → {check['remedy']}", style="yellow"))
    notices = any(check["state"] == "notice" for check in checks)
    end = (
        "something is wrong"
        if not ok
        else "nothing is wrong; look at the lines with !"
        if notices
        else "nothing is wrong"
    )
    lines.append(Text(end, style="bold green" if ok else "bold red"))
    return Group(*lines)
