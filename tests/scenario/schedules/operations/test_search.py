"""Schedules are found by their labels, also those of earlier versions."""

from __future__ import annotations

import pytest

from ostinato.doctor import diagnose
from ostinato.schedules.operations import retention
from ostinato.store.contract import Operation, sql
from ostinato.testing import World
from tests.support.schedules import start_timed_jobs


async def test_what_an_earlier_version_has_not_labelled_is_found_again(world: World) -> None:
    await start_timed_jobs(world)
    app = world.app
    for name in ("a", "b", "c"):
        await app.schedules.create(name, "0 9 * * *", "note", tags=["billing"])
    await app.schedules.create("wrong", "0 9 * * *", "note")

    def as_earlier(_: int) -> Operation[None]:
        gone = [("default", label, name) for label in ("job:note", "tag:billing") for name in ("a", "b")]
        yield sql("unlabel_schedules", gone)

    async def find() -> list[list[str]]:
        by_tag, by_job = await app.schedules.list(tag="billing"), await app.schedules.list(job="note")
        return [[one.name for one in by_tag], [one.name for one in by_job]]

    async def check_labels() -> tuple[str, str]:
        (check,) = [one for one in await diagnose(app) if one.name == "schedule_labels"]
        return check.state, check.words

    await app.store.run(as_earlier)
    assert await find() == [["c"], ["c", "wrong"]]
    assert (await check_labels())[0] == "notice"
    assert (await check_labels())[1].startswith("4 jobs or tags of schedules")
    await world.advance("2h")
    assert await find() == [["a", "b", "c"], ["a", "b", "c", "wrong"]]
    assert (await check_labels())[0] == "ok"

    await app.store.run(as_earlier)
    await diagnose(app, repair=True)
    assert await find() == [["a", "b", "c"], ["a", "b", "c", "wrong"]]


async def test_the_walk_over_labels_goes_on_where_it_stopped(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "_BATCH", 2)
    await start_timed_jobs(world)
    app = world.app
    names = [f"s{number}" for number in range(7)]
    for name in names:
        await app.schedules.create(name, "0 9 * * *", "note")

    def as_earlier(_: int) -> Operation[None]:
        yield sql("unlabel_schedules", [("default", "job:note", name) for name in names])

    await app.store.run(as_earlier)
    assert await app.schedules.list(job="note") == []
    await world.advance("2h")
    assert [one.name for one in await app.schedules.list(job="note")] == names
