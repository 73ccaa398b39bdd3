"""Read the requests that start an instance or submit an input. Validate the input. Select the headers and query
parameters that are copied to the context, and the headers that are passed on to outbound calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ostinato.engine.context import dump_json
from ostinato.errors import short_json
from ostinato.journeys.language import Definition
from ostinato.journeys.language.blocks import RequestBinding
from ostinato.journeys.language.json_schema import NotValid, validate
from ostinato.journeys.runtime.tags_and_attributes import read_tags_and_attributes
from ostinato.journeys.task_kind import Request
from ostinato.model import Json

LARGEST_INPUT = 1 << 20  # bytes of JSON


@dataclass(frozen=True, slots=True)
class StartRequest:
    context: Mapping[str, Json]
    tags: tuple[str, ...]
    attributes: Mapping[str, str]
    request: Request | None


def read_start_request(
    definition: Definition,
    body: Any,
    request: Request | None,
    tags: tuple[str, ...] = (),
    attributes: Mapping[str, str] | None = None,
) -> StartRequest:
    """Validate the input of a start, and return the `StartRequest`. Its context is the body, plus the headers and query
    parameters that the definition selects. Raise `NotValid` if the body is invalid, and `OstinatoError` if the tags or
    attributes exceed a limit."""
    if not isinstance(body, Mapping):
        raise NotValid("the input", "", f"{short_json(body)} is not an object")
    check_size(body)
    if definition.spec.input is not None:
        validate(body, definition.spec.input.schema, "the input")
    binding = definition.spec.bindings.http.start
    labelled = read_tags_and_attributes(definition, body, request, tags, attributes or {})
    return StartRequest({**body, **bound_values(binding, request)}, *labelled, with_passed_headers(binding, request))


def check_size(value: Any) -> None:
    try:
        size = len(dump_json(value))
    except ValueError as wrong:
        raise NotValid("the input", "", f"it {wrong}") from None
    if size > LARGEST_INPUT:
        raise NotValid("the input", "", f"it has {size:,} bytes; the maximum is {LARGEST_INPUT:,}")


def check_step_input(step: str, schema: Mapping[str, Json], body: Any) -> None:
    check_size(body)
    validate(body, schema, f"the input of step {step!r}")


def step_binding(definition: Definition, step: str) -> RequestBinding:
    return definition.spec.bindings.http.steps.get(step) or RequestBinding()


def bound_values(binding: RequestBinding, request: Request | None) -> dict[str, Json]:
    """Return a dict from context field to value, for the headers and query parameters that go into the context."""
    if request is None:
        return {}
    values: dict[str, Json] = {}
    for name, field in binding.headers_to_context.items():
        value = request.header(name)
        if value is not None:
            values[field] = value
    for name, field in binding.query_to_context.items():
        if name in request.query:
            values[field] = request.query[name]
    return values


def with_passed_headers(binding: RequestBinding, request: Request | None) -> Request | None:
    """Return a copy of `request` with more headers in `passed_on`, the headers that are passed on to outbound calls.
    `binding` selects these headers. If `request` is None, return None."""
    if request is None:
        return None
    passed = ((one.to_header, request.header(one.from_header)) for one in binding.headers_passthrough)
    return replace(request, passed_on={**request.passed_on, **{to: value for to, value in passed if value is not None}})
