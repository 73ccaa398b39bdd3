"""Run workflows, which consist of producers, topics and consumers. Producers poll for events, and topics hold the
events. Consumers process the events in phases with checkpoints.

The classes for handlers are imported when they are first used, so that the command line starts quickly.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ostinato.workflows.api import FailedRun, Workflows
    from ostinato.workflows.declaration import WorkflowCode
    from ostinato.workflows.definition import Topic
    from ostinato.workflows.errors import (
        AuthRequired,
        HandlerFailed,
        InternalError,
        LogicError,
        PermissionDenied,
        PreconditionFailed,
        Transient,
    )
    from ostinato.workflows.model import Outcome
    from ostinato.workflows.runtime.body import CLEAR
    from ostinato.workflows.runtime.context import Event, HandlerContext, Prepared, PreparedRun
    from ostinato.workflows.tools import NOT_APPLIED, NOT_KNOWN_YET, MutationContext, applied

__all__ = [
    "CLEAR",
    "NOT_APPLIED",
    "NOT_KNOWN_YET",
    "AuthRequired",
    "Event",
    "FailedRun",
    "HandlerContext",
    "HandlerFailed",
    "InternalError",
    "LogicError",
    "MutationContext",
    "Outcome",
    "PermissionDenied",
    "PreconditionFailed",
    "Prepared",
    "PreparedRun",
    "Topic",
    "Transient",
    "WorkflowCode",
    "Workflows",
    "applied",
]

_OFFERED = {
    "api": "FailedRun Workflows",
    "declaration": "WorkflowCode",
    "definition": "Topic",
    "errors": "AuthRequired HandlerFailed InternalError LogicError PermissionDenied PreconditionFailed Transient",
    "model": "Outcome",
    "runtime.body": "CLEAR",
    "runtime.context": "Event HandlerContext Prepared PreparedRun",
    "tools": "MutationContext NOT_APPLIED NOT_KNOWN_YET applied",
}
_WHERE = {name: f"{__name__}.{module}" for module, names in _OFFERED.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_WHERE[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
