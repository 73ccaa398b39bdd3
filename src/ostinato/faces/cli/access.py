"""`ostinato token …`, `ostinato namespaces …` and `ostinato nodes`: manage tokens and namespaces, and list nodes."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from ostinato.faces.cli.completion import roles
from ostinato.faces.cli.output import moment, status
from ostinato.faces.cli.session import Session, command, command_group

token = command_group("Create, list and revoke tokens.")
namespaces = command_group("Create, list and delete namespaces.")


@command(token, "create", creates=True)
async def create_token(
    session: Session,
    role: Annotated[str, typer.Option(help="admin, operator or reader.", autocompletion=roles)] = "reader",
    label: Annotated[str, typer.Option(help="A note, such as whose it is.")] = "",
    expires_in: Annotated[str | None, typer.Option(help="How long it is valid, such as 90d. [default: no end]")] = None,
) -> None:
    """Create a token. It is shown only once. With --namespace it is valid only in that namespace."""
    client = session.client
    token = await client.create_token(role, namespace=session.place.namespace, label=label, expires_in=expires_in)
    scope = f"for {token['namespace']}" if token["namespace"] else "for every namespace"
    session.out.say(token, token["token"])
    if not session.out.as_json:
        typer.echo(f"{token['role']} {scope}; it is shown this once. Its id is {token['id']}.", err=True)


@command(token, "list")
async def list_tokens(session: Session) -> None:
    """List tokens, without their secrets."""
    session.out.items(
        await session.client.tokens(),
        ("id", "role", "namespace", "label", "created", "expires", "last used", "revoked"),
        lambda token: (
            token["id"],
            token["role"],
            token["namespace"] or "all",
            token["label"],
            *(moment(token[name]) for name in ("created", "expires", "used")),
            Text(moment(token["revoked"]), style="red"),
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
        lambda namespace: (namespace["name"], namespace["notes"], moment(namespace["created"]), namespace["actor"]),
    )


@command(namespaces, "create", creates=True)
async def create_namespace(
    session: Session,
    name: Annotated[str, typer.Argument(help="The namespace's name.")],
    notes: Annotated[str, typer.Option(help="Notes; kept with the namespace.")] = "",
) -> None:
    """Create a namespace."""
    namespace = await session.client.create_namespace(name, notes)
    session.out.say(namespace, f"created {name}")


@command(namespaces, "delete")
async def delete_namespace(
    session: Session, name: Annotated[str, typer.Argument(help="The namespace's name.")]
) -> None:
    """Delete an empty namespace."""
    await session.client.delete_namespace(name)
    session.out.say({"name": name, "deleted": True}, f"deleted {name}")


async def nodes(session: Session) -> None:
    """List the processes that run jobs."""
    session.out.items(
        await session.client.nodes(),
        ("node", "name", "", "started", "queues", "jobs", "version", "zone rules"),
        lambda node: (
            node["id"],
            node["name"],
            status("ok" if node["alive"] else "dead"),
            moment(node["started"]),
            ", ".join(node["queues"]),
            len(node["jobs"]),
            node["version"],
            node["zone_rules"],
        ),
        nothing="no node is working",
    )
