"""`make run`'s demo: it lives, it stops in good order, and it goes on where it was."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
OSTINATO = str(Path(sys.executable).with_name("ostinato"))


def run(folder: Path, seconds: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [OSTINATO, "serve", "--demo", "--demo-seconds", seconds],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_the_demo_runs_and_goes_on_where_it_was(tmp_path: Path) -> None:
    first = run(tmp_path, "5")
    assert first.returncode == 0, first.stderr
    assert "Ostinato is listening on http://127.0.0.1:" in first.stdout
    assert "weather" in first.stdout
    assert "report" in first.stdout
    assert re.search("shop +Every 8 seconds +allow_all", first.stdout)
    assert "to come" in first.stdout
    assert "workflow  inbox" in first.stdout
    assert "Checks every 5 seconds" in first.stdout
    assert "agent  buddy" in first.stdout
    assert "Run it again" in first.stdout
    second = run(tmp_path, "3")
    assert "and went on" in second.stdout.replace("\n", " ")
    assert any(state in second.stdout for state in ("packing", "arrival", "forgotten"))  # a journey, going on too
    assert "error:internal" not in first.stdout + second.stdout
    assert "Needs attention" not in first.stdout + second.stdout
    assert second.stderr == ""


COLUMNS, LINES = 80, 24


def test_it_fits_a_small_terminal_and_ctrl_c_is_clean(tmp_path: Path) -> None:
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    process = subprocess.Popen(
        [OSTINATO, "serve", "--demo", "--port", "0"],
        cwd=tmp_path,
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env={**os.environ, "TERM": "xterm", "COLUMNS": str(COLUMNS), "LINES": str(LINES)},
    )
    os.close(follower)
    try:
        text, deadline, asked = "", time.monotonic() + 40, False
        while process.poll() is None and time.monotonic() < deadline:
            if select.select([leader], [], [], 0.1)[0]:
                try:
                    text += os.read(leader, 65536).decode(errors="replace")
                except OSError:
                    break
            if "it goes on where it was." in text and not asked:  # the end of a whole picture
                process.send_signal(signal.SIGINT)
                asked = True
        assert process.wait(timeout=30) == 0
        assert "Traceback" not in text
        assert "stopping" in text
        shown, _, stopping = ESCAPE.sub("", text).partition("stopping")
        assert "Ostinato on http" not in stopping  # the screen does not go on as if it were running
        frame = "Ostinato on http" + shown.rpartition("Ostinato on http")[2].rstrip()
        lines = [line.rstrip() for line in frame.splitlines()]
        assert len(lines) <= LINES
        assert max(map(len, lines)) <= COLUMNS
        for part in (
            "schedule ",
            "overlap",
            "newest runs",
            "journey ",
            "workflow  inbox",
            "to come",
            "Ctrl-C stops it",
        ):
            assert any(part in line for line in lines), f"{part}: {frame}"
    finally:
        process.kill()
        os.close(leader)
