"""Convert instances to rows, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from ostinato.journeys.machine.model import Instance, instance_from_json, instance_to_json
from ostinato.journeys.store import TABLES
from ostinato.store.columns import getter, writer
from ostinato.store.contract import Row
from ostinato.when.instants import Micros

KIND = "journey"  # the kind of the runs, timers and schedule actions of journeys


@dataclass(frozen=True, slots=True)
class JourneyRecord:
    """A stored instance.

    - `updated`: when this state of the instance was stored, in microseconds since 1970; each stored state of an
      instance has a later time than the state before it
    - `binding`: the id of the binding (a schedule that a journey created) that started the instance, or None
    - `generation`: the generation of the binding when the instance began, or None if there is no binding; a binding has
      the generation 1 at first, and each renewal increases it
    """

    instance: Instance
    namespace: str
    updated: Micros
    finished: Micros | None = None
    binding: str | None = None
    generation: int | None = None


_COLUMNS = TABLES["journey"].columns
# The other columns are for searching.
_read = getter(
    _COLUMNS,
    *("state", "context", "namespace", "updated", "finished", "binding_id", "binding_generation"),
)
run_id_of = getter(_COLUMNS, "run_id")


def read_record(row: Row) -> JourneyRecord:
    """Read an instance from a row. The row must have the columns that `{journey_columns}` means in SQL
    statements."""
    state, context, *others = _read(row)
    return JourneyRecord(instance_from_json(orjson.loads(state), orjson.loads(context)), *others)


def labels(tags: Iterable[str], attributes: Mapping[str, str]) -> list[str]:
    """Return the labels to search an instance by: `tag:name` for each tag, and `name=value` for each attribute."""
    return [*(f"tag:{one}" for one in tags), *(f"{name}={value}" for name, value in attributes.items())]


def dump(value: Any) -> str:
    return orjson.dumps(value).decode()


_OF_INSTANCE = "definition version phase current_state context tags attributes started".split()
_ATTRIBUTES = {
    **{name: f"instance.{name}" for name in _OF_INSTANCE},
    "run_id": "instance.id",
    "state": "instance",
    "binding_id": "binding",
    "binding_generation": "generation",
}
_WRITERS: Mapping[str, Callable[[Any], Any]] = {
    "instance": lambda instance: dump(instance_to_json(instance)),
    "instance.context": dump,
    "instance.tags": lambda tags: dump(list(tags)) if tags else None,
    "instance.attributes": lambda attributes: dump(attributes) if attributes else None,
}


def _writer(names: Iterable[str]) -> Callable[[JourneyRecord], Row]:
    return writer((_ATTRIBUTES.get(name, name) for name in names), **_WRITERS)


# Make the row of a record for the statement `insert_journeys`, and that for `update_journeys`, which has fewer columns.
insert_row = _writer(_COLUMNS)
update_row = _writer("run_id phase current_state state context attributes updated finished".split())
