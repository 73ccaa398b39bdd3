"""Actions of schedules: one grammar for Python, HTTP, the command line and files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ostinato import Ostinato, OstinatoError, parse_schedules
from ostinato.documents import read_document
from ostinato.flows import FlowContext
from ostinato.schedules.declared.plan import definition
from ostinato.testing import World
from tests.support.agents import make_buddy
from tests.support.journey_parts import AGAIN, text

GREET = text("a: {type: succeed}", name="greet")
ACTIONS: dict[str, dict[str, Any]] = {
    "job": {"job": "report", "input": {"kind": "long"}, "timeout": "5m", "retry": {"attempts": 3}},
    "job with keys": {
        "job": "report",
        "input": {"kind": "long"},
        "serial_key": "report-{kind}",
        "concurrency": {"key": "all-{kind}", "most": 2},
    },
    "http": {"http": {"url": "https://example.org/ping"}, "priority": 3},
    "journey": {"journey": "greet", "version": "0.1.0", "start": "a", "input": {"who": "ada"}, "deadline": "1h"},
    "function": {"function": "onboard", "input": {"user": "ada"}, "deadline": "1h", "serial_key": "user-{user}"},
}


def test_actions_of_every_kind_are_tested() -> None:
    assert {next(iter(action)) for action in ACTIONS.values()} == {"job", "http", *Ostinato().action_kinds}


@pytest.mark.parametrize("kind", ACTIONS)
async def test_what_is_exported_can_be_applied_and_is_the_same(world: World, kind: str) -> None:
    world.app.job(name="report")(_report)
    await world.up()
    await world.app.journeys.deploy(GREET)
    await world.app.schedules.create("daily", "0 9 * * *", ACTIONS[kind])
    (before,) = [one async for one in world.app.schedules._matching("*", None, None, None)]
    exported = await world.app.schedules.export()
    await world.app.schedules.delete("daily")
    plan = await world.app.schedules.apply(parse_schedules(exported))
    assert [step.verb for step in plan.steps] == ["create"]
    (after,) = [one async for one in world.app.schedules._matching("*", None, None, None)]
    assert definition(after) == definition(before)
    again = await world.app.schedules.apply(parse_schedules(exported))
    assert [step.verb for step in again.steps] == ["unchanged"]


MORNING = {
    "flow": "remind",
    "trigger": {"type": "cron", "expr": "0 9 * * *"},
    "target": {"kind": "user", "user_external_id": "ada"},
}


@pytest.mark.parametrize("form", ["yaml", "json"])
async def test_an_export_leaves_out_what_a_file_cannot_declare(world: World, form: str) -> None:
    agent, _ = make_buddy(world, schedules={"morning": MORNING})

    @agent.flow
    async def remind(ctx: FlowContext) -> None: ...

    await world.up()
    await world.app.journeys.deploy(AGAIN)
    await world.app.journeys.start("again")
    await world.settle()
    (binding,) = await world.app.journeys.bindings()
    await world.app.schedules.create("daily", "0 9 * * *", "report")
    before = {one.name: one.token for one in await world.app.schedules.list()}
    assert set(before) == {"agent/buddy/cfg:morning", binding.schedule, "daily"}
    exported = await world.app.schedules.export(form=form)
    assert read_document(exported, f"s.{form}").value["x-left-out"] == {
        "agent/buddy/cfg:morning": "a file cannot declare it; use app.agents.schedules(…).update, or the code that "
        "declares it",
        binding.schedule: "a file cannot declare it; only a journey can make it",
    }
    plan = await world.app.schedules.apply(parse_schedules(exported, f"s.{form}"), prune=True)
    assert {step.name: step.verb for step in plan.steps} == {"daily": "update"}  # it takes it over, and that is all
    assert await world.app.schedules.export(form=form) == exported
    assert {one.name for one in await world.app.schedules.list()} == set(before)
    await world.app.create_namespace("other")
    other = world.app.within("other")
    await other.schedules.apply(parse_schedules(exported, f"s.{form}"))
    assert [one.name for one in await other.schedules.list()] == ["daily"]


async def _report(kind: str) -> None: ...


UNFIT = """
schedules:
  a: {spec: "0 3 * * *", action: {journey: greet, start: nowhere}}
  b: {spec: "0 3 * * *", action: {journey: gret}}
  c: {spec: "0 3 * * *", action: {journey: greet}}
"""


async def test_a_file_whose_journeys_cannot_start_now_is_noted_and_a_trigger_says_so(world: World) -> None:
    await world.up()
    await world.app.journeys.deploy(GREET)
    plan = await world.app.schedules.plan(parse_schedules(UNFIT))
    done = await world.app.schedules.apply(parse_schedules(UNFIT))
    assert done.steps[0].words == "At 03:00, UTC → journey greet"
    assert done.notes == plan.notes
    assert [note.partition(";")[0] for note in done.notes] == [
        "a: it cannot start now: journey 'greet' has no state 'nowhere' to start at",
        "b: it cannot start now: there is no journey 'gret' in namespace 'default'",
    ]
    asked = await world.app.schedules.trigger("a")
    assert asked.run is not None
    assert asked.run["status"] == "waiting"
    assert asked.run["reason"].startswith("cannot start: journey 'greet' has no state 'nowhere'")
    explanation = await world.app.schedules.explain("c", "2026-01-02T03:00:00Z")
    assert "It will start journey 'greet'" in " ".join(explanation.sentences)


def test_a_file_names_all_mistakes_of_a_journeys_action() -> None:
    wrong = """
schedules:
  a:
    spec: "0 9 * * *"
    action: {journey: greet, verson: 1.0.0}
  b:
    spec: "0 9 * * *"
    action: {journey: 5}
  c:
    spec: "0 9 * * *"
    action: {journey: greet, job: report}
  d:
    spec: "0 9 * * *"
    action: {journey: greet, retry: 3}
"""
    with pytest.raises(OstinatoError) as raised:
        parse_schedules(wrong)
    words = str(raised.value)
    assert "schedule 'a': an action has no 'verson'; did you mean 'version'?" in words
    assert "schedule 'b': journey 5 is not a journey's name; put it in quotes" in words
    assert "schedule 'c': the action names 'job' and 'journey'; leave one out" in words
    assert "schedule 'd': an action that is a journey has no 'retry'; it may have queue, priority" in words


def test_a_job_cannot_have_the_name_of_a_kind_of_action(tmp_path: Path) -> None:
    app = Ostinato(f"sqlite:///{tmp_path}/store.db")
    with pytest.raises(OstinatoError, match="a job cannot be called 'journey', which is a kind of action"):
        app.job(name="journey")(_report)
