"""One instance on its way through its states. Moves are a queue, not calls within calls: first every branch of a
parallel enters its first state, then what ended is looked at; and a journey that would never pause is stopped."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace

from ostinato.journeys.expressions.contract import Failure
from ostinato.journeys.interpolation import filled_as_far
from ostinato.journeys.language import Definition, Expression, State
from ostinato.journeys.language.states import (
    Call,
    Choice,
    Fail,
    Graph,
    Parallel,
    Succeed,
    Task,
    Timer,
    Transform,
    Wait,
    Webhook,
)
from ostinato.journeys.machine.decision import Evaluated, Fact, Submitted, TaskEnded
from ostinato.journeys.machine.joining import conclusion, joined, together
from ostinato.journeys.machine.model import INTERNAL, ROOT, Ending, Frame, Instance, Rest, Termination
from ostinato.journeys.machine.values import NotPossible, attributes_with, time_after, time_at, written
from ostinato.journeys.plugins import Outcome, Problem
from ostinato.model import Json
from ostinato.when.instants import SECOND, Micros

MOST_FRAMES = 1_000
MOST_MOVES = 2_000  # without a pause, a task or an expression between them
DEEPEST = 50


class Moving:
    """The instance while it moves; `instance()` is how it then is."""

    def __init__(self, definition: Definition, instance: Instance, now: Micros) -> None:
        self._definition = definition
        self._before = instance
        self._now = now
        self.frames = dict(instance.frames)
        self.compensating = instance.compensating
        self.facts: list[Fact] = []
        self._attributes = instance.attributes
        self._made = instance.frames_made
        self._ended = instance.ended
        self._moves = 0
        self._queue: deque[Callable[[], None]] = deque()

    def instance(self) -> Instance:
        return replace(
            self._before,
            frames=self.frames,
            compensating=self.compensating,
            attributes=self._attributes,
            frames_made=self._made,
            ended=self._ended,
        )

    @property
    def ending(self) -> Ending | None:
        return self.frames[ROOT].ending

    def tell(self, name: str, data: Mapping[str, Json]) -> None:
        self.facts.append(Fact(name, data))

    # What comes from outside. Each says whether it found somebody.

    def evaluated(self, given: Evaluated) -> bool:
        frame = self._at(given.frame, given.visit)
        if frame is None or frame.rest not in (Rest.WORKING, Rest.JOINING) or isinstance(self._state(frame), Task):
            return False
        try:
            self._apply(frame, given.outcomes)
        except NotPossible as wrong:
            self._crash(frame.id, str(wrong))
        self._run()
        return True

    def task_ended(self, given: TaskEnded) -> bool:
        frame = self._at(given.frame, given.visit)
        state = None if frame is None else self._state(frame)
        if frame is None or frame.rest is not Rest.WORKING or not isinstance(state, Task):
            return False
        if isinstance(given.result, Problem):
            self._end(frame.id, _failed(frame.state, given.result))
        else:
            self._leave(frame, state.next, given.result.context)
        self._run()
        return True

    def submitted(self, given: Submitted) -> bool:
        for frame in self.frames.values():
            state = self._state(frame)
            if frame.rest is Rest.PARKED and frame.state == given.step and isinstance(state, Wait | Webhook):
                called = {} if given.call is None else {"call": given.call}
                self.tell("journey:input_received", {**_where(frame), **called})
                self._leave(frame, state.next, {**frame.context, **given.bound, "payload": given.payload})
                self._run()
                return True
        return False

    def fired(self, purpose: str) -> bool:
        """A timer that fires before its time, or for a stay that is over, finds nobody."""
        for frame in self.frames.values():
            if (
                frame.rest is Rest.PARKED
                and frame.timer == purpose
                and frame.due is not None
                and frame.due <= self._now
            ):
                state = self._state(frame)
                self.tell("journey:timer_fired", _where(frame))
                if isinstance(state, Timer):
                    self._leave(frame, state.next, frame.context)
                elif isinstance(state, Wait | Webhook) and state.external.on_timeout is not None:
                    self._leave(frame, state.external.on_timeout, frame.context)
                else:
                    self._crash(frame.id, "the time is up, and nothing is said about that")
                self._run()
                return True
        return False

    def stop(self, kind: Termination, code: str, reason: str) -> None:
        """All of it ends here, whatever it waits for."""
        root = self.frames[ROOT]
        self._queue.clear()
        self._end(ROOT, Ending(kind, root.state, code=code, reason=reason))

    def enter(self, id: str, state: str) -> None:
        self._queue.append(lambda: self._enter(id, state))
        self._run()

    # Moves.

    def _run(self) -> None:
        while self._queue and self.ending is None:
            self._queue.popleft()()
        self._queue.clear()

    def _leave(self, frame: Frame, to: str, context: Mapping[str, Json]) -> None:
        self._drop_below(frame.id)
        self.frames[frame.id] = replace(frame, context=context, rest=Rest.WORKING, due=None, decided_by=None)
        self._queue.append(lambda: self._enter(frame.id, to))

    def _enter(self, id: str, state_id: str) -> None:
        if id not in self.frames:
            return None  # it lost while it was on its way
        before = self.frames[id]
        frame = replace(before, state=state_id, visit=before.visit + 1, rest=Rest.WORKING, due=None, decided_by=None)
        self.frames[id] = frame
        self.tell("journey:state_entered", _where(frame))
        self._moves += 1
        if self._moves > MOST_MOVES:
            return self._crash(id, f"it moved {MOST_MOVES} times without a pause; it would never end")
        state = self._state(frame)
        match state:
            case Succeed():
                named = state.output_var is not None and state.output_var in frame.context
                output = frame.context[str(state.output_var)] if named else frame.context
                return self._end(id, Ending(Termination.SUCCESS, state_id, output, named=named))
            case Fail():
                reason = filled_as_far(state.reason, frame.context)
                return self._end(id, Ending(Termination.FAIL, state_id, code=state.error_code, reason=reason))
            case Wait() | Webhook():
                return self._wait(frame, state)
            case Timer():
                return self._arm_literal(frame, state)
            case Parallel():
                return self._split(frame, state)
            case Call() if state.subjourney.input is None:
                return self._call(frame, state, {})
            case _:
                return None  # it needs a task's or an expression's result

    def _wait(self, frame: Frame, state: Wait | Webhook) -> None:
        if self._before.scheduled:
            return self._crash(frame.id, f"a scheduled run has reached {frame.state!r}, which waits for somebody")
        timeout = state.external.timeout_s
        due = None if timeout is None else self._now + timeout * SECOND
        context = {name: one for name, one in frame.context.items() if name != "payload"}
        self.frames[frame.id] = replace(frame, context=context, rest=Rest.PARKED, due=due)
        self.tell("journey:input_wanted", _where(frame))
        return None

    def _arm_literal(self, frame: Frame, state: Timer) -> None:
        duration, until = state.timer.duration, state.timer.until
        if isinstance(duration, Expression) or isinstance(until, Expression):
            return
        try:
            self._arm(frame, state, until if duration is None else duration)
        except NotPossible as wrong:
            self._crash(frame.id, str(wrong))

    def _arm(self, frame: Frame, state: Timer, value: Json) -> None:
        due = time_at(value) if state.timer.duration is None else time_after(value, self._now)
        self.frames[frame.id] = replace(frame, rest=Rest.PARKED, due=due)
        self.tell("journey:timer_set", {**_where(frame), "due": due})

    def _split(self, frame: Frame, state: Parallel) -> None:
        self.frames[frame.id] = replace(frame, rest=Rest.SPLIT)
        for branch in state.parallel.branches:
            if self.frames[frame.id].rest is Rest.SPLIT:
                self._below(frame, branch, frame.context, branch.name)

    def _call(self, frame: Frame, state: Call, context: Json) -> None:
        if not isinstance(context, Mapping):
            raise NotPossible("the input of a subjourney is an object")
        self.frames[frame.id] = replace(frame, rest=Rest.SPLIT)
        self._below(frame, self._definition.spec.subjourneys[state.subjourney.ref], context, None)

    def _below(self, frame: Frame, graph: Graph, context: Mapping[str, Json], branch: str | None) -> None:
        """A frame below another, with a context of its own."""
        if len(self.frames) >= MOST_FRAMES or self._depth(frame) >= DEEPEST:
            return self._crash(frame.id, f"more than {MOST_FRAMES} frames, or {DEEPEST} within one another")
        id = str(self._made)
        self._made += 1
        self.frames[id] = Frame(id, graph.path, graph.start, 0, context, frame.id, branch)
        self._queue.append(lambda: self._enter(id, graph.start))
        return None

    def _apply(self, frame: Frame, outcomes: tuple[Outcome, ...]) -> None:
        """What the expressions of a frame's state came to."""
        state = self._state(frame)
        if isinstance(state, Choice):
            return self._choose(frame, state, outcomes)
        first = outcomes[0]
        if isinstance(first, Failure):
            return self._crash(frame.id, first.message, first.code)
        match state:
            case Transform():
                what = state.transform
                if what.target.kind == "attributes":
                    self._attributes = attributes_with(self._attributes, first.value)
                    return self._leave(frame, state.next, frame.context)
                context = written(frame.context, what.target, what.result_var, first.value)
                return self._leave(frame, state.next, context)
            case Timer():
                return self._arm(frame, state, first.value)
            case Call():
                return self._call(frame, state, first.value)
            case Parallel():
                assert state.next is not None
                return self._leave(frame, state.next, _mapped(frame, state.parallel.join.result_var, first.value))
            case _:
                raise AssertionError(state)

    def _choose(self, frame: Frame, state: Choice, outcomes: tuple[Outcome, ...]) -> None:
        """The first that is true. All were evaluated at once; what comes after it does not matter, failed or not."""
        for case, outcome in zip(state.choices, outcomes, strict=True):
            if isinstance(outcome, Failure):
                return self._crash(frame.id, outcome.message, outcome.code)
            if not isinstance(outcome.value, bool):
                return self._crash(frame.id, "a predicate came to something else than true or false")
            if outcome.value:
                return self._leave(frame, case.next, frame.context)
        if state.default is None:
            return self._crash(frame.id, "no case is true, and there is no default")
        return self._leave(frame, state.default, frame.context)

    # Ends.

    def _end(self, id: str, ending: Ending) -> None:
        frame = self.frames[id]
        self._drop_below(id)
        self._ended += 1
        ending = replace(ending, order=self._ended)
        self.frames[id] = replace(frame, rest=Rest.OVER, due=None, decided_by=None, ending=ending)
        if frame.parent is None:
            data = {"phase": ending.phase, "termination": ending.kind.value, "code": ending.code}
            cause = {name: one for name, one in ending.cause.items() if name == "cause"}
            self.tell("journey:completed", {**data, **cause})
            return
        above = frame.parent
        self._queue.append(lambda: self._settle(above))

    def _crash(self, id: str, reason: str, code: str | None = None) -> None:
        problem = None if code is None else {"code": code}
        ending = Ending(Termination.RUNTIME_ERROR, self.frames[id].state, code=INTERNAL, reason=reason, problem=problem)
        self._end(id, ending)

    def _settle(self, id: str) -> None:
        """A frame below this one has ended."""
        frame = self.frames.get(id)
        if frame is None or frame.rest is not Rest.SPLIT:
            return
        below = [one for one in self.frames.values() if one.parent == id]
        state = self._state(frame)
        if isinstance(state, Call):
            self._return(frame, state, below[0])
        elif isinstance(state, Parallel):
            self._join(frame, state, below)

    def _return(self, frame: Frame, state: Call, child: Frame) -> None:
        ending, how = child.ending, state.subjourney
        assert ending is not None
        if not ending.succeeded and how.on_failure.behavior == "propagate":
            return self._end(frame.id, replace(ending, state=frame.state))
        result: Json = ending.output if ending.succeeded else None
        if how.result_kind == "outcome":
            result = {
                "phase": ending.phase,
                "terminationKind": ending.kind.value,
                "output": result,
                "error": ending.error,
            }
        context = frame.context if how.result_var is None else {**frame.context, how.result_var: result}
        return self._leave(frame, state.next, context)

    def _join(self, frame: Frame, state: Parallel, branches: list[Frame]) -> None:
        join = state.parallel.join
        mapped = join.mapper is not None and state.next is not None
        found = joined(join, branches, mapped=mapped)
        if found is None:
            return None
        for loser in branches:
            if loser.ending is None:
                self._drop_below(loser.id)
                del self.frames[loser.id]
        if found.failed is not None:
            return self._end(frame.id, found.failed)
        if mapped:
            self.frames[frame.id] = replace(frame, rest=Rest.JOINING, decided_by=found.by.id)
            return None
        context = together(join, frame.context, branches, found.by)
        if state.next is not None:
            return self._leave(frame, state.next, context)
        self.frames[frame.id] = replace(frame, context=context)
        return self._end(frame.id, conclusion(join, context, found.by))

    # Looking.

    def _state(self, frame: Frame) -> State:
        return self._definition.graph(frame.path).states[frame.state]

    def _at(self, id: str, visit: int) -> Frame | None:
        frame = self.frames.get(id)
        return frame if frame is not None and frame.visit == visit else None

    def _depth(self, frame: Frame) -> int:
        depth = 0
        while frame.parent is not None:
            frame, depth = self.frames[frame.parent], depth + 1
        return depth

    def _drop_below(self, id: str) -> None:
        for one in [one.id for one in self.frames.values() if one.parent == id]:
            self._drop_below(one)
            del self.frames[one]


def _where(frame: Frame) -> dict[str, Json]:
    return {"frame": frame.id, "path": list(frame.path), "state": frame.state, "visit": frame.visit}


def _mapped(frame: Frame, result_var: str | None, value: Json) -> Mapping[str, Json]:
    if result_var is not None:
        return {**frame.context, result_var: value}
    if not isinstance(value, Mapping):
        raise NotPossible("a join's mapper without a resultVar makes the context, which is an object")
    return value


def _failed(state: str, problem: Problem) -> Ending:
    if problem.internal:
        return Ending(
            Termination.RUNTIME_ERROR,
            state,
            code=INTERNAL,
            reason=problem.title,
            problem={"code": problem.code, "detail": problem.detail},
        )
    form = {"type": problem.type, "title": problem.title, "detail": problem.detail, "status": problem.status}
    more = {name: one for name, one in form.items() if one}
    reason = problem.detail or problem.title
    return Ending(Termination.FAIL, state, code=problem.code, reason=reason, problem={**problem.more, **more})
