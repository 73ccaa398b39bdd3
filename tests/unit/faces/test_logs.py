"""What a serving process says of what went wrong."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
import structlog

from ostinato.faces.cli.logs import FORMATS, configure_logs


@pytest.fixture
def as_before() -> Iterator[None]:
    before, server = structlog.get_config(), logging.getLogger("uvicorn")
    handlers, propagate = server.handlers, server.propagate
    yield
    structlog.configure(**before)
    server.handlers, server.propagate = handlers, propagate


def fail(token: str) -> None:
    raise ValueError(f"a token of {len(token)} characters")


@pytest.mark.parametrize("form", FORMATS)
def test_a_traceback_has_no_values_of_variables(form: str, as_before: None, capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs(form, "info")
    try:
        fail("".join(("ost", "_", "secret")))
    except ValueError as problem:
        structlog.get_logger().error("a call failed", exc_info=problem)
    told = capsys.readouterr().err
    assert "a token of 10 characters" in told
    assert "test_logs.py" in told
    assert "ost_secret" not in told
