"""Convert Temporal's payloads into JSON values and arguments of jobs, and back."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from typing import Any

import orjson
from google.protobuf.message import Message
from temporalio.api.common.v1 import Memo, Payload, Payloads

from ostinato.engine.jobs import BY_POSITION, Handler
from ostinato.errors import OstinatoError, short_repr
from ostinato.faces.temporal.errors import Wrong
from ostinato.faces.temporal.workflow_types import WorkflowType
from ostinato.functions.definition import as_function
from ostinato.functions.model import KIND as FUNCTION

_JSON = (b"json/plain", b"json/protobuf")
_NULL = b"binary/null"


def value_of(payload: Payload, field: str) -> Any:
    """Return the JSON value of a payload. Raises `Wrong` if the payload is not JSON."""
    encoding = payload.metadata.get("encoding", b"")
    if encoding == _NULL:
        return None
    if encoding not in _JSON:
        name = short_repr(encoding.decode("utf-8", "replace")) if encoding else "missing"
        raise Wrong(field, f"its encoding is {name}; a job takes json/plain, json/protobuf and binary/null")
    try:
        return orjson.loads(payload.data)
    except orjson.JSONDecodeError as problem:
        raise Wrong(field, f"{short_repr(payload.data[:80])} is not JSON: {problem}") from None


def payload_of(value: Any) -> Payload:
    if value is None:
        return Payload(metadata={"encoding": _NULL})
    return Payload(metadata={"encoding": _JSON[0]}, data=orjson.dumps(value))


def arguments(payloads: Payloads, workflow_type: WorkflowType, field: str) -> dict[str, Any]:
    """Return the input of a job or function, as a dict by parameter name. Raises `Wrong` if the input is not accepted.

    If this process does not have the code, the parameter names are unknown. Then the dict has only the key
    `BY_POSITION`, with the list of values. The node that runs the job or function fills in the names.
    """
    definition = workflow_type.definition
    values = [value_of(payload, f"{field}[{n}]") for n, payload in enumerate(payloads.payloads)]
    if not values:
        return {}
    try:
        input = definition.named(values) if isinstance(definition, Handler) else {BY_POSITION: values}
        if definition is not None:
            definition.check(input)
    except OstinatoError as problem:
        problem = as_function(problem) if workflow_type.kind == FUNCTION else problem
        raise Wrong(field, str(problem)) from None
    return input


def values_of(payloads: Payloads, field: str) -> Any:
    """Return the values of the arguments in `payloads`. If there are several, return a list of the values. If there is
    one, return its value. If there is none, return None. `field` is the name of the arguments in error messages."""
    values = [value_of(payload, f"{field}[{n}]") for n, payload in enumerate(payloads.payloads)]
    return values if len(values) > 1 else values[0] if values else None


def payloads_for(input: Mapping[str, Any] | None) -> Payloads:
    """Write a run's input. If it has the key `BY_POSITION`, write one payload for each value in the list under this
    key. Otherwise write one payload for the whole input, or none if the input is empty."""
    if not input:
        return Payloads()
    values: Iterable[Any] = input[BY_POSITION] if BY_POSITION in input else [dict(input)]
    return Payloads(payloads=[payload_of(value) for value in values])


def same_arguments(payloads: Payloads, input: Mapping[str, Any] | None) -> bool:
    try:
        values = [value_of(payload, "input") for payload in payloads.payloads]
    except Wrong:
        return False
    fields = dict(input or {})
    return values in (fields.get(BY_POSITION), list(fields.values()), [fields]) or (not values and not fields)


def memo_of(memo: Memo, field: str) -> dict[str, Any] | None:
    """Return the fields of a memo whose values are JSON, as a dict from name to value. Other fields are left out. If no
    field is JSON, return None."""
    values: dict[str, Any] = {}
    for name, payload in memo.fields.items():
        try:
            values[name] = value_of(payload, f"{field}.{name}")
        except Wrong:
            continue
    return values or None


def memo_for(memo: Any) -> Memo:
    if not isinstance(memo, Mapping):
        return Memo() if memo is None else Memo(fields={"memo": payload_of(memo)})
    return Memo(fields={str(name): payload_of(value) for name, value in memo.items()})


def pack(message: Message) -> str:
    """Return a message as text for the store. Equal messages give equal texts."""
    return b64encode(message.SerializeToString(deterministic=True)).decode()


def unpack(text: str, into: Any) -> Any:
    into.ParseFromString(b64decode(text))
    return into
