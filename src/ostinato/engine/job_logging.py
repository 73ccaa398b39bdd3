"""Store the lines that a job writes with standard `logging`, like lines of `ctx.log`.

A record factory sees each log record when `logging` creates it. So the loggers, handlers and levels of the process need
no change. The context variable `current` holds the function that stores a line with the current run. Each job's task
has its own context, and the job's threads get a copy of this context.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from ostinato.engine.log import NAME

Keep = Callable[[str, str], object]  # a line's text and its level
current: ContextVar[Keep | None] = ContextVar("ostinato_run", default=None)
_installed = False
_LONGEST = 1 << 16  # characters of a line that a child hands to its parent


def install() -> None:
    """Install the record factory. Does nothing if the process has it already."""
    global _installed
    if _installed:
        return
    _installed = True
    make = logging.getLogRecordFactory()

    def make_and_keep(*arguments: Any, **named: Any) -> logging.LogRecord:
        record = make(*arguments, **named)
        keep = current.get()
        if keep is not None and not _is_ours(record.name):
            try:
                keep(text_of(record), record.levelname.lower())
            except Exception:  # the arguments do not fit the message: `logging` reports that when it writes the line
                return record
        return record

    logging.setLogRecordFactory(make_and_keep)


def text_of(record: logging.LogRecord) -> str:
    """Return a record's message, with its traceback if it has one."""
    text = record.getMessage()
    if record.exc_info and record.exc_info[1] is not None:
        text += "\n" + "".join(traceback.format_exception(*record.exc_info)).rstrip("\n")
    return text


def _is_ours(name: str) -> bool:
    return name == NAME or name.startswith(f"{NAME}.")


class Forward(logging.Handler):
    """Sends the log records of a child process to its parent process. The parent writes them to its own log."""

    def __init__(self, send: Callable[..., None]) -> None:
        super().__init__()
        self._send = send

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._send(logger=record.name, text=text_of(record)[:_LONGEST], levelno=record.levelno)
        except Exception:
            self.handleError(record)


def write_forwarded(message: dict[str, Any]) -> None:
    """Write a log record that a child process has sent to this process. The logger that has the same name in this
    process writes the record."""
    logging.getLogger(message["logger"]).log(message["levelno"], "%s", message["text"])
