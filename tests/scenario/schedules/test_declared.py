"""Schedules declared in code and in files: the store is made to say the same, however often and from however many
places at once, and what has happened stays."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from ostinato import (
    DeclaredElsewhere,
    FileError,
    NotFound,
    Ostinato,
    OstinatoError,
    cron,
    every,
    once,
    parse_schedules,
)
from ostinato.schedules.rows import insert_schedule_row
from ostinato.store.columns import SCHEDULE_COLUMNS
from ostinato.store.contract import sql
from ostinato.testing import World

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def minutes(*numbers: float) -> list[datetime]:
    return [BEGIN + timedelta(minutes=n) for n in numbers]


async def restart(world: World, declare: Any = None, **settings: Any) -> Ostinato:
    """The node goes, and one with other code comes in its place."""
    await world.down()
    world.app = Ostinato(world._store, clock=world.clock, **{**world._settings, **settings})
    if declare is not None:
        declare(world.app)
    await world.up()
    return world.app


class CapturingLog:
    """A log that keeps its lines."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def __getattr__(self, level: str) -> Any:
        return lambda *args, **values: self.calls.append(SimpleNamespace(method_name=level, args=args, kwargs=values))


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Collect the lines that the log gets about declarations."""
    logger = CapturingLog()
    monkeypatch.setattr("ostinato.schedules.declared.decorators.log", logger)
    return logger.calls


async def events(world: World, name: str) -> list[str]:
    info = await world.app.schedules.get(name)
    stored = await world.app.events(subject=info.id, limit=1000)
    return [event.name.removeprefix("schedule:") for event in stored]


async def test_a_declared_schedule_runs_its_function(world: World) -> None:
    seen: list[tuple[Any, str]] = []

    @world.app.schedule(every("1m"), input={"who": "me"}, overlap="buffer_one", catchup="1h", tags=["t"])
    async def tick(ctx: Any, who: str) -> None:
        seen.append((ctx.nominal, who))

    await world.advance("3m")
    assert seen == [(at, "me") for at in minutes(1, 2, 3)]
    info = await world.app.schedules.get("tick")
    assert (info.job, info.origin, info.policies.overlap, info.tags) == ("tick", "code", "buffer_one", ("t",))
    run = (await world.runs("tick"))[0]
    assert run.status == "succeeded"


@pytest.mark.parametrize("order", ["schedule over job", "job over schedule"])
async def test_a_job_keeps_its_own_settings_in_either_order(world: World, order: str) -> None:
    app = world.app

    async def report(kind: str = "") -> None: ...

    job, schedule = app.job(name="weekly", retry=3, queue="default"), app.schedule(every("1h"), input={"kind": "x"})
    if order == "schedule over job":
        schedule(job(report))
    else:
        job(schedule(report))
    assert list(app._handlers) == ["http", "webhook", "weekly"]
    assert app._handlers["weekly"].retry.attempts == 3
    await world.up()
    (declared,) = await app.schedules.list()
    assert (declared.name, declared.job) == ("weekly", "weekly")


async def test_several_schedules_of_one_function_have_names(world: World) -> None:
    app = world.app

    @app.schedule(cron("0 9 * * *"), name="morning", input={"kind": "short"})
    @app.schedule(cron("0 18 * * *"), input={"kind": "long"})
    async def report(kind: str) -> None: ...

    with pytest.raises(OstinatoError, match=r"two schedules are called 'report'; give one of them name=…"):
        app.schedule(every("1h"), input={"kind": "x"})(report)
    with pytest.raises(OstinatoError, match="two schedules are called 'morning'"):
        app.schedule(every("1h"), name="morning", input={"kind": "x"})(report)
    await world.up()
    assert [(one.name, one.job) for one in await app.schedules.list()] == [("morning", "report"), ("report", "report")]


async def test_a_name_that_only_turns_out_to_be_taken_stops_the_start(world: World) -> None:
    app = world.app
    app.schedule(every("1h"), name="weekly")(app.job(name="other")(lambda: None))

    @app.job(name="weekly")
    @app.schedule(every("1h"))
    async def report() -> None: ...

    with pytest.raises(OstinatoError, match="two schedules are called 'weekly'"):
        await world.up()


async def test_a_mistake_is_told_where_it_is_declared(world: World) -> None:
    app = world.app

    async def report(kind: str) -> None: ...

    mistakes: list[tuple[dict[str, Any], str]] = [
        ({"overlap": "bufer_one"}, "did you mean 'buffer_one'"),
        ({"input": {"knd": 1}}, "it takes kind"),
        ({"ovrlap": "skip"}, "did you mean 'overlap'"),
        ({"name": " x"}, "name ' x' is not a text"),
    ]
    for options, words in mistakes:
        with pytest.raises(OstinatoError, match=words):
            app.schedule(every("1h"), **{"input": {"kind": "x"}, **options})(report)
    await world.up()
    assert await app.schedules.list() == []
    with pytest.raises(OstinatoError, match="the app is running"):
        app.schedule(every("1h"), input={"kind": "x"})(report)


async def test_starting_again_changes_nothing(world: World) -> None:
    seen: list[Any] = []

    def declare(app: Ostinato) -> None:
        @app.schedule(cron("*/10 * * * *", jitter="2m"), retry={"attempts": 2}, memo={"a": (1, 2)})
        async def tick(ctx: Any) -> None:
            seen.append(ctx.nominal)

    declare(world.app)
    await world.advance("25m")
    before = await world.app.schedules.get("tick")
    for _ in range(3):
        await restart(world, declare)
    after = await world.app.schedules.get("tick")
    assert (after.id, after.token, after.updated, after.counts) == (
        before.id,
        before.token,
        before.updated,
        before.counts,
    )
    assert (await events(world, "tick")).count("updated") == 0
    await world.advance("20m")
    assert seen == minutes(10, 20, 30, 40)


async def test_changing_what_code_declares_notes_that_it_comes_back(world: World) -> None:
    def declare(app: Ostinato) -> None:
        @app.schedule(every("1h"))
        async def tick() -> None: ...

    declare(world.app)
    await world.up()
    await world.app.schedules.create("own", every("1h"), "tick")
    updated = await world.app.schedules.update("tick", overlap="allow_all", request_id="other")
    assert updated.note == (
        "it is declared in code; the next start of a node with that code puts it back as declared there"
    )
    assert await world.app.schedules.update("tick", overlap="allow_all", request_id="other") == updated
    assert (await world.app.schedules.update("tick", overlap="allow_all")).note is None  # nothing is different
    assert (await world.app.schedules.update("own", overlap="allow_all")).note is None
    deleted = await world.app.schedules.delete("tick", request_id="once")
    assert deleted.note == "it is declared in code; the next start of a node with that code creates it again"
    assert await world.app.schedules.delete("tick", request_id="once") == deleted
    assert (await world.app.schedules.delete("own")).note is None
    await restart(world, declare)
    assert (await world.app.schedules.get("tick")).state == "running"


async def test_an_edit_in_code_neither_refires_nor_loses_nor_unpauses(world: World) -> None:
    seen: list[tuple[Any, str]] = []

    def declare(app: Ostinato, text: str, who: str) -> None:
        @app.schedule(cron(text), input={"who": who}, remaining=100)
        async def tick(ctx: Any, who: str) -> None:
            seen.append((ctx.nominal, who))

    declare(world.app, "*/10 * * * *", "old")
    await world.advance("10m")
    await restart(world, lambda app: declare(app, "*/5 * * * *", "new"))
    await world.advance("10m")
    assert seen == [(minutes(10)[0], "old"), (minutes(15)[0], "new"), (minutes(20)[0], "new")]
    info = await world.app.schedules.get("tick")
    assert (info.remaining, info.counts) == (97, {"actions": 3})
    await world.app.schedules.pause("tick", "holiday")
    await restart(world, lambda app: declare(app, "*/7 * * * *", "newest"))
    info = await world.app.schedules.get("tick")
    assert (info.state, info.notes, info.input) == ("paused", "holiday", {"who": "newest"})
    await world.advance("30m")
    assert len(seen) == 3


async def test_what_was_due_during_an_outage_is_settled_by_the_old_declaration(world: World) -> None:
    seen: list[Any] = []

    def declare(app: Ostinato, text: str) -> None:
        @app.schedule(cron(text), catchup="all", overlap="buffer_all")
        async def tick(ctx: Any) -> None:
            seen.append(ctx.nominal)

    declare(world.app, "0 * * * *")
    await world.advance("30m")
    await world.down()
    await asyncio.sleep(2 * 3600)
    await restart(world, lambda app: declare(app, "45 * * * *"))
    await world.advance("30m")
    assert seen == minutes(60, 120, 165)


async def test_what_is_declared_no_longer_is_reported_and_goes_on(world: World, log: list[Any]) -> None:
    def declare(app: Ostinato, *names: str) -> None:
        for name in names:
            app.schedule(every("1h"), name=name)(app.job(name="work")(work))

    def work() -> None: ...

    declare(world.app, "a", "b")
    await world.up()
    await restart(world, lambda app: declare(app, "a"))
    (line,) = [one for one in log if one.kwargs["action"] == "schedules_missing"]
    assert (line.method_name, line.kwargs["schedules"]) == ("warning", ["b"])
    plan = await world.app.schedules.plan()
    assert [(step.name, step.verb) for step in plan.steps] == [("a", "unchanged"), ("b", "missing")]
    assert str(plan) == "1 unchanged, 1 no longer declared"
    assert (await world.app.schedules.get("b")).state == "running"
    done = await world.app.schedules.apply(prune=True)
    assert [step.name for step in done.missing] == ["b"]
    with pytest.raises(NotFound):
        await world.app.schedules.get("b")


async def test_an_app_with_a_name_may_prune_its_own_and_no_others(world: World) -> None:
    def declare(app: Ostinato, *names: str) -> None:
        for name in names:
            app.schedule(every("1h"), name=name)(app.job(name="work")(work))

    def work() -> None: ...

    with pytest.raises(OstinatoError, match="prune_schedules needs name="):
        Ostinato(prune_schedules=True)
    await world.up()
    await world.app.schedules.create("by hand", every("1h"), "work")
    await restart(world, lambda app: declare(app, "a", "b"), name="one")
    await restart(world, lambda app: declare(app, "c"), name="two", prune_schedules=True)
    await restart(world, lambda app: declare(app, "b"), name="one", prune_schedules=True)
    schedules = {one.name: one.origin for one in await world.app.schedules.list()}
    assert schedules == {"b": "code:one", "by hand": None, "c": "code:two"}
    await restart(world, name="one", prune_schedules=True)
    assert [one.name for one in await world.app.schedules.list()] == ["by hand", "c"]


async def test_what_another_place_declares_is_left_alone_unless_taken(world: World, log: list[Any]) -> None:
    def declare(app: Ostinato, hours: int, *names: str) -> None:
        for name in names:
            app.schedule(every(f"{hours}h"), name=name)(app.job(name="work")(work))

    def work() -> None: ...

    await world.up()
    await world.app.schedules.create("mine", every("1h"), "work")
    await restart(world, lambda app: declare(app, 1, "mine", "shared"))
    assert (await world.app.schedules.get("mine")).origin == "code"
    # An app that gets a name keeps what it had.
    await restart(world, lambda app: declare(app, 2, "mine", "shared"), name="one")
    await restart(world, lambda app: declare(app, 3, "shared", "new"), name="two")
    (line,) = [one for one in log if one.kwargs["action"] == "schedule_declared_elsewhere"]
    assert (line.method_name, line.kwargs["schedule"], line.kwargs["owner"]) == ("error", "shared", "code:one")
    schedules = {one.name: (one.origin, one.words) for one in await world.app.schedules.list()}
    assert schedules == {
        "mine": ("code:one", "Every 2 hours"),
        "new": ("code:two", "Every 3 hours"),
        "shared": ("code:one", "Every 2 hours"),
    }
    with pytest.raises(DeclaredElsewhere, match=r"'shared' \(code:one\); nothing was done"):
        await world.app.schedules.apply()
    await world.app.schedules.apply(take=True)
    assert (await world.app.schedules.get("shared")).origin == "code:two"
    # Two places that say the same do not quarrel.
    await restart(world, lambda app: declare(app, 3, "shared"), name="three")
    assert [step.verb for step in (await world.app.schedules.plan()).steps] == ["unchanged"]


FILE = """\
schedules:
  nightly:
    spec: {cron: ["0 2 * * *"], tz: Europe/Berlin}
    action: {job: report, input: {kind: nightly}, timeout: 10m}
    overlap: buffer_one
    tags: [reports]
  hourly:
    spec: every 1h
    action: report
  stopped:
    spec: {}
    action: report
    paused: true
    remaining: 3
    notes: not yet
"""


async def test_a_file_is_planned_then_applied(world: World) -> None:
    await world.up()
    document = parse_schedules(FILE, "reports.yaml")
    plan = await world.app.schedules.plan(document)
    assert str(plan) == "3 to create"
    assert plan.notes == ("no node has declared the job 'report' yet; its runs wait until one does",)
    assert await world.app.schedules.list() == []
    done = await world.app.schedules.apply(document)
    assert [step.as_dict() for step in done.steps] == [step.as_dict() for step in plan.steps]
    assert (await world.app.schedules.get("nightly")).origin == "file:reports.yaml"
    stopped = await world.app.schedules.get("stopped")
    assert (stopped.state, stopped.remaining, stopped.notes) == ("paused", 3, "not yet")
    assert str(await world.app.schedules.apply(document)) == "3 unchanged"

    changed = FILE.replace('"0 2 * * *"', '"30 3 * * *"').replace("kind: nightly", "kind: short").split("  hourly")[0]
    plan = await world.app.schedules.plan(parse_schedules(changed, "reports.yaml"), prune=True)
    (step,) = plan.update
    assert [str(one) for one in step.changes] == [
        'spec.cron: ["0 2 * * *"] → ["30 3 * * *"]',
        "action.input.kind: nightly → short",
    ]
    assert [f"{at:%d %H:%M %z}" for at in step.before] == ["01 02:00 +0100", "02 02:00 +0100", "03 02:00 +0100"]
    assert [f"{at:%d %H:%M %z}" for at in step.after] == ["01 03:30 +0100", "02 03:30 +0100", "03 03:30 +0100"]
    assert [one.name for one in plan.missing] == ["hourly", "stopped"]
    await world.app.schedules.apply(parse_schedules(changed, "reports.yaml"), prune=True)
    assert [one.name for one in await world.app.schedules.list()] == ["nightly"]
    assert (await events(world, "nightly")) == ["created", "updated"]


async def test_a_file_is_applied_as_a_whole_or_not_at_all(world: World) -> None:
    @world.app.job()
    async def report(kind: str = "") -> None: ...

    await world.up()
    await world.app.schedules.apply(parse_schedules("schedules: {nightly: {spec: {}, action: report}}", "other.yaml"))
    with pytest.raises(DeclaredElsewhere):
        await world.app.schedules.apply(parse_schedules(FILE, "reports.yaml"))
    assert [one.name for one in await world.app.schedules.list()] == ["nightly"]
    wrong = FILE.replace("kind: nightly", "knd: nightly")
    with pytest.raises(FileError, match=r"^reports.yaml:4:13  schedule 'nightly': job 'report': .*it takes kind"):
        await world.app.schedules.apply(parse_schedules(wrong, "reports.yaml"), take=True)
    assert (await world.app.schedules.get("nightly")).origin == "file:other.yaml"


async def test_a_draft_wanted_twice_is_refused(world: World) -> None:
    await world.up()
    drafts = [world.app.schedules.draft("s", every("1h"), "x") for _ in range(2)]
    with pytest.raises(OstinatoError, match="'s' is wanted twice"):
        await world.app.schedules.plan(drafts)
    plan = await world.app.schedules.apply(drafts[:1])
    assert [step.verb for step in plan.steps] == ["create"]
    assert (await world.app.schedules.get("s")).origin is None


@pytest.mark.parametrize("form", ["yaml", "json"])
async def test_an_export_applied_elsewhere_gives_the_same_definitions(world: World, form: str) -> None:
    await world.up()
    await world.app.schedules.apply(parse_schedules(FILE))
    await world.app.schedules.create(
        "odd ü: #1",
        once("2027-03-01T09:00Z") | every("7m"),
        "x",
        input={"text": "two\nlines", "none": None},
        retry={"attempts": 2, "delay": "5s"},
        catchup={"mode": "latest", "window": "90m", "most": 3},
        memo=[1, {"a": "2026-01-01"}],
        attributes={"team": "yes"},
    )
    text = await world.app.schedules.export(form=form)
    elsewhere = World(clock=world.clock)
    await elsewhere.up()
    other = elsewhere.app
    await other.schedules.apply(parse_schedules(text, f"s.{form}"))
    assert await other.schedules.export(form=form) == text
    assert list(parse_schedules(await other.schedules.export(tag="reports")).entries) == ["nightly"]
    await elsewhere.close()
    plan = await world.app.schedules.plan(parse_schedules(text, f"s.{form}"))
    assert {step.name: step.verb for step in plan.steps if step.verb != "unchanged"} == {"odd ü: #1": "update"}
    assert [change.field for step in plan.update for change in step.changes] == ["origin"]


async def test_a_schedule_that_cannot_be_read_is_mended_by_its_declaration(world: World) -> None:
    def declare(app: Ostinato) -> None:
        app.schedule(every("1m"))(work)

    async def work() -> None: ...

    declare(world.app)
    await world.up()
    row = await world.app.schedules._get("work")

    def spoil(_: int) -> Any:
        broken = list(insert_schedule_row(row))
        broken[SCHEDULE_COLUMNS.index("spec")] = '{"crn": 1}'
        yield sql("replace_schedules", [broken])

    await world._store.run(spoil)
    assert (await world.app.schedules.get("work")).state == "parked"
    await restart(world, declare)
    assert (await world.app.schedules.get("work")).state == "running"
    await world.advance("1m")
    await world.expect("work", "succeeded")


async def test_a_parked_schedule_is_taken_up_again_by_the_same_declaration(world: World) -> None:
    def declare(app: Ostinato) -> None:
        app.schedule(every("1m"))(work)

    async def work() -> None: ...

    declare(world.app)
    await world.up()
    row = await world.app.schedules._get("work")

    def park(_: int) -> Any:
        yield sql("park_schedules", [(row.id, "its zone has vanished")])

    await world._store.run(park)
    await restart(world, declare)
    assert (await world.app.schedules.get("work")).state == "running"
    await world.advance("1m")
    await world.expect("work", "succeeded")


async def test_a_schedule_that_cannot_be_changed_now_does_not_keep_the_node_from_starting(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def declare(app: Ostinato, minutes: int, *names: str) -> None:
        for name in names:
            app.schedule(every(f"{minutes}m"), name=name, catchup="all")(app.job(name="work")(work))

    logger = CapturingLog()
    monkeypatch.setattr("ostinato.schedules.api.at_start.log", logger)
    declare(world.app, 1, "behind")
    await world.advance("2m")
    await world.down()
    await asyncio.sleep(3600)
    monkeypatch.setattr("ostinato.schedules.operations.edit.apply_change.MAX_TIMES", 5)
    await restart(world, lambda app: declare(app, 2, "behind", "new"))
    (line,) = [one for one in logger.calls if one.kwargs["action"] == "schedule_not_declared"]
    assert line.kwargs["schedule"] == "behind"
    schedules = {one.name: one.words for one in await world.app.schedules.list()}
    assert schedules == {"behind": "Every minute", "new": "Every 2 minutes"}
    await world.advance("5m")
    await restart(world, lambda app: declare(app, 2, "behind", "new"))
    assert (await world.app.schedules.get("behind")).words == "Every 2 minutes"


async def work() -> None: ...


def racer(url: str, hours: int, names: str) -> Ostinato:
    app = Ostinato(url, name="racer", prune_schedules=True)
    for name in names:
        app.schedule(every(f"{hours}h"), name=name)(app.job(name="work")(work))
    return app


def test_many_apps_that_start_at_once_declare_once(store_url: str) -> None:
    async def started(hours: int, names: str) -> None:
        async with racer(store_url, hours, names):
            pass

    async def read_store() -> tuple[dict[str, str], list[tuple[str, str]]]:
        async with Ostinato(store_url).connected() as app:
            schedules = {one.name: one.words for one in await app.schedules.list()}
            events = [one for one in await app.events(limit=1000) if one.name.startswith("schedule:")]
        return schedules, sorted((one.name.removeprefix("schedule:"), one.data["name"]) for one in events)

    async def race() -> None:
        await read_store()  # the tables are there before it begins
        await asyncio.gather(*(started(1, names) for names in ("abc", "cba") * 3))
        created = [("created", "a"), ("created", "b"), ("created", "c")]
        assert await read_store() == (dict.fromkeys("abc", "Every hour"), created)
        await asyncio.gather(*(started(2, names) for names in ("bcd", "dcb") * 3))
        changed = [("created", "d"), ("deleted", "a"), ("updated", "b"), ("updated", "c")]
        assert await read_store() == (dict.fromkeys("bcd", "Every 2 hours"), created + changed)

    asyncio.run(race())
