"""The read guard: a subjourney that is asked, with a copy of the context and the request, whether it may be read."""

from __future__ import annotations

from collections.abc import Mapping

from ostinato.journeys.evaluating import Tools
from ostinato.journeys.language import Definition
from ostinato.journeys.machine.advance import begin
from ostinato.journeys.machine.model import Instance
from ostinato.journeys.memory import played
from ostinato.journeys.plugins import Request


async def may_read(tools: Tools, definition: Definition, instance: Instance, request: Request | None) -> bool:
    """Only a guard that says so lets somebody read; one that fails, waits or says anything else does not."""
    guard = definition.spec.access.read
    if guard is None:
        return True
    graph = definition.spec.subjourneys.get(guard.guard_ref)
    if graph is None:
        return False
    decided = begin(definition, instance.id, instance.context, tools.now(), graph=graph.path, scheduled=True)
    ended = (await played(tools, definition, decided, request)).ending
    said = None if ended is None or not ended.succeeded else ended.output
    return isinstance(said, Mapping) and said.get("allowed") is True
