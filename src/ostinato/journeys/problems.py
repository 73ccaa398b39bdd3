"""The problems of a journey's document: where a mistake is, what is wrong, and what to write instead. Codes are stable;
messages may change."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ostinato.documents import Path, Positions


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class JourneyProblem:
    """A mistake or a warning in a document. `line` and `column` count from 1."""

    code: str
    path: Path
    line: int
    column: int
    message: str
    suggestion: str = ""
    severity: Severity = Severity.ERROR

    @property
    def state(self) -> str | None:
        """The id of the innermost state that contains the problem, or None if the problem is in no state."""
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


def problem_at(
    positions: Positions,
    code: str,
    path: Path,
    message: str,
    suggestion: str = "",
    *,
    key: bool = False,
    severity: Severity = Severity.ERROR,
) -> JourneyProblem:
    """Return a problem with the position of the value at `path`, or of its key if `key` is true. If the document has no
    value there, the position is that of the nearest enclosing value."""
    place = positions.place(path, key=key)
    return JourneyProblem(code, path, place.line, place.column, message, suggestion, severity)


def sort_problems(problems: Iterable[JourneyProblem]) -> list[JourneyProblem]:
    """Return the problems in the order of the file, without duplicates."""
    return sorted(dict.fromkeys(problems), key=lambda one: (one.line, one.column, one.code))


def only_errors(problems: Iterable[JourneyProblem]) -> list[JourneyProblem]:
    return [one for one in problems if one.severity is Severity.ERROR]
