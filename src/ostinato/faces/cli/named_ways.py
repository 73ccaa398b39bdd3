"""Find the extensions (`Way`) that the command line knows: Ostinato's own, and those that `OSTINATO_WAYS` names."""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path

from ostinato.engine.ways import Way, Ways
from ostinato.ways import all_ways, named_ways

VARIABLE = "OSTINATO_WAYS"


def more_ways() -> list[Way]:
    """Return the extensions that the environment variable `OSTINATO_WAYS` names. Its value is a list of `module:NAME`,
    separated by commas."""
    return list(_more(os.environ.get(VARIABLE, "")))


def ways_here() -> Ways:
    return all_ways(more_ways())


def newest_schemas() -> dict[str, int]:
    """Return a dict from the name of an extension to its newest schema version. Extensions without tables are left
    out."""
    return {way.name: len(way.loaded_migrations) for way in ways_here() if way.loaded_migrations}


@cache
def _more(names: str) -> tuple[Way, ...]:
    """Import extensions. `names` has the form `module:NAME, module:NAME`. Modules may be in the current folder."""
    if names and (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)
    return tuple(named_ways(name.strip() for name in names.split(",") if name.strip()))
