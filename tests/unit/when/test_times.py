"""What a spec keeps in memory goes when the spec goes, without the garbage collector."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

from ostinato.when.documents import read_spec
from ostinato.when.instants import SECOND


@pytest.mark.parametrize(
    "document",
    [
        {"cron": ["0 9 * * *"]},
        {"cron": ["0 9 * * *", "*/5 * * * *"], "tz": "Europe/Berlin", "jitter": "5m"},
        {"calendars": [{"hour": "9-17"}], "tz": "Europe/Berlin"},
        {"intervals": [{"every": "1s"}]},
        {"recurrences": [{"anchor": "2026-01-31T09:00:00Z", "period": "P1M"}]},
        {"times": ["2030-01-01T09:00Z"]},
        {"cron": ["0 9 * * *"], "exclude": {"calendars": [{"hour": 9, "month": 2}], "dates": ["2030-01-01"]}},
    ],
    ids=lambda document: "+".join(document),
)
def test_a_compiled_spec_is_freed_at_once(document: dict[str, Any]) -> None:
    gc.collect()
    gc.disable()
    try:
        spec = read_spec(document)
        now = 1_800_000_000 * SECOND
        assert spec.compiled.next(now) or spec.compiled.previous(now)
        compiled = weakref.ref(spec.compiled)
        del spec
        assert compiled() is None
    finally:
        gc.enable()
