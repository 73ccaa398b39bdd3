"""Start Python processes without loading Ostinato in each of them.

To load what a server needs takes longer than most tests do with it. A process that has loaded it once forks for every
process that tests start with `Popen` of this module. The new process becomes a child of the test's own process, so it
is killed, stopped and waited for as any other. On other systems than Linux processes are started as usual.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

OSTINATO = str(Path(sys.executable).with_name("ostinato"))
_ROOT = Path(__file__).parents[2]
_REQUEST = 1 << 20  # bytes
_SET_CHILD_SUBREAPER = 36
_LOADED = (
    "asyncpg",
    "httpx",
    "uvicorn.protocols.http.httptools_impl",
    "uvicorn.lifespan.on",
    "ostinato.faces.http.server",
    "ostinato.store.postgres",
    "ostinato.store.sqlite",
    "tests.acceptance.bodies",
)
_lock = threading.Lock()


class Popen(subprocess.Popen[Any]):
    """As `subprocess.Popen`. A command that begins with `OSTINATO`, or with `sys.executable` and `-m` or `-c`, is
    forked."""

    def _execute_child(self, args: Any, *rest: Any) -> None:
        run, words = _forkable(args)
        if run is None:
            super()._execute_child(args, *rest)  # type: ignore[misc]
            return
        folder, environment, pipes = rest[4], rest[5], rest[9:15]
        files = [number if pipe == -1 else pipe for number, pipe in enumerate((pipes[0], pipes[3], pipes[5]))]
        request = {
            "run": run,
            "arguments": words,
            "folder": os.getcwd() if folder is None else os.fspath(folder),
            "environment": dict(os.environ if environment is None else environment),
        }
        self.pid = _fork(json.dumps(request).encode(), files)
        self._child_created = True
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]


def run(command: list[str], timeout: float, **options: Any) -> subprocess.CompletedProcess[str]:
    """As `subprocess.run` with `capture_output=True, text=True`, for commands that `Popen` of this module takes."""
    pipe = subprocess.PIPE
    with Popen(command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True, **options) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def _forkable(command: Any) -> tuple[str | None, list[str]]:
    """What to run, and its arguments; no word if it cannot be forked."""
    if sys.platform != "linux" or not isinstance(command, list):
        return None, []
    if command[0] == OSTINATO:
        return "ostinato", command[1:]
    if command[0] == sys.executable and command[1] in ("-m", "-c"):
        return command[1], command[2:]
    return None, []


def _fork(request: bytes, files: list[int]) -> int:
    with _lock, socket.socket(socket.AF_UNIX) as connection:
        connection.connect(_server())
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # whom its parent leaves becomes ours
        try:
            socket.send_fds(connection, [request], files)
            pid = int(connection.recv(20))
            while _parent(pid) != os.getpid():
                os.sched_yield()
        finally:
            libc.prctl(_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
    return pid


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


@cache
def _server() -> str:
    """Start the process that forks. Returns the address of its socket. It ends with this process."""
    address = f"\0ostinato-forks-{os.getpid()}-{time.monotonic_ns()}"
    command = [sys.executable, "-m", "tests.support.forked_python", address[1:]]
    process = subprocess.Popen(command, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.stdout.close()
    _servers.append(process)  # its standard input closes with this process
    return address


_servers: list[subprocess.Popen[bytes]] = []


def end_server() -> None:
    """End the process that forks, if there is one."""
    while _servers:
        process = _servers.pop()
        assert process.stdin is not None
        process.stdin.close()
        process.wait(30)
    _server.cache_clear()


def main(address: str) -> None:
    from importlib import import_module

    from ostinato import Ostinato
    from ostinato.engine.ways import load

    for module in _LOADED:
        import_module(module)
    for router in Ostinato("sqlite:///:memory:").ways.routers.values():
        load(router)
    gc.collect()
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"\0{address}")
        listening.listen(64)
        print("ready", flush=True)
        while True:
            ready, _, _ = select.select([listening.fileno(), 0], [], [])
            if 0 in ready:
                return  # the tests are over
            connection, _ = listening.accept()
            middle = os.fork()
            if middle == 0:
                listening.close()
                _fork_twice(connection)
            connection.close()
            os.waitpid(middle, 0)


def _fork_twice(connection: socket.socket) -> None:
    """Fork the process that was asked for, and leave it to the test's process."""
    data, files, _, _ = socket.recv_fds(connection, _REQUEST, 3)
    pid = os.fork()
    if pid == 0:
        connection.close()
        run_request(json.loads(data), files)
    connection.sendall(f"{pid}".encode())
    os._exit(0)


def run_request(request: dict[str, Any], files: list[int]) -> None:
    """Become the process that was asked for, with its folder, its environment and its three files."""
    for number, file in enumerate(files):
        os.dup2(file, number)
    for file in files:
        if file > 2:
            os.close(file)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    sys.stdin, sys.stdout, sys.stderr = (
        os.fdopen(number, mode, encoding="utf-8", errors=errors, closefd=False)
        for number, mode, errors in ((0, "r", "strict"), (1, "w", "strict"), (2, "w", "backslashreplace"))
    )
    _exit_with(lambda: _RUN[request["run"]](request["arguments"]))


def _run_command(arguments: list[str]) -> None:
    sys.argv = ["ostinato", *arguments]
    sys.modules["__main__"].__package__ = ""  # help is to name the command, not this module
    sys.path[0] = str(Path(sys.executable).parent)
    from ostinato.faces.cli.main import main as command

    command()


def _run_module(arguments: list[str]) -> None:
    sys.argv = list(arguments)
    sys.path[0] = os.getcwd()
    runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)


def _run_code(arguments: list[str]) -> None:
    sys.argv = ["-c", *arguments[1:]]
    sys.path[0] = ""
    exec(compile(arguments[0], "<string>", "exec"), {"__name__": "__main__"})


_RUN: dict[str, Callable[[list[str]], None]] = {"ostinato": _run_command, "-m": _run_module, "-c": _run_code}


def _exit_with(main: Callable[[], None]) -> None:
    """Call `main`, and end the process as Python would."""
    code: object = None
    try:
        main()
    except SystemExit as end:
        code = end.code
    except KeyboardInterrupt:
        sys.excepthook(*sys.exc_info())
        sys.stderr.flush()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    if isinstance(code, str):
        print(code, file=sys.stderr)
    threading._shutdown()  # type: ignore[attr-defined]
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 0 if code is None else 1)


if __name__ == "__main__":
    main(sys.argv[1])
