"""`ostinato backup` copies a SQLite store while it is in use. `ostinato restore` replaces a store by such a copy."""

from __future__ import annotations

from typing import Annotated

import typer

from ostinato.errors import Conflict
from ostinato.faces.cli.output import CommandOutput
from ostinato.faces.cli.session import StoreOrServer, require_existing, store_exists
from ostinato.store.backup import backup as copy
from ostinato.store.backup import restore as put_back
from ostinato.store.urls import open_url


async def backup(
    place: StoreOrServer,
    out: CommandOutput,
    file: Annotated[str, typer.Argument(help="Where the copy goes.")],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an older backup of that name.")] = False,
) -> None:
    """Copy the store to a file while it is in use. An existing file is replaced only with --overwrite."""
    url = place.require_store("backup")
    require_existing(url)
    store = open_url(url)
    with out.progress("pages") as tell:
        await copy(store, file, tell, overwrite=overwrite)
    out.say({"store": store.url, "file": file}, f"copied {store.url} to {file}")


async def restore(
    place: StoreOrServer,
    out: CommandOutput,
    file: Annotated[str, typer.Argument(help="A copy that backup made.")],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the existing store.")] = False,
) -> None:
    """Replace the store by a backup. Stop every node first."""
    url = place.require_store("restore")
    if not overwrite and "://" not in url.removeprefix("sqlite:///") and store_exists(url):
        raise Conflict(f"there is a store {url}; restoring over it needs --overwrite")
    await put_back(file, url, overwrite=overwrite)
    out.say({"store": url, "file": file}, f"restored {url} from {file}")
