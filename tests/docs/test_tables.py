"""The pages that list the tables of the store name each one, and no others."""

from __future__ import annotations

import re
from collections import defaultdict

from ostinato.ways import all_ways, owned_tables
from tests.docs.pages import ROOT

CELL = r"^\| ([^|\n]+) \|"


def section(page: str) -> str:
    """Return the text of the page's section "Tables"."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return re.split(r"^## ", text.split("\n## Tables\n")[1], flags=re.MULTILINE)[0]


def test_the_architecture_names_every_table_beside_its_owner() -> None:
    owned = defaultdict(set)
    for owner, table in owned_tables(all_ways()):
        owned[owner].add(table.name)
    rows = dict(re.findall(CELL + r" (.+) \|$", section("architecture.md"), re.MULTILINE))
    named = {owner: {f"ostinato_{name}" for name in re.findall(r"`(\w+)`", tables)} for owner, tables in rows.items()}
    assert {owner: named.get(owner) for owner in owned} == owned


def test_the_reference_of_the_store_has_a_row_for_every_table() -> None:
    rows = re.findall(r"^\| `(ostinato_\w+)` \|", section("reference/store.md"), re.MULTILINE)
    assert sorted(rows) == sorted(table.name for _, table in owned_tables(all_ways()))


def test_the_reference_of_the_store_has_a_row_for_every_migration() -> None:
    text = (ROOT / "docs" / "reference" / "store.md").read_text(encoding="utf-8")
    files = (ROOT / "src" / "ostinato" / "store" / "migrations").glob("*.sqlite.sql")
    assert re.findall(r"^\| (\d{4}) \|", text, re.MULTILINE) == sorted(file.name[:4] for file in files)
