"""As `test_http_schema.py`, with a hundred times as many requests.

In a file of its own, which only a run of the soak tests collects: what Schemathesis adds to the examples of each
operation takes several seconds to make, in every process that collects the tests.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import Phase, settings

from tests.support.http_schema import BRIEF, check, live, schema  # noqa: F401  # `live` is a fixture
from tests.support.web import Live

LONG = settings(BRIEF, max_examples=600, derandomize=False, phases=[Phase.explicit, Phase.generate])


@pytest.mark.soak
@schema.parametrize()
@LONG
@pytest.mark.timeout(600)
def test_whatever_is_sent_for_long_the_answer_is_as_described(case: Any, live: Live) -> None:  # noqa: F811
    check(case, live)
