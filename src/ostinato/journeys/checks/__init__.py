"""Check the rules that a definition must follow beyond its shape.

A rule is a function that gets one definition and yields a finding for each place that breaks the rule. To add a rule,
write a function in the module of its subject, and list it in `RULES`.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from ostinato.documents import Path, Positions
from ostinato.journeys.checks import (
    branches_and_subjourneys,
    expressions,
    graph,
    loops,
    policies,
    schedules,
    schemas,
    surface,
    tasks,
    waits,
)
from ostinato.journeys.checks.parts import parts, sites
from ostinato.journeys.checks.rules import CheckContext, Rule
from ostinato.journeys.expressions.contract import Language
from ostinato.journeys.language import Definition
from ostinato.journeys.problems import JourneyProblem, problem_at, sort_problems
from ostinato.journeys.settings import JourneySettings
from ostinato.journeys.task_kind import Plugins

_SUBJECTS = (graph, loops, waits, branches_and_subjourneys, expressions, schemas, schedules, surface, policies, tasks)
RULES: tuple[Rule, ...] = tuple(rule for subject in _SUBJECTS for rule in subject.RULES)


def check(
    definition: Definition,
    positions: Positions,
    plugins: Plugins,
    languages: Mapping[str, Language] | None = None,
    settings: JourneySettings | None = None,
    unread: Set[Path] = frozenset(),
) -> list[JourneyProblem]:
    """Return all problems of a definition, in the order of its lines.

    If `settings` is not None, also report what the settings lack, such as a required value of `platform.config`.
    `unread` is the set of the paths of values that could not be read. Problems that an unread value may have caused are
    left out.
    """
    every = tuple(parts(definition))
    languages = plugins.languages if languages is None else languages
    limits = settings or JourneySettings()
    expressions_ = tuple(sites(every))
    checking = CheckContext(definition, every, expressions_, plugins, languages, limits, settings is not None, unread)
    problems = []
    for rule in RULES:
        for finding in rule.find(checking):
            if not (checking.knows(finding.path) and (finding.needs is None or checking.knows(finding.needs))):
                continue
            code, severity = finding.code or rule.code, finding.severity or rule.severity
            what = code, finding.path, finding.message, finding.suggestion
            problems.append(problem_at(positions, *what, key=finding.key, severity=severity))
    return sort_problems(problems)
