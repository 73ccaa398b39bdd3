"""`--reload`: a change of a Python file is taken up by a process that starts again; one that is wrong waits."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from typer.testing import CliRunner

from ostinato.client import SyncClient
from ostinato.faces.cli.main import app
from ostinato.faces.cli.reloading import _Reloader, changed, snapshot
from tests.support.serving import Serving, until

CODE = dedent("""\
    from ostinato import Ostinato

    app = Ostinato("sqlite:///reload.db", lease="1s")


    @app.job()
    async def WORD() -> str:
        return "WORD"
    """)


def heard(server: Serving, words: str, times: int = 1) -> None:
    until(lambda: sum(words in line for line in list(server.said)) >= times, f"{words!r}, {times} times")


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_change_is_taken_up_and_a_wrong_one_waits_for_the_next(tmp_path: Path) -> None:
    file = tmp_path / "jobs.py"
    file.write_text(CODE.replace("WORD", "first"))
    with Serving(tmp_path, "serve", "--app", "jobs:app", "--port", "0", "--reload") as server:
        with SyncClient(server.address) as client:
            assert "first" in {one["name"] for one in client.jobs()}
        file.write_text("def broken(:\n")
        heard(server, "changed: jobs.py; starting again")
        heard(server, "SyntaxError")
        heard(server, "waiting for a change")
        heard(server, "stopping")  # the old one, in good order
        server.said[:] = []
        file.write_text(CODE.replace("WORD", "second"))
        with SyncClient(server.address) as client:
            run = client.start("second")
            until(lambda: client.run(run["id"])["status"] == "succeeded", "the new job ran")
            assert client.run(run["id"])["result"] == "second"
        assert server.stop(signal.SIGTERM) == 0


def test_what_is_not_a_python_file_of_the_app_changes_nothing(tmp_path: Path) -> None:
    for name in ("app.py", "part/inner.py", ".git/hook.py", "env/lib/other.py", "notes.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x = 1\n")
    (tmp_path / "env/pyvenv.cfg").write_text("")
    before = snapshot(tmp_path)
    assert sorted(before) == [tmp_path / "app.py", tmp_path / "part/inner.py"]
    (tmp_path / "notes.txt").write_text("more")
    (tmp_path / "env/lib/other.py").write_text("x = 22\n")
    assert changed(before, snapshot(tmp_path)) == []
    (tmp_path / "part/inner.py").unlink()
    (tmp_path / "new.py").write_text("")
    assert changed(before, snapshot(tmp_path)) == [tmp_path / "new.py", tmp_path / "part/inner.py"]


def test_reloading_needs_an_app(tmp_path: Path) -> None:
    for words in (["worker", "--reload"], ["serve", "--reload"]):
        done = CliRunner().invoke(app, words, env={"OSTINATO_APP": None, "OSTINATO_CONFIG": None})
        assert done.exit_code == 2
        assert "--app module:name" in done.stderr
    done = CliRunner().invoke(app, ["serve", "--reload", "--demo"], env={"OSTINATO_APP": None})
    assert "leave out --reload" in done.stderr


@pytest.fixture
def _same_handlers() -> Iterator[None]:
    handlers = {name: signal.getsignal(name) for name in (signal.SIGINT, signal.SIGTERM)}
    yield
    for name, handler in handlers.items():
        signal.signal(name, handler)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.usefixtures("_same_handlers")
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_signal_during_a_start_reaches_the_child_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """A second signal would end a node at once. The signal comes just before or after the child is known."""
    sent: list[int] = []
    send_signal = subprocess.Popen.send_signal

    def send(child: subprocess.Popen[bytes], number: int) -> None:
        sent.append(number)
        send_signal(child, number)

    class Interrupted(_Reloader):
        def __setattr__(self, name: str, value: Any) -> None:
            started = name == "_child" and value is not None
            if started and moment == "before":
                self._signalled(signal.SIGTERM, None)
            super().__setattr__(name, value)
            if started and moment == "after":
                self._signalled(signal.SIGTERM, None)

    monkeypatch.setattr(subprocess.Popen, "send_signal", send)
    command = [sys.executable, "-c", "import signal; signal.pause()"]
    assert Interrupted(command, tmp_path, 10).run() == 0  # it was stopped as asked, though it heard no signal itself
    assert sent == [signal.SIGTERM]
