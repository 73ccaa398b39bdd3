"""Lists with filters: every row that fits exactly once over the pages, whatever is asked for together."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from itertools import count, product
from typing import Any, Literal

import asyncpg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ostinato import Ostinato, cron
from ostinato.engine.rows import insert_row
from ostinato.ids import Ids
from ostinato.model import Run, Status
from ostinato.schedules.model import Schedule, ScheduleAction
from ostinato.schedules.rows import insert_schedule_row
from ostinato.store import intersect as module
from ostinato.store import migrate
from ostinato.store.columns import SCHEDULE_COLUMNS, TABLES
from ostinato.store.contract import Operation, Statement, sql
from ostinato.store.intersect import intersect_keys
from ostinato.store.sql import Statements
from ostinato.store.urls import open_url

KEYS = st.sets(st.integers(0, 60).map(lambda n: f"{n:02}"), max_size=60)


def answered(sources: Sequence[Sequence[str]], down: bool, limit: int, start: str, skip: str) -> tuple[list[str], int]:
    """The crossing of lists in place of indexes, and how many statements it took."""

    def source(number: int) -> Callable[[str, str, int], Statement]:
        return lambda start, skip, limit: sql(str(number), start=start, skip=skip, limit=limit)

    work = intersect_keys([source(n) for n in range(len(sources))], start, skip, limit, down=down)
    asked = 0
    statement = next(work)
    while True:
        asked += 1
        params = statement.params
        keys = sorted(sources[int(statement.name)], reverse=down)
        beyond = [k for k in keys if (k <= params["start"] if down else k >= params["start"]) and k != params["skip"]]
        try:
            statement = work.send([(key,) for key in beyond[: params["limit"]]])
        except StopIteration as done:
            return done.value, asked


@given(sources=st.lists(KEYS, min_size=1, max_size=3), down=st.booleans(), limit=st.integers(1, 9))
def test_pages_of_a_crossing_are_what_all_sources_have(sources: list[set[str]], down: bool, limit: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_PAGE", 4)
        keys: list[str] = []
        cursor = "~" if down else ""
        while True:
            page, _ = answered([list(one) for one in sources], down, limit, cursor, cursor)
            keys += page
            if len(page) < limit:
                break
            cursor = page[-1]
    assert keys == sorted(set.intersection(*sources), reverse=down)


@pytest.mark.parametrize("order", [0, 1])
def test_what_is_rare_makes_a_crossing_short(order: int) -> None:
    many = [f"{n:06}" for n in range(100_000)]
    few = ["000007", "050000", "099999"]
    both = [many, few] if order else [few, many]
    for down in (False, True):
        keys, asked = answered(both, down, 100, "~" if down else "", "")
        assert (sorted(keys), asked <= 8) == (few, True)


def connected(url: str, main: Callable[[Ostinato], Awaitable[None]]) -> None:
    async def run() -> None:
        async with Ostinato(url).connected() as app:
            await main(app)

    asyncio.run(run())


async def pages(find: Callable[[str | None], Awaitable[list[str]]], more: Callable[[], Awaitable[None]]) -> list[str]:
    """All that a list has, page by page; something is added between two of them."""
    names: list[str] = []
    while page := await find(names[-1] if names else None):
        names += page
        await more()
    return names


def test_schedules_are_found_by_every_combination(store_url: str) -> None:
    async def main(app: Ostinato) -> None:
        schedules, spec = app.schedules, cron("0 9 * * *")
        long = "t" * 300
        for n in range(60):
            tags = ["often", *(["rare"] if n % 20 == 7 else []), *([long] if n == 3 else [])]
            await schedules.create(
                f"s{n:02}", spec, "seldom" if n % 15 == 7 else "usual", tags=tags, paused=n % 10 == 7
            )
        await schedules.update("s00", action="seldom", tags=["rare"])
        await schedules.pause("s01")
        await schedules.resume("s07")
        await schedules.delete("s27")
        await schedules.create("s27", spec, "seldom", tags=["rare"])
        await schedules.delete("s47")
        whole = await schedules.list(limit=1000)
        added = count()

        async def more() -> None:
            await schedules.create(f"a{next(added)}", spec, "seldom", tags=["rare", "often"])  # before every page

        tags_asked, jobs_asked = [None, "often", "rare", long, long + "x"], [None, "usual", "seldom"]
        for tag, job, state, match in product(tags_asked, jobs_asked, [None, "paused", "running"], ["*", "s2*", "s*7"]):
            filters: dict[str, Any] = {"tag": tag, "job": job, "state": state, "match": match}

            async def find(after: str | None, options: dict[str, Any] = filters) -> list[str]:
                return [one.name for one in await schedules.list(**options, after=after or "b", limit=3)]

            wanted = [
                schedule.name
                for schedule in whole
                if (tag is None or tag in schedule.tags)
                and job in (None, schedule.job)
                and state in (None, schedule.state)
                and (schedule.name.startswith("s2") if match == "s2*" else match == "*" or schedule.name.endswith("7"))
            ]
            assert await pages(find, more) == wanted, filters
        assert await schedules.list(tag="\x00") == []

    connected(store_url, main)


def test_runs_are_found_by_every_combination(store_url: str) -> None:
    async def main(app: Ostinato) -> None:
        ids = Ids()

        def put(n: int, status: Status, **options: Any) -> Run:
            id = ids.new(1_700_000_000_000_000 + n)
            return Run(id, f"job{n % 3}", root_id=id, status=status, parent_id="p" if n % 5 == 0 else None, **options)

        statuses = [*Status, Status.SUCCEEDED, Status.SUCCEEDED]
        runs = [put(n, statuses[n % len(statuses)]) for n in range(90)]
        earlier = {run.id for run in runs[::4] if run.status in (Status.FAILED, Status.SUCCEEDED, Status.CRASHED)}
        strange = put(100, Status.FAILED, namespace="another")
        strange.parent_id = "p"

        def fill(_: int) -> Operation[None]:
            yield sql("insert_runs", [insert_row(run) for run in [*runs, strange]])

        await app.store.run(fill)
        await supersede(store_url, earlier)
        whole = [run.run_id for run in await app.runs(limit=1000, attempts=True)]
        assert whole == [run.id for run in reversed(runs)]
        by_id = {run.id: run for run in runs}

        async def more() -> None:
            def add(_: int) -> Operation[None]:
                yield sql("insert_runs", [insert_row(put(200, Status.FAILED))])

            await app.store.run(add)

        for status, name, parent, attempts in product(
            [None, *Status], [None, "job1"], [None, "p", "q"], [False, True]
        ):  # fmt: skip
            filters: dict[str, Any] = {"status": status, "name": name, "parent": parent, "attempts": attempts}

            async def find(before: str | None, options: dict[str, Any] = filters) -> list[str]:
                runs = await app.runs(**options, before=before or strange.id, limit=4)
                return [run.run_id for run in runs]

            wanted = [
                id
                for id in whole
                if status in (None, by_id[id].status)
                and name in (None, by_id[id].name)
                and parent in (None, by_id[id].parent_id)
                and (attempts or id not in earlier)
            ]
            assert await pages(find, more) == wanted, filters

    connected(store_url, main)


async def supersede(url: str, ids: set[str]) -> None:
    listed = ", ".join(f"'{id}'" for id in ids)
    text = f"UPDATE ostinato_runs SET superseded = 1 WHERE id IN ({listed})"
    if url.startswith("sqlite"):
        with sqlite3.connect(url.removeprefix("sqlite:///")) as file:
            file.execute(text)
        file.close()
        return
    connection = await asyncpg.connect(url)
    await connection.execute(text)
    await connection.close()


def test_schedules_from_before_there_were_labels_are_found(
    bare_store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = migrate.migrations
    columns = {"old_schedule": TABLES["schedule"].without("companion")}
    text = "-- insert_old: schedules as version 8 wrote them.\nINSERT INTO ostinato_schedules ({old_schedule_columns}) "
    insert_old = Statements(
        f"{text}SELECT {{old_schedule_columns}} FROM {{rows r(old_schedule_columns)}} WHERE true", columns
    )

    def before(dialect: Literal["sqlite", "postgres"]) -> tuple[tuple[int, str], ...]:
        return tuple(one for one in whole(dialect) if one[0] < 9)

    def fill(_: int) -> Operation[None]:
        spec = cron("0 9 * * *")
        nul = ScheduleAction("report", {"text": "a\x00b"})
        schedules = [
            Schedule("1", "plain", spec, action=nul, tags=("billing", "größe")),
            Schedule("2", "paused", spec, action=ScheduleAction("j" * 300), paused=5),
            Schedule("3", "closed", spec, action=ScheduleAction("report"), closed=5),
            Schedule("4", "broken", spec, action=ScheduleAction("report")),
        ]
        rows = [list(insert_schedule_row(schedule)) for schedule in schedules]
        rows[3][SCHEDULE_COLUMNS.index("action")] = "{no json"
        newer = SCHEDULE_COLUMNS.index("companion")
        yield insert_old("insert_old", [row[:newer] + row[newer + 1 :] for row in rows])

    async def main() -> None:
        with monkeypatch.context() as patch:
            patch.setattr(migrate, "migrations", before)
            store = open_url(bare_store_url)
            await store.open()
            await store.run(fill)
            await store.close()

    async def looked(app: Ostinato) -> None:
        async def names(**options: Any) -> list[str]:
            return [one.name for one in await app.schedules.list(**options)]

        assert await names(job="report") == ["plain"]
        assert await names(tag="größe") == await names(tag="billing") == ["plain"]
        assert await names(state="paused", job="j" * 300) == ["paused"]
        assert await names(job="j" * 299) == []
        assert await names() == ["broken", "paused", "plain"]

    asyncio.run(main())
    connected(bare_store_url, looked)
