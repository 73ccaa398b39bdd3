"""Explain why one time of a schedule ran or did not run, or whether it will run. This module is pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from typing import Any

from ostinato.schedules.decisions.due_times import occurrence, upcoming
from ostinato.schedules.model import GRACE, Occurrence, Schedule, State, run_name
from ostinato.schedules.views import OccurrenceInfo
from ostinato.when.instants import SECOND, Micros, from_datetime, on_clock, to_datetime

_MAX_COUNTED = 300  # coming times that are counted, to see whether the remaining actions suffice
_WHY = {
    "overlap": "the run before it had not ended, and the overlap policy was {policy}",
    "replaced": "a later time replaced it while it waited (overlap policy {policy})",
    "catchup_window": "it was too late: no node fired it in time, and the catch-up policy was {policy}",
    "coalesced": "it was late, and a later run represents it (catch-up policy {policy})",
    "paused": "the schedule was paused",
    "parked": "the schedule was parked, because it could not be read or decided",
    "exhausted": "the schedule had no actions left",
    "buffer_full": "{policy} others were waiting already, and max_buffer allows no more",
    "asked": "a user skipped it",
    "closed": "the schedule was deleted, or the backfill cancelled, before its turn came",
}


@dataclass(frozen=True, slots=True)
class Explanation:
    """The explanation of one time. `outcome` is ran, running, buffered, skipped, missed, will_run, will_not_run, late,
    no_time or hidden."""

    outcome: str
    sentences: tuple[str, ...]
    reason: str | None = None
    nominal: datetime | None = None
    records: tuple[OccurrenceInfo, ...] = ()
    data: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return " ".join(self.sentences)


HIDDEN = Explanation("hidden", ("The outcome of this time is hidden by a read guard.",), "guarded")


def explain(schedule: Schedule, at: Micros, records: Sequence[OccurrenceInfo], now: Micros) -> Explanation:
    """Explain the time `at` of a schedule. `records` are the stored occurrences of that time. If all of them belong to
    triggers or backfills, and the schedule itself has the time `at`, too, its scheduled occurrence is explained as
    well."""
    if any(one.origin == "auto" for one in records):
        return _explain_records(schedule, records)
    coming = _explain_by_spec(schedule, at, now)
    if not records:
        return coming
    recorded = _explain_records(schedule, records)
    if coming.outcome == "no_time":
        return recorded
    return replace(coming, sentences=recorded.sentences + coming.sentences, records=recorded.records)


def _explain_by_spec(schedule: Schedule, at: Micros, now: Micros) -> Explanation:
    kept = schedule.memory.kept
    if at not in kept and not schedule.spec.compiled.matches(at):
        return _explain_no_time(schedule, at)
    due = Occurrence(at, kept[at]) if at in kept else occurrence(schedule, at)
    if at <= schedule.reached or due.actual < schedule.updated:
        return _explain_past(schedule, at)
    return _explain_coming(schedule, due, now)


def _explain_records(schedule: Schedule, records: Sequence[OccurrenceInfo]) -> Explanation:
    sentences = [sentence for record in records for sentence in _record_sentences(schedule, record)]
    first = records[0]
    if first.status == "buffered":
        outcome = "buffered" if first.reason == "overlap" else "running"
    elif first.status in ("skipped", "missed"):
        outcome = first.status
    else:
        outcome = "running" if first.finished is None else "ran"
    return Explanation(outcome, tuple(sentences), first.reason, first.nominal, tuple(records))


def _record_sentences(schedule: Schedule, record: OccurrenceInfo) -> list[str]:
    zone = schedule.spec.tzinfo
    origin = (
        "" if record.origin == "auto" else " (by hand)" if record.origin.startswith("trigger-") else " (by a backfill)"
    )
    name = f"The time {_clock_time(record.nominal, zone)}{origin}"
    if record.status in ("skipped", "missed"):
        why = _WHY.get(record.reason or "", record.reason or "no reason is on record").format(
            policy=record.policy or "another"
        )
        sentences = [f"{name} was {record.status}: {why}."]
        if record.count > 1:
            sentences.append(
                f"It is one of {record.count} times in a row, to {_clock_time(record.last, zone)}, "
                "with the same outcome."
            )
        if record.blocked_by is not None:
            sentences.append(f"The run {record.blocked_by} blocked it.")
        return sentences
    sentences = []
    if record.status == "buffered" and record.reason == "overlap":
        overlap = record.policy or schedule.policies.overlap.value
        sentences.append(f"{name} waits for the run before it to end: overlap policy {overlap}.")
    elif record.started is None and record.finished is None:
        sentences.append(f"{name} may run and waits for a worker" + (f": {record.reason}." if record.reason else "."))
    elif record.finished is None:
        sentences.append(f"{name} is running since {_clock_time(record.started, zone)}, attempt {record.attempt}.")
    else:
        end = record.status.replace("_", " ")
        why = f": {record.reason}" if record.reason else ""
        sentences.append(
            f"{name} ran and {end} at {_clock_time(record.finished, zone)}{why} "
            f"(run {record.run_id}, attempt {record.attempt})."
        )
    if record.started is not None and (record.started - record.due).total_seconds() * SECOND > GRACE:
        sentences.append(f"It began {(record.started - record.due).total_seconds():.0f} s late.")
    if record.coalesced:
        sentences.append(f"It also represents {record.coalesced} earlier times that were too late.")
    return sentences


def _explain_no_time(schedule: Schedule, at: Micros) -> Explanation:
    compiled, zone = schedule.spec.compiled, schedule.spec.tzinfo
    before, after = compiled.previous(at), compiled.next(at)
    sentences = [f"{_clock_time(to_datetime(at), zone)} is not one of its times: {schedule.spec.describe()}."]
    if before is not None or after is not None:
        near = [_clock_time(to_datetime(one), zone) for one in (before, after) if one is not None]
        sentences.append(f"The nearest {'are' if len(near) > 1 else 'is'} {' and '.join(near)}.")
    data = {"before": before, "after": after}
    return Explanation("no_time", tuple(sentences), "not_in_spec", data=data)


def _explain_past(schedule: Schedule, at: Micros) -> Explanation:
    moment, zone = to_datetime(at), schedule.spec.tzinfo
    if at <= schedule.created:
        created = _clock_time(to_datetime(schedule.created), zone)
        sentence = f"The schedule did not exist at {_clock_time(moment, zone)}: it was created {created}."
        return Explanation("no_time", (sentence,), "not_created", moment)
    changed = _clock_time(to_datetime(schedule.updated), zone)
    sentences = (
        f"{_clock_time(moment, zone)} is a time of the present spec, but there is no record of it.",
        f"Either an earlier spec did not have this time (the spec was last changed {changed}), or the record was old "
        "and has been deleted.",
    )
    return Explanation("no_time", sentences, "changed_since", moment)


def _explain_coming(schedule: Schedule, due: Occurrence, now: Micros) -> Explanation:
    moment, zone = to_datetime(due.nominal), schedule.spec.tzinfo
    past = due.actual <= now
    sentences = [f"{_clock_time(moment, zone)} {'was due' if past else 'is one of its coming times'}."]
    if due.actual != due.nominal:
        sentences.append(f"It will not run before {_clock_time(to_datetime(due.actual), zone)}.")
    refusal = _refusal(schedule, due, now)
    if refusal is not None:
        reason, words = refusal
        return Explanation("will_not_run", (*sentences, words), reason, moment)
    policies = schedule.policies
    if past and schedule.next is not None and due.actual < schedule.next and now - schedule.next <= GRACE:
        sentences.append(f"It is late. A node is catching up, at most {policies.catchup.pace} per second.")
        return Explanation("late", tuple(sentences), "catching_up", moment)
    if past:
        sentences.append(f"No node has processed it for {(now - due.actual) // SECOND} s: is any node running?")
        sentences.append(f"The next node to start decides by the catch-up policy, {policies.catchup.mode}.")
        return Explanation("late", tuple(sentences), "no_node", moment)
    sentences.append(
        f"It will start {schedule.action.kind} {run_name(schedule.action)!r}; if the run before it has not ended by "
        f"then, the overlap policy ({policies.overlap.value}) decides."
    )
    return Explanation("will_run", tuple(sentences), None, moment)


def _refusal(schedule: Schedule, due: Occurrence, now: Micros) -> tuple[str, str] | None:
    zone = schedule.spec.tzinfo
    if schedule.state is State.PARKED:
        return "parked", f"The schedule is parked: {schedule.reason}."
    if schedule.paused:
        since = _clock_time(to_datetime(schedule.paused), zone)
        return "paused", f"It will not run: the schedule is paused since {since}" + (
            f" ({schedule.notes})." if schedule.notes else "."
        )
    if due.reason is not None:
        return "asked", "It will not run: a user skipped it."
    if schedule.exhausted:
        return "exhausted", "It will not run: the schedule has no actions left."
    if schedule.state is State.COMPLETED:
        return "completed", "It will not run: the schedule is completed."
    left = schedule.remaining
    if left is not None and left <= _MAX_COUNTED and due.actual > now:
        before = upcoming(schedule, now, left)
        if len(before) == left and due.actual > before[-1].actual:
            last = _clock_time(to_datetime(before[-1].actual), zone)
            actions = "one action is" if left == 1 else f"{left} actions are"
            return (
                "exhausted",
                f"It will not run: {actions} left, for the times up to {last}, unless those are skipped.",
            )
    return None


def _clock_time(moment: datetime | None, zone: tzinfo) -> str:
    if moment is None:
        return "never"
    return on_clock(from_datetime(moment), zone)
