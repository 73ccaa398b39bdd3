"""What a schedule is made of, and the words for what becomes of its due times. Values only."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from ostinato.errors import OstinatoError, did_you_mean
from ostinato.model import DEFAULT_NAMESPACE, read_length
from ostinato.when import Spec
from ostinato.when.instants import SECOND, Micros


class Overlap(StrEnum):
    """What happens to an occurrence while an earlier one is still running."""

    SKIP = "skip"
    BUFFER_ONE = "buffer_one"
    BUFFER_ALL = "buffer_all"
    CANCEL_OTHER = "cancel_other"
    TERMINATE_OTHER = "terminate_other"
    ALLOW_ALL = "allow_all"


class Reason(StrEnum):
    """Why an occurrence did not run."""

    OVERLAP = "overlap"  # another was in the way
    REPLACED = "replaced"  # a later one took its place
    CATCHUP_WINDOW = "catchup_window"  # it was too late
    COALESCED = "coalesced"  # a later one stands for it
    PAUSED = "paused"
    EXHAUSTED = "exhausted"  # no actions remain
    BUFFER_FULL = "buffer_full"


@dataclass(frozen=True, slots=True)
class CatchUp:
    """What happens to times that are late, after an outage above all. `window`: how late a time may be and still
    run; `most`: how many late ones at the most, the newest."""

    mode: Literal["skip", "latest", "all"] = "latest"
    window: Micros | None = None
    most: int | None = None


# A time is late only beyond this: a busy moment of the machine is not an outage.
GRACE: Micros = 10 * SECOND


def read_catchup(value: Any) -> CatchUp:
    """`"skip"`, `"latest"`, `"all"`, a window such as `"1h"`, or a CatchUp."""
    if isinstance(value, CatchUp):
        found = value
    elif value in ("skip", "latest", "all"):
        found = CatchUp(value)
    else:
        try:
            found = CatchUp("all", window=read_length(value, "catchup"))
        except OstinatoError:
            raise OstinatoError(
                f"catchup {value!r} is unknown; use 'skip', 'latest', 'all', or a window such as '1h'"
            ) from None
    if (found.window is not None and found.window < 0) or (found.most is not None and found.most < 1):
        raise OstinatoError(f"catchup {value!r}: a window is not negative, and most is at least 1")
    return found


def read_overlap(value: Any) -> Overlap:
    try:
        return Overlap(str(value).lower())
    except ValueError:
        hint = did_you_mean(str(value), [one.value for one in Overlap]) or f"there are {', '.join(Overlap)}"
        raise OstinatoError(f"overlap {value!r} is unknown; {hint}") from None


@dataclass(frozen=True, slots=True)
class Policies:
    overlap: Overlap = Overlap.SKIP
    catchup: CatchUp = field(default_factory=CatchUp)
    pause_after_failures: int | None = None
    max_buffer: int | None = None


@dataclass(frozen=True, slots=True)
class Schedule:
    """`reached` is the last nominal time that was dealt with; `updated` the moment of the last edit.
    `remaining` counts down the actions that are left, if they are limited."""

    id: str
    name: str
    spec: Spec
    policies: Policies = field(default_factory=Policies)
    namespace: str = DEFAULT_NAMESPACE
    paused: bool = False
    notes: str = ""
    remaining: int | None = None
    reached: Micros = 0
    updated: Micros = 0
    token: int = 1

    @property
    def seed(self) -> str:
        """What makes its jitter its own, for ever."""
        return f"{self.namespace}-{self.name}"

    @property
    def exhausted(self) -> bool:
        return self.remaining is not None and self.remaining <= 0


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One due time: nominal, and with its jitter when it really runs. Without a reason it is to run; `stands_for`
    says how many earlier times are coalesced into it."""

    nominal: Micros
    actual: Micros
    reason: Reason | None = None
    stands_for: int = 0
