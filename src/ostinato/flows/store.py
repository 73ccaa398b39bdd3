"""Define the tables of agents with their SQL statements and migrations. Convert rows into records."""

from __future__ import annotations

from importlib import resources

from ostinato.engine.outages import read_patiently
from ostinato.flows.model import (
    Delivery,
    EscalationRecord,
    FlowOutcome,
    Hitl,
    MessageRecord,
    OutgoingRecord,
    SessionRecord,
    SessionStatus,
    TurnRecord,
    UserRecord,
)
from ostinato.store.columns import reader, table, writer
from ostinato.store.contract import Migration, Operation, Row, Rows, Statement, Store, sql
from ostinato.store.sql import Statements

TABLES = {
    "agent_user": table(
        "ostinato_agent_users",
        """id namespace agent external_id address name zone locale consent consent_at:int data created:int updated:int
        active:int""",
    ),
    "session": table(
        "ostinato_agent_sessions",
        """id namespace agent user_id run_id status flow flow_version:int waits hitl takeover escalation_id data
        messages:int started:int active:int ended:int reason""",
    ),
    "turn": table(
        "ostinato_agent_turns",
        """id namespace agent user_id session_id key source text flow input metadata on_active_flow reply_to schedule_id
        scheduled_for:int campaign_id status outcome reason producer policy hitl delivered:int model_calls:int
        tokens_in:int tokens_out:int cost:int created:int started:int finished:int actor""",
    ),
    "said": table("ostinato_agent_messages", "id session_id turn_id role text data created:int"),
    "outgoing": table(
        "ostinato_agent_outgoing",
        """key namespace agent user_id session_id turn_id address role text data status provider_id error created:int
        settled:int""",
    ),
    "escalation": table(
        "ostinato_agent_escalations",
        """id namespace agent user_id session_id mode question data status approved:int message action resolved_by
        due:int created:int resolved:int""",
    ),
}


def _columns(name: str) -> tuple[str, ...]:
    return TABLES[name].columns


TURN_WIDTH = len(_columns("turn"))
read_user = reader(UserRecord, _columns("agent_user"))
user_row = writer(_columns("agent_user"))
read_session = reader(SessionRecord, _columns("session"), status=SessionStatus, hitl=Hitl)
session_row = writer(f"{name}.value" if name in ("status", "hitl") else name for name in _columns("session"))
read_turn = reader(
    TurnRecord, _columns("turn"), outcome=lambda text: None if text is None else FlowOutcome(text), hitl=Hitl
)
turn_row = writer(
    (f"{name}.value" if name == "hitl" else name for name in _columns("turn")),
    outcome=lambda outcome: None if outcome is None else outcome.value,
)
read_message = reader(MessageRecord, _columns("said"))
message_row = writer(_columns("said"))
read_outgoing = reader(OutgoingRecord, _columns("outgoing"), status=Delivery)
outgoing_row = writer("status.value" if name == "status" else name for name in _columns("outgoing"))
read_escalation = reader(
    EscalationRecord, _columns("escalation"), approved=lambda value: None if value is None else bool(value)
)
escalation_row = writer(_columns("escalation"), approved=lambda value: None if value is None else int(value))


def _file(name: str) -> str:
    return resources.files("ostinato.flows").joinpath(name).read_text(encoding="utf-8")


statement = Statements(_file("statements.sql"), TABLES)


async def fetch(store: Store, query: Statement) -> Rows:
    """Execute one statement that only reads, and return its rows."""

    return await store.read(lambda _: _execute(query))


async def fetch_patiently(store: Store, query: Statement) -> Rows:
    """Execute one statement that only reads, and return its rows. While the store is unavailable, try again. Use this
    in a run, which must not fail because of an outage."""
    return await read_patiently(store, lambda _: _execute(query))


def _execute(query: Statement) -> Operation[Rows]:
    return (yield query)


def write_events(*events: Row) -> Operation[None]:
    """Insert rows of events, and wake the other nodes."""
    yield sql("notify")
    yield sql("insert_events", list(events))


MIGRATIONS = tuple(
    Migration(_file(f"migrations/{number}.sqlite.sql"), _file(f"migrations/{number}.postgres.sql"))
    for number in ("0001", "0002", "0003", "0004")
)
