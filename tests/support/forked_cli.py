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
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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
                yield {SOCKET: path, INSTALLED: str(Path(sys.executable).with_name("ostinato"))}
            finally:
                process.stdin.close()  # it ends by that


def main(path: str) -> None:
    import ostinato.app
    import ostinato.faces.cli.main
    import ostinato.faces.http.in_process  # noqa: F401  # what most commands load

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
    request = json.loads(data)
    pid = os.fork()
    if pid == 0:
        connection.close()
        _run(request, files)
    for file in files:
        os.close(file)
    connection.sendall(f"{pid}\n".encode())
    _, status = os.waitpid(pid, 0)
    connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


def _run(request: dict[str, object], files: list[int]) -> None:
    for number, file in enumerate(files):
        os.dup2(file, number)
    os.chdir(str(request["folder"]))
    os.environ.clear()
    os.environ.update(request["environment"])  # type: ignore[call-overload]
    sys.stdin, sys.stdout, sys.stderr = (
        os.fdopen(number, mode, encoding="utf-8", errors=errors, closefd=False)
        for number, mode, errors in ((0, "r", "strict"), (1, "w", "strict"), (2, "w", "backslashreplace"))
    )
    sys.argv = ["ostinato", *request["arguments"]]  # type: ignore[misc]
    sys.modules["__main__"].__package__ = ""  # help is to name the command, not this module
    sys.path[0] = str(Path(sys.executable).parent)
    code: object = 1
    try:
        from ostinato.faces.cli.main import main

        main()
        code = 0
    except SystemExit as end:
        code = end.code
    except BaseException:
        import traceback

        traceback.print_exc()
    if isinstance(code, str):
        print(code, file=sys.stderr)
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 0 if code is None else 1)


if __name__ == "__main__":
    main(sys.argv[1])
