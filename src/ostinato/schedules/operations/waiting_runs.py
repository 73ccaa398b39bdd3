"""Decide which waiting runs start after the end of a run. If many runs wait, read only the head of the queue where the
oldest runs suffice for the decision (`decide.oldest_suffice`)."""

from __future__ import annotations

from collections.abc import Sequence

from ostinato.schedules.decisions.decide import Decision, complete_if_idle, decide, decide_by_oldest, oldest_suffice
from ostinato.schedules.model import Schedule
from ostinato.schedules.operations.load import load_live_runs
from ostinato.store.contract import Operation
from ostinato.when.instants import Micros

FIRST = 20  # waiting runs that are read where the oldest suffice to decide


def decide_waiting(schedules: Sequence[Schedule], now: Micros) -> Operation[list[Decision]]:
    """Return a decision for each schedule: which of its waiting runs start now, and whether it is completed. The caller
    has locked the schedules."""
    looked = [s for s in schedules if not s.closed and (s.memory.waiting or s.memory.backfills or s.next is None)]
    decided = {s.id: Decision(s) for s in schedules}
    short = [s for s in looked if s.memory.waiting > FIRST and oldest_suffice(s)]
    live = yield from load_live_runs([s.id for s in short], hold=True, first=FIRST)
    done: set[str] = set()
    for schedule in short:
        if sum(run.waiting for run in live[schedule.id]) < FIRST:
            continue  # all of them were read
        by_the_first = decide_by_oldest(schedule, live.pop(schedule.id), now)
        if by_the_first is not None:
            decided[schedule.id] = by_the_first
            done.add(schedule.id)
    rest = [s for s in looked if s.id not in done]
    live |= yield from load_live_runs([s.id for s in rest if s.id not in live], hold=True)
    for schedule in rest:
        decision = decide(schedule, live[schedule.id], [], now, lambda: "")
        decided[schedule.id] = complete_if_idle(decision, live[schedule.id])
    return [decided[s.id] for s in schedules]
