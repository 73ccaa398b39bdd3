"""Diagnose a store and its nodes, with a remedy for each problem. With `repair=True`, `diagnose` also makes safe
repairs, adds missing search labels of schedules, and tries to fire parked timers again."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from ostinato.app import Ostinato
from ostinato.engine.checks import MOST, NAMED, Check, check_none, count_items, name_some
from ostinato.engine.invariants import Finding
from ostinato.engine.membership import NodeInfo
from ostinato.engine.stalls import blocked
from ostinato.engine.timers import POSTPONED
from ostinato.schedules.operations.run_ended import PAUSED_BY_FAILURES
from ostinato.schedules.operations.search import label_all, missing_labels
from ostinato.schedules.rows import read_outcomes
from ostinato.store.contract import Rows, Statement, single, sql
from ostinato.store.sqlite import SqliteStore
from ostinato.ways import owned_tables
from ostinato.when import rules_in_force
from ostinato.when.instants import SECOND, Micros
from ostinato.when.zones import ZoneRules, installed_rules

_OVERDUE: Micros = 10 * SECOND
_UNSERVED: Micros = 60 * SECOND  # enough for a node to restart
_DAY: Micros = 86_400 * SECOND
_AGAIN_AND_AGAIN = 3  # failures in a row
_READ = 10_000
_BITE = 1_000
_LENGTH = 80  # characters of a reason
_MEGABYTE = 1 << 20
_LITTLE = 100 * _MEGABYTE


async def diagnose(app: Ostinato, *, repair: bool = False) -> list[Check]:
    """Return the results of all checks, those of the app's extensions (`Way`) included. If tables are missing, return
    only this finding, because the other checks read them."""
    tables = await _tables(app)
    if tables.state == "wrong":
        return [tables]
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
        *[await app.store.read(lambda _, check=check: check(now)) for check in app.ways.checks],  # type: ignore[misc]
        tables,
        *_invariants(await app.check(repair=repair)),
        _disk(app),
    ]


async def _tables(app: Ostinato) -> Check:
    """Check that the store has every table of Ostinato and of the app's extensions (`Way`)."""
    owners = {table.name: owner for owner, table in owned_tables(app.ways)}
    missing = await _read(app, sql("missing_tables", [(name,) for name in owners]))
    names = [f"{name} (of {owners[name]})" for (name,) in missing]
    remedy = "restore the store from a backup: tables are never made again once their migration has been applied"
    return check_none("tables", names, remedy, words="the store lacks tables", none="all are there")


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
        words += f"; {len(dead)} lost: {name_some([one.name for one in dead])}"
    if not alive:
        remedy = "nothing runs until you start one: `ostinato serve` or `ostinato worker`"
        return Check("nodes", "notice", words, remedy)
    remedy = "the others take over their runs when the lease has expired" if dead else ""
    return Check("nodes", "notice" if dead else "ok", words, remedy)


def _zone_rules(alive: Sequence[NodeInfo]) -> Check:
    here = rules_in_force().version
    versions = {node.zone_rules for node in alive}
    if len(versions) > 1:
        names = "; ".join(f"{node.name} has {node.zone_rules}" for node in alive[:NAMED])
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


async def _overdue(app: Ostinato, now: Micros, alive: bool) -> Check:
    rows = await _read(app, sql("overdue_schedules", before=now - _OVERDUE, soon=now + POSTPONED, limit=MOST))
    remedy = (
        "nodes are running but behind: check their logs, their load and `ostinato_beat_lag_seconds`"
        if alive
        else "no node is running: start one. `ostinato upcoming --late` shows what will happen to late occurrences"
    )
    return check_none("overdue_schedules", [f"{row[0]}/{row[1]}" for row in rows], remedy)


async def _unserved(app: Ostinato, alive: Sequence[NodeInfo], now: Micros) -> Check:
    """Check for queues that no living node serves, although runs have been ready in them for at least a minute."""
    served = {queue for node in alive for queue in node.queues}
    rows = [row for row in await _read(app, sql("ready_queues")) if row[0] not in served and row[2] <= now - _UNSERVED]
    names = [f"{queue} ({count} runs)" for queue, count, _ in rows]
    remedy = "start a node that serves it: `ostinato worker --app … --queue NAME`; without --queue it serves `default`"
    return check_none("unserved_queues", names, remedy, words="runs are ready, and no node serves their queue")


async def _unknown_kinds(app: Ostinato, alive: Sequence[NodeInfo], now: Micros) -> Check:
    """Check for kinds of runs that no living node knows, although runs of these kinds have been ready for at least a
    minute."""
    known_kinds = {kind for node in alive for kind in node.kinds}
    rows = await _read(app, sql("ready_kinds"))
    waiting = [(kind, count) for kind, count, since in rows if since <= now - _UNSERVED]
    unknown = [f"{kind} ({count} runs)" for kind, count in waiting if kind not in known_kinds]
    remedy = "start a node whose version and app know these kinds"
    return check_none("unknown_kinds", unknown, remedy, words="runs are ready, and no node knows their kind")


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
    return check_none("failing_schedules", [words for _, words in rows], remedy)


async def _blocking(app: Ostinato, now: Micros) -> Check:
    jobs = [job for job in await app.store.read(lambda _: blocked()) if job.at > now - _DAY]
    if not jobs:
        return Check("blocking_jobs", "ok", "no job has blocked an event loop in the last day")
    names = name_some([f"{job.job} ({job.times} times, last for {job.seconds:g} s at {job.where})" for job in jobs])
    remedy = (
        "declare a job with `def` instead of `async def`, to run in a thread, or with process=True if it computes; "
        "in other asynchronous code, await asyncio.to_thread(…)"
    )
    return Check("blocking_jobs", "notice", f"these block the event loop of their node: {names}", remedy)


def _short(text: str | None) -> str:
    words = " ".join((text or "no reason").split())
    return words if len(words) <= _LENGTH else f"{words[: _LENGTH - 1]}…"


async def _parked_schedules(app: Ostinato) -> Check:
    rows = await _read(app, sql("parked_schedules", limit=MOST))
    remedy = "fix what the reason names, then `ostinato schedules update` or `resume` it, or delete it"
    return check_none("parked_schedules", [f"{row[0]}/{row[1]} ({row[2]})" for row in rows], remedy)


async def _labels(app: Ostinato, *, repair: bool) -> Check:
    """Check whether the search index of jobs and tags lacks entries for schedules. Reads only the first 10,000
    schedules, in the order of their ids. If `repair` is true, also adds the missing entries."""
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
        "schedule_labels", "notice", words, "upgrade that node; a node repairs it within six hours, --repair now"
    )


async def _parked_timers(app: Ostinato, repair: bool) -> Check:
    rows = await _read(app, sql("parked_timers", limit=MOST))
    names = [f"{kind} {owner} {purpose} ({reason})" for kind, owner, purpose, reason in rows]
    check = check_none("parked_timers", names, _remedy_for_parked([str(reason) for *_, reason in rows]))
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
            "a number or a length of time is too large to be stored. Correct the definition that contains it, cancel"
            " the waiting runs and start them again"
        )
    return (
        "`ostinato doctor --repair` tries them again; a newer node may know what an older one did not, so"
        " upgrade the nodes; otherwise report it with the reason"
    )


async def _handlers(app: Ostinato) -> Check:
    names = [f"{job} ({count} runs)" for job, count, _ in await _read(app, sql("unknown_handlers", limit=MOST))]
    remedy = "start a node whose app declares the job, or cancel the runs: `ostinato runs list --status waiting`"
    none = "no run waits for a job that no node knows"
    return check_none("unknown_jobs", names, remedy, words="runs wait for jobs that no node knows", none=none)


def _invariants(findings: Sequence[Finding]) -> list[Check]:
    if not findings:
        return [Check("invariants", "ok", "all hold")]
    checks: list[Check] = []
    for rule in dict.fromkeys(finding.rule for finding in findings):
        violations = [finding for finding in findings if finding.rule == rule]
        repaired = all(finding.repaired for finding in violations)
        names = name_some([f"{finding.subject} {finding.words}" for finding in violations])
        remedy = "repaired" if repaired else violations[0].remedy or _REMEDIES.get(rule, _REPAIRS)
        checks.append(Check(rule, "notice" if repaired else "wrong", f"{count_items(violations)}: {names}", remedy))
    return checks


_REPAIRS = "`ostinato doctor --repair` repairs it"
_REMEDIES = {
    "overdue_timer": "start a node; if one is running, check its log and its load",
    "outcome_unwritten": "remove what refuses it, such as a trigger or a constraint in the database: the node tries"
    " again every half minute; or end the run: `ostinato runs terminate ID`",
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
