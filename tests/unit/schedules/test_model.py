"""Policies as they are written."""

from __future__ import annotations

from typing import Any

import pytest

from ostinato import OstinatoError
from ostinato.schedules.model import (
    CatchUp,
    Overlap,
    read_catchup,
    read_overlap,
)
from ostinato.when.instants import SECOND


@pytest.mark.parametrize("value", ["sometimes", -5, CatchUp("all", most=0)])
def test_a_wrong_catchup_is_refused(value: Any) -> None:
    with pytest.raises(OstinatoError, match="catchup"):
        read_catchup(value)


def test_policies_are_read_from_words() -> None:
    assert read_catchup("1h") == CatchUp("all", window=3600 * SECOND)
    assert read_overlap("BUFFER_ONE") is Overlap.BUFFER_ONE
    with pytest.raises(OstinatoError, match="did you mean 'skip'"):
        read_overlap("skp")
