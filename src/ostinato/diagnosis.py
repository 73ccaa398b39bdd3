"""What is the matter: looks at everything that a store and its nodes can tell, and says of each what to do.

It only looks, unless it is told to repair; what it repairs is what the invariant scanner holds to be safe.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ostinato.app import Ostinato
from ostinato.engine.nodes import NodeInfo
from ostinato.engine.scanner import Finding
from ostinato.engine.stalls import blocked
from ostinato.schedules.completing import PAUSED_BY_FAILURES
from ostinato.schedules.finding import label_all, unlabelled
from ostinato.schedules.rows import read_outcomes
from ostinato.store.contract import Operation, Row, sql
from ostinato.store.sqlite import SqliteStore
from ostinato.when import rules_in_force
from ostinato.when.instants import SECOND, Micros
from ostinato.when.zones import ZoneRules, installed_rules

State = Literal["ok", "notice", "wrong"]
_MOST = 200
_NAMED = 5
_OVERDUE: Micros = 10 * SECOND
_UNSERVED: Micros = 60 * SECOND  # a node that is restarted is back by then
_DAY: Micros = 86_400 * SECOND
_AGAIN_AND_AGAIN = 3  # failures in a row
_READ = 10_000
_BITE = 1_000
_LENGTH = 80  # characters of a reason
_MEGABYTE = 1 << 20
_LITTLE = 100 * _MEGABYTE


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at. `remedy` is what to do, where there is something."""

    name: str
    state: State
    words: str
    remedy: str = ""


async def diagnose(app: Ostinato, *, repair: bool = False) -> list[Check]:
    now = app.engine.clock.now()
    nodes = await app.nodes()
    alive = [one for one in nodes if one.lease_until >= now]
    return [
        await _clock(app),
        _nodes(nodes, alive),
        _zone_rules(alive),
        await _overdue(app, now, bool(alive)),
        await _unserved(app, alive, now),
        await _failing(app),
        await _blocking(app, now),
        await _parked_schedules(app),
        await _labels(app, repair=repair),
        await _parked_timers(app, repair),
        await _handlers(app),
        *_invariants(await app.check(repair=repair)),
        _disk(app),
    ]


async def _clock(app: Ostinato) -> Check:
    clock = app.engine.clock.local
    before = clock.now()
    shared = await app.store.clock_probe()
    if shared is None:
        return Check("clock", "ok", "the store has no clock of its own; this machine's counts")
    off = (shared - (before + clock.now()) // 2) / SECOND
    words = f"this machine and the database differ by {abs(off):.3f} s"
    if abs(off) < 1:
        return Check("clock", "ok", words)
    remedy = "nodes go by the database's clock, so nothing is early or late by it; still, let NTP set this machine's"
    return Check("clock", "notice" if abs(off) < 60 else "wrong", words, remedy)


def _nodes(nodes: Sequence[NodeInfo], alive: Sequence[NodeInfo]) -> Check:
    dead = [one for one in nodes if one not in alive]
    words = f"{len(alive)} at work"
    if dead:
        words += f"; {len(dead)} gone without leaving: {_some([one.name for one in dead])}"
    if not alive:
        remedy = "nothing runs until one is started: `ostinato serve` or `ostinato worker`"
        return Check("nodes", "notice", words, remedy)
    remedy = "the others take over their runs when the lease has run out" if dead else ""
    return Check("nodes", "notice" if dead else "ok", words, remedy)


def _zone_rules(alive: Sequence[NodeInfo]) -> Check:
    here = rules_in_force().version
    found = {one.zone_rules for one in alive}
    if len(found) > 1:
        told = "; ".join(f"{one.name} has {one.zone_rules}" for one in alive[:_NAMED])
        remedy = "a time may differ by who computes it: install the same tzdata everywhere, and restart the nodes"
        return Check("zone_rules", "wrong", f"nodes differ: {told}", remedy)
    if found and found != {here}:
        remedy = "times shown here may differ from when they run: install the same tzdata here"
        return Check("zone_rules", "notice", f"the nodes have {found.pop()}, this process has {here}", remedy)
    return _newer_rules(rules_in_force(), installed_rules()) or Check("zone_rules", "ok", f"edition {here}")


def _newer_rules(used: ZoneRules, installed: str | None) -> Check | None:
    """A notice if the package tzdata is newer than the rules in use."""
    if (
        installed is None
        or used.source == "tzdata"
        or not _EDITION.fullmatch(used.version)
        or installed <= used.version
    ):
        return None
    words = f"edition {used.version} from {used.source} is in use; the package tzdata has {installed}"
    remedy = "update the system's time-zone data, or set PYTHONTZPATH='' so that the package is used, on every node"
    return Check("zone_rules", "notice", words, remedy)


_EDITION = re.compile(r"\d{4}[a-z]")


async def _overdue(app: Ostinato, now: Micros, alive: bool) -> Check:
    def late(_: int) -> Operation[list[Row]]:
        return (yield sql("overdue_schedules", before=now - _OVERDUE, limit=_MOST))

    rows = await app.store.read(late)
    if not rows:
        return Check("overdue_schedules", "ok", "none")
    told = _some([f"{row[0]}/{row[1]}" for row in rows])
    remedy = (
        "nodes are there but behind: look at their logs, their load and `ostinato_beat_lag_seconds`"
        if alive
        else "no node is at work: start one. `ostinato upcoming --late` says what will become of what is late"
    )
    return Check("overdue_schedules", "wrong", f"{_count(rows)}: {told}", remedy)


async def _unserved(app: Ostinato, alive: Sequence[NodeInfo], now: Micros) -> Check:
    """Runs that are ready, in queues that nobody serves."""

    def ready(_: int) -> Operation[list[Row]]:
        return (yield sql("ready_queues"))

    served = {queue for node in alive for queue in node.queues}
    rows = [row for row in await app.store.read(ready) if row[0] not in served and row[2] <= now - _UNSERVED]
    if not rows:
        return Check("unserved_queues", "ok", "none")
    told = _some([f"{queue} ({count} runs)" for queue, count, _ in rows])
    remedy = "start a node that serves it: `ostinato worker --app … --queue NAME`; without --queue it serves `default`"
    return Check("unserved_queues", "wrong", f"runs are ready, and no node serves their queue: {told}", remedy)


async def _failing(app: Ostinato) -> Check:
    def failing(_: int) -> Operation[list[Row]]:
        return (yield sql("failing_schedules", limit=_READ))

    rows = []
    for namespace, name, text, paused, notes in await app.store.read(failing):
        with suppress(ValueError, TypeError, KeyError):  # one that cannot be read is parked, and told of below
            outcomes = read_outcomes(text)
            given_up = paused is not None and str(notes).startswith(PAUSED_BY_FAILURES)
            if outcomes.failures >= _AGAIN_AND_AGAIN or given_up:
                times = f"{outcomes.failures} times in a row" + (", and paused for it" if given_up else "")
                reason = _short((outcomes.failure or {}).get("reason"))
                rows.append((outcomes.failures, f"{namespace}/{name} ({times}, last: {reason})"))
    if not rows:
        return Check("failing_schedules", "ok", "none")
    rows.sort(key=lambda row: -row[0])
    told = _some([words for _, words in rows])
    remedy = "`ostinato schedules history NAME` has the runs, `ostinato runs show ID` the traceback, and so has the log"
    return Check("failing_schedules", "wrong", f"{_count(rows)}: {told}", remedy)


async def _blocking(app: Ostinato, now: Micros) -> Check:
    found = [one for one in await app.store.read(lambda _: blocked()) if one.at > now - _DAY]
    if not found:
        return Check("blocking_jobs", "ok", "no job has blocked an event loop in the last day")
    told = _some([f"{one.job} ({one.times} times, last for {one.seconds:g} s at {one.where})" for one in found])
    remedy = "declare it with `def` instead of `async def`, to run in a thread, or with process=True if it computes"
    return Check("blocking_jobs", "notice", f"jobs block the event loop of their node: {told}", remedy)


def _short(text: str | None) -> str:
    words = " ".join((text or "no reason").split())
    return words if len(words) <= _LENGTH else f"{words[: _LENGTH - 1]}…"


async def _parked_schedules(app: Ostinato) -> Check:
    def parked(_: int) -> Operation[list[Row]]:
        return (yield sql("parked_schedules", limit=_MOST))

    rows = await app.store.read(parked)
    if not rows:
        return Check("parked_schedules", "ok", "none")
    told = _some([f"{row[0]}/{row[1]} ({row[2]})" for row in rows])
    remedy = "mend what the reason names and `ostinato schedules update` or `resume` it, or delete it"
    return Check("parked_schedules", "wrong", f"{_count(rows)}: {told}", remedy)


async def _labels(app: Ostinato, *, repair: bool) -> Check:
    """Whether schedules are found by their job and their tags, of the first 10,000 by id."""
    missing, after, read = 0, "", 0
    following: str | None = ""
    while following is not None and read < _READ:
        after = following
        if repair:
            found, following = await app.store.run(lambda _, after=after: label_all(after, _BITE))  # type: ignore[misc]
        else:
            rows, following = await app.store.read(lambda _, after=after: unlabelled(after, _BITE))  # type: ignore[misc]
            found = len(rows)
        missing, read = missing + found, read + _BITE
    if not missing:
        return Check("schedule_labels", "ok", "schedules are found by their job and their tags")
    words = f"{missing} jobs or tags of schedules are not found by: a node of an earlier version made them"
    if repair:
        return Check("schedule_labels", "ok", f"{words}; mended")
    return Check("schedule_labels", "notice", words, "upgrade that node; a node mends it within the hour, --repair now")


async def _parked_timers(app: Ostinato, repair: bool) -> Check:
    def parked(_: int) -> Operation[list[Row]]:
        return (yield sql("parked_timers", limit=_MOST))

    rows = await app.store.read(parked)
    if not rows:
        return Check("parked_timers", "ok", "none")
    told = _some([f"{row[0]} {row[1]} {row[2]} ({row[6]})" for row in rows])
    if repair:
        await app.unpark_timers()
        return Check("parked_timers", "notice", f"{_count(rows)}: {told}", "they are tried again now")
    remedy = _remedy_for_parked([str(row[6]) for row in rows])
    return Check("parked_timers", "wrong", f"{_count(rows)}: {told}", remedy)


def _remedy_for_parked(reasons: Sequence[str]) -> str:
    """By what went wrong: no newer node can keep what is too large."""
    if any("OverflowError" in reason or "64-bit" in reason for reason in reasons):
        return (
            "a number or a length of time is too large to be kept. `ostinato journeys check` names the place in a"
            " definition; deploy one that is within its bounds, cancel the runs that wait and start them anew"
        )
    return (
        "`ostinato doctor --repair` lets them be tried again; a newer node may know what an older one did not, so"
        " upgrade the nodes; else report it with the reason"
    )


async def _handlers(app: Ostinato) -> Check:
    def waiting(_: int) -> Operation[list[Row]]:
        return (yield sql("unknown_handlers", limit=_MOST))

    rows = await app.store.read(waiting)
    if not rows:
        return Check("unknown_jobs", "ok", "no run waits for a job that no node knows")
    told = _some([f"{row[0]} ({row[1]} runs)" for row in rows])
    remedy = "start a node whose app declares the job, or cancel the runs: `ostinato runs list --status waiting`"
    return Check("unknown_jobs", "wrong", f"runs wait for jobs that no node knows: {told}", remedy)


def _invariants(findings: Sequence[Finding]) -> list[Check]:
    if not findings:
        return [Check("invariants", "ok", "all hold")]
    found: list[Check] = []
    for rule in dict.fromkeys(one.rule for one in findings):
        own = [one for one in findings if one.rule == rule]
        mended = all(one.repaired for one in own)
        told = _some([f"{one.subject} {one.words}" for one in own])
        remedy = "mended now" if mended else _REMEDIES.get(rule, "`ostinato doctor --repair` mends it")
        found.append(Check(rule, "notice" if mended else "wrong", f"{_count(own)}: {told}", remedy))
    return found


_REMEDIES = {
    "overdue_timer": "start a node; if one is at work, look at its log and its load",
    "journey_and_run_differ": "`ostinato doctor --repair` ends a run that its journey has left behind; of any other, "
    "what the journey says holds: report it, with its events",
    "no_end": "this must not happen: report it, with the run's events",
}


def _disk(app: Ostinato) -> Check:
    store = app.store
    if not isinstance(store, SqliteStore):
        return Check("disk", "ok", "the database server's own")
    file = Path(store.path).absolute()
    try:
        free = shutil.disk_usage(file.parent).free
        size = sum(one.stat().st_size for one in (file, file.with_name(file.name + "-wal")) if one.exists())
    except OSError as problem:
        return Check("disk", "notice", f"cannot be looked at: {problem.strerror}")
    words = f"{free // _MEGABYTE:,} MB free, the store takes {size / _MEGABYTE:,.1f} MB"
    if free < _LITTLE:
        return Check("disk", "wrong", words, "make room: a full disk stops everything, though it loses nothing")
    if free < size:
        return Check("disk", "notice", words, "a backup would not fit beside it: make room, or write it elsewhere")
    return Check("disk", "ok", words)


def _count(found: Sequence[object]) -> str:
    return f"{len(found)} or more" if len(found) >= _MOST else str(len(found))


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
