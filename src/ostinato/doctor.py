"""Diagnose a store and its nodes, with a remedy for each problem. With `repair=True`, `diagnose` also makes safe
repairs, adds missing search labels of schedules, and tries to fire parked timers again."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from ostinato.app import Ostinato
from ostinato.engine.invariants import Finding
from ostinato.engine.membership import NodeInfo
from ostinato.engine.stalls import blocked
from ostinato.functions.model import NO_CODE
from ostinato.functions.store import statement
from ostinato.schedules.operations.run_ended import PAUSED_BY_FAILURES
from ostinato.schedules.operations.search import label_all, missing_labels
from ostinato.schedules.rows import read_outcomes
from ostinato.store.contract import Rows, Statement, single, sql
from ostinato.store.sqlite import SqliteStore
from ostinato.when import rules_in_force
from ostinato.when.instants import SECOND, Micros
from ostinato.when.zones import ZoneRules, installed_rules

State = Literal["ok", "notice", "wrong"]
_MOST = 200
_NAMED = 5
_OVERDUE: Micros = 10 * SECOND
_UNSERVED: Micros = 60 * SECOND  # enough for a node to restart
_DAY: Micros = 86_400 * SECOND
_AGAIN_AND_AGAIN = 3  # failures in a row
_READ = 10_000
_BITE = 1_000
_LENGTH = 80  # characters of a reason
_MEGABYTE = 1 << 20
_LITTLE = 100 * _MEGABYTE


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check. `remedy` says what an operator should do, if anything."""

    name: str
    state: State
    words: str
    remedy: str = ""


async def diagnose(app: Ostinato, *, repair: bool = False) -> list[Check]:
    now = app.engine.clock.now()
    nodes = await app.nodes()
    alive = [node for node in nodes if node.lease_until >= now]
    return [
        await _clock(app),
        _nodes(nodes, alive),
        _zone_rules(alive),
        await _overdue(app, now, bool(alive)),
        await _unserved(app, alive, now),
        await _unknown_kinds(app, alive, now),
        await _failing(app),
        await _blocking(app, now),
        await _parked_schedules(app),
        await _labels(app, repair=repair),
        await _parked_timers(app, repair),
        await _handlers(app),
        await _functions(app),
        *_invariants(await app.check(repair=repair)),
        _disk(app),
    ]


async def _clock(app: Ostinato) -> Check:
    clock = app.engine.clock.local
    before = clock.now()
    shared = await app.store.clock_probe()
    if shared is None:
        return Check("clock", "ok", "the store has no clock; this machine's clock is used")
    off = (shared - (before + clock.now()) // 2) / SECOND
    words = f"this machine and the database differ by {abs(off):.3f} s"
    if abs(off) < 1:
        return Check("clock", "ok", words)
    remedy = "nodes use the database's clock, so nothing runs early or late; still, synchronize this machine with NTP"
    return Check("clock", "notice" if abs(off) < 60 else "wrong", words, remedy)


def _nodes(nodes: Sequence[NodeInfo], alive: Sequence[NodeInfo]) -> Check:
    dead = [one for one in nodes if one not in alive]
    words = f"{len(alive)} running"
    if dead:
        words += f"; {len(dead)} lost: {_some([one.name for one in dead])}"
    if not alive:
        remedy = "nothing runs until you start one: `ostinato serve` or `ostinato worker`"
        return Check("nodes", "notice", words, remedy)
    remedy = "the others take over their runs when the lease has expired" if dead else ""
    return Check("nodes", "notice" if dead else "ok", words, remedy)


def _zone_rules(alive: Sequence[NodeInfo]) -> Check:
    here = rules_in_force().version
    versions = {node.zone_rules for node in alive}
    if len(versions) > 1:
        names = "; ".join(f"{node.name} has {node.zone_rules}" for node in alive[:_NAMED])
        remedy = "nodes may compute different times: install the same tzdata everywhere, and restart the nodes"
        return Check("zone_rules", "wrong", f"nodes differ: {names}", remedy)
    if versions and versions != {here}:
        remedy = "times shown here may differ from when they run: install the same tzdata here"
        return Check("zone_rules", "notice", f"the nodes have {versions.pop()}, this process has {here}", remedy)
    return _newer_rules(rules_in_force(), installed_rules()) or Check("zone_rules", "ok", f"version {here}")


def _newer_rules(used: ZoneRules, installed: str | None) -> Check | None:
    """Return a notice if the package tzdata has newer rules than the rules in use. Otherwise returns None."""
    if (
        installed is None
        or used.source == "tzdata"
        or not _VERSION.fullmatch(used.version)
        or installed <= used.version
    ):
        return None
    words = f"version {used.version} from {used.source} is in use; the package tzdata has {installed}"
    remedy = "update the system's time-zone data, or set PYTHONTZPATH='' so that the package is used, on every node"
    return Check("zone_rules", "notice", words, remedy)


_VERSION = re.compile(r"\d{4}[a-z]")


async def _read(app: Ostinato, statement: Statement) -> Rows:
    return await app.store.read(lambda _: single(statement))


def _list(check: str, items: Sequence[str], remedy: str, *, words: str = "", none: str = "none") -> Check:
    """Return the result of a check that looks for `items`, each of which is a problem. Without items, the status is
    "ok", and the message is `none`. With items, the status is "wrong", and the message has `words` (by default, the
    number of items) and the first items."""
    if not items:
        return Check(check, "ok", none)
    return Check(check, "wrong", f"{words or _count(items)}: {_some(items)}", remedy)


async def _overdue(app: Ostinato, now: Micros, alive: bool) -> Check:
    rows = await _read(app, sql("overdue_schedules", before=now - _OVERDUE, limit=_MOST))
    remedy = (
        "nodes are running but behind: check their logs, their load and `ostinato_beat_lag_seconds`"
        if alive
        else "no node is running: start one. `ostinato upcoming --late` shows what will happen to late occurrences"
    )
    return _list("overdue_schedules", [f"{row[0]}/{row[1]}" for row in rows], remedy)


async def _unserved(app: Ostinato, alive: Sequence[NodeInfo], now: Micros) -> Check:
    """Check for queues that no living node serves, although runs have been ready in them for at least a minute."""
    served = {queue for node in alive for queue in node.queues}
    rows = [row for row in await _read(app, sql("ready_queues")) if row[0] not in served and row[2] <= now - _UNSERVED]
    names = [f"{queue} ({count} runs)" for queue, count, _ in rows]
    remedy = "start a node that serves it: `ostinato worker --app … --queue NAME`; without --queue it serves `default`"
    return _list("unserved_queues", names, remedy, words="runs are ready, and no node serves their queue")


async def _unknown_kinds(app: Ostinato, alive: Sequence[NodeInfo], now: Micros) -> Check:
    """Check for kinds of runs that no living node knows, although runs of these kinds have been ready for at least a
    minute."""
    known_kinds = {kind for node in alive for kind in node.kinds}
    rows = await _read(app, sql("ready_kinds"))
    waiting = [(kind, count) for kind, count, since in rows if since <= now - _UNSERVED]
    unknown = [f"{kind} ({count} runs)" for kind, count in waiting if kind not in known_kinds]
    remedy = "start a node whose version and app know these kinds"
    return _list("unknown_kinds", unknown, remedy, words="runs are ready, and no node knows their kind")


async def _failing(app: Ostinato) -> Check:
    rows = []
    for namespace, name, text, paused, notes in await _read(app, sql("failing_schedules", limit=_READ)):
        with suppress(ValueError, TypeError, KeyError):  # a schedule that cannot be read is parked, and reported below
            outcomes = read_outcomes(text)
            given_up = paused is not None and str(notes).startswith(PAUSED_BY_FAILURES)
            if outcomes.failures >= _AGAIN_AND_AGAIN or given_up:
                times = f"{outcomes.failures} times in a row" + (", and paused because of it" if given_up else "")
                reason = _short((outcomes.failure or {}).get("reason"))
                rows.append((outcomes.failures, f"{namespace}/{name} ({times}, last: {reason})"))
    rows.sort(key=lambda row: -row[0])
    remedy = "`ostinato schedules history NAME` shows the runs; `ostinato runs show ID` and the log show the traceback"
    return _list("failing_schedules", [words for _, words in rows], remedy)


async def _blocking(app: Ostinato, now: Micros) -> Check:
    jobs = [job for job in await app.store.read(lambda _: blocked()) if job.at > now - _DAY]
    if not jobs:
        return Check("blocking_jobs", "ok", "no job has blocked an event loop in the last day")
    names = _some([f"{job.job} ({job.times} times, last for {job.seconds:g} s at {job.where})" for job in jobs])
    remedy = (
        "declare a job with `def` instead of `async def`, to run in a thread, or with process=True if it computes; "
        "in a workflow's handler, await asyncio.to_thread(…)"
    )
    return Check("blocking_jobs", "notice", f"these block the event loop of their node: {names}", remedy)


def _short(text: str | None) -> str:
    words = " ".join((text or "no reason").split())
    return words if len(words) <= _LENGTH else f"{words[: _LENGTH - 1]}…"


async def _parked_schedules(app: Ostinato) -> Check:
    rows = await _read(app, sql("parked_schedules", limit=_MOST))
    remedy = "fix what the reason names, then `ostinato schedules update` or `resume` it, or delete it"
    return _list("parked_schedules", [f"{row[0]}/{row[1]} ({row[2]})" for row in rows], remedy)


async def _labels(app: Ostinato, *, repair: bool) -> Check:
    """Check whether schedules are missing in the search index of jobs and tags. Reads only the first 10,000 schedules
    by id. With `repair`, also adds what is missing."""
    missing, after, read = 0, "", 0
    following: str | None = ""
    while following is not None and read < _READ:
        after = following
        if repair:
            count, following = await app.store.run(lambda _, after=after: label_all(after, _BITE))  # type: ignore[misc]
        else:
            rows, following = await app.store.read(lambda _, after=after: missing_labels(after, _BITE))  # type: ignore[misc]
            count = len(rows)
        missing, read = missing + count, read + _BITE
    if not missing:
        return Check("schedule_labels", "ok", "searches by job and tags find all schedules")
    words = (
        f"{missing} jobs or tags of schedules are missing in the search index: a node of an earlier version made them"
    )
    if repair:
        return Check("schedule_labels", "ok", f"{words}; repaired")
    return Check(
        "schedule_labels", "notice", words, "upgrade that node; a node repairs it within the hour, --repair now"
    )


async def _parked_timers(app: Ostinato, repair: bool) -> Check:
    rows = await _read(app, sql("parked_timers", limit=_MOST))
    names = [f"{kind} {owner} {purpose} ({reason})" for kind, owner, purpose, reason in rows]
    check = _list("parked_timers", names, _remedy_for_parked([str(reason) for *_, reason in rows]))
    if rows and repair:
        await app.unpark_timers()
        return replace(check, state="notice", remedy="they are being tried again")
    return check


def _remedy_for_parked(reasons: Sequence[str]) -> str:
    """Return advice for an operator about parked timers. `reasons` are the texts of the errors with which the timers
    failed. If one of these texts is about a number that was too large to be stored, the advice is to correct the
    definition. Otherwise, the advice is to try the timers again."""
    if any("OverflowError" in reason or "64-bit" in reason for reason in reasons):
        return (
            "a number or a length of time is too large to be stored. `ostinato journeys check` names the place in a"
            " definition; deploy a corrected one, cancel the waiting runs and start them again"
        )
    return (
        "`ostinato doctor --repair` tries them again; a newer node may know what an older one did not, so"
        " upgrade the nodes; otherwise report it with the reason"
    )


async def _handlers(app: Ostinato) -> Check:
    names = [f"{job} ({count} runs)" for job, count, _ in await _read(app, sql("unknown_handlers", limit=_MOST))]
    remedy = "start a node whose app declares the job, or cancel the runs: `ostinato runs list --status waiting`"
    none = "no run waits for a job that no node knows"
    return _list("unknown_jobs", names, remedy, words="runs wait for jobs that no node knows", none=none)


async def _functions(app: Ostinato) -> Check:
    """Check for unfinished runs of durable functions that no node can continue, because no node has their code."""
    rows = await _read(app, statement("functions_without_code", limit=_MOST))
    names = [f"{str(reason).removeprefix(NO_CODE)} ({count} runs)" for reason, count in rows]
    remedy = "start a node whose app declares the function, with this version; `ostinato functions drain` lists them"
    none = "no run waits for a function that no node has"
    return _list("unknown_functions", names, remedy, words="runs wait for functions that no node has", none=none)


def _invariants(findings: Sequence[Finding]) -> list[Check]:
    if not findings:
        return [Check("invariants", "ok", "all hold")]
    checks: list[Check] = []
    for rule in dict.fromkeys(finding.rule for finding in findings):
        violations = [finding for finding in findings if finding.rule == rule]
        repaired = all(finding.repaired for finding in violations)
        names = _some([f"{finding.subject} {finding.words}" for finding in violations])
        remedy = "repaired" if repaired else violations[0].remedy or _REMEDIES.get(rule, _REPAIRS)
        checks.append(Check(rule, "notice" if repaired else "wrong", f"{_count(violations)}: {names}", remedy))
    return checks


_REPAIRS = "`ostinato doctor --repair` repairs it"
_REMEDIES = {
    "overdue_timer": "start a node; if one is running, check its log and its load",
    "no_end": "this must not happen: report it, with the run's events",
}


def _disk(app: Ostinato) -> Check:
    store = app.store
    if not isinstance(store, SqliteStore):
        return Check("disk", "ok", "the database server has its own disk")
    file = Path(store.path).absolute()
    try:
        free = shutil.disk_usage(file.parent).free
        size = sum(one.stat().st_size for one in (file, file.with_name(file.name + "-wal")) if one.exists())
    except OSError as problem:
        return Check("disk", "notice", f"cannot be checked: {problem.strerror}")
    words = f"{free // _MEGABYTE:,} MB free, the store takes {size / _MEGABYTE:,.1f} MB"
    if free < _LITTLE:
        return Check("disk", "wrong", words, "free some space: a full disk stops everything, though nothing is lost")
    if free < size:
        return Check(
            "disk", "notice", words, "a backup would not fit on this disk: free some space, or write it elsewhere"
        )
    return Check("disk", "ok", words)


def _count(items: Sequence[object]) -> str:
    return f"{len(items)} or more" if len(items) >= _MOST else str(len(items))


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
