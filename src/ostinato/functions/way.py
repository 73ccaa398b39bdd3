"""Register durable functions as an extension (`Way`), with their tables, settings, routers and commands."""

from __future__ import annotations

from ostinato.engine.ways import Command, Problem, Setting, Table, Way

FUNCTIONS = Way(
    name="functions",
    runtime="ostinato.functions.part:RUNTIME",
    tables=(
        Table("ostinato_functions"),
        Table("ostinato_function_steps"),
        Table("ostinato_function_messages"),
        Table("ostinato_function_children"),
        Table("ostinato_function_codes"),
    ),
    migrations="ostinato.functions.store:MIGRATIONS",
    settings=(
        Setting(
            "function_steps",
            "The most steps that one history of a function may have. [default: 10000]",
            "ostinato.functions.part:read_count",
        ),
        Setting(
            "function_cache",
            "How many parked functions a node keeps in memory. [default: 1000]",
            "ostinato.functions.part:read_count",
        ),
    ),
    events={"function": "message"},
    routers={"functions": "ostinato.faces.http.functions:router"},
    commands={
        "functions": Command(
            "ostinato.faces.cli.function_commands:functions", "Start durable functions, watch them, send them messages."
        )
    },
    problems={
        "ostinato.functions.errors:FunctionOver": Problem(409, "function is over"),
        "ostinato.functions.errors:MailboxFull": Problem(429, "mailbox is full"),
    },
)
