"""Whether what schedules start is there. A job need not be: a node may declare it later, and its runs wait for that. A
journey is on record or it is not, and a run of one that is not could only fail."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from ostinato.errors import NotFound, did_you_mean
from ostinato.schedules.making import JOURNEY
from ostinato.schedules.model import Schedule
from ostinato.store.contract import Operation, sql

Target: TypeAlias = tuple[str, str, str]  # namespace, name, version


def target_of(schedule: Schedule) -> Target | None:
    """The journey that a schedule names. A binding names none: it keeps its own."""
    given = schedule.action.input
    if schedule.action.job != JOURNEY or "binding" in given:
        return None
    return schedule.namespace, str(given.get(JOURNEY)), str(given.get("version") or "")


def absent(schedules: Iterable[Schedule]) -> Operation[dict[Target, NotFound]]:
    """The journeys that these name and that are not there."""
    wanted = {target for one in schedules if (target := target_of(one)) is not None}
    if not wanted:
        return {}
    there = {tuple(row) for row in (yield sql("known_journeys", sorted(wanted)))}
    found = {}
    for target in sorted(wanted - there):
        namespace, name, version = target
        some = yield sql("list_definitions", namespace=namespace, name="", version="", limit=1000)
        hint = did_you_mean(name, {row[1] for row in some if row[3] == "Journey" and row[1] != name})
        exact = " ".join([repr(name), *([version] if version else [])])
        found[target] = NotFound(f"there is no journey {exact} in namespace {namespace!r}{'; ' + hint if hint else ''}")
    return found


def raise_absent(schedule: Schedule, missing: Mapping[Target, NotFound]) -> None:
    target = target_of(schedule)
    if target is not None and target in missing:
        raise missing[target]


def refuse_absent(schedules: Iterable[Schedule]) -> Operation[None]:
    """At the door."""
    for problem in (yield from absent(schedules)).values():
        raise problem
