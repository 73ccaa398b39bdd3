"""Who is asking over HTTP: the door, as FastAPI's dependencies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Depends, Query, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from ostinato.engine.access import Role
from ostinato.faces.door import Door, Who

_bearer = HTTPBearer(auto_error=False, description="A token made with `ostinato token create`.")


def needs(role: Role) -> Any:
    """A dependency: who asks, if they have at least this role."""

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
        return await door.admit(given, client, role, namespace)

    return Depends(who)


def declared(role: Role) -> dict[str, Any]:
    """What a route says about who may use it: checked when it is called, and shown in the API's description."""
    return {"openapi_extra": {"x-role": role.value}}


Reader = Annotated[Who, needs(Role.READER)]
Operator = Annotated[Who, needs(Role.OPERATOR)]
Admin = Annotated[Who, needs(Role.ADMIN)]
Check = Callable[..., Any]
