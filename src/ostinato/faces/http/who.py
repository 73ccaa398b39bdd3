"""Who is asking over HTTP: the door, as FastAPI's dependencies.

A journey may ask its callers for credentials of its own, in the header that ours comes in. So on its calls a bearer
token that is not one of ours is the journey's business, and ours may come as `Ostinato-Token` instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Depends, Query, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from ostinato.engine.access import PREFIX, Role
from ostinato.faces.door import Door, Who

_bearer = HTTPBearer(auto_error=False, description="A token made with `ostinato token create`.")


OWN_HEADER = "ostinato-token"


def is_ours(credentials: str) -> bool:
    """Whether it is meant as a token of this server, valid or not."""
    return credentials.startswith(PREFIX)


def needs(role: Role, *, shared: bool = False) -> Any:
    """A dependency: who asks, if they have at least this role. `shared`: other credentials may stand in the header."""

    async def who(
        request: Request,
        credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)] = None,
        namespace: Annotated[
            str | None, Query(description="Which namespace; the token's own, else `default`.", max_length=63)
        ] = None,
    ) -> Who:
        door: Door = request.app.state.door
        client = request.client.host if request.client else "?"
        given = credentials.credentials if credentials is not None else None
        if shared:
            given = request.headers.get(OWN_HEADER) or (given if given is not None and is_ours(given) else None)
        return await door.admit(given, client, role, namespace)

    return Depends(who)


def declared(role: Role) -> dict[str, Any]:
    """What a route says about who may use it: checked when it is called, and shown in the API's description."""
    return {"openapi_extra": {"x-role": role.value}}


Reader = Annotated[Who, needs(Role.READER)]
Operator = Annotated[Who, needs(Role.OPERATOR)]
Admin = Annotated[Who, needs(Role.ADMIN)]
JourneyReader = Annotated[Who, needs(Role.READER, shared=True)]
JourneyOperator = Annotated[Who, needs(Role.OPERATOR, shared=True)]
Check = Callable[..., Any]
