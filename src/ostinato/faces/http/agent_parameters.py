"""Define the parameters that the HTTP calls about agents share."""

from __future__ import annotations

from typing import Annotated

from ostinato.errors import NotFound
from ostinato.faces.auth import Who
from ostinato.faces.http.routing import Path
from ostinato.faces.http.shapes.common import NO_NUL
from ostinato.flows.model import MOST_NAME
from ostinato.flows.views import SessionInfo

AgentName = Annotated[str, Path(min_length=1, max_length=100, pattern=NO_NUL, description="The agent's name.")]
User = Annotated[str, Path(min_length=1, max_length=200, pattern=NO_NUL, description="The user's external id.")]
Id = Annotated[str, Path(min_length=1, max_length=64, pattern=NO_NUL)]
CampaignId = Annotated[
    str, Path(min_length=1, max_length=MOST_NAME, pattern=NO_NUL, description="The id, or that with which it was sent.")
]
LONGEST_WAIT = 20  # seconds; less than clients wait for an answer


async def find_session(who: Who, agent: str, id: str) -> SessionInfo:
    """Return a session of an agent. Raises `NotFound` if the agent has no such session."""
    info: SessionInfo = await who.app.agents.session(id)
    if info.agent != agent:
        raise NotFound(f"agent {agent!r} has no session {id!r}")
    return info
