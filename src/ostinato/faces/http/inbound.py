"""What a journey sees of a request: headers, query, cookies and who is at the other end; not the token that opened our
own door. What a proxy says about its client is believed only of proxies that are trusted."""

from __future__ import annotations

import ssl
from typing import Any

from fastapi import Request, Response

from ostinato.faces.http.who import OWN_HEADER, is_ours
from ostinato.journeys.plugins import Request as Inbound
from ostinato.journeys.settings import JourneySettings

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


def give_cookies(response: Response, seen: Inbound) -> Response:
    """What a journey's calls have set for who began them."""
    for line in seen.set_cookies.values():
        response.headers.append("set-cookie", line)
    return response


def _ours(value: str) -> bool:
    scheme, _, credentials = value.partition(" ")
    return scheme.lower() == "bearer" and is_ours(credentials.strip())


def _certificate(scope: Any) -> bytes | None:
    """The client's own, where the server ends TLS itself and says so (the ASGI extension `tls`)."""
    chain = ((scope.get("extensions") or {}).get("tls") or {}).get("client_cert_chain")
    return ssl.PEM_cert_to_DER_cert(chain[0]) if chain else None
