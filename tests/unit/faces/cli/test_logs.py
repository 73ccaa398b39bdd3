"""What a serving process says of what went wrong."""

from __future__ import annotations

import json
import logging
import sys
import threading
import warnings
from collections.abc import Iterator

import pytest

from ostinato.engine.log import log
from ostinato.faces.cli.logs import FORMATS, configure_logs


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    root, names = logging.getLogger(), ("asyncio", "hpack", "httpcore", "httpx", "urllib3", "uvicorn")
    before = (root.handlers, root.level, threading.excepthook, sys.unraisablehook, sys.excepthook)
    levels = {name: logging.getLogger(name).level for name in names}
    yield
    root.handlers, root.level, threading.excepthook, sys.unraisablehook, sys.excepthook = before
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)
    logging.captureWarnings(False)


def fail(token: str) -> None:
    raise ValueError(f"a token of {len(token)} characters")


@pytest.mark.parametrize("form", FORMATS)
def test_a_traceback_has_no_values_of_variables(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs(form, "info")
    try:
        fail("".join(("ost", "_", "secret")))
    except ValueError as problem:
        log.error("a call failed", exc_info=problem)
    output = capsys.readouterr().err
    assert "a token of 10 characters" in output
    assert "test_logs.py" in output
    assert "ost_secret" not in output


def test_every_line_is_json_whoever_writes_it(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs("json", "info")
    log.warning("a run failed", action="run_failed", run="r1", attempt=2, schedule=None, traceback="Traceback\n  x\n")
    logging.getLogger("shop").info("sold %s", {"a": 1}, extra={"odd": object()})
    logging.getLogger("shop").debug("below the level")
    logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")
    logging.getLogger("asyncio").error("Task was destroyed but it is pending!")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("old", DeprecationWarning, stacklevel=1)
    thread = threading.Thread(target=fail, args=("abc",), name="lost")
    thread.start()
    thread.join()
    try:
        fail("abcd")
    except ValueError as problem:
        sys.excepthook(ValueError, problem, problem.__traceback__)
    out, err = capsys.readouterr()
    lines = [json.loads(line) for line in err.splitlines()]
    assert out == ""
    assert [one["logger"] for one in lines] == [
        "ostinato",
        "shop",
        "uvicorn.error",
        "asyncio",
        "py.warnings",
        "ostinato",
        "ostinato",
    ]
    first = {name: value for name, value in lines[0].items() if name != "timestamp"}
    assert first == {
        "level": "warning",
        "logger": "ostinato",
        "event": "a run failed",
        "action": "run_failed",
        "run": "r1",
        "attempt": 2,
        "exception": "Traceback\n  x",
    }
    assert lines[1]["event"] == "sold {'a': 1}"
    assert (lines[5]["action"], lines[5]["thread"]) == ("thread_failed", "lost")
    assert "a token of 3 characters" in lines[5]["exception"]
    assert (lines[6]["action"], lines[6]["level"]) == ("crashed", "critical")


def test_text_has_the_time_the_level_and_the_values(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs("text", "info")
    log.info("node started", action="node_started", node="n1", store="a file")
    logging.getLogger("shop").info("sold")
    first, second = capsys.readouterr().err.splitlines()
    assert first.endswith("Z info     node started  node=n1 store='a file'")
    assert second.endswith("Z info     shop: sold")


def test_libraries_that_tell_every_request_are_heard_from_warnings_on(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs("text", "debug")
    logging.getLogger("httpx").info("HTTP Request: GET https://example.org/?token=1")
    logging.getLogger("httpx").warning("slow")
    assert capsys.readouterr().err.splitlines()[0].endswith("httpx: slow")
