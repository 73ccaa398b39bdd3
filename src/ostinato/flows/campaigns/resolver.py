"""Call the resolver of a segment. A resolver is a function of an agent that returns the external ids of users."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ostinato.errors import OstinatoError, check_text, describe_exception, short_repr
from ostinato.flows.campaigns.definition import CampaignDefinition
from ostinato.flows.definition import Agent, check_arguments
from ostinato.flows.errors import SegmentFailed
from ostinato.when.instants import Micros, to_datetime

_RESOLVER = 300.0  # seconds


@dataclass(frozen=True, slots=True)
class SegmentContext:
    """The first argument of a resolver, the function that returns the users of a segment."""

    agent: str
    namespace: str
    now: datetime


async def resolve_names(
    agent: Agent | None, definition: CampaignDefinition, namespace: str, now: Micros
) -> AsyncIterator[str]:
    """Yield the external ids that the segment's resolver returns.

    Raises `SegmentFailed` if the resolver fails or takes too long. Raises OstinatoError if this process does not have
    the resolver, or if the resolver returns something that is not an external id.
    """
    segment = definition.segment
    resolver = None if agent is None else agent.segments.get(segment.resolver or "")
    if resolver is None:
        raise OstinatoError(f"agent {definition.agent!r} has no segment {segment.resolver!r} in this process")
    arguments = check_arguments(resolver.arguments, segment.params, f"segment {segment.resolver!r}")
    context = SegmentContext(definition.agent, namespace, to_datetime(now))
    place = f"segment {segment.resolver!r}"
    try:
        async with asyncio.timeout(_RESOLVER):
            async for name in _call_resolver(resolver.function, context, arguments, place):
                check_text(name, f"{place}: an external id")
                yield name
    except TimeoutError:
        raise SegmentFailed(f"{place} took more than {_RESOLVER:g} s") from None


async def _call_resolver(
    function: Callable[..., Any], context: SegmentContext, arguments: Mapping[str, Any], place: str
) -> AsyncIterator[Any]:
    """Yield what a resolver returns or yields. Raises `SegmentFailed` if it fails or does not return an iterable."""
    try:
        if inspect.isasyncgenfunction(function):
            async for name in function(context, **arguments):
                yield name
            return
        if inspect.iscoroutinefunction(function):
            names = await function(context, **arguments)
        else:
            names = await asyncio.to_thread(function, context, **arguments)
        if isinstance(names, Iterable) and not isinstance(names, str):
            for name in names:
                yield name
            return
    except (Exception, KeyboardInterrupt, SystemExit) as problem:
        raise SegmentFailed(f"{place} raised {describe_exception(problem)}") from problem
    raise SegmentFailed(f"{place} returned {short_repr(names)}, which is not a list of external ids")
