"""Files that pages of the documentation show."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
_FILE = re.compile(r"^```\w+\n# (?P<name>[\w-]+(?:\.\w+)+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


def write_files_of(page: str, folder: Path) -> None:
    """Write the files of a page, each a block whose first line is its name, to a folder."""
    for block in _FILE.finditer((DOCS / page).read_text(encoding="utf-8")):
        (folder / block["name"]).write_text(block["body"], encoding="utf-8")
