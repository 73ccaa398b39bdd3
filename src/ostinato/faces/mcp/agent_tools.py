"""Serve an agent's tools over MCP, for one user at a time.

The caller's token belongs to a session. A tool acts for the user of this session, and no argument can change that. A
call that is denied despite a valid token is recorded as an event.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from mcp import MCPError
from mcp.server.lowlevel.server import Server
from mcp_types import INVALID_REQUEST, CallToolResult, ListToolsResult
from mcp_types import Tool as ToolDescription
from starlette.types import ASGIApp

from ostinato.app import Ostinato
from ostinato.engine.access import Role
from ostinato.engine.context import clean, to_json
from ostinato.engine.executor import is_stopping
from ostinato.engine.rows import audit
from ostinato.errors import NotFound, OstinatoError, describe_exception, did_you_mean, refuse_nul, short_repr
from ostinato.faces.auth import Door, Refused, Who
from ostinato.faces.mcp.results import WrongArguments, failure, read_arguments, success
from ostinato.faces.mcp.serving import http_app, serve_stdio, token_of
from ostinato.flows.calling import call
from ostinato.flows.definition import Agent, Tool
from ostinato.flows.hooks import TurnInfo
from ostinato.flows.tool_context import ToolContext
from ostinato.flows.views import SessionInfo, TurnView
from ostinato.store.contract import Operation, sql
from ostinato.version import __version__
from ostinato.when.instants import SECOND, to_datetime

_CALLED, _DENIED = "flow:tool_called", "flow:tool_denied"


@dataclass(frozen=True, slots=True)
class _Scope:
    """The caller of a tool, and the session and the turn for which the tool acts."""

    who: Who
    session: SessionInfo
    turn: TurnView


class _Denied(OstinatoError):
    """Raised if a caller with a valid token may not make this call."""


class AgentToolsServer:
    """The MCP server of an agent's tools. Create it with `agent_tools_server`. `server` is the MCP SDK's own server."""

    def __init__(self, app: Ostinato, agent: Agent, token: str | None) -> None:
        self._app = app
        self._agent = agent
        self._token = token
        self._door = Door(app, open_on_loopback=False)
        self.server: Server[Any] = Server(
            f"ostinato-agent-{agent.name}",
            version=__version__,
            get_tool_input_schema=self._schema,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
        )

    def http_app(self, *, host: str = "127.0.0.1", hosts: Sequence[str] = ()) -> ASGIApp:
        """Return the ASGI application that serves the tools at `/mcp`. Every request needs a session token."""
        return http_app(self.server, self._check, host=host, hosts=hosts)

    async def serve_stdio(self) -> None:
        """Serve over standard input and output. The token that the server was created with determines the session."""
        await serve_stdio(self.server)

    async def _check(self, token: str | None, client: str) -> None:
        await self._door.admit(token, client, Role.AGENT, None)

    def _schema(self, name: str) -> Mapping[str, Any] | None:
        tool = self._agent.tools.get(name)
        return None if tool is None else tool.schema["parameters"]

    async def _list_tools(self, ctx: Any, _: Any) -> ListToolsResult:
        try:
            await self._scope(ctx.request)
        except OstinatoError as problem:
            raise MCPError(INVALID_REQUEST, str(problem)) from None
        return ListToolsResult(tools=[_describe(tool) for tool in self._agent.tools.values()])

    async def _call_tool(self, ctx: Any, params: Any) -> CallToolResult:
        name, arguments = str(params.name), params.arguments
        try:
            scope = await self._scope(ctx.request, name)
            tool, checked = await self._read_call(scope, name, arguments)
        except OstinatoError as problem:
            return failure(str(problem))
        task = asyncio.current_task()
        try:
            result = await self._run(scope, tool, checked)
        except BaseException as problem:
            if is_stopping(problem, task):
                raise
            words = clean(str(problem) if isinstance(problem, OstinatoError) else describe_exception(problem))
            await self._note(scope, _CALLED, name, outcome="failed", reason=words[:300])
            return failure(words)
        await self._note(scope, _CALLED, name, outcome="success")
        return success(result)

    async def _scope(self, request: Any, tool: str = "") -> _Scope:
        """Return the caller, with the session and the turn that the caller's token is bound to.

        Raises `Refused` if the token is not a valid session token. Records an event and raises `_Denied` if the token
        is for another agent, or if the session of the token has ended.
        """
        token = self._token if request is None else token_of(request)
        client = "stdio" if request is None or request.client is None else request.client.host
        who = await self._door.admit(token, client, Role.AGENT, None)
        bound = (who.token.bound if who.token is not None else None) or {}
        if not {"agent", "session", "turn"} <= set(bound):
            raise Refused(403, "forbidden", "the token is not one of a session")
        if bound["agent"] != self._agent.name:
            await self._note_denial(who, bound, tool, "another agent's token")
            raise _Denied("the token is for another agent")
        session = await who.app.agents.session(bound["session"])
        if session.ended is not None:
            await self._note_denial(who, bound, tool, "session has ended")
            raise _Denied("the session of the token has ended")
        return _Scope(who, session, await who.app.agents.turn(bound["turn"]))

    async def _read_call(
        self, scope: _Scope, name: str, arguments: Mapping[str, Any] | None
    ) -> tuple[Tool, dict[str, Any]]:
        tool = self._agent.tools.get(name)
        if tool is None:
            await self._note(scope, _DENIED, name, reason="unknown tool")
            hint = did_you_mean(name, self._agent.tools)
            raise _Denied(f"there is no tool {short_repr(name)}{'; ' + hint if hint else ''}")
        refuse_nul(dict(arguments or {}), f"tool {name!r}")
        try:
            checked = read_arguments(tool.arguments, arguments)
        except WrongArguments as problem:
            if problem.unknown:  # an example is the id of another user, for whom the caller tries to act
                reason = f"unknown arguments: {', '.join(problem.unknown)}"[:300]
                await self._note(scope, _DENIED, name, reason=reason)
            raise
        return tool, {field: getattr(checked, field) for field in type(checked).model_fields}

    async def _run(self, scope: _Scope, tool: Tool, arguments: dict[str, Any]) -> Any:
        """Call the tool once, without retries. Return its result as JSON data."""
        if tool.context:
            arguments["ctx"] = await self._context(scope)
        async with asyncio.timeout(tool.timeout / SECOND):
            result = await call(tool.function, **arguments)
        return orjson.loads(to_json(result, f"the result of tool {tool.name!r}"))

    async def _context(self, scope: _Scope) -> ToolContext:
        app, turn = scope.who.app, scope.turn
        external_id = (await app.agents.external_ids([scope.session.user_id]))[scope.session.user_id]
        user = await app.agents.user(self._agent.name, external_id)
        now = app.engine.clock.now()
        info = TurnInfo(turn.id, scope.session.id, turn.source, turn.text, turn.flow, turn.metadata, to_datetime(now))
        key = f"mcp/{secrets.token_hex(16)}"
        return ToolContext(self._agent.name, app.namespace, user, info, key, _cannot_end)

    async def _note(self, scope: _Scope, event: str, tool: str, **data: Any) -> None:
        body = {"user_id": scope.session.user_id, "turn_id": scope.turn.id, **data}
        await self._write(scope.who, event, scope.session.id, tool, body)

    async def _note_denial(self, who: Who, bound: Mapping[str, str], tool: str, reason: str) -> None:
        await self._write(who, _DENIED, bound["session"], tool, {"turn_id": bound["turn"], "reason": reason})

    async def _write(self, who: Who, event: str, session_id: str, tool: str, data: Mapping[str, Any]) -> None:
        now = who.app.engine.clock.now()
        body = {"agent": self._agent.name, "tool": tool[:200], "session_id": session_id, **data}
        row = audit(now, who.namespace, event, session_id, who.actor, **body)

        def write(_: int) -> Operation[None]:
            yield sql("notify")
            yield sql("insert_events", [row])

        await who.app.store.run(write)
        who.app.engine.nudge()


def agent_tools_server(app: Ostinato, agent: str, *, token: str | None = None) -> AgentToolsServer:
    """Return the MCP server of an agent's tools. The app must be open.

    `token` is the session token for a server over standard input and output, where requests carry no token. Raises
    `NotFound` if the app does not have the agent.
    """
    code = app.agents.codes.get(agent)
    if code is None:
        hint = did_you_mean(agent, app.agents.codes.by_name) or "declare it with app.agent(…)"
        raise NotFound(f"this app has no agent {agent!r}; {hint}")
    return AgentToolsServer(app, code, token)


def _describe(tool: Tool) -> ToolDescription:
    return ToolDescription(name=tool.name, description=tool.description, input_schema=tool.schema["parameters"])


def _cannot_end(reason: str) -> None:
    raise OstinatoError("a session is ended by a turn of its own, not by a tool that is called from outside")
