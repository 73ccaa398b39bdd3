"""Replace placeholders such as `${context.a.b}` and `${platform.config.x}` in texts by their values.

Inside a longer text, a value that is not a text is written as JSON. A missing or null value is an error, except in
`fill_known`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from urllib.parse import quote

import orjson

from ostinato.documents import Path
from ostinato.errors import OstinatoError
from ostinato.model import Json

PLACEHOLDER = re.compile(r"\$\{([^}]*)\}?")
_CONTEXT = re.compile(r"context((?:\.[A-Za-z_][\w-]*)+)", re.ASCII)
_CONFIG = re.compile(r"platform\.config\.([A-Za-z_][\w-]*)", re.ASCII)


class MissingValue(OstinatoError):
    """Raised if a placeholder has no value in the context or the configuration of this run."""


class UnsafeUrlPart(OstinatoError):
    """Raised if a value would change the path of a URL, because it is `.` or `..`."""


def wrong_placeholders(template: str) -> list[str]:
    """Return the invalid placeholders of a text. They can never have a value."""
    matches = PLACEHOLDER.finditer(template)
    return [one[0] for one in matches if not (one[0].endswith("}") and (_CONTEXT.fullmatch(one[1]) or _config(one[1])))]


def config_names(template: str) -> set[str]:
    """Return the names of the `platform.config` values that the placeholders of a text use."""
    return {name for one in PLACEHOLDER.finditer(template) if (name := _config(one[1]))}


def _config(inner: str) -> str | None:
    match = _CONFIG.fullmatch(inner)
    return match[1] if match else None


def fill(
    template: str,
    context: Mapping[str, Json],
    config: Mapping[str, Json],
    spell: Callable[[str, int], str] = lambda text, at: text,
) -> str:
    """Return `template` with its placeholders replaced by their values. `spell` gets each value and the position of its
    placeholder, and returns the text to insert. Raise `MissingValue` if a placeholder has no value."""

    def value(match: re.Match[str]) -> str:
        return spell(_text(_look_up(match[1], context, config), match[0]), match.start())

    return PLACEHOLDER.sub(value, template)


def fill_nested(template: Json, context: Mapping[str, Json], config: Mapping[str, Json]) -> Json:
    """Return a copy of `template` with the placeholders in all its texts replaced by their values. If a text consists
    of exactly one placeholder, it becomes the value itself, of any type. Raise `MissingValue` if a placeholder has no
    value."""
    if isinstance(template, Mapping):
        return {name: fill_nested(one, context, config) for name, one in template.items()}
    if isinstance(template, list):
        return [fill_nested(one, context, config) for one in template]
    if not isinstance(template, str):
        return template
    whole = PLACEHOLDER.fullmatch(template)
    if whole is None:
        return fill(template, context, config)
    value = _look_up(whole[1], context, config)
    if value is None:
        raise MissingValue(f"{template} has no value")
    return value


def texts_within(template: Json) -> Iterator[tuple[Path, str]]:
    """Yield (path, text) for every text in an object or a list."""
    yield from ((path, value) for path, value in _within(template, ()) if isinstance(value, str))


def names_within(template: Json) -> Iterator[tuple[Path, str]]:
    """Yield (path, name) for each field name of each object in `template`, at any depth. Objects inside lists are
    included. `path` is the path of the field, and its last step is `name`."""
    yield from ((path, path[-1]) for path, _ in _within(template, ()) if path and isinstance(path[-1], str))


def _within(value: Json, path: Path) -> Iterator[tuple[Path, Json]]:
    yield path, value
    items = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for step, item in items:
        yield from _within(item, (*path, step))


def fill_known(template: str, context: Mapping[str, Json]) -> str:
    """Return `template` with its placeholders `${context.…}` replaced by their values. Placeholders without a value,
    and placeholders of `platform.config`, stay in the text."""

    def value(match: re.Match[str]) -> str:
        looked_up = _look_up(match[1], context, {})
        return match[0] if looked_up is None else _text(looked_up, match[0])

    return PLACEHOLDER.sub(value, template)


def quote_in_url(text: str, at: int) -> str:
    """Return the text that a value becomes in a URL. `at` is the position of the value in the URL. A value at position
    0 is the base of the URL, and stays unchanged. At any other position the value is quoted. There, raise
    `UnsafeUrlPart` if the value is `.` or `..`: it would change the path of the URL, and quoting does not prevent
    this."""
    if at and text in (".", ".."):
        raise UnsafeUrlPart(f"a value in the URL is {text!r}, which would change the path")
    return text if at == 0 else quote(text, safe="")


def _look_up(inner: str, context: Mapping[str, Json], config: Mapping[str, Json]) -> Json:
    if name := _config(inner):
        return config.get(name)
    match = _CONTEXT.fullmatch(inner)
    value: Json = context if match else None
    for step in match[1][1:].split(".") if match else ():
        value = value.get(step) if isinstance(value, Mapping) else None
    return value


def _text(value: Json, placeholder: str) -> str:
    if value is None:
        raise MissingValue(f"{placeholder} has no value")
    return value if isinstance(value, str) else orjson.dumps(value).decode()
