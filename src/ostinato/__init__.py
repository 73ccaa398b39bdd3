"""Ostinato: one durable clockwork for Python."""

from ostinato.errors import OstinatoError, SpecError
from ostinato.when import Spec, calendar, cron, during, every, manual, once

__version__ = "0.1.0"
__all__ = [
    "OstinatoError",
    "Spec",
    "SpecError",
    "__version__",
    "calendar",
    "cron",
    "during",
    "every",
    "manual",
    "once",
]
