"""A campaign of a million people takes no more memory than a small one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

AUDIENCE = int(os.environ.get("OSTINATO_CAMPAIGN", "1000000"))
# Since the first tenth. Some time after the first turns their sessions end. From then on a node keeps a thousand of
# them in memory, and SQLite fills the cache of a second connection, 32 MB. Neither depends on the audience.
MOST_GROWTH = 96 << 10  # KiB
SCRIPT = """
import asyncio, dataclasses, json, sys
from bench.agents import large
print(json.dumps(dataclasses.asdict(asyncio.run(large(sys.argv[1])))))
"""


@pytest.mark.soak
@pytest.mark.timeout(3 * 3600)
def test_memory_does_not_grow_with_the_audience(sqlite_url: str) -> None:
    environment = {**os.environ, "OSTINATO_BENCH_AUDIENCE": str(AUDIENCE), "OSTINATO_BENCH_SECONDS": "10000"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, sqlite_url],
        cwd=Path(__file__).parents[2],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    assert (result["sent"], result["ended"]) == (AUDIENCE, True)
    assert result["grown"] <= MOST_GROWTH, done.stdout
