"""Describe the mistakes in a file of schedules, with line and column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ostinato.documents import Place
from ostinato.errors import OstinatoError


@dataclass(frozen=True, slots=True)
class FileProblem:
    """One mistake in a file. `schedule` is the name of the schedule that contains it."""

    file: str
    place: Place
    message: str
    schedule: str | None = None

    def __str__(self) -> str:
        prefix = "" if self.schedule is None else f"schedule {self.schedule!r}: "
        return f"{self.file}:{self.place.line}:{self.place.column}  {prefix}{self.message}"

    def as_dict(self) -> dict[str, Any]:
        return {
            "file": self.file,
            "line": self.place.line,
            "column": self.place.column,
            "schedule": self.schedule,
            "message": self.message,
        }


class FileError(OstinatoError):
    """All mistakes in a file, in the order of its lines."""

    def __init__(self, problems: list[FileProblem]) -> None:
        self.problems = tuple(sorted(problems, key=lambda problem: problem.place))
        super().__init__("\n".join(map(str, self.problems)))
