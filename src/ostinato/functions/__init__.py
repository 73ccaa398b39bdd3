"""Write durable functions with this package. They are async functions whose finished steps are never executed again.
Names are imported when they are first used, so that the command line starts quickly."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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
    "api": "FunctionHandle Functions",
    "context": "ChildHandle FunctionContext",
    "definition": "StepFunction step",
    "errors": "Cancelled Changed ChildFailed FunctionError FunctionOver MailboxFull NotDurable ReceiveTimedOut "
    "StepFailed StepInterrupted TooLarge",
    "lint": "NotDeterministic",
    "views": "FunctionInfo StepInfo",
}
_WHERE = {name: f"{__name__}.{module}" for module, names in _OFFERED.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_WHERE[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
