"""`ostinato migrate`: bring a store's schema up to date before the nodes start."""

from __future__ import annotations

from typing import Annotated

import typer

from ostinato.faces.cli.answers import Answers
from ostinato.faces.cli.target import Where
from ostinato.store.schema import NoStore, Schema, look
from ostinato.store.urls import open_url


async def migrate(
    place: Where,
    out: Answers,
    check: Annotated[bool, typer.Option("--check", help="Only look; exit code 1 if there is something to do.")] = False,
) -> None:
    """Create the store's schema, or bring it up to date. A node does the same when it starts."""
    url = place.only_a_store("migrate")
    before = await _found(url, must_exist=check)
    if not check:
        store = open_url(url)
        await store.open()
        await store.close()
    after = before if check else (await look(url)).found
    out.say({"before": before, "schema": after}, _words(url, before, after))
    if check and (await look(url)).pending:
        raise typer.Exit(1)


async def _found(url: str, *, must_exist: bool) -> int:
    try:
        schema: Schema = await look(url)
    except NoStore:
        if must_exist:
            raise
        return 0
    return schema.found


def _words(url: str, before: int, after: int) -> str:
    return f"{url} has schema {after}" if before == after else f"{url} went from schema {before} to {after}"
