"""Decide which handler of a workflow runs next, and when to check again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ostinato.when.instants import Micros
from ostinato.workflows.definition import Definition
from ostinato.workflows.model import HandlerState, HandlerType, Policy


def choose(
    definition: Definition, handlers: Iterable[HandlerState], oldest: Mapping[str, str], now: Micros
) -> HandlerState | None:
    """Choose the handler to run now. `oldest` maps a topic to the id of its oldest pending event; ids sort by time.

    Consumers come before producers. Among the due consumers, the one with the oldest pending event comes first. Among
    the due producers, the one that became due first comes first. Returns None if no handler is due.
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
    """Return when a handler is due. Returns None if it has no such time: a producer has no more times, or a consumer
    waits for an event."""
    if handler.type is HandlerType.PRODUCER:
        return handler.next_run
    times = [handler.wake_at] if handler.wake_at is not None else []
    if handler.dirty:
        times.append(max(now, handler.not_before or now))
    return min(times, default=None)


def next_look(definition: Definition, handlers: Iterable[HandlerState], now: Micros) -> Micros | None:
    """Return when the next handler is due, provided that no event arrives before. Returns None if no handler has a due
    time."""
    times = [due_at(handler, now) for handler in handlers if handler.name in definition.handlers]
    return min((time for time in times if time is not None), default=None)


def oldest_event(definition: Definition, consumer: str, oldest: Mapping[str, str]) -> str | None:
    """Return the id of the oldest pending event that a consumer could process, or None."""
    topics = next((one.subscribes for one in definition.consumers if one.name == consumer), ())
    return min((oldest[topic] for topic in topics if topic in oldest), default=None)


class Wake(NamedTuple):
    """Says when a consumer runs again. The fields are the new values for the consumer's `HandlerState`."""

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
    """Return when a consumer runs again after its run has committed.

    - If the run reserved events: at once if `events_remain`, else at the next event.
    - If the run reserved no events: at once if `new_events`, else at the next event.
    - If the run reserved no events and `published_to_itself`: events start the next run only after `Policy.empty_gap`.
    - In all cases: at `wake_at` at the latest, if `wake_at` is set.
    """
    if reserved:
        return Wake(wake_at, events_remain, None)
    return Wake(wake_at, new_events, now + policy.empty_gap if published_to_itself else None)


def clamp_wake(asked: Micros | None, policy: Policy, now: Micros) -> Micros | None:
    """Limit a wake time to the bounds of the policy."""
    if asked is None:
        return None
    return max(now + policy.wake_min, min(asked, now + policy.wake_max))
