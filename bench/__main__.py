"""`python -m bench [name …]`: run the benches, all or the named ones; exit code 1 if a bar is missed."""

from __future__ import annotations

import sys
from collections.abc import Callable

from bench import engine, expressions, http, idle, journeys, limits, peers, schedules, when, wire

BENCHES: dict[str, Callable[[], bool]] = {
    "when": when.main,
    "engine": engine.main,
    "idle": idle.main,
    "peers": peers.main,
    "schedules": schedules.main,
    "http": http.main,
    "expressions": expressions.main,
    "wire": wire.main,
    "journeys": journeys.main,
    "limits": limits.main,
}

names = sys.argv[1:] or list(BENCHES)
unknown = [name for name in names if name not in BENCHES]
if unknown:
    sys.exit(f"no bench is called {unknown[0]!r}; there are: {', '.join(BENCHES)}")
sys.exit(0 if not [name for name in names if not BENCHES[name]()] else 1)
