"""Run the task `jwtValidate:v1`, which checks a JSON Web Token. The profile names the algorithms, keys, issuer and
audience. No claim of the token is used before the signature is verified. Unsafe tokens are refused, for example those
with `alg: none` or an unknown key id (`kid`)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import jwt
import orjson

from ostinato.journeys.language import Definition
from ostinato.journeys.language.shapes import key, of, one_of, text
from ostinato.journeys.settings import JourneySettings, JwtProfile
from ostinato.journeys.task_kind import Fault, Request, TaskCall, TaskProblem, TaskResult
from ostinato.journeys.tasks.inbound.jwt_keys import Key, KeySets
from ostinato.journeys.tasks.inbound.shared import (
    CallerDenied,
    InboundSettings,
    authenticate,
    profile_fault,
    read_value,
    unknown_profile,
)
from ostinato.journeys.tasks.read_settings import check_settings, read_settings
from ostinato.model import Json
from ostinato.when.instants import SECOND, Micros

LONGEST = 16 << 10  # characters
DEEPEST = 32
_MALFORMED = CallerDenied("JWT_TOKEN_MALFORMED", "The token is not a JWT")


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenSource:
    location: str = key("location", one_of("header", "query", "cookie"), "header")
    name: str = key("name", text(), "Authorization")
    scheme: str | None = key("scheme", text(), None)

    def token(self, request: Request | None) -> str | None:
        """Return the token in the request, or None if there is none.

        - If `scheme` is set, the value in the request must be the scheme and the token, as in `Bearer eyJ…`. If the
          value has another scheme, return None.
        - If `scheme` is None and the value is in the header `Authorization`, the scheme is `Bearer`.
        - If `scheme` is None and the value is in another place, the whole value is the token.
        """
        value = None if request is None else read_value(request, self.location, self.name)
        scheme = self.scheme
        if scheme is None and (self.location, self.name.lower()) == ("header", "authorization"):
            scheme = "Bearer"
        if value is None or scheme is None:
            return value
        first, _, rest = value.strip().partition(" ")
        return rest.strip() if first.lower() == scheme.lower() else None


@dataclass(frozen=True, slots=True, kw_only=True)
class JwtSettings(InboundSettings):
    source: TokenSource = key("source", of(TokenSource), TokenSource())


@dataclass(slots=True)
class JwtValidate:
    settings: JourneySettings = field(default_factory=JourneySettings)
    name: str = "jwtValidate"
    major: int = 1
    _keys: KeySets = field(default_factory=KeySets)

    def check(self, settings: Mapping[str, Json], definition: Definition) -> Iterable[Fault]:
        return check_settings(JwtSettings, settings, lambda found: profile_fault(found.profile, self.settings.jwt))

    async def run(self, call: TaskCall) -> TaskResult | TaskProblem:
        settings = read_settings(JwtSettings, call.settings)
        return await authenticate(call, settings, "jwt", self._validate(call, settings))

    async def _validate(self, call: TaskCall, settings: JwtSettings) -> dict[str, Any]:
        profile = self.settings.jwt.get(settings.profile)
        if profile is None:
            raise unknown_profile(settings.profile, self.settings.jwt, "JWT")
        token = settings.source.token(call.request)
        if not token:
            raise CallerDenied("JWT_TOKEN_MISSING", "No token was sent")
        header = read_header(token, profile)
        kid = header.get("kid")
        keys = await self._keys.keys(profile, kid, call.services.get("egress"), call.secret, call.now)
        claims = verify_signature(token, choose_key(keys, kid, header["alg"]), header["alg"])
        check_claims(claims, profile, call.now)
        return {"header": header, "claims": claims}


def read_header(token: str, profile: JwtProfile) -> dict[str, Any]:
    """Check a token as far as this is possible without a key, and return its header. Raise `CallerDenied` if the token
    is malformed, or if the profile does not accept its algorithm."""
    if len(token) > LONGEST or token.count(".") != 2:
        raise _MALFORMED
    try:
        header = jwt.get_unverified_header(token)
    except (jwt.PyJWTError, ValueError, RecursionError):
        raise _MALFORMED from None
    if not isinstance(header.get("alg"), str) or not isinstance(header.get("kid", ""), str):
        raise _MALFORMED
    if "crit" in header or header.get("b64", True) is not True or _deep(header):
        raise _MALFORMED
    if header["alg"] not in profile.algorithms:
        raise CallerDenied("JWT_SIG_INVALID", "The token's algorithm is not one of the profile's")
    return dict(header)


def choose_key(keys: tuple[Key, ...], kid: str | None, algorithm: str) -> Key:
    """Return the key that verifies a token. The key must be for `algorithm`. If the token has a `kid`, the key must
    have the same `kid`. Raise `CallerDenied` unless exactly one key fits."""
    if kid is not None:
        named = [one for one in keys if one.kid == kid]
        if not named:
            raise CallerDenied("JWT_KID_NOT_FOUND", "The token's key is not known")
        fitting = [one for one in named if algorithm in one.algorithms]
        if len(fitting) != 1:
            raise CallerDenied("JWT_SIG_INVALID", "The token's key is not for its algorithm")
        return fitting[0]
    fitting = [one for one in keys if algorithm in one.algorithms]
    if len(fitting) != 1:
        raise CallerDenied("JWT_KID_NOT_FOUND", "The token names no key, and several or none would fit")
    return fitting[0]


def verify_signature(token: str, key: Key, algorithm: str) -> dict[str, Any]:
    try:
        # Only the signature; the claims are checked below, with the engine's clock.
        payload = jwt.PyJWS().decode(token, key.key, algorithms=[algorithm])
        claims = orjson.loads(payload)
    except jwt.InvalidSignatureError:
        raise CallerDenied("JWT_SIG_INVALID", "The token's signature is invalid") from None
    except (jwt.PyJWTError, ValueError, TypeError, RecursionError):
        raise _MALFORMED from None
    if not isinstance(claims, dict) or _deep(claims):
        raise _MALFORMED
    return claims


def check_claims(claims: Mapping[str, Any], profile: JwtProfile, now: Micros) -> None:
    seconds = now / SECOND
    for name in profile.required:
        if claims.get(name) is None:
            raise CallerDenied("JWT_CLAIMS_INVALID", f"The token has no claim {name}")
    for name in ("exp", "nbf", "iat"):
        value = claims.get(name)
        number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if name in claims and not number:
            raise CallerDenied("JWT_CLAIMS_INVALID", f"The claim {name} is not a time")
    if "exp" in claims and claims["exp"] + profile.leeway_s <= seconds:
        raise CallerDenied("JWT_EXPIRED", "The token has expired")
    if "nbf" in claims and claims["nbf"] - profile.leeway_s > seconds:
        raise CallerDenied("JWT_NOT_YET_VALID", "The token is not valid yet")
    if profile.issuer is not None and claims.get("iss") != profile.issuer:
        raise CallerDenied("JWT_ISSUER_MISMATCH", "The token has another issuer")
    if profile.audience is not None:
        wanted = {profile.audience} if isinstance(profile.audience, str) else set(profile.audience)
        audience = claims.get("aud")
        audiences = audience if isinstance(audience, list) else [audience]
        if not wanted & {one for one in audiences if isinstance(one, str)}:
            raise CallerDenied("JWT_AUDIENCE_MISMATCH", "The token is for another audience")


def _deep(value: Any, depth: int = 0) -> bool:
    if depth > DEEPEST:
        return True
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_deep(one, depth + 1) for one in inner)
