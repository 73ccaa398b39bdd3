"""Schedules declared in code: what stands over the functions of an app, kept until a node starts and makes the store
say the same. Nothing here touches a store."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ostinato.engine.log import log
from ostinato.errors import OstinatoError
from ostinato.schedules.declared import CODE, Plan
from ostinato.schedules.model import Schedule
from ostinato.starting import same_place

_TOLD = 20


@dataclass(frozen=True, slots=True)
class Declaration:
    function: Callable[..., Any]
    name: str | None
    given: Mapping[str, Any]


@dataclass(slots=True)
class Declarations:
    """`app` is the name that tells this app's schedules from those of other apps on the same store."""

    name_of: Callable[[Callable[..., Any]], str] = lambda function: function.__name__
    app: str | None = None
    found: list[Declaration] = field(default_factory=list)

    @property
    def origin(self) -> str:
        return CODE if self.app is None else f"{CODE}:{self.app}"

    def add(self, function: Callable[..., Any], name: str | None, given: Mapping[str, Any]) -> None:
        for one in list(self.found):
            same = one.name == name if name else one.name is None and same_place(one.function, function)
            if not same:
                continue
            if one.function is function or not same_place(one.function, function):
                raise self._twice(name or self.name_of(function))
            self.found.remove(one)  # its module was imported once more
        self.found.append(Declaration(function, name, given))

    def drafts(self, draft: Callable[..., Schedule]) -> list[Schedule]:
        """Each as a schedule. Only now is it sure what the jobs are called."""
        found: dict[str, Schedule] = {}
        for one in self.found:
            name = one.name or self.name_of(one.function)
            if name in found:
                raise self._twice(name)
            found[name] = draft(name, action=one.function, origin=self.origin, **one.given)
        return list(found.values())

    @staticmethod
    def _twice(name: str) -> OstinatoError:
        return OstinatoError(f"two schedules are called {name!r}; give one of them name=… in its @app.schedule")


def tell(plan: Plan, origin: str) -> None:
    """What came of the declarations when a node started."""
    if plan.create or plan.update:
        log.info(
            f"schedules declared in code: {len(plan.create)} created, {len(plan.update)} updated",
            action="schedules_declared",
            created=[step.name for step in plan.create][:_TOLD],
            updated=[step.name for step in plan.update][:_TOLD],
        )
    if plan.missing:
        fate = "they were closed" if plan.pruned else "they go on; prune or delete them if they should not"
        log.warning(
            f"schedules of {origin} are no longer declared: {len(plan.missing)}; {fate}",
            action="schedules_missing",
            origin=origin,
            schedules=[step.name for step in plan.missing][:_TOLD],
        )
    for step in plan.taken[:_TOLD]:
        log.error(
            f"schedule {step.name} belongs to {step.owner} and is left as it is; declare it in one place",
            action="schedule_declared_elsewhere",
            schedule=step.name,
            owner=step.owner,
        )
