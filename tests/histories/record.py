"""Histories: every call that clients made, when each was asked and answered, and what the answer said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ostinato.when.instants import SECOND, Micros


@dataclass(frozen=True)
class Taken:
    """The call was acknowledged. `value` holds what the answer said; a face that says less has fewer entries."""

    value: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return "taken" + "".join(f" {name}={value}" for name, value in self.value.items())


@dataclass(frozen=True)
class Refused:
    """The call was refused. `code` says why in one word: `absent`, `conflict`, `token` or `busy`."""

    code: str
    words: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"refused ({self.code}{': ' if self.words else ''}{self.words})"


@dataclass(frozen=True)
class Lost:
    """Nobody knows whether the call took effect."""

    why: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"answer lost ({self.why})"


Answer = Taken | Refused | Lost


@dataclass(frozen=True)
class Call:
    """One try of a call on one object, and its answer.

    `asked` and `answered` are places in the order in which everything was seen; `since` and `until` are the times.
    `key` is the call's identity: tries with the same key are one call. `follows` is the number of a call that took
    effect before this one, where one answer reports a change and a later look.
    """

    number: int
    client: str
    verb: str
    object: str
    answer: Answer
    asked: int
    answered: int
    since: Micros = 0
    until: Micros = 0
    arguments: Mapping[str, Any] = field(default_factory=dict)
    key: str | None = None
    follows: int | None = None
    face: str = ""

    @property
    def lost(self) -> bool:
        return isinstance(self.answer, Lost)

    def __str__(self) -> str:
        arguments = "".join(f" {name}={value}" for name, value in self.arguments.items())
        key = "" if self.key is None else f" key={self.key}"
        return f"{self.client:<14} {self.verb} {self.object}{arguments}{key} → {self.answer}"


def show(calls: list[Call], begin: Micros = 0) -> str:
    """A history as lines, one for each question and each answer, in the order in which they were seen."""
    lines: list[tuple[int, str]] = []
    ends = {call.asked for call in calls} | {call.answered for call in calls if not call.lost}
    places = {place: n for n, place in enumerate(sorted(ends), 1)}
    for call in calls:
        span = f"{places[call.asked]}…" if call.lost else f"{places[call.asked]}–{places[call.answered]}"
        seconds = (call.since - begin) / SECOND
        lines.append((call.asked, f"  {span:>7}  {seconds:7.3f} s  {call}"))
    return "\n".join(text for _, text in sorted(lines))
