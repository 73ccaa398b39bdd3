"""An instance of a journey as it is kept: a tree of frames, each a cursor in one graph with a context of its own. The
journey's own graph is the root; a branch of a parallel and an entered subjourney stand below the frame that waits for
them. Values only, with their JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ostinato.model import Json
from ostinato.schedules.marked import Path
from ostinato.when.instants import Micros

ROOT = "0"
INTERNAL = "urn:journeyforge:error:internal"


class Rest(StrEnum):
    """What a frame needs in order to go on."""

    WORKING = "working"  # the result of a task or of expressions
    PARKED = "parked"  # an input or its time
    SPLIT = "split"  # the frames below it
    JOINING = "joining"  # the frames below have decided; the join's mapper is to be evaluated
    OVER = "over"  # nothing: it has ended, and is kept for the frame above


class Termination(StrEnum):
    SUCCESS = "Success"
    FAIL = "Fail"
    TIMEOUT = "Timeout"
    CANCEL = "Cancel"
    RUNTIME_ERROR = "RuntimeError"


class Compensating(StrEnum):
    """Whether an ended instance is compensated; it is decided once."""

    OPEN = "open"
    NO = "no"
    YES = "yes"


@dataclass(frozen=True, slots=True)
class Ending:
    """How a frame, or the instance, ended. `named`: the output is one variable of the context, not all of it. `order`
    tells which of several frames ended first."""

    kind: Termination
    state: str
    output: Json = None
    code: str | None = None
    reason: str | None = None
    named: bool = False
    order: int = 0
    problem: Mapping[str, Json] | None = None  # more of the error, as RFC 9457 has it; of an internal one its cause

    @property
    def succeeded(self) -> bool:
        return self.kind is Termination.SUCCESS

    @property
    def phase(self) -> str:
        return "SUCCEEDED" if self.succeeded else "FAILED"

    @property
    def cause(self) -> dict[str, Json]:
        """Of an internal error, for whoever runs the engine: `cause`, which is a stable code, and `detail`."""
        if self.kind is not Termination.RUNTIME_ERROR or self.problem is None:
            return {}
        found = {"cause": self.problem.get("code"), "detail": self.problem.get("detail")}
        return {name: one for name, one in found.items() if one}

    @property
    def error(self) -> dict[str, Json] | None:
        return None if self.succeeded else {"code": self.code, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Frame:
    """`path` is its graph's in the document, `visit` counts the states it has entered: with the frame's id it tells
    this stay in a state from every other, so that a timer or an answer that comes late finds nobody."""

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
        """The purpose of its timer."""
        return f"journey:{self.id}:{self.visit}"


DEADLINE = "journey:deadline"


@dataclass(frozen=True, slots=True)
class Instance:
    """`given` are names that expressions see besides the usual (a compensation's `outcome`). `scheduled`: nobody is
    there to answer, so a wait is an error. `context` is the root's, and after the end the final one."""

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
    given: Mapping[str, Json] = field(default_factory=dict)
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
        """Where it is, in one word: during a parallel the parallel itself."""
        return self.root.state

    def children(self, id: str) -> list[Frame]:
        return [one for one in self.frames.values() if one.parent == id]


def state_form(instance: Instance) -> dict[str, Any]:
    """Everything but the root's context, which is a column of its own."""
    form = {name: getattr(instance, name) for name in Instance.__slots__}
    form["frames"] = [_frame_form(one) for one in instance.frames.values()]
    return form


def read_instance(form: Mapping[str, Any], context: Mapping[str, Json]) -> Instance:
    frames = [_read_frame(one, context) for one in form["frames"]]
    return Instance(
        **{
            **form,
            "frames": {one.id: one for one in frames},
            "tags": tuple(form["tags"]),
            "compensating": Compensating(form["compensating"]),
        }
    )


def _frame_form(frame: Frame) -> dict[str, Any]:
    form = {name: getattr(frame, name) for name in Frame.__slots__}
    if frame.ending is not None:
        form["ending"] = {name: getattr(frame.ending, name) for name in Ending.__slots__}
        if not frame.ending.named:
            del form["ending"]["output"]  # it is the frame's context
    if frame.id == ROOT:
        del form["context"]
    return form


def _read_frame(form: Mapping[str, Any], context: Mapping[str, Json]) -> Frame:
    whole = {"context": context, **form}
    ending = form["ending"]
    if ending is not None:
        kind = Termination(ending["kind"])
        output = whole["context"] if kind is Termination.SUCCESS else None
        ending = Ending(**{"output": output, **ending, "kind": kind})
    return Frame(**{**whole, "path": tuple(form["path"]), "rest": Rest(form["rest"]), "ending": ending})
