"""Read the token of an HTTP caller, and check that the token's role allows the call.

The Authorization header may contain credentials that a journey requires, instead of an Ostinato token. So calls that
may be about a journey ignore a bearer token that is not an Ostinato token. A caller that needs both sends the Ostinato
token in the header `Ostinato-Token`.
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


def our_token(header: str | None) -> str | None:
    """Return the Ostinato token in an Authorization header, valid or not. Returns None if the header has none."""
    token = find_bearer(header)
    return token if token is not None and token.startswith(PREFIX) else None


@dataclass(frozen=True, slots=True)
class Needs:
    """What a caller needs for a call: at least the role `role`.

    The caller sends its Ostinato token in the header `Ostinato-Token` or in the Authorization header. If the request
    has the header `Ostinato-Token`, the Authorization header is ignored here. Otherwise `shared` says what the
    Authorization header may have:

    - If `shared` is true, the Authorization header may have credentials for a journey instead of an Ostinato token.
      Such a request counts as a request without a token.
    - If `shared` is false, an Authorization header must have an Ostinato token. Other credentials are refused.
    """

    role: Role
    shared: bool = False


async def authorize(request: Request, needs: Needs) -> Who:
    """Return the sender of a request as an authorized caller. Raises `Refused` if the token is missing or invalid, or
    if its role does not suffice for `needs`. Raises `NotFound` if the namespace in the query does not exist, or if the
    token is bound to another namespace."""
    door: Door = request.app.state.door
    token = request.headers.get(OWN_HEADER)
    if token is None:
        token = _token_for_us(request) if needs.shared else bearer_token(request.headers.get("authorization"))
    return await door.admit(token, _client(request), needs.role, _namespace(request))


async def authenticate(request: HTTPConnection) -> None:
    """Raise `Refused` if the Ostinato token of a request is invalid, or if it is missing and the server requires one.
    This is called before the body is read. The role is not checked here, but in `authorize`."""
    door: Door = request.app.state.door
    await door.identify(_token_for_us(request), _client(request))


def _token_for_us(request: HTTPConnection) -> str | None:
    return request.headers.get(OWN_HEADER) or our_token(request.headers.get("authorization"))


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


def requires(role: Role, *, any_query: bool = False) -> dict[str, Any]:
    """Return keyword arguments for the decorator of a route. They make the OpenAPI document say that the route needs
    `role`. They do not check the role of a caller, because `authorize` does so. If `any_query` is true, the route
    accepts unknown query parameters, because a journey may read them."""
    extra: dict[str, Any] = {"x-role": role.value, "security": [{"HTTPBearer": []}], "parameters": [_NAMESPACE]}
    return {"openapi_extra": {**extra, ANY_QUERY: True} if any_query else extra}


Reader = Annotated[Who, Needs(Role.READER)]
Operator = Annotated[Who, Needs(Role.OPERATOR)]
Admin = Annotated[Who, Needs(Role.ADMIN)]
JourneyReader = Annotated[Who, Needs(Role.READER, shared=True)]
JourneyOperator = Annotated[Who, Needs(Role.OPERATOR, shared=True)]
