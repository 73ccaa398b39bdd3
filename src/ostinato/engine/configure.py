"""How a node works, read from what people write and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from ostinato.engine.engine import Settings
from ostinato.errors import OstinatoError, read_text
from ostinato.model import read_length
from ostinato.when.instants import SECOND

_LENGTHS = {"lease": SECOND, "grace": 0, "keep_runs": SECOND, "keep_events": SECOND}
_COUNTS = {"concurrency": 10_000, "threads": 1_000}


def configured(base: Settings, given: Mapping[str, Any]) -> Settings:
    """Settings with what is given put in place of what they say."""
    known = {field.name for field in fields(Settings)}
    found: dict[str, Any] = {}
    for name, value in given.items():
        if name not in known:
            raise OstinatoError(f"a node has no setting {name!r}; there are {', '.join(sorted(known))}")
        if name in _LENGTHS:
            found[name] = read_length(value, name)
            if found[name] < _LENGTHS[name]:
                raise OstinatoError(f"{name} {value!r} is too short; a second is the least")
        elif name in _COUNTS:
            if type(value) is not int or not 1 <= value <= _COUNTS[name]:
                raise OstinatoError(f"{name} {value!r} is not a whole number from 1 to {_COUNTS[name]:,}")
            found[name] = value
        elif name == "queues":
            if not value:
                raise OstinatoError("a node needs at least one queue; leave queues out for 'default'")
            found[name] = (value,) if isinstance(value, str) else tuple(value)
            for queue in found[name]:
                read_text(queue, "the queue")
        else:
            found[name] = value
    return replace(base, **found)
