"""How many random examples Hypothesis plays, the same ones in every run unless chance is asked for."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings


def examples(number: int, *, chance: bool = False) -> settings:
    shrink = () if os.environ.get("OSTINATO_NO_SHRINK") else (Phase.shrink,)
    return settings(
        max_examples=number,
        deadline=None,
        database=None,
        derandomize=not chance,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, *shrink),
    )
