"""`ostinato doctor`: is everything as it should be, and if not, what to do."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from ostinato.client import Json
from ostinato.errors import StoreError
from ostinato.faces.cli.answers import COLOURS, Answers
from ostinato.faces.cli.target import Where, reach

_MARKS = {"ok": "✓", "notice": "!", "wrong": "✗"}


async def doctor(
    place: Where,
    out: Answers,
    repair: Annotated[bool, typer.Option("--repair", help="Mend what is safe to mend.")] = False,
) -> None:
    """Look for trouble, and say what to do. Exit code 1 if something is wrong."""
    checks = [] if place.server is not None else await _store(place.store)
    if place.server is not None:
        async with reach(place) as client:
            checks.append(_ready(await client.ready()))
            checks += (await client.diagnose(repair=repair))["items"]
    elif all(one["state"] == "ok" for one in checks):
        from ostinato.app import Ostinato
        from ostinato.diagnosis import diagnose

        async with Ostinato(place.store).connected() as app:
            checks += [asdict(one) for one in await diagnose(app, repair=repair)]
    ok = all(one["state"] != "wrong" for one in checks)
    out.draw({"ok": ok, "items": checks}, lambda: _page(checks, ok))
    if not ok:
        raise typer.Exit(1)


async def _store(url: str) -> list[Json]:
    """What can be said before the store is opened, which would migrate it."""
    from ostinato.store.schema import look

    try:
        schema = await look(url)
    except StoreError as problem:
        remedy = "name a store with --store or OSTINATO_STORE; see docs/how-to/back-up-and-restore.md to restore one"
        return [_check("store", "wrong", str(problem), remedy)]
    found = [_check("store", "ok", f"{schema.url} answers and is intact")]
    words = f"{schema.found}, and this Ostinato knows {schema.known}"
    if schema.found > schema.known:
        remedy = "the store was made by a newer Ostinato: upgrade this one"
        return [*found, _check("schema", "wrong", words, remedy)]
    if schema.foreign:
        remedy = "name Ostinato's store; to keep its tables beside the others, `ostinato migrate` makes them"
        return [*found, _check("schema", "wrong", "there are tables, and none of them is Ostinato's", remedy)]
    if schema.pending:
        remedy = "`ostinato migrate` brings it up to date; so does the next node that starts. Then look again"
        return [*found, _check("schema", "notice", words, remedy)]
    return [*found, _check("schema", "ok", str(schema.found))]


def _ready(found: Json) -> Json:
    if found["status"] == "ok":
        return _check("server", "ok", f"ready, version {found['version']}")
    return _check("server", "wrong", f"not ready: {found['detail']}", "look at its log; it may be stopping")


def _check(name: str, state: str, words: str, remedy: str = "") -> Json:
    return {"name": name, "state": state, "words": words, "remedy": remedy}


def _page(checks: list[Json], ok: bool) -> RenderableType:
    lines: list[RenderableType] = []
    for one in checks:
        name = one["name"].replace("_", " ")
        lines.append(Text.assemble((_MARKS[one["state"]], COLOURS[one["state"]]), f" {name}: {one['words']}"))
        if one["remedy"]:
            lines.append(Text(f"  → {one['remedy']}", style="yellow"))
    lines.append(Text("nothing is wrong" if ok else "something is wrong", style="bold green" if ok else "bold red"))
    return Group(*lines)
