"""The ways that the command line knows: those that come with Ostinato, and those that the environment names."""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path

from ostinato.engine.ways import Way, Ways
from ostinato.ways import all_ways, named_ways

VARIABLE = "OSTINATO_WAYS"


def more_ways() -> list[Way]:
    """Return the ways that the environment names, as `module:NAME`, separated by commas."""
    return list(_more(os.environ.get(VARIABLE, "")))


def ways_here() -> Ways:
    return all_ways(more_ways())


@cache
def _more(names: str) -> tuple[Way, ...]:
    """Return the ways of these names. Modules in the current folder are found, too, as for `--app`."""
    if names and (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)
    return tuple(named_ways(name.strip() for name in names.split(",") if name.strip()))
