"""Run workflows. Producers poll for events, topics store the events, and consumers process them in phases.

Names are imported when they are first used, so that the command line starts quickly.
"""

from typing import TYPE_CHECKING

from ostinato.lazy_names import lazy_names

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
    ".api": "FailedRun Workflows",
    ".declaration": "WorkflowCode",
    ".definition": "Topic",
    ".errors": "AuthRequired HandlerFailed InternalError LogicError PermissionDenied PreconditionFailed Transient",
    ".model": "Outcome",
    ".runtime.body": "CLEAR",
    ".runtime.context": "Event HandlerContext Prepared PreparedRun",
    ".tools": "MutationContext NOT_APPLIED NOT_KNOWN_YET applied",
}
__getattr__, __dir__ = lazy_names(__name__, _OFFERED)
