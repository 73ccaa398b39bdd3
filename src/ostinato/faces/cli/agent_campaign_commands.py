"""`ostinato agents campaigns …`: send campaigns to many users of an agent, and watch, pause or stop them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from ostinato.client import Json
from ostinato.faces.cli.agent_arguments import AgentName, CampaignFlags, Input, Metadata, Segment, read_segment
from ostinato.faces.cli.arguments import Limit, read_object
from ostinato.faces.cli.completion import campaign_statuses, recipient_outcomes
from ostinato.faces.cli.output import counted, facts, moment, printable, short, status, took
from ostinato.faces.cli.session import Session, command, command_group
from ostinato.faces.cli.waiting import wait_until

campaigns = command_group("Send to many users of an agent, watch and stop it.")

CampaignId = Annotated[str, typer.Argument(metavar="CAMPAIGN", help="The campaign's id; `list` shows them.")]
Users = Annotated[list[str], typer.Argument(metavar="USER...", help="External ids of users.")]
Flow = Annotated[str | None, typer.Option(help="The flow that each turn begins. [default: the model writes]")]
Reason = Annotated[str | None, typer.Option(help="Why; it is on record.")]
Watch = Annotated[bool, typer.Option("--watch", help="Show its progress until it is over; exit code 1 if it failed.")]
SendId = Annotated[str | None, typer.Option(help="The same id is sent once, however often you ask.")]


@dataclass(frozen=True)
class CampaignContent:
    """The flow, input, metadata and name of a campaign, and whether it writes to people without an active session."""

    flow: Flow = None
    input: Input = None
    metadata: Metadata = None
    campaign_id: Annotated[str | None, typer.Option(help="A name that several campaigns may share.")] = None
    bootstrap: Annotated[bool, typer.Option("--bootstrap", help="Write to people who have no active session, too.")] = (
        False
    )

    def as_arguments(self) -> Json:
        """Return the content as keyword arguments for the client's `send` and `preview`."""
        return {
            "flow": self.flow,
            "input": read_object(self.input, "--input"),
            "metadata": read_object(self.metadata, "--metadata"),
            "campaign_id": self.campaign_id,
            "allow_session_bootstrap": self.bootstrap,
        }


# Sending


@command(campaigns)
async def send(
    session: Session,
    agent: AgentName,
    segment: Segment,
    flags: CampaignFlags,
    content: CampaignContent,
    id: SendId = None,
    watch: Watch = False,
) -> None:
    """Send a campaign to a segment now."""
    sent = await session.client.agents.campaigns(agent).send(
        read_segment(segment), id=id, **content.as_arguments(), **flags.as_options()
    )
    await _after_send(session, agent, sent, watch)


@command(campaigns, "test")
async def send_test(
    session: Session,
    agent: AgentName,
    users: Users,
    flow: Flow = None,
    input: Input = None,
    metadata: Metadata = None,
    id: SendId = None,
    variants: Annotated[str | None, typer.Option(help="Variants, as JSON.")] = None,
    watch: Watch = False,
) -> None:
    """Send a campaign to named users now. Quiet hours, caps and holdout do not apply."""
    sent = await session.client.agents.campaigns(agent).test(
        users,
        flow=flow,
        input=read_object(input, "--input"),
        metadata=read_object(metadata, "--metadata"),
        id=id,
        variants=read_object(variants, "--variants"),
    )
    await _after_send(session, agent, sent, watch)


@command(campaigns)
async def preview(
    session: Session, agent: AgentName, segment: Segment, flags: CampaignFlags, content: CampaignContent
) -> None:
    """Show whom a campaign would reach now, and send nothing.

    --flow, --input and --metadata are optional."""
    answer = await session.client.agents.campaigns(agent).preview(
        read_segment(segment), **content.as_arguments(), **flags.as_options()
    )
    session.out.draw(answer, _preview_page)


async def _after_send(session: Session, agent: str, sent: Json, watch: bool) -> None:
    if watch:
        await _watch(session, agent, sent["id"])
        return
    session.out.say(sent, f"campaign {sent['id']}{'' if sent['new'] else ', sent before'}")


# Watching


@command(campaigns)
async def watch(session: Session, agent: AgentName, id: CampaignId) -> None:
    """Show the progress of a campaign until it is over. Ctrl-C ends the display, not the campaign."""
    await _watch(session, agent, id)


async def _watch(session: Session, agent: str, id: str) -> None:
    try:
        campaign = await _until_over(session, agent, id)
    except asyncio.CancelledError:  # Ctrl-C
        again = f"`ostinato agents campaigns watch {agent} {id}` looks again, `stop` ends it"
        typer.echo(f"the campaign goes on; {again}", err=True)
        raise
    session.out.say(campaign, f"{_ended(campaign)}: {count_words(campaign)}")
    if campaign["outcome"] == "failed":
        raise typer.Exit(1)


async def _until_over(session: Session, agent: str, id: str) -> Json:
    """Wait until a campaign is over, and return it. Meanwhile show how many recipients are done."""
    campaigns = session.client.agents.campaigns(agent)
    with session.out.progress("resolving") as draw:

        def show(campaign: Json) -> None:
            counts = campaign["counts"]
            over = sum(number for outcome, number in counts.items() if outcome not in ("pending", "started"))
            total = campaign["recipients"] if campaign["resolved"] else None
            draw(over, total, words=f"{campaign['status']}: {count_words(campaign)}")

        return await wait_until(session, lambda: campaigns.get(id), _is_over, show)


def _is_over(campaign: Json) -> bool:
    return campaign["status"] in ("stopped", "done")


def count_words(campaign: Json) -> str:
    """Return how many recipients have each outcome, for example "8 success, 1 failed, 0 skipped, 1 unknown". A
    recipient is "unknown", and not "failed", if it is not known whether the message has arrived."""
    counts, unknown = campaign["counts"], campaign["reasons"].get("delivery_unknown", 0)
    words = [
        f"{counts.get('success', 0)} success",
        f"{counts.get('failed', 0) - unknown} failed",
        f"{counts.get('skipped', 0)} skipped",
        f"{unknown} unknown",
    ]
    if counts.get("canceled_hitl"):
        words.append(f"{counts['canceled_hitl']} with people")
    return ", ".join(words)


def _ended(campaign: Json) -> str:
    return f"{campaign['outcome']} ({campaign['reason']})" if campaign["reason"] else str(campaign["outcome"])


@command(campaigns, "list")
async def list_campaigns(
    session: Session,
    agent: AgentName,
    campaign_id: Annotated[str | None, typer.Option(help="Campaigns of this name.")] = None,
    status: Annotated[
        str | None,
        typer.Option(help="resolving, sending, paused, stopping or done.", autocompletion=campaign_statuses),
    ] = None,
    limit: Limit = 50,
) -> None:
    """List campaigns of an agent, the newest first."""
    session.out.items(
        await session.client.agents.campaigns(agent).list(campaign_id=campaign_id, status=status, limit=limit),
        ("campaign", "name", "status", "outcome", "recipients", "segment", "flow", "created", "took"),
        _row,
        nothing="no campaigns",
    )


@command(campaigns)
async def show(session: Session, agent: AgentName, id: CampaignId) -> None:
    """Show a campaign: its segment, and its recipients by outcome."""
    session.out.draw(await session.client.agents.campaigns(agent).get(id), _page)


@command(campaigns)
async def recipients(
    session: Session,
    agent: AgentName,
    id: CampaignId,
    outcome: Annotated[
        str | None,
        typer.Option(help="success, skipped, failed or canceled_hitl.", autocompletion=recipient_outcomes),
    ] = None,
    limit: Limit = 50,
) -> None:
    """List the recipients of a campaign, and what became of each."""
    session.out.items(
        await session.client.agents.campaigns(agent).recipients(id, outcome=outcome, limit=limit),
        ("user", "outcome", "why", "variant", "sent", "due", "turn", "took"),
        lambda recipient: (
            printable(recipient["user"]),
            status(recipient["outcome"] or recipient["status"]),
            short(recipient["reason"]),
            recipient["variant"],
            recipient["delivered"],
            moment(recipient["due"]),
            recipient["turn_id"],
            took(recipient["started"], recipient["finished"]),
        ),
        nothing="no recipients",
    )


@command(campaigns)
async def explain(
    session: Session,
    agent: AgentName,
    id: CampaignId,
    user: Annotated[str, typer.Argument(help="Their external id.")],
) -> None:
    """Explain why a person was or was not messaged."""
    why = await session.client.agents.campaigns(agent).explain(id, user)
    words = {True: "was messaged", False: "was not messaged", "unknown": "may have been messaged"}
    session.out.say(why, f"{printable(user)} {words[why['messaged']]}: {why['words']}")


# Controlling


@command(campaigns)
async def pause(session: Session, agent: AgentName, id: CampaignId, reason: Reason = None) -> None:
    """Pause a campaign: no more turns begin."""
    _say(session, "paused", await session.client.agents.campaigns(agent).pause(id, reason))


@command(campaigns)
async def resume(session: Session, agent: AgentName, id: CampaignId) -> None:
    """Resume a paused campaign."""
    _say(session, "resumed", await session.client.agents.campaigns(agent).resume(id))


@command(campaigns)
async def stop(session: Session, agent: AgentName, id: CampaignId, reason: Reason = None) -> None:
    """Stop a campaign for good. The remaining recipients are skipped."""
    _say(session, "stopped", await session.client.agents.campaigns(agent).stop(id, reason))


def _say(session: Session, done: str, campaign: Json) -> None:
    session.out.say(campaign, f"{done} {campaign['id']}: {count_words(campaign)}")


# The suppression list


@command(campaigns)
async def suppress(
    session: Session,
    agent: AgentName,
    users: Users,
    reason: Annotated[str, typer.Option(help="Why; it is kept on the list.")],
) -> None:
    """Put people on the suppression list: no campaign writes to them."""
    changed = await session.client.agents.campaigns(agent).suppress(users, reason)
    session.out.say({"changed": changed}, f"{counted(changed, 'user')} put on the list")


@command(campaigns)
async def unsuppress(session: Session, agent: AgentName, users: Users) -> None:
    """Take people from the suppression list."""
    changed = await session.client.agents.campaigns(agent).unsuppress(users)
    session.out.say({"changed": changed}, f"{counted(changed, 'user')} taken from the list")


@command(campaigns)
async def suppressed(session: Session, agent: AgentName, limit: Limit = 50) -> None:
    """List the people to whom no campaign writes."""
    session.out.items(
        await session.client.agents.campaigns(agent).suppressed(limit=limit),
        ("user", "why"),
        lambda suppression: (printable(suppression["user"]), short(printable(suppression["reason"]))),
        nothing="nobody",
    )


def _row(campaign: Json) -> tuple[Any, ...]:
    return (
        campaign["id"],
        campaign["campaign_id"],
        status(campaign["status"]),
        "" if campaign["outcome"] is None else _ended(campaign),
        campaign["recipients"],
        short(campaign["segment"], 40),
        campaign["flow"],
        moment(campaign["created"]),
        took(campaign["created"], campaign["finished"]),
    )


def _numbers(numbers: Json) -> str:
    return ", ".join(f"{number} {name}" for name, number in sorted(numbers.items()))


def _page(campaign: Json) -> RenderableType:
    over = campaign["outcome"] is not None
    values = {
        "name": campaign["campaign_id"],
        "outcome": _ended(campaign) if over else None,
        "why": None if over else campaign["reason"],
        "segment": short(campaign["segment"], 1000),
        "flow": campaign["flow"],
        "recipients": campaign["recipients"],
        "counts": _numbers(campaign["counts"]),
        "reasons": _numbers(campaign["reasons"]),
        "variants": _numbers(campaign["variants"]),
        "schedule": campaign["schedule_id"],
        "time": moment(campaign["scheduled_for"]),
        "as of": moment(campaign["as_of"]),
        "created": moment(campaign["created"]),
        "by": campaign["actor"],
        "took": took(campaign["created"], campaign["finished"]),
    }
    return Group(Text.assemble((campaign["id"], "bold"), "  ", status(campaign["status"])), facts(values))


def _preview_page(preview: Json) -> RenderableType:
    words = f"{preview['reachable']} of {counted(preview['recipients'], 'recipient')} would get a message"
    refusal = Text("more than max_recipients; --confirmed sends", style="red")
    values = {
        "refused": refusal if preview["refused"] else None,
        "skipped": _numbers(preview["skipped"]),
        "variants": _numbers(preview["variants"]),
        "such as": printable(", ".join(preview["sample"])),
        "as of": moment(preview["as_of"]),
    }
    return Group(Text(words, style="bold"), facts(values))
