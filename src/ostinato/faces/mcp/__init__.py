"""Serve tools over the Model Context Protocol (MCP).

`operators.py` has the tools for operators (`ostinato mcp`). `agent_tools.py` has the tools of an agent, for one user at
a time. `serving.py` serves both over standard input and output, or over streamable HTTP. All of it needs the extra
`mcp`.
"""

from typing import TYPE_CHECKING

from ostinato.lazy_names import lazy_names

if TYPE_CHECKING:
    from ostinato.faces.mcp.agent_tools import agent_tools_server
    from ostinato.faces.mcp.operators import operator_server
    from ostinato.faces.session_tokens import mint_session_token

__all__ = ["agent_tools_server", "mint_session_token", "operator_server"]

_OFFERED = {
    ".agent_tools": "agent_tools_server",
    ".operators": "operator_server",
    "ostinato.faces.session_tokens": "mint_session_token",
}
__getattr__, __dir__ = lazy_names(__name__, _OFFERED)
