"""Define the extension (`Way`) `journeys`. It lists the tables, settings, events, routers and commands of journeys."""

from __future__ import annotations

from ostinato.engine.ways import Command, Problem, Setting, Table, Way

_HTTP = "ostinato.faces.http"

JOURNEYS = Way(
    name="journeys",
    runtime="ostinato.journeys.part:RUNTIME",
    tables=(
        Table("ostinato_journey_definitions", "cascade"),
        Table("ostinato_journey_bindings", "cascade"),
        Table("ostinato_journey_cache", "cascade"),
        Table("ostinato_journey_labels"),
        Table("ostinato_journey_answers"),
        Table("ostinato_journeys"),
    ),
    settings=(
        Setting(
            "journeys",
            "A definition, or a folder of them, to deploy when a node starts; several times for several.",
            "ostinato.journeys.settings:read_sources",
            many=True,
        ),
        Setting(
            "journey_settings",
            "A TOML file with the settings of journeys.",
            "ostinato.journeys.settings:read_settings",
        ),
        Setting("journey_plugins"),
    ),
    events={"journey": "deployed started state_entered input_wanted input_received timer_set timer_fired completed"},
    routers={
        "journeys": f"{_HTTP}.journeys:router",
        "journey-definitions": f"{_HTTP}.journey_definitions:router",
        "journey-bindings": f"{_HTTP}.journey_bindings:router",
        "apis": f"{_HTTP}.apis:router",
    },
    commands={
        "journeys": Command(
            "ostinato.faces.cli.journey_commands:journeys", "Check, deploy, start, answer and draw journeys."
        )
    },
    problems={
        "ostinato.journeys.language.json_schema:NotValid": Problem(400, "invalid input"),
        "ostinato.journeys.definitions:InvalidDefinition": Problem(422, "invalid definition"),
    },
)
