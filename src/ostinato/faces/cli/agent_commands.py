"""`ostinato agents …`: watch agents, talk with them, and decide the questions that they ask people."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from ostinato.client import Json
from ostinato.errors import Conflict, OstinatoError
from ostinato.faces.cli.agent_arguments import AgentName
from ostinato.faces.cli.agent_campaign_commands import campaigns
from ostinato.faces.cli.agent_schedule_commands import schedules
from ostinato.faces.cli.arguments import Limit, only_given, read_json, read_object
from ostinato.faces.cli.chat import Chat
from ostinato.faces.cli.completion import consents, escalation_statuses
from ostinato.faces.cli.output import counted, facts, moment, printable, short, status, took
from ostinato.faces.cli.session import Session, command, command_group
from ostinato.faces.cli.waiting import say_without_nodes

agents = command_group("Watch agents, talk with them, decide for them.")
agents.add_typer(schedules, name="schedules")
agents.add_typer(campaigns, name="campaigns")

User = Annotated[str, typer.Argument(help="The user's external id, such as a phone number.")]
SessionId = Annotated[str, typer.Argument(metavar="SESSION", help="The session's id.")]
MessageId = Annotated[str | None, typer.Option(help="The same id is handled once, however often you ask.")]
_WAIT = 20.0  # seconds that one call waits for the end of a turn


@command(agents, "list")
async def list_agents(session: Session) -> None:
    """List the agents that nodes have declared."""
    session.out.items(
        await session.client.agents.list(),
        ("agent", "zone", "flows", "tools", "admins"),
        lambda agent: (
            agent["name"],
            agent["tz"],
            ", ".join(agent["flows"]),
            ", ".join(agent["tools"]),
            _admins(agent),
        ),
        nothing="no agents; declare one with app.agent(…), and run a node",
    )


@command(agents)
async def show(session: Session, agent: AgentName) -> None:
    """Show an agent: its zone, flows, tools and admins."""
    session.out.draw(await session.client.agents.get(agent), _agent_page)


@command(agents)
async def users(
    session: Session,
    agent: AgentName,
    tag: Annotated[str | None, typer.Option(help="Users that have this tag.")] = None,
    limit: Limit = 50,
) -> None:
    """List the users of an agent."""
    session.out.items(
        await session.client.agents.users(agent, tag=tag, limit=limit),
        ("user", "name", "zone", "consent", "tags", "last message"),
        lambda user: (
            printable(user["external_id"]),
            printable(user["name"] or ""),
            user["tz"],
            user["consent"],
            ", ".join(user["tags"]),
            moment(user["active"]),
        ),
        nothing="no users",
    )


@command(agents)
async def user(session: Session, agent: AgentName, user: User) -> None:
    """Show a user of an agent."""
    session.out.draw(await session.client.agents.user(agent, user), _user_page)


@command(agents)
async def set_user(
    session: Session,
    agent: AgentName,
    user: User,
    name: Annotated[str | None, typer.Option(help="The display name.")] = None,
    address: Annotated[str | None, typer.Option(help="Where messages are sent; at first the external id.")] = None,
    tz: Annotated[str | None, typer.Option(help="The time zone, such as America/Sao_Paulo.")] = None,
    locale: Annotated[str | None, typer.Option(help="The language, such as pt-BR.")] = None,
    consent: Annotated[
        str | None, typer.Option(help="unknown, opted_in or opted_out.", autocompletion=consents)
    ] = None,
    data: Annotated[str | None, typer.Option(help="What you keep of them: a JSON object.")] = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", help="Their tags; these replace all others.")] = None,
    no_tags: Annotated[bool, typer.Option("--no-tags", help="Take all tags away.")] = False,
) -> None:
    """Create a user, or change the given fields of one."""
    if no_tags and tag:
        raise OstinatoError("--tag and --no-tags contradict one another")
    fields = {"name": name, "address": address, "tz": tz, "locale": locale, "consent": consent}
    changes = only_given(**fields, data=read_object(data, "--data"), tags=tag)
    if no_tags:
        changes["tags"] = []
    session.out.draw(await session.client.agents.put_user(agent, user, **changes), _user_page)


@command(agents)
async def delete_user(session: Session, agent: AgentName, user: User) -> None:
    """Delete a user with all messages, turns and sessions. If the user has an open session, the command fails: end the
    session before."""
    await session.client.agents.delete_user(agent, user)
    session.out.say({"user": user, "deleted": True}, f"deleted {printable(user)}")


@command(agents)
async def sessions(
    session: Session,
    agent: AgentName,
    user: Annotated[str | None, typer.Option(help="Sessions with this user.")] = None,
    limit: Limit = 50,
) -> None:
    """List conversations of an agent, the newest first."""
    session.out.items(
        await session.client.agents.sessions(agent, user=user, limit=limit),
        ("session", "user", "status", "flow", "waits for", "people", "messages", "started", "last turn"),
        lambda conversation: (
            conversation["id"],
            printable(conversation["user"] or ""),
            status(conversation["status"]),
            conversation["flow"],
            conversation["waits"],
            _people(conversation),
            conversation["messages"],
            moment(conversation["started"]),
            moment(conversation["active"]),
        ),
        nothing="no sessions",
    )


@command(agents)
async def end_session(
    session: Session,
    agent: AgentName,
    id: SessionId,
    reason: Annotated[str, typer.Option(help="Why; kept with the run.")] = "",
) -> None:
    """End a conversation. A flow that waits may clean up first."""
    conversation = await session.client.agents.end_session(agent, id, reason)
    words = "has ended" if conversation["ended"] else "ends as soon as a node has canceled its run"
    session.out.say(conversation, f"{id} {words}")


@command(agents)
async def messages(session: Session, agent: AgentName, id: SessionId, limit: Limit = 50) -> None:
    """Show what was said in a conversation, the oldest first."""
    said = (await session.client.agents.messages(agent, id, limit=limit))[::-1]
    if session.out.as_json:
        session.out.json({"items": said})
        return
    for message in said:
        session.out.console.print(_message_line(message), soft_wrap=True)
    if not said:
        session.out.console.print(Text("nothing was said yet", style="dim"))


@command(agents)
async def turns(session: Session, agent: AgentName, id: SessionId, limit: Limit = 50) -> None:
    """List the turns of a conversation, the newest first."""
    session.out.items(
        await session.client.agents.turns(agent, id, limit=limit),
        ("turn", "source", "text", "flow", "outcome", "why", "sent", "tokens", "took"),
        lambda turn: (
            turn["id"],
            turn["source"],
            short(printable(turn["text"] or ""), 40),
            turn["flow"],
            status(turn["outcome"] or turn["status"]),
            short(turn["reason"]),
            turn["delivered"],
            turn["tokens_in"] + turn["tokens_out"],
            took(turn["created"], turn["finished"]),
        ),
        nothing="no turns",
    )


@command(agents)
async def receive(
    session: Session,
    agent: AgentName,
    user: User,
    text: Annotated[str, typer.Argument(help="What the user says.")],
    id: MessageId = None,
    wait: Annotated[bool, typer.Option("--wait", help="Wait for its outcome; exit code 1 if it failed.")] = False,
) -> None:
    """Deliver a message from a user to an agent."""
    _check_said(text)
    accepted = await session.client.agents.receive(agent, user, text, id=id)
    before = "" if accepted["new"] else f"; the message {id} was accepted before, and is not handled again"
    if not wait:
        session.out.say(accepted, f"turn {accepted['turn_id']}{before}")
        return
    outcome = await _outcome(session, agent, accepted["turn_id"])
    words = f"{outcome['outcome']}{': ' + outcome['reason'] if outcome['reason'] else ''}"
    sent = counted(outcome["delivered"], "message")
    session.out.say({**outcome, "new": accepted["new"]}, f"{words}, {sent} sent{before}")
    if outcome["outcome"] == "failed":
        raise typer.Exit(1)


@command(agents)
async def chat(session: Session, agent: AgentName, user: User) -> None:
    """Talk with an agent as a user, line by line. Ctrl-D ends."""
    await session.client.agents.get(agent)
    await Chat(session, agent, user).run()


# Tokens of sessions


@command(agents)
async def mint_token(
    session: Session,
    agent: AgentName,
    id: SessionId,
    turn: Annotated[str | None, typer.Option(help="A turn of the session. [default: the newest]")] = None,
    expires_in: Annotated[str | None, typer.Option(help="How long it is valid, 1h at most. [default: 15m]")] = None,
) -> None:
    """Mint a token with which tools act for a session's user.

    It is shown only once."""
    minted = await session.client.agents.mint_session_token(agent, id, turn_id=turn, expires_in=expires_in)
    session.out.say(minted, minted["token"])
    if not session.out.as_json:
        until = moment(minted["expires"])
        typer.echo(f"valid until {until}; it is shown this once. Its id is {minted['id']}.", err=True)


@command(agents)
async def tokens(session: Session, agent: AgentName, id: SessionId) -> None:
    """List the tokens of a session, without their secrets."""
    session.out.items(
        await session.client.agents.session_tokens(agent, id),
        ("id", "turn", "by", "created", "expires", "last used", "revoked"),
        lambda token: (
            token["id"],
            token["turn_id"],
            token["actor"],
            *(moment(token[name]) for name in ("created", "expires", "used", "revoked")),
        ),
        nothing="no tokens",
    )


@command(agents)
async def revoke_token(
    session: Session,
    agent: AgentName,
    id: SessionId,
    token_id: Annotated[str, typer.Argument(metavar="TOKEN", help="The token's id; `tokens` lists them.")],
) -> None:
    """Revoke a token of a session."""
    await session.client.agents.revoke_session_token(agent, id, token_id)
    session.out.say({"id": token_id, "revoked": True}, f"revoked {token_id}")


# People


@command(agents)
async def inbox(
    session: Session,
    agent: AgentName,
    status: Annotated[
        str, typer.Option(help="pending, resolved, timed_out or canceled.", autocompletion=escalation_statuses)
    ] = "pending",
    limit: Limit = 50,
) -> None:
    """List the questions that an agent asks people to decide."""
    session.out.items(
        await session.client.agents.escalations(agent, status=status, limit=limit),
        ("question", "user", "what", "asked", "until", "decided"),
        lambda question: (
            question["id"],
            printable(question["user"] or ""),
            short(printable(question["question"]), 80),
            moment(question["created"]),
            moment(question["due"]),
            _decision(question),
        ),
        nothing=f"no questions that are {status}",
    )


@command(agents)
async def resolve(
    session: Session,
    agent: AgentName,
    id: Annotated[str, typer.Argument(metavar="QUESTION", help="The question's id; `inbox` lists them.")],
    approve: Annotated[bool, typer.Option("--approve", help="Decide: yes.", show_default=False)] = False,
    reject: Annotated[bool, typer.Option("--reject", help="Decide: no.", show_default=False)] = False,
    message: Annotated[str | None, typer.Option(help="Words for the flow that asked.")] = None,
    action: Annotated[str | None, typer.Option(help="Anything else for the flow, as JSON.")] = None,
) -> None:
    """Decide a question of an agent. The flow that asked it continues."""
    if approve == reject:
        raise OstinatoError("say what you decide: either --approve or --reject")
    decided = await session.client.agents.resolve(
        agent, id, approve, message=message, action=read_json(action, "--action")
    )
    session.out.say(decided, f"{id}: {_decision(decided)}")


@command(agents)
async def take_over(session: Session, agent: AgentName, user: User) -> None:
    """Take over a conversation. The agent says nothing until you hand it back."""
    taken = await session.client.agents.take_over(agent, user)
    hint = f"`ostinato agents say {agent} {user} …` talks with them, `hand-back` ends it"
    session.out.say(taken, f"{taken['takeover']} has taken over the conversation with {printable(user)}; {hint}")


@command(agents)
async def hand_back(
    session: Session,
    agent: AgentName,
    user: User,
    message: Annotated[str | None, typer.Option(help="Words for the flow that asked you to take over.")] = None,
) -> None:
    """Give a conversation back to the agent."""
    session.out.say(
        await session.client.agents.hand_back(agent, user, message=message),
        f"{agent} talks with {printable(user)} again",
    )


@command(agents)
async def say(
    session: Session,
    agent: AgentName,
    user: User,
    text: Annotated[str, typer.Argument(help="What you say.")],
    id: MessageId = None,
) -> None:
    """Say something in a conversation that you took over."""
    _check_said(text)
    accepted = await session.client.agents.say(agent, user, text, id=id)
    before = "" if accepted["new"] else f"; the message {id} was said before, and is not said again"
    session.out.say(accepted, f"turn {accepted['turn_id']}{before}")


def _check_said(text: str) -> None:
    if not text:
        raise OstinatoError("TEXT '' is empty; give at least one character")


async def _outcome(session: Session, agent: str, turn_id: str) -> Json:
    with suppress(Conflict):  # it is not over
        return await session.client.agents.outcome(agent, turn_id, wait=2.0)
    await say_without_nodes(session)
    while True:
        with suppress(Conflict):
            return await session.client.agents.outcome(agent, turn_id, wait=_WAIT)


def _admins(agent: Json) -> str:
    return "decided by a function" if agent["admins"] is None else ", ".join(agent["admins"]) or "nobody"


def _people(session: Json) -> str:
    if session["takeover"]:
        return f"taken over by {session['takeover']}"
    return "" if session["hitl"] == "none" else str(session["hitl"])


def _decision(escalation: Json) -> str:
    if escalation["status"] != "resolved":
        return "" if escalation["status"] == "pending" else str(escalation["status"])
    words = "approved" if escalation["approved"] else "rejected"
    return f"{words} by {escalation['resolved_by']}"


def _agent_page(agent: Json) -> RenderableType:
    flows = {
        f"flow {name}": f"version {flow['version']}{'. ' + short(flow['description']) if flow['description'] else ''}"
        for name, flow in agent["flows"].items()
    }
    values = {
        "zone": agent["tz"],
        "queue": agent["queue"],
        **flows,
        "tools": ", ".join(agent["tools"]),
        "segments": ", ".join(agent["segments"]),
        "admins": _admins(agent),
        "campaigns": short(agent["campaigns"], 1000) if agent["campaigns"] else None,
    }
    return Group(Text(agent["name"], style="bold"), facts(values))


def _user_page(user: Json) -> RenderableType:
    values = {
        "name": printable(user["name"] or ""),
        "address": printable(user["address"]),
        "zone": user["tz"],
        "locale": user["locale"],
        "consent": user["consent"],
        "since": moment(user["consent_at"]),
        "tags": ", ".join(user["tags"]),
        "data": short(user["data"], 1000) if user["data"] else None,
        "last message": moment(user["active"]),
    }
    return Group(Text(printable(user["external_id"]), style="bold"), facts(values))


def _message_line(message: Json) -> Text:
    return Text.assemble(
        (moment(message["created"]), "dim"), "  ", (f"{message['role']}: ", "bold"), printable(message["text"])
    )
