"""Read plain values of options and arguments without pydantic.

Plain values are texts, whole numbers and lists of texts. Typer reads values of other types, and reports wrong values.
Typer loads pydantic, and loading pydantic takes longer than most commands.
"""

from __future__ import annotations

import re
from typing import Any

_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")


def read_plainly(command: Any) -> None:
    """Make a command, and its subcommands, read plain values without pydantic."""
    join_with_or = command.get_params  # also returns parameters that are added later, such as --help

    def get_params(ctx: Any) -> Any:
        parameters = join_with_or(ctx)
        for parameter in parameters:
            if (
                getattr(parameter, "_runtime_param", parameter) is None
            ):  # another version of Typer has no such attribute
                parameter._runtime_param = _Plain(parameter.type_descriptor)
        return parameters

    command.get_params = get_params
    for inner in getattr(command, "commands", {}).values():
        read_plainly(inner)


class _Plain:
    """Replaces Typer's converter of a parameter. It reads plain values itself, and passes other values to Typer's
    converter."""

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
