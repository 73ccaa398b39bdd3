"""Messages between the two sides of a pipe: four bytes that say how long, then JSON.

Both sides import this; it must stay free of everything else of ours, for the worker is to be small and quick to start.
Times are the machine's own and not the engine's clock: a process takes as long as it takes, on virtual time, too.
"""

from __future__ import annotations

import os
import select
import struct
import time

_HEAD = struct.Struct(">I")


class Gone(Exception):
    """The other side closed the pipe, in the middle of a message or between two."""


class Late(Exception):
    """The other side took or gave nothing in time."""


def write(descriptor: int, message: bytes, until: float | None = None) -> None:
    """Send one message; with `until`, a monotonic time, give up then. The descriptor is non-blocking in that case."""
    rest = memoryview(_HEAD.pack(len(message)) + message)
    while rest:
        if until is not None:
            _wait(descriptor, select.POLLOUT, until)
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:
            continue
        except OSError as problem:
            raise Gone from problem


def read(descriptor: int, most: int, until: float | None = None) -> bytes:
    (length,) = _HEAD.unpack(_exactly(descriptor, _HEAD.size, until))
    if length > most:
        raise Gone
    return _exactly(descriptor, length, until)


def _exactly(descriptor: int, length: int, until: float | None) -> bytes:
    parts: list[bytes] = []
    while length:
        if until is not None:
            _wait(descriptor, select.POLLIN, until)
        try:
            part = os.read(descriptor, min(length, 1 << 20))
        except BlockingIOError:
            continue
        if not part:
            raise Gone
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def _wait(descriptor: int, event: int, until: float) -> None:
    poll = select.poll()
    poll.register(descriptor, event)
    if not poll.poll(max(0.0, until - time.monotonic()) * 1000):
        raise Late
