"""Who is asking over HTTP: the door, as FastAPI's dependencies.

A journey may ask its callers for credentials of its own, in the header that ours comes in. So on its calls a bearer
token that is not one of ours is the journey's business, and ours may come as `Ostinato-Token` instead.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.exceptions import RequestValidationError
from starlette.requests import HTTPConnection

from ostinato.engine.access import PREFIX, Role
from ostinato.faces.door import Door, Who
from ostinato.faces.http.mistakes import ANY_QUERY
from ostinato.faces.http.proxies import Proxies

OWN_HEADER = "ostinato-token"
_LONGEST = 63  # characters of a namespace
# What every call that is not for anyone takes, beside its own: read by hand below, because to have it read for us takes
# longer than many a call itself.
SCHEMES = {
    "HTTPBearer": {"type": "http", "scheme": "bearer", "description": "A token made with `ostinato token create`."}
}
_NAMESPACE = {
    "name": "namespace",
    "in": "query",
    "required": False,
    "description": "Which namespace; the token's own, else `default`.",
    "schema": {
        "anyOf": [{"type": "string", "maxLength": _LONGEST}, {"type": "null"}],
        "title": "Namespace",
        "description": "Which namespace; the token's own, else `default`.",
    },
}


def is_ours(credentials: str) -> bool:
    """Whether it is meant as a token of this server, valid or not."""
    return credentials.startswith(PREFIX)


def needs(role: Role, *, shared: bool = False) -> Any:
    """A dependency: who asks, if they have at least this role. `shared`: other credentials may stand in the header."""

    async def who(request: Request) -> Who:
        door: Door = request.app.state.door
        given = _own(request) if shared else _bearer(request.headers.get("authorization"))
        return await door.admit(given, _client(request), role, _namespace(request))

    return Depends(who)


async def known(request: HTTPConnection) -> None:
    """Refuse who has no valid token, where one is needed, whatever they want: before a body of theirs is read."""
    door: Door = request.app.state.door
    await door.identify(_own(request), _client(request))


def _own(request: HTTPConnection) -> str | None:
    """The token that is meant for this server; other credentials may stand in the same header."""
    given = _bearer(request.headers.get("authorization"))
    return request.headers.get(OWN_HEADER) or (given if given is not None and is_ours(given) else None)


def _client(request: HTTPConnection) -> str:
    proxies: Proxies = request.app.state.proxies
    peer = request.client.host if request.client else None
    return proxies.client_of(peer, request.headers.getlist("x-forwarded-for"))


def _bearer(header: str | None) -> str | None:
    scheme, _, credentials = (header or "").partition(" ")
    return credentials.strip() or None if scheme.lower() == "bearer" else None


def _namespace(request: Request) -> str | None:
    found = request.query_params.get("namespace")
    if found is not None and len(found) > _LONGEST:
        words = f"a namespace has at most {_LONGEST} characters"
        raise RequestValidationError([{"loc": ("query", "namespace"), "msg": words, "input": found}])
    return found


def declared(role: Role, *, any_query: bool = False) -> dict[str, Any]:
    """What a route says about who may use it: checked when it is called, and shown in the API's description.
    `any_query`: a journey reads the query, too, so that a name the route does not know is no mistake."""
    extra: dict[str, Any] = {"x-role": role.value, "security": [{"HTTPBearer": []}], "parameters": [_NAMESPACE]}
    return {"openapi_extra": {**extra, ANY_QUERY: True} if any_query else extra}


Reader = Annotated[Who, needs(Role.READER)]
Operator = Annotated[Who, needs(Role.OPERATOR)]
Admin = Annotated[Who, needs(Role.ADMIN)]
JourneyReader = Annotated[Who, needs(Role.READER, shared=True)]
JourneyOperator = Annotated[Who, needs(Role.OPERATOR, shared=True)]
