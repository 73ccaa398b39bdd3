"""How a task kind reads its settings: as the language reads its own parts, from a dataclass that is its table of
fields. What is wrong comes out as the kind's faults; what was checked when it was deployed reads without any."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from ostinato.journeys.language.shapes import Reading, explained, read_object
from ostinato.journeys.plugins import Fault
from ostinato.model import Json
from ostinato.schedules.marked import Marked

T = TypeVar("T")


def faults_in(
    cls: type[T], settings: Mapping[str, Json], rules: Callable[[T], Iterable[Fault]] = lambda _: ()
) -> list[Fault]:
    """What is wrong with settings: their shape, and what these rules find in all that could be read."""
    reading = Reading(Marked("settings"))
    found: T = read_object(cls, reading, settings, ())
    shape = [Fault(one.code, one.path, one.message, one.suggestion, one.severity) for one in reading.problems]
    return [*shape, *(one for one in rules(found) if not explained(reading.unread, one.path))]


def settings_of(cls: type[T], settings: Mapping[str, Json]) -> T:
    """The settings of a task that runs. They were read when its journey was deployed."""
    reading = Reading(Marked("settings"))
    found: T = read_object(cls, reading, settings, ())
    if reading.problems:
        raise ValueError(f"settings that were never checked: {reading.problems[0].message}")
    return found
