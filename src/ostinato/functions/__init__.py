"""Define durable functions: async functions whose finished steps are never executed again.

Each name is imported when it is first used, so that the command line starts quickly.
"""

from typing import TYPE_CHECKING

from ostinato.lazy_names import lazy_names

if TYPE_CHECKING:
    from ostinato.functions.api import FunctionHandle, Functions
    from ostinato.functions.context import ChildHandle, FunctionContext
    from ostinato.functions.definition import StepFunction, step
    from ostinato.functions.errors import (
        Cancelled,
        Changed,
        ChildFailed,
        FunctionError,
        FunctionOver,
        MailboxFull,
        NotDurable,
        ReceiveTimedOut,
        StepFailed,
        StepInterrupted,
        TooLarge,
    )
    from ostinato.functions.lint import NotDeterministic
    from ostinato.functions.views import FunctionInfo, StepInfo

__all__ = [
    "Cancelled",
    "Changed",
    "ChildFailed",
    "ChildHandle",
    "FunctionContext",
    "FunctionError",
    "FunctionHandle",
    "FunctionInfo",
    "FunctionOver",
    "Functions",
    "MailboxFull",
    "NotDeterministic",
    "NotDurable",
    "ReceiveTimedOut",
    "StepFailed",
    "StepFunction",
    "StepInfo",
    "StepInterrupted",
    "TooLarge",
    "step",
]

_OFFERED = {
    ".api": "FunctionHandle Functions",
    ".context": "ChildHandle FunctionContext",
    ".definition": "StepFunction step",
    ".errors": "Cancelled Changed ChildFailed FunctionError FunctionOver MailboxFull NotDurable ReceiveTimedOut "
    "StepFailed StepInterrupted TooLarge",
    ".lint": "NotDeterministic",
    ".views": "FunctionInfo StepInfo",
}
__getattr__, __dir__ = lazy_names(__name__, _OFFERED)
