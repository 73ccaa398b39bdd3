"""`ostinato webhooks …`: URLs that are told of events, and what became of the telling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from ostinato.client import Json
from ostinato.errors import NotFound, OstinatoError, did_you_mean
from ostinato.faces.cli.answers import facts, moment, short, status, table, took
from ostinato.faces.cli.given import only_given
from ostinato.faces.cli.target import Session, command

webhooks = typer.Typer(help="Send events to URLs.", no_args_is_help=True, rich_markup_mode=None)

Id = Annotated[str, typer.Argument(help="The webhook's id, or its URL where only one has it.")]
Pattern = Annotated[list[str] | None, typer.Option("--pattern", help="Events by name, such as 'run:failed'.")]
Secret = Annotated[
    list[str] | None,
    typer.Option("--secret", help="What to sign with, as secret://NAME; twice while one is being replaced."),
]
After = Annotated[int | None, typer.Option(min=0, help="Begin after the event of this number.")]
Key = Annotated[int, typer.Option(min=1, max=100_000, help="The most to show.")]
_DELIVERY = ("delivery", "status", "attempt", "event", "about", "due", "took", "why")
_RECENT = 5


@command(webhooks, "list")
async def list_webhooks(session: Session, limit: Key = 1000) -> None:
    """List webhooks, the oldest first."""
    session.out.items(
        await session.client.webhooks.list(limit=limit),
        ("webhook", "state", "url", "events", "failing since", "why"),
        lambda one: (
            one["id"],
            status(one["state"]),
            one["url"],
            ", ".join(one["patterns"]),
            moment(one["failing"]),
            short(one["reason"]),
        ),
        nothing="no webhooks",
    )


@command(webhooks)
async def show(session: Session, id: Id) -> None:
    """Show a webhook and its last deliveries."""
    calls = session.client.webhooks
    found = await _known(session, id)
    recent = await calls.deliveries(found["id"], limit=_RECENT)
    session.out.draw({**found, "recent": recent}, lambda: _page(found, recent))


@command(webhooks, creates=True)
async def create(
    session: Session,
    url: Annotated[str, typer.Argument(help="Where to send them; secret://NAME within it is put in when it is used.")],
    pattern: Pattern = None,
    secret: Secret = None,
    notes: Annotated[str, typer.Option(help="Notes; kept with the webhook.")] = "",
) -> None:
    """Send events to a URL from now on. With --pattern, only those that fit."""
    made = await session.client.webhooks.create(url, pattern or ["*"], secret=secret, notes=notes)
    unsigned = "" if made["secrets"] else "; deliveries are not signed (--secret)"
    session.out.say(made, f"created {made['id']}{unsigned}")


@command(webhooks)
async def update(
    session: Session,
    id: Id,
    url: Annotated[str | None, typer.Option(help="Another URL.")] = None,
    pattern: Pattern = None,
    secret: Secret = None,
    no_secret: Annotated[bool, typer.Option("--no-secret", help="Sign no more.")] = False,
    notes: Annotated[str | None, typer.Option(help="Notes; kept with the webhook.")] = None,
) -> None:
    """Change what is given. It holds for waiting deliveries, too."""
    if no_secret and secret:
        raise OstinatoError("--secret and --no-secret contradict one another")
    changes = only_given(url=url, patterns=pattern, secret="" if no_secret else secret, notes=notes)
    if not changes:
        raise OstinatoError("nothing to change; give --url, --pattern, --secret, --no-secret or --notes")
    found = await _known(session, id)
    session.out.say(await session.client.webhooks.update(found["id"], **changes), f"updated {found['id']}")


@command(webhooks)
async def disable(
    session: Session, id: Id, reason: Annotated[str, typer.Option(help="Why; kept with the webhook.")] = ""
) -> None:
    """Send nothing more. Waiting deliveries are given up, and sent again when it is enabled."""
    found = await _known(session, id)
    session.out.say(await session.client.webhooks.disable(found["id"], reason), f"disabled {found['id']}")


@command(webhooks)
async def enable(session: Session, id: Id, after: After = None) -> None:
    """Send again. From the first event that could not be delivered, or from the one after --after."""
    found = await _known(session, id)
    answer = await session.client.webhooks.enable(found["id"], after=after)
    session.out.say(answer, f"enabled {found['id']}, from the event after {answer['seq']} on")


@command(webhooks)
async def replay(session: Session, id: Id, after: Annotated[int, typer.Argument(min=0)]) -> None:
    """Send again all kept events after a given one."""
    found = await _known(session, id)
    answer = await session.client.webhooks.replay(found["id"], after)
    session.out.say(answer, f"{found['id']} is sent everything after {after} once more")


@command(webhooks)
async def delete(session: Session, id: Id) -> None:
    """Delete a webhook. Waiting deliveries are given up."""
    found = await _known(session, id)
    await session.client.webhooks.delete(found["id"])
    session.out.say({"id": found["id"], "deleted": True}, f"deleted {found['id']}")


@command(webhooks)
async def deliveries(
    session: Session,
    id: Id,
    status: Annotated[str | None, typer.Option(help="With this status, such as failed.")] = None,
    limit: Key = 50,
) -> None:
    """List deliveries, the newest first."""
    found = await _known(session, id)
    sent = await session.client.webhooks.deliveries(found["id"], status=status, limit=limit)
    session.out.items(sent, _DELIVERY, _delivery, nothing="nothing was sent there")


@command(webhooks)
async def redeliver(
    session: Session, id: Id, delivery: Annotated[str, typer.Argument(help="A delivery that is over.")]
) -> None:
    """Send the event of a delivery again. It keeps its webhook-id."""
    found = await _known(session, id)
    answer = await session.client.webhooks.redeliver(found["id"], delivery)
    session.out.say(answer, f"started {answer['id']}, which repeats {delivery}")


async def _known(session: Session, text: str) -> Json:
    """A webhook by its id, or by its URL."""
    calls = session.client.webhooks
    if "://" not in text:
        return await calls.get(text)
    there = await calls.list(limit=1000)
    found = [one for one in there if one["url"] == text]
    if len(found) == 1:
        return found[0]
    if found:
        raise OstinatoError(f"{text} has {len(found)} webhooks; name one: {', '.join(one['id'] for one in found)}")
    hint = did_you_mean(text, [one["url"] for one in there])
    raise NotFound(f"there is no webhook to {text}" + (f"; {hint}" if hint else ""))


def _delivery(one: Json) -> tuple[object, ...]:
    event = one["input"].get("event", {}) if isinstance(one["input"], dict) else {}
    return (
        one["id"],
        status(one["status"]),
        one["attempt"],
        event.get("name"),
        event.get("subject"),
        moment(one["due"]),
        took(one["started"], one["finished"]),
        short(one["reason"]),
    )


def _page(one: Json, recent: Sequence[Json]) -> RenderableType:
    parts: list[RenderableType] = [
        Text.assemble((one["url"], "bold"), "  ", status(one["state"]), "  ", (one["reason"] or "", "red")),
        facts(
            {
                "webhook": one["id"],
                "events": ", ".join(one["patterns"]),
                "signed with": ", ".join(one["secrets"]) or "nothing",
                "failing since": moment(one["failing"]),
                "last success": moment(one["succeeded"]),
                "last event checked": one["seq"],
                "notes": one["notes"],
                "created": moment(one["created"]),
                "by": one["actor"],
            }
        ),
    ]
    if recent:
        parts += [Text(""), table(_DELIVERY, map(_delivery, recent))]
    return Group(*parts)
