"""What `serve` and `worker` are told: by flags, by the environment, by a file. One name, one meaning, and one order:
a flag goes over the environment, the environment over the file, the file over the default."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from ostinato.engine.egress import EgressPolicy
from ostinato.errors import OstinatoError, did_you_mean, shown
from ostinato.faces.cli.logs import FORMATS, LEVELS
from ostinato.model import read_length
from ostinato.when.instants import SECOND

PREFIX = "OSTINATO_"
# Read elsewhere: by the commands, for secrets, and by the project's own tests.
_OTHERS = frozenset("CONFIG SERVER TOKEN NAMESPACE CA SECRETS DEMO_SECONDS TEST_POSTGRES SEED SOAK_SEEDS".split())
_SECRET = "SECRET_"


@dataclass(frozen=True, slots=True)
class Configuration:
    """None: as the app itself says, else the app's default."""

    store: str | None = None
    app: str | None = None
    host: str = "127.0.0.1"
    port: int = 8471
    allow_host: tuple[str, ...] = ()
    allow_origin: tuple[str, ...] = ()
    trusted_proxy: tuple[str, ...] = ()
    require_token: bool = False
    temporal: str | None = None
    tls_certificate: str | None = None
    tls_key: str | None = None
    no_engine: bool = False
    linger: float = 0.0
    queue: tuple[str, ...] | None = None
    concurrency: int | None = None
    threads: int | None = None
    lease: str | None = None
    grace: str | None = None
    keep_runs: str | None = None
    keep_events: str | None = None
    egress_allow: tuple[str, ...] | None = None
    egress_allow_private: bool | None = None
    egress_only: tuple[str, ...] | None = None
    egress_deny: tuple[str, ...] | None = None
    log_format: str = "text"
    log_level: str = "info"

    @property
    def settings(self) -> dict[str, Any]:
        """Of the node: those that something was said about."""
        names = ("concurrency", "threads", "lease", "grace", "keep_runs", "keep_events")
        found = {name: getattr(self, name) for name in names}
        given = {**found, "queues": self.queue, "egress": self._egress}
        return {name: value for name, value in given.items() if value is not None}

    @property
    def _egress(self) -> EgressPolicy | None:
        """Where requests may go, if something was said about it: then this, and nothing that the code says."""
        parts = {
            "allow": self.egress_allow,
            "allow_private": self.egress_allow_private,
            "only": self.egress_only,
            "deny": self.egress_deny,
        }
        given: dict[str, Any] = {name: value for name, value in parts.items() if value is not None}
        return EgressPolicy(**given) if given else None


KEYS = tuple(field.name for field in fields(Configuration))


def configuration(
    flags: Mapping[str, Any], file: str | None = None, environ: Mapping[str, str] | None = None
) -> Configuration:
    """`flags` are those that were given; None is one that was not."""
    environment = os.environ if environ is None else environ
    file = file or environment.get(f"{PREFIX}CONFIG") or None
    found: dict[str, Any] = {}
    found.update(_from_file(file) if file else {})
    found.update(_from_environment(environment))
    found.update({name: _read(name, value, _flag(name)) for name, value in flags.items() if value is not None})
    made = Configuration(**found)
    if (made.tls_certificate is None) != (made.tls_key is None):
        raise OstinatoError("TLS needs both, tls_certificate and tls_key")
    return made


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _from_file(path: str) -> dict[str, Any]:
    try:
        given = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as problem:
        raise OstinatoError(f"the configuration {path} cannot be read: {problem.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise OstinatoError(f"the configuration {path} is not TOML: {problem}") from None
    for name in given:
        if name not in KEYS:
            hint = did_you_mean(name, KEYS) or f"there are {', '.join(KEYS)}"
            raise OstinatoError(f"{path}: there is no setting {name!r}; {hint}")
    return {name: _read(name, value, f"{path}: {name}") for name, value in given.items()}


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    found = {}
    for variable, value in environ.items():
        if not variable.startswith(PREFIX):
            continue
        name = variable.removeprefix(PREFIX)
        if name.lower() in KEYS:
            found[name.lower()] = _read(name.lower(), value, variable)
        elif name not in _OTHERS and not name.startswith(_SECRET) and did_you_mean(name.lower(), KEYS):
            # Only a near miss is taken for a mistake: others put names of theirs here, as Kubernetes does.
            hint = did_you_mean(variable, [PREFIX + key.upper() for key in KEYS])
            raise OstinatoError(f"the environment has {variable}, which means nothing; {hint}")
    return found


def _read(name: str, value: Any, place: str) -> Any:
    read: Callable[[Any, str], Any] = _READ.get(name, _text)
    return read(value, place)


def _text(value: Any, place: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise OstinatoError(f"{place} {shown(value)} is not a text")
    return value


def _yes(value: Any, place: str) -> bool:
    if isinstance(value, bool):
        return value
    known = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
    if isinstance(value, str) and value.lower() in known:
        return known[value.lower()]
    raise OstinatoError(f"{place} {shown(value)} is neither true nor false")


def _words(value: Any, place: str) -> tuple[str, ...]:
    """A list; in the environment, words with commas between them."""
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list | tuple) or not all(isinstance(one, str) and one.strip() for one in parts):
        raise OstinatoError(f"{place} {shown(value)} is not a list of texts")
    return tuple(one.strip() for one in parts)


def _number(least: int, most: int) -> Callable[[Any, str], int]:
    def read(value: Any, place: str) -> int:
        try:
            found = int(value) if isinstance(value, str | int) and not isinstance(value, bool) else None
        except ValueError:
            found = None
        if found is None or not least <= found <= most:
            raise OstinatoError(f"{place} {shown(value)} is not a number from {least} to {most:,}")
        return found

    return read


def _length(value: Any, place: str) -> str:
    text = f"{value}s" if isinstance(value, int | float) and not isinstance(value, bool) else value
    read_length(text, place)
    return str(text)


def _seconds(value: Any, place: str) -> float:
    return read_length(_length(value, place), place) / SECOND


def _one_of(*choices: str) -> Callable[[Any, str], str]:
    def read(value: Any, place: str) -> str:
        if value not in choices:
            raise OstinatoError(f"{place} {shown(value)} is unknown; there are {', '.join(choices)}")
        return str(value)

    return read


_READ: dict[str, Callable[[Any, str], Any]] = {
    "port": _number(0, 65_535),
    "allow_host": _words,
    "allow_origin": _words,
    "trusted_proxy": _words,
    "require_token": _yes,
    "no_engine": _yes,
    "linger": _seconds,
    "queue": _words,
    "concurrency": _number(1, 10_000),
    "threads": _number(1, 1_000),
    "lease": _length,
    "grace": _length,
    "keep_runs": _length,
    "keep_events": _length,
    "egress_allow": _words,
    "egress_allow_private": _yes,
    "egress_only": _words,
    "egress_deny": _words,
    "log_format": _one_of(*FORMATS),
    "log_level": _one_of(*LEVELS),
}
