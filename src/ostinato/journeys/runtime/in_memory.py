"""Run instances in memory, without storing them, for calls of APIs and for read guards."""

from __future__ import annotations

from ostinato.journeys.language import Definition
from ostinato.journeys.machine.decision import Decision
from ostinato.journeys.machine.model import Instance
from ostinato.journeys.runtime.perform_effects import JourneyRuntime
from ostinato.journeys.runtime.run_instance import DecisionBatch, Segment
from ostinato.journeys.task_kind import Request


async def run_in_memory(
    runtime: JourneyRuntime, definition: Definition, decision: Decision, request: Request | None
) -> Instance:
    """Run an instance until it ends or would wait. Nothing is stored."""
    segment: Segment

    async def nowhere(batch: DecisionBatch, rests: bool) -> Instance | None:
        return segment.instance

    segment = Segment(runtime, definition, decision.instance, request, nowhere)
    return await segment.run()
