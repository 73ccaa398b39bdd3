"""Read the operator's settings for journeys, such as outbound calls, trusted callers and platform values.

Secrets are configured as references (`secret://name`). For an API key, only its hash is configured.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, is_dataclass
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

import orjson
from pydantic import TypeAdapter, ValidationError

from ostinato.errors import OstinatoError, did_you_mean, list_choices, short_json
from ostinato.journeys.language import Definition
from ostinato.model import Json

T = TypeVar("T")
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
    """Raised if a value of `platform.config` that a definition requires is missing, or has the wrong type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSettings:
    """The settings of outbound calls. `max_response` is the longest response, in bytes. `redirects` is how many
    redirects a call follows at most."""

    timeout_ms: int = 10_000
    max_response: int = 1 << 20
    redirects: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class JwtProfile:
    """The tokens that a profile accepts. Set exactly one of `jwks`, `jwks_url` and `keys`.

    - `issuer`: the issuer that a token must have, or None for any
    - `audience`: the audiences of which a token must have one, or None for any
    - `jwks`: a JSON Web Key Set
    - `jwks_url`: the URL from which a JSON Web Key Set is fetched
    - `keys`: a dict from key id (`kid`) to a PEM public key, or to a `secret://` reference to a key or shared secret
    - `required`: the claims that a token must have
    """

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
            raise OstinatoError(
                f"jwt: the algorithms {short_json(self.algorithms)} are not among {', '.join(ALGORITHMS)}"
            )
        if sum(map(bool, (self.jwks, self.jwks_url, self.keys))) != 1:
            raise OstinatoError("jwt: a profile has one of jwks, jwks_url and keys")


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKeyProfile:
    """The API keys that a profile accepts. `keys` maps the id of an API key to the hash of the key (see
    `hash_api_key`). A journey sees only the id."""

    keys: Mapping[str, str]

    def __post_init__(self) -> None:
        for id, hashed in self.keys.items():
            if not _HASH.fullmatch(hashed):  # not shown: it may be the key itself
                raise OstinatoError(f"api_keys: the value of {id!r} is not a hash; compute it with hash_api_key(key)")


@dataclass(frozen=True, slots=True, kw_only=True)
class MtlsProfile:
    """The client certificates that a profile accepts.

    - `trust_anchors`: the trusted certificates, as PEM
    - `allow_any_from_trusted`: whether every trusted client certificate is allowed
    - `allow_sans`: the allowed names, as pairs such as `("dns", "client.example.com")`; other kinds are `ip` and `uri`

    If `allow_any_from_trusted` is false, a certificate must match each `allow_…` list that is not empty; if all lists
    are empty, no certificate is allowed. The `allow_…` fields apply to tasks without `allow_…` rules of their own.
    """

    trust_anchors: tuple[str, ...] = ()
    revoked_serials: frozenset[int] = frozenset()
    allow_any_from_trusted: bool = False
    allow_subjects: tuple[str, ...] = ()
    allow_sans: tuple[tuple[str, str], ...] = ()
    allow_serials: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class JourneyLimits:
    """The limits of journeys. A binding is a schedule that a journey creates.

    - `definition_tags`: how many tags a definition may have
    - `min_interval_s`: the shortest interval of a binding, in seconds
    - `bindings_of_subject`: how many active bindings a journey may have for one subject
    - `bindings_of_journey`: how many active bindings a journey may have
    - `longest_timer_s`: the longest timer, in seconds, or None for no limit
    """

    definition_tags: int = 10
    min_interval_s: int = 60
    bindings_of_subject: int = 100
    bindings_of_journey: int = 100_000
    longest_timer_s: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JourneySettings:
    """All settings of journeys.

    - `platform`: the values of `platform.config`, by name
    - `trusted_proxies`: the addresses and networks from which the header `Client-Cert` is accepted
    - `cache_ttl_s`: the default lifetime of a cached value, in seconds, or None for no limit
    - `kafka`: settings of librdkafka; a value may be a reference such as `secret://name`
    """

    environment: str = "default"
    platform: Mapping[str, Json] = field(default_factory=dict)
    http: HttpSettings = HttpSettings()
    jwt: Mapping[str, JwtProfile] = field(default_factory=dict)
    api_keys: Mapping[str, ApiKeyProfile] = field(default_factory=dict)
    mtls: Mapping[str, MtlsProfile] = field(default_factory=dict)
    trusted_proxies: tuple[str, ...] = ()
    cache_ttl_s: int | None = 24 * 3600
    kafka: Mapping[str, str | int] = field(default_factory=dict)
    limits: JourneyLimits = JourneyLimits()

    def __post_init__(self) -> None:
        for network in self.trusted_proxies:
            try:
                ip_network(network)
            except ValueError as problem:
                raise OstinatoError(
                    f"trusted_proxies: {short_json(network)} is not an address or network: {problem}"
                ) from None

    def trusts(self, peer: str | None) -> bool:
        """Return whether headers about the client are accepted from this peer."""
        try:
            return peer is not None and any(ip_address(peer) in ip_network(one) for one in self.trusted_proxies)
        except ValueError:
            return False

    def config_for(self, definition: Definition) -> dict[str, Json]:
        """Return the values of `platform.config` that a definition declares. Raise `ConfigMissing` if a required value
        is missing or a value has the wrong type."""
        values = {}
        for name, setting in definition.spec.platform.config.items():
            if name not in self.platform:
                if setting.required:
                    raise ConfigMissing(f"platform.config.{name} is required and this engine has no value for it")
                continue
            value = self.platform[name]
            if not isinstance(value, _TYPES[setting.type]) or (setting.type != "boolean" and isinstance(value, bool)):
                raise ConfigMissing(f"platform.config.{name} is not of the type {setting.type}")
            values[name] = value
        return values


def read_sources(value: Any, place: str) -> tuple[str, ...]:
    """Return the files and folders of definitions in a setting. `value` is a list, or one text with commas. For any
    other value, raise `OstinatoError`. `place` is the name of the setting for the error message."""
    sources = value.split(",") if isinstance(value, str) else value
    if not isinstance(sources, list | tuple) or not all(isinstance(one, str) and one.strip() for one in sources):
        raise OstinatoError(f"{place} {short_json(value)} is not a list of files and folders")
    return tuple(one.strip() for one in sources)


def read_settings(value: Any, place: str) -> JourneySettings:
    """Read the settings of journeys. `value` is the path of a TOML file, or a table of a configuration file. `place` is
    the name of the setting for error messages. Raise `OstinatoError`, with the place of the mistake, if the settings
    cannot be read or are invalid."""
    if not isinstance(value, str):
        return _read_table(JourneySettings, value, place)
    try:
        table = tomllib.loads(Path(value).read_text(encoding="utf-8"))
    except OSError as problem:
        raise OstinatoError(f"{place}: {value} cannot be read: {problem.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise OstinatoError(f"{place}: {value} is not TOML: {problem}") from None
    return _read_table(JourneySettings, table, value)


def _read_table(kind: type[T], table: Any, place: str) -> T:
    """Read a table into a dataclass. The keys of the table are the fields of the class."""
    if not isinstance(table, Mapping):
        raise OstinatoError(f"{place}: {short_json(table)} is not a table")
    hints = get_type_hints(kind)
    for name in table:
        if name not in hints:
            raise OstinatoError(
                f"{place}: there is no setting {name!r}; {did_you_mean(name, hints) or list_choices(hints)}"
            )
    parts = {name: _read_value(hints[name], part, f"{place}: {name}") for name, part in table.items()}
    try:
        return kind(**parts)
    except (OstinatoError, TypeError) as problem:
        raise OstinatoError(f"{place}: {problem}") from None


def _read_value(hint: Any, value: Any, place: str) -> Any:
    if is_dataclass(hint):
        return _read_table(cast(type, hint), value, place)
    if get_origin(hint) is Mapping and is_dataclass(profile := get_args(hint)[1]):
        if not isinstance(value, Mapping):
            raise OstinatoError(f"{place}: {short_json(value)} is not a table of profiles")
        return {name: _read_table(cast(type, profile), part, f"{place}.{name}") for name, part in value.items()}
    try:
        return TypeAdapter(hint).validate_json(orjson.dumps(value), strict=True)
    except (ValidationError, TypeError) as problem:
        why = problem.errors()[0]["msg"].lower() if isinstance(problem, ValidationError) else "it is no such value"
        raise OstinatoError(f"{place} {short_json(value)}: {why}") from None


def hash_api_key(key: str) -> str:
    """Return the hash of an API key for an `ApiKeyProfile`. API keys are long and random, so the hash needs no salt."""
    return hashlib.sha256(key.encode()).hexdigest()
