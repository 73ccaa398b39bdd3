"""`${context.a.b}` and `${platform.config.x}` within texts. A value that is not a text is written as JSON; one that is
missing or null is an error, never an empty text. There are no indices and no expressions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from urllib.parse import quote

import orjson

from ostinato.errors import OstinatoError
from ostinato.model import Json

PLACEHOLDER = re.compile(r"\$\{([^}]*)\}?")
_CONTEXT = re.compile(r"context((?:\.[A-Za-z_][\w-]*)+)", re.ASCII)
_CONFIG = re.compile(r"platform\.config\.([A-Za-z_][\w-]*)", re.ASCII)


class Missing(OstinatoError):
    """A placeholder that has no value in this run."""


class Climbing(OstinatoError):
    """A value that would lead elsewhere in a URL."""


def wrong_placeholders(template: str) -> list[str]:
    """The placeholders of a text that could never have a value."""
    found = PLACEHOLDER.finditer(template)
    return [one[0] for one in found if not (one[0].endswith("}") and (_CONTEXT.fullmatch(one[1]) or _config(one[1])))]


def config_names(template: str) -> set[str]:
    """The names below `platform.config` that a text asks for."""
    return {name for one in PLACEHOLDER.finditer(template) if (name := _config(one[1]))}


def _config(inner: str) -> str | None:
    found = _CONFIG.fullmatch(inner)
    return found[1] if found else None


def filled(
    template: str,
    context: Mapping[str, Json],
    config: Mapping[str, Json],
    spell: Callable[[str, int], str] = lambda text, at: text,
) -> str:
    """The text with its values in it, each spelled by `spell`, which is also told where its placeholder begins."""

    def value(found: re.Match[str]) -> str:
        return spell(_text(_looked_up(found[1], context, config), found[0]), found.start())

    return PLACEHOLDER.sub(value, template)


def in_url(text: str, at: int) -> str:
    """A value that begins a URL is the URL's own beginning; anywhere else it is data, and cannot change what the URL
    means."""
    if at and text in (".", ".."):
        raise Climbing(f"a part of the URL is {text!r}, which would lead elsewhere")
    return text if at == 0 else quote(text, safe="")


def _looked_up(inner: str, context: Mapping[str, Json], config: Mapping[str, Json]) -> Json:
    if name := _config(inner):
        return config.get(name)
    found = _CONTEXT.fullmatch(inner)
    value: Json = context if found else None
    for step in found[1][1:].split(".") if found else ():
        value = value.get(step) if isinstance(value, Mapping) else None
    return value


def _text(value: Json, placeholder: str) -> str:
    if value is None:
        raise Missing(f"{placeholder} has no value")
    return value if isinstance(value, str) else orjson.dumps(value).decode()
