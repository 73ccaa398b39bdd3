"""Build the OpenAPI 3.1 description of one journey's API from its definition. The functions are pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from ostinato.journeys.language import Definition
from ostinato.journeys.language.blocks import RequestBinding
from ostinato.journeys.language.states import Projection, Wait, Webhook
from ostinato.journeys.runtime.requests import step_binding

_NOT_PARAMETERS = ("accept", "content-type", "authorization")  # OpenAPI describes them by other means
_LINKS = {
    "type": "object",
    "additionalProperties": {
        "type": "object",
        "properties": {"href": {"type": "string"}, "method": {"type": "string"}},
    },
}
_ID = {"name": "journeyId", "in": "path", "required": True, "schema": {"type": "string"}}
_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255},
    "description": "A repeated request with the same key is not executed again; it gets the first answer.",
}


def described(definition: Definition) -> dict[str, Any]:
    schemas: dict[str, Any] = {"Problem": _PROBLEM}
    paths = _api(definition, schemas) if definition.is_api else _journey(definition, schemas)
    info: dict[str, Any] = {"title": definition.name, "version": definition.version}
    if definition.metadata.description:
        info["description"] = definition.metadata.description
    return {
        "openapi": "3.1.0",
        "info": info,
        "servers": [{"url": "/api/v1"}],
        "tags": [{"name": one} for one in definition.metadata.tags],
        "paths": paths,
        "components": {"schemas": schemas},
    }


def _api(definition: Definition, schemas: dict[str, Any]) -> dict[str, Any]:
    http = definition.spec.bindings.http
    path = f"/apis/{definition.name}" if http.route is None else http.route.path
    call = {
        "operationId": "call",
        "summary": f"Call {definition.name}",
        "parameters": _parameters(http.start),
        "requestBody": _body(_input(definition, schemas)),
        "responses": {
            "200": _answer("Its output", _named("Output", definition.spec.output.schema, schemas)),
            "default": _problem("Its error, with the status that its rules give it"),
        },
    }
    return {path: {"post": call}}


def _journey(definition: Definition, schemas: dict[str, Any]) -> dict[str, Any]:
    spec = definition.spec
    schemas["JourneyStartResponse"] = _envelope({"statusUrl": {"type": "string"}}, ["statusUrl"])
    schemas["JourneyStatus"] = _envelope(
        {
            "phase": {"enum": ["RUNNING", "SUCCEEDED", "FAILED"]},
            "currentState": {"type": "string"},
            "updatedAt": {"type": "string", "format": "date-time"},
        },
        ["phase", "currentState", "updatedAt"],
    )
    outcome = _envelope(
        {
            "phase": {"enum": ["SUCCEEDED", "FAILED"]},
            "status": {"type": "string"},
            "output": _named("Output", spec.output.schema, schemas),
            "error": {"type": "object", "properties": {"code": {"type": "string"}, "reason": {"type": "string"}}},
            "outcomeId": {"enum": list(spec.outcomes)} if spec.outcomes else {"type": "string"},
        },
        ["phase", "status"],
    )
    schemas["JourneyOutcome"] = _shown_with(outcome, "OutcomeResponse", spec.output.response, schemas)
    status, result = _ref("JourneyStatus"), _ref("JourneyOutcome")
    paths: dict[str, Any] = {
        f"/journeys/{definition.name}/start": {"post": _start(definition, schemas)},
        "/journeys/{journeyId}": {
            "get": {
                "operationId": "getStatus",
                "parameters": [_ID],
                "responses": {"200": _answer("Its status", status), "404": _problem("There is none")},
            }
        },
        "/journeys/{journeyId}/result": {
            "get": {
                "operationId": "getResult",
                "parameters": [_ID],
                "responses": {
                    "200": _answer("How it ended", result),
                    "404": _problem("There is none"),
                    "409": _problem("It is not over"),
                },
            }
        },
    }
    for _, id, state in definition.states():
        if isinstance(state, Wait | Webhook):
            step = _step(definition, id, state, schemas)
            paths[f"/journeys/{{journeyId}}/steps/{quote(id, safe='')}"] = {"post": step}
    if spec.lifecycle is None or spec.lifecycle.cancellable:
        paths["/journeys/{journeyId}/steps/cancel"] = {
            "post": {
                "operationId": "cancel",
                "parameters": [_ID, _KEY],
                "responses": {
                    "200": _answer("Its status", _as_guarded(definition, status)),
                    "404": _problem("There is none"),
                },
            }
        }
    return paths


def _start(definition: Definition, schemas: dict[str, Any]) -> dict[str, Any]:
    lifecycle = definition.spec.lifecycle
    later = _answer("It is under way", _ref("JourneyStartResponse"))
    either = {"anyOf": [_ref("JourneyOutcome"), _ref("JourneyStatus")]}
    at_once = lifecycle is not None and lifecycle.start_mode == "async"
    good = {"202": later} if at_once else {"200": _answer("It is over, or waits", either), "202": later}
    return {
        "operationId": "start",
        "summary": f"Start {definition.name}",
        "parameters": [*_parameters(definition.spec.bindings.http.start), _KEY],
        "requestBody": _body(_input(definition, schemas)),
        "responses": {**good, "400": _problem("Not an input that it takes")},
    }


def _step(definition: Definition, id: str, state: Wait | Webhook, schemas: dict[str, Any]) -> dict[str, Any]:
    external = state.external
    schemas[f"Step.{id}"] = _relocate(external.input.schema, f"Step.{id}")
    response = _shown_with(_ref("JourneyStatus"), f"Step.{id}.Response", external.response, schemas)
    return {
        "operationId": f"step_{id}",
        "parameters": [_ID, *_parameters(step_binding(definition, id)), _KEY],
        "requestBody": _body(_ref(f"Step.{id}")),
        "responses": {
            "200": _answer("Its status now", _as_guarded(definition, response)),
            "400": _problem("Not an input that the step takes"),
            "404": _problem("There is none"),
            "409": _problem("It does not wait for this"),
        },
    }


def _as_guarded(definition: Definition, status: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an answer about a journey. `status` is the schema of the full answer. If the journey has a
    read guard, the result also allows an answer with the journey's id and name, for callers whom the guard refuses."""
    if definition.spec.access.read is None:
        return status
    names = ("journeyId", "journeyName")
    heard = {"type": "object", "required": [*names], "properties": {name: {"type": "string"} for name in names}}
    return {"anyOf": [status, heard]}


def _input(definition: Definition, schemas: dict[str, Any]) -> dict[str, Any]:
    declared = definition.spec.input
    return _named("Input", declared.schema, schemas) if declared else {"type": "object"}


def _named(name: str, schema: Mapping[str, Any] | None, schemas: dict[str, Any]) -> dict[str, Any]:
    """Add `schema` to `schemas` under `name`, and return a reference to it. If `schema` is None, return {}."""
    if schema is None:
        return {}
    schemas[name] = _relocate(schema, name)
    return _ref(name)


def _relocate(value: Any, name: str) -> Any:
    """Return a copy of a schema for use as `#/components/schemas/{name}`. A reference such as `#/$defs/x` becomes
    `#/components/schemas/{name}/$defs/x`. `$schema` is left out."""
    if isinstance(value, Mapping):
        return {
            key: f"#/components/schemas/{name}{part[1:]}"
            if key == "$ref" and isinstance(part, str) and part.startswith("#")
            else _relocate(part, name)
            for key, part in value.items()
            if key != "$schema"
        }
    return [_relocate(part, name) for part in value] if isinstance(value, list | tuple) else value


def _shown_with(
    envelope: dict[str, Any], name: str, response: Projection | None, schemas: dict[str, Any]
) -> dict[str, Any]:
    return envelope if response is None else {"allOf": [envelope, _named(name, response.schema, schemas)]}


def _parameters(binding: RequestBinding) -> list[dict[str, Any]]:
    headers = [*binding.headers_to_context, *(one.from_header for one in binding.headers_passthrough)]
    names = {one.lower(): one for one in headers if one.lower() not in _NOT_PARAMETERS}
    parameters = [{"name": one, "in": "header", "schema": {"type": "string"}} for one in names.values()]
    return parameters + [{"name": one, "in": "query", "schema": {"type": "string"}} for one in binding.query_to_context]


def _envelope(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    ids = {"journeyId": {"type": "string"}, "journeyName": {"type": "string"}}
    labels = {
        "tags": {"type": "array", "items": {"type": "string"}},
        "attributes": {"type": "object", "additionalProperties": {"type": "string"}},
        "_links": _LINKS,
    }
    return {
        "type": "object",
        "properties": {**ids, **properties, **labels},
        "required": ["journeyId", "journeyName", *required],
    }


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


def _body(schema: dict[str, Any]) -> dict[str, Any]:
    return {"required": True, "content": {"application/json": {"schema": schema}}}


def _answer(words: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": words, "content": {"application/json": {"schema": schema}}}


def _problem(words: str) -> dict[str, Any]:
    return {"description": words, "content": {"application/problem+json": {"schema": _ref("Problem")}}}


_PROBLEM = {
    "type": "object",
    "description": "RFC 9457",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "code": {"type": "string"},
    },
    "required": ["type", "title"],
}
