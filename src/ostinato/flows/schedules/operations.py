"""Create, change and cancel schedules of agents. Each function is one transaction, or a part of one.

Each schedule of an agent is stored twice: as a row in the table of agents' schedules, and as a schedule of the engine,
which fires at the due times. Both are always changed in the same transaction.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import orjson

from ostinato.engine.rows import audit
from ostinato.errors import Conflict, NotFound
from ostinato.flows.errors import DefinitionError
from ostinato.flows.schedules.companion import COMPANION_NAME
from ostinato.flows.schedules.definition import AgentScheduleDefinition, SchedulerSettings
from ostinato.flows.schedules.rows import (
    StoredSchedule,
    place_of_stored,
    read_stored,
    statement,
    stored_row,
)
from ostinato.flows.store import write_events
from ostinato.flows.turns import TransactionContext
from ostinato.functions.model import KIND as FUNCTION
from ostinato.schedules.actions import INPUT, Maker
from ostinato.schedules.decisions.due_times import next_time
from ostinato.schedules.model import Schedule, ScheduleAction
from ostinato.schedules.operations import edit
from ostinato.schedules.rows import event_row, id_of, read_anyway
from ostinato.store.contract import Operation, Row, sql
from ostinato.when import Spec, rules_in_force
from ostinato.when.instants import Micros, on_clock

OCCURRENCE = "agent-schedule"  # the durable function that a due time starts
DISABLED = "the agent's scheduler is not enabled"
_BEFORE = 10  # the priority of a turn for one user, higher than that of campaigns


class VersionMismatch(edit.TokenMismatch):
    """Raised if an agent's schedule does not have the version that the caller expects. `current` is the version that
    the schedule has."""

    def __init__(self, id: str, expected: int, current: int) -> None:
        words = f"schedule {id!r} has version {current}, not {expected}; read it again and decide again"
        Conflict.__init__(self, words)
        self.current = current


@dataclass(frozen=True, slots=True)
class Scheduler:
    """The context of the transactions in this module. `maker` builds the runs of schedules."""

    place: TransactionContext
    zone: str
    settings: SchedulerSettings
    maker: Maker

    def call(self, name: str, verb: str) -> edit.Call:
        place = self.place
        return edit.Call(
            namespace=place.namespace,
            name=name,
            verb=verb,
            request="",
            now=place.now,
            maker=self.maker,
            new_id=lambda: place.new_id(place.now),
            actor=place.actor,
        )


def engine_name(agent: str, id: str) -> str:
    """Return the name of the engine's schedule that fires the agent's schedule `id`."""
    return f"agent/{agent}/{id}"


def facts_of(agent: str, id: str, definition: AgentScheduleDefinition) -> dict[str, Any]:
    """Return the facts about a schedule that all of its events contain."""
    facts = {
        "schedule_id": id,
        "agent": agent,
        "flow": definition.flow,
        "source": "scheduled",
        "trigger_type": definition.trigger_type,
        "target_kind": definition.target_kind,
        "user_external_id": definition.user,
        "session_id": definition.target.get("session_id"),
        "campaign_id": definition.target.get("campaign_id"),
    }
    return {name: value for name, value in facts.items() if value is not None}


def _action(scheduler: Scheduler, id: str, definition: AgentScheduleDefinition) -> ScheduleAction:
    place, most = scheduler.place, scheduler.settings.max_concurrent_runs
    input: dict[str, Any] = {"agent": place.agent, "schedule": id, "definition": definition.as_json()}
    options: dict[str, Any] = {"queue": place.queue}
    if definition.target_kind == "user":
        options["priority"] = _BEFORE
        if most is not None:
            options["concurrency"] = {"key": f"agent/{place.agent}/schedules", "most": most}
            input["bounded"] = True
    stored = {FUNCTION: OCCURRENCE, INPUT: input}
    return ScheduleAction(FUNCTION, stored, options, FUNCTION, facts_of(place.agent, id, definition))


def _stored(
    scheduler: Scheduler, id: str, origin: str, definition: AgentScheduleDefinition, engine_id: str
) -> StoredSchedule:
    place = scheduler.place
    return StoredSchedule(
        place.namespace,
        place.agent,
        id,
        engine_id,
        engine_name(place.agent, id),
        definition.flow,
        definition.target_kind,
        definition.user,
        definition.target.get("campaign_id"),
        orjson.dumps(definition.as_json()).decode(),
        definition.digest(scheduler.zone, scheduler.settings),
        scheduler.zone,
        scheduler.settings.digest,
        origin,
        held=0 if scheduler.settings.enabled else 1,
        created=place.now,
        updated=place.now,
        actor=place.actor,
    )


def check_run_at(scheduler: Scheduler, definition: AgentScheduleDefinition) -> None:
    """Raise DefinitionError if a new schedule would never run because its `run_at` has passed. A `run_at` in the past
    is accepted if the policy for missed due times still covers it."""
    run_at, now = definition.run_at, scheduler.place.now
    if run_at is not None and run_at <= now and not definition.covers(run_at, now, scheduler.settings):
        catch_up = "on_missed={'policy': 'catch_up', 'max_age_seconds': …} that reaches back to it"
        raise _has_passed(scheduler, definition, run_at, f", or {catch_up}")


def check_to_come(scheduler: Scheduler, definition: AgentScheduleDefinition) -> None:
    """Raise DefinitionError if the `run_at` of a changed definition has passed. Unlike `check_run_at`, accept no time
    in the past, because after an update a schedule never runs for such a time."""
    if definition.run_at is not None and definition.run_at <= scheduler.place.now:
        raise _has_passed(scheduler, definition, definition.run_at)


def _has_passed(
    scheduler: Scheduler, definition: AgentScheduleDefinition, run_at: Micros, or_else: str = ""
) -> DefinitionError:
    zone, now = definition.spec(scheduler.zone).tzinfo, scheduler.place.now
    words = f"trigger.run_at {on_clock(run_at, zone)} has passed; give a time after {on_clock(now, zone)}{or_else}"
    return DefinitionError(words, (("trigger", "run_at"), words))


def create(
    scheduler: Scheduler, id: str, origin: str, definition: AgentScheduleDefinition, *, again: bool = True
) -> Operation[StoredSchedule]:
    """Create a schedule, and return it.

    If the agent already has a schedule with this id, create nothing. If `again` is true, and the existing schedule has
    the same definition and the same origin, return the existing schedule. Otherwise raise `Conflict`.
    """
    place = scheduler.place
    wanted = _stored(scheduler, id, origin, definition, place.new_id(place.now))
    if not (yield statement("insert_agent_schedules", [stored_row(wanted)])):
        (row,) = yield statement("lock_agent_schedule", namespace=place.namespace, agent=place.agent, id=id)
        present = read_stored(row)
        if again and present.digest == wanted.digest and present.origin == origin:
            return present
        raise Conflict(f"agent {place.agent!r} has a schedule {id!r} already; update it instead")
    yield from _insert(scheduler, wanted, definition)
    return wanted


def _insert(scheduler: Scheduler, stored: StoredSchedule, definition: AgentScheduleDefinition) -> Operation[None]:
    """Insert the engine's schedule that fires the agent's schedule `stored`. A `run_at` in the past counts as a missed
    due time."""
    place = scheduler.place
    since = place.now
    if definition.run_at is not None and definition.run_at <= place.now:
        since = definition.run_at - 1
    schedule = Schedule(
        stored.engine_id,
        stored.name,
        definition.spec(scheduler.zone),
        definition.policies(scheduler.settings),
        _action(scheduler, stored.id, definition),
        place.namespace,
        paused=place.now if stored.held else None,
        notes=DISABLED if stored.held else "",
        reached=since,
        updated=since,
        created=place.now,
        zone_rules=rules_in_force().version,
        actor=place.actor,
        tags=(f"agent:{place.agent}",),
        companion=COMPANION_NAME,
    )
    schedule = replace(schedule, next=None if schedule.paused else next_time(schedule))
    events = yield from edit.insert_schedules([schedule], place.now, place.actor)
    yield from write_events(*events)


def load(scheduler: Scheduler, id: str) -> Operation[StoredSchedule]:
    """Lock a schedule and return it. Raises `NotFound` if the agent has no such schedule."""
    place = scheduler.place
    rows = yield statement("lock_agent_schedule", namespace=place.namespace, agent=place.agent, id=id)
    if not rows:
        raise unknown(place.agent, id)
    return read_stored(rows[0])


def unknown(agent: str, id: str) -> NotFound:
    return NotFound(f"agent {agent!r} has no schedule {id!r}")


def load_open(scheduler: Scheduler, id: str, version: int | None = None) -> Operation[StoredSchedule]:
    """Lock and return a schedule that is about to be changed. Raises `NotFound` if the agent has no such schedule,
    `Conflict` if it is canceled, and `VersionMismatch` if it does not have the expected `version`."""
    stored = yield from load(scheduler, id)
    if stored.status == "canceled":
        raise Conflict(f"schedule {id!r} of agent {stored.agent!r} is canceled; create another")
    if version is not None and version != stored.version:
        raise VersionMismatch(id, version, stored.version)
    return stored


def update(
    scheduler: Scheduler, stored: StoredSchedule, definition: AgentScheduleDefinition
) -> Operation[StoredSchedule]:
    """Change the definition of a locked schedule, and return the schedule. If the trigger or the zone changes, due
    times up to now are first processed with the old definition."""
    new = _stored(scheduler, stored.id, stored.origin, definition, stored.engine_id)
    changed = replace(
        new, status="active", held=stored.held, version=stored.version + 1, created=stored.created, reason=None
    )
    spec, policies = definition.spec(scheduler.zone), definition.policies(scheduler.settings)
    action = _action(scheduler, stored.id, definition)

    def redefine(schedule: Schedule) -> Schedule:
        return replace(schedule, spec=_keep(schedule.spec, spec), policies=policies, action=action)

    call = scheduler.call(stored.name, "update")
    yield from edit.change(call, edit.update_edit(call, redefine))
    yield statement("update_agent_schedules", [stored_row(changed)])
    return changed


def _keep(before: Spec, after: Spec) -> Spec:
    """Return the spec that an update stores. If both specs have the same JSON, return `before`, so that the update does
    not restart the schedule. Otherwise return `after`."""
    return before if before.to_json() == after.to_json() else after


def cancel(scheduler: Scheduler, stored: StoredSchedule, reason: str) -> Operation[StoredSchedule]:
    """Cancel a locked schedule, and return it. A turn in progress is finished. A campaign stops before its next
    recipient. If the schedule is already canceled or completed, nothing changes."""
    place = scheduler.place
    yield sql("lock_schedules", [(stored.engine_id,)])
    ((shown,),) = yield statement("agent_schedule_is", namespace=place.namespace, agent=place.agent, id=stored.id)
    if stored.status == "canceled" or shown == "completed":
        return stored
    call = scheduler.call(stored.name, "cancel")
    running = "cancel" if stored.target_kind == "segment" else "leave"
    canceled = replace(
        stored, status="canceled", held=0, reason=reason or None, version=stored.version + 1, updated=place.now
    )

    yield statement("update_agent_schedules", [stored_row(canceled)])
    rows = yield sql("schedule_by_name", namespace=place.namespace, name=stored.name)
    if rows and id_of(rows[0]) == stored.engine_id:  # otherwise it was deleted
        yield from edit.delete(call, running)
        said = {"reason": reason} if reason else {}
        yield sql("insert_events", [event_row(place.now, read_anyway(rows[0]), "canceled", place.actor, **said)])
    return canceled


def pause(scheduler: Scheduler, stored: StoredSchedule, note: str) -> Operation[StoredSchedule]:
    yield from edit.pause(scheduler.call(stored.name, "pause"), note)
    return (yield from _count(scheduler, stored))


def resume(scheduler: Scheduler, stored: StoredSchedule, note: str) -> Operation[StoredSchedule]:
    """Resume a paused schedule, and return it. The caller must have locked the row of the schedule.

    Due times within the pause run only if the policy `on_missed` is `catch_up`. Raises `Conflict` if the agent's
    scheduler is not enabled.
    """
    if not scheduler.settings.enabled:
        raise Conflict(f"{DISABLED}: scheduler={{'enabled': True}} resumes its schedules")
    definition = stored.read()
    policies = definition.policies(scheduler.settings)
    catchup = policies.catchup if definition.missed(scheduler.settings).policy == "catch_up" else None
    yield from edit.resume(scheduler.call(stored.name, "resume"), note, catchup)
    return (yield from _count(scheduler, replace(stored, held=0)))


def trigger(scheduler: Scheduler, stored: StoredSchedule) -> Operation[Mapping[str, Any]]:
    """Run a locked schedule now. Return a dict with the `id`, the `status` and the `origin` of the run. If the run
    waits or was skipped, the dict may also have the `reason`."""
    answer = yield from edit.trigger(scheduler.call(stored.name, "trigger"), None, None)
    run: Mapping[str, Any] = answer["run"]
    return run


def _count(scheduler: Scheduler, stored: StoredSchedule) -> Operation[StoredSchedule]:
    changed = replace(stored, version=stored.version + 1, updated=scheduler.place.now)
    yield statement("update_agent_schedules", [stored_row(changed)])
    return changed


# When a node starts

Done: TypeAlias = defaultdict[str, list[str]]  # the ids of changed schedules, by the kind of change


def apply_declared(
    scheduler: Scheduler,
    wanted: Mapping[str, AgentScheduleDefinition],
    can_begin: Callable[[AgentScheduleDefinition], None],
) -> Operation[Done]:
    """Make an agent's stored schedules match `wanted`, the schedules that the agent's code declares.

    Return a dict from the kind of change to the ids of the changed schedules. The kinds are `created`, `updated`,
    `canceled`, `held` and `released`. A schedule is held if it is paused because the agent's scheduler is disabled. It
    is released when the scheduler is enabled again.

    `can_begin` is called with each definition, and raises an error if the definition could not begin a turn.
    """
    place = scheduler.place
    yield statement("lock_declared_agent", name=place.agent)
    rows = yield statement("declared_agent_schedules", namespace=place.namespace, agent=place.agent)
    present = {state.stored.id: state for state in map(_present, rows)}
    done: Done = defaultdict(list)
    for key, definition in wanted.items():
        can_begin(definition)
        state = present.pop(f"cfg:{key}", None)
        if state is None:
            yield from create(scheduler, f"cfg:{key}", "config", definition)
            done["created"].append(f"cfg:{key}")
        elif state.shown == "canceled":
            yield from _revive(scheduler, state.stored, definition)
            done["created"].append(state.stored.id)
        else:
            yield from _bring_up_to_date(scheduler, state, definition, done)
    for state in present.values():
        if state.stored.status != "canceled" and state.shown != "completed":
            yield from cancel(scheduler, state.stored, "it is no longer in the code")
            done["canceled"].append(state.stored.id)
    return done


Cursor: TypeAlias = tuple[str, str]  # the namespace and the id of the last schedule on a page


def apply_settings(scheduler: Scheduler, after: Cursor, limit: int) -> Operation[tuple[Done, Cursor | None]]:
    """Apply the agent's present zone and settings to one page of its schedules in all namespaces. Schedules that the
    code declares are left out.

    Return two values: a dict from the kind of change to the ids of the changed schedules, and the cursor of the next
    page. On the last page, the cursor is None.
    """
    place, settings = scheduler.place, scheduler.settings
    names = {"agent": place.agent, "zone": scheduler.zone, "settings": settings.digest}
    within, last = after
    rows = yield statement(
        "stale_agent_schedules", **names, held=0 if settings.enabled else 1, within=within, after=last, limit=limit
    )
    done: Done = defaultdict(list)
    for state in map(_present, rows):
        scheduler_there = replace(scheduler, place=replace(place, namespace=state.stored.namespace))
        yield from _bring_up_to_date(scheduler_there, state, state.stored.read(), done)
    return done, place_of_stored(rows[-1]) if len(rows) == limit else None


class _Present(NamedTuple):
    stored: StoredSchedule
    shown: str
    paused: Micros | None


def _present(row: Row) -> _Present:
    return _Present(read_stored(row[:-2]), row[-2], row[-1])


def _bring_up_to_date(
    scheduler: Scheduler, state: _Present, definition: AgentScheduleDefinition, done: Done
) -> Operation[None]:
    stored, enabled = state.stored, scheduler.settings.enabled
    if stored.digest != definition.digest(scheduler.zone, scheduler.settings):
        stored = yield from update(scheduler, stored, definition)
        done["updated"].append(stored.id)
    elif state.shown == "completed":
        return
    if not enabled and state.paused is None:
        yield from pause(scheduler, replace(stored, held=1), DISABLED)
        done["held"].append(stored.id)
    elif enabled and stored.held:
        yield from resume(scheduler, stored, "")
        done["released"].append(stored.id)


def _revive(scheduler: Scheduler, stored: StoredSchedule, definition: AgentScheduleDefinition) -> Operation[None]:
    """Create the schedule `stored` again, with `definition`. The schedule was canceled when the code no longer declared
    it, and now the code declares it again."""
    place = scheduler.place
    new = _stored(scheduler, stored.id, stored.origin, definition, place.new_id(place.now))
    new = replace(new, version=stored.version + 1, created=stored.created)
    yield statement("update_agent_schedules", [stored_row(new)])
    yield from _insert(scheduler, new, definition)


# Denials


def note_tool_denial(place: TransactionContext, subject: str, data: Mapping[str, Any]) -> Operation[None]:
    """Write the event `schedule:tool_scope_denied`. It says that a schedule tool has refused a call, because the
    current user may not do what the model asked for. `data` becomes the data of the event."""
    body = {name: value for name, value in data.items() if value is not None}
    yield from write_events(audit(place.now, place.namespace, "schedule:tool_scope_denied", subject, None, **body))
