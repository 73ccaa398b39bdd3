"""The pages of the documentation."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(r"^```(?P<language>[a-z]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
