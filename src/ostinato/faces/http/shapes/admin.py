"""Define the HTTP request bodies and answers about events, nodes, namespaces, tokens, diagnoses and health."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, StrictBool

from ostinato.engine.access import read_namespace
from ostinato.engine.checks import Check
from ostinato.faces.http.shapes.common import (
    Instant,
    Length,
    NextAfter,
    NextAfterLatest,
    Object,
    RequestBody,
    Shown,
    naming_the_field,
)
from ostinato.when.instants import to_datetime


class EventShown(Shown):
    seq: int
    at: datetime
    namespace: str
    name: str
    subject: str
    data: Object
    actor: str | None


class Events(BaseModel):
    items: list[EventShown]
    next: NextAfterLatest


class NodeShown(BaseModel):
    id: str
    name: str
    started: Instant
    lease_until: Instant
    alive: bool
    queues: list[str]
    jobs: list[str]
    version: str
    zone_rules: str
    kinds: list[str]


class Nodes(BaseModel):
    items: list[NodeShown]
    next: NextAfter


def _created_at(at: int) -> datetime | None:
    return to_datetime(at) if at else None  # 0 for the namespace that nobody created


class NamespaceShown(Shown):
    name: str
    notes: str
    created: Annotated[datetime | None, BeforeValidator(_created_at)] = Field(
        description="null for `default`, which always exists."
    )
    actor: str | None


class Namespaces(BaseModel):
    items: list[NamespaceShown]
    next: NextAfter


def _namespace(value: str) -> str:
    with naming_the_field():
        return read_namespace(value)


class NewNamespace(RequestBody):
    name: Annotated[
        str,
        AfterValidator(_namespace),
        Field(json_schema_extra={"pattern": r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$"}),
    ]
    notes: str = Field(default="", max_length=1000)


class TokenShown(Shown):
    id: str
    namespace: str | None
    role: str
    label: str
    created: Instant
    expires: Instant | None
    used: Instant | None
    revoked: Instant | None
    actor: str | None


class Tokens(BaseModel):
    items: list[TokenShown]
    next: NextAfter


class NewToken(RequestBody):
    role: Literal["admin", "operator", "reader"] = "reader"
    namespace: Annotated[str, Field(max_length=63)] | None = Field(default=None, description="null: every namespace.")
    label: str = Field(default="", max_length=200)
    expires_in: Length | None = Field(default=None, description="How long it is valid; without it, for good.")


class TokenMade(TokenShown):
    token: str = Field(description="Shown only in this answer.")


class Diagnose(RequestBody):
    repair: StrictBool = Field(default=False, description="Repair what is safe to repair.")


class CheckShown(Shown, view=Check):
    remedy: str = Field(description="What to do, where there is something to do.")


class Diagnosis(BaseModel):
    ok: bool = Field(description="False where anything is wrong.")
    items: list[CheckShown]


class Health(BaseModel):
    status: Literal["ok", "late", "unavailable"]
    version: str
    detail: str = ""
