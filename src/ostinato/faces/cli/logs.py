"""What a serving process logs, and how: words for people or a JSON object a line for machines, on standard error."""

from __future__ import annotations

import logging
import sys
from typing import Any

import structlog

from ostinato.engine.telemetry import log

LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40, "critical": 50}
FORMATS = ("text", "json")


def configure_logs(form: str, level: str) -> None:
    """Tracebacks are without the values of variables: those are what callers sent, tokens among them."""
    shown: list[Any] = [structlog.processors.add_log_level, structlog.processors.TimeStamper(fmt="iso", utc=True)]
    if form == "json":
        tracebacks = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
        shown += [structlog.processors.ExceptionRenderer(tracebacks), structlog.processors.JSONRenderer()]
    else:
        plain = structlog.dev.plain_traceback
        shown.append(structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=plain))
    structlog.configure(
        processors=shown,
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level]),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    server = logging.getLogger("uvicorn")
    server.handlers = [_Forward()]
    server.propagate = False


class _Forward(logging.Handler):
    """The web server's own log lines, as lines of ours."""

    def emit(self, record: logging.LogRecord) -> None:
        level = record.levelname.lower()
        tell = getattr(log, level if level in LEVELS else "warning")
        tell(record.getMessage(), action="web_server", exc_info=record.exc_info or None)
