"""Define specs, and compute the times that they describe. This package reads no clock, and no files but zone rules."""

from ostinato.when.builders import calendar, cron, during, every, manual, once
from ostinato.when.calendars import Calendar
from ostinato.when.documents import read_spec
from ostinato.when.durations import Duration, parse_duration
from ostinato.when.exclusions import Exclusions
from ostinato.when.fields import DayRule, Range
from ostinato.when.instants import Micros, format_instant
from ostinato.when.spec import Interval, Recurrence, Spec
from ostinato.when.zones import ZoneRules, rules_in_force

__all__ = [
    "Calendar",
    "DayRule",
    "Duration",
    "Exclusions",
    "Interval",
    "Micros",
    "Range",
    "Recurrence",
    "Spec",
    "ZoneRules",
    "calendar",
    "cron",
    "during",
    "every",
    "format_instant",
    "manual",
    "once",
    "parse_duration",
    "read_spec",
    "rules_in_force",
]
