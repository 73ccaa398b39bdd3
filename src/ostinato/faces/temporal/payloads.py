"""Payloads: JSON values with their encoding beside them, and how they become a job's arguments."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from typing import Any

import orjson
from google.protobuf.message import Message
from temporalio.api.common.v1 import Memo, Payload, Payloads

from ostinato.engine.handlers import BY_POSITION, Declaration, Handler
from ostinato.errors import OstinatoError, shown
from ostinato.faces.temporal.errors import Wrong

_JSON = (b"json/plain", b"json/protobuf")
_NULL = b"binary/null"


def value_of(payload: Payload, field: str) -> Any:
    """The JSON value of a payload; what is not JSON cannot be an argument here."""
    encoding = payload.metadata.get("encoding", b"")
    if encoding == _NULL:
        return None
    if encoding not in _JSON:
        given = shown(encoding.decode("utf-8", "replace")) if encoding else "missing"
        raise Wrong(field, f"its encoding is {given}; a job takes json/plain, json/protobuf and binary/null")
    try:
        return orjson.loads(payload.data)
    except orjson.JSONDecodeError as problem:
        raise Wrong(field, f"{shown(payload.data[:80])} is not JSON: {problem}") from None


def payload_of(value: Any) -> Payload:
    if value is None:
        return Payload(metadata={"encoding": _NULL})
    return Payload(metadata={"encoding": _JSON[0]}, data=orjson.dumps(value))


def arguments(payloads: Payloads, job: Handler | Declaration | None, field: str) -> dict[str, Any]:
    """What a job is given: by name where the function is known here, else by position, to be named when it runs."""
    given = [value_of(one, f"{field}[{n}]") for n, one in enumerate(payloads.payloads)]
    if not given:
        return {}
    if not isinstance(job, Handler):
        return {BY_POSITION: given}
    try:
        found = job.named(given)
        job.check(found)
    except OstinatoError as problem:
        raise Wrong(field, str(problem)) from None
    return found


def payloads_for(input: Mapping[str, Any] | None) -> Payloads:
    """The arguments of something that did not come over the wire: one object with names."""
    if not input:
        return Payloads()
    given: Iterable[Any] = input[BY_POSITION] if BY_POSITION in input else [dict(input)]
    return Payloads(payloads=[payload_of(one) for one in given])


def same_arguments(payloads: Payloads, input: Mapping[str, Any] | None) -> bool:
    """Whether these payloads are what a run was given."""
    try:
        given = [value_of(one, "input") for one in payloads.payloads]
    except Wrong:
        return False
    there = dict(input or {})
    return given in (there.get(BY_POSITION), list(there.values()), [there]) or (not given and not there)


def memo_of(memo: Memo, field: str) -> dict[str, Any] | None:
    """A memo as JSON, as far as it is: what is not stays in its form alone."""
    found: dict[str, Any] = {}
    for name, payload in memo.fields.items():
        try:
            found[name] = value_of(payload, f"{field}.{name}")
        except Wrong:
            continue
    return found or None


def memo_for(memo: Any) -> Memo:
    if not isinstance(memo, Mapping):
        return Memo() if memo is None else Memo(fields={"memo": payload_of(memo)})
    return Memo(fields={str(name): payload_of(value) for name, value in memo.items()})


def pack(message: Message) -> str:
    """A message as text for the store, byte for byte the same whenever it is the same."""
    return b64encode(message.SerializeToString(deterministic=True)).decode()


def unpack(text: str, into: Any) -> Any:
    into.ParseFromString(b64decode(text))
    return into
