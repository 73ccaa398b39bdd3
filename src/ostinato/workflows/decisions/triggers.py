"""Decide which handler of a workflow runs next, and when to check again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ostinato.when.instants import Micros
from ostinato.workflows.definition import WorkflowDefinition
from ostinato.workflows.model import HandlerState, HandlerType, Policy


def choose(
    definition: WorkflowDefinition, handlers: Iterable[HandlerState], oldest: Mapping[str, str], now: Micros
) -> HandlerState | None:
    """Choose the handler to run now, or None if none is due. `oldest` has the id of each topic's oldest pending event.

    Consumers come before producers. Among the due consumers, the one with the oldest pending event comes first. Among
    the due producers, the one that became due first comes first.
    """
    consumers: list[tuple[bool, str, str, HandlerState]] = []
    producers: list[tuple[Micros, str, HandlerState]] = []
    for handler in handlers:
        due = due_at(handler, now)
        if handler.name not in definition.handlers or due is None or due > now:
            continue
        if handler.type is HandlerType.PRODUCER:
            producers.append((due, handler.name, handler))
        else:
            event = oldest_event(definition, handler.name, oldest)
            consumers.append((event is None, event or "", handler.name, handler))
    if consumers:
        return min(consumers)[-1]
    return min(producers)[-1] if producers else None


def due_at(handler: HandlerState, now: Micros) -> Micros | None:
    """Return when a handler is due, or None if a producer has no more times or a consumer waits for an event."""
    if handler.type is HandlerType.PRODUCER:
        return handler.next_run
    times = [handler.wake_at] if handler.wake_at is not None else []
    if handler.dirty:
        times.append(max(now, handler.not_before or now))
    return min(times, default=None)


def next_look(definition: WorkflowDefinition, handlers: Iterable[HandlerState], now: Micros) -> Micros | None:
    """Return the earliest time at which a handler is due if no more events arrive, or None if there is no such time."""
    times = [due_at(handler, now) for handler in handlers if handler.name in definition.handlers]
    return min((time for time in times if time is not None), default=None)


def oldest_event(definition: WorkflowDefinition, consumer: str, oldest: Mapping[str, str]) -> str | None:
    """Return the id of the oldest pending event in the topics of a consumer, or None if no event is pending. `oldest`
    has the id of each topic's oldest pending event."""
    topics = next((one.subscribes for one in definition.consumers if one.name == consumer), ())
    return min((oldest[topic] for topic in topics if topic in oldest), default=None)


class Wake(NamedTuple):
    """When a consumer runs again: the new values for the consumer's `HandlerState`."""

    wake_at: Micros | None
    dirty: bool
    not_before: Micros | None


def after_commit(
    *,
    wake_at: Micros | None,
    reserved: int,
    events_remain: bool,
    new_events: bool,
    published_to_itself: bool,
    policy: Policy,
    now: Micros,
) -> Wake:
    """Return when a consumer runs again after one of its runs has committed.

    - If the run reserved events, the consumer runs again at once if `events_remain` is true. Otherwise it waits for an
      event.
    - If the run reserved no events, the consumer runs again if `new_events` is true. Otherwise it waits for an event.
      Events start it at once, or, if `published_to_itself` is true, only after `policy.empty_gap`, so that the consumer
      does not keep itself busy.
    - In both cases, the consumer runs at `wake_at` at the latest, unless `wake_at` is None.
    """
    if reserved:
        return Wake(wake_at, events_remain, None)
    return Wake(wake_at, new_events, now + policy.empty_gap if published_to_itself else None)


def clamp_wake(asked: Micros | None, policy: Policy, now: Micros) -> Micros | None:
    if asked is None:
        return None
    return max(now + policy.wake_min, min(asked, now + policy.wake_max))
