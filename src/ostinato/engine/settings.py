"""Read and check the settings of a node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from ostinato.engine.node import Settings
from ostinato.errors import OstinatoError, check_text, did_you_mean, list_choices
from ostinato.model import read_length
from ostinato.when.instants import SECOND

_LENGTHS = {"lease": SECOND, "grace": 0, "keep_runs": SECOND, "keep_events": SECOND}
_COUNTS = {"concurrency": 10_000, "threads": 1_000}


def change_settings(base: Settings, values: Mapping[str, Any]) -> Settings:
    """Return a copy of `base` with some settings replaced. `values` maps the names of these settings to their new
    values. Raises `OstinatoError` if a name is unknown or a value is wrong."""
    names = {field.name for field in fields(Settings)}
    read: dict[str, Any] = {}
    for name, value in values.items():
        if name not in names:
            hint = did_you_mean(name, sorted(names)) or list_choices(sorted(names))
            raise OstinatoError(f"a node has no setting {name!r}; {hint}")
        if name in _LENGTHS:
            read[name] = read_length(value, name)
            if read[name] < _LENGTHS[name]:
                raise OstinatoError(f"{name} {value!r} is too short; a second is the least")
        elif name in _COUNTS:
            if type(value) is not int or not 1 <= value <= _COUNTS[name]:
                raise OstinatoError(f"{name} {value!r} is not a whole number from 1 to {_COUNTS[name]:,}")
            read[name] = value
        elif name == "queues":
            if not value:
                raise OstinatoError("a node needs at least one queue; leave queues out for 'default'")
            read[name] = (value,) if isinstance(value, str) else tuple(value)
            for queue in read[name]:
                check_text(queue, "the queue")
        else:
            read[name] = value
    return replace(base, **read)
