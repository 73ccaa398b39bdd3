"""`ostinato migrate`: bring a store's schema up to date before the nodes start."""

from __future__ import annotations

from typing import Annotated

import typer

from ostinato.faces.cli.named_ways import newest_schemas, ways_here
from ostinato.faces.cli.output import CommandOutput
from ostinato.faces.cli.session import StoreOrServer
from ostinato.store.migrate import migrate_way
from ostinato.store.schema_version import NoStore, StoreVersion, read_version
from ostinato.store.urls import open_url


async def migrate(
    place: StoreOrServer,
    out: CommandOutput,
    check: Annotated[bool, typer.Option("--check", help="Only look; exit code 1 if there is something to do.")] = False,
) -> None:
    """Create the store's schema, or bring it up to date. A node does the same when it starts."""
    url = place.require_store("migrate")
    before = await _look(url, must_exist=check)
    if check:
        assert before is not None
        out.say({"before": before.current, "schema": before.current}, _words_of_check(url, before))
        if before.pending:
            raise typer.Exit(1)
        return
    store = open_url(url)
    await store.open()
    for way in ways_here():
        await migrate_way(store, way.name, way.loaded_migrations)
    await store.close()
    version, after = before.current if before is not None else 0, (await read_version(url)).current
    out.say({"before": version, "schema": after}, _words(url, version, after))


async def _look(url: str, *, must_exist: bool) -> StoreVersion | None:
    try:
        return await read_version(url, ways=newest_schemas())
    except NoStore:
        if must_exist:
            raise
        return None


def _words_of_check(url: str, schema: StoreVersion) -> str:
    if schema.foreign:
        return (
            f"{url} has tables, and none of them is Ostinato's; is it the right one? `ostinato migrate` would make"
            " Ostinato's tables beside them"
        )
    if not schema.current:
        return f"{url} is empty; `ostinato migrate` makes Ostinato's tables"
    if schema.pending:
        return f"{url} {schema.older}; `ostinato migrate` brings it up to date"
    return f"{url} has schema {schema.current}"


def _words(url: str, before: int, after: int) -> str:
    return f"{url} has schema {after}" if before == after else f"{url} went from schema {before} to {after}"
