"""Instances that are on no record: an API's call, and the guard that is asked whether somebody may look."""

from __future__ import annotations

from ostinato.journeys.evaluating import Tools
from ostinato.journeys.language import Definition
from ostinato.journeys.machine.decision import Decision
from ostinato.journeys.machine.model import Instance
from ostinato.journeys.plugins import Request
from ostinato.journeys.segments import Segment, Work


async def played(tools: Tools, definition: Definition, decided: Decision, request: Request | None) -> Instance:
    """From its beginning to its end, or to where it would wait; nothing of it is written."""
    segment: Segment

    async def nowhere(work: Work, rests: bool) -> Instance | None:
        return segment.instance

    segment = Segment(tools, definition, decided.instance, request, nowhere)
    return await segment.go()
