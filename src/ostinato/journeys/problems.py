"""What is wrong with a journey's document: where, what, and what would be right. Codes are stable; words may change."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ostinato.schedules.marked import Marked, Path


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Problem:
    """`path` leads to the part that is meant; line and column are counted from 1, as editors do."""

    code: str
    path: Path
    line: int
    column: int
    message: str
    suggestion: str = ""
    severity: Severity = Severity.ERROR

    @property
    def state(self) -> str | None:
        """The innermost state that the place belongs to."""
        above = [after for before, after in zip(self.path, self.path[1:], strict=False) if before == "states"]
        return str(above[-1]) if above else None

    def as_dict(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "severity": self.severity.value,
            "line": self.line,
            "column": self.column,
            "state": self.state,
            "message": self.message,
            "suggestion": self.suggestion,
        }

    def __str__(self) -> str:
        who = "" if self.state is None else f"state {self.state!r}: "
        hint = f". {self.suggestion[0].upper()}{self.suggestion[1:]}" if self.suggestion else ""
        return f"{self.line}:{self.column}  {who}{self.message}{hint}"


def problem(
    marked: Marked,
    code: str,
    path: Path,
    message: str,
    suggestion: str = "",
    *,
    key: bool = False,
    severity: Severity = Severity.ERROR,
) -> Problem:
    """A problem with the part at `path`, or with `key` its name; where it is not there, with what is around it."""
    place = marked.place(path, key=key)
    return Problem(code, path, place.line, place.column, message, suggestion, severity)


def in_order(problems: Iterable[Problem]) -> list[Problem]:
    """As they stand in the file, each once."""
    return sorted(dict.fromkeys(problems), key=lambda one: (one.line, one.column, one.code))


def errors(problems: Iterable[Problem]) -> list[Problem]:
    return [one for one in problems if one.severity is Severity.ERROR]
