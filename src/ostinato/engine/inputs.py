"""The type hints of a job's function as a check of its input, and as the types its arguments arrive in.

An input is JSON. `count: int` refuses the text `"five"`, and the text `"5"`, too; `when: datetime` takes an RFC 3339
text, and the function gets a datetime. A hint that pydantic cannot read, or that cannot be resolved, checks nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, get_type_hints

import orjson

from ostinato.errors import OstinatoError

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_SHOWN = 80


class InputTypes:
    """The typed parameters of one function."""

    def __init__(self, adapter: TypeAdapter[Any]) -> None:
        from pydantic import ValidationError

        self._adapter = adapter
        self._error = ValidationError

    def read(self, text: bytes | str, job: str) -> dict[str, Any]:
        """The arguments of an input in JSON. Raises an error that names every argument that does not fit."""
        try:
            arguments: dict[str, Any] = self._adapter.validate_json(text, strict=True)
        except self._error as problem:
            faults = [_fault(fault) for fault in problem.errors(include_url=False, include_context=False)]
            raise OstinatoError(f"job {job!r}: {'; '.join(faults)}") from None
        return arguments


def _fault(fault: Mapping[str, Any]) -> str:
    place = ".".join(str(part) for part in fault["loc"])
    value = orjson.dumps(fault["input"], default=repr).decode()
    shown = value if len(value) <= _SHOWN else f"{value[:_SHOWN]}…"
    message = str(fault["msg"])
    return f"{place}: {message[:1].lower()}{message[1:]}, not {shown}"


@lru_cache(maxsize=4096)
def input_types(function: Callable[..., Any], context: str | None) -> InputTypes | None:
    """What the hints of a function say about its input; None where they say nothing. `context` is no input."""
    function = inspect.unwrap(function)
    parameters = inspect.signature(function).parameters
    try:
        resolved = get_type_hints(function, include_extras=True)
    except Exception:  # names that exist for a type checker alone, for example
        return None
    named = {name for name, parameter in parameters.items() if parameter.kind in _NAMED and name != context}
    hints = {name: hint for name, hint in resolved.items() if name in named and hint is not Any}
    if not hints:
        return None
    adapter = _adapter(hints)
    if adapter is None:
        hints = {name: hint for name, hint in hints.items() if _adapter({name: hint}) is not None}
        adapter = _adapter(hints) if hints else None
    return None if adapter is None else InputTypes(adapter)


def _adapter(hints: Mapping[str, Any]) -> TypeAdapter[Any] | None:
    from pydantic import ConfigDict, TypeAdapter, with_config
    from pydantic.errors import PydanticUserError
    from typing_extensions import TypedDict  # before Python 3.12 pydantic takes no other

    shape: Any = TypedDict("Input", dict(hints), total=False)  # type: ignore[misc]
    try:
        return TypeAdapter(with_config(ConfigDict(extra="allow"))(shape))
    except (PydanticUserError, TypeError, NameError):
        return None
