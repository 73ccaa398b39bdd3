"""List the extensions (`Way`) that come with Ostinato, and collect their tables and actions. Read files of schedules,
which may use these actions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from ostinato.engine.ways import Table, Way, Ways, load
from ostinato.errors import OstinatoError
from ostinato.flows.way import FLOWS
from ostinato.functions.way import FUNCTIONS
from ostinato.journeys.way import JOURNEYS
from ostinato.webhooks.way import WEBHOOKS
from ostinato.workflows.way import WORKFLOWS

if TYPE_CHECKING:  # what is only loaded where it is used
    from ostinato.journeys.settings import JourneySettings
    from ostinato.journeys.task_kind import Plugins
    from ostinato.schedules.actions import ActionKinds
    from ostinato.schedules.companions import Companions
    from ostinato.schedules.declared.files import ScheduleFile
    from ostinato.when.durations import Length

WAYS = (WEBHOOKS, JOURNEYS, WORKFLOWS, FUNCTIONS, FLOWS)
_FACES = (
    Table("ostinato_forms"),
    Table("ostinato_temporal_executions"),
    Table("ostinato_search_attributes", "cascade"),
)


class WaySettings(TypedDict, total=False):
    """The settings of the extensions in `WAYS`, so that type checkers can check an app's keyword arguments."""

    webhook_patience: Length
    journeys: str | Path | Sequence[str | Path]
    journey_settings: JourneySettings | None
    journey_plugins: Plugins | None
    function_steps: int
    function_cache: int


def all_ways(more: Iterable[Way] = ()) -> Ways:
    """Return the extensions (`Way`) that come with Ostinato, and those in `more`."""
    return Ways([*WAYS, *more])


def named_ways(names: Iterable[str]) -> list[Way]:
    """Import the extensions with names such as `module:NAME`. Raises `OstinatoError` if an object is not a `Way`."""
    return list(map(_named, names))


def _named(name: str) -> Way:
    try:
        way = load(name) if ":" in name else None
    except (ImportError, AttributeError) as problem:
        raise OstinatoError(f"the way {name!r} cannot be loaded: {problem}") from None
    if not isinstance(way, Way):
        raise OstinatoError(f"{name!r} is not a way; write module:NAME of a Way")
    return way


def owned_tables(ways: Ways) -> Iterator[tuple[str, Table]]:
    """Yield (owner, table) for every table. The owner is "engine", "schedules", "faces" or the name of an extension."""
    from ostinato.engine.tables import TABLES as ENGINE
    from ostinato.schedules.tables import TABLES as SCHEDULES

    of_ways = {way.name: way.tables for way in ways}
    owners: Mapping[str, Sequence[Table]] = {"engine": ENGINE, "schedules": SCHEDULES, "faces": _FACES, **of_ways}
    return ((owner, table) for owner, tables in owners.items() for table in tables)


def action_kinds(ways: Ways) -> ActionKinds:
    """Return what schedules can start besides jobs: the actions that the extensions in `ways` define, by name. Raises
    `OstinatoError` if an action is not an `ActionKind`."""
    from ostinato.schedules.actions import ActionKind

    kinds: dict[str, ActionKind] = {}
    for name, action in ways.actions.items():
        if not isinstance(action, ActionKind):
            raise OstinatoError(f"the action {name!r} of a way is not an ActionKind")
        kinds[name] = action
    return kinds


def companions() -> Companions:
    """Return all companions by name. A companion is a set of functions that store additional rows for the runs of some
    schedules, and delete these rows again."""
    from ostinato import temporal_workflow_ids
    from ostinato.flows.schedules import companion as agent_schedules

    return {
        temporal_workflow_ids.NAME: temporal_workflow_ids.COMPANION,
        agent_schedules.COMPANION_NAME: agent_schedules.COMPANION,
    }


def read_schedules(path: str | Path, *, name: str | None = None, ways: Iterable[Way] = ()) -> ScheduleFile:
    """Read a file of schedules. The origin of these schedules is `file:{name}`. By default, `name` is the file's name.
    The schedules may use the actions of the extensions in `ways` and of those that come with Ostinato. Raises
    `FileError` with all mistakes, or `OstinatoError` if the file cannot be read."""
    from ostinato.schedules.declared import files

    return files.read_schedules(path, name=name, kinds=action_kinds(all_ways(ways)))


def parse_schedules(
    text: str, file: str = "schedules.yaml", *, name: str | None = None, ways: Iterable[Way] = ()
) -> ScheduleFile:
    """Read schedules from a text. Error messages use `file` as the name of the file. The parameters `name` and `ways`
    mean the same as for `read_schedules`. Raises `FileError` with all mistakes in the text."""
    from ostinato.schedules.declared import files

    return files.parse_schedules(text, file, name=name, kinds=action_kinds(all_ways(ways)))
