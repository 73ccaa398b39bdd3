"""Read texts, whole numbers and lists of texts from the command line without pydantic.

Typer reads all values with pydantic, which takes longer to load than most commands run.
"""

from __future__ import annotations

import re
from typing import Any

_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")


def read_plainly(command: Any) -> Any:
    """Make a command and its subcommands convert their simple parameters without pydantic. Return the command.

    Simple parameters are texts, whole numbers and lists of texts. Typer converts all other parameters, with pydantic.
    """
    get_typer_params = command.get_params  # also returns parameters that are added later, such as --help

    def get_params(ctx: Any) -> Any:
        parameters = get_typer_params(ctx)
        for parameter in parameters:
            # Another version of Typer has no such attribute.
            if getattr(parameter, "_runtime_param", parameter) is None:
                parameter._runtime_param = _Plain(parameter.type_descriptor)
        return parameters

    command.get_params = get_params
    for inner in getattr(command, "commands", {}).values():
        read_plainly(inner)
    return command


class _Plain:
    """Converts the values of a parameter, in place of Typer's converter. It converts only texts, whole numbers and
    lists of texts itself. For all other values, it loads and calls Typer's converter."""

    def __init__(self, descriptor: Any) -> None:
        self._descriptor = descriptor

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        several = param.multiple or param.nargs == -1
        if value is None:
            return () if several else None
        info = self._descriptor.parameter_info
        if info.parser is None and not self._descriptor.is_path:
            match self._descriptor.annotation:
                case kind if kind is str and isinstance(value, str) and not several:
                    return value
                case kind if kind is int and not several:
                    number = _whole(value)
                    if number is not None and _within(number, info.min, info.max):
                        return number
                case kind if kind == list[str] and isinstance(value, list | tuple):
                    if all(isinstance(one, str) for one in value):
                        return list(value)
        from typer._coercion import build_runtime_param

        return build_runtime_param(self._descriptor).coerce(value, param=param, ctx=ctx)


def _whole(value: Any) -> int | None:
    if isinstance(value, str):
        return int(value) if _WHOLE.fullmatch(value) else None
    return value if type(value) is int else None


def _within(number: int, least: float | None, most: float | None) -> bool:
    return (least is None or number >= least) and (most is None or number <= most)
