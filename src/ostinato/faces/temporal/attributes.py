"""Search attributes: registered by name and type, checked on the way in, typed on the way out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from temporalio.api.common.v1 import SearchAttributes
from temporalio.api.enums.v1 import IndexedValueType

from ostinato.app import Ostinato
from ostinato.errors import did_you_mean, shown
from ostinato.faces.temporal.errors import Wrong
from ostinato.faces.temporal.payloads import payload_of, value_of
from ostinato.store.contract import Operation, sql
from ostinato.when.instants import from_datetime

TYPES: dict[int, str] = {
    int(number): "".join(word.capitalize() for word in name.removeprefix("INDEXED_VALUE_TYPE_").split("_"))
    for name, number in IndexedValueType.items()
    if number
}
NUMBERS: dict[str, Any] = {name: number for number, name in TYPES.items()}

# What Temporal itself has, of runs and of schedules; nobody can register or set one of these.
OF_RUNS = {
    "WorkflowId": "Keyword",
    "WorkflowType": "Keyword",
    "RunId": "Keyword",
    "ExecutionStatus": "Keyword",
    "TaskQueue": "Keyword",
    "StartTime": "Datetime",
    "ExecutionTime": "Datetime",
    "CloseTime": "Datetime",
    "ExecutionDuration": "Int",
    "TemporalScheduledById": "Keyword",
    "TemporalScheduledStartTime": "Datetime",
}
OF_SCHEDULES = {
    "ScheduleId": "Keyword",
    "TemporalScheduleId": "Keyword",
    "TemporalSchedulePaused": "Bool",
    "ScheduleNextActionTime": "Datetime",
    "ScheduleIdleCloseTime": "Datetime",
    "ScheduleRunningWorkflowCount": "Int",
    "ScheduleBufferedStartsCount": "Int",
}


async def registered(app: Ostinato) -> dict[str, str]:
    """Those of the namespace, with their types."""

    def found(_: int) -> Operation[dict[str, str]]:
        return {row[0]: row[1] for row in (yield sql("search_attributes", namespace=app.namespace))}

    return await app.store.read(found)


def reserved(name: str) -> bool:
    return name in OF_RUNS or name in OF_SCHEDULES or name.startswith("Temporal")


def _moment(value: Any) -> bool:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


_FITS: dict[str, Callable[[Any], bool]] = {
    "Text": lambda value: isinstance(value, str),
    "Keyword": lambda value: isinstance(value, str),
    "Int": _whole,
    "Double": lambda value: isinstance(value, float) or _whole(value),
    "Bool": lambda value: isinstance(value, bool),
    "Datetime": _moment,
    "KeywordList": _texts,
}


def _single(value: Any, kind: str) -> Any:
    """The older form of the clients has each value in a list."""
    return value[0] if isinstance(value, list) and len(value) == 1 and kind != "KeywordList" else value


def read_attributes(given: SearchAttributes, known: Mapping[str, str], field: str) -> dict[str, Any]:
    """Their values. One that is null is one that is absent."""
    found: dict[str, Any] = {}
    for name, payload in given.indexed_fields.items():
        place = f"{field}.{name}"
        if reserved(name):
            raise Wrong(place, "this attribute is the system's own and cannot be set")
        if name not in known:
            hint = did_you_mean(name, known) or (f"there are {', '.join(known)}" if known else "there are none yet")
            raise Wrong(place, f"no such search attribute is registered in this namespace; {hint}")
        kind = known[name]
        told = payload.metadata.get("type", b"").decode("utf-8", "replace")
        if told and told != kind:
            raise Wrong(place, f"it is registered as {kind}, not as {told}")
        value = _single(value_of(payload, place), kind)
        if value is None:
            continue
        if not _FITS[kind](value):
            raise Wrong(place, f"{shown(value)} is not of its type, {kind}")
        found[name] = value
    return found


def typed(given: SearchAttributes, known: Mapping[str, str]) -> SearchAttributes:
    """As they came, each with its type."""
    found = SearchAttributes()
    for name, payload in given.indexed_fields.items():
        found.indexed_fields[name].CopyFrom(payload)
        if "type" not in payload.metadata and name in known:
            found.indexed_fields[name].metadata["type"] = known[name].encode()
    return found


def write_attributes(values: Mapping[str, Any], known: Mapping[str, str]) -> SearchAttributes:
    """What a schedule that did not come over the wire says, as far as it is registered."""
    found = SearchAttributes()
    for name, value in values.items():
        kind = known.get(name) or OF_RUNS.get(name)
        if kind is not None and _FITS[kind](value):
            found.indexed_fields[name].CopyFrom(payload_of(value))
            found.indexed_fields[name].metadata["type"] = kind.encode()
    return found


def custom(values: Mapping[str, Any], name: str, known: Mapping[str, str]) -> Any:
    """One of them as a query compares it: a moment as microseconds. What is not of the type that is registered now was
    set when it was another, or elsewhere, and is not found by it."""
    kind = known[name]
    there = _single(values.get(name), kind)
    if not _FITS[kind](there):
        return None
    return from_datetime(datetime.fromisoformat(there)) if kind == "Datetime" else there
