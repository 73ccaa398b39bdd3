"""What the shapes of the wire have in common. What is sent to us and not known is refused."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, field_validator


class Given(BaseModel):
    """What is sent to us: what we do not know is refused."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=False)

    @field_validator("*")
    @classmethod
    def _without_nul(cls, value: Any) -> Any:
        """Texts of ours, and lists of them. What users keep as JSON may hold one: there it is written otherwise."""
        texts = value if isinstance(value, list | tuple) else [value]
        if any(isinstance(text, str) and "\x00" in text for text in texts):
            raise ValueError("no text may have a NUL in it")
        return value


class Shown(BaseModel):
    model_config = ConfigDict(from_attributes=True)


NO_NUL = r"^[^\x00]*$"  # neither store keeps a NUL in a text
RUN_CURSOR = r"^[0-9][0-9a-hjkmnp-tv-z]{25}[^\x00]*$"  # the id of a run, or of what belongs to it
Length = Annotated[str | float, Field(description="A length of time: `30s`, `5m`, `PT1H`, or seconds.")]


def _moment(value: Any) -> Any:
    """A moment is written out. Pydantic would take a number for seconds or milliseconds, by its size."""
    if isinstance(value, datetime) or (isinstance(value, str) and _MOMENT.match(value)):
        return value
    raise ValueError("write it as in RFC 3339, with an offset: 2026-03-01T09:00:00Z")


_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[Tt ]")
Moment = Annotated[
    AwareDatetime,
    BeforeValidator(_moment),
    Field(description="RFC 3339, with an offset.", examples=["2026-03-01T09:00:00Z"]),
]
Text = Annotated[str, Field(min_length=1, max_length=512)]
Overlap = Literal["skip", "buffer_one", "buffer_all", "cancel_other", "terminate_other", "allow_all"]
Object = dict[str, Any]


class Stop(Given):
    reason: str = Field(default="", max_length=1000)
