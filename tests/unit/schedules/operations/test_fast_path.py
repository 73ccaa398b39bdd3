"""The short way of firing writes what the long way would."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ostinato import cron, every
from ostinato.engine.claims import DirectClaim
from ostinato.engine.jobs import Declaration
from ostinato.engine.rows import insert_row
from ostinato.model import Run, Timer
from ostinato.schedules.actions import Maker
from ostinato.schedules.decisions.due_times import upcoming
from ostinato.schedules.model import (
    GRACE,
    CatchUp,
    Memory,
    Outcomes,
    Overlap,
    Policies,
    Reason,
    Schedule,
    ScheduleAction,
    State,
    Stretch,
)
from ostinato.schedules.operations.fast_path import plain_firing
from ostinato.schedules.operations.fire import fire_due
from ostinato.schedules.rows import insert_schedule_row
from ostinato.store.columns import SCHEDULE_COLUMNS
from ostinato.store.contract import Row
from ostinato.ways import action_kinds, all_ways, companions
from ostinato.when import rules_in_force
from ostinato.when.instants import SECOND, Micros, read_instant

NOW = read_instant("2025-03-31T12:00:00Z", "now")
DAY = 86_400 * SECOND
RULES = rules_in_force().version
JOB = Declaration("job", queue="mail", priority=3)
ACTIONS = [
    ScheduleAction("job", {"to": "é"}),
    ScheduleAction("job", {}, {"timeout": "5s", "priority": 7}),
    ScheduleAction("job", {}, {"deadline": "1h"}),
    ScheduleAction("journey", {"journey": "invoice", "context": {"n": 1}}, kind="journey"),
    ScheduleAction("journey", {"journy": "invoice"}, kind="journey"),
]


def brief(schedule: Schedule) -> Row:
    """What `due_schedules` says of it."""
    row = dict(zip(SCHEDULE_COLUMNS, insert_schedule_row(schedule), strict=True))
    fit = (
        schedule.state is State.RUNNING
        and schedule.paused is None
        and schedule.remaining is None
        and schedule.zone_rules == RULES
    )
    fit = fit and schedule.companion is None
    others = "namespace name spec action policies seed reached updated memory outcome actor"
    return (schedule.id, fit, *(row[name] for name in others.split()))


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


def rows_of(schedule: Schedule, now: Micros, long: bool) -> dict[str, list[Row]]:
    """The rows that a firing of this schedule writes, by statement. One that has a companion goes the long way."""
    ids = count()
    schedule = replace(schedule, companion="temporal" if long else None)
    maker = Maker(lambda name: JOB if name == "job" else None, action_kinds(all_ways()), companions=companions())
    full = DirectClaim("", 0, 0, (), ())
    firing = fire_due([Timer("schedule", schedule.id, "next", now)], now, maker, lambda _: f"run {next(ids)}", full)
    by_statement: dict[str, list[Row]] = {}
    answer: list[Row] | None = None
    try:
        while True:
            statement = next(firing) if answer is None else firing.send(answer)
            answer = []
            match statement.name:
                case "due_schedules":
                    answer = [brief(schedule)]
                case "schedules_by_ids":
                    answer = [insert_schedule_row(schedule)]
                case "live_of_schedules":
                    pass
                case "name_temporal_executions" if long:
                    pass
                case "insert_ready":  # what insert_runs writes, with fewer columns
                    rows = [insert_row(begun(row, at=statement.params["now"])) for row in statement.rows or ()]
                    by_statement.setdefault("insert_runs", []).extend(rows)
                case "pass_schedules":
                    rows = [
                        (id, schedule.remaining, reached, following, schedule.token, memory, schedule.zone_rules)
                        for id, reached, following, memory in statement.rows or ()
                    ]
                    by_statement.setdefault("advance_schedules", []).extend(rows)
                case name:
                    by_statement.setdefault(name, []).extend(statement.rows or ())
    except StopIteration as done:
        by_statement["events"] = done.value
    return by_statement


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
    action: ScheduleAction,
    limits: tuple[int | None, int | None],
    state: State,
    rules: str,
) -> None:
    schedule = Schedule(
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
    assert rows_of(schedule, at, long=False) == rows_of(schedule, at, long=True)


@pytest.mark.parametrize("options", [{"serial_key": "one"}, {"concurrency": 2}, {"deadline": "1h"}])
def test_what_stands_in_line_or_has_a_deadline_goes_the_long_way(options: dict[str, Any]) -> None:
    schedule = Schedule(
        "id",
        "name",
        every("60s"),
        action=ScheduleAction("job", {}, options),
        reached=NOW - 1,
        updated=NOW - DAY,
        zone_rules=RULES,
    )
    assert plain_firing(brief(schedule), NOW, Maker(lambda _: JOB), lambda _: "new") is None


def test_one_whose_policies_cannot_be_read_goes_the_long_way() -> None:
    schedule = Schedule("id", "name", every("60s"), action=ACTIONS[0], reached=NOW - 1, updated=0, zone_rules=RULES)
    row = list(brief(schedule))
    assert plain_firing(row, NOW, Maker(lambda _: JOB), lambda _: "new") is not None
    row[6] = '{"overlap": "sometimes"}'
    assert plain_firing(row, NOW, Maker(lambda _: JOB), lambda _: "new") is None


@pytest.mark.parametrize("spec", [every("60s"), cron("*/5 * * * *"), every("60s", jitter="50s")])
@pytest.mark.parametrize("action", [ACTIONS[0], ACTIONS[1]])
def test_the_short_way_is_taken(spec: Any, action: ScheduleAction) -> None:
    schedule = Schedule("id", "name", spec, action=action, reached=NOW - 1, updated=NOW - DAY, zone_rules=RULES)
    due = upcoming(schedule, NOW - 1, 1)[0].actual
    assert plain_firing(brief(schedule), due, Maker(lambda _: JOB), lambda _: "new") is not None
