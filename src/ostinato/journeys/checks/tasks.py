"""Check that the kind of each task exists and accepts the task's settings."""

from __future__ import annotations

from collections.abc import Iterator

from ostinato.journeys.checks.rules import CheckContext, Rule, RuleFinding
from ostinato.journeys.language.states import Task


def registered(checking: CheckContext) -> Iterator[RuleFinding]:
    for _, _, state in checking.definition.states_of(Task):
        if state.plugin not in checking.plugins.kinds:
            hint = checking.plugins.suggest_kind(*state.plugin)
            yield RuleFinding((*state.path, "kind"), f"there is no task kind {state.kind!r}", hint)


def settings(checking: CheckContext) -> Iterator[RuleFinding]:
    """Report the faults that `TaskKind.check` finds in the settings of each task."""
    for _, _, state in checking.definition.states_of(Task):
        kind = checking.plugins.kinds.get(state.plugin)
        for fault in kind.check(state.settings, checking.definition) if kind else ():
            about = (*state.path, *fault.path), fault.message, fault.suggestion
            yield RuleFinding(*about, code=fault.code, severity=fault.severity, needs=fault.needs)


RULES = (Rule("task-unknown", registered), Rule("task-settings", settings))
