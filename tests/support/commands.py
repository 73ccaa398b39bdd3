"""Run commands in this process, on a store or on a server."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from ostinato.faces.cli.main import app
from tests.support.forked_cli import BIN


@dataclass
class Place:
    """A place to run commands at. `text` is what a person sees, `json` what a program does."""

    environ: dict[str, str | None]
    kind: str

    def run(self, *args: str, code: int = 0, input: str | None = None) -> Any:
        env = {**self.environ, "COLUMNS": None}  # a terminal of the tests would fold what is shown
        done = CliRunner().invoke(app, list(args), env=env, input=input, catch_exceptions=False)
        assert done.exit_code == code, f"{args}: {done.exit_code}\n{done.output}"
        return done

    def text(self, *args: str, code: int = 0) -> str:
        return str(self.run(*args, code=code).stdout)

    def json(self, *args: str, code: int = 0) -> Any:
        return json.loads(self.run(*args, "--json", code=code).stdout)

    def error(self, *args: str, code: int) -> str:
        return str(self.run(*args, code=code).stderr)


def run_command(*args: str, stdin: str = "", folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own. With the fixture `quick_commands` it need not load everything first."""
    command = [str(BIN / "ostinato"), *args]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=60, cwd=folder)
