"""Rules beyond the shape: a good and a bad example each."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pytest

from ostinato.journeys.checks import RULES, check
from ostinato.journeys.checks.graph import reached_from
from ostinato.journeys.checks.loops import find_cycles
from ostinato.journeys.documents import read_document
from ostinato.journeys.language import Definition, read
from ostinato.journeys.problems import JourneyProblem
from ostinato.journeys.task_kind import Fault, Plugins, TaskCall, TaskKind, TaskResult
from ostinato.model import Json
from tests.support.journey_documents import journey, text


@dataclass
class Note:
    """A task kind that wants a text."""

    name: str = "note"
    major: int = 1

    def check(self, settings: Mapping[str, Json], definition: Definition) -> Iterable[Fault]:
        if not isinstance(settings.get("text"), str):
            yield Fault("note-text", ("text",), "'text' is not a text")

    async def run(self, call: TaskCall) -> TaskResult:
        return TaskResult(call.context)


KIND: TaskKind = Note()


def problems_in(states: str, start: str = "a") -> list[JourneyProblem]:
    document = read_document(text(states, start=start))
    definition, problems = read(document)
    assert definition is not None, problems
    return check(definition, document.positions, Plugins([KIND]))


GOOD = "a: {type: task, task: {kind: note:v1, text: x}, next: b}\nb: {type: succeed}"
BRANCH = """
a:
  type: parallel
  parallel:
    branches: [{name: one, start: x, states: {
      x: {type: task, task: {kind: note:v1, text: x}, next: NEXT}, y: {type: succeed}}}]
    join: {strategy: allOf}
  next: b
b: {type: succeed}
"""


@pytest.mark.parametrize(
    ("states", "start", "code", "place", "words"),
    [
        (GOOD, "aa", "graph-start", (7, 10), "Did you mean 'a'?"),
        (GOOD.replace("next: b", "next: c"), "a", "graph-target", (10, 59), "next → 'c' is not a state here"),
        (BRANCH.replace("NEXT", "b"), "a", "graph-target", (14, 65), "another graph"),
        (GOOD + "\nc: {type: succeed}", "a", "graph-unreachable", (12, 5), "no state leads here"),
        (GOOD.replace("note:v1", "note:v2"), "a", "task-unknown", (10, 34), "There is note:v1"),
        (GOOD.replace("text: x", "text: 5"), "a", "note-text", (10, 49), "not a text"),
    ],
)
def test_each_rule_names_the_place_and_what_would_be_right(
    states: str, start: str, code: str, place: tuple[int, int], words: str
) -> None:
    problem = next(one for one in problems_in(states, start) if one.code == code)
    assert (problem.line, problem.column) == place
    assert words in str(problem)


def test_what_is_right_has_no_problems() -> None:
    assert problems_in(GOOD) == []
    assert problems_in(BRANCH.replace("NEXT", "y")) == []


def test_codes_are_unique() -> None:
    assert len({one.code for one in RULES}) == len(RULES)


def test_circles_are_the_states_that_lead_to_one_another() -> None:
    dice = random.Random(7)
    for _ in range(60):
        ids = [f"s{n}" for n in range(dice.randint(1, 8))]
        ways = {id: [dice.choice(ids) for _ in range(dice.randint(0, 2))] for id in ids}
        case = "{{when: {{predicate: {{lang: x, expr: y}}}}, next: {}}}"
        choices = {id: ", ".join(map(case.format, to)) for id, to in ways.items()}
        types = {id: f"choice, choices: [{some}]" if some else "succeed" for id, some in choices.items()}
        graph = journey("\n".join(f"{id}: {{type: {type}}}" for id, type in types.items()), start="s0").spec
        reached = {id: reached_from(graph, *to) for id, to in ways.items()}
        round = [id for id in ids if id in reached[id]]
        together = {tuple(one for one in ids if one in reached[id] and id in reached[one]) for id in round}
        assert sorted(map(tuple, find_cycles(graph))) == sorted(together)
