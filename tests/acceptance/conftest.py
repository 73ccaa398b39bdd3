"""What need not be collected."""

from __future__ import annotations

from pathlib import Path

import pytest


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out a file of soak tests, which is slow to collect, when none of them is to run."""
    is_left_out = collection_path.name == "test_http_schema_for_long.py" and config.option.markexpr == "not soak"
    return True if is_left_out else None
