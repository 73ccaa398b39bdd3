"""Read the token of an HTTP caller, and check that its role allows the call.

A journey may require its own credentials in the Authorization header. So a bearer token that is not an Ostinato token
is left to the journey. An Ostinato token may then be sent in the header `Ostinato-Token`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from ostinato.engine.access import PREFIX, Role
from ostinato.faces.auth import Door, Who, bearer_token, find_bearer
from ostinato.faces.http.proxies import Proxies
from ostinato.faces.http.validation_errors import ANY_QUERY, Mistaken

if TYPE_CHECKING:  # named in signatures; loaded by what serves
    from fastapi import Request
    from starlette.requests import HTTPConnection

OWN_HEADER = "ostinato-token"
_LONGEST = 63  # characters of a namespace
# Parameters of every call that needs a role. The functions below read them, because FastAPI would take longer than many
# calls take in all.
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
    """Return whether credentials look like a token of this server, valid or not."""
    return credentials.startswith(PREFIX)


@dataclass(frozen=True, slots=True)
class Needs:
    """The lowest role that may make a call. With `shared`, the Authorization header may hold a journey's own
    credentials instead of an Ostinato token."""

    role: Role
    shared: bool = False


async def authorize(request: Request, needs: Needs) -> Who:
    """Check that the caller has the role that a call needs, and return the caller.

    Raises `Refused` if it does not, and `NotFound` for a namespace that the caller may not see.
    """
    door: Door = request.app.state.door
    token = request.headers.get(OWN_HEADER)
    if token is None:
        token = _token_for_us(request) if needs.shared else bearer_token(request.headers.get("authorization"))
    return await door.admit(token, _client(request), needs.role, _namespace(request))


async def authenticate(request: HTTPConnection) -> None:
    """Raise `Refused` if the caller needs a valid token and has none. This is called before the body is read."""
    door: Door = request.app.state.door
    await door.identify(_token_for_us(request), _client(request))


def _token_for_us(request: HTTPConnection) -> str | None:
    """Return the Ostinato token in the headers of a request, or None."""
    token = find_bearer(request.headers.get("authorization"))
    return request.headers.get(OWN_HEADER) or (token if token is not None and is_ours(token) else None)


def _client(request: HTTPConnection) -> str:
    proxies: Proxies = request.app.state.proxies
    peer = request.client.host if request.client else None
    return proxies.client_of(peer, request.headers.getlist("x-forwarded-for"))


def _namespace(request: Request) -> str | None:
    namespace = request.query_params.get("namespace")
    if namespace is not None and len(namespace) > _LONGEST:
        words = f"a namespace has at most {_LONGEST} characters"
        raise Mistaken([{"loc": ("query", "namespace"), "msg": words, "input": namespace}])
    return namespace


def declared(role: Role, *, any_query: bool = False) -> dict[str, Any]:
    """Return keyword arguments for the decorator of a route. They state in OpenAPI that the route needs `role`.

    With `any_query`, the route accepts unknown query parameters, because a journey may read them.
    """
    extra: dict[str, Any] = {"x-role": role.value, "security": [{"HTTPBearer": []}], "parameters": [_NAMESPACE]}
    return {"openapi_extra": {**extra, ANY_QUERY: True} if any_query else extra}


Reader = Annotated[Who, Needs(Role.READER)]
Operator = Annotated[Who, Needs(Role.OPERATOR)]
Admin = Annotated[Who, Needs(Role.ADMIN)]
JourneyReader = Annotated[Who, Needs(Role.READER, shared=True)]
JourneyOperator = Annotated[Who, Needs(Role.OPERATOR, shared=True)]
