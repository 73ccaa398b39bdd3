"""Define the interfaces of the services `cache` and `publisher`. A task gets these services by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from ostinato.model import Json


class Cache(Protocol):
    """The service `cache`: it stores values by key, shared by the journeys of a namespace. `get` returns None if there
    is no value."""

    async def get(self, key: str) -> Json: ...

    async def put(self, key: str, value: Json, ttl_s: int | None) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    topic: str
    value: bytes
    key: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


class PublishFailed(Exception):
    """Raised if a record was not accepted, or if its confirmation was lost. After a lost confirmation, the record may
    have been accepted."""


class Publisher(Protocol):
    """The service `publisher`. When `publish` returns, the cluster has accepted the record."""

    async def publish(self, record: Record, connection: str | None = None) -> None:
        """Publish a record. `connection` is a text with connection settings, taken from a secret. If given, it is used
        instead of the publisher's own settings. Raise `PublishFailed` if the cluster has not confirmed the record."""
        ...
