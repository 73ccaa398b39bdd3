"""Why did it run, why did it not, will it? Read back from what is stored, in sentences and as data. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from typing import Any

from ostinato.schedules.generator import occurrence, upcoming
from ostinato.schedules.model import GRACE, Occurrence, Schedule, State
from ostinato.schedules.views import OccurrenceInfo
from ostinato.when.instants import SECOND, Micros, from_datetime, on_clock, to_datetime

_COUNTED = 300  # times to come that are counted, to see whether the actions that are left reach so far
_WHY = {
    "overlap": "the run before it was still going, and the overlap policy was {policy}",
    "replaced": "a later time took its place while it waited, as the overlap policy {policy} said",
    "catchup_window": "it came too late: nobody was there to fire it, and the catch-up policy was {policy}",
    "coalesced": "it came late, and a later run stands for it (catch-up policy {policy})",
    "paused": "the schedule was paused",
    "parked": "the schedule was parked, because something about it could not be read or decided; its state says what",
    "exhausted": "the schedule had no actions left",
    "buffer_full": "{policy} others were waiting already, which is all that max_buffer allowed",
    "asked": "someone asked for this one to be left out",
    "closed": "the schedule was deleted, or the backfill cancelled, before its turn came",
}


@dataclass(frozen=True, slots=True)
class Explanation:
    """`outcome`: ran, running, buffered, skipped, missed, will_run, will_not_run, late, no_time, or hidden."""

    outcome: str
    sentences: tuple[str, ...]
    reason: str | None = None
    nominal: datetime | None = None
    records: tuple[OccurrenceInfo, ...] = ()
    data: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return " ".join(self.sentences)


HIDDEN = Explanation(
    "hidden", ("What became of this time is not shown: the journey's read guard does not let you see it.",), "guarded"
)


def explain(schedule: Schedule, at: Micros, records: Sequence[OccurrenceInfo], now: Micros) -> Explanation:
    """What there is to say about one moment of a schedule. `records` are the rows that stand for it. A time that ran by
    a backfill or by hand, and that the clock has still to bring, is explained as a time to come, after its records."""
    if any(one.origin == "auto" for one in records):
        return _recorded(schedule, records)
    coming = _without_records(schedule, at, now)
    if not records:
        return coming
    recorded = _recorded(schedule, records)
    if coming.outcome == "no_time":
        return recorded
    return replace(coming, sentences=recorded.sentences + coming.sentences, records=recorded.records)


def _without_records(schedule: Schedule, at: Micros, now: Micros) -> Explanation:
    matches = schedule.spec.compiled.matches(at) or at in schedule.memory.kept
    if not matches:
        return _no_time(schedule, at)
    one = occurrence(schedule, at)
    if at in schedule.memory.kept:
        one = Occurrence(at, schedule.memory.kept[at])
    if at <= schedule.reached or one.actual < schedule.updated:
        return _before_its_time(schedule, at)
    return _to_come(schedule, one, now)


def _recorded(schedule: Schedule, records: Sequence[OccurrenceInfo]) -> Explanation:
    told: list[str] = []
    for one in records:
        told += _about(schedule, one)
    first = records[0]
    outcomes = {"skipped": "skipped", "missed": "missed", "buffered": "buffered"}
    outcome = outcomes.get(first.status, "running" if first.finished is None else "ran")
    if first.status == "buffered" and first.reason != "overlap":
        outcome = "running"
    return Explanation(outcome, tuple(told), first.reason, first.nominal, tuple(records))


def _about(schedule: Schedule, one: OccurrenceInfo) -> list[str]:
    zone = schedule.spec.tzinfo
    origin = "" if one.origin == "auto" else " (by hand)" if one.origin.startswith("trigger-") else " (by a backfill)"
    name = f"The time {_said(one.nominal, zone)}{origin}"
    if one.status in ("skipped", "missed"):
        why = _WHY.get(one.reason or "", one.reason or "no reason is on record").format(policy=one.policy or "another")
        told = [f"{name} was {one.status}: {why}."]
        if one.count > 1:
            told.append(f"It is one of {one.count} times in a row, to {_said(one.last, zone)}, with the same outcome.")
        if one.blocked_by is not None:
            told.append(f"In the way was run {one.blocked_by}.")
        return told
    told = []
    if one.status == "buffered" and one.reason == "overlap":
        overlap = one.policy or schedule.policies.overlap.value
        told.append(f"{name} waits for the run before it to end: overlap policy {overlap}.")
    elif one.started is None and one.finished is None:
        told.append(f"{name} was let go and waits for a worker" + (f": {one.reason}." if one.reason else "."))
    elif one.finished is None:
        told.append(f"{name} is running since {_said(one.started, zone)}, attempt {one.attempt}.")
    else:
        end = one.status.replace("_", " ")
        why = f": {one.reason}" if one.reason else ""
        told.append(
            f"{name} ran and {end} at {_said(one.finished, zone)}{why} (run {one.run_id}, attempt {one.attempt})."
        )
    if one.started is not None and (one.started - one.due).total_seconds() * SECOND > GRACE:
        told.append(f"It began {(one.started - one.due).total_seconds():.0f} s late.")
    if one.coalesced:
        told.append(f"It also stands for {one.coalesced} earlier times that came too late.")
    return told


def _no_time(schedule: Schedule, at: Micros) -> Explanation:
    compiled, zone = schedule.spec.compiled, schedule.spec.tzinfo
    before, after = compiled.previous(at), compiled.next(at)
    told = [f"{_said(to_datetime(at), zone)} is not one of its times: {schedule.spec.describe()}."]
    if before is not None or after is not None:
        near = [_said(to_datetime(one), zone) for one in (before, after) if one is not None]
        told.append(f"The nearest {'are' if len(near) > 1 else 'is'} {' and '.join(near)}.")
    data = {"before": before, "after": after}
    return Explanation("no_time", tuple(told), "not_in_spec", data=data)


def _before_its_time(schedule: Schedule, at: Micros) -> Explanation:
    moment, zone = to_datetime(at), schedule.spec.tzinfo
    if at <= schedule.created:
        created = _said(to_datetime(schedule.created), zone)
        told = f"The schedule did not exist at {_said(moment, zone)}: it was created {created}."
        return Explanation("no_time", (told,), "not_created", moment)
    told = (
        f"{_said(moment, zone)} is a time of the present spec, but it was not one then, or its record is older than "
        f"what is kept: the schedule was last changed {_said(to_datetime(schedule.updated), zone)}."
    )
    return Explanation("no_time", (told,), "changed_since", moment)


def _to_come(schedule: Schedule, one: Occurrence, now: Micros) -> Explanation:
    moment, zone = to_datetime(one.nominal), schedule.spec.tzinfo
    past = one.actual <= now
    told = [f"{_said(moment, zone)} {'was due' if past else 'is a time to come'}."]
    if one.actual != one.nominal:
        told.append(f"It is not to run before {_said(to_datetime(one.actual), zone)}.")
    refusal = _refusal(schedule, one, now)
    if refusal is not None:
        reason, words = refusal
        return Explanation("will_not_run", (*told, words), reason, moment)
    policies = schedule.policies
    if past and schedule.next is not None and one.actual < schedule.next and now - schedule.next <= GRACE:
        told.append(f"It is late, and a node is catching up, {policies.catchup.pace} in a second at the most.")
        return Explanation("late", tuple(told), "catching_up", moment)
    if past:
        told.append(f"Nobody has dealt with it for {(now - one.actual) // SECOND} s: is any node running?")
        told.append(f"The next one decides by the catch-up policy, {policies.catchup.mode}.")
        return Explanation("late", tuple(told), "no_node", moment)
    told.append(
        f"It will start job {schedule.action.job!r}; if the one before still runs then, the overlap policy "
        f"({policies.overlap.value}) decides."
    )
    return Explanation("will_run", tuple(told), None, moment)


def _refusal(schedule: Schedule, one: Occurrence, now: Micros) -> tuple[str, str] | None:
    zone = schedule.spec.tzinfo
    if schedule.state is State.PARKED:
        return "parked", f"The schedule is parked: {schedule.reason}."
    if schedule.paused:
        since = _said(to_datetime(schedule.paused), zone)
        return "paused", f"It will not run: the schedule is paused since {since}" + (
            f" ({schedule.notes})." if schedule.notes else "."
        )
    if one.reason is not None:
        return "asked", "It will not run: someone asked for this one to be left out."
    if schedule.exhausted:
        return "exhausted", "It will not run: the schedule has no actions left."
    if schedule.state is State.COMPLETED:
        return "completed", "It will not run: the schedule is completed."
    left = schedule.remaining
    if left is not None and left <= _COUNTED and one.actual > now:
        before = upcoming(schedule, now, left)
        if len(before) == left and one.actual > before[-1].actual:
            last = _said(to_datetime(before[-1].actual), zone)
            actions = "one action is" if left == 1 else f"{left} actions are"
            return (
                "exhausted",
                f"It will not run: {actions} left, for the times up to {last}, unless those are skipped.",
            )
    return None


def _said(moment: datetime | None, zone: tzinfo) -> str:
    if moment is None:
        return "never"
    return on_clock(from_datetime(moment), zone)
