"""Register workflows as an extension (`Way`) of the engine, with their tables, events, routers and commands."""

from __future__ import annotations

from ostinato.engine.ways import Command, Table, Way

WORKFLOWS = Way(
    name="workflows",
    runtime="ostinato.workflows.part:RUNTIME",
    tables=(
        Table("ostinato_workflow_definitions", "restrict", "workflows"),
        Table("ostinato_workflow_handlers"),
        Table("ostinato_workflow_runs"),
        Table("ostinato_workflow_run_events"),
        Table("ostinato_workflow_events"),
        Table("ostinato_workflow_inputs"),
        Table("ostinato_workflow_causes"),
        Table("ostinato_workflow_mutations"),
    ),
    migrations="ostinato.workflows.store:MIGRATIONS",
    events={
        "workflow": """deployed blocked needs_attention unblocked paused resumed archived
        run_requested event_skipped input_skipped"""
    },
    routers={"workflows": "ostinato.faces.http.workflows:router"},
    commands={
        "workflows": Command(
            "ostinato.faces.cli.workflow_commands:workflows", "Watch workflows, and settle their problems."
        )
    },
)
