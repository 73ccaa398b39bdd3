from __future__ import annotations

from typing import Any

import pytest

from ostinato.testing import World
from tests.support.journey_parts import Work, plugins


@pytest.fixture
def work() -> Work:
    return Work()


@pytest.fixture(params=["sqlite", "postgres"])
def world(request: pytest.FixtureRequest, work: Work) -> World:
    options: dict[str, Any] = {"journey_plugins": plugins(work)}
    if request.param == "sqlite":
        return World(**options)
    return World(request.getfixturevalue("postgres_url"), **options)
