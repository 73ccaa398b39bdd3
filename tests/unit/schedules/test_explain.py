"""Explanations have a sentence for everything that can become of a due time."""

from ostinato.schedules.explain import _WHY
from ostinato.schedules.model import Reason


def test_every_reason_has_a_sentence() -> None:
    assert set(_WHY) == {reason.value for reason in Reason}
