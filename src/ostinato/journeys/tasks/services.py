"""Define the interface of the service `publisher`. A task gets the service by this name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    topic: str
    value: bytes
    key: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


class PublishFailed(Exception):
    """Raised if the cluster has not confirmed a record. The cluster may have stored the record nevertheless."""


class Publisher(Protocol):
    async def publish(self, record: Record, connection: str | None = None) -> None:
        """Publish a record, and return when the cluster has confirmed it. `connection` is a text with connection
        settings, which comes from a secret. If `connection` is not None, these settings are used instead of the
        publisher's own settings. Raise `PublishFailed` if the cluster does not confirm the record."""
        ...
