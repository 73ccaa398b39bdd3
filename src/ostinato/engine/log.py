"""Write Ostinato's log lines, with named values, to the logger `ostinato` of standard `logging`.

For formatters that write JSON, a record has the attributes `words` (the text) and `values`. A traceback does not show
variables, because they may hold tokens and data of callers.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from typing import Any

NAME = "ostinato"
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@+~#")


class Log:
    """Writes log lines. Keyword arguments are named values of the line, as in `log.info("claimed", queue="a")`. Two
    keyword arguments have a special meaning: `exc_info` is an exception, or True for the exception that is being
    handled, and `traceback` is a formatted traceback."""

    def __init__(self, name: str = NAME) -> None:
        self._logger = logging.getLogger(name)

    @property
    def debugging(self) -> bool:
        """Return whether debug lines are written. Check this before building an expensive line."""
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
        """Write an error with the traceback of the exception being handled."""
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
            record.exc_text = traceback.rstrip("\n")  # formatters use it as the formatted traceback
        logger.handle(record)


def pairs(values: Mapping[str, Any]) -> list[str]:
    """Return a text `name=value` for each value. The name `action` and values that are None are left out. A value with
    special characters is quoted."""
    return [
        f"{name}={_quote_if_needed(value)}" for name, value in values.items() if name != "action" and value is not None
    ]


def _quote_if_needed(value: Any) -> str:
    text = str(value)
    return text if text and _PLAIN.issuperset(text) else repr(text)


log = Log()
