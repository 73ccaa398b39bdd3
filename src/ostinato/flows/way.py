"""Agents as a way to use the engine: `app.agents`."""

from __future__ import annotations

from ostinato.engine.ways import Problem, Table, Way

FLOWS = Way(
    name="agents",
    runtime="ostinato.flows.part:RUNTIME",
    tables=(
        Table("ostinato_agents"),
        Table("ostinato_agent_users", "restrict", "users of agents"),
        Table("ostinato_agent_tags", "cascade"),
        Table("ostinato_agent_sessions", "cascade"),
        Table("ostinato_agent_turns", "cascade"),
        Table("ostinato_agent_messages"),
        Table("ostinato_agent_outgoing", "cascade"),
        Table("ostinato_agent_escalations", "cascade"),
        Table("ostinato_agent_schedules", "cascade"),
    ),
    migrations="ostinato.flows.store:MIGRATIONS",
    events={
        "flow": (
            "session_started session_idle session_ended turn_accepted turn_succeeded turn_skipped turn_failed "
            "turn_canceled_hitl started ended failed"
        ),
        "response": "prepared sent persisted failed canceled",
        "hitl": (
            "confirm_requested confirm_resolved escalated resolved timed_out takeover_started takeover_ended "
            "proxy_started proxy_ended forwarded denied"
        ),
    },
    problems={"ostinato.flows.errors:Denied": Problem(403, "not allowed")},
)
