"""Read the text of a journey definition, whose length and depth are limited."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ostinato import documents
from ostinato.documents import Path, Positions
from ostinato.journeys.problems import JourneyProblem

LARGEST = 128 * 1024  # characters; reading them takes two seconds, so a server reads in a thread
DEEPEST = 64
SUFFIXES = (".journey.yaml", ".journey.yml", ".journey.json")


@dataclass(slots=True)
class JourneyDocument:
    """The content of a journey's text.

    - `value`: the content; if there are problems, it may be incomplete, so use it only to find more problems
    - `unread`: the paths of the values that could not be read
    """

    file: str
    value: Any
    positions: Positions
    problems: list[JourneyProblem] = field(default_factory=list)
    unread: set[Path] = field(default_factory=set)


def read_document(text: str, file: str = "journey.yaml") -> JourneyDocument:
    """Read a journey's text. No exception is raised if the text has mistakes: the document lists them in `problems`."""
    if len(text) > LARGEST:
        suggestion = f"at most {LARGEST:,} are read; move what can be shared into another journey"
        too_large = JourneyProblem(
            "document-too-large", (), 1, 1, f"the document has {len(text):,} characters", suggestion
        )
        return JourneyDocument(file, None, Positions(), [too_large])
    document = documents.read_document(text, file, strict=True, max_depth=DEEPEST)
    problems = [
        JourneyProblem(
            problem.code, problem.path, problem.place.line, problem.place.column, problem.message, problem.suggestion
        )
        for problem in document.problems
    ]
    return JourneyDocument(file, document.value, document.positions, problems, document.unread)
