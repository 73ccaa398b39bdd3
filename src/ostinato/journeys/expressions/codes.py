"""The codes that a failed evaluation carries. They are part of the contract with users and never change."""

from __future__ import annotations

from enum import StrEnum


class Code(StrEnum):
    ERROR = "EXPRESSION_ERROR"  # it does not compile, or failed by itself
    TIMEOUT = "EXPRESSION_TIMEOUT"  # not done by its deadline
    MEMORY = "EXPRESSION_MEMORY"  # it wanted more memory than it may have
    TOO_LARGE = "EXPRESSION_TOO_LARGE"  # the expression, its bindings or its result are larger than allowed
    RESULT_INVALID = "EXPRESSION_RESULT_INVALID"  # what came out is not one JSON value
    DENIED = "EXPRESSION_DENIED"  # it reached for a file, the environment or another resource
    CRASHED = "EXPRESSION_CRASHED"  # it brought its process down
    UNAVAILABLE = "EXPRESSION_UNAVAILABLE"  # the language is not installed, or its process does not start
