"""Define the HTTP request bodies and answers about tokens of agents' sessions."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from ostinato.faces.http.shapes.common import Length, NextAfter, RequestBody, Shown, checking
from ostinato.faces.session_tokens import SessionToken, check_lifetime


class MintToken(RequestBody):
    """Create a token for a session. The token is bound to the turn `turn_id`, or else to the session's newest turn."""

    turn_id: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    expires_in: Length = Field(default="15m", description="How long it is valid, an hour at most.")

    _check_expires_in = checking("expires_in", lambda value: check_lifetime(value, "expires_in"))


class SessionTokenShown(Shown, view=SessionToken):
    """A token of a session, without its secret."""

    turn_id: str = Field(description="A tool that is called with the token sees what began this turn.")


class SessionTokens(BaseModel):
    items: list[SessionTokenShown]
    next: NextAfter


class SessionTokenMade(SessionTokenShown):
    token: str = Field(description="Shown only in this answer.")
