"""Other engines on the same store in the same run: each at its defaults, and at its best documented setting.

Every round of every contender is a fresh store and, for the peers, a process of its own. What counts is durably
finished work, from the first start to the last end, by the contender's own books; see `bench.peer` for what each of
them calls finished. Defaults are compared with our defaults, the best with our best.
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
from dataclasses import dataclass

from bench.engine import whole
from bench.measure import machine, show
from bench.stores import Fresh, postgres, settings_of, sqlite

ROUNDS = 5
OURS = 10_000


@dataclass(frozen=True)
class Peer:
    name: str
    count: int  # so many that a round takes a few seconds at most
    best: str
    note: str


ON_SQLITE = [
    Peer("huey", 5_000, "results=False, enqueued first", "fsync off by default; a task is taken out before it runs"),
    Peer("dbos", 200, "poll 0.05 s, 16 threads enqueue", "a queue; polls every second by default"),
]
ON_POSTGRES = [
    Peer("pgqueuer", 5_000, "batch_size=500", "batch_size=10 by default"),
    Peer("procrastinate", 500, "concurrency=20", "concurrency=1 by default"),
    Peer("dbos", 300, "poll 0.05 s, 16 threads enqueue", "a queue; polls every second by default"),
]


def rate_of(peer: Peer, setting: str, url: str) -> float:
    command = [sys.executable, "-m", "bench.peer", peer.name, setting, url, str(peer.count)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        raise RuntimeError(f"{peer.name} ({setting}) failed: {done.stderr[-2000:]}")
    return peer.count / float(done.stdout.split()[-1])


def against(store: str, fresh: Fresh, peers: list[Peer]) -> bool:
    ours: dict[str, list[float]] = {"default": [], "best": []}
    theirs: dict[tuple[str, str], list[float]] = {}
    for _ in range(ROUNDS):
        ours["default"].append(OURS / asyncio.run(whole(fresh(), OURS, 100)))
        ours["best"].append(OURS / asyncio.run(whole(fresh(), OURS, 500)))
        for peer in peers:
            for setting in ("default", "best"):
                theirs.setdefault((peer.name, setting), []).append(rate_of(peer, setting, fresh()))
    mine = {setting: statistics.median(rates) for setting, rates in ours.items()}
    show(f"\n{store}\n  {'ostinato':14} {'defaults':31}{mine['default']:8,.0f}/s")
    show(f"  {'':14} {'concurrency=500':31}{mine['best']:8,.0f}/s")
    good = True
    for peer in peers:
        for setting, bar in (("default", 3.0), ("best", 1.5)):
            rate = statistics.median(theirs[peer.name, setting])
            times = mine[setting] / rate
            met = times >= bar
            good = good and met
            said = "defaults" if setting == "default" else peer.best
            show(
                f"  {peer.name:14} {said:31}{rate:8,.0f}/s   ostinato {times:7.1f} times"
                f"   bar {bar}: {'met' if met else 'MISSED'}"
            )
        show(f"  {'':14} {peer.note}")
    return good


def main() -> bool:
    show("== peers: durably finished empty jobs, start to end; medians of five interleaved rounds ==")
    show(machine("ostinato", "huey", "dbos", "pgqueuer", "procrastinate", "asyncpg", "psycopg", "sqlalchemy"))
    with sqlite() as fresh:
        on_sqlite = against("SQLite (Ostinato: WAL, synchronous=FULL)", fresh, ON_SQLITE)
    with postgres() as fresh:
        on_postgres = against(f"PostgreSQL: {asyncio.run(settings_of(fresh()))}", fresh, ON_POSTGRES)
    return on_sqlite and on_postgres
