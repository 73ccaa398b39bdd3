"""Run `ostinato` commands without loading them each time.

To load the command line takes longer than most commands. A process that has loaded it once forks for every command
that tests run; the script `bin/ostinato` passes on its arguments, its folder, its environment and its three files, and
ends as the forked process does. Commands that serve are started for real, by the script that is installed.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.forked_python import OSTINATO, run_request

BIN = Path(__file__).with_name("bin")
SOCKET = "FORKED_CLI_SOCKET"
INSTALLED = "FORKED_CLI_INSTALLED"
_REQUEST = 1 << 20  # bytes


@contextmanager
def forking() -> Iterator[dict[str, str]]:
    """Start the process that forks. Yields the variables with which `bin/ostinato` finds it."""
    with tempfile.TemporaryDirectory(prefix="ostinato-forks-") as folder:
        path = str(Path(folder, "socket"))
        root = str(Path(__file__).parents[2])
        command = [sys.executable, "-m", "tests.support.forked_cli", path]
        with subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            try:
                yield {SOCKET: path, INSTALLED: OSTINATO}
            finally:
                process.stdin.close()  # it ends by that


def main(path: str) -> None:
    from ostinato import Ostinato
    from ostinato.engine.ways import load
    from ostinato.faces.http.in_process import _MODULES

    # What most commands load: the ways, and the calls of the API, without a web framework.
    for router in Ostinato("sqlite:///:memory:").ways.routers.values():
        load(router)
    for module in {module for modules in _MODULES.values() for module in modules}:
        load(f"ostinato.faces.http.{module}:router")

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen(64)
        print("ready", flush=True)
        while True:
            ready, _, _ = select.select([listening.fileno(), 0], [], [])
            if 0 in ready:
                return  # the tests are over
            connection, _ = listening.accept()
            with connection:
                if os.fork() == 0:
                    listening.close()
                    _attend(connection)


def _attend(connection: socket.socket) -> None:
    """Run one command in a process of its own, and answer with its exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    data, files, _, _ = socket.recv_fds(connection, _REQUEST, 3)
    pid = os.fork()
    if pid == 0:
        connection.close()
        run_request({"run": "ostinato", **json.loads(data)}, files)
    for file in files:
        os.close(file)
    connection.sendall(f"{pid}\n".encode())
    _, status = os.waitpid(pid, 0)
    connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
