"""`app.run()`: a script that is a node until it is stopped."""

from __future__ import annotations

import signal
import subprocess
import sys
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


@pytest.mark.parametrize("name", [signal.SIGINT, signal.SIGTERM])
def test_a_script_runs_a_node_until_it_is_stopped(tmp_path: Path, name: signal.Signals) -> None:
    (tmp_path / "jobs.py").write_text(SCRIPT)
    with subprocess.Popen([sys.executable, "jobs.py"], cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ticked\n"
        process.send_signal(name)
        assert process.stdout.read().splitlines()[-1] == "stopped"
        assert process.wait(timeout=30) == 0
