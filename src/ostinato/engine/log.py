"""Ostinato's log: lines with named values, written through standard `logging` under the logger `ostinato`.

The process's own configuration decides where a line goes, and with none of its own Python prints warnings to standard
error. A line's message reads well by itself. Its parts are on the record, for formatters that write JSON: `words`, and
`values` with the `action` to filter by. A traceback never shows the values of variables: those are what callers sent,
tokens among them.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from typing import Any

NAME = "ostinato"
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@+~#")


class Log:
    """Write lines. `exc_info` is an exception, or true for the one being handled; `traceback` is one as text."""

    def __init__(self, name: str = NAME) -> None:
        self._logger = logging.getLogger(name)

    @property
    def debugging(self) -> bool:
        """Whether debug lines are wanted: ask before a line that costs something to put together."""
        return self._logger.isEnabledFor(logging.DEBUG)

    def debug(self, words: str, /, **values: Any) -> None:
        self._write(logging.DEBUG, words, values)

    def info(self, words: str, /, **values: Any) -> None:
        self._write(logging.INFO, words, values)

    def warning(self, words: str, /, **values: Any) -> None:
        self._write(logging.WARNING, words, values)

    def error(self, words: str, /, **values: Any) -> None:
        self._write(logging.ERROR, words, values)

    def critical(self, words: str, /, **values: Any) -> None:
        self._write(logging.CRITICAL, words, values)

    def exception(self, words: str, /, **values: Any) -> None:
        """An error, with the traceback of the exception being handled."""
        self._write(logging.ERROR, words, {"exc_info": True, **values})

    def _write(self, level: int, words: str, values: dict[str, Any]) -> None:
        logger = self._logger
        if not logger.isEnabledFor(level):
            return
        exc_info = values.pop("exc_info", None)
        traceback: str = values.pop("traceback", "")
        if isinstance(exc_info, BaseException):
            exc_info = (type(exc_info), exc_info, exc_info.__traceback__)
        elif exc_info:
            exc_info = sys.exc_info()
        file, line, function, _ = logger.findCaller(stacklevel=3)
        text = " ".join([words, *pairs(values)])
        record = logger.makeRecord(logger.name, level, file, line, text, (), exc_info or None, function)
        record.words, record.values = words, values
        if traceback:
            record.exc_text = traceback.rstrip("\n")  # where a formatter looks for one that is written out already
        logger.handle(record)


def pairs(values: Mapping[str, Any]) -> list[str]:
    """Values as `name=value`, without the action; quoted where it takes quotes to see the end of one."""
    return [f"{name}={_shown(value)}" for name, value in values.items() if name != "action" and value is not None]


def _shown(value: Any) -> str:
    text = str(value)
    return text if text and _PLAIN.issuperset(text) else repr(text)


log = Log()
