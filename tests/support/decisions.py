"""Schedules and moments that the tests of decisions share, and the cases of Temporal's invoker for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from ostinato import every
from ostinato.model import Status
from ostinato.schedules.decisions.decide import Live
from ostinato.schedules.model import CatchUp, Policies, Schedule
from ostinato.when.instants import SECOND, read_instant
from tests.support.temporal_cases import CASES

NOW = read_instant("2025-03-31T12:00:00Z", "now")
DAY = 86_400 * SECOND
MINUTELY = Schedule("id", "sched-id", every("60s"), namespace="ns-id", reached=NOW)
ALL_OF_A_YEAR = CatchUp("all", window=365 * DAY)


def cases(section: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", [pytest.param(c, id=c["name"]) for c in CASES[section]])


def schedule_of(case: dict[str, Any]) -> Schedule:
    """Return the schedule of a case: every minute, with a catch-up window of 300 s unless the case has another."""
    window = case.get("catchup_window", 300)
    catchup = ALL_OF_A_YEAR if not window else CatchUp("all", window=max(10, window) * SECOND)
    remaining = case.get("remaining", case.get("remaining_actions"))
    limited = case.get("limited", case.get("limited_actions"))
    return replace(
        MINUTELY,
        policies=Policies(catchup=catchup),
        paused=case.get("paused", False),
        remaining=remaining if limited else None,
    )


def active_run() -> Live:
    return Live("r", "r", Status.ACTIVE, False, NOW - 3600 * SECOND)


def counting_ids() -> Callable[[], str]:
    numbers = count(1)
    return lambda: f"id{next(numbers)}"
