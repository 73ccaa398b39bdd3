"""Instances as rows, both ways."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from ostinato.journeys.machine.model import Instance, read_instance, state_form
from ostinato.store.contract import Row
from ostinato.when.instants import Micros


@dataclass(frozen=True, slots=True)
class Kept:
    """An instance as it is on record. `updated` tells this state of it from every other."""

    instance: Instance
    namespace: str
    updated: Micros
    finished: Micros | None = None
    binding: str | None = None
    generation: int | None = None


def read_kept(row: Row) -> Kept:
    """From `SELECT *` of the instances."""
    (_, namespace, _, _, _, _, state, context, _, _, binding, generation, _, updated, finished) = row
    instance = read_instance(orjson.loads(state), orjson.loads(context))
    return Kept(instance, namespace, updated, finished, binding, generation)


def insert_row(kept: Kept) -> Row:
    """For `insert_journeys`."""
    instance = kept.instance
    return (
        instance.id,
        kept.namespace,
        instance.definition,
        instance.version,
        instance.phase,
        instance.current_state,
        dump(state_form(instance)),
        dump(instance.context),
        dump(list(instance.tags)) if instance.tags else None,
        dump(instance.attributes) if instance.attributes else None,
        kept.binding,
        kept.generation,
        instance.started,
        kept.updated,
        kept.finished,
    )


def move_row(kept: Kept) -> Row:
    """For `move_journeys`."""
    instance = kept.instance
    return (
        instance.id,
        instance.phase,
        instance.current_state,
        dump(state_form(instance)),
        dump(instance.context),
        dump(instance.attributes) if instance.attributes else None,
        kept.updated,
        kept.finished,
    )


def labels(tags: Iterable[str], attributes: Mapping[str, str]) -> list[str]:
    return [*(f"tag:{one}" for one in tags), *(f"{name}={value}" for name, value in attributes.items())]


def dump(value: Any) -> str:
    return orjson.dumps(value).decode()
