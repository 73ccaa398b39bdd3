"""The command line as a whole."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from tests.support.commands import run_command

pytestmark = pytest.mark.usefixtures("quick_commands")


def test_a_command_waits_for_nothing_that_it_does_not_need() -> None:
    """The overview needs no engine, no store and no HTTP; `when` needs the algebra of time alone."""
    heavy = ["asyncpg", "fastapi", "httpx", "ostinato.app", "ostinato.client", "ruamel.yaml", "uvicorn"]
    look = "import sys; from ostinato.faces.cli.main import app\ntry: app()\nexcept SystemExit: pass\n"
    for args in (["--help"], ["when", "0 9 * * *"], ["version"]):
        report = f"sys.exit(' '.join(one for one in {heavy} if one in sys.modules) or 0)"
        done = subprocess.run([sys.executable, "-c", look + report, *args], capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, ""), args


def test_version_names_the_zone_rules() -> None:
    assert re.match(r"ostinato \d+\.\d+\.\d+, time-zone rules \d{4}", run_command("version").stdout)
    assert set(json.loads(run_command("version", "--json").stdout)) == {"version", "zone_rules", "zone_source"}
