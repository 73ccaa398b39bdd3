"""Words about what blocks the event loop."""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ostinato.engine import stalls
from ostinato.engine.stalls import Stall, advice, place_of, stall_at
from ostinato.model import Run

PACKAGES = "/env/lib/python3/site-packages"


@pytest.mark.parametrize(
    ("stall", "blocker", "remedy"),
    [
        (Stall("crunch", "jobs.py:1 in crunch", 2), "job 'crunch'", "declare it with `def`"),
        (Stall("inbox.poll", "inbox.py:1 in poll", 2, "workflow"), "workflow 'inbox.poll'", "asyncio.to_thread"),
        (Stall(None, "main.py:1 in main", 2), None, "asyncio.to_thread"),
    ],
)
def test_a_stall_says_what_to_do(stall: Stall, blocker: str | None, remedy: str) -> None:
    """A handler of a workflow must be async, so `def` is no advice for it."""
    assert stall.blocker == blocker
    assert remedy in advice(stall)
    assert ("`def`" in advice(stall)) == (stall.kind == "job" and stall.job is not None)


def function_in(file: str, code: str = "inner()") -> Callable[..., str]:
    """Return a function of a file that returns the value of this code, such as the call of its argument."""
    names: dict[str, Any] = {"place_of": place_of, "sys": sys}
    exec(compile(f"def call(inner=None): return {code}", file, "exec"), names)
    call: Callable[..., str] = names["call"]
    return call


def test_the_place_of_a_stall_is_not_in_an_installed_ostinato(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ostinato and other packages are installed side by side, in a folder of Python's library."""
    monkeypatch.setattr(stalls, "_OWN", f"{PACKAGES}/ostinato/")
    monkeypatch.setattr(stalls, "_LIBRARY", ("/env/lib/python3", "<frozen"))
    look = function_in("/env/lib/python3/selectors.py", "place_of(sys._getframe())")
    in_ostinato = partial(function_in(f"{PACKAGES}/ostinato/engine/context.py"), look)
    in_pandas = partial(function_in(f"{PACKAGES}/pandas/frame.py"), look)
    in_a_job = partial(function_in("/home/ada/jobs.py"), in_ostinato)
    in_a_namesake = partial(function_in(f"{PACKAGES}/ostinato_extras/mail.py"), in_ostinato)
    assert in_pandas() == "frame.py:1 in call"
    assert in_a_job() == "jobs.py:1 in call"
    assert in_a_namesake() == "mail.py:1 in call"


@pytest.fixture
def heavy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Stall]]:
    """The stalls that are seen while a library, `heavy_library`, is being imported by the job `crunch`."""
    seen: list[Stall] = []
    look = SimpleNamespace(at=lambda frame: seen.append(stall_at(frame, Run("id", "crunch"), 2.0)))
    monkeypatch.setitem(sys.modules, "look_at_stalls", look)
    (tmp_path / "heavy_library.py").write_text("import heavy_part\n")
    (tmp_path / "heavy_part.py").write_text("import sys, look_at_stalls\nlook_at_stalls.at(sys._getframe())\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield seen
    for name in ("heavy_library", "heavy_part"):
        sys.modules.pop(name, None)


def test_an_import_is_named_by_its_line_and_not_blamed_on_the_job(heavy: list[Stall]) -> None:
    """It happens once in a process, with whatever run comes first."""

    async def crunch() -> None:
        importlib.import_module("heavy_library")

    asyncio.run(crunch())
    (stall,) = heavy
    assert (stall.job, stall.blocker, stall.importing) == (None, None, True)
    assert stall.where.startswith("test_stalls.py:")
    assert stall.where.endswith("crunch")
    assert "import it at the top of a module" in advice(stall)


def test_a_job_in_a_program_that_is_itself_imported_is_blamed(heavy: list[Stall], tmp_path: Path) -> None:
    """The program's own import is below the event loop on the stack."""
    (tmp_path / "heavy_part.py").write_text(
        "import asyncio, sys, look_at_stalls\n\n\nasync def crunch():\n    look_at_stalls.at(sys._getframe())\n\n\n"
        "asyncio.run(crunch())\n"
    )
    importlib.import_module("heavy_library")
    (stall,) = heavy
    assert (stall.blocker, stall.where, stall.importing) == ("job 'crunch'", "heavy_part.py:5 in crunch", False)
