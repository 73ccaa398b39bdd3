"""The rules beyond the shape. Each is a function that yields what it finds, in a table with its code. A rule sees one
definition and knows nothing of the others; a new one is a function in the module of its subject and a line in its
`RULES`."""

from __future__ import annotations

from collections.abc import Mapping

from ostinato.journeys.checks import graph, tasks
from ostinato.journeys.checks.rules import Checking, Rule
from ostinato.journeys.expressions.contract import Language
from ostinato.journeys.language import Definition
from ostinato.journeys.plugins import Plugins
from ostinato.journeys.problems import Problem, in_order, problem
from ostinato.schedules.marked import Marked

RULES: tuple[Rule, ...] = (*graph.RULES, *tasks.RULES)


def check(
    definition: Definition, positions: Marked, plugins: Plugins, languages: Mapping[str, Language] | None = None
) -> list[Problem]:
    """Everything that is wrong with a definition whose shape is right, in the order of its lines."""
    known = plugins.languages if languages is None else languages
    checking = Checking(definition, plugins, known)
    found = []
    for rule in RULES:
        for one in rule.find(checking):
            code, severity = one.code or rule.code, one.severity or rule.severity
            found.append(
                problem(positions, code, one.path, one.message, one.suggestion, key=one.key, severity=severity)
            )
    return in_order(found)
