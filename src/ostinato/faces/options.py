"""List the options of runs and schedules in one table.

The class `http.shapes.common.RequestBody` builds fields of HTTP request bodies from the table. The module `cli.options`
builds flags of the command line from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import get_args

from ostinato.model import MOST
from ostinato.schedules.model import OverlapName


class OptionKind(Enum):
    """The form of an option's value. On the command line, an object or a JSON value is written as JSON text."""

    TEXT = auto()
    NOTES = auto()
    WHOLE = auto()
    LENGTH = auto()
    FLAG = auto()
    TEXTS = auto()
    OVERLAP = auto()
    CATCHUP = auto()
    WHOLE_OR_OBJECT = auto()
    OBJECT = auto()
    JSON = auto()


@dataclass(frozen=True, slots=True)
class Option:
    """One option of runs or schedules.

    `flag` is the flag on the command line. If `flag` is empty, the flag is made from `name`: `serial_key` becomes
    `--serial-key`. `least` and `most` are the limits of a whole number. `choices` are the words that shell completion
    offers.
    """

    name: str
    kind: OptionKind
    help: str
    flag: str = ""
    least: int = 1
    most: int = 1 << 31
    choices: tuple[str, ...] = ()


RUN_OPTIONS = (
    Option("queue", OptionKind.TEXT, "The queue its runs go to."),
    Option("priority", OptionKind.WHOLE, "Higher goes first.", least=-MOST, most=MOST),
    Option("retry", OptionKind.WHOLE_OR_OBJECT, 'Attempts in all, or JSON such as \'{"attempts": 5, "delay": "2s"}\'.'),
    Option("timeout", OptionKind.LENGTH, "How long an attempt may take."),
    Option("deadline", OptionKind.LENGTH, "How long a run may take in all, with waiting and retries."),
    Option("serial_key", OptionKind.TEXT, "Runs with the same key run one after the other."),
    Option(
        "concurrency",
        OptionKind.WHOLE_OR_OBJECT,
        'How many run at once, or JSON such as \'{"key": "mail", "most": 2}\'.',
    ),
    Option(
        "at_most_once",
        OptionKind.FLAG,
        "Never retry, not even after a crash; or retry as usual.",
        "--at-most-once/--at-least-once",
    ),
)
# Steps of a function have retries and timeouts, the function itself has not.
FUNCTION_OPTIONS = tuple(option for option in RUN_OPTIONS if option.name not in ("retry", "timeout", "at_most_once"))
SCHEDULE_OPTIONS = (
    Option("input", OptionKind.OBJECT, "The job's input, a JSON object."),
    Option("overlap", OptionKind.OVERLAP, f"{', '.join(get_args(OverlapName))}.", choices=get_args(OverlapName)),
    Option(
        "catchup", OptionKind.CATCHUP, "skip, latest, all, or a window such as 1h.", choices=("skip", "latest", "all")
    ),
    Option("pause_after_failures", OptionKind.WHOLE, "Pause it after this many failures in a row."),
    Option("max_buffer", OptionKind.WHOLE, "How many occurrences may wait."),
    Option("keep", OptionKind.WHOLE, "How many of its occurrences to keep."),
    Option("remaining", OptionKind.WHOLE, "How many more times it runs before it is completed.", least=0, most=1 << 53),
    Option("notes", OptionKind.NOTES, "Notes; kept with the schedule."),
    Option("memo", OptionKind.JSON, "Anything to keep with the schedule, as JSON."),
    Option("tags", OptionKind.TEXTS, "A tag; several times for several.", "--tag"),
    Option("attributes", OptionKind.OBJECT, "Attributes to find it by, a JSON object."),
)
