"""Read the tags and attributes of a new instance from the definition, the call and the request, and check their limits.

The function `machine.values.add_attributes` applies the same limits to attributes that a state adds later.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from urllib.parse import unquote

from ostinato.errors import OstinatoError, short_json
from ostinato.journeys.language import Definition
from ostinato.journeys.machine.values import LONGEST_NAME, LONGEST_VALUE, MOST_ATTRIBUTES
from ostinato.journeys.task_kind import Request
from ostinato.model import Json

MOST_TAGS = 16
LONGEST_TAG = 40


def read_tags_and_attributes(
    definition: Definition,
    body: Mapping[str, Json],
    request: Request | None,
    tags: tuple[str, ...],
    attributes: Mapping[str, str],
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the tags and the attributes of an instance. Raise `OstinatoError` if they exceed a limit."""
    rules = definition.spec.metadata.bindings
    tags_ = [*definition.metadata.tags, *tags]
    named: dict[str, str] = dict(attributes)
    baggage = {} if request is None else dict(_baggage(request))
    sources: list[tuple[str | None, Json]] = [
        *((None, _at(body, one.path)) for one in rules.tags.from_payload),
        *((name, _at(body, one.path)) for name, one in rules.attributes.from_payload.items()),
    ]
    if request is not None:
        sources += [(None, request.header(one.header)) for one in rules.tags.from_headers]
        sources += [(None, baggage.get(one.key)) for one in rules.tags.from_baggage]
        sources += [(name, request.header(one.header)) for name, one in rules.attributes.from_headers.items()]
        sources += [(name, baggage.get(one.key)) for name, one in rules.attributes.from_baggage.items()]
    for name, value in sources:
        for text in _texts(value):
            if name is None:
                tags_.append(text)
            else:
                named[name] = text
    kept = tuple(dict.fromkeys(tags_))
    check_labels(kept, named)
    return kept, named


def check_labels(tags: tuple[str, ...], attributes: Mapping[str, str]) -> None:
    """Raise `OstinatoError` if there are too many tags or attributes, or if one of them is invalid. These are invalid:

    - a tag or the name of an attribute that is empty
    - a tag, a name or a value that is not a text, is too long, or contains a NUL character
    - the name of an attribute that contains `=`
    """
    if len(tags) > MOST_TAGS:
        raise OstinatoError(f"it would have {len(tags)} tags; the maximum is {MOST_TAGS}")
    if len(attributes) > MOST_ATTRIBUTES:
        raise OstinatoError(f"it would have {len(attributes)} attributes; the maximum is {MOST_ATTRIBUTES}")
    for tag in tags:
        _check_text(tag, "the tag", 1, LONGEST_TAG)
    for key, value in attributes.items():
        _check_text(key, "the attribute's name", 1, LONGEST_NAME)
        _check_text(value, f"attribute {key!r}:", 0, LONGEST_VALUE)
        if "=" in key:
            raise OstinatoError(f"the attribute's name {key!r} has a '='; leave it out")


def _check_text(value: object, what: str, least: int, most: int) -> None:
    if not isinstance(value, str) or not least <= len(value) <= most or "\x00" in value:
        raise OstinatoError(f"{what} {short_json(value)} is not a text of {least} to {most} characters")


def _texts(value: Json) -> Iterator[str]:
    match value:
        case str():
            yield value
        case bool():
            yield "true" if value else "false"
        case int() | float():
            yield str(value)
        case list():
            for item in value:
                yield from _texts(item)


def _at(body: Json, path: str) -> Json:
    """Return the value in `body` at a path such as `customer.id`, or None if there is no value. The path may begin with
    `payload.`, `context.` or `$.`, which has no effect."""
    steps = path.removeprefix("$.").removeprefix("payload.").removeprefix("context.").split(".")
    for step in steps:
        body = body.get(step) if isinstance(body, Mapping) else None
    return body


def _baggage(request: Request) -> Iterator[tuple[str, str]]:
    """Yield the entries of W3C baggage: `key=value;properties, key=value`."""
    for member in (request.header("baggage") or "").split(","):
        name, equals, value = member.partition(";")[0].partition("=")
        if equals:
            yield name.strip(), unquote(value.strip())
