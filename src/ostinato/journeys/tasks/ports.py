"""What tasks need from outside, and the app gives them as services by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from ostinato.model import Json


class Cache(Protocol):
    """The service `cache`: values by key, shared by the journeys of a namespace. `None` is no value."""

    async def get(self, key: str) -> Json: ...

    async def put(self, key: str, value: Json, ttl_s: int | None) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    topic: str
    value: bytes
    key: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


class PublishFailed(Exception):
    """The record was not taken. It may have been, if the answer was lost."""


class Publisher(Protocol):
    """The service `publisher`. What `publish` has returned from was taken by the cluster."""

    async def publish(self, record: Record, connection: str | None = None) -> None:
        """`connection` says where to, in place of the settings; it is a secret."""
        ...
