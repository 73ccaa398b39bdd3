"""Print the plan for a file of schedules, or the mistakes in the file, as JSON or as text."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NoReturn

import typer
from rich.console import Group
from rich.text import Text

from ostinato.client import Answered, Json
from ostinato.errors import OstinatoError
from ostinato.faces.cli.console import SafeConsole
from ostinato.faces.cli.output import CommandOutput, table
from ostinato.schedules.declared.problems import FileError

_STYLES = {"create": "green", "update": "yellow", "unchanged": "dim", "missing": "magenta", "taken": "red"}
_SIGNS = {"create": "+", "update": "~", "unchanged": "=", "missing": "-", "taken": "!"}
_MOST = 200


def show_plan(out: CommandOutput, plan: Json, more: Json | None = None) -> None:
    """Print a plan. As JSON, it also has the fields in `more`. Exit with code 1 if one of its schedules is declared
    elsewhere, in another file or in code."""
    out.draw({**plan, **(more or {})}, plan_page)
    if plan["counts"]["taken"]:
        raise typer.Exit(1)


def refused(out: CommandOutput, problem: OstinatoError) -> NoReturn:
    """Print why a file of schedules was refused, and exit. `problem` is the error that planning or applying the file
    has raised.

    - If the file has mistakes, exit with code 2.
    - If schedules of the file are declared elsewhere, exit with code 1.
    - If `problem` is any other error, print nothing, and raise `problem` again.
    """
    body = problem.__cause__.body if isinstance(problem.__cause__, Answered) else {}
    mistakes, plan = body.get("problems"), body.get("plan")
    if isinstance(problem, FileError):
        mistakes = [one.as_dict() for one in problem.problems]
    if mistakes is None and plan is None:
        raise problem
    if out.as_json:
        out.json({"error": str(problem), **({"plan": plan} if mistakes is None else {"problems": mistakes})})
    else:
        console = SafeConsole(stderr=True, soft_wrap=True, highlight=False)
        lines = str(problem).splitlines()
        for line in lines:
            console.print(Text.assemble(("error:", "bold red"), " ", line))
        if mistakes and len(mistakes) > 1:
            console.print(Text(f"{len(mistakes)} mistakes; nothing was done", style="dim"))
    raise typer.Exit(1 if mistakes is None else 2)


def plan_page(plan: Json) -> Group:
    """Return a table with a row for each schedule of a plan, except those whose step is `unchanged`. The table has at
    most `_MOST` rows. Below the table are the notes of the plan, and a line with counts."""
    shown = [step for step in plan["steps"] if step["verb"] != "unchanged"]
    rows = [_row(step, plan["pruned"]) for step in shown[:_MOST]]
    parts: list[Any] = [table(("", "schedule", "what changes", "next times"), rows)] if shown else []
    if len(shown) > _MOST:
        parts.append(Text(f"and {len(shown) - _MOST} more", style="dim"))
    parts += [Text(f"note: {note}", style="yellow") for note in plan["notes"]]
    return Group(*parts, Text(_counted(plan), style="bold"))


def _row(step: Json, pruned: bool) -> tuple[Text, ...]:
    style = _STYLES[step["verb"]]
    match step["verb"]:
        case "missing":
            what = "no longer declared" + (", pruned" if pruned else "; goes on unless pruned")
        case "taken":
            what = f"declared by {step['owner']}; left as it is unless taken over (--take)"
        case _:
            what = step["words"]
    return Text(_SIGNS[step["verb"]], style=style), Text(step["name"], style=style), Text(what), _times(step)


def _times(step: Json) -> Text:
    if step["verb"] == "update" and step["before"] != step["after"]:
        return Text.assemble((_moments(step["before"]), "strike dim"), "\n", _moments(step["after"]))
    return Text(_moments(step["after"] or step["before"]), style="dim" if step["verb"] == "missing" else "")


def _moments(times: list[str]) -> str:
    return ", ".join(f"{datetime.fromisoformat(one):%a %m-%d %H:%M}" for one in times) or "none"


def _counted(plan: Json) -> str:
    done, counts = plan["done"], plan["counts"]
    gone = ("pruned" if done else "to prune") if plan["pruned"] else "no longer declared"
    words = {
        "create": "created" if done else "to create",
        "update": "updated" if done else "to update",
        "unchanged": "unchanged",
        "missing": gone,
        "taken": "declared elsewhere",
    }
    return ", ".join(f"{counts[verb]} {word}" for verb, word in words.items() if counts[verb]) or "nothing is declared"
