"""`ostinato page` in a terminal and without one."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import time

import pytest

from tests.support.commands import run_command
from tests.support.forked_python import OSTINATO

pytestmark = pytest.mark.usefixtures("quick_commands")


def test_the_page_answers_each_line_where_there_is_no_terminal() -> None:
    done = run_command("page", "0 12 LW * *", stdin="every 90m\nnonsense\n")
    assert "the last weekday of the month" in done.stdout
    assert "Every 1 hour and 30 minutes" in done.stdout
    assert "'nonsense' has 1 field" in done.stdout


def test_the_page_lives_in_a_terminal_and_leaves_on_escape() -> None:
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [OSTINATO, "page", "0 9 * * 1-5"],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100", "LINES": "45"},
    )
    os.close(follower)
    try:
        assert "on weekdays" in read_until(leader, "on weekdays")
        os.write(leader, b"\x15*/5 * * * *")
        assert "Every 5 minutes" in read_until(leader, "Every 5 minutes")
        os.write(leader, b"\x1b")
        read_until(leader, "\x00never", process)
        assert process.wait(timeout=30) == 0
    finally:
        process.kill()
        os.close(leader)


def read_until(descriptor: int, wanted: str, process: subprocess.Popen[bytes] | None = None) -> str:
    """What the terminal shows until the words come, for half a minute at the most."""
    text, deadline = "", time.monotonic() + 30
    while wanted not in text and time.monotonic() < deadline:
        if process is not None and process.poll() is not None:
            break
        ready, _, _ = select.select([descriptor], [], [], 0.2)
        if ready:
            try:
                text += os.read(descriptor, 65536).decode(errors="replace")
            except OSError:
                break
    return text
