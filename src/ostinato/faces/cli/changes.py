"""Describe a schedule that a command created or changed: when it runs, its next times, and what changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ostinato.client import Json
from ostinato.faces.cli.arguments import zone_of
from ostinato.faces.cli.output import moment, short

_SHOWN = 3  # next times


def summary(schedule: Json) -> list[str]:
    """Return two lines: when a schedule runs, and its next times."""
    return [f"  when: {schedule['words']}", f"  next: {_next(schedule)}"]


def differences(before: Json, after: Json) -> list[str]:
    """Return a line for each difference between two states of a schedule, or a line which says that nothing is
    different."""
    old, new = dict(_facts(before)), dict(_facts(after))
    lines = [
        f"  {name}: {_text(old.get(name))} → {_text(new.get(name))}"
        for name in {**old, **new}
        if old.get(name) != new.get(name)
    ]
    if before["upcoming"] != after["upcoming"]:
        lines.append(f"  next: {_next(after)}")
    return lines or ["  nothing is different"]


def _facts(schedule: Json) -> Iterator[tuple[str, Any]]:
    yield "when", schedule["words"]
    yield "starts", schedule["starts"]
    yield "input", schedule["input"]
    yield from schedule["options"].items()
    for name, value in schedule["policies"].items():
        yield name, value["mode"] if name == "catchup" and not value["window"] else value
    for name in ("remaining", "notes", "tags", "attributes", "memo"):
        yield name, schedule[name]


def _text(value: Any) -> str:
    return "none" if value in (None, "", [], {}) else short(value)


def _next(schedule: Json) -> str:
    if schedule["paused"]:
        return "none while it is paused"
    zone = zone_of(schedule)
    return ", ".join(moment(at, zone) for at in schedule["upcoming"][:_SHOWN]) or "none"
