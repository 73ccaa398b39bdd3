"""How instances move: every state, every join, what is late and what is stale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ostinato.journeys.documents import read_document
from ostinato.journeys.expressions.contract import EvaluationOutcome, Failure, Value
from ostinato.journeys.language import Definition, read
from ostinato.journeys.machine.advance import advance, begin, needed_timers
from ostinato.journeys.machine.decision import (
    Cancelled,
    Compensate,
    Decision,
    Effect,
    Evaluate,
    Evaluated,
    Input,
    RunTask,
    Submitted,
    TaskEnded,
    TimerDue,
)
from ostinato.journeys.machine.model import (
    DEADLINE,
    INTERNAL,
    Instance,
    Termination,
    instance_from_json,
    instance_to_json,
)
from ostinato.journeys.machine.pending_effects import pending_effects
from ostinato.journeys.machine.values import merge_changes
from ostinato.journeys.task_kind import TaskProblem, TaskResult
from ostinato.when.instants import SECOND, Micros, read_instant
from tests.support.journey_documents import journey

T0 = read_instant("2026-01-31T12:00:00Z", "t0")
DONE = "done: {type: succeed}"


def result(expr: str, bindings: Mapping[str, Any]) -> EvaluationOutcome:
    """The language of these tests: Python."""
    try:
        return Value(eval(expr, {}, dict(bindings)))
    except Exception as wrong:
        return Failure("TEST_ERROR", type(wrong).__name__)


@dataclass
class Play:
    """An instance, kept as JSON between any two inputs, whose effects are done at once."""

    definition: Definition
    answers: dict[str, Any] = field(default_factory=dict)
    now: Micros = T0
    keys: list[str] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    timers: dict[str, Micros] = field(default_factory=dict)
    refused: list[Input] = field(default_factory=list)
    instance: Instance = field(init=False)

    def begin(self, context: Mapping[str, Any] | None = None, **more: Any) -> Play:
        self._follow(begin(self.definition, "j1", context or {}, self.now, **more))
        return self

    def give(self, *inputs: Input, after: float = 0) -> Play:
        self.now += int(after * SECOND)
        self._follow(advance(self.definition, self.instance, inputs, self.now))
        return self

    def fire(self) -> Play:
        """The next timer, at its time."""
        purpose, due = min(self.timers.items(), key=lambda one: one[1])
        self.now = max(self.now, due)
        return self.give(TimerDue(purpose))

    def _follow(self, decision: Decision) -> None:
        self._take(decision)
        while answers := [one for one in map(self._answer, decision.effects) if one is not None]:
            decision = advance(self.definition, self.instance, answers, self.now)
            self._take(decision)

    def _take(self, decision: Decision) -> None:
        kept = orjson.loads(orjson.dumps([instance_to_json(decision.instance), decision.instance.context]))
        self.instance = instance_from_json(*kept)
        assert self.instance == decision.instance
        self.timers = needed_timers(self.instance)
        again = [one for one in decision.effects if not isinstance(one, Compensate)]
        assert list(pending_effects(self.definition, self.instance)) == again
        self.events += [one.name for one in decision.events]
        self.refused += decision.refused
        self.effects += decision.effects

    def _answer(self, effect: Effect) -> Input | None:
        if isinstance(effect, Evaluate):
            results = tuple(result(one.expr, effect.bindings) for one in effect.expressions)
            return Evaluated(effect.frame, effect.visit, results)
        if isinstance(effect, RunTask):
            self.keys.append(effect.key)
            answer = self.answers[effect.state]
            done = answer if isinstance(answer, TaskProblem) else TaskResult({**effect.context, **answer})
            return TaskEnded(effect.frame, effect.visit, done)
        return None


def play(states: str, context: Mapping[str, Any] | None = None, spec: str = "", **answers: Any) -> Play:
    return Play(journey(states, spec=spec), answers).begin(context)


def test_tasks_transforms_and_choices_lead_to_an_end() -> None:
    played = play(
        """
        a: {type: task, task: {kind: x:v1}, next: b}
        b: {type: transform, transform: {mapper: {lang: py, expr: "{'sum': context['n'] + 1}"},
            target: {path: r.s}}, next: c}
        c: {type: choice, choices: [
            {when: {predicate: {lang: py, expr: "context['n'] > 5"}}, next: no},
            {when: {predicate: {lang: py, expr: "context['n'] == 1"}}, next: done},
            {when: {predicate: {lang: py, expr: "1 / 0"}}, next: no}], default: no}
        no: {type: fail, errorCode: NO, reason: no}
        done: {type: succeed, outputVar: r}
        """,
        {"k": 0},
        a={"n": 1},
    )
    ending = played.instance.ending
    assert ending
    assert (ending.phase, ending.output) == ("SUCCEEDED", {"s": {"sum": 2}})
    assert played.keys == ["j1:0:1"]
    assert played.events == ["journey:started", *["journey:state_entered"] * 4, "journey:completed"]


@pytest.mark.parametrize(
    ("target", "expr", "context", "attributes"),
    [
        ("target: {kind: context, path: ''}", "{'x': 1}", {"x": 1}, {}),
        ("target: {kind: var}, resultVar: v", "[1]", {"k": 0, "v": [1]}, {}),
        ("target: {kind: attributes}", "{'n': 5.0, 'b': True}", {"k": 0}, {"n": "5", "b": "true"}),
    ],
)
def test_a_transform_writes_where_its_target_says(target: str, expr: str, context: Any, attributes: Any) -> None:
    state = f'a: {{type: transform, transform: {{mapper: {{lang: py, expr: "{expr}"}}, {target}}}, next: done}}'
    instance = play(f"{state}\n{DONE}", {"k": 0}).instance
    assert (instance.context, instance.attributes) == (context, attributes)


@pytest.mark.parametrize(
    "state",
    [
        "{type: transform, transform: {mapper: {lang: py, expr: '5'}}, next: done}",
        "{type: transform, transform: {mapper: {lang: py, expr: '1 / 0'}}, next: done}",
        "{type: choice, choices: [{when: {predicate: {lang: py, expr: '42'}}, next: done}]}",
        "{type: choice, choices: [{when: {predicate: {lang: py, expr: 'False'}}, next: done}]}",
        "{type: timer, timer: {duration: {mapper: {lang: py, expr: '5'}}}, next: done}",
        "{type: timer, timer: {until: tomorrow}, next: done}",
        "{type: timer, timer: {duration: 5m}, next: done}",
    ],
)
def test_what_cannot_be_is_an_internal_error(state: str) -> None:
    ending = play(f"a: {state}\n{DONE}").instance.ending
    assert ending
    assert (ending.kind, ending.code, ending.state) == (Termination.RUNTIME_ERROR, INTERNAL, "a")


def test_an_attribute_is_written_once() -> None:
    again = (
        "{type: transform, transform: {mapper: {lang: py, expr: \"{'x': 1}\"}, target: {kind: attributes}}, next: NEXT}"
    )
    instance = play(f"a: {again.replace('NEXT', 'b')}\nb: {again.replace('NEXT', 'done')}\n{DONE}").instance
    assert instance.attributes == {"x": "1"}
    assert instance.ending
    assert instance.ending.state == "b"


def test_a_problem_ends_the_run_with_its_code_and_an_internal_one_without() -> None:
    states = f"a: {{type: task, task: {{kind: x:v1}}, next: done}}\n{DONE}"
    ending = play(states, a=TaskProblem("BAD", "Bad", "very bad")).instance.ending
    assert ending
    assert (ending.kind, ending.code, ending.reason) == (Termination.FAIL, "BAD", "very bad")
    ending = play(states, a=TaskProblem("CONFIG", "Broken", internal=True)).instance.ending
    assert ending
    assert (ending.kind, ending.code) == (Termination.RUNTIME_ERROR, INTERNAL)


WAIT = """
a: {type: wait, wait: {channel: manual, input: {schema: {}}, timeoutSec: 60, onTimeout: late}, next: c}
c: {type: choice, choices: [{when: {predicate: {lang: py, expr: "payload['ok']"}}, next: done}], default: a}
late: {type: fail, errorCode: LATE, reason: late}
done: {type: succeed}
"""


def test_a_step_is_taken_once_for_each_time_it_is_entered() -> None:
    played = play(WAIT, {"payload": "old"})
    assert played.instance.context == {}
    assert played.timers == {"journey:0:1": T0 + 60 * SECOND}
    played.give(Submitted("other", {}), Submitted("a", {"ok": False}, {"from": "header"}), after=10)
    assert [type(one) for one in played.refused] == [Submitted]
    assert played.instance.context == {"from": "header"}  # entered again: the payload is gone, the time begins again
    assert played.timers == {"journey:0:3": T0 + 70 * SECOND}
    played.give(TimerDue("journey:0:1"), after=55)
    assert len(played.refused) == 2
    played.give(Submitted("a", {"ok": True}))
    assert played.instance.phase == "SUCCEEDED"
    assert played.timers == {}
    played.give(Submitted("a", {"ok": True}))
    assert len(played.refused) == 3


def test_a_wait_whose_time_is_up_takes_the_other_way() -> None:
    played = play(WAIT).fire()
    assert played.instance.ending
    assert played.instance.ending.code == "LATE"


def test_a_step_and_its_timeout_in_one_batch_have_one_winner() -> None:
    played = play(WAIT)
    played.give(TimerDue("journey:0:1"), Submitted("a", {"ok": True}), after=60)
    assert played.instance.ending
    assert played.instance.ending.code == "LATE"
    assert played.refused == [Submitted("a", {"ok": True})]


@pytest.mark.parametrize(
    ("timer", "due"),
    [
        ("duration: PT5M", T0 + 300 * SECOND),
        ("duration: PT0S", T0),
        ("duration: P1M", read_instant("2026-02-28T12:00:00Z", "")),
        ("until: '2026-02-01T00:00:00+01:00'", read_instant("2026-01-31T23:00:00Z", "")),
        ("until: '2020-01-01T00:00:00Z'", read_instant("2020-01-01T00:00:00Z", "")),
        ("duration: {mapper: {lang: py, expr: \"'PT' + str(context['n']) + 'S'\"}}", T0 + 7 * SECOND),
    ],
)
def test_a_timer_parks_and_goes_on_without_a_trace_in_the_context(timer: str, due: Micros) -> None:
    played = play(f"a: {{type: timer, timer: {{{timer}}}, next: done}}\n{DONE}", {"n": 7})
    assert played.timers == {"journey:0:1": due}
    if due > T0:
        assert played.give(TimerDue("journey:0:1")).refused  # before its time
    played.fire()
    assert (played.instance.phase, played.instance.context) == ("SUCCEEDED", {"n": 7})


def test_a_timer_of_an_earlier_round_of_a_loop_is_stale() -> None:
    played = play("a: {type: timer, timer: {duration: PT1M}, next: a}")
    first = next(iter(played.timers))
    played.fire()
    played.give(TimerDue(first))
    assert played.refused == [TimerDue(first)]
    assert played.instance.phase == "RUNNING"


LIMIT = "execution: {maxDurationSec: 30, onTimeout: {errorCode: SLOW, reason: too slow}}"


def test_the_deadline_ends_it_wherever_it_is_and_takes_the_timers_along() -> None:
    played = play(WAIT, spec=LIMIT)
    assert set(played.timers) == {DEADLINE, "journey:0:1"}
    assert played.give(TimerDue(DEADLINE)).refused
    played.fire()
    ending = played.instance.ending
    assert ending
    assert (ending.kind, ending.code, ending.reason) == (Termination.TIMEOUT, "SLOW", "too slow")
    assert played.timers == {}


def test_what_comes_at_the_deadline_is_too_late() -> None:
    played = play(WAIT, spec=LIMIT).give(Submitted("a", {"ok": True}), after=30)
    assert played.instance.ending
    assert played.instance.ending.code == "SLOW"
    assert played.refused


def test_cancel_ends_it_once() -> None:
    played = play(WAIT).give(Cancelled(), Cancelled())
    assert played.instance.ending
    assert (played.instance.ending.kind, played.instance.ending.code) == (Termination.CANCEL, "JOURNEY_CANCELLED")
    assert len(played.refused) == 1


def test_a_scheduled_run_does_not_wait_for_anybody() -> None:
    played = Play(journey(WAIT)).begin(scheduled=True)
    assert played.instance.ending
    assert (played.instance.ending.code, played.instance.ending.state) == (INTERNAL, "a")


# Subjourneys.

CHILD = """
subjourneys:
  child:
    start: c
    states:
      c: {type: choice, choices: [{when: {predicate: {lang: py, expr: "context['ok']"}}, next: good}], default: bad}
      good: {type: succeed, outputVar: ok}
      bad: {type: fail, errorCode: BAD, reason: bad}
"""


@pytest.mark.parametrize(
    ("ok", "how", "result"),
    [
        (True, "", True),
        (False, "onFailure: {behavior: capture}", None),
        (
            True,
            "resultKind: outcome",
            {"phase": "SUCCEEDED", "terminationKind": "Success", "output": True, "error": None},
        ),
        (
            False,
            "resultKind: outcome, onFailure: {behavior: capture}",
            {
                "phase": "FAILED",
                "terminationKind": "Fail",
                "output": None,
                "error": {"code": "BAD", "reason": "bad"},
            },
        ),
    ],
)
def test_a_subjourney_has_its_own_context_and_gives_back_what_was_asked_for(ok: bool, how: str, result: Any) -> None:
    mapper = f"{{mapper: {{lang: py, expr: \"{{'ok': {ok}}}\"}}}}"
    call = f"a: {{type: subjourney, subjourney: {{ref: child, input: {mapper}, resultVar: r, {how}}}, next: done}}"
    instance = play(f"{call}\n{DONE}", {"mine": 1}, spec=CHILD).instance
    assert instance.context == {"mine": 1, "r": result}
    assert list(instance.frames) == ["0"]


def test_a_failure_of_a_subjourney_is_a_failure_of_the_state() -> None:
    mapper = "{mapper: {lang: py, expr: \"{'ok': False}\"}}"
    call = f"a: {{type: subjourney, subjourney: {{ref: child, input: {mapper}}}, next: done}}"
    ending = play(f"{call}\n{DONE}", spec=CHILD).instance.ending
    assert ending
    assert (ending.code, ending.state, ending.kind) == ("BAD", "a", Termination.FAIL)


def test_a_subjourney_that_calls_itself_for_ever_is_stopped() -> None:
    call = "{type: subjourney, subjourney: {ref: s}, next: done}"
    spec = f"subjourneys: {{s: {{start: x, states: {{x: {call}, {DONE}}}}}}}"
    instance = play(f"a: {call}\n{DONE}", spec=spec).instance
    assert instance.ending
    assert instance.ending.code == INTERNAL


# Parallels.


def parallel(branches: Mapping[str, str], join: str, after: str = "next: done") -> str:
    lines = [f"{{name: {name}, start: x, states: {{x: {x}, y: {{type: succeed}}}}}}" for name, x in branches.items()]
    return f"a: {{type: parallel, parallel: {{branches: [{', '.join(lines)}], join: {{{join}}}}}, {after}}}\n{DONE}"


def put(expr: str) -> str:
    return f'{{type: transform, transform: {{mapper: {{lang: py, expr: "{expr}"}}}}, next: y}}'


WAITS = "{type: webhook, webhook: {input: {schema: {}}}, next: y}"
SLEEPS = "{type: timer, timer: {duration: PT1H}, next: y}"
FAILS = "{type: fail, errorCode: BAD, reason: bad}"


def test_the_contexts_of_all_branches_are_merged_however_deep() -> None:
    states = parallel(
        {
            "one": put("{**context, 'd': {**context['d'], 'one': {'x': 1}}}"),
            "two": put("{'d': {**context['d'], 'two': 2, 'one': {'y': 2}}}"),
        },
        "strategy: allOf",
    )
    instance = play(states, {"d": {"base": 0}, "gone": 1}).instance
    assert instance.context == {"d": {"base": 0, "one": {"x": 1, "y": 2}, "two": 2}}


def test_a_join_mapper_sees_the_branches_and_the_context_before_them() -> None:
    join = 'strategy: allOf, mapper: {lang: py, expr: "[context, branches]"}, resultVar: r'
    instance = play(parallel({"one": put("{'x': 1}"), "two": put("{'y': 2}")}, join), {"z": 0}).instance
    assert instance.context == {"z": 0, "r": [{"z": 0}, {"one": {"x": 1}, "two": {"y": 2}}]}


def test_the_winner_takes_it_all_and_the_losers_timers_go_with_the_decision() -> None:
    played = play(parallel({"wait": WAITS, "sleep": SLEEPS}, "strategy: anyOf"), {"k": 1})
    assert set(played.timers) == {"journey:2:1"}
    assert played.instance.current_state == "a"
    played.give(Submitted("x", 5), TimerDue("journey:2:1"), after=3600)
    assert played.instance.context == {"k": 1, "payload": 5}
    assert played.refused == [TimerDue("journey:2:1")]
    assert (played.timers, list(played.instance.frames)) == ({}, ["0"])


def test_a_loser_is_null_to_the_mapper() -> None:
    join = "strategy: anyOf, mapper: {lang: py, expr: branches}, resultVar: r"
    played = play(parallel({"wait": WAITS, "sleep": SLEEPS}, join)).fire()
    assert played.instance.context == {"r": {"wait": None, "sleep": {}}}


@pytest.mark.parametrize(
    ("join", "after", "phase"),
    [
        ("strategy: allOf", "next: done", "FAILED"),
        ("strategy: allOf, errorPolicy: failFast", "next: done", "FAILED"),
        ("strategy: allOf, errorPolicy: collectAll", "next: done", "RUNNING"),
        ("strategy: allOf, errorPolicy: ignoreErrors", "next: done", "RUNNING"),
        ("strategy: anyOf", "next: done", "FAILED"),
        ("strategy: anyOf", "", "FAILED"),
        ("strategy: anyOf, errorPolicy: failFast", "next: done", "FAILED"),
        ("strategy: anyOf, errorPolicy: ignoreErrors", "next: done", "RUNNING"),
        ("strategy: anyOf, errorPolicy: collectAll", "next: done", "FAILED"),
        ("strategy: anyOf, errorPolicy: collectAll", "", "FAILED"),
        ("strategy: anyOf, errorPolicy: collectAll, MAPPED", "next: done", "SUCCEEDED"),
        ("strategy: anyOf, MAPPED", "next: done", "FAILED"),
        ("strategy: allOf, errorPolicy: collectAll, MAPPED", "next: done", "RUNNING"),
        ("strategy: firstCompleted", "next: done", "FAILED"),
        ("strategy: firstCompleted, errorPolicy: ignoreErrors", "next: done", "SUCCEEDED"),
        ("strategy: firstCompleted, errorPolicy: collectAll", "next: done", "FAILED"),
        ("strategy: firstCompleted, errorPolicy: collectAll, MAPPED", "next: done", "SUCCEEDED"),
        ("strategy: firstCompleted", "", "FAILED"),
        ("strategy: firstCompleted, errorPolicy: failFast", "next: done", "FAILED"),
    ],
)
def test_a_branch_that_fails_while_another_goes_on(join: str, after: str, phase: str) -> None:
    join = join.replace("MAPPED", "mapper: {lang: py, expr: outcomes}, resultVar: r")
    assert play(parallel({"bad": FAILS, "sleep": SLEEPS}, join, after)).instance.phase == phase


@pytest.mark.parametrize(
    ("join", "phase"),
    [
        ("strategy: allOf, errorPolicy: collectAll", "FAILED"),
        ("strategy: allOf, errorPolicy: ignoreErrors", "SUCCEEDED"),
        ("strategy: anyOf, errorPolicy: ignoreErrors", "SUCCEEDED"),
    ],
)
def test_a_branch_that_failed_when_the_other_succeeds(join: str, phase: str) -> None:
    assert play(parallel({"bad": FAILS, "sleep": SLEEPS}, join)).fire().instance.phase == phase


@pytest.mark.parametrize(
    ("join", "phase"), [("anyOf, errorPolicy: ignoreErrors", "SUCCEEDED"), ("anyOf, errorPolicy: collectAll", "FAILED")]
)
def test_all_branches_fail(join: str, phase: str) -> None:
    assert play(parallel({"one": FAILS, "two": FAILS}, f"strategy: {join}")).instance.phase == phase


def test_the_reason_of_a_failure_may_hold_values() -> None:
    states = "a: {type: fail, errorCode: NO, reason: '${context.who.name} may not, ${context.gone} neither'}"
    instance = play(states, {"who": {"name": "Ann"}}).instance
    assert instance.ending
    assert instance.ending.reason == "Ann may not, ${context.gone} neither"


def test_a_join_mapper_sees_how_every_branch_ended() -> None:
    seen = 'errorPolicy: collectAll, mapper: {lang: py, expr: "[outcomes, branches]"}, resultVar: r'
    failed = {"status": "failed", "error": {"code": "BAD", "reason": "bad"}}
    cancelled = {"status": "cancelled", "error": None}
    raced = play(parallel({"bad": FAILS, "sleep": SLEEPS}, f"strategy: anyOf, {seen}")).instance
    assert raced.context == {"r": [{"bad": failed, "sleep": cancelled}, {"bad": None, "sleep": None}]}
    awaited = play(parallel({"bad": FAILS, "sleep": SLEEPS}, f"strategy: allOf, {seen}")).fire().instance
    succeeded = {"status": "succeeded", "error": None}
    assert awaited.context == {"r": [{"bad": failed, "sleep": succeeded}, {"bad": None, "sleep": {}}]}
    assert awaited.phase == "SUCCEEDED"


def test_a_deadline_in_a_branch_ends_what_nobody_answers() -> None:
    """The race of a wait and a timer whose branch fails: the failure decides when its time has come."""
    late = f"{SLEEPS.replace('next: y', 'next: z')}, z: {{type: fail, errorCode: LATE, reason: too late}}"
    played = play(parallel({"wait": WAITS, "late": late}, "strategy: anyOf, errorPolicy: collectAll", "")).fire()
    assert played.instance.ending
    assert (played.instance.phase, played.instance.ending.code) == ("FAILED", "LATE")
    assert (played.timers, list(played.instance.frames)) == ({}, ["0"])


def test_without_next_the_deciding_branch_is_the_outcome() -> None:
    named = put("{'v': 1}").replace("next: y", "next: z") + ", z: {type: succeed, outputVar: v}"
    instance = play(parallel({"one": named, "two": SLEEPS}, "strategy: anyOf", "")).instance
    assert instance.ending
    assert (instance.ending.phase, instance.ending.output, instance.ending.state) == ("SUCCEEDED", 1, "z")
    both = play(parallel({"one": put("{'x': 1}"), "two": put("{'y': 2}")}, "strategy: allOf", "")).instance
    assert both.ending
    assert both.ending.output == {"x": 1, "y": 2}


def test_a_failure_in_a_branch_below_a_branch_clears_everything_below() -> None:
    inner = "{type: parallel, parallel: {branches: [{name: i, start: t, states: {t: SLEEPS, y: {type: succeed}}}],"
    inner = inner.replace("SLEEPS", SLEEPS) + " join: {strategy: allOf}}, next: y}"
    wait = f"{WAITS.replace('next: y', 'next: z')}, z: {FAILS}"
    played = play(parallel({"deep": inner, "wait": wait, "sleep": SLEEPS}, "strategy: anyOf"))
    assert len(played.timers) == 2
    played.give(Submitted("x", {}))
    assert (played.instance.phase, played.timers, list(played.instance.frames)) == ("FAILED", {}, ["0"])


def test_a_loop_that_never_pauses_is_stopped() -> None:
    states = parallel({"one": "{type: succeed}"}, "strategy: allOf", "next: a")
    instance = play(states).instance
    assert instance.ending
    assert instance.ending.code == INTERNAL


def test_merging_keeps_what_nobody_changed() -> None:
    base = {"a": 1, "l": [1], "o": {"x": 1, "y": 1}, "t": 1}
    assert merge_changes(base, [base, base]) == base
    assert merge_changes(base, [{**base, "o": {"x": 2, "y": 1}}, {**base, "o": {"x": 1}}]) == {**base, "o": {"x": 2}}
    assert merge_changes(base, [{**base, "t": True}])["t"] is True
    assert merge_changes({"o": {"b": True}}, [{"o": {"b": 1}}])["o"]["b"] is not True
    assert merge_changes({"l": [{"b": 1}]}, [{"l": [{"b": 1.0}]}]) == {"l": [{"b": 1.0}]}


# Compensation.

UNDO = "compensation: {start: u, states: {u: {type: succeed}}, alsoFor: [RULE]}"
RULE = "{when: {predicate: {lang: py, expr: \"output['undo']\"}}}"


@pytest.mark.parametrize(
    ("spec", "states", "context", "times"),
    [
        (UNDO.replace("RULE", ""), f"a: {FAILS}", {}, 1),
        (UNDO.replace("RULE", ""), "a: {type: succeed}", {}, 0),
        (UNDO.replace("RULE", "{}"), "a: {type: succeed}", {}, 1),
        (UNDO.replace("RULE", RULE), "a: {type: succeed}", {"undo": True}, 1),
        (UNDO.replace("RULE", RULE), "a: {type: succeed}", {"undo": False}, 0),
        (UNDO.replace("RULE", RULE), "a: {type: succeed}", {}, 0),
        ("", f"a: {FAILS}", {}, 0),
    ],
)
def test_what_ended_is_compensated_at_most_once(spec: str, states: str, context: Any, times: int) -> None:
    played = play(states, context, spec=spec)
    played.give(Cancelled())
    begun = [one for one in played.effects if isinstance(one, Compensate)]
    assert len(begun) == times
    for compensation in begun:
        assert compensation.context == context
        assert compensation.outcome["journeyId"] == "j1"
        run = Play(played.definition).begin(
            compensation.context, graph=("spec", "compensation"), extra_bindings={"outcome": compensation.outcome}
        )
        assert run.instance.phase == "SUCCEEDED"
        assert not any(isinstance(effect, Compensate) for effect in run.effects)


def test_a_cancelled_or_late_run_is_compensated() -> None:
    undo = UNDO.replace("RULE", "")
    for inputs in ([Cancelled()], [TimerDue(DEADLINE)]):
        played = play(WAIT, {"k": 1}, spec=f"{undo}\n{LIMIT}")
        sent: Sequence[Input] = inputs
        played.give(*sent, after=30)
        assert [one.context for one in played.effects if isinstance(one, Compensate)] == [{"k": 1}]


# Whatever can be written goes on, waits for something, or ends with a reason.

IDS = ("a", "b", "c", "d")
ids = st.sampled_from(IDS)
truth = st.sampled_from(["True", "False", "1 / 0", "5"])


def py(expr: str) -> dict[str, str]:
    return {"lang": "py", "expr": expr}


def states_of(depth: int) -> st.SearchStrategy[dict[str, Any]]:
    """One state with its targets among the ids."""
    some = [
        st.just({"type": "succeed"}),
        st.just({"type": "fail", "errorCode": "E", "reason": "r"}),
        st.builds(lambda to: {"type": "task", "task": {"kind": "x:v1"}, "next": to}, ids),
        st.builds(
            lambda expr, to, other: {
                "type": "choice",
                "choices": [{"when": {"predicate": py(expr)}, "next": to}],
                "default": other,
            },
            truth,
            ids,
            ids,
        ),
        st.builds(
            lambda expr, to: {"type": "transform", "transform": {"mapper": py(expr)}, "next": to},
            st.sampled_from(["{**context, 'n': 1}", "{}", "5"]),
            ids,
        ),
        st.builds(
            lambda to, late: {
                "type": "webhook",
                "webhook": {"input": {"schema": {}}, "timeoutSec": 60, "onTimeout": late},
                "next": to,
            },
            ids,
            ids,
        ),
        st.builds(
            lambda long, to: {"type": "timer", "timer": {"duration": long}, "next": to},
            st.sampled_from(["PT0S", "PT1M", "P1M"]),
            ids,
        ),
        st.builds(
            lambda how, to: {
                "type": "subjourney",
                "subjourney": {"ref": "sub", "resultVar": "r", "onFailure": {"behavior": how}},
                "next": to,
            },
            st.sampled_from(["propagate", "capture"]),
            ids,
        ),
    ]
    if depth:
        some.append(
            st.builds(
                lambda graphs, strategy, policy, to: (
                    {
                        "type": "parallel",
                        "parallel": {
                            "branches": [{"name": f"b{n}", **one} for n, one in enumerate(graphs)],
                            "join": {"strategy": strategy} | ({"errorPolicy": policy} if policy else {}),
                        },
                    }
                    | ({"next": to} if to else {})
                ),
                st.lists(graphs_of(depth - 1), min_size=1, max_size=3),
                st.sampled_from(["allOf", "anyOf", "firstCompleted"]),
                st.sampled_from([None, "failFast", "collectAll", "ignoreErrors"]),
                st.none() | ids,
            )
        )
    return st.one_of(some)


def graphs_of(depth: int) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"start": ids, "states": st.fixed_dictionaries({id: states_of(depth) for id in IDS})})


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(graph=graphs_of(1), sub=graphs_of(0), data=st.data())
def test_no_instance_is_stuck_without_a_reason(graph: dict[str, Any], sub: dict[str, Any], data: st.DataObject) -> None:
    head = {"apiVersion": "v1", "kind": "Journey", "metadata": {"name": "x", "version": "1.0.0"}}
    document = read_document(orjson.dumps(head | {"spec": graph | {"subjourneys": {"sub": sub}}}).decode(), "x.json")
    definition, problems = read(document)
    assert definition is not None, problems
    running = begin(definition, "j1", {}, T0)
    now = T0
    for _ in range(40):
        instance = running.instance
        if instance.over:
            assert instance.ending
            assert instance.ending.succeeded or instance.ending.code
            assert not needed_timers(instance)
            break
        inputs: list[Input] = [TimerDue(one) for one in needed_timers(instance)]
        inputs += [Submitted(one, {}) for one in IDS]
        for effect in running.effects:
            if isinstance(effect, Evaluate):
                results = tuple(result(one.expr, effect.bindings) for one in effect.expressions)
                inputs.append(Evaluated(effect.frame, effect.visit, results))
            elif isinstance(effect, RunTask):
                inputs.append(TaskEnded(effect.frame, effect.visit, TaskResult(effect.context)))
        now = max([now, *needed_timers(instance).values()])
        input = data.draw(st.sampled_from(inputs))
        rest = [other for other in inputs if not isinstance(other, Submitted)]
        running = advance(definition, instance, [input], now)
        if running.refused:
            assert rest, f"nothing can move {instance}"
            running = advance(definition, instance, rest, now)
            assert len(running.refused) < len(rest), f"nothing moved {instance}"
