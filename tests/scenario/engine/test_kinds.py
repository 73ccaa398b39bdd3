"""Runs of kinds that a node does not know, as during an upgrade, and parents that hear of their children's ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from ostinato import Ostinato, every
from ostinato.engine.kinds import Body, Kinds, RunKind
from ostinato.engine.node import Engine
from ostinato.engine.rows import event_row
from ostinato.engine.runs import After, End, Ended, UnknownKind, deadline_timer, end, start
from ostinato.engine.ways import Part, Runtime, Setting, Way
from ostinato.errors import OstinatoError
from ostinato.model import Run, Status
from ostinato.schedules.model import Schedule, ScheduleAction
from ostinato.schedules.operations.edit import insert_schedules, with_next
from ostinato.store.contract import Operation, Row, sql
from ostinato.testing import World
from ostinato.when.instants import SECOND, Micros

HOLD = "UPDATE ostinato_runs SET status = 'active', node = 'dead', claim = 1, started = 1 WHERE id = 'r1'"


def way_of(name: str, kind: RunKind) -> Way:
    """A way with one kind of run, whose runs rest when they are claimed."""

    class Resting(Part):
        def begin(self, engine: Engine) -> Mapping[str, Body]:
            async def body(run: Run) -> None:
                waits = End(run, Status.WAITING, "its turn", finished=False, event="run:parked")
                now = engine.clock.now()
                await self.host.store.run(lambda _: end([waits], run.node or "", now, engine.kinds))

            return {name: body}

    return Way(name=f"{name}s", runtime=Runtime(part=Resting, kinds={name: kind}))


def learn(world: World, *ways: Way, **settings: Any) -> None:
    """Put an app with these ways in the place of the world's."""
    world.app = Ostinato(world._store, clock=world.clock, ways=ways, **world._settings | settings)


def make(world: World, id: str, kind: str, **options: Any) -> Run:
    now = world.clock.now()
    return Run(id=id, root_id=id, name=id, kind=kind, due=now, created=now, **options)


async def put(world: World, *runs: Run) -> None:
    now = world.clock.now()
    await world.app.store.run(lambda _: start(runs, now))


async def test_a_run_of_an_unknown_kind_is_left_to_nodes_that_know_it(world: World) -> None:
    await world.up()
    await put(world, make(world, "r1", "turn"))
    await world.advance("10s")
    assert (await world.app.get("r1")).status == "ready"
    names = [event.name for event in await world.app.events(subject="r1")]
    assert names == ["run:created"], "it was neither claimed nor parked"
    with pytest.raises(UnknownKind, match="run r1 is a turn, which this process does not know"):
        await world.app.cancel("r1", "not wanted")
    assert (await world.app.get("r1")).status == "ready"


async def test_a_run_of_an_unknown_kind_is_not_recovered_as_a_job(
    world: World, add_statement: Callable[[str, str], None]
) -> None:
    """Its node is gone. It stays under that node until one comes that knows the kind."""

    @world.app.job()
    async def quick() -> None: ...

    world.app.configure(lease="1m")
    await world.up()
    await world.start("quick", id="known")
    await world.settle()
    await put(world, make(world, "r1", "turn"))

    def lose(_: int) -> Operation[None]:
        yield sql("add_node", id="dead", name="dead", now=0, lease_until=1, lease=SECOND, queues="[]", handlers="[]",
                  version="", zone_rules="", kinds='["job", "turn"]')  # fmt: skip
        yield sql("hold_by_dead")

    add_statement("hold_by_dead", HOLD)
    await world.app.store.run(lose)
    await world.advance("10m")
    (run,) = [run for run in await world.app.runs(attempts=True, limit=100) if run.name == "r1"]
    assert (run.id, run.status, run.attempt) == ("r1", "active", 1)
    assert "dead" in {node.id for node in await world.app.nodes()}
    findings = await world.app.check(repair=True)
    assert [(finding.rule, finding.repaired) for finding in findings] == [("active_under_no_node", False)]
    await world.down()
    learn(world, way_of("turn", RunKind(_stop, _recover, _forget, _scan)), lease="1m")
    await world.advance("3m")
    names = [event.name for event in await world.app.events(subject="r1")]
    assert names[-3:] == ["run:resumed", "run:started", "run:parked"], "it goes on under its own id"
    assert "dead" not in {node.id for node in await world.app.nodes()}


async def test_a_run_may_have_the_name_of_a_job_that_only_other_nodes_know(world: World) -> None:
    """The job is left to them. A run of another kind is claimed: whether a node can execute it, its kind alone says."""
    learn(world, way_of("turn", RunKind(_stop, _recover, _forget, _scan)), lease="1m")
    await world.up()
    until = world.clock.now() + 3600 * SECOND

    def join(_: int) -> Operation[None]:
        yield sql("add_node", id="other", name="other", now=0, lease_until=until, lease=SECOND, queues='["default"]',
                  handlers='["report"]', version="", zone_rules="", kinds='["job"]')  # fmt: skip

    await world.app.store.run(join)
    await world.advance("1m")  # until this node has read the other's jobs
    await put(
        world, replace(make(world, "r1", "turn"), name="report"), replace(make(world, "r2", "job"), name="report")
    )
    world.app.engine.nudge()
    await world.advance("10s")
    assert (await world.app.get("r1")).status == "waiting", "it was claimed, and rests"
    assert (await world.app.get("r2")).status == "ready"


async def test_a_deadline_of_an_unknown_kind_is_left_to_others(world: World) -> None:
    await world.up()
    now = world.clock.now()
    run = make(world, "r1", "turn", options='{"deadline": 1}')
    await world.app.store.run(lambda _: start([run], now, [deadline_timer(run, now + SECOND)]))
    world.app.engine.nudge()
    await world.advance("1m")
    assert (await world.app.get("r1")).status == "ready"
    (timer,) = [timer for timer in await world.app.upcoming() if timer.owner == "r1"]
    assert timer.due > world.clock.now()


async def test_a_schedule_of_an_unknown_kind_keeps_its_times_for_others(world: World) -> None:
    await world.up()
    now = world.clock.now()
    action = ScheduleAction("turn", {"turn": "hello"}, kind="turn")
    schedule = Schedule("s1", "greet", every("1m"), action=action, created=now, reached=now, updated=now)
    await world.app.store.run(lambda _: insert_schedules([with_next(schedule)], now, None))
    world.app.engine.nudge()
    await world.advance("10m")
    assert await world.occurrences("greet") == []
    assert (await world.app.schedules.get("greet")).state == "running"


# A parent


def _stop(run: Run, status: Status, reason: str | None, now: Micros, kinds: Kinds) -> Operation[Any]:
    yield sql("end_anywhere", [(run.id, status.value, reason, None)], now=now)
    return status, [event_row(now, run, f"run:{status.value}")], [Ended(run, status, reason)]


def _recover(runs: Sequence[Run], node: str, now: Micros, kinds: Kinds) -> Operation[None]:
    yield from end([End(run, Status.READY, finished=False, event="run:resumed") for run in runs], node, now, kinds)


def _forget(ids: Sequence[str]) -> Operation[None]:
    yield from ()


def _scan(now: Micros, repair: bool, kinds: Kinds) -> Operation[list[Any]]:
    yield from ()
    return []


async def test_a_parent_hears_of_a_childs_end_in_the_transaction_that_ends_it(world: World) -> None:
    heard: dict[str, tuple[str, str, str | None, str]] = {}  # by the child: a transaction may be tried again

    def child_ended(parents: Sequence[Run], children: Sequence[Ended], now: Micros, kinds: Kinds) -> Operation[After]:
        names = {parent.id: parent.name for parent in parents}
        for child in children:
            run = child.run
            heard[run.root_id] = names[run.parent_id or ""], run.name, child.result, child.status.value
        events: list[Row] = [event_row(now, parent, "run:waiting", children=len(children)) for parent in parents]
        yield from ()
        return After(events, True)

    learn(world, way_of("campaign", RunKind(_stop, _recover, _forget, _scan, child_ended)))

    @world.app.job(retry={"attempts": 2, "delay": 1})
    async def send(fails: bool = False) -> str:
        if fails:
            raise ValueError("no")
        return "sent"

    await world.up()
    await put(world, make(world, "parent", "campaign"))
    now = world.clock.now()
    good, bad, other = [await world.start("send", {"fails": fails}, id=id) for id, fails in CHILDREN]
    assert not heard, "what has no parent is nobody's child"

    def adopt(id: str, fails: str) -> Run:
        run = make(world, id, "job", parent_id="parent", input=f'{{"fails": {fails}}}')
        run.name = "send"
        return run

    await world.app.store.run(lambda _: start([adopt("c1", "false"), adopt("c2", "true"), adopt("c3", "false")], now))
    await world.advance("10s")
    assert heard == {
        "c1": ("parent", "send", '"sent"', "succeeded"),
        "c2": ("parent", "send", None, "failed"),
        "c3": ("parent", "send", '"sent"', "succeeded"),
    }, "a chain is over once, after its last attempt"
    waits = [event.data for event in await world.app.events(subject="parent") if event.name == "run:waiting"]
    assert sum(data["children"] for data in waits) == 3
    await put(world, Run(id="c4", root_id="c4", name="send", parent_id="parent", due=FAR, created=now))
    await world.app.cancel("c4")
    assert heard["c4"] == ("parent", "send", None, "cancelled")
    assert [await run.result() for run in (good, other)] == ["sent", "sent"]
    assert (await bad.info()).status == "failed"


CHILDREN = (("a", False), ("b", True), ("c", False))
FAR: Micros = 4_000_000_000 * SECOND


def test_two_ways_cannot_have_one_name_or_one_kind() -> None:
    kind = RunKind(_stop, _recover, _forget, _scan)
    with pytest.raises(OstinatoError, match="two ways have a kind of run called 'turn'; rename that of 'others'"):
        Ostinato(ways=[way_of("turn", kind), replace(way_of("turn", kind), name="others")])
    with pytest.raises(OstinatoError, match="two ways have a way called 'turns'"):
        Ostinato(ways=[way_of("turn", kind), way_of("turn", kind)])
    with pytest.raises(OstinatoError, match="a kind of run cannot be called 'job'"):
        Ostinato(ways=[way_of("job", kind)])
    with pytest.raises(OstinatoError, match="the setting 'queues' is the app's own; rename it"):
        Ostinato(ways=[replace(way_of("turn", kind), settings=(Setting("queues"),))])
    with pytest.raises(OstinatoError, match="a way cannot have events of run, which are Ostinato's own"):
        Ostinato(ways=[replace(way_of("turn", kind), events={"run": "made"})])
    with pytest.raises(OstinatoError, match="a way cannot be called 'start'"):
        Ostinato(ways=[replace(way_of("turn", kind), name="start")])


async def test_two_apps_of_a_process_do_not_see_each_others_kinds(world: World) -> None:
    other = Ostinato(world._store, clock=world.clock, ways=[way_of("turn", RunKind(_stop, _recover, _forget, _scan))])
    await world.up()
    await put(world, make(world, "r1", "turn"))
    async with other.connected():
        assert other.engine.kinds.knows("turn")
        assert not world.app.engine.kinds.knows("turn")
        with pytest.raises(UnknownKind):
            await world.app.cancel("r1")
        assert await other.cancel("r1") == "cancelled"
