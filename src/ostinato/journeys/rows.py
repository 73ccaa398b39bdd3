"""Convert instances to rows, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from ostinato.journeys.machine.model import Instance, instance_from_json, instance_to_json
from ostinato.store.columns import JOURNEY_COLUMNS, getter
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


# The other columns are for searching.
_read = getter(
    JOURNEY_COLUMNS,
    *("state", "context", "namespace", "updated", "finished", "binding_id", "binding_generation"),
)
run_id_of = getter(JOURNEY_COLUMNS, "run_id")
# The columns that `update_journeys` changes, after the run's id.
_changing = getter(
    JOURNEY_COLUMNS, "run_id", "phase", "current_state", "state", "context", "attributes", "updated", "finished"
)


def read_record(row: Row) -> JourneyRecord:
    """Read an instance from a row. The columns of the row are those that statements write as `{journey_columns}`."""
    state, context, *others = _read(row)
    return JourneyRecord(instance_from_json(orjson.loads(state), orjson.loads(context)), *others)


def insert_row(kept: JourneyRecord) -> Row:
    """Return the row for the statement `insert_journeys`."""
    instance = kept.instance
    return (
        instance.id,
        kept.namespace,
        instance.definition,
        instance.version,
        instance.phase,
        instance.current_state,
        dump(instance_to_json(instance)),
        dump(instance.context),
        dump(list(instance.tags)) if instance.tags else None,
        dump(instance.attributes) if instance.attributes else None,
        kept.binding,
        kept.generation,
        instance.started,
        kept.updated,
        kept.finished,
    )


def update_row(kept: JourneyRecord) -> Row:
    """Return the row for the statement `update_journeys`."""
    row: Row = _changing(insert_row(kept))
    return row


def labels(tags: Iterable[str], attributes: Mapping[str, str]) -> list[str]:
    """Return the labels to search an instance by: `tag:name` for each tag, and `name=value` for each attribute."""
    return [*(f"tag:{one}" for one in tags), *(f"{name}={value}" for name, value in attributes.items())]


def dump(value: Any) -> str:
    return orjson.dumps(value).decode()
