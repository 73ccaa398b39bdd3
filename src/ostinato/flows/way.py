"""Define the extension (`Way`) for agents: its tables, events, routers and commands."""

from __future__ import annotations

from ostinato.engine.ways import Command, Problem, Table, Way

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
        Table("ostinato_agent_campaigns", "cascade"),
        Table("ostinato_agent_recipients", "cascade"),
        Table("ostinato_agent_suppressions", "cascade"),
        Table("ostinato_agent_throttles", "cascade"),
        Table("ostinato_agent_schedules", "cascade"),
    ),
    migrations="ostinato.flows.store:MIGRATIONS",
    events={
        "flow": (
            "session_started session_idle session_ended turn_accepted turn_succeeded turn_skipped turn_failed "
            "turn_canceled_hitl started ended failed opted_out opted_in user_changed user_deleted "
            "tool_called tool_denied"
        ),
        "campaign": "started paused resumed stopped completed suppressed unsuppressed",
        "response": "prepared sent persisted failed canceled",
        "hitl": (
            "confirm_requested confirm_resolved escalated resolved timed_out canceled takeover_started takeover_ended "
            "proxy_started proxy_ended forwarded denied"
        ),
    },
    routers={"agents": "ostinato.faces.http.agents:router"},
    commands={
        "agents": Command("ostinato.faces.cli.agent_commands:agents", "Watch agents, talk with them, decide for them.")
    },
    problems={
        "ostinato.flows.errors:Denied": Problem(403, "not allowed"),
        "ostinato.flows.errors:AudienceTooLarge": Problem(409, "audience too large"),
        "ostinato.flows.errors:SegmentFailed": Problem(502, "segment failed"),
        "ostinato.engine.http.signing:SignatureInvalid": Problem(401, "signature invalid"),
    },
)
