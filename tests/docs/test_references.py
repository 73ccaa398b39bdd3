"""What pages point at is there: tests that they name as proof, headings that their links lead to."""

from __future__ import annotations

import re
from pathlib import Path

from tests.docs.pages import FENCE, PAGES, ROOT


def test_every_test_that_a_page_names_exists() -> None:
    names = set()
    for path in (ROOT / "tests").rglob("*.py"):
        names |= set(re.findall(r"def (test_\w+)", path.read_text(encoding="utf-8")))
    for page in PAGES:
        named = set(re.findall(r"`(test_\w+)`", page.read_text(encoding="utf-8")))
        assert named <= names, f"{page.name}: {sorted(named - names)}"


def anchors(page: Path) -> set[str]:
    """Its headings as links name them."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_lead_to_headings() -> None:
    for page in PAGES:
        text = FENCE.sub("", page.read_text(encoding="utf-8"))
        for target, anchor in re.findall(r"\]\(([^):]*)#([^)]+)\)", text):
            if "://" not in target:
                linked = page if not target else page.parent / target
                assert anchor in anchors(linked), f"{page.name} links to {target}#{anchor}"
