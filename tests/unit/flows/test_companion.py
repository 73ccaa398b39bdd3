"""What the runs of agents' schedules report."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from ostinato.engine.runs import Ended
from ostinato.flows.schedules.companion import read_verdict
from ostinato.model import Run, Status


@pytest.mark.parametrize("outcome", [["success"], {"success": 1}, None, 5, "fine"])
def test_a_result_whose_outcome_is_no_verdict_is_no_report(outcome: Any) -> None:
    """What a run returned is the user's, so no value of it may break the transaction that ends the run."""
    run = Run("a", "job", detail='{"facts":{"x":1}}')
    result = orjson.dumps({"outcome": outcome}).decode()
    assert read_verdict(Ended(run, Status.SUCCEEDED, None, result)) is None
