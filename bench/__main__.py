"""`python -m bench [name …]`: run the benches, all or the named ones; exit code 1 if a bar is missed."""

from __future__ import annotations

import sys
from importlib import import_module

BENCHES = (
    "when",
    "engine",
    "idle",
    "peers",
    "schedules",
    "http",
    "expressions",
    "wire",
    "journeys",
    "limits",
    "workflows",
    "functions",
    "agents",
)

names = sys.argv[1:] or list(BENCHES)
unknown = [name for name in names if name not in BENCHES]
if unknown:
    sys.exit(f"no bench is called {unknown[0]!r}; there are: {', '.join(BENCHES)}")
# Each is loaded when its turn comes: one that is named needs only what it compares with.
missed = [name for name in names if not import_module(f"bench.{name}").main()]
sys.exit(1 if missed else 0)
