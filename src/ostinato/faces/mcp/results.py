"""Turn the results of MCP tools into text of limited size.

The arguments of tools are checked here, too. Messages about wrong arguments are those of the HTTP API.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel, ValidationError

from ostinato.errors import OstinatoError
from ostinato.faces.http.validation_errors import Mistake, mistakes

MOST = 32 << 10  # bytes of a result: about 10,000 tokens
_LONG_TEXT = 2_000  # characters of a text in a result that has become too large
_LONG_LIST = 50  # items of a list in such a result
_DEEP = 8  # levels of such a result
A = TypeVar("A", bound=BaseModel)


class WrongArguments(OstinatoError):
    """Raised for arguments that a tool does not accept. `unknown` are the names that are not arguments of the tool."""

    def __init__(self, mistakes: list[Mistake], unknown: list[str]) -> None:
        super().__init__("; ".join(map(str, mistakes)))
        self.unknown = unknown


def read_arguments(model: type[A], arguments: Mapping[str, Any] | None) -> A:
    """Return the arguments as `model`. Raises `WrongArguments`, which names each wrong or unknown argument."""
    try:
        return model.model_validate(dict(arguments or {}))
    except ValidationError as problem:
        errors = problem.errors(include_url=False)
        unknown = [str(error["loc"][-1]) for error in errors if error["type"] == "extra_forbidden"]
        placed = [{**error, "loc": ("body", *error["loc"])} for error in errors]
        wrong = [Mistake(mistake.field.removeprefix("body."), mistake.message) for mistake in mistakes(placed, model)]
        raise WrongArguments(wrong, unknown) from None


def success(value: Any) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=bounded(value))])


def failure(words: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=words[:_LONG_TEXT])], is_error=True)


def bounded(value: Any) -> str:
    """Return a value as JSON of at most `MOST` bytes. If it does not fit, parts are left out and the JSON says so."""
    text = _dump(value)
    if _size(text) <= MOST:
        return text
    if isinstance(value, dict) and isinstance(value.get("items"), list):
        return _fewer_items(value)
    text = _dump({"shortened": True, "value": _shorten(value, 0)})
    if _size(text) <= MOST:
        return text
    return _dump({"shortened": True, "beginning": _dump(value)[: MOST // 8]})


def _fewer_items(value: dict[str, Any]) -> str:
    items = [_shorten(item, 0) for item in value["items"]]
    more = {"shown": len(items), "of": len(items), "shortened": True}
    room = MOST - _size(_dump({**value, "items": [], **more}))
    count = 0
    for item in items:
        room -= _size(_dump(item)) + 1
        if room < 0:
            break
        count += 1
    return _dump({**value, "items": items[:count], **more, "shown": count})


def _shorten(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= _LONG_TEXT else f"{value[:_LONG_TEXT]}…"
    if depth >= _DEEP and isinstance(value, dict | list):
        return "…"
    if isinstance(value, dict):
        return {name: _shorten(part, depth + 1) for name, part in value.items()}
    if isinstance(value, list):
        parts = [_shorten(part, depth + 1) for part in value[:_LONG_LIST]]
        return parts if len(value) <= _LONG_LIST else [*parts, f"… and {len(value) - _LONG_LIST} more"]
    return value


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
