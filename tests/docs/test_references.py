"""What pages point at is there: tests that they name as proof, headings that their links lead to."""

from __future__ import annotations

import re
from pathlib import Path

from tests.docs.test_blocks import FENCE, PAGES, ROOT


def test_every_test_that_a_page_names_exists() -> None:
    there = set()
    for path in (ROOT / "tests").rglob("*.py"):
        there |= set(re.findall(r"def (test_\w+)", path.read_text(encoding="utf-8")))
    for page in PAGES:
        named = set(re.findall(r"`(test_\w+)`", page.read_text(encoding="utf-8")))
        assert named <= there, f"{page.name}: {sorted(named - there)}"


def anchors(page: Path) -> set[str]:
    """Its headings as links name them."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    found = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in found}


def test_links_lead_to_headings() -> None:
    for page in PAGES:
        text = FENCE.sub("", page.read_text(encoding="utf-8"))
        for target, anchor in re.findall(r"\]\(([^):]*)#([^)]+)\)", text):
            if "://" not in target:
                there = page if not target else page.parent / target
                assert anchor in anchors(there), f"{page.name} links to {target}#{anchor}"
