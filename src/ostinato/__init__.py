"""Ostinato: one durable clockwork for Python.

What it offers is imported when it is first used: whoever needs the algebra of time alone, or a client, does not wait
for the engine.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ostinato.version import __version__

if TYPE_CHECKING:
    from ostinato.app import Ostinato, RunHandle
    from ostinato.client import Client, SyncClient
    from ostinato.engine.context import Context, SyncContext
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
    from ostinato.model import Event, Limit, Retry
    from ostinato.schedules.declared import DeclaredElsewhere, Plan
    from ostinato.schedules.files import dump_schedules, parse_schedules, read_schedules
    from ostinato.schedules.marked import FileError
    from ostinato.sync import SyncOstinato
    from ostinato.views import RunInfo
    from ostinato.when import Spec, calendar, cron, during, every, manual, once

__all__ = [
    "Client",
    "Conflict",
    "Context",
    "DeclaredElsewhere",
    "EgressPolicy",
    "Event",
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
    "SyncClient",
    "SyncContext",
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

_OFFERED = {
    "ostinato.app": "Ostinato RunHandle",
    "ostinato.client": "Client SyncClient",
    "ostinato.engine.context": "Context SyncContext",
    "ostinato.engine.egress": "EgressPolicy",
    "ostinato.engine.executor": "Fatal RetryLater",
    "ostinato.errors": "Conflict NotFound OstinatoError RunCancelled RunEnded RunFailed SpecError StoreError "
    "StoreUnavailable",
    "ostinato.model": "Event Limit Retry",
    "ostinato.schedules.declared": "DeclaredElsewhere Plan",
    "ostinato.schedules.files": "dump_schedules parse_schedules read_schedules",
    "ostinato.schedules.marked": "FileError",
    "ostinato.sync": "SyncOstinato",
    "ostinato.views": "RunInfo",
    "ostinato.when": "Spec calendar cron during every manual once",
}
_WHERE = {name: module for module, names in _OFFERED.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_WHERE[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
