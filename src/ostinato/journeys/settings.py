"""What whoever runs journeys decides for all of them: how they call out, whom they trust, what they are told. Plain
values. Secrets are references (`secret://name`); of an API key only its hash is here."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from typing import Any

from ostinato.engine.secrets import SCHEME, is_reference
from ostinato.errors import OstinatoError
from ostinato.errors import shown_json as shown
from ostinato.journeys.language import Definition
from ostinato.model import Json

_HASH = re.compile(r"[0-9a-f]{64}")
ALGORITHMS = "HS256 HS384 HS512 RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA".split()
_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "object": Mapping,
}


class ConfigMissing(OstinatoError):
    """A definition needs a value that the engine was not given, or was given as something else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSettings:
    """`timeout_ms`: for a call that says nothing else. `max_response`: more bytes than these are not read.
    `redirects`: how many are followed; none, unless asked."""

    timeout_ms: int = 10_000
    max_response: int = 1 << 20
    redirects: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class JwtProfile:
    """Whose tokens are good. Keys come from one of `jwks` (a JSON Web Key Set), `jwks_url` (where it is fetched) and
    `keys` (PEM public keys, or `secret://` references to shared secrets, by kid). `issuer` and `audience` that are None
    are not looked at; `required` claims must be there."""

    issuer: str | None = None
    audience: str | tuple[str, ...] | None = None
    algorithms: tuple[str, ...] = ("RS256", "ES256", "EdDSA")
    jwks: Mapping[str, Any] | None = None
    jwks_url: str | None = None
    keys: Mapping[str, str] = field(default_factory=dict)
    leeway_s: int = 30
    required: tuple[str, ...] = ("exp",)

    def __post_init__(self) -> None:
        unknown = [one for one in self.algorithms if one not in ALGORITHMS]
        if unknown or not self.algorithms:
            raise OstinatoError(f"jwt: the algorithms {shown(self.algorithms)} are not among {', '.join(ALGORITHMS)}")
        if sum(map(bool, (self.jwks, self.jwks_url, self.keys))) != 1:
            raise OstinatoError("jwt: a profile has one of jwks, jwks_url and keys")


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKeyProfile:
    """The hashes of the keys that are good, by the id that a journey is told. `hash_api_key` makes one."""

    keys: Mapping[str, str]

    def __post_init__(self) -> None:
        for id, hashed in self.keys.items():
            if not _HASH.fullmatch(hashed):  # not shown: it may be the key itself
                raise OstinatoError(f"api_keys: what stands for {id!r} is not a hash; make it with hash_api_key(key)")


@dataclass(frozen=True, slots=True, kw_only=True)
class MtlsProfile:
    """Whom client certificates must come from, as PEM; the serial numbers that are no longer good; and who is allowed
    where a task does not say: any that is trusted, or by subject, by name (`("dns", "client.example.com")`; also `ip`
    and `uri`), by serial number. Where neither says, nobody is."""

    trust_anchors: tuple[str, ...] = ()
    revoked_serials: frozenset[int] = frozenset()
    allow_any_from_trusted: bool = False
    allow_subjects: tuple[str, ...] = ()
    allow_sans: tuple[tuple[str, str], ...] = ()
    allow_serials: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a definition may say of itself, how often a journey's schedule may fire, how many of them there may be for
    one subject of a journey, and for a journey, and how far ahead a timer may be set."""

    definition_tags: int = 10
    min_interval_s: int = 60
    bindings_of_subject: int = 100
    bindings_of_journey: int = 100_000
    longest_timer_s: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JourneySettings:
    """`platform`: the values of `platform.config`. `trusted_proxies`: addresses and networks whose `Client-Cert`
    header is believed. `cache_ttl_s`: how long a value is kept that says nothing else; None is for ever. `kafka`: the
    settings of librdkafka, values may be references."""

    environment: str = "default"
    platform: Mapping[str, Json] = field(default_factory=dict)
    http: HttpSettings = HttpSettings()
    jwt: Mapping[str, JwtProfile] = field(default_factory=dict)
    api_keys: Mapping[str, ApiKeyProfile] = field(default_factory=dict)
    mtls: Mapping[str, MtlsProfile] = field(default_factory=dict)
    trusted_proxies: tuple[str, ...] = ()
    cache_ttl_s: int | None = 24 * 3600
    kafka: Mapping[str, str | int] = field(default_factory=dict)
    limits: Limits = Limits()

    def __post_init__(self) -> None:
        for one in self.trusted_proxies:
            try:
                ip_network(one)
            except ValueError as problem:
                raise OstinatoError(f"trusted_proxies: {shown(one)} is not an address or network: {problem}") from None

    def trusts(self, peer: str | None) -> bool:
        """Whether what a peer says about its clients is believed."""
        try:
            return peer is not None and any(ip_address(peer) in ip_network(one) for one in self.trusted_proxies)
        except ValueError:
            return False

    def config_for(self, definition: Definition) -> dict[str, Json]:
        """`platform.config` as a definition sees it: what it declares, and nothing else."""
        found = {}
        for name, setting in definition.spec.platform.config.items():
            if name not in self.platform:
                if setting.required:
                    raise ConfigMissing(f"platform.config.{name} is required and this engine has no value for it")
                continue
            value = self.platform[name]
            if not isinstance(value, _TYPES[setting.type]) or (setting.type != "boolean" and isinstance(value, bool)):
                raise ConfigMissing(f"platform.config.{name} is not of the type {setting.type}")
            found[name] = value
        return found


def secret_reference(text: str) -> str | None:
    """A reference as the engine's secrets have it; None if it is none. Journeys write `secret://oauth/clients/orders`,
    and the engine's names have dots for those slashes, so that no name can leave a folder."""
    name = text.removeprefix(SCHEME)
    spelled = SCHEME + name.replace("/", ".")
    return spelled if text.startswith(SCHEME) and is_reference(spelled) else None


def hash_api_key(key: str) -> str:
    """What a profile keeps of a key. Keys are long and random, so a plain hash cannot be turned back."""
    return hashlib.sha256(key.encode()).hexdigest()
