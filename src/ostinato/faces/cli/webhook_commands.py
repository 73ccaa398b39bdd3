"""`ostinato webhooks …`: manage the URLs that events are sent to, and their deliveries."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from ostinato.client import Json
from ostinato.client.calling import ALL
from ostinato.errors import NotFound, OstinatoError, did_you_mean
from ostinato.faces.cli.arguments import Limit, only_given
from ostinato.faces.cli.completion import statuses
from ostinato.faces.cli.output import facts, moment, short, status, table, took
from ostinato.faces.cli.session import Session, command, command_group

webhooks = command_group("Send events to URLs.")

Id = Annotated[str, typer.Argument(help="The webhook's id, or its URL where only one has it.")]
Pattern = Annotated[list[str] | None, typer.Option("--pattern", help="Events by name, such as 'run:failed'.")]
Secret = Annotated[
    list[str] | None,
    typer.Option("--secret", help="What to sign with, as secret://NAME; twice while one is being replaced."),
]
After = Annotated[int | None, typer.Option(min=0, help="Begin after the event of this number.")]
_DELIVERY = ("delivery", "status", "attempt", "event", "about", "due", "took", "why")
_RECENT = 5


@command(webhooks, "list")
async def list_webhooks(session: Session, limit: Limit = 1000) -> None:
    """List webhooks, the oldest first."""
    session.out.items(
        await session.client.webhooks.list(limit=limit),
        ("webhook", "state", "url", "events", "failing since", "why"),
        lambda webhook: (
            webhook["id"],
            status(webhook["state"]),
            webhook["url"],
            ", ".join(webhook["patterns"]),
            moment(webhook["failing"]),
            short(webhook["reason"]),
        ),
        nothing="no webhooks",
    )


@command(webhooks)
async def show(session: Session, id: Id) -> None:
    """Show a webhook and its last deliveries."""
    webhook = await _find(session, id)
    recent = await session.client.webhooks.deliveries(webhook["id"], limit=_RECENT)
    session.out.draw({**webhook, "recent": recent}, _page)


@command(webhooks, creates=True)
async def create(
    session: Session,
    url: Annotated[
        str, typer.Argument(help="The URL to send events to. Each delivery replaces secret://NAME in it by the secret.")
    ],
    pattern: Pattern = None,
    secret: Secret = None,
    notes: Annotated[str, typer.Option(help="Notes; kept with the webhook.")] = "",
) -> None:
    """Send events to a URL from now on. With --pattern, send only events whose names match. If the URL contains
    secret://NAME, each delivery replaces secret://NAME by the secret with this name."""
    webhook = await session.client.webhooks.create(url, pattern or ["*"], secret=secret, notes=notes)
    unsigned = "" if webhook["secrets"] else "; deliveries are not signed (--secret)"
    session.out.say(webhook, f"created {webhook['id']}{unsigned}")


@command(webhooks)
async def update(
    session: Session,
    id: Id,
    url: Annotated[str | None, typer.Option(help="Another URL.")] = None,
    pattern: Pattern = None,
    secret: Secret = None,
    no_secret: Annotated[bool, typer.Option("--no-secret", help="Stop signing.")] = False,
    notes: Annotated[str | None, typer.Option(help="Notes; kept with the webhook.")] = None,
) -> None:
    """Change the given fields. Waiting deliveries use the new URL and secrets, too."""
    if no_secret and secret:
        raise OstinatoError("--secret and --no-secret contradict one another")
    changes = only_given(url=url, patterns=pattern, secret="" if no_secret else secret, notes=notes)
    if not changes:
        raise OstinatoError("nothing to change; give --url, --pattern, --secret, --no-secret or --notes")
    webhook = await _find(session, id)
    session.out.say(await session.client.webhooks.update(webhook["id"], **changes), f"updated {webhook['id']}")


@command(webhooks)
async def disable(
    session: Session, id: Id, reason: Annotated[str, typer.Option(help="Why; kept with the webhook.")] = ""
) -> None:
    """Stop sending events. Waiting deliveries are dropped; their events are sent when the webhook is enabled again."""
    webhook = await _find(session, id)
    session.out.say(await session.client.webhooks.disable(webhook["id"], reason), f"disabled {webhook['id']}")


@command(webhooks)
async def enable(session: Session, id: Id, after: After = None) -> None:
    """Enable a webhook again. Sending continues with the first event that was not delivered. With --after, sending
    begins after the event with that number."""
    webhook = await _find(session, id)
    answer = await session.client.webhooks.enable(webhook["id"], after=after)
    session.out.say(answer, f"enabled {webhook['id']}, from the event after {answer['seq']} on")


@command(webhooks)
async def replay(
    session: Session, id: Id, after: Annotated[int, typer.Argument(min=0, help="The number of an event.")]
) -> None:
    """Send all stored events after a given event once more."""
    webhook = await _find(session, id)
    answer = await session.client.webhooks.replay(webhook["id"], after)
    session.out.say(answer, f"{webhook['id']} gets everything after {after} again")


@command(webhooks)
async def delete(session: Session, id: Id) -> None:
    """Delete a webhook. Waiting deliveries are dropped."""
    webhook = await _find(session, id)
    await session.client.webhooks.delete(webhook["id"])
    session.out.say({"id": webhook["id"], "deleted": True}, f"deleted {webhook['id']}")


@command(webhooks)
async def deliveries(
    session: Session,
    id: Id,
    status: Annotated[
        str | None, typer.Option(help="With this status, such as failed.", autocompletion=statuses)
    ] = None,
    limit: Limit = 50,
) -> None:
    """List deliveries, the newest first."""
    webhook = await _find(session, id)
    sent = await session.client.webhooks.deliveries(webhook["id"], status=status, limit=limit)
    session.out.items(sent, _DELIVERY, _delivery, nothing="nothing was sent there")


@command(webhooks)
async def redeliver(
    session: Session, id: Id, delivery: Annotated[str, typer.Argument(help="A delivery that is over.")]
) -> None:
    """Send the event of a delivery again. The new delivery has the same webhook-id."""
    webhook = await _find(session, id)
    answer = await session.client.webhooks.redeliver(webhook["id"], delivery)
    session.out.say(answer, f"started {answer['id']}, which repeats {delivery}")


async def _find(session: Session, text: str) -> Json:
    """Return the webhook that `text` names by its id or by its URL. Raises `OstinatoError` if several webhooks have the
    URL, and `NotFound` if there is no such webhook."""
    calls = session.client.webhooks
    if "://" not in text:
        return await calls.get(text)
    listed = await calls.list(limit=ALL)
    matching = [one for one in listed if one["url"] == text]
    if len(matching) == 1:
        return matching[0]
    if matching:
        ids = ", ".join(one["id"] for one in matching)
        raise OstinatoError(f"{text} has {len(matching)} webhooks; name one: {ids}")
    hint = did_you_mean(text, [one["url"] for one in listed])
    raise NotFound(f"there is no webhook to {text}" + (f"; {hint}" if hint else ""))


def _delivery(delivery: Json) -> tuple[object, ...]:
    event = delivery["input"].get("event", {}) if isinstance(delivery["input"], dict) else {}
    return (
        delivery["id"],
        status(delivery["status"]),
        delivery["attempt"],
        event.get("name"),
        event.get("subject"),
        moment(delivery["due"]),
        took(delivery["started"], delivery["finished"]),
        short(delivery["reason"]),
    )


def _page(webhook: Json) -> RenderableType:
    reason = (webhook["reason"] or "", "red")
    values = {
        "webhook": webhook["id"],
        "events": ", ".join(webhook["patterns"]),
        "signed with": ", ".join(webhook["secrets"]) or "nothing",
        "failing since": moment(webhook["failing"]),
        "last success": moment(webhook["succeeded"]),
        "last event checked": webhook["seq"],
        "notes": webhook["notes"],
        "created": moment(webhook["created"]),
        "by": webhook["actor"],
    }
    head = Text.assemble((webhook["url"], "bold"), "  ", status(webhook["state"]), "  ", reason)
    parts: list[RenderableType] = [head, facts(values)]
    if webhook["recent"]:
        parts += [Text(""), table(_DELIVERY, map(_delivery, webhook["recent"]))]
    return Group(*parts)
