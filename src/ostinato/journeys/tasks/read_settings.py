"""Read the settings of a task into a dataclass, by the same rules as the other parts of a definition."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from ostinato.documents import Positions
from ostinato.journeys.language.shapes import Reading, is_unread, read_object
from ostinato.journeys.task_kind import Fault
from ostinato.model import Json

T = TypeVar("T")


def check_settings(
    cls: type[T], settings: Mapping[str, Json], rules: Callable[[T], Iterable[Fault]] = lambda _: ()
) -> list[Fault]:
    """Return the faults of a task's settings: fields that cannot be read into `cls`, and faults that the function
    `rules` finds in the other fields."""
    reading = Reading(Positions())
    read: T = read_object(cls, reading, settings, ())
    shape = [Fault(one.code, one.path, one.message, one.suggestion, one.severity) for one in reading.problems]
    return [*shape, *(one for one in rules(read) if not is_unread(reading.unread, one.path))]


def read_settings(cls: type[T], settings: Mapping[str, Json]) -> T:
    """Return the settings of a task that is about to run. Raise `ValueError` if they are invalid, which cannot happen
    if they were checked at deployment."""
    reading = Reading(Positions())
    read: T = read_object(cls, reading, settings, ())
    if reading.problems:
        raise ValueError(f"settings that were never checked: {reading.problems[0].message}")
    return read
