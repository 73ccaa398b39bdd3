"""Every rule of the language has an example that keeps it and one that breaks it; see `cases`."""

from __future__ import annotations

import pytest

from ostinato.journeys.checks import RULES
from ostinato.journeys.problems import only_errors
from tests.unit.journeys.checks.cases import CASES, WARNINGS, Case, branch, call, doc, parallel
from tests.unit.journeys.checks.checking import problems_in


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rule}-{case.code}")
def test_a_rule_finds_what_breaks_it_and_nothing_else(case: Case) -> None:
    good = problems_in(case.good)
    assert only_errors(good) == [], [str(one) for one in good]
    assert case.code not in {one.code for one in good}
    bad = [one for one in problems_in(case.bad) if one.code == case.code]
    assert bad, [f"{one.code}: {one}" for one in problems_in(case.bad)]
    warned = case.code in WARNINGS or (case.code == "schema-invalid" and "output:" in case.bad)
    assert {one.severity for one in bad} == {"warning" if warned else "error"}
    assert all(one.line >= 1 and one.column >= 1 and one.message for one in bad)


def test_every_rule_of_the_language_is_in_the_table() -> None:
    assert {case.rule for case in CASES} == set(range(1, 97))
    named = {case.code for case in CASES}
    assert {rule.code for rule in RULES} - named == {"task-settings"}


def test_all_mistakes_are_told_at_once_in_the_order_of_their_lines() -> None:
    states = """
    a: {type: timer, timer: {duration: 5m}, next: c}
    b: {type: transform, transform: {mapper: {lang: cel, expr: x}, target: {kind: var}}, next: a}
    """
    said = problems_in(doc(states, spec="access: {read: {guardRef: nobody}}"))
    assert [one.code for one in said] == [
        "access-guard",
        "timer-first",
        "timer-literal",
        "graph-target",
        "graph-unreachable",
        "transform-result",
        "expression-language",
    ]
    assert [one.line for one in said] == sorted(one.line for one in said)
    assert str(said[2]) == ("10:40  state 'a': '5m' is not an ISO 8601 duration. Write something like PT5M or P3D")


def test_a_time_that_can_be_read_and_is_beyond_all_is_called_so() -> None:
    states = """
    a: {type: timer, timer: {duration: P9999Y}, next: c}
    c: {type: timer, timer: {until: '9999-12-31T23:59:59-12:00'}, next: b}
    b: {type: succeed}
    """
    said = [one.message for one in problems_in(doc(states)) if one.code == "timer-literal"]
    assert said == [
        "'P9999Y' is longer than 10,000 years, a month counted as 31 days",
        "'9999-12-31T23:59:59-12:00' is not within the years 1 to 9999 in UTC",
    ]


WAITING = "type: wait, wait: {channel: manual, input: {schema: {}}}"


@pytest.mark.parametrize(
    ("states", "spec", "offending"),
    [
        (
            f"w: {{{WAITING}, next: b}}\nc: {{type: choice, choices: [{{when: {{predicate: {{lang: jq, expr: .}}}}, "
            "next: w}], default: b}",
            "",
            "w",
        ),
        (
            "c: {type: parallel, parallel: {branches: [{name: x, start: y, states: {y: {type: parallel, parallel: "
            f"{{branches: [{{name: z, start: deep, states: {{deep: {{{WAITING}, next: e}}, e: {{type: succeed}}}}}}], "
            "join: {strategy: allOf}}, next: e}, e: {type: succeed}}}], join: {strategy: anyOf}}, next: b}",
            "",
            "deep",
        ),
        (
            "c: {type: subjourney, subjourney: {ref: one}, next: b}",
            "subjourneys: {one: {start: p, states: {p: {type: subjourney, subjourney: {ref: two}, next: q}, "
            f"q: {{type: succeed}}}}}}, two: {{start: hook, states: {{hook: {{{WAITING}, next: q}}, "
            "q: {type: succeed}}}}",
            "hook",
        ),
    ],
    ids=["choice", "branches", "subjourneys"],
)
def test_what_waits_is_found_on_scheduled_paths_however_deep(states: str, spec: str, offending: str) -> None:
    schedule = "a: {type: task, task: {kind: schedule:v1, start: c, interval: P1D, maxRuns: 2}, next: b}"
    said = [
        problem
        for problem in problems_in(doc(f"{schedule}\n{states}\nb: {{type: succeed}}", spec))
        if problem.code == "schedule-interactive"
    ]
    assert len(said) == 1
    assert f"reaches {offending}," in said[0].message


def test_a_subjourney_in_two_branches_has_its_steps_twice() -> None:
    entering = "x: {type: subjourney, subjourney: {ref: price}, next: e}, e: {type: succeed}"
    sub = f"subjourneys: {{price: {{start: w, states: {{w: {{{WAITING}, next: e}}, e: {{type: succeed}}}}}}}}"
    text = parallel(branch("one", entering), branch("two", entering)).replace("  states:\n", f"  {sub}\n  states:\n", 1)
    assert "step-twice" in {one.code for one in problems_in(text)}
    assert problems_in(call("ref: price")) == []
