"""Webhooks on the wire."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from ostinato.faces.http.shapes.common import Given, Shown

Url = Annotated[str, Field(min_length=1, max_length=2000, examples=["https://hooks.example/in"])]
Patterns = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=200)]],
    Field(min_length=1, max_length=50, description="Names of events, such as `run:failed` or `schedule:*`."),
]
Secret = Annotated[
    str | list[str] | None,
    Field(description="A reference such as `secret://hook-key`, or several while one is being replaced."),
]


class NewWebhook(Given):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"url": "https://hooks.example/in", "patterns": ["run:failed"], "secret": "secret://hook-key"}]
        },
    )

    url: Url
    patterns: Patterns = Field(default=["*"])
    secret: Secret = None
    notes: str = Field(default="", max_length=1000)


class WebhookChange(Given):
    url: Url | None = None
    patterns: Patterns | None = None
    secret: Secret = Field(default=None, description="As for a new one; an empty text takes the signature away.")
    notes: str | None = Field(default=None, max_length=1000)


class Enable(Given):
    after: int | None = Field(default=None, ge=0, lt=1 << 62, description="Begin after this event.")


class Replay(Given):
    after: int = Field(ge=0, lt=1 << 62, description="Everything after this event is sent again.")


class WebhookShown(Shown):
    """A webhook as it stands. Secrets are shown as what they are stored as: references."""

    id: str
    namespace: str
    url: str
    patterns: list[str]
    secrets: list[str]
    notes: str
    state: Literal["active", "disabled"]
    reason: str | None
    seq: int = Field(description="The last event that was looked at for it.")
    failing: datetime | None = Field(description="Since when no delivery has succeeded.")
    succeeded: datetime | None = Field(description="When one last did, to the minute.")
    created: datetime
    updated: datetime
    actor: str | None


class WebhooksShown(BaseModel):
    items: list[WebhookShown]
    next: str | None = Field(description="Pass as `after` for the next page; null on the last.")
