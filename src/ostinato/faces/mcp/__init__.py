"""Serve tools over the Model Context Protocol (MCP).

`operators.py` has the tools for operators (`ostinato mcp`). `agent_tools.py` has the tools of an agent, for one user at
a time. `serving.py` serves both over standard input and output, or over streamable HTTP. All of it needs the extra
`mcp`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ostinato.faces.mcp.agent_tools import agent_tools_server
    from ostinato.faces.mcp.operators import operator_server
    from ostinato.faces.session_tokens import mint_session_token

_WHERE = {
    "agent_tools_server": "ostinato.faces.mcp.agent_tools",
    "mint_session_token": "ostinato.faces.session_tokens",
    "operator_server": "ostinato.faces.mcp.operators",
}
__all__ = ["agent_tools_server", "mint_session_token", "operator_server"]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)
