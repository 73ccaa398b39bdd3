"""Run a command with `--reload` in a child process, and restart it when a Python file of the app changes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import typer

from ostinato.errors import OstinatoError

_LOOK = 0.3  # seconds between two looks at the files
_SHOWN = 3  # files that a message names
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def run_reloading(app: str | None, grace: float) -> None:
    """Run this command, without `--reload`, in a child process. When a Python file of `app` changes, stop the child and
    start a new one. A child that has not stopped after `grace` seconds gets a second signal. After another `grace`
    seconds it is killed.

    Exit after a signal, or when a child has ended with code 0. Raises `OstinatoError` if `app` is None.
    """
    if app is None:
        raise OstinatoError("--reload starts again with the code of your app; name it with --app module:name")
    folder = folder_of(app)
    command = [sys.executable, "-m", "ostinato", *(word for word in sys.argv[1:] if word != "--reload")]
    raise typer.Exit(_Reloader(command, folder, grace).run())


def folder_of(app: str) -> Path:
    """Return the folder of the app's package or module. If the app is not found, return the current folder."""
    folder = Path.cwd()
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    try:
        spec = find_spec(app.partition(":")[0].partition(".")[0])
    except (ImportError, ValueError):
        spec = None
    return folder if spec is None or not spec.origin else Path(spec.origin).resolve().parent


def snapshot(folder: Path) -> dict[Path, tuple[int, int]]:
    """Return (mtime, size) of each Python file below a folder, except in hidden folders and virtual environments."""
    states: dict[Path, tuple[int, int]] = {}
    for path, folders, files in os.walk(folder):
        place = Path(path)
        folders[:] = [
            name
            for name in folders
            if not name.startswith(".") and name != "__pycache__" and not (place / name / "pyvenv.cfg").exists()
        ]
        for name in files:
            if name.endswith(".py"):
                try:
                    state = (place / name).stat()
                except OSError:  # it was removed meanwhile
                    continue
                states[place / name] = state.st_mtime_ns, state.st_size
    return states


def changed(before: Mapping[Path, object], after: Mapping[Path, object]) -> list[Path]:
    return sorted(one for one in before.keys() | after.keys() if before.get(one) != after.get(one))


def _exit_code(code: int) -> int:
    """Return the exit code of this command. The command has got a signal, has passed the signal on to its child, and
    the child has ended. `code` is the return code of the child.

    - If one of `_SIGNALS` has ended the child, return 0, because this command has sent the signal.
    - If another signal has ended the child, return 128 plus the number of the signal, as a shell does.
    - Otherwise return `code`.
    """
    if -code in _SIGNALS:
        return 0
    return code if code >= 0 else 128 - code  # as a shell reports a process that a signal has ended


class _Reloader:
    def __init__(self, command: list[str], folder: Path, grace: float) -> None:
        self._command = command
        self._folder = folder
        self._grace = grace
        self._child: subprocess.Popen[bytes] | None = None
        self._signalled_child: subprocess.Popen[bytes] | None = None  # the child that has got the signal
        self._stopping = threading.Event()

    def run(self) -> int:
        """Run one child process after another, until this command gets a signal or a child ends with code 0. Return the
        exit code of this command."""
        for name in _SIGNALS:
            signal.signal(name, self._signalled)
        typer.echo(f"watching {self._folder} for changes of Python files")
        while True:
            seen = snapshot(self._folder)  # taken before the child reads the files, so that no change is missed
            self._child = subprocess.Popen(self._command, start_new_session=True)
            if self._stopping.is_set() and self._signalled_child is not self._child:
                self._child.terminate()  # the signal came before the child existed
            code = self._until_change(seen)
            if code is not None:
                return code

    def _signalled(self, number: int, _: object) -> None:
        """Stop reloading, and pass the signal on to the child. The child has its own session, so Ctrl-C in the terminal
        does not reach the child directly."""
        self._stopping.set()
        if self._child is not None and self._child.poll() is None:
            self._signalled_child = self._child
            self._child.send_signal(number)

    def _until_change(self, seen: dict[Path, tuple[int, int]]) -> int | None:
        """Wait until the child must be replaced, or until the reloading ends.

        - If a watched file differs from `seen`, stop the child, and return None. The caller must then start a new
          child.
        - If the child ends with code 0, return 0. If the child ends with another code, keep waiting for a change.
        - If this command gets a signal, wait until the child ends, and return the exit code of this command.
          `_exit_code` makes this code from the child's return code.
        """
        child = self._child
        assert child is not None
        ended = False
        while True:
            if self._stopping.is_set():
                return _exit_code(child.wait())
            if not ended and child.poll() is not None:
                if child.returncode == 0:
                    return 0
                ended = True
                typer.echo(f"it ended with code {child.returncode}; waiting for a change in {self._folder}", err=True)
            now = snapshot(self._folder)
            if files := changed(seen, now):
                self._say(files)
                self._stop(child)
                return None if not self._stopping.is_set() else _exit_code(child.returncode)
            self._stopping.wait(_LOOK)

    def _say(self, files: list[Path]) -> None:
        named = ", ".join(str(one.relative_to(self._folder)) for one in files[:_SHOWN])
        more = f" and {len(files) - _SHOWN} more" if len(files) > _SHOWN else ""
        typer.echo(f"changed: {named}{more}; starting again")

    def _stop(self, child: subprocess.Popen[bytes]) -> None:
        """Stop the child, and wait until it has ended. After the first signal it may stop gracefully. After a grace
        period, a second signal stops it at once. After another such period it is killed."""
        for end in (child.terminate, child.terminate, child.kill):
            if child.poll() is None:
                end()
            try:
                child.wait(self._grace)
                return
            except subprocess.TimeoutExpired:
                continue
        child.wait()
