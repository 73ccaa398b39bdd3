"""Declarations that are wrong are refused where they are written, with what to write instead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ostinato import Ostinato
from ostinato.errors import NotFound, OstinatoError
from ostinato.functions.definition import FunctionCodes, StepFunction, as_step, make_code, step


@pytest.fixture
def app(tmp_path: Path) -> Ostinato:
    return Ostinato(f"sqlite:///{tmp_path}/store.db")


async def fine(ctx: Any, n: int = 0) -> None: ...


async def also_fine(context: Any) -> None: ...


def plain(ctx: Any) -> None: ...


async def without(n: int) -> None: ...


async def nothing() -> None: ...


@pytest.mark.parametrize(
    ("function", "options", "words"),
    [
        (plain, {}, "function 'plain' is not async; write `async def plain"),
        (without, {}, "function 'without' has no ctx"),
        (nothing, {}, "function 'nothing' has no ctx"),
        (fine, {"version": 0}, "version 0 is not a whole number from 1"),
        (fine, {"version": True}, "version True is not a whole number from 1"),
        (fine, {"version": "2"}, "version '2' is not a whole number from 1"),
        (fine, {"pinned": 1}, "pinned 1 is neither True nor False"),
        (fine, {"retry": 3}, "function 'fine' has no 'retry'; its steps have: @step(retry=…)"),
        (fine, {"timeout": "1s"}, "function 'fine' has no 'timeout'"),
        (fine, {"at_most_once": True}, "function 'fine' has no 'at_most_once'"),
        (fine, {"process": True}, "function 'fine' has no 'process'"),
        (fine, {"name": ""}, "the function's name"),
        (fine, {"holiday": 1}, "holiday"),
        (fine, {"serial_key": "{nobody}"}, "nobody"),
    ],
)
def test_wrong_declarations_are_refused(app: Ostinato, function: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises((OstinatoError, TypeError)) as caught:
        app.function(**options)(function)
    assert words in str(caught.value)
    assert "job" not in str(caught.value)


def test_a_name_where_a_function_belongs_is_refused(app: Ostinato) -> None:
    with pytest.raises(OstinatoError, match=r"write @app.function\(name='pay'\)"):
        app.function("pay")  # type: ignore[call-overload]


def test_two_functions_with_one_name_are_refused_but_not_two_versions(app: Ostinato) -> None:
    app.function(name="pay")(fine)
    app.function(name="pay")(fine)  # the same again, as when a module is imported twice
    app.function(name="pay", version=2)(also_fine)
    with pytest.raises(OstinatoError, match="two functions called 'pay' with version 2"):
        app.function(name="pay", version=2)(fine)


def test_the_code_that_goes_on() -> None:
    codes = FunctionCodes()
    for version, function in ((1, fine), (3, also_fine)):
        codes.add(make_code(function, name="pay", version=version, pinned=False, options={}))
    newest = codes.newest("pay")
    assert newest is not None
    assert newest.version == 3
    assert codes.to_go_on("pay", 2, False) is newest
    assert codes.to_go_on("pay", 4, False) is None
    assert codes.to_go_on("pay", 2, True) is None
    pinned = codes.to_go_on("pay", 1, True)
    assert pinned is not None
    assert pinned.handler.function is fine
    assert codes.to_go_on("other", 1, False) is None
    assert codes.named(fine) == "pay"
    with pytest.raises(NotFound, match="is not a function of this app"):
        codes.named(plain)


def test_the_digest_tells_sources_apart() -> None:
    code, again, other = (
        make_code(function, name="pay", version=1, pinned=False, options={}) for function in (fine, fine, also_fine)
    )
    assert code.digest == again.digest != other.digest
    assert len(code.digest) == 12


@pytest.mark.parametrize(
    ("function", "options", "words"),
    [
        (5, {}, "names no function"),
        (plain, {"retry": 0}, "retry"),
        (plain, {"timeout": -1}, "timeout"),
        (plain, {"name": ""}, "the step's name"),
        (plain, {"at_most_once": 1}, "neither True nor False"),
        (plain, {"at_most_once": True, "retry": 2}, "tried at most once has no retry"),
    ],
)
def test_wrong_steps_are_refused(function: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(OstinatoError) as caught:
        step(function, **options)
    assert words in str(caught.value)


def test_a_step_is_still_its_function() -> None:
    @step(retry=3)
    def double(n: int) -> int:
        """Twice as much."""
        return 2 * n

    assert isinstance(double, StepFunction)
    assert (double(2), double.__doc__, double.retry.attempts) == (4, "Twice as much.", 3)
    assert as_step(double) is double
    assert step(double, name="other").name == "other"
    assert as_step(lambda: 1).name == "<lambda>"
    assert as_step(StepFunction.__call__).name == "StepFunction.__call__"
