"""How a task kind reads its settings: as the language reads its own parts, from a dataclass that is its table of
fields. What is wrong comes out as the kind's faults; what was checked when it was deployed reads without any."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from ostinato.journeys.language.shapes import INVALID, Reading, read_object
from ostinato.journeys.plugins import Fault
from ostinato.model import Json
from ostinato.schedules.marked import Marked

T = TypeVar("T")


def read_settings(cls: type[T], settings: Mapping[str, Json]) -> tuple[T | None, list[Fault]]:
    """The settings as a value of this class, or None, and what is wrong with them."""
    reading = Reading(Marked("settings"))
    found: Any = read_object(cls, reading, settings, ())
    faults = [Fault(one.code, one.path, one.message, one.suggestion, one.severity) for one in reading.problems]
    return (None if found is INVALID else found), faults


def settings_of(cls: type[T], settings: Mapping[str, Json]) -> T:
    """The settings of a task that runs. They were read when its journey was deployed."""
    found, faults = read_settings(cls, settings)
    if found is None:
        raise ValueError(f"settings that were never checked: {faults[0].message}")
    return found
