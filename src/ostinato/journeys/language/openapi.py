"""Read the operations of OpenAPI documents: their URLs, methods and required parameters.

A journey names a document by `openApiRef`, relative to its own file. The text of the document is deployed with the
journey, and is never fetched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson

from ostinato.errors import OstinatoError, did_you_mean, list_choices, short_json
from ostinato.journeys.documents import read_document
from ostinato.journeys.language import Definition

LARGEST = 4 << 20  # characters; for YAML the limit of `documents` is lower
_METHODS = ("get", "post", "put", "delete", "patch", "head", "options")
_PLACES = {"path": "path", "query": "query", "header": "headers"}
_VARIABLE = re.compile(r"\{([^{}]+)\}")


class OpenApiError(OstinatoError):
    """Raised if an `operationRef` does not lead to exactly one operation, or if its document is invalid."""


@dataclass(frozen=True, slots=True)
class OpenApiOperation:
    """An operation of an OpenAPI document. `template` is the whole URL with `{name}` for path parameters. `required`
    maps `path`, `query` and `headers` to the names of the required parameters."""

    id: str
    method: str
    template: str
    required: Mapping[str, frozenset[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Catalogue:
    operations: Mapping[str, OpenApiOperation]
    twice: frozenset[str]  # ids that several operations have

    def operation(self, id: str) -> OpenApiOperation:
        if id in self.twice:
            raise OpenApiError(f"several operations have the id {id!r}")
        if id not in self.operations:
            hint = did_you_mean(id, self.operations) or list_choices(sorted(self.operations))
            raise OpenApiError(f"there is no operation {id!r}; {hint}")
        return self.operations[id]


def find_operation(definition: Definition, reference: str) -> OpenApiOperation:
    """Return the operation that a reference such as `api.operationId` names. Raise `OpenApiError` if there is none."""
    name, dot, id = reference.partition(".")
    if not (name and dot and id):
        raise OpenApiError(f"{short_json(reference)} is not an api and an operation; write users.getUser")
    api = definition.spec.apis.get(name)
    if api is None:
        hint = did_you_mean(name, definition.spec.apis) or list_choices(definition.spec.apis)
        raise OpenApiError(f"spec.apis has no {name!r}; {hint}")
    text = definition.documents.get(api.open_api_ref)
    if text is None:
        raise OpenApiError(f"the document {api.open_api_ref!r} was not deployed with the journey")
    return catalogue(text, api.open_api_ref).operation(id)


def read_documents(definition: Definition, file: Path) -> dict[str, str]:
    """Return a dict from reference to text, for the OpenAPI documents that a definition refers to. Leave out documents
    that are missing, too large, or outside the folder of `file`. The checks report such documents later."""
    folder = file.resolve().parent
    documents = {}
    for api in definition.spec.apis.values():
        path = (folder / api.open_api_ref).resolve()
        if path.is_relative_to(folder) and path.is_file() and path.stat().st_size <= LARGEST:
            documents[api.open_api_ref] = path.read_text(encoding="utf-8", errors="replace")
    return documents


@lru_cache(maxsize=64)
def catalogue(text: str, name: str) -> Catalogue:
    """Return the operations of a document. Raise `OpenApiError` if it is not OpenAPI 3."""
    document = _read(text, name)
    if not isinstance(document, dict) or not str(document.get("openapi", "")).startswith("3."):
        raise OpenApiError(f"{name!r} is not an OpenAPI document of version 3")
    operations: dict[str, OpenApiOperation] = {}
    twice = set()
    for operation in _operations(document):
        if operation.id in operations:
            twice.add(operation.id)
        operations[operation.id] = operation
    return Catalogue(operations, frozenset(twice))


def _read(text: str, name: str) -> Any:
    """Parse JSON, or the subset of YAML that journeys use. Raise `OpenApiError` if the text is invalid."""
    if len(text) > LARGEST:
        raise OpenApiError(f"{name!r} has {len(text):,} characters; the maximum is {LARGEST:,}")
    if name.endswith(".json") or text.lstrip().startswith("{"):
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError as problem:
            raise OpenApiError(f"{name!r} is not JSON: {problem}") from None
    document = read_document(text, name)
    if document.problems:
        first = document.problems[0]
        raise OpenApiError(f"{name}:{first.line}:{first.column}: {first.message}; {first.suggestion or 'see its line'}")
    return document.value


def _operations(document: dict[str, Any]) -> Iterator[OpenApiOperation]:
    for path, item in _object(document.get("paths")).items():
        path_item = _object(item)
        for method in _METHODS:
            inner = path_item.get(method)
            if isinstance(inner, dict) and isinstance(inner.get("operationId"), str):
                servers = inner.get("servers") or path_item.get("servers") or document.get("servers")
                parameters = [*_list(path_item.get("parameters")), *_list(inner.get("parameters"))]
                required = _required(document, parameters)
                required["path"] = required["path"] | frozenset(_VARIABLE.findall(path))
                yield OpenApiOperation(inner["operationId"], method.upper(), _server(servers) + path, required)


def _required(document: dict[str, Any], parameters: list[Any]) -> dict[str, frozenset[str]]:
    required: dict[str, set[str]] = {place: set() for place in _PLACES.values()}
    for reference in parameters:
        parameter = _object(_follow_reference(document, reference))
        place = _PLACES.get(str(parameter.get("in")))
        if place is not None and isinstance(parameter.get("name"), str):
            change = required[place].add if parameter.get("required") is True else required[place].discard
            change(parameter["name"])
    return {place: frozenset(names) for place, names in required.items()}


def _follow_reference(document: dict[str, Any], value: Any) -> Any:
    """Return the value that the `$ref` of `value` leads to, or None if it leads out of the document or in a circle.
    Return `value` itself if it has no `$ref`."""
    for _ in range(10):
        reference = _object(value).get("$ref")
        if not isinstance(reference, str):
            return value
        value = document if reference.startswith("#/") else None
        for step in reference[2:].split("/"):
            value = _object(value).get(step.replace("~1", "/").replace("~0", "~"))
    return None


def _server(servers: Any) -> str:
    first = _object(next(iter(_list(servers)), None))
    variables = _object(first.get("variables"))
    url = str(first.get("url", ""))
    return _VARIABLE.sub(lambda found: str(_object(variables.get(found[1])).get("default", found[0])), url).rstrip("/")


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
