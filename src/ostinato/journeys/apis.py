"""OpenAPI documents as catalogues of operations. A journey names one by `openApiRef`, relative to its own file; the
text is deployed with the journey and never fetched. Nothing of a document is looked at but where an operation is, and
which parameters it takes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson

from ostinato.errors import OstinatoError, did_you_mean, there_are
from ostinato.errors import shown_json as shown
from ostinato.journeys.documents import read_document
from ostinato.journeys.language import Definition

LARGEST = 4 << 20  # characters; of YAML far less is read, see `documents`
_METHODS = ("get", "post", "put", "delete", "patch", "head", "options")
_PLACES = {"path": "path", "query": "query", "header": "headers"}
_VARIABLE = re.compile(r"\{([^{}]+)\}")


class ApiError(OstinatoError):
    """What an `operationRef` leads to cannot be used."""


@dataclass(frozen=True, slots=True)
class Operation:
    """`template` is the whole URL with `{name}` where a path parameter goes. `required` are the parameters that must be
    given, by where they go."""

    id: str
    method: str
    template: str
    required: Mapping[str, frozenset[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Catalogue:
    operations: Mapping[str, Operation]
    twice: frozenset[str]  # ids that several operations have

    def operation(self, id: str) -> Operation:
        if id in self.twice:
            raise ApiError(f"several operations have the id {id!r}")
        if id not in self.operations:
            hint = did_you_mean(id, self.operations) or there_are(sorted(self.operations))
            raise ApiError(f"there is no operation {id!r}; {hint}")
        return self.operations[id]


def find(definition: Definition, reference: str) -> Operation:
    """What `api.operationId` means in a definition."""
    name, dot, id = reference.partition(".")
    if not (name and dot and id):
        raise ApiError(f"{shown(reference)} is not an api and an operation; write users.getUser")
    api = definition.spec.apis.get(name)
    if api is None:
        hint = did_you_mean(name, definition.spec.apis) or there_are(definition.spec.apis)
        raise ApiError(f"spec.apis has no {name!r}; {hint}")
    text = definition.documents.get(api.open_api_ref)
    if text is None:
        raise ApiError(f"the document {api.open_api_ref!r} was not given with the journey")
    return catalogue(text, api.open_api_ref).operation(id)


def documents_of(definition: Definition, file: Path) -> dict[str, str]:
    """The texts that a definition refers to, read from beside its own file. What is not there is left out: the rule
    about operations says so where it matters. A reference cannot leave the folder of the file."""
    folder = file.resolve().parent
    found = {}
    for api in definition.spec.apis.values():
        path = (folder / api.open_api_ref).resolve()
        if path.is_relative_to(folder) and path.is_file() and path.stat().st_size <= LARGEST:
            found[api.open_api_ref] = path.read_text(encoding="utf-8", errors="replace")
    return found


@lru_cache(maxsize=64)
def catalogue(text: str, name: str) -> Catalogue:
    """The operations of a document."""
    document = _read(text, name)
    if not isinstance(document, dict) or not str(document.get("openapi", "")).startswith("3."):
        raise ApiError(f"{name!r} is not an OpenAPI document of version 3")
    found: dict[str, Operation] = {}
    twice = set()
    for one in _operations(document):
        if one.id in found:
            twice.add(one.id)
        found[one.id] = one
    return Catalogue(found, frozenset(twice))


def _read(text: str, name: str) -> Any:
    """JSON, which is read fast, or the subset of YAML that journeys are written in."""
    if len(text) > LARGEST:
        raise ApiError(f"{name!r} has {len(text):,} characters; at most {LARGEST:,} are read")
    if name.endswith(".json") or text.lstrip().startswith("{"):
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError as problem:
            raise ApiError(f"{name!r} is not JSON: {problem}") from None
    document = read_document(text, name)
    if document.problems:
        first = document.problems[0]
        raise ApiError(f"{name}:{first.line}:{first.column}: {first.message}; {first.suggestion or 'see its line'}")
    return document.value


def _operations(document: dict[str, Any]) -> Iterator[Operation]:
    for path, item in _object(document.get("paths")).items():
        around = _object(item)
        for method in _METHODS:
            inner = around.get(method)
            if isinstance(inner, dict) and isinstance(inner.get("operationId"), str):
                servers = inner.get("servers") or around.get("servers") or document.get("servers")
                given = [*_list(around.get("parameters")), *_list(inner.get("parameters"))]
                required = _required(document, given)
                required["path"] = required["path"] | frozenset(_VARIABLE.findall(path))
                yield Operation(inner["operationId"], method.upper(), _server(servers) + path, required)


def _required(document: dict[str, Any], parameters: list[Any]) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {place: set() for place in _PLACES.values()}
    for one in parameters:
        parameter = _object(_followed(document, one))
        place = _PLACES.get(str(parameter.get("in")))
        if place is not None and isinstance(parameter.get("name"), str):
            change = found[place].add if parameter.get("required") is True else found[place].discard
            change(parameter["name"])
    return {place: frozenset(names) for place, names in found.items()}


def _followed(document: dict[str, Any], value: Any) -> Any:
    """What a `$ref` within the document leads to; one that leads elsewhere or in a circle, to nothing."""
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
