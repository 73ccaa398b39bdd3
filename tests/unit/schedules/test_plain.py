"""The short way of firing writes what the long way would."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ostinato import cron, every
from ostinato.engine.claims import Hands
from ostinato.engine.handlers import Declaration
from ostinato.engine.rows import insert_row
from ostinato.model import Run, Timer
from ostinato.schedules.firing import fire_due
from ostinato.schedules.generator import upcoming
from ostinato.schedules.making import Maker
from ostinato.schedules.model import (
    GRACE,
    Action,
    CatchUp,
    Memory,
    Outcomes,
    Overlap,
    Policies,
    Reason,
    Schedule,
    State,
    Stretch,
)
from ostinato.schedules.plain import plain_firing
from ostinato.schedules.rows import insert_schedule_row
from ostinato.store.contract import Row
from ostinato.when import rules_in_force
from ostinato.when.instants import SECOND, Micros, read_instant

NOW = read_instant("2025-03-31T12:00:00Z", "now")
DAY = 86_400 * SECOND
RULES = rules_in_force().version
JOB = Declaration("job", queue="mail", priority=3)
ACTIONS = [
    Action("job", {"to": "é"}),
    Action("job", {}, {"timeout": "5s", "priority": 7}),
    Action("job", {}, {"deadline": "1h"}),
    Action("journey", {"journey": "invoice", "context": {"n": 1}}),
    Action("journey", {"journy": "invoice"}),
]


def brief(one: Schedule) -> Row:
    """What `due_schedules` says of it."""
    row = insert_schedule_row(one)
    fit = one.state is State.RUNNING and one.paused is None and one.remaining is None and one.zone_rules == RULES
    return (row[0], fit, *row[1:7], row[12], row[14], *row[16:18], row[25])


def begun(row: Row, at: Micros) -> Run:
    id, namespace, kind, name, key, queue, priority, due, options, input, actor, schedule_id, detail = row
    return Run(
        id,
        name,
        kind,
        namespace,
        key,
        queue=queue,
        priority=priority,
        due=due,
        ready_at=at,
        created=at,
        root_id=id,
        options=options,
        input=input,
        actor=actor,
        schedule_id=schedule_id,
        detail=detail,
    )


def written(one: Schedule, now: Micros, long: bool) -> dict[str, list[Row]]:
    """The rows that a firing of this schedule writes, by statement. Runs with names on the wire go the long way."""
    ids = count()
    maker = Maker(lambda name: JOB if name == "job" else None)
    full = Hands("", 0, 0, (), ())
    firing = fire_due([Timer("schedule", one.id, "next", now)], now, maker, lambda _: f"run {next(ids)}", full)
    found: dict[str, list[Row]] = {}
    answer: list[Row] | None = None
    try:
        while True:
            statement = next(firing) if answer is None else firing.send(answer)
            answer = []
            match statement.name:
                case "due_schedules":
                    answer = [brief(one)]
                case "schedules_by_ids":
                    answer = [insert_schedule_row(one)]
                case "any_form":
                    answer = [(1,)] if long else []
                case "live_of_schedules" | "name_workflows":
                    pass
                case "insert_ready":  # what insert_runs writes, with fewer columns
                    rows = [insert_row(begun(row, at=statement.params["now"])) for row in statement.rows or ()]
                    found.setdefault("insert_runs", []).extend(rows)
                case "pass_schedules":
                    rows = [
                        (id, one.remaining, reached, following, one.token, memory, one.zone_rules)
                        for id, reached, following, memory in statement.rows or ()
                    ]
                    found.setdefault("advance_schedules", []).extend(rows)
                case name:
                    found.setdefault(name, []).extend(statement.rows or ())
    except StopIteration as done:
        found["events"] = done.value
    return found


@settings(max_examples=400, deadline=None)
@given(
    spec=st.sampled_from(
        [
            every("60s"),
            every("60s", jitter="50s"),
            every("7s", jitter="20s"),
            cron("*/5 * * * *"),
            every("24h", phase="5h"),
        ]
    ),
    overlap=st.sampled_from(Overlap),
    catchup=st.sampled_from([CatchUp("latest"), CatchUp("skip"), CatchUp("all"), CatchUp("all", window=GRACE)]),
    reached=st.integers(-200, 10),
    updated=st.integers(-200, 10),
    now=st.integers(0, 400_000),
    memory=st.sampled_from(
        [
            Memory(),
            Memory({"actions": 3, "overlap": 1}, previous=NOW - 60 * SECOND, backfills=1),
            Memory({"paused": 2}, stretch=Stretch(Reason.PAUSED, 2, None, NOW - 90 * SECOND, 2)),
            Memory(coalesced=2),
            Memory(left_out=frozenset({NOW})),
        ]
    ),
    outcomes=st.sampled_from([Outcomes(), Outcomes({"sum": 2}, {"reason": "no"}, 1, NOW, NOW)]),
    action=st.sampled_from(ACTIONS),
    limits=st.sampled_from([(None, None), (None, None), (5, None), (1, None), (None, NOW)]),
    state=st.sampled_from([State.RUNNING, State.RUNNING, State.PARKED]),
    rules=st.sampled_from([RULES, RULES, RULES, "2000a"]),
)
def test_the_short_way_writes_what_the_long_one_does(
    spec: Any,
    overlap: Overlap,
    catchup: CatchUp,
    reached: int,
    updated: int,
    now: int,
    memory: Memory,
    outcomes: Outcomes,
    action: Action,
    limits: tuple[int | None, int | None],
    state: State,
    rules: str,
) -> None:
    one = Schedule(
        "id",
        'a "name"',
        spec,
        Policies(overlap, catchup),
        action,
        state=state,
        remaining=limits[0],
        paused=limits[1],
        reached=NOW + reached * SECOND,
        updated=NOW + updated * SECOND,
        memory=memory,
        outcomes=outcomes,
        zone_rules=rules,
        actor="somebody",
    )
    at = NOW + now * SECOND // 1000
    assert written(one, at, long=False) == written(one, at, long=True)


@pytest.mark.parametrize("options", [{"serial_key": "one"}, {"concurrency": 2}, {"deadline": "1h"}])
def test_what_stands_in_line_or_has_a_deadline_goes_the_long_way(options: dict[str, Any]) -> None:
    one = Schedule(
        "id",
        "name",
        every("60s"),
        action=Action("job", {}, options),
        reached=NOW - 1,
        updated=NOW - DAY,
        zone_rules=RULES,
    )
    assert plain_firing(brief(one), NOW, Maker(lambda _: JOB), lambda _: "new") is None


def test_one_whose_policies_cannot_be_read_goes_the_long_way() -> None:
    one = Schedule("id", "name", every("60s"), action=ACTIONS[0], reached=NOW - 1, updated=0, zone_rules=RULES)
    row = list(brief(one))
    assert plain_firing(row, NOW, Maker(lambda _: JOB), lambda _: "new") is not None
    row[6] = '{"overlap": "sometimes"}'
    assert plain_firing(row, NOW, Maker(lambda _: JOB), lambda _: "new") is None


@pytest.mark.parametrize("spec", [every("60s"), cron("*/5 * * * *"), every("60s", jitter="50s")])
@pytest.mark.parametrize("action", [ACTIONS[0], ACTIONS[1]])
def test_the_short_way_is_taken(spec: Any, action: Action) -> None:
    one = Schedule("id", "name", spec, action=action, reached=NOW - 1, updated=NOW - DAY, zone_rules=RULES)
    due = upcoming(one, NOW - 1, 1)[0].actual
    assert plain_firing(brief(one), due, Maker(lambda _: JOB), lambda _: "new") is not None
