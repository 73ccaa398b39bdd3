"""From an HTTP request, build the request that a journey can read.

It has the headers, query, cookies and peer, but not the token for this server. Headers with a client certificate are
accepted only from trusted proxies. Cookies that the journey sets are added to the answer here, too.
"""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING, Any

from ostinato.faces.http.authentication import OWN_HEADER, is_ours
from ostinato.faces.http.routing import Answer
from ostinato.journeys.settings import JourneySettings
from ostinato.journeys.task_kind import Request as Inbound

if TYPE_CHECKING:  # named in signatures; loaded by what serves
    from fastapi import Request

_OF_PROXIES = ("client-cert", "client-cert-chain")


def inbound(request: Request, settings: JourneySettings) -> Inbound:
    peer = request.client.host if request.client else None
    trusted = settings.trusts(peer)
    headers: dict[str, str] = {}
    for name, value in request.headers.items():
        if name == OWN_HEADER or (name in _OF_PROXIES and not trusted) or (name == "authorization" and _ours(value)):
            continue
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return Inbound(
        headers,
        dict(request.query_params),
        dict(request.cookies),
        client_cert=_certificate(request.scope),
        peer=peer,
    )


def give_cookies(answer: Answer, seen: Inbound) -> Answer:
    """Add the cookies that the journey's calls have set to `answer`, and return it."""
    answer.cookies += seen.set_cookies.values()
    return answer


def _ours(value: str) -> bool:
    scheme, _, credentials = value.partition(" ")
    return scheme.lower() == "bearer" and is_ours(credentials.strip())


def _certificate(scope: Any) -> bytes | None:
    """Return the client's certificate if this server terminates TLS (the ASGI extension `tls`), else None."""
    chain = ((scope.get("extensions") or {}).get("tls") or {}).get("client_cert_chain")
    return ssl.PEM_cert_to_DER_cert(chain[0]) if chain else None
