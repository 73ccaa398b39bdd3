"""Ostinato: one durable clockwork for Python."""

from ostinato.app import Ostinato, RunHandle
from ostinato.engine.egress import EgressPolicy
from ostinato.engine.executor import Fatal, RetryLater
from ostinato.errors import (
    Conflict,
    NotFound,
    OstinatoError,
    RunCancelled,
    RunEnded,
    RunFailed,
    SpecError,
    StoreError,
    StoreUnavailable,
)
from ostinato.model import Limit, Retry
from ostinato.schedules.declared import DeclaredElsewhere, Plan
from ostinato.schedules.files import dump_schedules, parse_schedules, read_schedules
from ostinato.schedules.marked import FileError
from ostinato.sync import SyncOstinato
from ostinato.version import __version__
from ostinato.views import RunInfo
from ostinato.when import Spec, calendar, cron, during, every, manual, once

__all__ = [
    "Conflict",
    "DeclaredElsewhere",
    "EgressPolicy",
    "Fatal",
    "FileError",
    "Limit",
    "NotFound",
    "Ostinato",
    "OstinatoError",
    "Plan",
    "Retry",
    "RetryLater",
    "RunCancelled",
    "RunEnded",
    "RunFailed",
    "RunHandle",
    "RunInfo",
    "Spec",
    "SpecError",
    "StoreError",
    "StoreUnavailable",
    "SyncOstinato",
    "__version__",
    "calendar",
    "cron",
    "dump_schedules",
    "during",
    "every",
    "manual",
    "once",
    "parse_schedules",
    "read_schedules",
]
