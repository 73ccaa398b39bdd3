"""From a request to what a journey gets of it: the input, checked; the values of headers and query that go into the
context; tags and attributes; and the headers that are handed on. Everything that may be wrong is said here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote

from ostinato.engine.context import written
from ostinato.errors import OstinatoError
from ostinato.errors import shown_json as shown
from ostinato.journeys.language import Definition
from ostinato.journeys.language.blocks import RequestBinding
from ostinato.journeys.machine.values import LONGEST_NAME, LONGEST_VALUE, MOST_ATTRIBUTES
from ostinato.journeys.plugins import Request
from ostinato.journeys.schemas import NotValid, validate
from ostinato.model import Json


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a journey may be labelled with, and how large its input may be."""

    tags: int = 16
    tag_length: int = 40
    attributes: int = MOST_ATTRIBUTES
    attribute_key: int = LONGEST_NAME
    attribute_value: int = LONGEST_VALUE
    input_bytes: int = 1 << 20


@dataclass(frozen=True, slots=True)
class Asked:
    """What a start is made of."""

    context: Mapping[str, Json]
    tags: tuple[str, ...]
    attributes: Mapping[str, str]
    request: Request | None


def asked_to_start(
    definition: Definition,
    body: Any,
    request: Request | None,
    limits: Limits,
    tags: tuple[str, ...] = (),
    attributes: Mapping[str, str] | None = None,
) -> Asked:
    """A start's input: the body is the first context, with what its bindings take from the request."""
    if not isinstance(body, Mapping):
        raise NotValid("the input", "", f"{shown(body)} is not an object")
    check_bounds(body, limits)
    if definition.spec.input is not None:
        validate(body, definition.spec.input.schema, "the input")
    binding = definition.spec.bindings.http.start
    labelled = _labels(definition, body, request, limits, tags, attributes or {})
    return Asked({**body, **bound(binding, request)}, *labelled, handed_on(binding, request))


def check_bounds(value: Any, limits: Limits) -> None:
    try:
        size = len(written(value))
    except ValueError as wrong:
        raise NotValid("the input", "", f"it {wrong}") from None
    if size > limits.input_bytes:
        raise NotValid("the input", "", f"it has {size:,} bytes, and at most {limits.input_bytes:,} are taken")


def step_body(definition: Definition, step: str, schema: Mapping[str, Json], body: Any, limits: Limits) -> None:
    check_bounds(body, limits)
    validate(body, schema, f"the input of step {step!r}")


def step_binding(definition: Definition, step: str) -> RequestBinding:
    return definition.spec.bindings.http.steps.get(step) or RequestBinding()


def bound(binding: RequestBinding, request: Request | None) -> dict[str, Json]:
    """What of the request goes into the context."""
    if request is None:
        return {}
    found: dict[str, Json] = {}
    for name, field in binding.headers_to_context.items():
        value = header(request, name)
        if value is not None:
            found[field] = value
    for name, field in binding.query_to_context.items():
        if name in request.query:
            found[field] = request.query[name]
    return found


def handed_on(binding: RequestBinding, request: Request | None) -> Request | None:
    """The request with the headers that outbound calls get."""
    if request is None:
        return None
    passed = ((one.to_header, header(request, one.from_header)) for one in binding.headers_passthrough)
    return replace(request, passed_on={**request.passed_on, **{to: value for to, value in passed if value is not None}})


def header(request: Request, name: str) -> str | None:
    wanted = name.lower()
    return next((value for key, value in request.headers.items() if key.lower() == wanted), None)


def _labels(
    definition: Definition,
    body: Mapping[str, Json],
    request: Request | None,
    limits: Limits,
    tags: tuple[str, ...],
    attributes: Mapping[str, str],
) -> tuple[tuple[str, ...], dict[str, str]]:
    rules = definition.spec.metadata.bindings
    found = [*definition.metadata.tags, *tags]
    named: dict[str, str] = dict(attributes)
    baggage = {} if request is None else dict(_baggage(request))
    sources: list[tuple[str | None, Json]] = [
        *((None, _at(body, one.path)) for one in rules.tags.from_payload),
        *((name, _at(body, one.path)) for name, one in rules.attributes.from_payload.items()),
    ]
    if request is not None:
        sources += [(None, header(request, one.header)) for one in rules.tags.from_headers]
        sources += [(None, baggage.get(one.key)) for one in rules.tags.from_baggage]
        sources += [(name, header(request, one.header)) for name, one in rules.attributes.from_headers.items()]
        sources += [(name, baggage.get(one.key)) for name, one in rules.attributes.from_baggage.items()]
    for name, value in sources:
        for text in _texts(value):
            if name is None:
                found.append(text)
            else:
                named[name] = text
    kept = tuple(dict.fromkeys(found))
    check_labels(kept, named, limits)
    return kept, named


def check_labels(tags: tuple[str, ...], attributes: Mapping[str, str], limits: Limits) -> None:
    if len(tags) > limits.tags:
        raise OstinatoError(f"it would have {len(tags)} tags; at most {limits.tags} are kept")
    if len(attributes) > limits.attributes:
        raise OstinatoError(f"it would have {len(attributes)} attributes; at most {limits.attributes} are kept")
    for tag in tags:
        _short(tag, "the tag", 1, limits.tag_length)
    for key, value in attributes.items():
        _short(key, "the attribute's name", 1, limits.attribute_key)
        _short(value, f"attribute {key!r}:", 0, limits.attribute_value)
        if "=" in key:
            raise OstinatoError(f"the attribute's name {key!r} has a '='; leave it out")


def _short(value: object, what: str, least: int, most: int) -> None:
    if not isinstance(value, str) or not least <= len(value) <= most or "\x00" in value:
        raise OstinatoError(f"{what} {shown(value)} is not a text of {least} to {most} characters")


def _texts(value: Json) -> Iterator[str]:
    match value:
        case None:
            return
        case str():
            yield value
        case bool():
            yield "true" if value else "false"
        case int() | float():
            yield str(value)
        case list():
            for one in value:
                yield from _texts(one)
        case _:
            return


def _at(body: Json, path: str) -> Json:
    """`customer.id`, with or without `payload.` or `$.` before it."""
    steps = path.removeprefix("$.").removeprefix("payload.").removeprefix("context.").split(".")
    for step in steps:
        body = body.get(step) if isinstance(body, Mapping) else None
    return body


def _baggage(request: Request) -> Iterator[tuple[str, str]]:
    """W3C baggage: `key=value;properties, key=value`."""
    for member in (header(request, "baggage") or "").split(","):
        name, found, value = member.partition(";")[0].partition("=")
        if found:
            yield name.strip(), unquote(value.strip())
