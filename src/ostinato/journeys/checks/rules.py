"""Define the types `Rule`, `CheckContext` and `RuleFinding`, which all checks use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TypeAlias

from ostinato.documents import Path
from ostinato.journeys.checks.parts import DefinitionPart, Site
from ostinato.journeys.expressions.contract import Language
from ostinato.journeys.language import Definition
from ostinato.journeys.language.shapes import is_unread
from ostinato.journeys.problems import Severity
from ostinato.journeys.settings import JourneySettings
from ostinato.journeys.task_kind import Plugins


@dataclass(frozen=True, slots=True)
class CheckContext:
    """The values that a rule can use to check a definition.

    - `configured`: true if `settings` are those of the engine that will run the definition; false if they are the
      defaults
    - `unread`: the paths that could not be read; the definition has substitute values there

    Findings at the paths in `unread` are dropped. Before a rule reports that a value is missing, it must check with
    `knows_all` that the value is not merely unread.
    """

    definition: Definition
    parts: Sequence[DefinitionPart]  # of the whole definition
    sites: Sequence[Site]
    plugins: Plugins
    languages: Mapping[str, Language]
    settings: JourneySettings
    configured: bool = False
    unread: Set[Path] = frozenset()

    def knows(self, path: Path) -> bool:
        """Return whether the definition has the real value at `path`. Return False if this value, or a value that
        contains it, could not be read. Values inside the value at `path` are not checked here; `knows_all` checks them,
        too."""
        return not is_unread(self.unread, path)

    def knows_all(self, path: Path) -> bool:
        """Return whether the value at `path`, and all values inside it, could be read."""
        return self.knows(path) and not any(one[: len(path)] == path for one in self.unread)


@dataclass(frozen=True, slots=True)
class RuleFinding:
    """A violation of a rule.

    - `key`: whether the violation is in the last key of `path`; otherwise it is in the value at `path`
    - `code`, `severity`: if not None, they replace the code and the severity of the rule
    - `needs`: a path; the finding is dropped if the value at that path could not be read
    """

    path: Path
    message: str
    suggestion: str = ""
    key: bool = False
    code: str | None = None
    severity: Severity | None = None
    needs: Path | None = None


Find: TypeAlias = Callable[[CheckContext], Iterable[RuleFinding]]


@dataclass(frozen=True, slots=True)
class Rule:
    code: str
    find: Find
    severity: Severity = Severity.ERROR
