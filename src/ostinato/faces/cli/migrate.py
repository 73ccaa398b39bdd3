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
    before = await _look(url, must_exist=check)
    if check:
        assert before is not None
        out.say({"before": before.found, "schema": before.found}, _words_of_check(url, before))
        if before.pending:
            raise typer.Exit(1)
        return
    store = open_url(url)
    await store.open()
    await store.close()
    found, after = before.found if before is not None else 0, (await look(url)).found
    out.say({"before": found, "schema": after}, _words(url, found, after))


async def _look(url: str, *, must_exist: bool) -> Schema | None:
    try:
        return await look(url)
    except NoStore:
        if must_exist:
            raise
        return None


def _words_of_check(url: str, schema: Schema) -> str:
    if schema.foreign:
        return (
            f"{url} has tables, and none of them is Ostinato's; is it the right one? `ostinato migrate` would make"
            " Ostinato's tables beside them"
        )
    if not schema.found:
        return f"{url} is empty; `ostinato migrate` makes Ostinato's tables"
    if schema.pending:
        return f"{url} has schema {schema.found}; `ostinato migrate` brings it to {schema.known}"
    return f"{url} has schema {schema.found}"


def _words(url: str, before: int, after: int) -> str:
    return f"{url} has schema {after}" if before == after else f"{url} went from schema {before} to {after}"
