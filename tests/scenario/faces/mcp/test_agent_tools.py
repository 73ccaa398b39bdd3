"""The tools of an agent over MCP: for the user of the token's session, and for nobody else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client

from ostinato import NotFound, Ostinato, OstinatoError
from ostinato.faces.mcp import agent_tools_server, mint_session_token
from ostinato.flows import Agent, ConsoleTransport, ToolContext, TurnInput
from tests.support.face_agents import declare_buddy
from tests.support.mcp import ask, names, over_http, serving


@asynccontextmanager
async def running(tmp_path: Path) -> AsyncIterator[tuple[Ostinato, Agent, str]]:
    """An app with the agent, whose user `ada` has said something, and her session."""
    app = Ostinato(f"sqlite:///{tmp_path}/store.db")
    buddy, _ = declare_buddy(app)
    async with app:
        yield app, buddy, await open_session(app)


async def open_session(app: Ostinato, user: str = "ada") -> str:
    outcome = await (await app.agents.receive("buddy", user, "hello", id="1")).outcome("20s")
    assert outcome.session_id is not None
    return outcome.session_id


@asynccontextmanager
async def acting(app: Ostinato, session: str) -> AsyncIterator[Client]:
    """A client of the agent's tools with a token of a session."""
    async with (
        serving(agent_tools_server(app, "buddy").http_app()) as url,
        over_http(url, await mint_session_token(app, session)) as client,
    ):
        yield client


async def noted(app: Ostinato, *names: str) -> list[Any]:
    return [event for event in await app.events(limit=1000) if event.name in names]


def test_18_a_tool_acts_for_the_user_of_the_session(tmp_path: Path) -> None:
    async def main() -> None:
        async with running(tmp_path) as (app, _, ada):
            bob = await open_session(app, "bob")
            async with serving(agent_tools_server(app, "buddy").http_app()) as url:
                for session, user in ((ada, "ada"), (bob, "bob")):
                    async with over_http(url, await mint_session_token(app, session)) as client:
                        assert await names(client) == ["note"]
                        (tool,) = (await client.list_tools()).tools
                        assert "ctx" not in tool.input_schema["properties"]
                        ok, result = await ask(client, "note", text="x", times=2)
                        assert (ok, result) == (True, {"noted": "xx", "for": user, "source": "inbound"})
            called = await noted(app, "flow:tool_called")
            assert [event.subject for event in called] == [ada, bob]
            assert called[0].actor == "token:agent:buddy"
            assert called[0].data["outcome"] == "success"

    asyncio.run(main())


@pytest.mark.parametrize("argument", ["user", "ctx", "context", "userExternalId", "segment", "campaignId", "namespace"])
def test_19_an_unknown_argument_is_refused_and_on_record(tmp_path: Path, argument: str) -> None:
    async def main() -> None:
        async with running(tmp_path) as (app, _, ada):
            async with acting(app, ada) as client:
                ok, words = await ask(client, "note", text="x", **{argument: "bob"})
                assert (ok, f"{argument}: there is no such field" in words) == (False, True)
            (denied,) = await noted(app, "flow:tool_denied")
            assert denied.data["reason"] == f"unknown arguments: {argument}"
            assert (denied.subject, denied.data["tool"]) == (ada, "note")
            assert await noted(app, "flow:tool_called") == []

    asyncio.run(main())


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt, GeneratorExit, asyncio.CancelledError])
@pytest.mark.parametrize("form", ["async", "def"])
def test_whatever_a_tool_raises_is_its_error_and_the_next_call_is_answered(
    tmp_path: Path, kind: type[BaseException], form: str
) -> None:
    async def main() -> None:
        async with running(tmp_path) as (app, buddy, ada):
            if form == "async":

                @buddy.tool(name="raises")
                async def raises_async() -> None:
                    raise kind("no")

            else:

                @buddy.tool
                def raises() -> None:
                    raise kind("no")

            async with acting(app, ada) as client:
                assert await ask(client, "raises") == (False, f"{kind.__name__}: no")
                assert (await ask(client, "note", text="x"))[0]
            called = await noted(app, "flow:tool_called")
            assert [event.data["outcome"] for event in called] == ["failed", "success"]

    asyncio.run(main())


def test_wrong_values_and_unknown_tools_are_refused(tmp_path: Path) -> None:
    async def main() -> None:
        async with running(tmp_path) as (app, buddy, ada):

            @buddy.tool(timeout="50ms")
            async def hang(ctx: ToolContext) -> None:
                await asyncio.Event().wait()

            @buddy.tool
            def end(ctx: ToolContext) -> None:
                ctx.end_session()

            @buddy.tool
            def large() -> list[str]:
                return ["x" * 1000] * 500

            async with acting(app, ada) as client:
                assert await names(client) == ["note", "hang", "end", "large"]  # also those that came later
                assert await ask(client, "note") == (False, "text: it is missing")
                ok, words = await ask(client, "note", text="x", times="many")
                assert (ok, words.startswith("times:")) == (False, True)
                ok, words = await ask(client, "note", text="a\0b")
                assert (ok, words) == (False, "tool 'note': text 'a\\x00b' has a character that cannot be stored")
                ok, words = await ask(client, "not")
                assert (ok, "there is no tool 'not'" in words) == (False, True)
                assert "TimeoutError" in (await ask(client, "hang"))[1]
                assert "ended by a turn of its own" in (await ask(client, "end"))[1]
                assert (await ask(client, "large"))[1]["shortened"] is True
            denied = await noted(app, "flow:tool_denied")
            assert [event.data["reason"] for event in denied] == ["unknown tool"]
            called = await noted(app, "flow:tool_called")
            assert [event.data["outcome"] for event in called] == ["failed", "failed", "success"]

    asyncio.run(main())


async def status(url: str, token: str | None) -> int:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient() as http:
        return (await http.post(url, json={}, headers=headers)).status_code


def test_25_no_other_token_opens_it(tmp_path: Path) -> None:
    async def main() -> None:
        async with running(tmp_path) as (app, _, ada):
            other = app.agent("other", tz="UTC", model=None, transport=ConsoleTransport(str))
            assert other.name == "other"
            theirs = await (await app.agents.receive("other", "ada", "hello", id="1")).outcome("20s")
            token = await mint_session_token(app, ada)
            foreign = await mint_session_token(app, str(theirs.session_id))
            unbound = (await app.create_token("agent", namespace="default"))[0]
            admin = (await app.create_token("admin"))[0]
            async with serving(agent_tools_server(app, "buddy").http_app()) as url:
                assert await status(url, None) == 401
                assert await status(url, "ost_wrong") == 401
                assert await status(url, admin) == 403
                assert await status(url, token[:-1] + ("A" if token[-1] != "A" else "B")) == 401
                async with over_http(url, foreign) as client:
                    assert await ask(client, "note", text="x") == (False, "the token is for another agent")
                async with over_http(url, unbound) as client:
                    assert await ask(client, "note", text="x") == (False, "the token is not one of a session")
                (denied,) = await noted(app, "flow:tool_denied")
                assert denied.data["reason"] == "another agent's token"
                async with over_http(url, token) as client:
                    assert (await ask(client, "note", text="x"))[0]
                    session = await app.agents.session(ada)
                    await app.terminate(session.run_id)
                    await app.agents.receive(
                        "buddy", "ada", "again", id="2"
                    )  # finds the run over, and ends the session
                    assert await ask(client, "note", text="x") == (False, "the session of the token has ended")

    asyncio.run(main())


def test_a_token_does_not_last(tmp_path: Path) -> None:
    async def main() -> None:
        async with running(tmp_path) as (app, _, ada):
            token = await mint_session_token(app, ada, expires_in="10ms")
            await asyncio.sleep(0.05)
            async with serving(agent_tools_server(app, "buddy").http_app()) as url:
                assert await status(url, token) == 401
            assert len(await app.tokens()) == 1
            await mint_session_token(app, ada)  # forgets those that have expired
            assert len(await app.tokens()) == 1
            for length in ("2h", "0s"):
                with pytest.raises(OstinatoError, match="at most 1h"):
                    await mint_session_token(app, ada, expires_in=length)
            with pytest.raises(NotFound):
                await mint_session_token(app, "none")
            (turn,) = await app.agents.turns(await open_session(app, "bob"))
            with pytest.raises(NotFound, match="has no turn"):
                await mint_session_token(app, ada, turn_id=turn.id)
            with pytest.raises(NotFound, match="did you mean 'buddy'"):
                agent_tools_server(app, "budy")
            await app.create_namespace("other")
            with pytest.raises(NotFound):
                await mint_session_token(app.within("other"), ada)

    asyncio.run(main())


def test_29_a_tool_sees_that_a_schedule_began_the_turn(tmp_path: Path) -> None:
    async def main() -> None:
        async with running(tmp_path) as (app, _, ada):
            scheduled = TurnInput(user="ada", source="scheduled", key="s/1", flow="refund")
            outcome = await (await app.agents.run_turn("buddy", scheduled)).outcome("20s")
            token = await mint_session_token(app, ada, turn_id=outcome.turn_id)
            async with Client(agent_tools_server(app, "buddy", token=token).server) as client:
                assert (await ask(client, "note", text="x"))[1]["source"] == "scheduled"

    asyncio.run(main())
