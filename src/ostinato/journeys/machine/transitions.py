"""Move one instance through its states. Moves wait in a queue and are made one after the other. So all branches of a
parallel state are entered before the end of a branch is handled."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace

from ostinato.journeys.expressions.contract import EvaluationOutcome, Failure
from ostinato.journeys.language import Definition, Expression, State
from ostinato.journeys.language.interpolation import fill_known
from ostinato.journeys.language.states import (
    CallSubjourney,
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
from ostinato.journeys.machine.decision import Evaluated, JourneyEvent, Submitted, TaskEnded
from ostinato.journeys.machine.join import decide_join, ending_of_parallel, merge_branches
from ostinato.journeys.machine.model import INTERNAL, ROOT, Ending, Frame, Instance, Rest, Termination
from ostinato.journeys.machine.timer_state import timer_due
from ostinato.journeys.machine.values import UnusableValue, add_attributes, with_result
from ostinato.journeys.task_kind import TaskProblem
from ostinato.model import Json
from ostinato.when.instants import SECOND, Micros

MOST_FRAMES = 1_000
MOST_MOVES = 2_000  # without a pause, a task or an expression in between
DEEPEST = 50


class Transitions:
    """Applies inputs to an instance. `instance()` returns the changed instance."""

    def __init__(self, definition: Definition, instance: Instance, now: Micros) -> None:
        self._definition = definition
        self._before = instance
        self._now = now
        self.frames = dict(instance.frames)
        self.compensating = instance.compensating
        self.events: list[JourneyEvent] = []
        self._attributes = instance.attributes
        self._frames_made = instance.frames_made
        self._ended = instance.ended
        self._moves = 0
        self._queue: deque[Callable[[], None]] = deque()

    def instance(self) -> Instance:
        return replace(
            self._before,
            frames=self.frames,
            compensating=self.compensating,
            attributes=self._attributes,
            frames_made=self._frames_made,
            ended=self._ended,
        )

    @property
    def ending(self) -> Ending | None:
        return self.frames[ROOT].ending

    def add_event(self, name: str, data: Mapping[str, Json]) -> None:
        self.events.append(JourneyEvent(name, data))

    # Inputs. Each method returns whether the input applied.

    def on_evaluated(self, evaluated: Evaluated) -> bool:
        frame = self._frame_in_visit(evaluated.frame, evaluated.visit)
        if frame is None or frame.rest not in (Rest.WORKING, Rest.JOINING) or isinstance(self._state(frame), Task):
            return False
        try:
            self._apply_outcomes(frame, evaluated.outcomes)
        except UnusableValue as wrong:
            self._fail_internally(frame.id, str(wrong))
        self._run_queue()
        return True

    def on_task_ended(self, ended: TaskEnded) -> bool:
        frame = self._frame_in_visit(ended.frame, ended.visit)
        state = None if frame is None else self._state(frame)
        if frame is None or frame.rest is not Rest.WORKING or not isinstance(state, Task):
            return False
        if isinstance(ended.result, TaskProblem):
            self._end_frame(frame.id, _failure_ending(frame.state, ended.result))
        else:
            self._leave(frame, state.next, ended.result.context)
        self._run_queue()
        return True

    def on_submitted(self, submitted: Submitted) -> bool:
        for frame in self.frames.values():
            state = self._state(frame)
            if frame.rest is Rest.PARKED and frame.state == submitted.step and isinstance(state, Wait | Webhook):
                called = {} if submitted.call is None else {"call": submitted.call}
                self.add_event("journey:input_received", {**_location(frame), **called})
                self._leave(frame, state.next, {**frame.context, **submitted.bound, "payload": submitted.payload})
                self._run_queue()
                return True
        return False

    def on_timer_due(self, purpose: str) -> bool:
        """Let the frame that waits for a timer continue. `purpose` identifies the timer. Return False if no frame waits
        for this timer, or if the timer is not due yet."""
        for frame in self.frames.values():
            is_due = frame.due is not None and frame.due <= self._now
            if frame.rest is Rest.PARKED and frame.timer == purpose and is_due:
                state = self._state(frame)
                self.add_event("journey:timer_fired", _location(frame))
                if isinstance(state, Timer):
                    self._leave(frame, state.next, frame.context)
                elif isinstance(state, Wait | Webhook) and state.external.on_timeout is not None:
                    self._leave(frame, state.external.on_timeout, frame.context)
                else:
                    self._fail_internally(frame.id, "it timed out, and has no 'onTimeout'")
                self._run_queue()
                return True
        return False

    def stop(self, kind: Termination, code: str, reason: str) -> None:
        """End the whole instance, whatever it waits for."""
        root = self.frames[ROOT]
        self._queue.clear()
        self._end_frame(ROOT, Ending(kind, root.state, code=code, reason=reason))

    def enter(self, id: str, state: str) -> None:
        self._queue.append(lambda: self._enter(id, state))
        self._run_queue()

    # Moves.

    def _run_queue(self) -> None:
        while self._queue and self.ending is None:
            self._queue.popleft()()
        self._queue.clear()

    def _leave(self, frame: Frame, to: str, context: Mapping[str, Json]) -> None:
        self._drop_children(frame.id)
        self.frames[frame.id] = replace(frame, context=context, rest=Rest.WORKING, due=None, decided_by=None)
        self._queue.append(lambda: self._enter(frame.id, to))

    def _enter(self, id: str, state_id: str) -> None:
        if id not in self.frames:
            return None  # a join has dropped the frame
        before = self.frames[id]
        frame = replace(before, state=state_id, visit=before.visit + 1, rest=Rest.WORKING, due=None, decided_by=None)
        self.frames[id] = frame
        self.add_event("journey:state_entered", _location(frame))
        self._moves += 1
        if self._moves > MOST_MOVES:
            return self._fail_internally(id, f"it entered {MOST_MOVES} states without a pause; it may never end")
        state = self._state(frame)
        match state:
            case Succeed():
                named = state.output_var is not None and state.output_var in frame.context
                output = frame.context[str(state.output_var)] if named else frame.context
                return self._end_frame(id, Ending(Termination.SUCCESS, state_id, output, named=named))
            case Fail():
                reason = fill_known(state.reason, frame.context)
                return self._end_frame(id, Ending(Termination.FAIL, state_id, code=state.error_code, reason=reason))
            case Wait() | Webhook():
                return self._wait(frame, state)
            case Timer():
                return self._set_literal_timer(frame, state)
            case Parallel():
                return self._split(frame, state)
            case CallSubjourney() if state.subjourney.input is None:
                return self._call_subjourney(frame, state, {})
            case _:
                return None  # it waits for the result of a task or an expression

    def _wait(self, frame: Frame, state: Wait | Webhook) -> None:
        if self._before.scheduled:
            reason = f"a scheduled run has reached {frame.state!r}, which waits for an input"
            return self._fail_internally(frame.id, reason)
        timeout = state.external.timeout_s
        due = None if timeout is None else self._now + timeout * SECOND
        context = {name: one for name, one in frame.context.items() if name != "payload"}
        self.frames[frame.id] = replace(frame, context=context, rest=Rest.PARKED, due=due)
        self.add_event("journey:input_wanted", _location(frame))
        return None

    def _set_literal_timer(self, frame: Frame, state: Timer) -> None:
        duration, until = state.timer.duration, state.timer.until
        if isinstance(duration, Expression) or isinstance(until, Expression):
            return
        try:
            self._set_timer(frame, state, until if duration is None else duration)
        except UnusableValue as wrong:
            self._fail_internally(frame.id, str(wrong))

    def _set_timer(self, frame: Frame, state: Timer, value: Json) -> None:
        due = timer_due(state, value, self._now)
        self.frames[frame.id] = replace(frame, rest=Rest.PARKED, due=due)
        self.add_event("journey:timer_set", {**_location(frame), "due": due})

    def _split(self, frame: Frame, state: Parallel) -> None:
        self.frames[frame.id] = replace(frame, rest=Rest.SPLIT)
        for branch in state.parallel.branches:
            if self.frames[frame.id].rest is Rest.SPLIT:
                self._add_child(frame, branch, frame.context, branch.name)

    def _call_subjourney(self, frame: Frame, state: CallSubjourney, context: Json) -> None:
        if not isinstance(context, Mapping):
            raise UnusableValue("the input of a subjourney must be an object")
        self.frames[frame.id] = replace(frame, rest=Rest.SPLIT)
        self._add_child(frame, self._definition.spec.subjourneys[state.subjourney.ref], context, None)

    def _add_child(self, frame: Frame, graph: Graph, context: Mapping[str, Json], branch: str | None) -> None:
        if len(self.frames) >= MOST_FRAMES or self._depth(frame) >= DEEPEST:
            return self._fail_internally(frame.id, f"more than {MOST_FRAMES} frames, or nested deeper than {DEEPEST}")
        id = str(self._frames_made)
        self._frames_made += 1
        self.frames[id] = Frame(id, graph.path, graph.start, 0, context, frame.id, branch)
        self._queue.append(lambda: self._enter(id, graph.start))
        return None

    def _apply_outcomes(self, frame: Frame, outcomes: tuple[EvaluationOutcome, ...]) -> None:
        state = self._state(frame)
        if isinstance(state, Choice):
            return self._choose(frame, state, outcomes)
        first = outcomes[0]
        if isinstance(first, Failure):
            return self._fail_internally(frame.id, first.message, first.code)
        match state:
            case Transform():
                what = state.transform
                if what.target.kind == "attributes":
                    self._attributes = add_attributes(self._attributes, first.value)
                    return self._leave(frame, state.next, frame.context)
                context = with_result(frame.context, what.target, what.result_var, first.value)
                return self._leave(frame, state.next, context)
            case Timer():
                return self._set_timer(frame, state, first.value)
            case CallSubjourney():
                return self._call_subjourney(frame, state, first.value)
            case Parallel():
                assert state.next is not None
                context = _mapped_context(frame, state.parallel.join.result_var, first.value)
                return self._leave(frame, state.next, context)
            case _:
                raise AssertionError(state)

    def _choose(self, frame: Frame, state: Choice, outcomes: tuple[EvaluationOutcome, ...]) -> None:
        """Continue with the first case whose predicate is true, or with the default if no predicate is true. Check the
        predicates in order, and ignore those after the first true one. End the frame with an internal error in these
        cases:

        - A checked predicate has failed, or is neither true nor false.
        - No predicate is true, and there is no default.
        """
        for case, outcome in zip(state.choices, outcomes, strict=True):
            if isinstance(outcome, Failure):
                return self._fail_internally(frame.id, outcome.message, outcome.code)
            if not isinstance(outcome.value, bool):
                return self._fail_internally(frame.id, "a predicate did not return true or false")
            if outcome.value:
                return self._leave(frame, case.next, frame.context)
        if state.default is None:
            return self._fail_internally(frame.id, "no case is true, and there is no default")
        return self._leave(frame, state.default, frame.context)

    # Ends.

    def _end_frame(self, id: str, ending: Ending) -> None:
        frame = self.frames[id]
        self._drop_children(id)
        self._ended += 1
        ending = replace(ending, order=self._ended)
        self.frames[id] = replace(frame, rest=Rest.OVER, due=None, decided_by=None, ending=ending)
        if frame.parent is None:
            data = {"phase": ending.phase, "termination": ending.kind.value, "code": ending.code}
            cause = {name: one for name, one in ending.cause.items() if name == "cause"}
            self.add_event("journey:completed", {**data, **cause})
            return
        above = frame.parent
        self._queue.append(lambda: self._child_ended(above))

    def _fail_internally(self, id: str, reason: str, code: str | None = None) -> None:
        problem = None if code is None else {"code": code}
        ending = Ending(Termination.RUNTIME_ERROR, self.frames[id].state, code=INTERNAL, reason=reason, problem=problem)
        self._end_frame(id, ending)

    def _child_ended(self, id: str) -> None:
        """Continue a frame after one of its children ended: return from the subjourney, or join the branches. `id` is
        the id of the frame that continues."""
        frame = self.frames.get(id)
        if frame is None or frame.rest is not Rest.SPLIT:
            return
        below = [one for one in self.frames.values() if one.parent == id]
        state = self._state(frame)
        if isinstance(state, CallSubjourney):
            self._return_from_subjourney(frame, state, below[0])
        elif isinstance(state, Parallel):
            self._join(frame, state, below)

    def _return_from_subjourney(self, frame: Frame, state: CallSubjourney, child: Frame) -> None:
        ending, how = child.ending, state.subjourney
        assert ending is not None
        if not ending.succeeded and how.on_failure.behavior == "propagate":
            return self._end_frame(frame.id, replace(ending, state=frame.state))
        result: Json = ending.output if ending.succeeded else None
        if how.result_kind == "outcome":
            kind = ending.kind.value
            result = {"phase": ending.phase, "terminationKind": kind, "output": result, "error": ending.error}
        context = frame.context if how.result_var is None else {**frame.context, how.result_var: result}
        return self._leave(frame, state.next, context)

    def _join(self, frame: Frame, state: Parallel, branches: list[Frame]) -> None:
        join = state.parallel.join
        mapped = join.mapper is not None and state.next is not None
        decision = decide_join(join, branches, mapped=mapped)
        if decision is None:
            return None
        for loser in branches:
            if loser.ending is None:
                self._drop_children(loser.id)
                del self.frames[loser.id]
        if decision.failed is not None:
            return self._end_frame(frame.id, decision.failed)
        if mapped:
            self.frames[frame.id] = replace(frame, rest=Rest.JOINING, decided_by=decision.by.id)
            return None
        context = merge_branches(join, frame.context, branches, decision.by)
        if state.next is not None:
            return self._leave(frame, state.next, context)
        self.frames[frame.id] = replace(frame, context=context)
        return self._end_frame(frame.id, ending_of_parallel(join, context, decision.by))

    # Queries.

    def _state(self, frame: Frame) -> State:
        return self._definition.graph(frame.path).states[frame.state]

    def _frame_in_visit(self, id: str, visit: int) -> Frame | None:
        frame = self.frames.get(id)
        return frame if frame is not None and frame.visit == visit else None

    def _depth(self, frame: Frame) -> int:
        depth = 0
        while frame.parent is not None:
            frame, depth = self.frames[frame.parent], depth + 1
        return depth

    def _drop_children(self, id: str) -> None:
        for child in [child.id for child in self.frames.values() if child.parent == id]:
            self._drop_children(child)
            del self.frames[child]


def _location(frame: Frame) -> dict[str, Json]:
    return {"frame": frame.id, "path": list(frame.path), "state": frame.state, "visit": frame.visit}


def _mapped_context(frame: Frame, result_var: str | None, value: Json) -> Mapping[str, Json]:
    if result_var is not None:
        return {**frame.context, result_var: value}
    if not isinstance(value, Mapping):
        raise UnusableValue("the mapper of a join without resultVar must return an object")
    return value


def _failure_ending(state: str, problem: TaskProblem) -> Ending:
    if problem.internal:
        cause = {"code": problem.code, "detail": problem.detail}
        return Ending(Termination.RUNTIME_ERROR, state, code=INTERNAL, reason=problem.title, problem=cause)
    form = {"type": problem.type, "title": problem.title, "detail": problem.detail, "status": problem.status}
    more = {name: one for name, one in form.items() if one}
    reason = problem.detail or problem.title
    return Ending(Termination.FAIL, state, code=problem.code, reason=reason, problem={**problem.more, **more})
