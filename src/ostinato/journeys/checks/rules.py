"""The types of the checks: a rule, its context and its findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TypeAlias

from ostinato.documents import Path
from ostinato.journeys.checks.parts import Part, Site
from ostinato.journeys.expressions.contract import Language
from ostinato.journeys.language import Definition
from ostinato.journeys.language.shapes import is_unread
from ostinato.journeys.problems import Severity
from ostinato.journeys.settings import JourneySettings
from ostinato.journeys.task_kind import Plugins


@dataclass(frozen=True, slots=True)
class CheckContext:
    """The values that a rule can use. `configured` means that `settings` are those of the engine that will run the
    definition. `unread` holds the paths that could not be read; the definition has substitutes there. Findings at these
    paths are dropped. A rule that reports something as missing must check `knows_all` first."""

    definition: Definition
    parts: Sequence[Part]  # of the whole definition
    sites: Sequence[Site]
    plugins: Plugins
    languages: Mapping[str, Language]
    settings: JourneySettings
    configured: bool = False
    unread: Set[Path] = frozenset()

    def knows(self, path: Path) -> bool:
        """Return whether the value at a path could be read. Parts of it may still be unread."""
        return not is_unread(self.unread, path)

    def knows_all(self, path: Path) -> bool:
        """Return whether the value at a path, and all its parts, could be read."""
        return self.knows(path) and not any(one[: len(path)] == path for one in self.unread)


@dataclass(frozen=True, slots=True)
class Finding:
    """A violation of a rule. `key` means that the finding is about the key at the path, not about its value. `needs` is
    another path that the finding depends on. If that path could not be read, the finding is dropped. `code` and
    `severity` replace those of the rule."""

    path: Path
    message: str
    suggestion: str = ""
    key: bool = False
    code: str | None = None
    severity: Severity | None = None
    needs: Path | None = None


Find: TypeAlias = Callable[[CheckContext], Iterable[Finding]]


@dataclass(frozen=True, slots=True)
class Rule:
    code: str
    find: Find
    severity: Severity = Severity.ERROR
