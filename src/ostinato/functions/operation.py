"""Define `FunctionOperation`, which the code of a function awaits: a step, a sleep, a receive, the start of a child."""

from __future__ import annotations

import sys
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any

from ostinato.errors import OstinatoError
from ostinato.functions.model import StepKind, StepRecord
from ostinato.when.instants import Micros

if TYPE_CHECKING:
    from ostinato.functions.definition import StepFunction
    from ostinato.functions.replay import Driver, ReplayBranch

GATHER = "gather"
_HERE = __file__.rsplit("/", 1)[0]


class FunctionOperation:
    """One operation of `ctx`. It begins when the code awaits it, and can be awaited once. Its `position` is assigned
    earlier, when the code creates the operation, so the position is the same in every replay."""

    __slots__ = (
        "arguments",
        "branch",
        "child_id",
        "default",
        "driver",
        "has_default",
        "keywords",
        "kind",
        "length",
        "name",
        "options",
        "place",
        "position",
        "problem",
        "record",
        "result",
        "settled",
        "step",
    )

    def __init__(self, driver: Driver, kind: str, name: str, position: str) -> None:
        self.driver = driver
        self.kind = kind
        self.name = name
        self.position = position
        self.place = ""
        self.branch: ReplayBranch | None = None  # what waits for it
        self.record: StepRecord | None = None
        self.settled = False
        self.result: Any = None
        self.problem: BaseException | None = None
        # Each of these is used by some kinds of operations only.
        self.step: StepFunction[..., Any] | None = None
        self.arguments: Sequence[Any] = ()
        self.keywords: dict[str, Any] = {}
        self.length: Micros | None = None
        self.child_id: str | None = None
        self.options: dict[str, Any] = {}
        self.default: Any = None
        self.has_default = False

    def __await__(self) -> Generator[FunctionOperation, None, Any]:
        if self.driver.current is None:
            raise OstinatoError(
                f"{self} is awaited outside of its function; await it there, or pass it to ctx.gather(…): "
                "asyncio.gather, create_task and wait_for cannot be replayed"
            )
        if self.settled or self.branch is not None:
            raise OstinatoError(f"{self} is awaited a second time; keep its result in a variable")
        yield self
        if self.problem is not None:
            raise self.problem
        return self.result

    def __str__(self) -> str:
        return f"{self.kind} {self.name!r}" if self.name else self.kind

    @property
    def waits(self) -> bool:
        """Whether the operation only waits for a time, a message or a child."""
        return self.kind in (StepKind.SLEEP, StepKind.RECEIVE, StepKind.CHILD)


def calling_place() -> str:
    """Return the file and line in the function's code that calls `ctx`."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_HERE):
        frame = frame.f_back  # type: ignore[assignment]
    return "" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"
