"""Look for stored states that must never exist. If `repair` is true, `scan` repairs the states that are safe to
repair."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from ostinato.engine.crashes import recover
from ostinato.engine.kinds import Kinds
from ostinato.engine.limits import Gate, let_in, let_out, open_by_rate
from ostinato.engine.rows import whole_run
from ostinato.engine.runs import wake
from ostinato.engine.unwritten import forget, unwritten
from ostinato.model import Run, Status
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import SECOND, Micros

_BITE = 200  # findings of each rule in one scan
LONG: Micros = 60 * SECOND  # a state that may exist for a moment is a finding only after this time


@dataclass(frozen=True, slots=True)
class Finding:
    """One broken invariant. `subject` names the row, such as the id of a run. `remedy` says what an operator can do; if
    it is empty, the usual advice for the rule applies."""

    rule: str
    subject: str
    words: str
    repaired: bool
    remedy: str = ""

    def as_dict(self) -> dict[str, Any]:
        return {name: part for name, part in asdict(self).items() if name != "remedy"}


def scan(now: Micros, repair: bool, new_id: Callable[[Micros], str], kinds: Kinds) -> Operation[list[Finding]]:
    findings: list[Finding] = []
    for look in kinds.scans:  # the scans of the ways come first, because ways lock their own rows before runs
        findings += yield from look(now, repair, kinds)
    findings += yield from _orphans(now, repair, new_id, kinds)
    findings += yield from _sleepers(now, repair)
    findings += yield from _serials(now, repair)
    findings += yield from _limits(now, repair)
    findings += yield from _unwritten(now, repair)
    for kind, owner, purpose, due in (yield sql("overdue", long_ago=now - LONG, limit=_BITE)):
        words = f"due {(now - due) // SECOND} s ago and not fired: is any node running?"
        findings.append(Finding("overdue_timer", f"{kind} {owner} {purpose}", words, False))
    for id, _, status in (yield sql("endless", limit=_BITE)):
        findings.append(Finding("no_end", id, f"is {status}, but has no time of ending", False))
    for run_kind in kinds.runs.values():
        if run_kind.scan is not None:
            findings += yield from run_kind.scan(now, repair, kinds)
    return findings


def _orphans(now: Micros, repair: bool, new_id: Callable[[Micros], str], kinds: Kinds) -> Operation[list[Finding]]:
    rows = yield sql("orphans", now=now, long_ago=now - LONG, limit=_BITE)
    runs = [whole_run(row) for row in rows]
    by_node: dict[str, list[Run]] = {}
    for run in runs:
        by_node.setdefault(run.node or "", []).append(run)
    if repair:
        for node, held in by_node.items():
            yield from recover(held, node, now, new_id, kinds)
    return [
        Finding(
            "active_under_no_node",
            run.id,
            f"is active under node {run.node}, which is gone",
            repair and kinds.knows(run.kind),
        )
        for run in runs
    ]


def _sleepers(now: Micros, repair: bool) -> Operation[list[Finding]]:
    rows = yield sql("sleepers", limit=_BITE)
    if rows and repair:
        yield from wake([row[0] for row in rows], now)
    return [Finding("waiting_for_nothing", row[0], "waits without a timer or a reason", repair) for row in rows]


def _serials(now: Micros, repair: bool) -> Operation[list[Finding]]:
    dead: list[Row] = yield sql("dead_holders", limit=_BITE)
    if dead and repair:
        gone = [Run(id=holder, root_id=holder, name="", namespace=ns, serial_key=key) for ns, key, holder in dead]
        yield from let_out(gone, [], now)
    free = yield sql("free_lines", limit=_BITE)
    if free and repair:
        yield from let_in([whole_run(row) for row in free], now)
    findings = [
        Finding("serial_held_by_the_dead", f"{ns}/{key}", f"held by {holder}, which is over", repair)
        for ns, key, holder in dead
    ]
    return findings + [
        Finding("in_line_for_nothing", row[0], "in line for a serial key that is free", repair) for row in free
    ]


def _limits(now: Micros, repair: bool) -> Operation[list[Finding]]:
    findings = []
    for namespace, key in (yield sql("miscounted", limit=_BITE)):
        rows = yield sql("lock_limits", [(namespace, key)])
        counted = int((yield sql("going", namespace=namespace, key=key))[0][0])
        gate = Gate(*rows[0])
        if gate.used == counted:
            continue  # the count is right now: another transaction has changed it and committed meanwhile
        words = f"its count is {gate.used}, but {counted} runs hold it"
        findings.append(Finding("limit_miscounted", f"{namespace}/{key}", words, repair))
        if repair:
            yield sql("save_limits", [(namespace, key, counted, gate.arrival)])
            yield from open_by_rate([(namespace, key)], now)
    return findings


def _unwritten(now: Micros, repair: bool) -> Operation[list[Finding]]:
    """Find runs whose outcome the store refuses. If `repair` is true, delete reports about runs that their node holds
    no more."""
    reports = yield from unwritten()
    rows = (yield sql("runs_by_ids", [(report.run,) for report in reports])) if reports else []
    held = {(run.id, run.node, run.claim) for run in map(whole_run, rows) if run.status is Status.ACTIVE}
    settled = [report.run for report in reports if (report.run, report.node, report.claim) not in held]
    if settled and repair:
        yield from forget(settled)
    return [
        Finding(
            "outcome_unwritten",
            report.run,
            f"ended on node {report.node} {(now - report.since) // SECOND} s ago, and the store refuses its outcome: "
            f"{report.problem}",
            False,
        )
        for report in reports
        if report.run not in settled and report.since <= now - LONG
    ]
