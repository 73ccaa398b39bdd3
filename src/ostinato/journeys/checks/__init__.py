"""The rules beyond the shape. Each is a function that yields what it finds, in a table with its code. A rule sees one
definition and knows nothing of the others; a new one is a function in the module of its subject and a line in its
`RULES`."""

from __future__ import annotations

from collections.abc import Mapping, Set

from ostinato.journeys.checks import (
    composition,
    expressions,
    external,
    graph,
    loops,
    policies,
    schedules,
    schemas,
    surface,
    tasks,
)
from ostinato.journeys.checks.parts import parts, sites
from ostinato.journeys.checks.rules import Checking, Rule
from ostinato.journeys.expressions.contract import Language
from ostinato.journeys.language import Definition
from ostinato.journeys.plugins import Plugins
from ostinato.journeys.problems import Problem, in_order, problem
from ostinato.journeys.settings import JourneySettings
from ostinato.schedules.marked import Marked, Path

_SUBJECTS = (graph, loops, external, composition, expressions, schemas, schedules, surface, policies, tasks)
RULES: tuple[Rule, ...] = tuple(rule for subject in _SUBJECTS for rule in subject.RULES)


def check(
    definition: Definition,
    positions: Marked,
    plugins: Plugins,
    languages: Mapping[str, Language] | None = None,
    settings: JourneySettings | None = None,
    unread: Set[Path] = frozenset(),
) -> list[Problem]:
    """Everything that is wrong with a definition beyond its shape, in the order of its lines. With `settings`, also
    what it lacks on the engine that has them. With `unread` it is a draft's, and nothing is said that a part which
    could not be read explains."""
    every = tuple(parts(definition))
    checking = Checking(
        definition,
        every,
        tuple(sites(every)),
        plugins,
        plugins.languages if languages is None else languages,
        settings or JourneySettings(),
        settings is not None,
        unread,
    )
    found = []
    for rule in RULES:
        for one in rule.find(checking):
            if not (checking.knows(one.path) and (one.needs is None or checking.knows(one.needs))):
                continue
            code, severity = one.code or rule.code, one.severity or rule.severity
            found.append(
                problem(positions, code, one.path, one.message, one.suggestion, key=one.key, severity=severity)
            )
    return in_order(found)
