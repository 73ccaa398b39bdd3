"""Messages between the two sides of a pipe: four bytes that say how long, then JSON.

Both sides import this; it must stay free of everything else of ours, for the worker is to be small and quick to start.
Times are the machine's own and not the engine's clock: a process takes as long as it takes, on virtual time, too.
"""

from __future__ import annotations

import os
import select
import struct
import time
from contextlib import suppress

_HEAD = struct.Struct(">I")


class Gone(Exception):
    """The other side closed the pipe, in the middle of a message or between two."""


class Late(Exception):
    """The other side took or gave nothing in time."""


def framed(message: bytes) -> bytes:
    return _HEAD.pack(len(message)) + message


def write(descriptor: int, messages: bytes, until: float | None = None) -> None:
    """Send what is framed; with `until`, a monotonic time, give up then. The descriptor is non-blocking in that
    case."""
    rest = memoryview(messages)
    while rest:
        if until is not None:
            _wait(descriptor, select.POLLOUT, until)
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:
            continue
        except OSError as problem:
            raise Gone from problem


class Reader:
    """Messages of at most `most` bytes from a pipe. It takes what is there at once: a batch has many small answers."""

    def __init__(self, descriptor: int, most: int) -> None:
        self._descriptor = descriptor
        self._most = most
        self._held = bytearray()

    def read(self, until: float | None = None) -> bytes:
        """The next one; with `until`, a monotonic time, give up then. The descriptor is non-blocking in that case."""
        while (message := self._next()) is None:
            self._fill(until)
        return message

    def read_some(self, until: float) -> list[bytes]:
        """All that have come, at least one."""
        messages = [self.read(until)]
        while (message := self._next()) is not None:
            messages.append(message)
        return messages

    def _next(self) -> bytes | None:
        """The next one, if all of it has come."""
        if len(self._held) < _HEAD.size:
            return None
        (length,) = _HEAD.unpack_from(self._held)
        if length > self._most:
            raise Gone
        if len(self._held) < _HEAD.size + length:
            return None
        message = bytes(self._held[_HEAD.size : _HEAD.size + length])
        del self._held[: _HEAD.size + length]
        return message

    def _fill(self, until: float | None) -> None:
        if until is not None:
            _wait(self._descriptor, select.POLLIN, until)
        with suppress(BlockingIOError):
            part = os.read(self._descriptor, 1 << 20)
            if not part:
                raise Gone
            self._held += part


def _wait(descriptor: int, event: int, until: float) -> None:
    poll = select.poll()
    poll.register(descriptor, event)
    if not poll.poll(max(0.0, until - time.monotonic()) * 1000):
        raise Late
