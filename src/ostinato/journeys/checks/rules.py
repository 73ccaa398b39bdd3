"""What a rule is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TypeAlias

from ostinato.journeys.checks.parts import Part, Site
from ostinato.journeys.expressions.contract import Language
from ostinato.journeys.language import Definition
from ostinato.journeys.language.shapes import explained
from ostinato.journeys.plugins import Plugins
from ostinato.journeys.problems import Severity
from ostinato.journeys.settings import JourneySettings
from ostinato.schedules.marked import Path


@dataclass(frozen=True, slots=True)
class Checking:
    """What a rule may look at. `configured`: the settings are those of the engine that will run it. `unread`: where
    something stands in for what could not be read. A finding there is dropped; a rule that draws conclusions from what
    is missing asks whether it was read."""

    definition: Definition
    parts: Sequence[Part]  # all of it
    sites: Sequence[Site]
    plugins: Plugins
    languages: Mapping[str, Language]
    settings: JourneySettings
    configured: bool = False
    unread: Set[Path] = frozenset()

    def knows(self, path: Path) -> bool:
        """Whether what stands at a place could be read; what is within it may still be unread."""
        return not explained(self.unread, path)

    def knows_all(self, path: Path) -> bool:
        """Whether everything within a place could be read, too."""
        return self.knows(path) and not any(one[: len(path)] == path for one in self.unread)


@dataclass(frozen=True, slots=True)
class Finding:
    """`key`: the name at the path is meant, not what stands there. `needs`: another place that it draws on; nothing is
    said if that could not be read. `code` and `severity` are the rule's own unless a plugin has its own."""

    path: Path
    message: str
    suggestion: str = ""
    key: bool = False
    code: str | None = None
    severity: Severity | None = None
    needs: Path | None = None


Find: TypeAlias = Callable[[Checking], Iterable[Finding]]


@dataclass(frozen=True, slots=True)
class Rule:
    code: str
    find: Find
    severity: Severity = Severity.ERROR
