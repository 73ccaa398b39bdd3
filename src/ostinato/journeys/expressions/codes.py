"""The codes of failed evaluations. They never change, because users rely on them."""

from __future__ import annotations

from enum import StrEnum


class Code(StrEnum):
    ERROR = "EXPRESSION_ERROR"  # it does not compile, or failed while running
    TIMEOUT = "EXPRESSION_TIMEOUT"  # it exceeded its deadline
    MEMORY = "EXPRESSION_MEMORY"  # it exceeded its memory limit
    TOO_LARGE = "EXPRESSION_TOO_LARGE"  # the expression, its bindings or its result are larger than allowed
    RESULT_INVALID = "EXPRESSION_RESULT_INVALID"  # its result is not one JSON value
    DENIED = "EXPRESSION_DENIED"  # it tried to use a file, the environment or another resource
    CRASHED = "EXPRESSION_CRASHED"  # it crashed its process
    UNAVAILABLE = "EXPRESSION_UNAVAILABLE"  # the language is not installed, or its process does not start
