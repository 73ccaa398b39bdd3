"""What a command that makes or changes a schedule says of it: its times in words, the next of them, what is different
now."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ostinato.client import Json
from ostinato.faces.cli.answers import moment, short
from ostinato.faces.cli.given import zone_of

_SHOWN = 3  # next times


def summary(schedule: Json) -> list[str]:
    """When it runs, and the next times."""
    return [f"  when: {schedule['words']}", f"  next: {_next(schedule)}"]


def differences(before: Json, after: Json) -> list[str]:
    """One line for each thing that is different now; and who will put it back, if its code or a file declares it."""
    old, new = dict(_facts(before)), dict(_facts(after))
    lines = [
        f"  {name}: {_shown(old.get(name))} → {_shown(new.get(name))}"
        for name in {**old, **new}
        if old.get(name) != new.get(name)
    ]
    if before["upcoming"] != after["upcoming"]:
        lines.append(f"  next: {_next(after)}")
    origin = after["origin"]
    if lines and origin:
        in_code = origin.partition(":")[0] == "code"  # with the app's name, if it has one
        back = "the next start of a node with that code" if in_code else "the next `apply` of that file"
        lines.append(f"note: it is declared in {origin}; {back} puts it back as declared there")
    return lines or ["  nothing is different"]


def _facts(schedule: Json) -> Iterator[tuple[str, Any]]:
    yield "when", schedule["words"]
    yield "job", schedule["job"]
    yield "input", schedule["input"]
    yield from schedule["options"].items()
    for name, value in schedule["policies"].items():
        yield name, value["mode"] if name == "catchup" and not value["window"] else value
    for name in ("remaining", "notes", "tags"):
        yield name, schedule[name]


def _shown(value: Any) -> str:
    return "none" if value in (None, "", [], {}) else short(value)


def _next(schedule: Json) -> str:
    if schedule["paused"]:
        return "none while it is paused"
    zone = zone_of(schedule)
    return ", ".join(moment(at, zone) for at in schedule["upcoming"][:_SHOWN]) or "none"
