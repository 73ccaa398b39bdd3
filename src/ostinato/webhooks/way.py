"""Register webhooks as an extension (`Way`) of the engine."""

from __future__ import annotations

from ostinato.engine.ways import Command, Setting, Table, Way

WEBHOOKS = Way(
    name="webhooks",
    runtime="ostinato.webhooks.part:RUNTIME",
    tables=(Table("ostinato_webhooks", "restrict", "webhooks"),),
    settings=(
        Setting(
            "webhook_patience",
            "How long deliveries of a webhook may fail before it is disabled. [default: 1d]",
            "ostinato.webhooks.part:read_patience",
        ),
    ),
    events={"webhook": "created updated disabled enabled replayed deleted"},
    routers={"webhooks": "ostinato.faces.http.webhooks:router"},
    commands={"webhooks": Command("ostinato.faces.cli.webhook_commands:webhooks", "Send events to URLs.")},
)
