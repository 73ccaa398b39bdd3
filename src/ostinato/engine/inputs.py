"""Check the input of a job by the type hints of its function, and convert arguments to the hinted types.

An input is JSON. For example, a parameter with the hint `int` refuses the texts `"five"` and `"5"`. A parameter with
the hint `datetime` accepts an RFC 3339 text, and the function gets a datetime. A parameter is not checked if pydantic
cannot read its hint. If one hint of a function cannot be resolved, no parameter of the function is checked.

The function `declared_types` writes the types as text, for processes that do not have the job's function.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, get_type_hints

import orjson

from ostinato.engine.portable_types import read_types, write_types
from ostinato.errors import InputError, may_be_secret

if TYPE_CHECKING:
    from pydantic import TypeAdapter
    from pydantic_core import SchemaValidator

_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_SHOWN = 80


class InputTypes:
    """Checks an input against the typed parameters of one function."""

    def __init__(self, adapter: TypeAdapter[Any] | SchemaValidator) -> None:
        from pydantic_core import ValidationError

        self.adapter = adapter
        self._error = ValidationError

    def read(self, text: bytes | str, job: str) -> dict[str, Any]:
        """Convert an input in JSON to arguments. Raises `InputError`, which names every argument of a wrong type."""
        try:
            arguments: dict[str, Any] = self.adapter.validate_json(text, strict=True)
        except self._error as problem:
            errors = problem.errors(include_url=False, include_context=False)
            faults = [(error["loc"], _fault(error)) for error in errors]
            raise InputError(f"job {job!r}: {'; '.join(fault for _, fault in faults)}", faults) from None
        return arguments


def _fault(fault: Mapping[str, Any]) -> str:
    place = ".".join(str(part) for part in fault["loc"]) or "the input"
    message = str(fault["msg"])
    words = f"{place}: {message[:1].lower()}{message[1:]}"
    if may_be_secret(fault["loc"], fault["input"]):
        return words
    value = orjson.dumps(fault["input"], default=repr).decode()
    return f"{words}, not {value if len(value) <= _SHOWN else f'{value[:_SHOWN]}…'}"


@lru_cache(maxsize=4096)
def input_types(function: Callable[..., Any], context: str | None) -> InputTypes | None:
    """Return an object that checks inputs against the type hints of `function`. Returns None if no parameter can be
    checked. `context` is the name of the function's context parameter, which is not part of the input."""
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


@lru_cache(maxsize=4096)
def declared_types(function: Callable[..., Any], context: str | None) -> str | None:
    """Return the types of a function's parameters as a text for `read_declared_types`. Returns None if no parameter can
    be checked, or if the types cannot be written as text."""
    try:
        types = input_types(function, context)
        return None if types is None else write_types(types.adapter.core_schema)  # type: ignore[union-attr]
    except Exception:  # raised by code of a hint's type: the runs report it, and the node must start all the same
        return None


@lru_cache(maxsize=4096)
def read_declared_types(text: str) -> InputTypes | None:
    """Return an object that checks inputs against the types in a text of `declared_types`. Returns None if another
    version of pydantic_core wrote the text."""
    validator = read_types(text)
    return None if validator is None else InputTypes(validator)


def _adapter(hints: Mapping[str, Any]) -> TypeAdapter[Any] | None:
    from pydantic import ConfigDict, TypeAdapter, with_config
    from pydantic.errors import PydanticUserError
    from typing_extensions import TypedDict  # before Python 3.12 pydantic accepts no other TypedDict

    shape: Any = TypedDict("Input", dict(hints), total=False)  # type: ignore[misc]
    try:
        return TypeAdapter(with_config(ConfigDict(extra="allow"))(shape))
    except (PydanticUserError, TypeError, NameError):
        return None
