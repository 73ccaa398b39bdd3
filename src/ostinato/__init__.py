"""Ostinato is a durable scheduler for Python. The package imports a module only when one of its names is first used, so
that a client does not load the engine."""

from typing import TYPE_CHECKING

from ostinato.lazy_names import lazy_names
from ostinato.version import __version__

if TYPE_CHECKING:
    from ostinato.app import Ostinato, RunHandle
    from ostinato.client import Client, SyncClient
    from ostinato.engine.context import Context, SyncContext
    from ostinato.engine.executor import Fatal, RetryLater
    from ostinato.engine.http.egress import EgressPolicy
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
    from ostinato.run_views import RunInfo
    from ostinato.schedules.declared.files import dump_schedules
    from ostinato.schedules.declared.plan import DeclaredElsewhere, Plan
    from ostinato.schedules.declared.problems import FileError
    from ostinato.sync import SyncOstinato
    from ostinato.ways import parse_schedules, read_schedules
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
    "ostinato.engine.http.egress": "EgressPolicy",
    "ostinato.engine.executor": "Fatal RetryLater",
    "ostinato.errors": "Conflict NotFound OstinatoError RunCancelled RunEnded RunFailed SpecError StoreError "
    "StoreUnavailable",
    "ostinato.model": "Event Limit Retry",
    "ostinato.schedules.declared.plan": "DeclaredElsewhere Plan",
    "ostinato.schedules.declared.files": "dump_schedules",
    "ostinato.schedules.declared.problems": "FileError",
    "ostinato.sync": "SyncOstinato",
    "ostinato.run_views": "RunInfo",
    "ostinato.ways": "parse_schedules read_schedules",
    "ostinato.when": "Spec calendar cron during every manual once",
}
__getattr__, __dir__ = lazy_names(__name__, _OFFERED)
