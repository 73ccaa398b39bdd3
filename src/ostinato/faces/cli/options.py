"""Build the flags that several commands share, from the tables in `faces/options.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

import typer

from ostinato.client import Json
from ostinato.errors import OstinatoError, did_you_mean, list_choices
from ostinato.faces.cli.arguments import only_given, read_json, read_number_or_object, read_object
from ostinato.faces.cli.completion import words
from ostinato.faces.options import FUNCTION_OPTIONS, RUN_OPTIONS, SCHEDULE_OPTIONS, Option, OptionKind

T = TypeVar("T")
_TABLE = {option.name: option for option in (*RUN_OPTIONS, *SCHEDULE_OPTIONS)}
_TYPES: dict[OptionKind, Any] = {
    OptionKind.WHOLE: int | None,
    OptionKind.FLAG: bool | None,
    OptionKind.TEXTS: list[str] | None,
}
_READERS: dict[OptionKind, Callable[[str | None, str], Any]] = {
    OptionKind.WHOLE_OR_OBJECT: read_number_or_object,
    OptionKind.OBJECT: read_object,
    OptionKind.JSON: read_json,
}


def _python_name(option: Option) -> str:
    return "tag" if option.flag == "--tag" else option.name


def flag(name: str) -> Any:
    """Return the `typer.Option` for the option that is called `name` in the tables of `faces.options`."""
    option = _TABLE[name]
    names = [option.flag] if option.flag else []
    return typer.Option(*names, help=option.help, autocompletion=words(*option.choices) if option.choices else None)


Input = Annotated[str | None, flag("input")]
Overlap = Annotated[str | None, flag("overlap")]
Unset = Annotated[
    list[str] | None,
    typer.Option("--unset", help="An option to put back to its default, such as deadline; several times for several."),
]


def _with_flags(*options: Option) -> Callable[[type[T]], type[T]]:
    """Return a class decorator that adds a field for each option, with None as its default."""

    def add(cls: type[T]) -> type[T]:
        cls.__annotations__ = {
            _python_name(option): Annotated[_TYPES.get(option.kind, str | None), flag(option.name)]
            for option in options
        }
        for option in options:
            setattr(cls, _python_name(option), None)
        return cls

    return add


class Flags:
    """The options of a command. An option that was not given is None."""

    def as_fields(self) -> Json:
        """Return the options that were given, as fields of a request. Raises `OstinatoError` if a value is not JSON."""
        options = [option for option in _TABLE.values() if hasattr(self, _python_name(option))]
        return only_given(**{option.name: _read(option, getattr(self, _python_name(option))) for option in options})


@dataclass(frozen=True)
@_with_flags(*RUN_OPTIONS)
class RunOptions(Flags):
    """The options of a run."""


@dataclass(frozen=True)
@_with_flags(*FUNCTION_OPTIONS)
class FunctionOptions(Flags):
    """The options of a run of a function."""


@dataclass(frozen=True)
@_with_flags(*SCHEDULE_OPTIONS)
class ScheduleOptions(RunOptions):
    """The options of a schedule. An option that was not given is None."""


def _read(option: Option, value: Any) -> Any:
    read = _READERS.get(option.kind)
    return value if read is None else read(value, f"--{option.name.replace('_', '-')}")


def changed_options(options: ScheduleOptions, unset: list[str] | None) -> Json:
    """Return the fields of a request that updates a schedule: each of `options` that the user gave, and None for each
    option that `unset` names. None restores the default. Raises `OstinatoError` if an option is unknown, or is both
    given and unset."""
    changes = options.as_fields()
    names = {_python_name(option).replace("_", "-"): option.name for option in _TABLE.values()}
    for text in unset or ():
        flag_name = text.removeprefix("--").replace("_", "-")
        flag_name = "tag" if flag_name == "tags" else flag_name
        if flag_name not in names:
            raise OstinatoError(
                f"--unset {text!r} is no option; {did_you_mean(text, names) or list_choices(list(names))}"
            )
        if changes.get(names[flag_name]) is not None:
            raise OstinatoError(f"--{flag_name} is given and unset; leave one out")
        changes[names[flag_name]] = None
    return changes
