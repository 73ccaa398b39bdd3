"""Authenticate outbound calls with a fixed token, a token from OAuth 2 client credentials, or a client certificate.

Fetched tokens are cached in this node's memory until shortly before they expire. Secrets are not cached: they are
resolved for each call that needs them.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import os
import re
import ssl
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from urllib.parse import quote_plus, urlencode

import httpx
import orjson

from ostinato.engine.http.egress import Egress, EgressResponse
from ostinato.engine.http.secrets import secret_reference
from ostinato.errors import OstinatoError
from ostinato.journeys.language.blocks import ClientAuth
from ostinato.when.instants import SECOND, Micros

_SKEW_S = 30
_UNSAID_S = 300  # lifetime of a token, if its server does not say
_LARGEST = 64 << 10

_SCHEME = re.compile(r"(?:bearer|basic|digest|dpop|token|apikey) +", re.IGNORECASE)
_CREDENTIAL = re.compile(r"auth|token|secret|password|cookie|api-?key|session", re.IGNORECASE)
_LENGTH = 8  # shortest credential to hide; hiding shorter ones would hide ordinary words

Secret: TypeAlias = Callable[[str], str]
_Key: TypeAlias = tuple[str, ...]


class TokenUnavailable(OstinatoError):
    """Raised if the token endpoint returned no token. The message contains nothing of the response's body."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """The credentials of a call. `secrets` are texts that must not appear in the result of the call. `key` is the key
    of the token in the cache of fetched tokens. It is None if these credentials have no fetched token."""

    egress: Egress
    headers: dict[str, str] = field(default_factory=dict)
    secrets: frozenset[str] = frozenset()
    key: _Key | None = None

    def __repr__(self) -> str:
        return "<credentials>"


@dataclass(slots=True)
class _Token:
    value: str = field(repr=False)
    until: Micros


class Authenticator:
    def __init__(self) -> None:
        self._tokens: dict[_Key, _Token] = {}
        self._fetching: defaultdict[_Key, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._contexts: dict[str, ssl.SSLContext] = {}

    async def credentials(
        self, policy: ClientAuth, egress: Egress, secret: Secret, now: Micros, timeout: float, endpoint: str = ""
    ) -> Credentials:
        match policy.kind:
            case "bearerStatic":
                token = _resolve_secret(secret, policy.token_ref)
                return Credentials(egress, _bearer(token), frozenset({token}))
            case "mtlsClient":
                certificate = _resolve_secret(secret, policy.client_cert_ref)
                return Credentials(self._with_certificate(egress, certificate, _anchors(policy)))
        key = _key_of(policy, endpoint)
        async with self._fetching[key]:
            held = self._tokens.get(key)
            secrets: set[str] = set()
            if held is None or held.until <= now:
                held, secrets = await self._fetch_token(policy, egress, secret, now, timeout, endpoint)
                self._tokens[key] = held
        return Credentials(egress, _bearer(held.value), frozenset({held.value, *secrets}), key)

    def forget(self, credentials: Credentials) -> bool:
        """Remove the refused token of `credentials` from the cache, and return whether the caller can try again with
        another token.

        - If `credentials` have no token from a token endpoint, do nothing and return False.
        - Otherwise return True. If another call has cached a newer token meanwhile, the newer token stays in the cache.
        """
        if credentials.key is None:
            return False
        held = self._tokens.get(credentials.key)
        if held is not None and held.value in credentials.secrets:
            del self._tokens[credentials.key]
        return True

    async def _fetch_token(
        self, policy: ClientAuth, egress: Egress, secret: Secret, now: Micros, timeout: float, endpoint: str
    ) -> tuple[_Token, set[str]]:
        auth = policy.auth
        assert auth is not None
        form = {**policy.form, "grant_type": "client_credentials"}
        headers = {"content-type": "application/x-www-form-urlencoded", "accept": "application/json"}
        used = set()
        if auth.method == "tlsClientAuth":
            egress = self._with_certificate(egress, _resolve_secret(secret, auth.client_cert_ref), _anchors(policy))
            form["client_id"] = auth.client_id
        else:
            client_secret = _resolve_secret(secret, auth.client_secret_ref)
            used.add(client_secret)
            if auth.method == "clientSecretPost":
                form |= {"client_id": auth.client_id, "client_secret": client_secret}
            else:
                pair = f"{quote_plus(auth.client_id)}:{quote_plus(client_secret)}".encode()
                headers["authorization"] = "Basic " + base64.b64encode(pair).decode()
        content = urlencode(form).encode()
        answer = await egress.request(
            "POST", endpoint, headers=headers, content=content, timeout=timeout, max_response=_LARGEST
        )
        return _read_token(answer, now, httpx.URL(endpoint).host), used

    def _with_certificate(self, egress: Egress, pem: str, anchors: Sequence[str]) -> Egress:
        digest = hashlib.sha256("\0".join([pem, *anchors]).encode()).hexdigest()
        if digest not in self._contexts:
            self._contexts[digest] = tls_context(pem, anchors)
        return egress.with_tls(self._contexts[digest])


def tls_context(pem: str, anchors: Sequence[str] = ()) -> ssl.SSLContext:
    """Return TLS settings with a client certificate. `pem` contains the certificate and its private key. If `anchors`
    is empty, the default certificate authorities are trusted. Raise `OstinatoError` if `pem` is invalid."""
    context = ssl.create_default_context(cadata="\n".join(anchors)) if anchors else httpx.create_ssl_context()
    try:
        if hasattr(os, "memfd_create"):  # OpenSSL reads only files; this one is in memory
            with os.fdopen(os.memfd_create("certificate"), "w") as file:
                file.write(pem)
                file.flush()
                context.load_cert_chain(f"/proc/self/fd/{file.fileno()}")
        else:
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "certificate.pem")
                with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
                    file.write(pem)
                context.load_cert_chain(path)
    except (ssl.SSLError, OSError):
        raise OstinatoError("the client certificate is not a certificate and its private key as PEM") from None
    return context


def _key_of(policy: ClientAuth, endpoint: str) -> _Key:
    auth = policy.auth
    assert auth is not None
    form = [part for pair in sorted(policy.form.items()) for part in pair]
    return endpoint, auth.method, auth.client_id, str(auth.client_secret_ref or auth.client_cert_ref), *form


def _read_token(answer: EgressResponse, now: Micros, host: str) -> _Token:
    if not 200 <= answer.status < 300:
        raise TokenUnavailable(f"the token endpoint at {host!r} answered {answer.status}")
    try:
        document: Any = orjson.loads(answer.content)
        token, kind = document["access_token"], str(document.get("token_type", "Bearer"))
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
        raise TokenUnavailable(f"the token endpoint at {host!r} answered with no token") from None
    if not isinstance(token, str) or not token or kind.lower() != "bearer":
        raise TokenUnavailable(f"the token endpoint at {host!r} answered with no bearer token")
    expires_in = document.get("expires_in")
    seconds = float(expires_in) if isinstance(expires_in, int | float) and expires_in > 0 else _UNSAID_S
    seconds = min(seconds, 24 * 3600.0)
    return _Token(token, now + int(max(seconds - _SKEW_S, seconds / 2) * SECOND))


def _resolve_secret(secret: Secret, reference: str | None) -> str:
    return secret(secret_reference(reference or "") or str(reference))


def _anchors(policy: ClientAuth) -> list[str]:
    return [str(one.get("pem")) for one in policy.trust_anchors]


def _bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def credentials_in(headers: Mapping[str, str]) -> Iterator[str]:
    """Yield the credentials in the headers of a request. If the response repeats a credential, the caller must hide
    this credential."""
    for name, value in headers.items():
        scheme = _SCHEME.match(value)
        credential = value[scheme.end() :] if scheme else value
        if (scheme or _CREDENTIAL.search(name)) and len(credential) >= _LENGTH:
            yield credential
