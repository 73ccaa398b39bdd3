"""Collect the schedules that code declares with `@app.schedule`. A node applies them when it starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ostinato.engine.log import log
from ostinato.errors import OstinatoError
from ostinato.schedules.declared.plan import CODE, Plan
from ostinato.schedules.model import Schedule
from ostinato.start_checks import is_same_function

_LOGGED = 20


@dataclass(frozen=True, slots=True)
class ScheduleDeclaration:
    function: Callable[..., Any]
    name: str | None
    options: Mapping[str, Any]


@dataclass(slots=True)
class Declarations:
    """The declarations of an app. `app` is a name for this app, needed if several apps share a store."""

    name_of: Callable[[Callable[..., Any]], str] = lambda function: function.__name__
    app: str | None = None
    declared: list[ScheduleDeclaration] = field(default_factory=list)

    @property
    def origin(self) -> str:
        return CODE if self.app is None else f"{CODE}:{self.app}"

    def add(self, function: Callable[..., Any], name: str | None, options: Mapping[str, Any]) -> None:
        for declaration in list(self.declared):
            same = (
                declaration.name == name
                if name
                else declaration.name is None and is_same_function(declaration.function, function)
            )
            if not same:
                continue
            if declaration.function is function or not is_same_function(declaration.function, function):
                raise self._duplicate(name or self.name_of(function))
            self.declared.remove(declaration)  # its module was imported again
        self.declared.append(ScheduleDeclaration(function, name, options))

    def drafts(self, draft: Callable[..., Schedule]) -> list[Schedule]:
        """Return the declared schedules as drafts. Call this when the node starts: job names may change until then."""
        drafts: dict[str, Schedule] = {}
        for declaration in self.declared:
            name = declaration.name or self.name_of(declaration.function)
            if name in drafts:
                raise self._duplicate(name)
            drafts[name] = draft(name, action=declaration.function, origin=self.origin, **declaration.options)
        return list(drafts.values())

    @staticmethod
    def _duplicate(name: str) -> OstinatoError:
        return OstinatoError(f"two schedules are called {name!r}; give one of them name=… in its @app.schedule")


def log_plan(plan: Plan, origin: str) -> None:
    if plan.create or plan.update:
        log.info(
            f"schedules declared in code: {len(plan.create)} created, {len(plan.update)} updated",
            action="schedules_declared",
            created=[step.name for step in plan.create][:_LOGGED],
            updated=[step.name for step in plan.update][:_LOGGED],
        )
    if plan.missing:
        fate = "they were closed" if plan.pruned else "they go on; prune or delete them if they should not"
        log.warning(
            f"schedules of {origin} are no longer declared: {len(plan.missing)}; {fate}",
            action="schedules_missing",
            origin=origin,
            schedules=[step.name for step in plan.missing][:_LOGGED],
        )
    for step in plan.conflicts[:_LOGGED]:
        log.error(
            f"schedule {step.name} belongs to {step.owner} and is left as it is; declare it in one place",
            action="schedule_declared_elsewhere",
            schedule=step.name,
            owner=step.owner,
        )
