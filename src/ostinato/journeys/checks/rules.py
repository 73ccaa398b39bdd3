"""Define the types `Rule`, `CheckContext` and `Finding`, which all checks use."""

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
    """The values that a rule can use to check a definition.

    - `settings`: the settings of journeys; if `configured` is false, these are the defaults
    - `configured`: whether `settings` belong to the engine that will run the definition
    - `unread`: the paths that could not be read

    At the paths in `unread`, the definition has substitute values, and findings are dropped. A rule that reports a
    missing value must first check `knows_all`.
    """

    definition: Definition
    parts: Sequence[Part]  # of the whole definition
    sites: Sequence[Site]
    plugins: Plugins
    languages: Mapping[str, Language]
    settings: JourneySettings
    configured: bool = False
    unread: Set[Path] = frozenset()

    def knows(self, path: Path) -> bool:
        """Return whether the value at `path` could be read. Values inside it may still be unread; `knows_all` checks
        those, too."""
        return not is_unread(self.unread, path)

    def knows_all(self, path: Path) -> bool:
        """Return whether the value at a path, and all its parts, could be read."""
        return self.knows(path) and not any(one[: len(path)] == path for one in self.unread)


@dataclass(frozen=True, slots=True)
class Finding:
    """A violation of a rule.

    - `path`: where the violation is.
    - `message`: what is wrong.
    - `suggestion`: how to correct it.
    - `key`: the violation is in the key at `path`, instead of the value.
    - `code`, `severity`: if set, used instead of the rule's own.
    - `needs`: another path. If the value there could not be read, the finding is dropped.
    """

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
