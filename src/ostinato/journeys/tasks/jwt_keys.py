"""The keys of JWT profiles. A key is looked up by its kid alone, in the profile's own set: nothing that a token says
leads to another place, and a key is used only with the algorithms of its own kind."""

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

from ostinato.engine.egress import Egress
from ostinato.engine.secrets import SecretMissing, is_reference
from ostinato.errors import OstinatoError
from ostinato.journeys.settings import JwtProfile
from ostinato.journeys.tasks.inbound import Misconfigured
from ostinato.when.instants import SECOND, Micros

_KEPT = 600 * SECOND
_BETWEEN = 60 * SECOND  # unknown kids do not make us ask more often
_LARGEST = 256 << 10
_SHORTEST_SECRET = 32  # bytes; RFC 7518 asks for the length of the hash
_CURVES = {"ES256": "secp256r1", "ES384": "secp384r1", "ES512": "secp521r1"}


@dataclass(frozen=True, slots=True)
class Key:
    kid: str | None
    key: Any = field(repr=False)
    algorithms: frozenset[str]  # that it may be used with


@dataclass(slots=True)
class _Fetched:
    keys: tuple[Key, ...]
    at: Micros


class KeySets:
    """The keys by profile; fetched ones are kept for a while."""

    def __init__(self) -> None:
        self._fetched: dict[str, _Fetched] = {}
        self._fetching: dict[str, asyncio.Lock] = {}

    async def keys(
        self, profile: JwtProfile, kid: str | None, egress: Egress | None, secret: Callable[[str], str], now: Micros
    ) -> tuple[Key, ...]:
        if profile.jwks is not None:
            return read_set(profile.jwks)
        if profile.jwks_url is None:
            return tuple(_own(kid, text, secret) for kid, text in profile.keys.items())
        if egress is None:
            raise Misconfigured("JWT_CONFIG_KEYS", "this engine cannot fetch the keys")
        return await self._remembered(profile.jwks_url, kid, egress, now)

    async def _remembered(self, url: str, kid: str | None, egress: Egress, now: Micros) -> tuple[Key, ...]:
        async with self._fetching.setdefault(url, asyncio.Lock()):
            held = self._fetched.get(url)
            fresh = held is not None and now - held.at < _KEPT
            known = held is not None and (kid is None or any(one.kid == kid for one in held.keys))
            if held is not None and fresh and (known or now - held.at < _BETWEEN):
                return held.keys
            try:
                found = await _fetched(url, egress)
            except OstinatoError as problem:
                if held is not None:
                    return held.keys  # old keys are better than none: their server may be away for a moment
                raise Misconfigured("JWT_CONFIG_KEYS", f"the keys cannot be fetched: {problem}") from None
            self._fetched[url] = _Fetched(found, now)
            return found


async def _fetched(url: str, egress: Egress) -> tuple[Key, ...]:
    answer = await egress.request("GET", url, headers={"accept": "application/json"}, timeout=10, max_response=_LARGEST)
    if answer.status != 200 or answer.truncated:
        raise OstinatoError(f"the answer is {answer.status}, or too long")
    try:
        document = orjson.loads(answer.content)
    except orjson.JSONDecodeError:
        raise OstinatoError("the answer is not JSON") from None
    return read_set(document)


def read_set(document: Any) -> tuple[Key, ...]:
    """The keys of a JSON Web Key Set that signatures may be checked with. What cannot be read is left out: a set may
    hold kinds of keys that nobody here knows."""
    listed = document.get("keys") if isinstance(document, Mapping) else None
    if not isinstance(listed, list):
        raise OstinatoError("it is not a JSON Web Key Set")
    found = []
    for one in listed[:100]:
        if isinstance(one, Mapping) and one.get("use", "sig") == "sig" and one.get("kty") != "oct":
            try:
                key = jwt.PyJWK(dict(one)).key
            except (jwt.PyJWTError, UnsupportedAlgorithm, ValueError, TypeError, KeyError):
                continue
            fits = algorithms_of(key)
            if isinstance(one.get("alg"), str):
                fits &= {one["alg"]}
            kid = one.get("kid")
            found.append(Key(kid if isinstance(kid, str) else None, key, fits))
    return tuple(found)


def _own(kid: str, text: str, secret: Callable[[str], str]) -> Key:
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
    """What a public key can be used with. A shared secret never comes this way, so a public key is never one."""
    match key:
        case rsa.RSAPublicKey() if key.key_size >= 2048:
            return frozenset(f"{kind}{size}" for kind in ("RS", "PS") for size in (256, 384, 512))
        case ec.EllipticCurvePublicKey():
            return frozenset(name for name, curve in _CURVES.items() if key.curve.name == curve)
        case ed25519.Ed25519PublicKey() | ed448.Ed448PublicKey():
            return frozenset({"EdDSA"})
        case _:
            return frozenset()
