"""Words about what blocks the event loop."""

from __future__ import annotations

import pytest

from ostinato.engine.stalls import Stall, advice


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
