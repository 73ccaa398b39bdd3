"""Read the keys that verify the JSON Web Tokens of a profile. A key is used only with the algorithms of its type."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import jwt
import orjson
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, rsa
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from ostinato.engine.http.egress import Egress
from ostinato.engine.http.secrets import SecretMissing, is_reference
from ostinato.errors import OstinatoError
from ostinato.journeys.settings import JwtProfile
from ostinato.journeys.tasks.inbound.shared import Misconfigured
from ostinato.when.instants import SECOND, Micros

_KEPT = 600 * SECOND
_BETWEEN = 60 * SECOND  # least time between fetches for an unknown kid
_LARGEST = 256 << 10
_SHORTEST_SECRET = 32  # bytes; RFC 7518 requires the length of the hash
_CURVES = {"ES256": "secp256r1", "ES384": "secp384r1", "ES512": "secp521r1"}


@dataclass(frozen=True, slots=True)
class Key:
    kid: str | None
    key: Any = field(repr=False)
    algorithms: frozenset[str]  # the key is used only with these


@dataclass(slots=True)
class _CachedKeys:
    keys: tuple[Key, ...]
    at: Micros


class KeySets:
    """The keys of profiles. Fetched keys are cached for ten minutes."""

    def __init__(self) -> None:
        self._fetched: dict[str, _CachedKeys] = {}
        self._fetching: dict[str, asyncio.Lock] = {}

    async def keys(
        self, profile: JwtProfile, kid: str | None, egress: Egress | None, secret: Callable[[str], str], now: Micros
    ) -> tuple[Key, ...]:
        if profile.jwks is not None:
            return read_set(profile.jwks)
        if profile.jwks_url is None:
            return tuple(_read_key(kid, text, secret) for kid, text in profile.keys.items())
        if egress is None:
            raise Misconfigured("JWT_CONFIG_KEYS", "this engine cannot fetch the keys")
        return await self._cached_keys(profile.jwks_url, kid, egress, now)

    async def _cached_keys(self, url: str, kid: str | None, egress: Egress, now: Micros) -> tuple[Key, ...]:
        async with self._fetching.setdefault(url, asyncio.Lock()):
            cached = self._fetched.get(url)
            fresh = cached is not None and now - cached.at < _KEPT
            has_kid = cached is not None and (kid is None or any(one.kid == kid for one in cached.keys))
            if cached is not None and fresh and (has_kid or now - cached.at < _BETWEEN):
                return cached.keys
            try:
                keys = await _fetch_keys(url, egress)
            except OstinatoError as problem:
                if cached is not None:
                    return cached.keys  # old keys are better than none: the server may be down for a moment
                raise Misconfigured("JWT_CONFIG_KEYS", f"the keys cannot be fetched: {problem}") from None
            self._fetched[url] = _CachedKeys(keys, now)
            return keys


async def _fetch_keys(url: str, egress: Egress) -> tuple[Key, ...]:
    answer = await egress.request("GET", url, headers={"accept": "application/json"}, timeout=10, max_response=_LARGEST)
    if answer.status != 200 or answer.truncated:
        raise OstinatoError(f"the answer is {answer.status}, or too long")
    try:
        document = orjson.loads(answer.content)
    except orjson.JSONDecodeError:
        raise OstinatoError("the answer is not JSON") from None
    return read_set(document)


def read_set(document: Any) -> tuple[Key, ...]:
    """Return the signature keys of a JSON Web Key Set. Skip keys that cannot be read, because a set may contain keys of
    unknown types. Raise `OstinatoError` if the document is not a key set."""
    listed = document.get("keys") if isinstance(document, Mapping) else None
    if not isinstance(listed, list):
        raise OstinatoError("it is not a JSON Web Key Set")
    keys = []
    for jwk in listed[:100]:
        if isinstance(jwk, Mapping) and jwk.get("use", "sig") == "sig" and jwk.get("kty") != "oct":
            try:
                key = jwt.PyJWK(dict(jwk)).key
            except (jwt.PyJWTError, UnsupportedAlgorithm, ValueError, TypeError, KeyError):
                continue
            fits = algorithms_of(key)
            if isinstance(jwk.get("alg"), str):
                fits &= {jwk["alg"]}
            kid = jwk.get("kid")
            keys.append(Key(kid if isinstance(kid, str) else None, key, fits))
    return tuple(keys)


def _read_key(kid: str, text: str, secret: Callable[[str], str]) -> Key:
    if is_reference(text):
        try:
            value = secret(text)
        except SecretMissing as problem:
            raise Misconfigured("JWT_CONFIG_KEYS", str(problem)) from None
        if "-----BEGIN" not in value:
            if len(value.encode()) < _SHORTEST_SECRET:
                raise Misconfigured("JWT_CONFIG_KEYS", f"the shared secret {kid!r} is too short to be one")
            return Key(kid, value.encode(), frozenset({"HS256", "HS384", "HS512"}))
        text = value
    try:
        key = load_pem_public_key(text.encode())
    except (ValueError, UnsupportedAlgorithm):
        raise Misconfigured("JWT_CONFIG_KEYS", f"the key {kid!r} is neither PEM nor a reference") from None
    return Key(kid, key, algorithms_of(key))


def algorithms_of(key: Any) -> frozenset[str]:
    """Return the algorithms that a public key may be used with. Algorithms for shared secrets are never among them."""
    match key:
        case rsa.RSAPublicKey() if key.key_size >= 2048:
            return frozenset(f"{kind}{size}" for kind in ("RS", "PS") for size in (256, 384, 512))
        case ec.EllipticCurvePublicKey():
            return frozenset(name for name, curve in _CURVES.items() if key.curve.name == curve)
        case ed25519.Ed25519PublicKey() | ed448.Ed448PublicKey():
            return frozenset({"EdDSA"})
        case _:
            return frozenset()
