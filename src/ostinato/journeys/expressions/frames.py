"""Send and receive messages over a pipe. A message is four bytes for its length, and then JSON.

This module imports nothing else of Ostinato, so that a worker is small and starts quickly. Times come from the
machine's clock. The virtual clock of tests does not apply here, because worker processes run in real time.
"""

from __future__ import annotations

import os
import select
import struct
import time
from contextlib import suppress

_HEAD = struct.Struct(">I")


class Gone(Exception):
    """Raised if the other side has closed the pipe."""


class Late(Exception):
    """Raised if the other side did not read or write in time."""


def framed(message: bytes) -> bytes:
    return _HEAD.pack(len(message)) + message


def write(descriptor: int, messages: bytes, until: float | None = None) -> None:
    """Write framed messages. Raise `Gone` if the reader has closed the pipe. If `until` is not None, the descriptor
    must be non-blocking. Raise `Late` if the reader has not read everything by the monotonic time `until`."""
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
    """Reads messages from a pipe, with few system calls. `most` is the maximum length of a message, in bytes."""

    def __init__(self, descriptor: int, most: int) -> None:
        self._descriptor = descriptor
        self._most = most
        self._held = bytearray()

    def read(self, until: float | None = None) -> bytes:
        """Return the next message. Raise `Gone` if the pipe was closed or the message is too long. If `until` is not
        None, the descriptor must be non-blocking. Raise `Late` if the whole message has not arrived by the monotonic
        time `until`."""
        while (message := self._next()) is None:
            self._fill(until)
        return message

    def read_some(self, until: float) -> list[bytes]:
        """Wait for a message. Return it together with all further messages that have been read completely. Raise `Late`
        if no message has arrived by the monotonic time `until`, and `Gone` if the pipe was closed or a message is too
        long. The descriptor must be non-blocking."""
        messages = [self.read(until)]
        while (message := self._next()) is not None:
            messages.append(message)
        return messages

    def _next(self) -> bytes | None:
        """Return the next message if all of it has arrived, else None. Raise `Gone` if it is too long."""
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
