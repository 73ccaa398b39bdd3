"""Send what the API's description allows, and what it does not, and check the answers against it."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from datetime import timedelta
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from ostinato import Ostinato
from ostinato.faces.http.server import api
from tests.support.greetings import declare_greeter
from tests.support.web import Live

STREAM = "/api/v1/events/stream"  # it does not end by itself; it has tests of its own
OF_LISTS = ("/api/v1/journeys",)
CHECKS = [
    schemathesis.checks.not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
    unsupported_method,
]
BRIEF = settings(
    max_examples=6,
    deadline=timedelta(seconds=5),
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate],
    derandomize=True,
    database=None,
)


def described() -> dict[str, Any]:
    """Without tokens: wrong ones are refused before anything is looked at, and slow down whoever comes after."""
    description: dict[str, Any] = deepcopy(api(Ostinato("sqlite:///:memory:")).openapi())
    for path in description["paths"].values():
        for call in path.values():
            call.pop("security", None)
    return description


schema = schemathesis.openapi.from_dict(described()).exclude(path=STREAM)


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with Live(f"sqlite:///{tmp_path_factory.mktemp('schema')}/live.db") as server:
        server.call(server.app.schedules.create("a", {"cron": ["0 9 * * *"]}, "note", paused=True))
        declare_greeter(server.app)
        server.call(server.app.agents.put_user("buddy", "ada"))
        yield server


def check(case: Any, live: Live) -> None:
    name = case.path_parameters.get("name")
    negative = case.meta is not None and case.meta.generation.mode.is_negative
    if not negative and isinstance(name, str) and len(name) % 2:  # half of the time there is such a thing
        case.path_parameters["name"] = "a"
        live.call(live.app.schedules.upsert("a", {"cron": ["0 9 * * *"]}, "note"))
    agent = case.path_parameters.get("agent")
    if not negative and isinstance(agent, str) and len(agent) % 2:
        case.path_parameters["agent"] = "buddy"
    # A list in a query that is sent as one number is a list of one text to whoever reads it.
    excluded = [negative_data_rejection] if case.operation.path in OF_LISTS else []
    case.call_and_validate(base_url=live.url, checks=CHECKS, excluded_checks=excluded, timeout=20)
