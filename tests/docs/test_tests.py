"""The tests themselves: they share helpers by name, and what names their paths names files that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, ROOT
from tests.mutants import MUTANTS, Mutant

MODULES = sorted((ROOT / "tests").rglob("*.py"))
PATH = re.compile(r"(?<![\w/])tests/[\w./*-]*[\w*]")


def imported(module: Path) -> set[str]:
    """Return the names of all modules that a module may import, wherever it does."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            names |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names


def test_no_module_imports_a_test_module() -> None:
    """What two of them need is in `tests/support`, or in a module beside them that is no test."""
    tests = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts) for path in MODULES if path.name.startswith("test_")
    }
    for module in MODULES:
        assert not imported(module) & tests, module.relative_to(ROOT)


@pytest.mark.parametrize("file", [*PAGES, ROOT / "Makefile", ROOT / "pyproject.toml", ROOT / "tests/mutants.py"])
def test_every_path_of_a_test_that_is_named_exists(file: Path) -> None:
    for path in PATH.findall(file.read_text(encoding="utf-8")):
        assert list(ROOT.glob(path)), f"{file.name} names {path}"


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.words)
def test_a_mutant_fits_exactly_one_place(mutant: Mutant) -> None:
    """`make mutants` takes long and is run seldom; a change of the code that a mutant breaks must not wait for it."""
    assert (ROOT / "src" / "ostinato" / mutant.file).read_text(encoding="utf-8").count(mutant.old) == 1
