"""What a job writes with standard `logging` is kept with its run, beside the lines of `ctx.log`.

A context variable says which run the code at hand belongs to: a job's task has its own context, and a job's thread is
given a copy of it. Records are noticed where they are made, so the process's loggers, handlers and levels stay as the
process configured them; a line that is below its logger's level is neither shown nor kept.
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
    """Begin to notice records; once in a process."""
    global _installed
    if _installed:
        return
    _installed = True
    make = logging.getLogRecordFactory()

    def noticed(*given: Any, **named: Any) -> logging.LogRecord:
        record = make(*given, **named)
        keep = current.get()
        if keep is not None and not _is_ours(record.name):
            try:
                keep(text_of(record), record.levelname.lower())
            except Exception:  # a line that cannot be put together: `logging` itself reports it when it is written
                return record
        return record

    logging.setLogRecordFactory(noticed)


def text_of(record: logging.LogRecord) -> str:
    """A record's message, with its traceback if it has one."""
    text = record.getMessage()
    if record.exc_info and record.exc_info[1] is not None:
        text += "\n" + "".join(traceback.format_exception(*record.exc_info)).rstrip("\n")
    return text


def _is_ours(name: str) -> bool:
    return name == NAME or name.startswith(f"{NAME}.")


class Forward(logging.Handler):
    """In a child process: hand records to the parent, which writes them as its own."""

    def __init__(self, send: Callable[..., None]) -> None:
        super().__init__()
        self._send = send

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._send(logger=record.name, text=text_of(record)[:_LONGEST], levelno=record.levelno)
        except Exception:
            self.handleError(record)


def write_forwarded(message: dict[str, Any]) -> None:
    """In the parent: write a child's record under its own logger."""
    logging.getLogger(message["logger"]).log(message["levelno"], "%s", message["text"])
