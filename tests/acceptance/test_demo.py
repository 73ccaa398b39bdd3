"""`make run`'s demo: it lives, it stops in good order, and it goes on where it was."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

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
    first = run(tmp_path, "3")
    assert first.returncode == 0, first.stderr
    assert "Ostinato is listening on http://127.0.0.1:" in first.stdout
    assert "weather" in first.stdout
    assert "report" in first.stdout
    assert "to come" in first.stdout
    assert "Run it again" in first.stdout
    second = run(tmp_path, "3")
    assert "and went on" in second.stdout.replace("\n", " ")
    assert any(state in second.stdout for state in ("packing", "arrival", "forgotten"))  # a journey, going on too
    assert "error:internal" not in first.stdout + second.stdout
    assert second.stderr == ""


def test_ctrl_c_is_clean(tmp_path: Path) -> None:
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [OSTINATO, "serve", "--demo", "--port", "0"],
        cwd=tmp_path,
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100", "LINES": "40"},
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
            if "newest runs" in text and not asked:
                process.send_signal(signal.SIGINT)
                asked = True
        assert process.wait(timeout=30) == 0
        assert "Traceback" not in text
    finally:
        process.kill()
        os.close(leader)
