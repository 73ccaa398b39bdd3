"""What each kind of object does when calls come one after the other: small, sequential, without a store.

A model says, for a state and a call, every answer that is right and the state after it. `Sequential` compares that
with the answer that was given, and knows what a key means: a call with a key that was taken before changes nothing and
is answered as it was then.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from ostinato.when.instants import SECOND, Micros
from tests.histories.record import Answer, Call, Lost, Refused, Taken

S = TypeVar("S", bound=Hashable)
_ABSENT = Refused("absent")
_CONFLICT = Refused("conflict")


class Whole(NamedTuple):
    """An object's own state, and the keys it has taken: each with what was asked and what was answered."""

    inner: Any
    keys: frozenset[tuple[str, Hashable, Hashable]] = frozenset()


class Sequential(Generic[S]):
    """A model for the checker, from what one kind of object does."""

    def first(self) -> S:
        raise NotImplementedError

    def outcomes(self, state: S, call: Call, said: Mapping[str, Any]) -> Iterable[tuple[S, Answer]]:
        """Every right answer, with the state after it. `said` is what was answered: a new id is taken from there."""
        raise NotImplementedError

    def alone(self, state: S, until: Micros) -> Iterable[S]:
        """What the object may do by itself no later than `until`."""
        return ()

    def begin(self) -> Whole:
        return Whole(self.first())

    def apply(self, state: Hashable, call: Call) -> Iterator[Whole]:
        assert isinstance(state, Whole)
        said = call.answer.value if isinstance(call.answer, Taken) else {}
        for after, answer in self._answers(state, call, said):
            if fits(answer, call.answer):
                yield after

    def _answers(self, state: Whole, call: Call, said: Mapping[str, Any]) -> Iterator[tuple[Whole, Answer]]:
        asked = (call.verb, frozen(call.arguments))
        for key, before, answer in state.keys if call.key is not None else ():
            if key == call.key:
                yield state, Taken(dict(answer)) if before == asked else _CONFLICT  # type: ignore[call-overload]
                return
        for inner, right in self.outcomes(state.inner, call, said):
            keys = state.keys
            if call.key is not None and isinstance(right, Taken):
                keys |= {(call.key, asked, frozen(right.value))}
            yield Whole(inner, keys), right

    def drift(self, state: Hashable, until: Micros) -> Iterator[Whole]:
        assert isinstance(state, Whole)
        for inner in self.alone(state.inner, until):
            yield Whole(inner, state.keys)


def fits(right: Answer, answer: Answer) -> bool:
    """Whether an answer says nothing else than the right one does. Lost: the call took effect, whatever it said."""
    if isinstance(answer, Lost):
        return isinstance(right, Taken)
    if isinstance(answer, Refused):
        return right == answer
    if not isinstance(right, Taken):
        return False
    expected = {name: value for name, value in right.value.items() if value is not None}  # None: no answer had it
    return all(expected[name] == value for name, value in answer.value.items() if name in expected)


def frozen(values: Mapping[str, Any]) -> Hashable:
    return tuple(sorted(values.items()))


# A run that was started with an id


class RunState(NamedTuple):
    """`phase`: `absent`, `live`, `asked` (to stop), or the status it ended with. `mark` is its input's."""

    phase: str = "absent"
    id: str | None = None
    mark: int | None = None
    repeats: int = 0


@dataclass(frozen=True)
class RunModel(Sequential[RunState]):
    """start, cancel, terminate, repeat, look; over the wire stop calls are refused where the run is over."""

    ends: tuple[str, ...] = ("succeeded", "failed")

    def first(self) -> RunState:
        return RunState()

    def alone(self, state: RunState, until: Micros) -> Iterator[RunState]:
        if state.phase in ("live", "asked"):
            for end in self.ends:
                yield state._replace(phase=end)
        if state.phase == "asked":
            yield state._replace(phase="cancelled")

    def outcomes(self, state: RunState, call: Call, said: Mapping[str, Any]) -> Iterator[tuple[RunState, Answer]]:
        id = state.id or said.get("id")
        over = state.phase not in ("live", "asked")
        match call.verb:
            case "start" if state.phase == "absent":
                yield RunState("live", id, call.arguments["mark"]), Taken({"id": id, "new": True})
            case "start":
                yield state._replace(id=id), Taken({"id": id, "new": False})
            case _ if state.phase == "absent":
                yield state, _ABSENT
            case "cancel" | "terminate" if over:
                stopped = "cancelled" if call.verb == "cancel" else "terminated"
                if call.face != "wire" or state.phase == stopped:
                    yield state, Taken({"status": state.phase})
                if call.face == "wire":
                    yield state, _ABSENT
            case "cancel":
                yield state._replace(phase="cancelled"), Taken({"status": "cancelled"})
                yield state._replace(phase="asked"), Taken({"status": "active"})
            case "terminate":
                yield state._replace(phase="terminated"), Taken({"status": "terminated"})
            case "repeat" if over:
                yield state._replace(repeats=state.repeats + 1), Taken()
            case "repeat":
                yield state, _CONFLICT
            case "look":
                shown = {"over": over, "mark": state.mark, "id": id} | ({"status": state.phase} if over else {})
                yield state._replace(id=id), Taken(shown)
            case "end":  # the state when everything is quiet
                if over:
                    shown = {"id": id, "mark": state.mark, "status": state.phase, "repeats": state.repeats}
                    yield state, Taken(shown)


# Temporal's workflow: an id under which one run follows another


class WorkflowState(NamedTuple):
    """Of the newest run of the id; `starts` is how many there were."""

    phase: str = "absent"
    id: str | None = None
    starts: int = 0


@dataclass(frozen=True)
class WorkflowModel(Sequential[WorkflowState]):
    """start, under the policies for ids, cancel, terminate, look: all of them over the wire."""

    def first(self) -> WorkflowState:
        return WorkflowState()

    def alone(self, state: WorkflowState, until: Micros) -> Iterator[WorkflowState]:
        if state.phase in ("live", "asked"):
            yield state._replace(phase="succeeded")
        if state.phase == "asked":
            yield state._replace(phase="cancelled")

    def outcomes(
        self, state: WorkflowState, call: Call, said: Mapping[str, Any]
    ) -> Iterator[tuple[WorkflowState, Answer]]:
        over = state.phase not in ("live", "asked")
        id = state.id or said.get("id")
        match call.verb:
            case "start" if not over and call.arguments["conflict"] == "use":
                yield state._replace(id=id), Taken({"id": id, "new": False})
            case "start" if not over and call.arguments["conflict"] == "fail":
                yield state, _CONFLICT
            case "start" if self._closed(state, call.arguments["reuse"]):
                yield state, _CONFLICT
            case "start" if said.get("id") is None or said["id"] != state.id:
                yield (
                    WorkflowState("live", said.get("id"), state.starts + 1),
                    Taken({"id": said.get("id"), "new": True}),
                )
            case "start":
                return
            case _ if state.phase == "absent":
                yield state, _ABSENT
            case "cancel" | "terminate" if over:
                yield state, _ABSENT
                if state.phase == ("cancelled" if call.verb == "cancel" else "terminated"):
                    yield state, Taken()
            case "cancel":
                yield state._replace(phase="cancelled"), Taken()
                yield state._replace(phase="asked"), Taken()
            case "terminate":
                yield state._replace(phase="terminated"), Taken()
            case "look":
                shown = {"over": over, "id": id} | ({"status": state.phase} if over else {})
                yield state._replace(id=id), Taken(shown)
            case "end":
                if over:
                    yield state, Taken({"id": id, "status": state.phase, "count": state.starts})

    def _closed(self, state: WorkflowState, reuse: str) -> bool:
        """Whether a run that is over keeps others from its id."""
        over = state.phase not in ("live", "asked", "absent")
        return over and (reuse == "reject" or (reuse == "failed" and state.phase == "succeeded"))


# Runs without ids: each start makes one


Started = tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class JobsModel(Sequential[Started]):
    """start: each makes one run, which has its mark. An id that no answer had is empty."""

    def first(self) -> Started:
        return ()

    def outcomes(self, state: Started, call: Call, said: Mapping[str, Any]) -> Iterator[tuple[Started, Answer]]:
        if call.verb == "start":
            start = (call.arguments["mark"], said.get("id", ""))
            yield tuple(sorted((*state, start))), Taken({"id": said.get("id"), "new": True})
            return
        started: Started = said["runs"]
        same_marks = sorted(mark for mark, _ in started) == sorted(mark for mark, _ in state)
        if same_marks and {one for one in state if one[1]} <= set(started):
            yield state, Taken()


# A schedule


class ScheduleState(NamedTuple):
    """One name: `token` is 0 while there is no schedule. `triggers` and `backfills` are the marks of those that were
    taken, of all schedules that had this name; a trigger over the wire has no mark, and counts as 0."""

    token: int = 0
    paused: bool = False
    note: str = ""
    every: int = 0
    mark: int = 0
    triggers: tuple[int, ...] = ()
    backfills: tuple[int, ...] = ()


@dataclass(frozen=True)
class ScheduleModel(Sequential[ScheduleState]):
    """create, pause, resume, update, replace (the wire's update), trigger, backfill, delete, look; `fired` is a time
    that the schedule started a run for."""

    def first(self) -> ScheduleState:
        return ScheduleState()

    def outcomes(
        self, state: ScheduleState, call: Call, said: Mapping[str, Any]
    ) -> Iterator[tuple[ScheduleState, Answer]]:
        arguments = call.arguments
        match call.verb:
            case "create" if state.token:
                yield state, _CONFLICT
            case "create":
                created = state._replace(
                    token=1, paused=False, note="", every=arguments["every"], mark=arguments["mark"]
                )
                yield created, Taken({"token": 1})
            case "end":
                visible = () if not state.token else (state.token, state.paused, state.note, state.every, state.mark)
                yield state, Taken({"there": visible, "triggers": state.triggers, "backfills": state.backfills})
            case _ if not state.token:
                yield state, _ABSENT
            case "look":
                shown = {name: getattr(state, name) for name in ("token", "paused", "note", "every", "mark")}
                yield state, Taken(shown)
            case "fired":
                if not state.paused and arguments["nominal"] % (state.every * SECOND) == 0:
                    yield state, Taken()
            case _ if arguments.get("token") not in (None, state.token):
                yield state, Refused("token")
            case _:
                after = self._changed(state, call)._replace(token=state.token + 1)
                yield after if call.verb != "delete" else after._replace(token=0), Taken({"token": state.token + 1})

    def _changed(self, state: ScheduleState, call: Call) -> ScheduleState:
        arguments = call.arguments
        match call.verb:
            case "pause" | "resume":
                return state._replace(paused=call.verb == "pause", note=arguments["note"])
            case "update":
                return state._replace(every=arguments.get("every", state.every), mark=arguments.get("mark", state.mark))
            case "replace":
                return state._replace(**{n: arguments[n] for n in ("every", "mark", "paused", "note")})
            case "trigger":
                return state._replace(triggers=tuple(sorted((*state.triggers, arguments["mark"]))))
            case "backfill":
                return state._replace(backfills=tuple(sorted((*state.backfills, arguments["mark"]))))
            case _:
                return state


# A journey that asks again and again


class JourneyState(NamedTuple):
    """`phase`: `absent`, `asking`, `busy` (with what it was given), or over: `succeeded`, `cancelled`. `taken` are the
    marks of the inputs that it took, in order; `LATE` where it waited in vain. `since`: it asks since then, at the
    earliest."""

    phase: str = "absent"
    id: str | None = None
    taken: tuple[int, ...] = ()
    since: Micros = 0


LATE = -1


@dataclass(frozen=True)
class JourneyModel(Sequential[JourneyState]):
    """start, submit, cancel, look. It takes `inputs`, or waits `patience` for one, and is over then. `slack`: how wrong
    the nodes' clocks may be."""

    inputs: int = 3
    patience: Micros = 8 * SECOND
    slack: Micros = 0

    def first(self) -> JourneyState:
        return JourneyState()

    def alone(self, state: JourneyState, until: Micros) -> Iterator[JourneyState]:
        if state.phase == "busy":
            yield state._replace(phase="asking" if len(state.taken) < self.inputs else "succeeded")
        due = state.since + self.patience
        if state.phase == "asking" and due <= until + self.slack:
            yield state._replace(phase="busy", taken=(*state.taken, LATE), since=due)

    def outcomes(
        self, state: JourneyState, call: Call, said: Mapping[str, Any]
    ) -> Iterator[tuple[JourneyState, Answer]]:
        id = state.id or said.get("id")
        over = state.phase in ("succeeded", "cancelled")
        match call.verb:
            case "start" if state.phase == "absent":
                yield JourneyState("asking", id, since=call.since), Taken({"id": id})
            case "start":
                yield state._replace(id=id), Taken({"id": id})
            case _ if state.phase == "absent":
                yield state, _ABSENT
            case "submit":
                yield state, Refused("busy")
                if state.phase == "asking":
                    taken = (*state.taken, call.arguments["mark"])
                    yield state._replace(phase="busy", taken=taken, since=call.since), Taken()
                else:
                    yield state, _CONFLICT
                    if over and call.face == "wire":
                        yield state, _ABSENT
            case "cancel" if over:
                yield state, Taken()
                if call.face == "wire":
                    yield state, _ABSENT
            case "cancel":
                yield state._replace(phase="cancelled"), Taken()
            case "look":
                shown = {"asks": state.phase == "asking", "phase": state.phase if over else "running"}
                yield state, Taken(shown)
            case "end":
                if over:
                    yield state, Taken({"phase": state.phase, "taken": state.taken, "id": id})


# What journeys have scheduled for one subject


class Bound(NamedTuple):
    """A binding. `maker` is the mark of the start that made it, `mark` of the one that renewed it last, `since` when
    that was at the earliest."""

    maker: int
    mark: int
    since: Micros
    open: bool = True


Bindings = tuple[Bound, ...]


@dataclass(frozen=True)
class BindingModel(Sequential[Bindings]):
    """schedule (`existing`: fail, upsert or addAnother), cancel, look. A binding is over after `runs` runs, the first
    at once and then one every `period`."""

    runs: int = 3
    period: Micros = 4 * SECOND
    slack: Micros = 0

    def first(self) -> Bindings:
        return ()

    def alone(self, state: Bindings, until: Micros) -> Iterator[Bindings]:
        for n, binding in enumerate(state):
            # A binding that begins late still keeps to the times of its spec: the first wait may be short.
            if binding.open and binding.since + (self.runs - 2) * self.period <= until + self.slack:
                yield (*state[:n], binding._replace(open=False), *state[n + 1 :])

    def outcomes(self, state: Bindings, call: Call, said: Mapping[str, Any]) -> Iterator[tuple[Bindings, Answer]]:
        arguments = call.arguments
        open_ones = [n for n, one in enumerate(state) if one.open]
        match call.verb:
            case "schedule" if open_ones and arguments["existing"] == "fail":
                yield state, Taken({"done": False})
            case "schedule" if open_ones and arguments["existing"] == "upsert":
                for n in open_ones:
                    renewed = state[n]._replace(mark=arguments["mark"], since=call.since)
                    yield (*state[:n], renewed, *state[n + 1 :]), Taken({"done": True})
            case "schedule":
                yield (*state, Bound(arguments["mark"], arguments["mark"], call.since)), Taken({"done": True})
            case "cancel":
                left = tuple(one._replace(open=False) if one.maker == arguments["maker"] else one for one in state)
                if any(one.maker == arguments["maker"] for one in state):
                    yield left, Taken()
            case "look":
                yield state, Taken({"open": tuple(sorted(state[n].maker for n in open_ones))})
            case "end":
                if not open_ones:
                    yield state, Taken({"all": tuple(sorted((one.maker, one.mark) for one in state))})
