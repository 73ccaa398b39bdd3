"""The warnings where a function is declared: each call that a replay would not repeat, with its line."""

from __future__ import annotations

import asyncio
import datetime as dt
import functools
import os
import random
import secrets
import time
import uuid
import warnings
from datetime import date, datetime
from typing import Any
from uuid import uuid4

import pytest

from ostinato import Ostinato
from ostinato.functions.lint import CHANCE, CLOCK, OUTSIDE, TASKS, NotDeterministic, find_calls


async def clocks(ctx: Any) -> None:
    time.time()
    time.monotonic()
    datetime.now()  # noqa: DTZ005
    dt.datetime.now()  # noqa: DTZ005
    date.today()  # noqa: DTZ011
    time.sleep(1)  # noqa: ASYNC251


async def chances(ctx: Any) -> None:
    random.random()
    random.choice([1])
    uuid.uuid4()
    uuid4()
    secrets.token_hex()
    os.urandom(4)


async def outside(ctx: Any) -> None:
    with open("file"):  # noqa: ASYNC230
        os.getenv("HOME")
    os.environ.get("HOME")
    input("?")  # noqa: ASYNC250


async def tasks(ctx: Any) -> None:
    await asyncio.sleep(1)
    await asyncio.gather()
    asyncio.create_task(None)  # type: ignore[arg-type]  # noqa: RUF006
    async with asyncio.timeout(1), asyncio.TaskGroup():
        pass
    for _ in [asyncio.wait_for(None, 1)]:  # type: ignore[arg-type]
        pass


async def clean(ctx: Any, random: Any, requests: list[int]) -> Any:
    """Everything that looks like it and is none: steps, parameters, variables, the methods of ctx."""

    def plain() -> float:
        return time.time()

    async def nested() -> None:
        await asyncio.sleep(1)

    class Local:
        at = time.time()

    await ctx.step(lambda: time.time())
    await ctx.step(time.time)
    ctx.now()
    ctx.random()
    requests.append(1)
    random.choice([1])
    socket = await ctx.receive("socket")
    socket.get("x")
    for subprocess in requests:
        subprocess.bit_length()
    return plain, nested, Local


def lines_of(function: Any) -> list[tuple[int, str, str]]:
    first = function.__code__.co_firstlineno
    return [(line - first, call, advice) for _, line, call, advice in find_calls(function)]


def test_clocks() -> None:
    assert lines_of(clocks) == [
        (1, "time.time", CLOCK),
        (2, "time.monotonic", CLOCK),
        (3, "datetime.now", CLOCK),
        (4, "dt.datetime.now", CLOCK),
        (5, "date.today", CLOCK),
        (6, "time.sleep", "use await ctx.sleep(…)"),
    ]


def test_chances() -> None:
    calls = ["random.random", "random.choice", "uuid.uuid4", "uuid4", "secrets.token_hex", "os.urandom"]
    assert lines_of(chances) == [(line, call, CHANCE) for line, call in enumerate(calls, 1)]


def test_what_is_outside() -> None:
    calls = [(1, "open"), (2, "os.getenv"), (3, "os.environ.get"), (4, "input")]
    assert lines_of(outside) == [(line, call, OUTSIDE) for line, call in calls]


def test_tasks() -> None:
    assert lines_of(tasks) == [
        (1, "asyncio.sleep", "use await ctx.sleep(…)"),
        (2, "asyncio.gather", TASKS),
        (3, "asyncio.create_task", TASKS),
        (4, "asyncio.timeout", TASKS),
        (4, "asyncio.TaskGroup", TASKS),
        (6, "asyncio.wait_for", TASKS),
    ]


def test_nothing_of_steps_parameters_and_variables() -> None:
    assert lines_of(clean) == []


def test_the_warning_has_the_place_of_the_call(tmp_path: Any) -> None:
    app = Ostinato(f"sqlite:///{tmp_path}/store.db")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        app.function(name="looks")(clocks)
    assert {warning.category for warning in caught} == {NotDeterministic}
    assert {warning.filename for warning in caught} == {__file__}
    assert caught[0].lineno == clocks.__code__.co_firstlineno + 1
    assert str(caught[0].message) == (
        "function 'looks' calls time.time(…), whose outcome is not recorded; use ctx.now()"
    )


def test_code_without_source_is_not_looked_at() -> None:
    space: dict[str, Any] = {}
    exec("import time\nasync def f(ctx):\n    time.time()", space)
    assert list(find_calls(space["f"])) == []


@pytest.mark.parametrize("function", [clocks, chances, outside, tasks])
def test_decorated_functions_keep_their_lines(function: Any) -> None:
    def decorate(inner: Any) -> Any:
        @functools.wraps(inner)
        async def outer(*arguments: Any) -> Any:
            return await inner(*arguments)

        return outer

    assert lines_of(function) == [
        (line - function.__code__.co_firstlineno, call, advice)
        for _, line, call, advice in find_calls(decorate(function))
    ]
