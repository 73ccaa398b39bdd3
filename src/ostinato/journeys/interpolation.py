"""`${context.a.b}` and `${platform.config.x}` within texts, alone or in objects and lists. In a text a value
that is not one is written as JSON; one that is missing or null is an error, never an empty text. There are no indices
and no expressions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
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


def filled_within(template: Json, context: Mapping[str, Json], config: Mapping[str, Json]) -> Json:
    """An object or list with its values in it. A text that is a placeholder and nothing else becomes the value itself,
    whatever its type."""
    if isinstance(template, Mapping):
        return {name: filled_within(one, context, config) for name, one in template.items()}
    if isinstance(template, list):
        return [filled_within(one, context, config) for one in template]
    if not isinstance(template, str):
        return template
    whole = PLACEHOLDER.fullmatch(template)
    if whole is None:
        return filled(template, context, config)
    value = _looked_up(whole[1], context, config)
    if value is None:
        raise Missing(f"{template} has no value")
    return value


def texts_within(template: Json, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Every text in an object or list, with its place."""
    if isinstance(template, str):
        yield path, template
    elif isinstance(template, Mapping):
        for name, one in template.items():
            yield from texts_within(one, (*path, name))
    elif isinstance(template, list):
        for at, one in enumerate(template):
            yield from texts_within(one, (*path, at))


def names_within(template: Json, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Every name of a field in an object or list, with its place."""
    if isinstance(template, Mapping):
        for name, one in template.items():
            yield (*path, name), name
            yield from names_within(one, (*path, name))
    elif isinstance(template, list):
        for at, one in enumerate(template):
            yield from names_within(one, (*path, at))


def filled_as_far(template: str, context: Mapping[str, Json]) -> str:
    """The text with its values in it, where there are any; a placeholder without a value stays as it is written."""

    def value(found: re.Match[str]) -> str:
        known = _looked_up(found[1], context, {})
        return found[0] if known is None else _text(known, found[0])

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
