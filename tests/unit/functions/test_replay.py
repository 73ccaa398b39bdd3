"""The driver alone, without clock, store or loop: order of delivery, gathers, replay, and what it says of changed
code."""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from ostinato.clock import SystemClock
from ostinato.errors import OstinatoError
from ostinato.functions.context import FunctionContext
from ostinato.functions.errors import (
    Cancelled,
    Changed,
    NotDurable,
    ReceiveTimedOut,
    StepFailed,
    StepInterrupted,
    TooLarge,
)
from ostinato.functions.model import FunctionRecord, StepKind, StepRecord, StepStatus
from ostinato.functions.replay import ContinueAs, Driver
from ostinato.model import Run


async def work(*arguments: Any) -> Any:
    """A step; the driver calls it never."""


async def other(*arguments: Any) -> Any:
    """Another one."""


class Drive:
    """A function in a driver, whose outcomes the test gives one by one."""

    def __init__(
        self, function: Callable[..., Any], records: dict[str, StepRecord] | None = None, most_steps: int = 100
    ) -> None:
        run = Run(id="r", name="f", kind="function")
        record = FunctionRecord("r", "default", "f", 1, "code", False)
        self.driver = Driver("r", copy.deepcopy(records or {}))
        self.ctx = FunctionContext(run, record, self.driver, SystemClock(), self._read_child, most_steps)
        self.driver.begin(function(self.ctx))
        self.driver.advance()

    @staticmethod
    def _read_child(target: Any, kind: str, input: Any, options: Any) -> Any:
        return type("Start", (), {"name": target})

    @property
    def pending(self) -> list[tuple[str, str]]:
        return [(position, str(operation)) for position, operation in self.driver.pending.items()]

    def answer(
        self, position: str, result: Any = None, status: StepStatus = StepStatus.DONE, error: Any = None
    ) -> None:
        operation = self.driver.pending[position]
        record = StepRecord(
            "r",
            position,
            StepKind(operation.kind),
            operation.name,
            status=status,
            result=None if result is None else orjson.dumps(result).decode(),
            error=None if error is None else orjson.dumps(error).decode(),
        )
        self.driver.settle(operation, record)
        self.driver.deliver(operation, record)
        self.driver.advance()

    def again(self, function: Callable[..., Any]) -> Drive:
        """Replay with this code."""
        return Drive(function, self.driver.records)


async def two(ctx: FunctionContext) -> list[Any]:
    return [await ctx.step(work, 1), await ctx.step(other, 2)]


def line_of(function: Callable[..., Any], text: str) -> str:
    lines, first = inspect.getsourcelines(function)
    number = next(i for i, line in enumerate(lines) if text in line)
    return f"test_replay.py:{first + number}"


# Order


def test_operations_begin_when_they_are_awaited_and_outcomes_come_back() -> None:
    drive = Drive(two)
    assert drive.pending == [("0", "step 'work'")]
    drive.answer("0", "a")
    assert drive.pending == [("1", "step 'other'")]
    drive.answer("1", "b")
    assert (drive.driver.over, drive.driver.result) == (True, ["a", "b"])


def test_a_replay_delivers_in_the_order_of_the_first_execution() -> None:
    async def race(ctx: FunctionContext) -> list[str]:
        order: list[str] = []

        async def branch(name: str) -> None:
            await ctx.step(work)
            order.append(name)
            await ctx.step(other)
            order.append(name)

        await ctx.gather(branch("a"), branch("b"), branch("c"))
        return order

    drive = Drive(race)
    assert [position for position, _ in drive.pending] == ["0.0.0", "0.1.0", "0.2.0"]
    for position in ("0.2.0", "0.0.0", "0.2.1", "0.1.0", "0.1.1", "0.0.1"):
        drive.answer(position)
    assert drive.driver.result == ["c", "a", "c", "b", "b", "a"]
    for length in range(7):  # whatever was recorded when it crashed
        part = {
            position: record
            for position, record in drive.driver.records.items()
            if record.seq is not None and record.seq <= length
        }
        replayed = Drive(race, part)
        for position in ("0.2.0", "0.0.0", "0.2.1", "0.1.0", "0.1.1", "0.0.1")[length:]:
            replayed.answer(position)
        assert replayed.driver.result == drive.driver.result


def test_positions_are_given_where_operations_are_asked_for() -> None:
    async def stored(ctx: FunctionContext) -> list[Any]:
        first, second = ctx.step(work), ctx.step(other)
        return [await second, await first]

    drive = Drive(stored)
    assert drive.pending == [("1", "step 'other'")]
    drive.answer("1", 2)
    drive.answer("0", 1)
    assert drive.driver.result == [2, 1]
    assert drive.again(stored).driver.result == [2, 1]


def test_gathers_nest_and_an_empty_one_ends_at_once() -> None:
    async def nested(ctx: FunctionContext) -> Any:
        async def inner(n: int) -> Any:
            return await ctx.gather(*(ctx.step(work) for _ in range(n)))

        return [await ctx.gather(), await ctx.gather(inner(2), inner(0), ctx.sleep(1))]

    drive = Drive(nested)
    assert [position for position, _ in drive.pending] == ["1", "2.0.0", "2.0.1"]
    for position, value in (("2.0.1", "y"), ("1", None), ("2.0.0", "x")):
        drive.answer(position, value)
    assert drive.driver.result == [[], [["x", "y"], [], None]]
    assert drive.again(nested).driver.result == drive.driver.result


def test_a_gather_waits_for_all_and_raises_what_failed_first() -> None:
    async def failing(ctx: FunctionContext) -> Any:
        try:
            await ctx.gather(ctx.step(work), ctx.step(other), ctx.sleep(1))
        except StepFailed as failed:
            return failed.step

    drive = Drive(failing)
    for position in ("1", "0"):
        drive.answer(position, status=StepStatus.FAILED, error={"type": "ValueError", "message": "no"})
    assert not drive.driver.over
    drive.answer("2")
    assert drive.driver.result == "other"
    assert drive.again(failing).driver.result == "other"


def test_a_cancellation_wins_over_failures_in_a_gather() -> None:
    async def failing(ctx: FunctionContext) -> Any:
        await ctx.gather(ctx.step(work), ctx.sleep(1))

    drive = Drive(failing)
    drive.answer("0", status=StepStatus.FAILED, error={"type": "ValueError"})
    drive.answer("1", status=StepStatus.CANCELLED)
    assert isinstance(drive.driver.problem, Cancelled)


def test_recorded_outcomes_raise_what_the_first_execution_saw() -> None:
    async def receives(ctx: FunctionContext) -> Any:
        await ctx.receive("m", timeout=1)

    async def steps(ctx: FunctionContext) -> Any:
        await ctx.step(work)

    for each, status, error, expected in (
        (receives, StepStatus.TIMED_OUT, None, ReceiveTimedOut),
        (steps, StepStatus.FAILED, {"type": "KeyError", "message": "k"}, StepFailed),
        (steps, StepStatus.FAILED, {"type": "interrupted"}, StepInterrupted),
        (steps, StepStatus.CANCELLED, None, Cancelled),
    ):
        drive = Drive(each)
        drive.answer("0", status=status, error=error)
        assert type(drive.driver.problem) is expected
        assert type(drive.again(each).driver.problem) is expected


def test_values_are_recorded_and_the_same_in_a_replay() -> None:
    seen: list[Any] = []

    async def values(ctx: FunctionContext) -> None:
        seen.append([ctx.now(), ctx.random(), ctx.uuid()])
        await ctx.sleep(1)

    drive = Drive(values)
    assert [record.kind for record in drive.driver.unwritten] == ["now", "random", "uuid"]
    drive.again(values)
    assert seen[0] == seen[1]


# Change


def changed(drive: Drive, function: Callable[..., Any]) -> Changed:
    with pytest.raises(Changed) as caught:
        drive.again(function)
    return caught.value


@pytest.fixture
def recorded() -> Drive:
    drive = Drive(two)
    drive.answer("0", 1)
    drive.answer("1", 2)
    return drive


def test_another_name_is_a_change_with_its_place(recorded: Drive) -> None:
    async def renamed(ctx: FunctionContext) -> list[Any]:
        return [
            await ctx.step(work, 1),
            await ctx.step(work, 2),  # here
        ]

    change = changed(recorded, renamed)
    assert (change.position, change.expected, change.actual) == ("1", "step 'other'", "step 'work'")
    assert change.place.endswith(line_of(renamed, "# here"))
    assert "ctx.version" in str(change)
    assert change.place in str(change)


def test_another_kind_is_a_change(recorded: Drive) -> None:
    async def sleeps(ctx: FunctionContext) -> None:
        await ctx.sleep(1)

    change = changed(recorded, sleeps)
    assert (change.position, change.expected, change.actual) == ("0", "step 'work'", "sleep")


def test_another_order_is_a_change(recorded: Drive) -> None:
    async def swapped(ctx: FunctionContext) -> list[Any]:
        return [await ctx.step(other, 2), await ctx.step(work, 1)]

    assert changed(recorded, swapped).position == "0"


def test_another_order_of_awaiting_is_a_change(recorded: Drive) -> None:
    """The same operations at the same positions, but the code waits for the second first."""

    async def swapped(ctx: FunctionContext) -> list[Any]:
        first, second = ctx.step(work), ctx.step(other)
        return [await second, await first]

    change = changed(recorded, swapped)
    assert (change.position, change.expected) == ("0", "step 'work'")
    assert "step 'other'" in change.actual


def test_a_step_that_was_removed_is_a_change(recorded: Drive) -> None:
    async def shorter(ctx: FunctionContext) -> Any:
        return await ctx.step(work, 1)

    change = changed(recorded, shorter)
    assert (change.position, change.expected) == ("1", "step 'other'")
    assert "the function ended" in change.actual

    async def empty(ctx: FunctionContext) -> None: ...

    assert changed(recorded, empty).position == "0"


def test_a_step_that_was_added_before_is_a_change_and_after_is_none(recorded: Drive) -> None:
    async def before(ctx: FunctionContext) -> Any:
        await ctx.sleep(1)
        return await two(ctx)

    async def after(ctx: FunctionContext) -> Any:
        await two(ctx)
        return await ctx.step(work, 3)

    assert changed(recorded, before).actual == "sleep"
    assert recorded.again(after).pending == [("2", "step 'work'")]


def test_a_value_in_the_place_of_a_step_is_a_change_whatever_the_code_catches(recorded: Drive) -> None:
    async def catching(ctx: FunctionContext) -> Any:
        try:
            ctx.random()
        except BaseException:
            return "nothing happened"

    assert changed(recorded, catching).actual == "random"


def test_a_change_in_a_branch_is_found(recorded: Drive) -> None:
    async def branches(ctx: FunctionContext) -> None:
        async def branch(step: Any) -> None:
            await ctx.step(step)

        await ctx.gather(branch(work), branch(other))

    async def fewer(ctx: FunctionContext) -> None:
        async def branch(step: Any) -> None:
            await ctx.step(step)

        await ctx.gather(branch(work))

    drive = Drive(branches)
    drive.answer("0.1.0")
    assert changed(drive, fewer).position == "0.1.0"
    drive.answer("0.0.0")
    assert changed(drive, fewer).position == "0.1.0"


def test_other_arguments_are_no_change(recorded: Drive) -> None:
    """The record answers, whatever the step would be called with today."""

    async def arguments(ctx: FunctionContext) -> list[Any]:
        return [await ctx.step(work, 100), await ctx.step(other, 200)]

    assert recorded.again(arguments).driver.result == [1, 2]


# Versions


def test_a_version_that_is_new_to_a_run_is_recorded_and_kept() -> None:
    async def versioned(ctx: FunctionContext, newest: int = 2) -> Any:
        taken = ctx.version("change", newest)
        await ctx.step(work if taken == 1 else other)
        return taken

    drive = Drive(versioned)
    assert drive.pending == [("0", "step 'other'")]
    drive.answer("0")
    assert drive.driver.result == 2
    assert drive.again(lambda ctx: versioned(ctx, 3)).driver.result == 2


def test_a_run_that_was_beyond_a_change_takes_the_old_branch_for_good() -> None:
    async def versioned(ctx: FunctionContext) -> Any:
        versions = [ctx.version("first", 2)]
        await ctx.step(work)
        versions.append(ctx.version("second", 2))
        return [*versions, await ctx.step(other)]

    drive = Drive(two)
    drive.answer("0", 1)
    replayed = drive.again(versioned)
    assert replayed.pending == [("1", "step 'other'")]
    replayed.answer("1", "b")
    assert replayed.driver.result == [1, 2, "b"]
    assert replayed.again(versioned).driver.result == [1, 2, "b"]


def test_a_version_that_the_code_no_longer_asks_for_is_no_change() -> None:
    async def versioned(ctx: FunctionContext) -> None:
        ctx.version("change", 2)
        await ctx.step(work)

    async def cleaned(ctx: FunctionContext) -> None:
        await ctx.step(work)

    drive = Drive(versioned)
    drive.answer("0")
    assert drive.again(cleaned).driver.over


@pytest.mark.parametrize("version", [0, -1, True, "2", 1.5])
def test_a_version_is_a_whole_number_from_one(version: Any) -> None:
    async def odd(ctx: FunctionContext) -> None:
        ctx.version("change", version)

    with pytest.raises(OstinatoError, match="whole number from 1"):
        raise Drive(odd).driver.problem or AssertionError


# Misuse


def test_an_operation_is_awaited_once() -> None:
    async def twice(ctx: FunctionContext) -> None:
        asked = ctx.step(work)
        await asked
        await asked

    async def twice_at_once(ctx: FunctionContext) -> None:
        asked = ctx.step(work)
        await ctx.gather(asked, asked)

    drive = Drive(twice)
    drive.answer("0")
    assert re.search("awaited a second time", str(drive.driver.problem))
    drive = Drive(twice_at_once)
    drive.answer("0")
    assert re.search("awaited a second time", str(drive.driver.problem))


def test_an_operation_outside_of_its_function_is_an_error() -> None:
    kept: list[Any] = []

    async def leaking(ctx: FunctionContext) -> None:
        kept.extend([ctx, ctx.step(work)])
        await ctx.sleep(1)

    Drive(leaking)
    ctx, asked = kept
    with pytest.raises(OstinatoError, match=r"ctx.step is called outside of its function"):
        ctx.step(work)
    with pytest.raises(OstinatoError, match=r"is awaited outside of its function.*asyncio.gather"):
        asked.__await__().send(None)


def test_an_operation_of_another_function_is_not_durable() -> None:
    kept: list[Any] = []

    async def first(ctx: FunctionContext) -> None:
        kept.append(ctx.step(work))
        await ctx.sleep(1)

    async def second(ctx: FunctionContext) -> None:
        await kept[0]

    Drive(first)
    assert isinstance(Drive(second).driver.problem, OstinatoError)


def test_operations_that_are_never_awaited_are_known() -> None:
    async def forgetful(ctx: FunctionContext) -> None:
        ctx.step(work)
        await ctx.step(other)

    drive = Drive(forgetful)
    assert drive.pending == [("1", "step 'other'")]
    drive.answer("1")
    assert [str(operation) for operation in drive.driver.unawaited.values()] == ["step 'work'"]


def test_waiting_for_anything_else_is_not_durable_and_may_be_caught() -> None:
    class Odd:
        def __await__(self) -> Any:
            yield "something"

    async def catching(ctx: FunctionContext) -> Any:
        try:
            await Odd()
        except NotDurable as problem:
            return str(problem)

    result = Drive(catching).driver.result
    assert "'something'" in result
    assert "ctx.step(function, …)" in result


def test_gather_takes_operations_and_coroutines_only() -> None:
    async def odd(ctx: FunctionContext) -> None:
        await ctx.gather(1)  # type: ignore[arg-type]

    assert "ctx.gather takes operations of ctx and coroutines, not 1" in str(Drive(odd).driver.problem)


def test_steps_beyond_the_most_are_refused_of_every_kind() -> None:
    async def many(ctx: FunctionContext, ask: Any) -> None:
        for _ in range(4):
            if (asked := ask(ctx)) is not None and inspect.isawaitable(asked):
                await asked

    for ask in (lambda ctx: ctx.step(work), lambda ctx: ctx.now(), lambda ctx: ctx.uuid(), lambda ctx: ctx.sleep(0)):
        drive = Drive(lambda ctx, ask=ask: many(ctx, ask), most_steps=3)
        for _ in range(3):
            for position in list(drive.driver.pending):
                drive.answer(position)
        assert isinstance(drive.driver.problem, TooLarge)
        assert "ctx.continue_as" in str(drive.driver.problem)
        replayed = Drive(lambda ctx, ask=ask: many(ctx, ask), drive.driver.records, 3)
        assert isinstance(replayed.driver.problem, TooLarge)


def test_code_that_is_dropped_asks_for_nothing_more() -> None:
    seen: list[str] = []

    async def cleaning(ctx: FunctionContext) -> None:
        try:
            await ctx.sleep(1)
        finally:
            seen.append("finally")
            await ctx.step(work)
            seen.append("never")

    async def stubborn(ctx: FunctionContext) -> None:
        while True:
            try:
                await ctx.sleep(1)
            except BaseException:
                seen.append("caught")
                if seen.count("caught") > 5:
                    raise

    for function in (cleaning, stubborn):
        drive = Drive(function)
        drive.driver.close()
        assert not drive.driver.pending
    assert "never" not in seen


def test_continuing_ends_the_history_from_any_branch() -> None:
    async def leaving(ctx: FunctionContext) -> None:
        async def leave() -> None:
            await ctx.step(work)
            ctx.continue_as({"n": 1})

        await ctx.gather(ctx.sleep(9), leave())

    drive = Drive(leaving)
    drive.answer("1.1.0")
    assert isinstance(drive.driver.problem, ContinueAs)
    assert drive.driver.problem.input == '{"n":1}'
