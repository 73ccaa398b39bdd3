"""A process that calls an HTTP server, for the bench: `python -m bench.caller PORT`. On standard input it reads what
to send, on standard output it says how long that took. It knows just enough HTTP to keep a connection, so that it is
the server that is measured."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self


class Connection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def ask(self, method: str, path: str, body: bytes) -> None:
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
        kind = "Content-Type: application/json\r\n" if body else ""
        self._writer.write(f"{head}{kind}\r\n".encode() + body)
        answer = await self._reader.readuntil(b"\r\n\r\n")
        length = next(line for line in answer.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        content = await self._reader.readexactly(int(length.partition(b":")[2]))
        if not answer.startswith(b"HTTP/1.1 2"):
            raise RuntimeError(f"{method} {path}: {answer.splitlines()[0]!r} {content!r}")


async def measure(port: int, at_once: int, asked: Sequence[Sequence[str]]) -> dict[str, Any]:
    """On connections of its own: those that were idle for long are closed by the server."""
    pairs = [await asyncio.open_connection("127.0.0.1", port, limit=1 << 24) for _ in range(at_once)]
    rest = iter(asked)
    taken: list[float] = []

    async def worker(connection: Connection) -> None:
        for method, path, body in rest:
            begin = time.perf_counter()
            await connection.ask(method, path, body.encode())
            taken.append((time.perf_counter() - begin) * 1000)

    begin = time.perf_counter()
    await asyncio.gather(*(worker(Connection(*one)) for one in pairs))
    seconds = time.perf_counter() - begin
    for _, writer in pairs:
        writer.close()
    return {"seconds": seconds, "taken": taken}


async def main(port: int, at_once: int) -> None:
    for line in sys.stdin:
        sys.stdout.write(json.dumps(await measure(port, at_once, json.loads(line))) + "\n")
        sys.stdout.flush()


class Caller:
    """The other end: `with Caller(port, 16) as caller: caller.measure([("GET", path, "")])`. It blocks."""

    def __init__(self, port: int, at_once: int) -> None:
        command = [sys.executable, "-m", "bench.caller", str(port), str(at_once)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def measure(self, asked: Sequence[tuple[str, str, str]]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        return dict(json.loads(self._process.stdout.readline()))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, _: TracebackType | None) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(10)
        if self._process.stdout is not None:
            self._process.stdout.close()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))
