"""The ways that come with Ostinato, one line each, and the owner of every table."""

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
    """The settings of the ways above, for type checkers."""

    webhook_patience: Length
    journeys: str | Path | Sequence[str | Path]
    journey_settings: JourneySettings | None
    journey_plugins: Plugins | None
    function_steps: int
    function_cache: int


def all_ways(more: Iterable[Way] = ()) -> Ways:
    """The ways that come with Ostinato, and more."""
    return Ways([*WAYS, *more])


def named_ways(names: Iterable[str]) -> list[Way]:
    """Ways by their places, each as `module:NAME`."""
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
    """Every table with its owner: the engine, schedules, faces, or a way by its name."""
    from ostinato.engine.tables import TABLES as ENGINE
    from ostinato.schedules.tables import TABLES as SCHEDULES

    of_ways = {way.name: way.tables for way in ways}
    owners: Mapping[str, Sequence[Table]] = {"engine": ENGINE, "schedules": SCHEDULES, "faces": _FACES, **of_ways}
    return ((owner, table) for owner, tables in owners.items() for table in tables)


def action_kinds(ways: Ways) -> ActionKinds:
    """Return the kinds of actions that schedules can start beside jobs."""
    from ostinato.schedules.actions import ActionKind

    kinds: dict[str, ActionKind] = {}
    for name, action in ways.actions.items():
        if not isinstance(action, ActionKind):
            raise OstinatoError(f"the action {name!r} of a way is not an ActionKind")
        kinds[name] = action
    return kinds


def companions() -> Companions:
    """Return the companions of schedules, by the name in `Schedule.companion`."""
    from ostinato import temporal_workflow_ids
    from ostinato.flows.schedules import rows as agent_schedules

    return {
        temporal_workflow_ids.NAME: temporal_workflow_ids.COMPANION,
        agent_schedules.COMPANION_NAME: agent_schedules.COMPANION,
    }


def read_schedules(path: str | Path, *, name: str | None = None, ways: Iterable[Way] = ()) -> ScheduleFile:
    """Read a file of schedules. `name` is what they are known to come from; else the file's own name. `ways` are those
    from outside whose actions it may name."""
    from ostinato.schedules.declared import files

    return files.read_schedules(path, name=name, kinds=action_kinds(all_ways(ways)))


def parse_schedules(
    text: str, file: str = "schedules.yaml", *, name: str | None = None, ways: Iterable[Way] = ()
) -> ScheduleFile:
    """Read a text of schedules; `file` is what errors call it."""
    from ostinato.schedules.declared import files

    return files.parse_schedules(text, file, name=name, kinds=action_kinds(all_ways(ways)))
