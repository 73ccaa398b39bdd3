"""Convert an HTTP request into the request that a journey can read.

The journey can read the headers, query, cookies and peer, but not the token for this server. Headers with a client
certificate are accepted only from trusted proxies. If a journey sets cookies, this module adds them to the
answer.
"""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING, Any

from ostinato.faces.auth import Who
from ostinato.faces.http.authentication import OWN_HEADER, our_token
from ostinato.faces.http.routing import HttpAnswer
from ostinato.journeys.task_kind import Request as Inbound

if TYPE_CHECKING:  # named in signatures; loaded by what serves
    from fastapi import Request

_OF_PROXIES = ("client-cert", "client-cert-chain")


def inbound(request: Request, who: Who) -> Inbound:
    peer = request.client.host if request.client else None
    trusted = who.app.journeys.settings.trusts(peer)
    headers: dict[str, str] = {}
    for name, value in request.headers.items():
        ours = name == OWN_HEADER or (name == "authorization" and our_token(value) is not None)
        if ours or (name in _OF_PROXIES and not trusted):
            continue
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return Inbound(
        headers, dict(request.query_params), dict(request.cookies), client_cert=_certificate(request.scope), peer=peer
    )


def give_cookies(answer: HttpAnswer, seen: Inbound) -> HttpAnswer:
    """Add the cookies in `seen.set_cookies` to `answer`, and return `answer`. The journey has got these cookies from
    other servers that it called, and passes the cookies on to its own caller."""
    answer.cookies += seen.set_cookies.values()
    return answer


def _certificate(scope: Any) -> bytes | None:
    """Return the client's certificate if this server terminates TLS (the ASGI extension `tls`), else None."""
    chain = ((scope.get("extensions") or {}).get("tls") or {}).get("client_cert_chain")
    return ssl.PEM_cert_to_DER_cert(chain[0]) if chain else None
