"""Evaluate read guards: subjourneys that decide whether a caller may read an instance or a binding."""

from __future__ import annotations

from collections.abc import Mapping

from ostinato.engine.log import log
from ostinato.journeys.language import Definition
from ostinato.journeys.machine.advance import begin
from ostinato.journeys.machine.model import Termination
from ostinato.journeys.runtime.in_memory import run_in_memory
from ostinato.journeys.runtime.perform_effects import JourneyRuntime
from ostinato.journeys.task_kind import Request
from ostinato.model import Json

_MOST_WARNED = 1000


async def may_read(
    runtime: JourneyRuntime, definition: Definition, id: str, context: Mapping[str, Json], request: Request | None
) -> bool:
    """Return whether the definition's read guard lets the caller read the run or binding `id`. If there is no guard,
    return True. `context` is the context with which the guard begins.

    The guard is a subjourney. It lets the caller read only if its output is `{allowed: true}`. It refuses with the
    output `{allowed: false}` or with a `fail` state. Any other end refuses, too, and a warning is logged, because the
    guard has a mistake.
    """
    guard = definition.spec.access.read
    if guard is None:
        return True
    graph = definition.spec.subjourneys.get(guard.guard_ref)
    if graph is None:
        return False
    decision = begin(definition, id, context, runtime.now(), graph=graph.path, scheduled=True)
    ending = (await run_in_memory(runtime, definition, decision, request)).ending
    output = None if ending is None or not ending.succeeded else ending.output
    allowed = output.get("allowed") if isinstance(output, Mapping) else None
    if not isinstance(allowed, bool) and (ending is None or ending.kind is not Termination.FAIL):
        _warn(runtime, definition, id, guard.guard_ref)
    return allowed is True


def _warn(runtime: JourneyRuntime, definition: Definition, id: str, guard: str) -> None:
    """Log a warning that a read guard gave no valid answer. Warn only once for each version of a definition."""
    version = runtime.namespace, definition.name, definition.version
    if version in runtime.silent_guards:
        return
    if len(runtime.silent_guards) >= _MOST_WARNED:
        runtime.silent_guards.clear()
    runtime.silent_guards.add(version)
    log.warning(
        f"the read guard {guard!r} of journey {definition.name!r} did not answer {{allowed: true}} or "
        "{allowed: false}, so the caller may not read",
        action="guard_without_answer",
        journey=definition.name,
        version=definition.version,
        run=id,
    )
