"""Build the runs of a function's children: functions, jobs, and runs of other extensions (`Way`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ostinato.engine.jobs import Declaration, Handler
from ostinato.engine.ways import Host
from ostinato.errors import NotFound, OstinatoError, did_you_mean
from ostinato.functions.definition import FunctionCodes, as_function
from ostinato.functions.model import KIND
from ostinato.model import Run, Timer
from ostinato.schedules.actions import ActionKind, check_options, read_action
from ostinato.schedules.model import JOB
from ostinato.start_checks import RunBuilder
from ostinato.when.instants import Micros

OPTIONS = ("queue", "priority", "deadline", "serial_key", "concurrency", "parent", "actor")


def check_function_options(options: Mapping[str, Any]) -> None:
    """Raise OstinatoError for an option that runs of functions do not take."""
    for option in options:
        if option in ("retry", "timeout", "at_most_once"):
            raise OstinatoError(f"a function has no {option!r}; its steps have: step(function, {option}=…)")
        if option not in OPTIONS:
            hint = did_you_mean(option, OPTIONS) or f"it takes {', '.join(OPTIONS)}"
            raise OstinatoError(f"a start of a function has no option {option!r}; {hint}")


def function_run(
    name: str,
    definition: Handler | Declaration | None,
    input: Mapping[str, Any] | None,
    options: Mapping[str, Any],
    *,
    id: str,
    key: str | None,
    at: Any,
    namespace: str,
    actor: str | None,
    now: Micros,
) -> tuple[Run, Timer | None]:
    """Build a run of a function, and the timer of its deadline. The timer is None if there is no deadline. Raises
    OstinatoError if the input or an option is invalid."""
    check_function_options(options)
    try:
        builder = RunBuilder(name, definition, at, options, namespace=namespace, actor=actor, now=now)
        run, deadline = builder.run(id, input, key)
    except OstinatoError as problem:
        raise as_function(problem) from None
    return replace(run, kind=KIND), deadline


@dataclass(frozen=True, slots=True)
class ChildStart:
    """A child whose arguments are checked, but which is not started yet. The method `run` returns two values: the
    child's run, and the timer of its deadline. The timer is None if the child has no deadline."""

    host: Host
    name: str
    kind: str
    definition: Handler | Declaration | None
    input: Mapping[str, Any] | None
    options: Mapping[str, Any]

    def run(self, now: Micros, parent: Run, key: str) -> tuple[Run, Timer | None]:
        id = self.host.new_id(now)
        options = {**self.options, "parent": parent.id}
        if self.kind == KIND:
            return function_run(
                self.name,
                self.definition,
                self.input,
                options,
                id=id,
                key=key,
                at=None,
                namespace=parent.namespace,
                actor=parent.actor,
                now=now,
            )
        if self.kind == JOB:
            builder = RunBuilder(
                self.name, self.definition, None, options, namespace=parent.namespace, actor=parent.actor, now=now
            )
            return builder.run(id, self.input, key)
        kinds = _action_kinds(self.host)
        action = read_action({self.kind: self.name, "input": self.input, **self.options}, kinds)
        check_options(action, kinds[self.kind])
        run = kinds[self.kind].make_run(action, parent.namespace)
        child = replace(run, id=id, root_id=id, key=key, due=now, created=now, actor=parent.actor, parent_id=parent.id)
        return child, None


def _action_kinds(host: Host) -> dict[str, ActionKind]:
    return {name: kind for name, kind in host.actions.items() if isinstance(kind, ActionKind)}


@dataclass(frozen=True, slots=True)
class Children:
    """Checks the arguments of `ctx.start`. Calling this object returns the child to start, as a `ChildStart`."""

    host: Host
    codes: FunctionCodes

    def named(self, target: Callable[..., Any]) -> tuple[str, str]:
        """Return the name and the kind of a job or function. `target` is the Python function itself. Raises `NotFound`
        if it is not declared."""
        handlers = self.host.engine().handlers.values()
        job = next((handler for handler in handlers if handler.function is target), None)
        return (job.name, JOB) if job is not None else (self.codes.named(target), KIND)

    def __call__(
        self, target: str | Callable[..., Any], kind: str, input: Mapping[str, Any] | None, options: Mapping[str, Any]
    ) -> ChildStart:
        """Check the arguments of `ctx.start`, and return the child to start. If `target` is a name and `kind` is empty,
        the name means a function of this app. If the app has no such function, the name means a job.

        Raises `NotFound` if there is no such job, or if `target` is a Python function that is not declared. Raises
        `OstinatoError` if there is no such kind.
        """
        engine = self.host.engine()
        if not isinstance(target, str):
            target, kind = self.named(target)
        if not kind:
            kind = KIND if target in self.codes else JOB
        definition: Handler | Declaration | None = None
        if kind == KIND:
            code = self.codes.newest(target)
            definition = None if code is None else code.handler
        elif kind == JOB:
            definition = engine.find_job(target)
            if definition is None:
                names = [*(code.name for code in self.codes), *engine.handlers, *engine.declared]
                hint = did_you_mean(target, names) or "name a function or a job, or say kind='journey'"
                raise NotFound(f"there is no function or job {target!r}; {hint}")
        elif kind not in self.host.actions:
            kinds = (KIND, JOB, *(name for name in self.host.actions if name != KIND))
            raise OstinatoError(f"ctx.start(kind={kind!r}): there is {', '.join(kinds)}")
        return ChildStart(self.host, target, kind, definition, input, options)
