"""Write all log messages, warnings and uncaught exceptions of a process to standard error, as text or as JSON."""

from __future__ import annotations

import json
import logging
import sys
import threading
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

from ostinato.engine.log import log, pairs

LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40, "critical": 50}
FORMATS = ("text", "json")
_COLOURS = {"debug": "2", "info": "32", "warning": "33", "error": "31", "critical": "31;1"}
# Libraries that log every request or step. Only their warnings and errors are written, whatever the log level.
_TALKATIVE = ("asyncio", "hpack", "httpcore", "httpx", "urllib3", "uvicorn")


def configure_logs(form: str, level: str) -> None:
    """Make every logger write to standard error. `form` is `text` or `json`. Messages below `level` are not written.
    From libraries that log every request, messages below WARNING are not written either."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if form == "json" else TextFormatter(colours=sys.stderr.isatty()))
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(LEVELS[level])
    for name in _TALKATIVE:
        library = logging.getLogger(name)
        library.setLevel(max(LEVELS[level], logging.WARNING))
        library.handlers, library.propagate = [], True
    logging.captureWarnings(True)
    sys.excepthook = _uncaught
    threading.excepthook = _in_a_thread
    sys.unraisablehook = _unraisable


class JsonFormatter(logging.Formatter):
    """Formats a log record as a JSON object: time, level, logger, message, the record's `values`, and the traceback."""

    def format(self, record: logging.LogRecord) -> str:
        values = getattr(record, "values", None)
        fields: dict[str, Any] = {
            "timestamp": _timestamp(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.words if values is not None else record.getMessage(),  # type: ignore[attr-defined]
            **(values or {}),
        }
        traceback = _traceback(self, record)
        if traceback:
            fields["exception"] = traceback
        return json.dumps({name: value for name, value in fields.items() if value is not None}, default=str)


class TextFormatter(logging.Formatter):
    """Formats a log record as a line: time, level, message, and the record's `values`. A traceback follows the line."""

    def __init__(self, *, colours: bool = False) -> None:
        super().__init__()
        self._colours = colours

    def format(self, record: logging.LogRecord) -> str:
        level = record.levelname.lower()
        values = getattr(record, "values", None)
        words, more = record.getMessage(), ""
        if values is not None:
            words = record.words  # type: ignore[attr-defined]
            more = " ".join(pairs(values))
        else:
            words = f"{record.name}: {words}" if record.name not in ("root", "py.warnings") else words
        if self._colours:
            line = f"\033[2m{_timestamp(record)}\033[0m \033[{_COLOURS.get(level, '0')}m{level:<8}\033[0m {words}"
            more = f"\033[2m{more}\033[0m" if more else ""
        else:
            line = f"{_timestamp(record)} {level:<8} {words}"
        traceback = _traceback(self, record)
        return line + (f"  {more}" if more else "") + (f"\n{traceback}" if traceback else "")


def _timestamp(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _traceback(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    """Return the record's traceback as text, without values of variables. Return "" if it has none."""
    if record.exc_info and not record.exc_text:
        record.exc_text = formatter.formatException(record.exc_info)
    parts = [record.exc_text or "", formatter.formatStack(record.stack_info) if record.stack_info else ""]
    return "\n".join(part for part in parts if part)


def _uncaught(kind: type[BaseException], problem: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, problem, trace)
    else:
        log.critical("the process ends with an exception", action="crashed", exc_info=problem)


def _in_a_thread(args: threading.ExceptHookArgs) -> None:
    name = args.thread.name if args.thread is not None else "?"
    problem = args.exc_value or args.exc_type()
    log.error("a thread ended with an exception", action="thread_failed", thread=name, exc_info=problem)


def _unraisable(args: sys.UnraisableHookArgs) -> None:
    words = args.err_msg or "an exception was ignored"
    log.error(words, action="exception_ignored", where=repr(args.object), exc_info=args.exc_value)
