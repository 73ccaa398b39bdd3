"""`ostinato token …`, `ostinato namespaces …` and `ostinato nodes`: who may, where, and who works."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from ostinato.faces.cli.answers import moment, status
from ostinato.faces.cli.target import Session, command

token = typer.Typer(help="Create, list and revoke tokens.", no_args_is_help=True, rich_markup_mode=None)
namespaces = typer.Typer(help="Create, list and delete namespaces.", no_args_is_help=True, rich_markup_mode=None)


@command(token, "create", creates=True)
async def create_token(
    session: Session,
    role: Annotated[str, typer.Option(help="admin, operator or reader.")] = "reader",
    label: Annotated[str, typer.Option(help="Whose it is.")] = "",
    expires_in: Annotated[str | None, typer.Option(help="After so long, such as 90d. [default: never]")] = None,
) -> None:
    """Create a token, shown this once. With --namespace it is good for that one only."""
    client = session.client
    made = await client.create_token(role, namespace=session.place.namespace, label=label, expires_in=expires_in)
    where = f"for {made['namespace']}" if made["namespace"] else "for every namespace"
    session.out.say(made, made["token"])
    if not session.out.as_json:
        typer.echo(f"{made['role']} {where}; it is shown this once. Its id is {made['id']}.", err=True)


@command(token, "list")
async def list_tokens(session: Session) -> None:
    """List tokens, without their secrets."""
    session.out.items(
        await session.client.tokens(),
        ("id", "role", "namespace", "label", "created", "expires", "last used", "revoked"),
        lambda one: (
            one["id"],
            one["role"],
            one["namespace"] or "all",
            one["label"],
            *(moment(one[name]) for name in ("created", "expires", "used")),
            Text(moment(one["revoked"]), style="red"),
        ),
        nothing="no tokens",
    )


@command(token, "revoke")
async def revoke_token(session: Session, id: Annotated[str, typer.Argument(help="Its id, not the token.")]) -> None:
    """Revoke a token."""
    await session.client.revoke_token(id)
    session.out.say({"id": id, "revoked": True}, f"revoked {id}")


@command(namespaces, "list")
async def list_namespaces(session: Session) -> None:
    """List the namespaces."""
    session.out.items(
        await session.client.namespaces(),
        ("namespace", "notes", "created", "by"),
        lambda one: (one["name"], one["notes"], moment(one["created"]), one["actor"]),
    )


@command(namespaces, "create", creates=True)
async def create_namespace(
    session: Session, name: Annotated[str, typer.Argument()], notes: Annotated[str, typer.Option()] = ""
) -> None:
    """Create a namespace."""
    made = await session.client.create_namespace(name, notes)
    session.out.say(made, f"created {name}")


@command(namespaces, "delete")
async def delete_namespace(session: Session, name: Annotated[str, typer.Argument()]) -> None:
    """Delete an empty namespace."""
    await session.client.delete_namespace(name)
    session.out.say({"name": name, "deleted": True}, f"deleted {name}")


async def nodes(session: Session) -> None:
    """List the processes that run jobs."""
    session.out.items(
        await session.client.nodes(),
        ("node", "name", "", "started", "queues", "jobs", "version", "zone rules"),
        lambda one: (
            one["id"],
            one["name"],
            status("ok" if one["alive"] else "dead"),
            moment(one["started"]),
            ", ".join(one["queues"]),
            len(one["jobs"]),
            one["version"],
            one["zone_rules"],
        ),
        nothing="no node is working",
    )
