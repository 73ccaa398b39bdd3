"""Read and write protobuf's timestamps and durations, with checks."""

from __future__ import annotations

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from ostinato.faces.temporal.errors import Wrong
from ostinato.when.instants import SECOND, Micros

_LONGEST = 315_576_000_000  # seconds: protobuf's maximum, ten thousand years
_FIRST, _LAST = -62_135_596_800, 253_402_300_799  # the years 1 and 9999
_NANOS = 1_000_000_000
_MILLENNIUM: Micros = 1_000 * 366 * 86_400 * SECOND


def read_duration(value: Duration, field: str) -> Micros:
    """Read a duration; fractions of a microsecond are cut off. Raises `Wrong` if it is not a valid duration."""
    seconds, nanos = value.seconds, value.nanos
    if abs(seconds) > _LONGEST or abs(nanos) >= _NANOS or (seconds and nanos and (seconds < 0) != (nanos < 0)):
        raise Wrong(field, f"{seconds} s and {nanos} ns are not a duration")
    return seconds * SECOND + int(nanos / 1000)


def read_length(value: Duration, field: str) -> Micros:
    """Read a duration. Raises `Wrong` if it is negative or longer than a thousand years."""
    length = read_duration(value, field)
    if length < 0:
        raise Wrong(field, f"{length / SECOND:g} s is negative")
    if length > _MILLENNIUM:
        raise Wrong(field, f"{length / SECOND:g} s is longer than a thousand years")
    return length


def write_duration(length: Micros) -> Duration:
    whole, rest = divmod(abs(length), SECOND)
    sign = -1 if length < 0 else 1
    return Duration(seconds=sign * whole, nanos=sign * rest * 1000)


def read_timestamp(value: Timestamp, field: str) -> Micros:
    if not _FIRST <= value.seconds <= _LAST or not 0 <= value.nanos < _NANOS:
        raise Wrong(field, f"{value.seconds} s and {value.nanos} ns are not a moment between the years 1 and 9999")
    return value.seconds * SECOND + value.nanos // 1000


def write_timestamp(instant: Micros) -> Timestamp:
    whole, rest = divmod(instant, SECOND)
    return Timestamp(seconds=whole, nanos=rest * 1000)
