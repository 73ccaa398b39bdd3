"""Define the HTTP request bodies and answers about webhooks."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from ostinato.faces.http.shapes.common import RequestBody, Shown
from ostinato.webhooks.api import WebhookInfo

Url = Annotated[str, Field(min_length=1, max_length=2000, examples=["https://hooks.example/in"])]
Patterns = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=200)]],
    Field(min_length=1, max_length=50, description="Names of events, such as `run:failed` or `schedule:*`."),
]
Secret = Annotated[
    str | list[str] | None,
    Field(description="A reference such as `secret://hook-key`, or several while one is being replaced."),
]


class NewWebhook(RequestBody):
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


class WebhookChange(RequestBody):
    url: Url | None = None
    patterns: Patterns | None = None
    secret: Secret = Field(default=None, description="As for a new one; an empty text takes the signature away.")
    notes: str | None = Field(default=None, max_length=1000)


class Enable(RequestBody):
    after: int | None = Field(default=None, ge=0, lt=1 << 62, description="Begin after this event.")


class Replay(RequestBody):
    after: int = Field(ge=0, lt=1 << 62, description="Everything after this event is sent again.")


class WebhookShown(Shown, view=WebhookInfo):
    """The state of a webhook. Its secrets are shown as they are stored: as references, not as values."""

    state: Literal["active", "disabled"]
    seq: int = Field(description="The last event that was looked at for it.")
    failing: datetime | None = Field(description="Since when no delivery has succeeded.")
    succeeded: datetime | None = Field(description="When one last did, to the minute.")


class WebhooksShown(BaseModel):
    items: list[WebhookShown]
    next: str | None = Field(description="Pass as `after` for the next page; null on the last.")
