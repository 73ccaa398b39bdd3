"""The tables of codes in the reference are complete: what the code says and what the page says is the same."""

from __future__ import annotations

import re
from pathlib import Path

from ostinato.journeys.checks import RULES

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src/ostinato/journeys"
PAGE = (ROOT / "docs/reference/journey-problems.md").read_text(encoding="utf-8")
# Where a code is in the source: the first argument of what makes a problem, or a finding's own.
STATIC = re.compile(
    r'(?:Fault|Problem|wrong|add_error|add_warning|_add|_?stop)\(\s*(?:reading,\s*)?"([a-z]+(?:-[a-z]+)+)"'
)
OF_SCHEDULES = {"document-merge"}  # of the dialect that files of schedules are read in
RUNTIME = re.compile(r'"((?:HTTPCALL|KAFKA|CACHE|JWT|MTLS|APIKEY|TASK|SCHEDULE)_[A-Z_]+|urn:xml-decode:[a-z-]+)"')
ROW = re.compile(r"^\| `([^`]+)` \|", re.MULTILINE)


def sources() -> str:
    """The reader of documents, and all of the journeys except their expressions, which have a page of their own."""
    paths = [path for path in SOURCE.rglob("*.py") if SOURCE / "expressions" not in path.parents]
    paths.append(SOURCE.parent / "documents.py")
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)


def rows(heading: str) -> set[str]:
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    assert section, heading
    return set(ROW.findall(section))


def test_the_table_of_the_validator_is_complete() -> None:
    codes = set(STATIC.findall(sources())) | {rule.code for rule in RULES} - {"task-settings"}
    codes -= OF_SCHEDULES
    assert len(codes) > 80
    assert rows("When a document is read") | rows("Rules") | rows("Task kinds") == codes


def test_the_table_of_the_runs_is_complete() -> None:
    text = sources()
    codes = set(RUNTIME.findall(text))
    codes |= {f"{prefix}_CONFIG_PROFILE" for prefix in re.findall(r'unknown_profile\([^)]*"([A-Z]+)"\)', text)}
    assert len(codes) > 25
    assert rows("When a run reaches a task") == codes


def test_severities_agree() -> None:
    warned = {rule.code for rule in RULES if rule.severity == "warning"}
    for code in warned:
        assert re.search(rf"^\| `{code}` \| warning \|", PAGE, re.MULTILINE), code
