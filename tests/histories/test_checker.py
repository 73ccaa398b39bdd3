"""The checker itself: histories that have an order, histories that have none, and histories that a model made and
somebody has falsified since. A checker that cannot fail is worthless."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from ostinato.when.instants import SECOND
from tests.histories.checker import check, core
from tests.histories.models import (
    LATE,
    BindingModel,
    JobsModel,
    JourneyModel,
    RunModel,
    ScheduleModel,
    Sequential,
    WorkflowModel,
)
from tests.histories.record import Answer, Call, Lost, Refused, Taken, show

CONFLICT = Refused("conflict")


def history(*lines: tuple[Any, ...]) -> list[Call]:
    """Calls as (asked, answered, verb, answer, arguments, key)."""
    calls = []
    for number, (asked, answered, verb, answer, *rest) in enumerate(lines):
        arguments, key = rest[0] if rest else {}, rest[1] if rest[1:] else None
        times = (asked * SECOND, answered * SECOND)
        calls.append(Call(number, f"client {number}", verb, "it", answer, asked, answered, *times, arguments, key))
    return calls


def a_run(id: str = "r", **more: Any) -> Taken:
    return Taken({"id": id, **more})


# Histories with an order


@pytest.mark.parametrize(
    ("model", "calls"),
    [
        (
            RunModel(),
            history(
                (1, 4, "start", a_run(new=False), {"mark": 1}),
                (2, 3, "start", a_run(new=True), {"mark": 2}),
                (5, 6, "end", a_run(mark=2, status="succeeded", repeats=0)),
            ),
        ),
        (  # the answer was lost, and the call comes again with its key
            RunModel(),
            history(
                (1, 0, "start", Lost(), {"mark": 1}, "k"),
                (2, 3, "start", a_run(new=False), {"mark": 2}),
                (4, 5, "start", a_run(new=True), {"mark": 1}, "k"),
                (6, 7, "cancel", Taken({"status": "active"})),
                (8, 9, "end", a_run(mark=1, status="cancelled", repeats=0)),
            ),
        ),
        (  # what was lost happens long after the caller gave up
            ScheduleModel(),
            history(
                (1, 2, "create", Taken({"token": 1}), {"every": 5, "mark": 1}),
                (3, 0, "pause", Lost(), {"note": "a"}),
                (4, 5, "look", Taken({"token": 1, "paused": False, "note": "", "every": 5, "mark": 1})),
                (6, 7, "trigger", Taken({"token": 3}), {"mark": 7}),
                (8, 9, "end", Taken({"there": (3, True, "a", 5, 1), "triggers": (7,), "backfills": ()})),
            ),
        ),
        (
            ScheduleModel(),
            history(
                (1, 2, "create", Taken({"token": 1}), {"every": 5, "mark": 1}),
                (3, 8, "pause", Taken({"token": 3}), {"note": "a"}),
                (4, 7, "update", Taken({"token": 2}), {"mark": 9, "token": 1}),
                (5, 6, "update", Refused("token"), {"mark": 8, "token": 1}),
            ),
        ),
        (
            JourneyModel(),
            history(
                (1, 2, "start", a_run("j")),
                (3, 6, "submit", CONFLICT, {"mark": 1}),
                (4, 5, "submit", Taken(), {"mark": 2}),
                (7, 8, "cancel", Taken()),
                (9, 10, "end", Taken({"phase": "cancelled", "taken": (2,), "id": "j"})),
            ),
        ),
        (  # nobody came in time
            JourneyModel(),
            history(
                (1, 2, "start", a_run("j")),
                (11, 12, "submit", Taken(), {"mark": 2}),
                (20, 21, "submit", Taken(), {"mark": 3}),
                (22, 23, "end", Taken({"phase": "succeeded", "taken": (LATE, 2, 3), "id": "j"})),
            ),
        ),
        (
            JobsModel(),
            history(
                (1, 0, "start", Lost(), {"mark": 1}),
                (2, 3, "start", a_run(new=True), {"mark": 1}),
                (4, 5, "end", Taken({"runs": ((1, "other"), (1, "r"))})),
            ),
        ),
    ],
)
def test_a_history_with_an_order_has_one(model: Sequential[Any], calls: list[Call]) -> None:
    verdict = check(calls, model)
    assert verdict.explained, show(calls)
    assert {call.number for call in calls if not call.lost} <= set(verdict.order)


# Histories without


@pytest.mark.parametrize(
    ("model", "calls", "needed"),
    [
        (  # two answers to one wait, both acknowledged
            JourneyModel(inputs=1),
            history(
                (1, 2, "start", a_run("j")),
                (3, 6, "submit", Taken(), {"mark": 1}),
                (4, 5, "submit", Taken(), {"mark": 2}),
                (7, 8, "end", Taken({"phase": "succeeded", "taken": (1,), "id": "j"})),
            ),
            {1, 2},
        ),
        (  # told that it was refused, but it was taken
            JourneyModel(),
            history(
                (1, 2, "start", a_run("j")),
                (3, 4, "submit", CONFLICT, {"mark": 1}),
                (5, 6, "cancel", Taken()),
                (7, 8, "end", Taken({"phase": "cancelled", "taken": (1,), "id": "j"})),
            ),
            {1, 3},
        ),
        (  # its time was not up
            JourneyModel(),
            history(
                (1, 2, "start", a_run("j")),
                (3, 4, "submit", Taken(), {"mark": 1}),
                (5, 6, "cancel", Taken()),
                (7, 8, "end", Taken({"phase": "cancelled", "taken": (LATE, 1), "id": "j"})),
            ),
            {3},
        ),
        (
            RunModel(),
            history(
                (1, 2, "start", a_run("a", new=True), {"mark": 1}),
                (3, 4, "start", a_run("b", new=True), {"mark": 2}),
            ),
            {0, 1},
        ),
        (  # over means over
            RunModel(),
            history(
                (1, 2, "start", a_run(new=True), {"mark": 1}),
                (3, 4, "terminate", Taken({"status": "terminated"})),
                (5, 6, "end", a_run(mark=1, status="succeeded", repeats=0)),
            ),
            {1, 2},
        ),
        (  # the same key, done twice
            RunModel(),
            history(
                (1, 2, "start", a_run(new=True), {"mark": 1}),
                (3, 4, "look", Taken({"over": True, "status": "failed"})),
                (5, 0, "repeat", Lost(), {}, "k"),
                (6, 7, "repeat", Taken(), {}, "k"),
                (8, 9, "end", a_run(mark=1, status="failed", repeats=2)),
            ),
            {4},
        ),
        (  # a stale token was let through
            ScheduleModel(),
            history(
                (1, 2, "create", Taken({"token": 1}), {"every": 5, "mark": 1}),
                (3, 4, "pause", Taken({"token": 2}), {"note": ""}),
                (5, 6, "update", Taken({"token": 3}), {"mark": 9, "token": 1}),
            ),
            {0, 1, 2},
        ),
        (  # it fires while it is paused
            ScheduleModel(),
            history(
                (1, 2, "create", Taken({"token": 1}), {"every": 5, "mark": 1}),
                (3, 4, "pause", Taken({"token": 2}), {"note": ""}),
                (5, 6, "fired", Taken(), {"nominal": 5 * SECOND}),
                (7, 8, "resume", Taken({"token": 3}), {"note": ""}),
            ),
            {0, 1, 2, 3},
        ),
        (  # an acknowledged trigger left nothing
            ScheduleModel(),
            history(
                (1, 2, "create", Taken({"token": 1}), {"every": 5, "mark": 1}),
                (3, 4, "trigger", Taken({"token": 2}), {"mark": 7}),
                (5, 6, "end", Taken({"there": (2, False, "", 5, 1), "triggers": (), "backfills": ()})),
            ),
            {1, 2},
        ),
        (
            JobsModel(),
            history(
                (1, 2, "start", a_run(new=True), {"mark": 1}), (3, 4, "end", Taken({"runs": ((1, "r"), (1, "s"))}))
            ),
            {1},
        ),
        (  # two runs of one workflow at once
            WorkflowModel(),
            history(
                (1, 2, "start", a_run("a", new=True), {"conflict": "fail", "reuse": "allow"}),
                (3, 4, "start", a_run("b", new=True), {"conflict": "fail", "reuse": "allow"}),
                (5, 6, "look", Taken({"over": False, "id": "a"})),
            ),
            {0, 1, 2},
        ),
        (  # two bindings of one subject, where the second was to fail
            BindingModel(),
            history(
                (1, 4, "schedule", Taken({"done": True}), {"mark": 1, "existing": "fail"}),
                (2, 3, "schedule", Taken({"done": True}), {"mark": 2, "existing": "fail"}),
            ),
            {0, 1},
        ),
    ],
)
def test_a_history_without_an_order_has_none(model: Sequential[Any], calls: list[Call], needed: set[int]) -> None:
    assert not check(calls, model).explained, show(calls)
    left, others = core(calls, model)
    assert {call.number for call in left} <= needed, show(left)
    assert len(left) + len(others) == len(calls)


def test_an_answer_and_what_it_saw_are_in_order() -> None:
    """A submit's answer says where the journey stood after it, not before."""
    calls = history(
        (1, 2, "start", a_run("j")),
        (3, 4, "submit", Taken(), {"mark": 1}),
        (3, 4, "look", Taken({"phase": "running", "asks": False})),
    )
    assert check(calls, JourneyModel()).explained
    follows = [*calls[:2], replace(calls[2], follows=1, answer=Taken({"phase": "succeeded", "asks": False}))]
    assert not check(follows, JourneyModel()).explained
    assert check(follows, JourneyModel(inputs=1)).explained


# Histories that a model made


Offer = Callable[[random.Random, int], tuple[str, Mapping[str, Any]]]


def _run(dice: random.Random, mark: int) -> tuple[str, Mapping[str, Any]]:
    verb = dice.choice(("start", "start", "cancel", "terminate", "repeat", "look"))
    return verb, {"mark": mark} if verb == "start" else {}


def _schedule(dice: random.Random, mark: int) -> tuple[str, Mapping[str, Any]]:
    verb = dice.choice(("create", "create", "pause", "resume", "update", "trigger", "backfill", "delete", "look"))
    arguments: dict[str, Any] = {"create": {"every": 5, "mark": mark}, "update": {"mark": mark}}.get(verb, {})
    if verb in ("trigger", "backfill"):
        arguments = {"mark": mark}
    if verb in ("pause", "resume"):
        arguments = {"note": str(mark)}
    fenced = verb not in ("create", "look") and dice.random() < 0.3
    return verb, arguments | ({"token": dice.randint(1, 4)} if fenced else {})


def _journey(dice: random.Random, mark: int) -> tuple[str, Mapping[str, Any]]:
    verb = dice.choice(("start", "submit", "submit", "submit", "cancel", "look"))
    return verb, {"mark": mark} if verb == "submit" else {}


def _workflow(dice: random.Random, mark: int) -> tuple[str, Mapping[str, Any]]:
    verb = dice.choice(("start", "start", "start", "cancel", "terminate", "look"))
    policies = {"conflict": dice.choice(("fail", "use", "terminate")), "reuse": dice.choice(("allow", "failed"))}
    return verb, policies if verb == "start" else {}


def _binding(dice: random.Random, mark: int) -> tuple[str, Mapping[str, Any]]:
    verb = dice.choice(("schedule", "schedule", "schedule", "look", "cancel"))
    existing = dice.choice(("fail", "upsert", "addAnother"))
    arguments: dict[str, dict[str, Any]] = {
        "schedule": {"mark": mark, "existing": existing},
        "cancel": {"maker": mark - 1},
    }
    return verb, arguments.get(verb, {})


def _jobs(dice: random.Random, mark: int) -> tuple[str, Mapping[str, Any]]:
    return "start", {"mark": mark}


OFFERS: list[tuple[Callable[[], Sequential[Any]], Offer]] = [
    (RunModel, _run),
    (ScheduleModel, _schedule),
    (JourneyModel, _journey),
    (JobsModel, _jobs),
    (WorkflowModel, _workflow),
    (BindingModel, _binding),
]


def made_by(model: Sequential[Any], offer: Offer, dice: random.Random) -> tuple[list[Call], Any]:
    """A history that has an order, since the model went through it in one; and the state it left. Every call was asked
    a little before it took effect and answered a little after, so that calls overlap; some answers are lost, and some
    calls whose answer was lost never happened."""
    state = model.begin()
    calls: list[Call] = []
    at = 10
    for number in range(dice.randint(4, 9)):
        at += 10
        for drifted in model.drift(state, at * SECOND):
            if dice.random() < 0.3:
                state = drifted
                break
        verb, arguments = offer(dice, 100 + number)
        key = f"k{dice.randint(1, 3)}" if dice.random() < 0.3 and verb != "look" else None
        call = Call(
            number, "somebody", verb, "it", Lost(), at - dice.randint(1, 25), at + dice.randint(1, 25), at * SECOND,
            at * SECOND, arguments, key,
        )  # fmt: skip
        if dice.random() < 0.1:
            calls.append(call)  # it never happened
            continue
        right: list[tuple[Any, Answer]] = list(model._answers(state, call, {"id": f"id {number}"}))
        if not right:
            continue
        state, answer = dice.choice(right)
        calls.append(call if dice.random() < 0.15 else replace(call, answer=answer))
    return calls, state


def _with_end(model: Sequential[Any], calls: list[Call], state: Any) -> list[Call]:
    """With a last look at the state, as far as the model knows it."""
    for _ in range(10):
        said: dict[str, Any] = {"id": "the one"}
        if isinstance(model, JobsModel):
            said["runs"] = tuple((mark, id or f"r{n}") for n, (mark, id) in enumerate(state.inner))
        asked = Call(99, "at the end", "end", "it", Taken(said), 900, 901, 900 * SECOND, 901 * SECOND)
        for _, answer in model.outcomes(state.inner, asked, said):
            if isinstance(answer, Taken) and isinstance(model, JobsModel):
                answer = Taken(said)
            return [*calls, replace(asked, answer=answer)]
        drifted = list(model.drift(state, 900 * SECOND))
        if not drifted:
            break
        state = drifted[0]
    return calls


def falsified(calls: list[Call], dice: random.Random) -> Iterator[list[Call]]:
    """The same history with an end that cannot be."""
    *before, end = calls
    if not isinstance(end.answer, Taken):
        return
    for name, value in end.answer.value.items():
        match name:
            case "taken" | "triggers" | "backfills":
                yield [*before, replace(end, answer=Taken({**end.answer.value, name: (*value, 777)}))]
                marks = {call.arguments.get("mark") for call in before if isinstance(call.answer, Taken)}
                for mark in value:
                    if mark in marks and value.count(mark) == 1:
                        fewer = tuple(one for one in value if one != mark)
                        yield [*before, replace(end, answer=Taken({**end.answer.value, name: fewer}))]
            case "repeats":
                repeats = sum(call.verb == "repeat" for call in before)
                yield [*before, replace(end, answer=Taken({**end.answer.value, name: repeats + 1}))]
            case "mark":
                yield [*before, replace(end, answer=Taken({**end.answer.value, name: 777}))]
            case "there" if value:
                yield [*before, replace(end, answer=Taken({**end.answer.value, name: (value[0] + 50, *value[1:])}))]
            case "count":
                yield [*before, replace(end, answer=Taken({**end.answer.value, name: value + 20}))]
            case "all":
                yield [*before, replace(end, answer=Taken({name: (*value, (777, 777))}))]
                yield [*before, replace(end, answer=Taken({name: tuple((maker, 777) for maker, _ in value) or 777}))]
            case "runs":
                yield [*before, replace(end, answer=Taken({name: (*value, (777, "more"))}))]


@pytest.mark.parametrize(("make", "offer"), OFFERS, ids=["run", "schedule", "journey", "jobs", "workflow", "binding"])
def test_what_a_model_made_is_explained_and_what_was_falsified_is_not(
    make: Callable[[], Sequential[Any]], offer: Offer
) -> None:
    caught = 0
    for seed in range(150):
        dice = random.Random(seed)
        model = make()
        calls = _with_end(model, *made_by(model, offer, dice))
        verdict = check(calls, model)
        assert verdict.explained, f"seed {seed}: {verdict}\n{show(calls)}"
        if calls and calls[-1].verb == "end":
            for wrong in falsified(calls, dice):
                assert not check(wrong, model).explained, f"seed {seed}\n{show(wrong)}"
                caught += 1
    assert caught > 100
