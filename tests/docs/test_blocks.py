"""Every Python and shell block of the README and the docs runs.

Blocks of one page share their names, in order. A YAML or text block whose first line is `# some.file` is that file for
the blocks after it, and every YAML block of schedules is read. `make test` would run this very test again, so it is
only checked to be a target; commands that serve get no input and a bounded time.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from ostinato import parse_schedules

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(r"^```(?P<language>[a-z]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# (?P<name>[\w-]+\.\w+)\n")
NOT_RUN = {"text", "json", "yaml"}
BOUNDED = {"OSTINATO_DEMO_SECONDS": "3"}


@dataclass(frozen=True)
class Block:
    language: str
    body: str
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [Block(m["language"], m["body"], text[: m.start()].count("\n") + 1) for m in FENCE.finditer(text)]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(page):
        match block.language:
            case "python":
                code = compile("\n" * block.line + block.body, str(page), "exec")
                exec(code, names)
            case "sh":
                for command in block.body.splitlines():
                    run(command, tmp_path)
            case language:
                assert language in NOT_RUN, f"{page.name}:{block.line}: what language is {language!r}?"
                if language != "json" and (file := FILE.match(block.body)):
                    Path(tmp_path, file["name"]).write_text(block.body, encoding="utf-8")
                if language == "yaml" and "schedules:" in block.body:
                    assert parse_schedules(block.body, f"{page.name}:{block.line}").entries


def run(command: str, folder: Path) -> None:
    if not command.strip() or command.startswith("#"):
        return
    if command.startswith("make "):
        command = command.replace("make test", "make --dry-run test")
        folder = ROOT
    done = subprocess.run(
        ["bash", "-euc", command],
        cwd=folder,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", **BOUNDED},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+\.md)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
