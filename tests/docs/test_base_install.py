"""The tutorial and the examples need no extra."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).parents[2]
WITHOUT_EXTRAS = """
    import sys
    for name in "dataweave jq jsonata icalendar recurring_ical_events confluent_kafka temporalio grpc jwt mcp".split():
        sys.modules[name] = None  # as if it were not installed
"""


def _run(program: str, folder: Path) -> str:
    written = textwrap.dedent(WITHOUT_EXTRAS) + textwrap.dedent(program)
    done = subprocess.run(
        [sys.executable, "-c", written], cwd=folder, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _blocks(page: str, language: str) -> list[str]:
    parts = (ROOT / "docs" / page).read_text(encoding="utf-8").split("```")
    return [part.removeprefix(language) for part in parts[1::2] if part.startswith(f"{language}\n")]


def test_the_first_journey_runs_without_extras(tmp_path: Path) -> None:
    (journey,) = _blocks("tutorial/first-journey.md", "yaml")
    (tmp_path / "day-off.journey.yaml").write_text(journey, encoding="utf-8")
    run, *_ = _blocks("tutorial/first-journey.md", "python")
    _run(run, tmp_path)


def test_the_examples_are_checked_without_extras(tmp_path: Path) -> None:
    output = _run(
        f"""
        from pathlib import Path
        from ostinato.journeys.definitions import find_problems
        from ostinato.journeys.tasks.standard import standard_plugins
        for file in sorted(Path({str(ROOT / "examples")!r}).glob("*.yaml")):
            problems = find_problems(file.read_text(), str(file), standard_plugins())
            print(file.name, len(problems), *(one.message for one in problems[:1]))
        """,
        tmp_path,
    )
    said = {line.split()[0]: line for line in output.splitlines()}
    assert len(said) == 6
    assert all(line.split()[1] == "0" for line in said.values()), said


def test_what_needs_an_extra_says_how_to_install_it_from_the_clone(tmp_path: Path) -> None:
    output = _run(
        """
        import asyncio
        from ostinato import SpecError
        from ostinato.errors import OstinatoError
        from ostinato.faces.cli.temporal_commands import _import_export
        from ostinato.journeys.tasks.standard import MissingExtra
        from ostinato.when.holidays import holidays
        for call in (lambda: holidays(""), _import_export):
            try:
                call()
            except OstinatoError as problem:
                print(problem)
        print(asyncio.run(MissingExtra("jwtValidate", "auth").run(None)).detail)
        """,
        tmp_path,
    )
    assert [line.partition(";")[2] or line for line in output.splitlines()] == [
        " in a clone of Ostinato, run pip install '.[ical]'",
        " in a clone of Ostinato, run pip install '.[temporal]'",
        "in a clone of Ostinato, run pip install '.[auth]'",
    ]
