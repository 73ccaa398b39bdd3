"""Read and write Temporal's search attributes, and check their types."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from temporalio.api.common.v1 import SearchAttributes
from temporalio.api.enums.v1 import IndexedValueType

from ostinato.app import Ostinato
from ostinato.errors import did_you_mean, short_repr
from ostinato.faces.temporal.errors import Wrong
from ostinato.faces.temporal.payloads import payload_of, value_of
from ostinato.store.contract import Operation
from ostinato.temporal_workflow_ids.store import statement
from ostinato.when.instants import from_datetime

TYPES: dict[int, str] = {
    int(number): "".join(word.capitalize() for word in name.removeprefix("INDEXED_VALUE_TYPE_").split("_"))
    for name, number in IndexedValueType.items()
    if number
}
NUMBERS: dict[str, Any] = {name: number for number, name in TYPES.items()}

# Temporal's own attributes of runs and of schedules. A client can neither register nor set them.
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
    """Return the search attributes that are registered in the app's namespace, as a dict from name to type."""

    def read(_: int) -> Operation[dict[str, str]]:
        return {row[0]: row[1] for row in (yield statement("search_attributes", namespace=app.namespace))}

    return await app.store.read(read)


def reserved(name: str) -> bool:
    """Return whether a name belongs to one of Temporal's own attributes, or begins with `Temporal`.

    Clients cannot set attributes with such a name.
    """
    return name in OF_RUNS or name in OF_SCHEDULES or name.startswith("Temporal")


def _is_datetime(value: Any) -> bool:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


_FITS: dict[str, Callable[[Any], bool]] = {
    "Text": lambda value: isinstance(value, str),
    "Keyword": lambda value: isinstance(value, str),
    "Int": _is_integer,
    "Double": lambda value: isinstance(value, float) or _is_integer(value),
    "Bool": lambda value: isinstance(value, bool),
    "Datetime": _is_datetime,
    "KeywordList": _is_list_of_texts,
}


def _single(value: Any, kind: str) -> Any:
    """Return the item if `value` is a list of one item and `kind` is not KeywordList. Otherwise return `value`.

    Older clients send every value in a list of one item.
    """
    return value[0] if isinstance(value, list) and len(value) == 1 and kind != "KeywordList" else value


def read_attributes(message: SearchAttributes, types: Mapping[str, str], field: str) -> dict[str, Any]:
    """Return the search attributes in `message` as a dict from name to value, without null values.

    `types` is a dict from the name of each registered attribute to its type. Raises `Wrong` if a name is one of
    Temporal's own or is not registered, or if a value does not have the registered type. The error names the attribute
    as `<field>.<name>`.
    """
    values: dict[str, Any] = {}
    for name, payload in message.indexed_fields.items():
        place = f"{field}.{name}"
        if reserved(name):
            raise Wrong(place, "this attribute is the system's own and cannot be set")
        if name not in types:
            hint = did_you_mean(name, types) or (f"there are {', '.join(types)}" if types else "there are none yet")
            raise Wrong(place, f"no such search attribute is registered in this namespace; {hint}")
        kind = types[name]
        kind_sent = payload.metadata.get("type", b"").decode("utf-8", "replace")
        if kind_sent and kind_sent != kind:
            raise Wrong(place, f"it is registered as {kind}, not as {kind_sent}")
        value = _single(value_of(payload, place), kind)
        if value is None:
            continue
        if not _FITS[kind](value):
            raise Wrong(place, f"{short_repr(value)} is not of its type, {kind}")
        values[name] = value
    return values


def typed(attributes: SearchAttributes, types: Mapping[str, str]) -> SearchAttributes:
    """Return a copy of search attributes, with missing types filled in from `types`."""
    message = SearchAttributes()
    for name, payload in attributes.indexed_fields.items():
        message.indexed_fields[name].CopyFrom(payload)
        if "type" not in payload.metadata and name in types:
            message.indexed_fields[name].metadata["type"] = types[name].encode()
    return message


def write_attributes(values: Mapping[str, Any], types: Mapping[str, str]) -> SearchAttributes:
    """Return a message with the search attributes in `values`.

    An attribute is left out if its value has a wrong type. It is also left out if it is neither in `types` nor one of
    Temporal's own attributes of runs.
    """
    message = SearchAttributes()
    for name, value in values.items():
        kind = types.get(name) or OF_RUNS.get(name)
        if kind is not None and _FITS[kind](value):
            message.indexed_fields[name].CopyFrom(payload_of(value))
            message.indexed_fields[name].metadata["type"] = kind.encode()
    return message


def attribute_value(values: Mapping[str, Any], name: str, types: Mapping[str, str]) -> Any:
    """Return the value of an attribute, so that a query can compare the value. A time is returned in microseconds.

    Return None if the attribute has no value, or if the value does not have the registered type.
    """
    kind = types[name]
    value = _single(values.get(name), kind)
    if not _FITS[kind](value):
        return None
    return from_datetime(datetime.fromisoformat(value)) if kind == "Datetime" else value
