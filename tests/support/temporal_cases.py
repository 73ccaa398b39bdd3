"""What Temporal's own tests say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_FILE = Path(__file__).parents[1] / "data" / "temporal_invoker_cases.json"
CASES: dict[str, Any] = json.loads(_FILE.read_text(encoding="utf-8"))
