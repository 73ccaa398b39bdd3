"""The read guard: a subjourney that is asked, with a copy of the context and the request, whether it may be read."""

from __future__ import annotations

from collections.abc import Mapping

from ostinato.engine.log import log
from ostinato.journeys.evaluating import Tools
from ostinato.journeys.language import Definition
from ostinato.journeys.machine.advance import begin
from ostinato.journeys.machine.model import Instance, Termination
from ostinato.journeys.memory import played
from ostinato.journeys.plugins import Request

_MOST_WARNED = 1000


async def may_read(tools: Tools, definition: Definition, instance: Instance, request: Request | None) -> bool:
    """Only a guard that says so lets somebody read; one that fails, waits or says anything else does not. A `fail` is a
    refusal like `{allowed: false}`; anything else is a mistake, and logged."""
    guard = definition.spec.access.read
    if guard is None:
        return True
    graph = definition.spec.subjourneys.get(guard.guard_ref)
    if graph is None:
        return False
    decided = begin(definition, instance.id, instance.context, tools.now(), graph=graph.path, scheduled=True)
    ended = (await played(tools, definition, decided, request)).ending
    said = None if ended is None or not ended.succeeded else ended.output
    allowed = said.get("allowed") if isinstance(said, Mapping) else None
    if not isinstance(allowed, bool) and (ended is None or ended.kind is not Termination.FAIL):
        _warn(tools, definition, instance, guard.guard_ref)
    return allowed is True


def _warn(tools: Tools, definition: Definition, instance: Instance, guard: str) -> None:
    """Say that a guard gives no answer, once for each version: it is asked at every look."""
    version = tools.namespace, definition.name, definition.version
    if version in tools.silent_guards:
        return
    if len(tools.silent_guards) >= _MOST_WARNED:
        tools.silent_guards.clear()
    tools.silent_guards.add(version)
    log.warning(
        f"the read guard {guard!r} of journey {definition.name!r} did not answer {{allowed: true}} or "
        "{allowed: false}, so nobody may read",
        action="guard_without_answer",
        journey=definition.name,
        version=definition.version,
        run=instance.id,
    )
