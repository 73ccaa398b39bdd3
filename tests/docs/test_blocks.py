"""Every Python and shell block of the README and the docs runs.

Blocks of one page share their names, in order. A block whose first line is `# some.file` is that file for the blocks
after it, a Python block too, and every YAML or TOML block of ours is read. `make test` would run this very test again,
so it is only checked to be a target; the demo gets a bounded time. A line that serves goes on for the rest of its page,
on a free port in place of the one that the page names, and must end in good order after it.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from ostinato import parse_schedules
from ostinato.faces.cli.configuration import configuration
from ostinato.journeys.checks import check
from ostinato.journeys.documents import read_document
from ostinato.journeys.language import read
from ostinato.journeys.task_kind import Plugins
from ostinato.journeys.tasks.standard import standard_kinds
from tests.docs.pages import FENCE, PAGES, ROOT
from tests.support.forked_cli import BIN
from tests.support.serving import Serving

FILE = re.compile(r"# (?P<name>[\w-]+(?:\.\w+)+)\n")
SERVES = re.compile(r"(?P<settings>(?:OSTINATO_\w+=\S+ )*)ostinato (?P<args>(?:serve|worker)(?! --demo)(?: .*)?)")
NOT_RUN = {"text", "json", "yaml", "toml"}
BOUNDED = {"OSTINATO_DEMO_SECONDS": "3"}
PORT = "8471"
WIRE = "7233"
PORTS = re.compile(f"{PORT}|{WIRE}")


@dataclass(frozen=True)
class Block:
    language: str
    body: str
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [Block(m["language"], m["body"], text[: m.start()].count("\n") + 1) for m in FENCE.finditer(text)]


@pytest.mark.timeout(300)  # a page of commands starts a process for each of its lines
@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forked_cli: dict[str, str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "environ", os.environ.copy())  # what a page sets is its own affair
    os.environ.update(forked_cli)
    names: dict[str, object] = {"__name__": "__main__"}
    port, wire = free_port(), free_port()
    with ExitStack() as serving:
        for block in blocks(page):
            body = PORTS.sub(lambda found: {PORT: port, WIRE: wire}[found[0]], block.body)
            if block.language not in ("json", "sh") and (file := FILE.match(body)):
                Path(tmp_path, file["name"]).write_text(body, encoding="utf-8")
            match block.language:
                case "python":
                    code = compile("\n" * block.line + body, str(page), "exec")
                    exec(code, names)
                case "sh":
                    for command in body.splitlines():
                        if served := SERVES.fullmatch(command):
                            serving.callback(end, serve(served, tmp_path, port))
                        else:
                            run(command, tmp_path)
                case language:
                    assert language in NOT_RUN, f"{page.name}:{block.line}: what language is {language!r}?"
                    if language == "yaml" and "schedules:" in body:
                        assert parse_schedules(body, f"{page.name}:{block.line}").entries
                    if language == "yaml" and body.startswith("apiVersion: v1"):
                        check_journey(body, f"{page.name}:{block.line}")
                    if language == "toml":
                        Path(tmp_path, "read.toml").write_text(body, encoding="utf-8")
                        configuration({}, str(tmp_path / "read.toml"), {})


@pytest.mark.parametrize("name", ["tutorial/first-workflow.md", "how-to/settle-a-blocked-workflow.md"])
def test_pages_about_workflows_run_a_second_time(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store remembers what was done, and the program must not wait for it to be done again."""
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        names: dict[str, object] = {"__name__": "__main__"}
        for block in blocks(ROOT / "docs" / name):
            if block.language == "python":
                exec(compile(block.body, name, "exec"), names)


def check_journey(text: str, place: str) -> None:
    document = read_document(text, place)
    definition, problems = read(document)
    assert definition is not None, [str(one) for one in problems]
    assert check(definition, document.positions, Plugins(standard_kinds())) == []


def free_port() -> str:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def serve(match: re.Match[str], folder: Path, port: str) -> Serving:
    settings = dict(pair.split("=", 1) for pair in match["settings"].split())
    args = match["args"].split()
    if args[0] == "serve":
        settings.setdefault("OSTINATO_PORT", port)
    serving = Serving(folder, *args, **settings)
    assert serving.address if args[0] == "serve" else serving.store
    return serving


def end(serving: Serving) -> None:
    with serving:
        assert serving.stop() == 0, "".join(serving.said)


def run(command: str, folder: Path) -> None:
    if not command.strip() or command.startswith("#"):
        return
    settings = dict(BOUNDED)
    if command.startswith("make "):
        command = command.replace("make test", "make --dry-run test")
        settings["OSTINATO_STORE"] = f"sqlite:///{folder}/ostinato.db"  # nothing of it stays with the sources
        folder = ROOT
    done = subprocess.run(
        ["bash", "-euc", command],
        cwd=folder,
        env={**os.environ, "PATH": f"{BIN}:{Path(sys.executable).parent}:{os.environ['PATH']}", **settings},
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
