"""`app.run()`: a script that is a node until it is stopped."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPT = """
from ostinato import Ostinato, every

app = Ostinato("sqlite:///run.db")


@app.schedule(every(seconds=1))
async def tick() -> None:
    print("ticked", flush=True)


if __name__ == "__main__":
    app.run()
    print("stopped", flush=True)
"""
STUCK = """
import time

from ostinato import Ostinato, every

app = Ostinato("sqlite:///run.db", grace="100ms")


@app.schedule(every(seconds=1))
def stuck() -> None:
    print("stuck", flush=True)
    time.sleep(600)


if __name__ == "__main__":
    app.run()
"""


def test_a_thread_that_cannot_be_stopped_does_not_keep_the_process(tmp_path: Path) -> None:
    (tmp_path / "jobs.py").write_text(STUCK)
    command, pipe = [sys.executable, "jobs.py"], subprocess.PIPE
    with subprocess.Popen(command, cwd=tmp_path, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "stuck\n"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
        assert process.returncode == 0
        assert "node stopped" in said
        assert "job 'stuck' is still in its thread after the grace" in said
        assert "job threads are still running" in said
        assert "Traceback" not in said


def test_a_second_signal_ends_the_process_at_once(tmp_path: Path) -> None:
    (tmp_path / "jobs.py").write_text(STUCK.replace("100ms", "10m"))
    command, pipe = [sys.executable, "jobs.py"], subprocess.PIPE
    with subprocess.Popen(command, cwd=tmp_path, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "stuck\n"
        while process.poll() is None:  # the first may not be heard yet when the second comes
            process.send_signal(signal.SIGINT)
            time.sleep(0.2)
        assert process.returncode == -signal.SIGINT
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()


@pytest.mark.parametrize("name", [signal.SIGINT, signal.SIGTERM])
def test_a_script_runs_a_node_until_it_is_stopped(tmp_path: Path, name: signal.Signals) -> None:
    (tmp_path / "jobs.py").write_text(SCRIPT)
    with subprocess.Popen([sys.executable, "jobs.py"], cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ticked\n"
        process.send_signal(name)
        assert process.stdout.read().splitlines()[-1] == "stopped"
        assert process.wait(timeout=30) == 0


INTERRUPTED = """
import asyncio
from datetime import UTC, datetime, timedelta

from ostinato import Ostinato

app = Ostinato("sqlite:///run.db")


@app.job(retry={"attempts": 1})
async def interrupts() -> None:
    raise KeyboardInterrupt


@app.job(retry={"attempts": 1})
def interrupts_in_a_thread() -> None:
    raise KeyboardInterrupt


@app.job()
async def greet() -> None:
    print("hello", flush=True)


async def start() -> None:
    async with app.connected():
        await app.start("interrupts")
        await app.start("interrupts_in_a_thread")
        await app.start("greet", at=datetime.now(UTC) + timedelta(seconds=0.5))


if __name__ == "__main__":
    asyncio.run(start())
    app.run()
    print("stopped", flush=True)
"""


def test_a_node_goes_on_after_jobs_that_raise_a_keyboard_interrupt(tmp_path: Path) -> None:
    (tmp_path / "jobs.py").write_text(INTERRUPTED)
    command, pipe = [sys.executable, "jobs.py"], subprocess.PIPE
    with subprocess.Popen(command, cwd=tmp_path, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "hello\n"
        process.send_signal(signal.SIGTERM)
        out, said = process.communicate(timeout=30)
        assert (process.returncode, out) == (0, "stopped\n")
        assert said.count("KeyboardInterrupt") >= 2
        assert "asyncio" not in said
