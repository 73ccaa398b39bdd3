"""Rules about tasks: that their kind is there, and what the kind itself says."""

from __future__ import annotations

from collections.abc import Iterator

from ostinato.journeys.checks.rules import Checking, Finding, Rule
from ostinato.journeys.language.states import Task


def registered(checking: Checking) -> Iterator[Finding]:
    """A task's kind is a plugin of this engine."""
    for _, _, state in checking.definition.states():
        if isinstance(state, Task) and state.plugin not in checking.plugins.kinds:
            hint = checking.plugins.nearest(*state.plugin)
            yield Finding((*state.path, "kind"), f"there is no task kind {state.kind!r}", hint)


def settings(checking: Checking) -> Iterator[Finding]:
    """What the plugin says about the task's settings, under the plugin's own codes."""
    for _, _, state in checking.definition.states():
        if isinstance(state, Task) and (kind := checking.plugins.kinds.get(state.plugin)):
            for one in kind.check(state.settings, checking.definition):
                path = (*state.path, *one.path)
                yield Finding(path, one.message, one.suggestion, code=one.code, severity=one.severity, needs=one.needs)


RULES = (Rule("task-unknown", registered), Rule("task-settings", settings))
