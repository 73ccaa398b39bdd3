"""Define the companion of agents' schedules. It deletes their rows with the engine's schedules, reads how their runs
ended, and words their events as the RFC on scheduled flows does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from ostinato.engine.runs import Ended
from ostinato.flows.model import FlowOutcome
from ostinato.flows.schedules.rows import statement
from ostinato.model import Status
from ostinato.schedules.companions import Companion, PassedEvent, RunVerdict
from ostinato.schedules.model import Reason
from ostinato.store.contract import Operation

COMPANION_NAME = "agents"  # in `Schedule.companion`
_VERDICTS = {  # by the outcome that a run returns: the verb of the event, and whether the run has succeeded
    FlowOutcome.SUCCESS.value: ("run_completed", True),
    FlowOutcome.FAILED.value: ("run_failed", False),
    FlowOutcome.SKIPPED.value: ("skipped", None),
    FlowOutcome.CANCELED_HITL.value: ("run_canceled_hitl", None),
}
_REPORTED = (
    "outcome",
    "reason",
    "request_id",
    "session_id",
    "delivered",
    "expanded_recipients",
    "partial",
    "counts",
    "attempt",
)


def _nothing(_: Sequence[Any]) -> Operation[None]:
    yield from ()


def _forget(ids: Sequence[str]) -> Operation[None]:
    yield statement("forget_agent_schedules", [(id,) for id in ids])


def read_verdict(ended: Ended) -> RunVerdict | None:
    """Return how a run of an agent's schedule ended.

    - If the run failed or timed out, its outcome is `failed`, for the run's reason.
    - If the run succeeded, its result is a dict with an outcome, and this outcome counts. The data of the verdict are
      those keys of the dict that `_REPORTED` lists, without values that are None.
    - If the run was stopped, or has returned no such dict, return None.
    """
    if ended.status in (Status.FAILED, Status.TIMED_OUT):
        return RunVerdict("run_failed", False, {"outcome": FlowOutcome.FAILED.value, "reason": ended.reason})
    result = orjson.loads(ended.result) if ended.status is Status.SUCCEEDED and ended.result else None
    if not isinstance(result, dict):
        return None
    outcome = result.get("outcome")
    if not isinstance(outcome, str) or outcome not in _VERDICTS:
        return None
    data = {name: result[name] for name in _REPORTED if result.get(name) is not None}
    return RunVerdict(*_VERDICTS[outcome], data)


def _word_passed(reason: Reason) -> PassedEvent:
    """Return the event `skipped`: the RFC has no event `missed`."""
    words = reason.status.value if reason.status is Status.MISSED else reason.value
    return PassedEvent("skipped", {"outcome": FlowOutcome.SKIPPED.value, "reason": words})


COMPANION = Companion(
    _nothing,
    _forget,
    _nothing,
    "app.agents.schedules(…).update, or the code that declares it",
    read_verdict,
    _word_passed,
)
