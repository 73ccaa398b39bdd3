"""The API keeps its own description, whatever it is sent: no server error, no answer that is not declared."""

from __future__ import annotations

import json
from typing import Any

import httpx

from tests.support.http_schema import BRIEF, check, live, schema  # noqa: F401  # `live` is a fixture
from tests.support.web import Live


@schema.parametrize()
@BRIEF
def test_whatever_is_sent_the_answer_is_as_described(case: Any, live: Live) -> None:  # noqa: F811
    check(case, live)


def test_the_description_is_json_and_names_every_operation(live: Live) -> None:  # noqa: F811
    description = httpx.get(f"{live.url}/api/v1/openapi.json", timeout=60).json()
    assert json.dumps(description)
    ids = [call["operationId"] for path in description["paths"].values() for call in path.values()]
    assert len(ids) == len(set(ids)) > 50
