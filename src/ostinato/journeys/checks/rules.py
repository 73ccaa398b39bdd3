"""What a rule is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from ostinato.journeys.expressions.contract import Language
from ostinato.journeys.language import Definition
from ostinato.journeys.plugins import Plugins
from ostinato.journeys.problems import Severity
from ostinato.journeys.settings import JourneySettings
from ostinato.schedules.marked import Path


@dataclass(frozen=True, slots=True)
class Checking:
    """What a rule may look at. `configured`: the settings are those of the engine that will run it."""

    definition: Definition
    plugins: Plugins
    languages: Mapping[str, Language]
    settings: JourneySettings = field(default_factory=JourneySettings)
    configured: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """`key`: the name at the path is meant, not what stands there. `code` and `severity` are the rule's own unless a
    plugin has its own."""

    path: Path
    message: str
    suggestion: str = ""
    key: bool = False
    code: str | None = None
    severity: Severity | None = None


Find: TypeAlias = Callable[[Checking], Iterable[Finding]]


@dataclass(frozen=True, slots=True)
class Rule:
    code: str
    find: Find
    severity: Severity = Severity.ERROR
