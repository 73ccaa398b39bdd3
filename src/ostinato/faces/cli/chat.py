"""Talk with an agent in the terminal. Each input line is a message of the user; the answers are printed."""

from __future__ import annotations

import asyncio
import sys
import threading
from contextlib import suppress

from rich.text import Text

from ostinato.client import Json
from ostinato.errors import Conflict, NotFound
from ostinato.faces.cli.output import printable
from ostinato.faces.cli.session import Session
from ostinato.faces.cli.waiting import say_without_nodes

_LOOK = 0.3  # seconds between two looks for new messages
_PATIENCE = 2.0  # seconds after which the chat says that no node is at work
_PAGE = 50  # messages that one look reads


class Chat:
    """The conversation between one user and an agent in this terminal."""

    def __init__(self, session: Session, agent: str, user: str) -> None:
        self._agents = session.client.agents
        self._session = session
        self._out = session.out
        self._agent = agent
        self._user = user
        self._seen = ""
        self._warned = False  # it has said that no node is at work

    async def run(self) -> None:
        """Read lines from standard input until the input ends. Send each line to the agent as a message of the user,
        wait until the agent has handled the message, and print the answers."""
        self._seen = max((message["id"] for message in await self._newest()), default="")
        if sys.stdin.isatty():
            self._out.console.print(
                Text(f"talking with {self._agent} as {printable(self._user)}; Ctrl-D ends", style="dim")
            )
        self._warned = await say_without_nodes(self._session)
        lines = _read_lines()
        while (line := await self._next_line(lines)) is not None:
            if line.strip():
                await self._say(line.strip())

    async def _next_line(self, lines: asyncio.Queue[str | None]) -> str | None:
        """Return the next line of input, or None at the end of the input. While waiting, show messages that arrive."""
        while True:
            with suppress(TimeoutError):
                return await asyncio.wait_for(lines.get(), _LOOK)
            await self._show_new()

    async def _say(self, text: str) -> None:
        accepted = await self._agents.receive(self._agent, self._user, text)
        while True:
            try:
                outcome = await self._agents.outcome(self._agent, accepted["turn_id"], wait=_PATIENCE)
            except Conflict:  # it is not over
                self._warned = self._warned or await say_without_nodes(self._session)
                continue
            break
        await self._show_new()
        if outcome["outcome"] != "success" or outcome["reason"] == "forwarded":
            words = f"{outcome['outcome']}: {outcome['reason']}"
            if not self._out.as_json:
                self._out.console.print(Text(f"({words})", style="dim"), soft_wrap=True)

    async def _show_new(self) -> None:
        for message in sorted(await self._newest(), key=lambda one: str(one["id"])):
            if message["id"] <= self._seen:
                continue
            self._seen = message["id"]
            if message["role"] == "user":
                continue
            if self._out.as_json:
                self._out.line(message)
            else:
                name = self._agent if message["role"] == "assistant" else "a person"
                self._out.console.print(
                    Text.assemble((f"{name}: ", "bold"), printable(message["text"])), soft_wrap=True
                )

    async def _newest(self) -> list[Json]:
        """Return the last messages of the user's newest session."""
        try:
            sessions = await self._agents.sessions(self._agent, user=self._user, limit=1)
        except NotFound:  # the first message creates the user
            return []
        return await self._agents.messages(self._agent, sessions[0]["id"], limit=_PAGE) if sessions else []


def _read_lines() -> asyncio.Queue[str | None]:
    """Start a daemon thread that reads standard input. Return a queue of its lines; None marks the end."""
    lines: asyncio.Queue[str | None] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    source = sys.stdin

    def read() -> None:
        with suppress(RuntimeError):  # the loop is closed
            for line in source:
                loop.call_soon_threadsafe(lines.put_nowait, line)
            loop.call_soon_threadsafe(lines.put_nowait, None)

    threading.Thread(target=read, name="ostinato-chat", daemon=True).start()
    return lines
