"""Define the stored form of an instance, which is a tree of frames.

A frame is a position in one graph, with its own context. The root frame is in the journey's own graph. Each branch of a
parallel state, and each subjourney, is a child of the frame that waits for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ostinato.documents import Path
from ostinato.model import Json
from ostinato.when.instants import Micros

ROOT = "0"
INTERNAL = "urn:journeyforge:error:internal"


class Rest(StrEnum):
    """What a frame waits for."""

    WORKING = "working"  # for the result of a task or of expressions
    PARKED = "parked"  # for an input or a time
    SPLIT = "split"  # for its child frames
    JOINING = "joining"  # for the join's mapper
    OVER = "over"  # for nothing: the frame has ended, and is kept for its parent


class Termination(StrEnum):
    SUCCESS = "Success"
    FAIL = "Fail"
    TIMEOUT = "Timeout"
    CANCEL = "Cancel"
    RUNTIME_ERROR = "RuntimeError"


class Compensating(StrEnum):
    """Whether an ended instance is compensated. `OPEN` means that this is not decided yet."""

    OPEN = "open"
    NO = "no"
    YES = "yes"


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a frame or of the instance. If `named` is true, the output is one variable, not the whole context. A
    frame that ends later has a higher `order`."""

    kind: Termination
    state: str
    output: Json = None
    code: str | None = None
    reason: str | None = None
    named: bool = False
    order: int = 0
    problem: Mapping[str, Json] | None = None  # more fields of the error (RFC 9457), or an internal error's cause

    @property
    def succeeded(self) -> bool:
        return self.kind is Termination.SUCCESS

    @property
    def phase(self) -> str:
        return "SUCCEEDED" if self.succeeded else "FAILED"

    @property
    def cause(self) -> dict[str, Json]:
        """The cause of an internal error, for operators: a stable code and a text. Empty for any other end."""
        if self.kind is not Termination.RUNTIME_ERROR or self.problem is None:
            return {}
        cause = {"cause": self.problem.get("code"), "detail": self.problem.get("detail")}
        return {name: one for name, one in cause.items() if one}

    @property
    def error(self) -> dict[str, Json] | None:
        return None if self.succeeded else {"code": self.code, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Frame:
    """A position in a graph: the frame is in the state `state` of the graph whose path is `path`.

    `visit` counts the states that the frame has entered so far, so it changes whenever the frame enters a state. A
    timer or a result of an effect names the frame's id and the `visit` for which it was requested. If the frame has
    another `visit` now, the timer or result is outdated.
    """

    id: str
    path: Path
    state: str
    visit: int
    context: Mapping[str, Json]
    parent: str | None = None
    branch: str | None = None
    rest: Rest = Rest.WORKING
    due: Micros | None = None
    ending: Ending | None = None
    decided_by: str | None = None

    @property
    def timer(self) -> str:
        """The string that identifies the frame's timer. Each visit of a state has its own timer."""
        return f"journey:{self.id}:{self.visit}"


DEADLINE = "journey:deadline"


@dataclass(frozen=True, slots=True)
class Instance:
    """An instance of a journey. `extra_bindings` are further variables for expressions, such as `outcome` in a
    compensation.

    If `scheduled` is true, a state that waits for an input is an error, because no caller could submit the input.
    `scheduled` is true for runs of bindings and their compensations, for calls of APIs, and for read guards.
    """

    id: str
    definition: str
    version: str
    frames: Mapping[str, Frame]
    started: Micros
    deadline: Micros | None = None
    frames_made: int = 1
    ended: int = 0
    tags: tuple[str, ...] = ()
    attributes: Mapping[str, str] = field(default_factory=dict)
    extra_bindings: Mapping[str, Json] = field(default_factory=dict)
    scheduled: bool = False
    compensating: Compensating = Compensating.OPEN

    @property
    def root(self) -> Frame:
        return self.frames[ROOT]

    @property
    def context(self) -> Mapping[str, Json]:
        return self.root.context

    @property
    def ending(self) -> Ending | None:
        return self.root.ending

    @property
    def over(self) -> bool:
        return self.ending is not None

    @property
    def phase(self) -> str:
        return self.ending.phase if self.ending else "RUNNING"

    @property
    def current_state(self) -> str:
        """The state of the root frame. While the branches of a parallel state run, it is the parallel state."""
        return self.root.state

    def children(self, id: str) -> list[Frame]:
        return [one for one in self.frames.values() if one.parent == id]


def instance_to_json(instance: Instance) -> dict[str, Any]:
    """Return the fields of an instance as a dict, without the context of the root frame, which has its own column."""
    fields = {name: getattr(instance, name) for name in Instance.__slots__}
    fields["given"] = fields.pop("extra_bindings")
    fields["frames"] = [_frame_to_json(frame) for frame in instance.frames.values()]
    return fields


def instance_from_json(fields: Mapping[str, Any], context: Mapping[str, Json]) -> Instance:
    frames = [_frame_from_json(frame, context) for frame in fields["frames"]]
    return Instance(
        **{
            **{name: value for name, value in fields.items() if name != "given"},
            "extra_bindings": fields["given"],
            "frames": {frame.id: frame for frame in frames},
            "tags": tuple(fields["tags"]),
            "compensating": Compensating(fields["compensating"]),
        }
    )


def _frame_to_json(frame: Frame) -> dict[str, Any]:
    fields = {name: getattr(frame, name) for name in Frame.__slots__}
    if frame.ending is not None:
        fields["ending"] = {name: getattr(frame.ending, name) for name in Ending.__slots__}
        if not frame.ending.named:
            del fields["ending"]["output"]  # it equals the frame's context
    if frame.id == ROOT:
        del fields["context"]
    return fields


def _frame_from_json(fields: Mapping[str, Any], context: Mapping[str, Json]) -> Frame:
    whole = {"context": context, **fields}
    ending = fields["ending"]
    if ending is not None:
        kind = Termination(ending["kind"])
        output = whole["context"] if kind is Termination.SUCCESS else None
        ending = Ending(**{"output": output, **ending, "kind": kind})
    return Frame(**{**whole, "path": tuple(fields["path"]), "rest": Rest(fields["rest"]), "ending": ending})
