"""Define the HTTP request bodies and answers about webhooks."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictInt, field_validator

from ostinato.faces.http.shapes.common import NextAfter, RequestBody, Shown
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

    @field_validator("url", "patterns", "secret", "notes", mode="before")
    @classmethod
    def _not_null(cls, value: Any) -> Any:
        if value is None:
            raise ValueError("null changes nothing; leave the field out to keep its value")
        return value


class Enable(RequestBody):
    after: StrictInt | None = Field(default=None, ge=0, lt=1 << 62, description="Begin after this event.")


class Replay(RequestBody):
    after: StrictInt = Field(ge=0, lt=1 << 62, description="Everything after this event is sent again.")


class WebhookShown(Shown, view=WebhookInfo):
    """The state of a webhook. The secrets are shown as references, such as `secret://hook-key`, and not as values.

    - `seq`: the sequence number of the last event that was compared with the webhook's patterns
    - `failing`: since when deliveries fail; null if no delivery has failed since the last success or `enable`
    - `succeeded`: when a delivery last succeeded, accurate to the minute; null if no delivery has succeeded
    """

    state: Literal["active", "disabled"]
    seq: int = Field(description="The sequence number of the last event that was compared with the patterns.")
    failing: datetime | None = Field(
        description="Since when deliveries fail; null if none has failed since the last success or `enable`."
    )
    succeeded: datetime | None = Field(description="When a delivery last succeeded, accurate to the minute.")


class WebhooksShown(BaseModel):
    items: list[WebhookShown]
    next: NextAfter
