"""Read the settings of `serve` and `worker` from flags, the environment and a file.

A flag has precedence over the environment, the environment over the file, and the file over the default.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from ostinato.engine.http.egress import EgressPolicy
from ostinato.engine.ways import Setting, load
from ostinato.errors import OstinatoError, did_you_mean, short_repr
from ostinato.faces.cli.logs import FORMATS, LEVELS
from ostinato.faces.cli.named_ways import ways_here
from ostinato.model import read_length
from ostinato.when.instants import SECOND

PREFIX = "OSTINATO_"
# Read elsewhere: by the commands, for secrets, and by the project's own tests.
_OTHERS = frozenset("CONFIG SERVER TOKEN NAMESPACE CA SECRETS WAYS DEMO_SECONDS TEST_POSTGRES SEED SOAK_SEEDS".split())
_SECRET = "SECRET_"


@dataclass(frozen=True, slots=True)
class Configuration:
    """The settings that an operator gave to a node. A setting that is None was not given. For such a setting, the app's
    own setting or the default applies."""

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
    of_ways: Mapping[str, Any] = field(default_factory=dict)  # settings of extensions (`Way`), such as journeys

    @property
    def settings(self) -> dict[str, Any]:
        """Return the settings that were given, as keyword arguments for `Ostinato` or `Ostinato.configure`."""
        names = ("concurrency", "threads", "lease", "grace", "keep_runs", "keep_events")
        named = {name: getattr(self, name) for name in names}
        settings = {**named, "queues": self.queue, "egress": self.egress, **self.of_ways}
        return {name: value for name, value in settings.items() if value is not None}

    @property
    def egress(self) -> EgressPolicy | None:
        """Return an egress policy with the operator's egress settings. It replaces the whole policy in the app's code.
        Return None if the operator gave no egress setting, so that the policy in the app's code applies."""
        parts = {name: getattr(self, f"egress_{name}") for name in ("allow", "allow_private", "only", "deny")}
        options = {name: value for name, value in parts.items() if value is not None}
        return EgressPolicy(**options) if options else None


KEYS = tuple(one.name for one in fields(Configuration) if one.name != "of_ways")


def configuration(
    flags: Mapping[str, Any], file: str | None = None, environ: Mapping[str, str] | None = None
) -> Configuration:
    """Return the settings from flags, the environment and a file. A flag that is None was not given. If `file` is None,
    the environment variable `OSTINATO_CONFIG` may name the file.

    Raises `OstinatoError` in these cases:

    - A value is wrong, or only one of the two TLS settings is given.
    - The file cannot be read, or has an unknown setting.
    - The name of an environment variable is probably a misspelt setting.
    """
    environment = os.environ if environ is None else environ
    file = file or environment.get(f"{PREFIX}CONFIG") or None
    reader = _Reader(operator_settings())
    values = reader.from_document(_read_toml(file), file) if file else {}
    values |= reader.from_environment(environment)
    values |= {name: reader.read(name, value, _flag(name)) for name, value in flags.items() if value is not None}
    base = {name: value for name, value in values.items() if name in KEYS}
    settings = Configuration(**base, of_ways={name: value for name, value in values.items() if name not in KEYS})
    if (settings.tls_certificate is None) != (settings.tls_key is None):
        raise OstinatoError("TLS needs both, tls_certificate and tls_key")
    return settings


def command_egress() -> EgressPolicy | None:
    """Return the egress policy for commands on a store: the one that `serve` reads from the environment and the file.
    No other setting is read, so that one that is wrong, or given elsewhere, does not stop a command."""
    reader = _Reader({})
    file = os.environ.get(f"{PREFIX}CONFIG")
    settings = _only_egress(_read_toml(file), "egress_") if file else {}
    values = reader.from_document(settings, str(file))
    values |= reader.from_environment(_only_egress(os.environ, f"{PREFIX}EGRESS_"))
    return Configuration(**values).egress


def _only_egress(settings: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if name.startswith(prefix)}


def _read_toml(path: str) -> dict[str, Any]:
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as problem:
        raise OstinatoError(f"the configuration {path} cannot be read: {problem.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise OstinatoError(f"the configuration {path} is not TOML: {problem}") from None


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def operator_settings() -> dict[str, Setting]:
    """Return a dict from a name to a setting. It contains the settings of all extensions (`Way`), except the settings
    that only the app's code can set."""
    return {name: setting for name, setting in ways_here().settings.items() if setting.read is not None}


class _Reader:
    def __init__(self, of_ways: Mapping[str, Setting]) -> None:
        self._of_ways = of_ways
        self._keys = (*KEYS, *of_ways)

    def from_document(self, values: Mapping[str, Any], path: str) -> dict[str, Any]:
        for name in values:
            if name not in self._keys:
                hint = did_you_mean(name, self._keys) or f"there are {', '.join(self._keys)}"
                raise OstinatoError(f"{path}: there is no setting {name!r}; {hint}")
        return {name: self.read(name, value, f"{path}: {name}") for name, value in values.items()}

    def from_environment(self, environ: Mapping[str, str]) -> dict[str, Any]:
        values = {}
        for variable, value in environ.items():
            if not variable.startswith(PREFIX):
                continue
            name = variable.removeprefix(PREFIX)
            if name.lower() in self._keys:
                values[name.lower()] = self.read(name.lower(), value, variable)
            elif name not in _OTHERS and not name.startswith(_SECRET) and did_you_mean(name.lower(), self._keys):
                # Only a near miss is an error: others set variables with this prefix, too, as Kubernetes does.
                hint = did_you_mean(variable, [PREFIX + key.upper() for key in self._keys])
                raise OstinatoError(f"the environment has {variable}, which means nothing; {hint}")
        return values

    def read(self, name: str, value: Any, place: str) -> Any:
        read = load(self._of_ways[name].read) if name in self._of_ways else _READ.get(name, _text)
        return read(value, place)


def _text(value: Any, place: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise OstinatoError(f"{place} {short_repr(value)} is not a text")
    return value


def _yes(value: Any, place: str) -> bool:
    if isinstance(value, bool):
        return value
    words = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
    if isinstance(value, str) and value.lower() in words:
        return words[value.lower()]
    raise OstinatoError(f"{place} {short_repr(value)} is neither true nor false")


def _words(value: Any, place: str) -> tuple[str, ...]:
    """Return a tuple of texts. `value` is a list of texts or, as in the environment, one text with commas between the
    parts. `place` names the setting in errors. Raises `OstinatoError` if `value` has another form, or if one of the
    texts is empty."""
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list | tuple) or not all(isinstance(one, str) and one.strip() for one in parts):
        raise OstinatoError(f"{place} {short_repr(value)} is not a list of texts")
    return tuple(one.strip() for one in parts)


def _number(least: int, most: int) -> Callable[[Any, str], int]:
    def read(value: Any, place: str) -> int:
        try:
            number = int(value) if isinstance(value, str | int) and not isinstance(value, bool) else None
        except ValueError:
            number = None
        if number is None or not least <= number <= most:
            raise OstinatoError(f"{place} {short_repr(value)} is not a number from {least} to {most:,}")
        return number

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
            raise OstinatoError(f"{place} {short_repr(value)} is unknown; there are {', '.join(choices)}")
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
