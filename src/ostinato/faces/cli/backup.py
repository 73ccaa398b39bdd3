"""`ostinato backup` and `ostinato restore`: the embedded store, copied while it is in use, and put back."""

from __future__ import annotations

from typing import Annotated

import typer

from ostinato.errors import Conflict
from ostinato.faces.cli.answers import Answers
from ostinato.faces.cli.target import Where, is_there, must_exist
from ostinato.store.backup import backup as copy
from ostinato.store.backup import restore as put_back
from ostinato.store.urls import open_url


async def backup(
    place: Where,
    out: Answers,
    file: Annotated[str, typer.Argument(help="Where the copy goes.")],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an older backup of that name.")] = False,
) -> None:
    """Copy the store to a file while it is in use. A file that exists is left alone."""
    url = place.only_a_store("backup")
    must_exist(url)
    store = open_url(url)
    with out.progress("pages") as tell:
        await copy(store, file, tell, overwrite=overwrite)
    out.say({"store": store.url, "file": file}, f"copied {store.url} to {file}")


async def restore(
    place: Where,
    out: Answers,
    file: Annotated[str, typer.Argument(help="A copy that backup made.")],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Put it over the store that is there.")] = False,
) -> None:
    """Put a backup in the place of the store. Stop every node before."""
    url = place.only_a_store("restore")
    if not overwrite and "://" not in url.removeprefix("sqlite:///") and is_there(url):
        raise Conflict(f"there is a store {url}; restoring over it needs --overwrite")
    await put_back(file, url, overwrite=overwrite)
    out.say({"store": url, "file": file}, f"restored {url} from {file}")
